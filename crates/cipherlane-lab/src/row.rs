//! Makes a record of what a runner did.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cipherlane::{Plan, Spans};
use cipherlane_record::{
    Cache, Calibration, Ceiling, Comparison, Geometry, Host, Interval, KeySetup, Keys, Measurement, Part,
    SCHEMA_VERSION, Scope, Summary, Timeline, Times, Transfer, throttle,
};

use crate::bench::{Options, Wanted};
use crate::ceiling::mix;
use crate::measure::{End, Runner};
use crate::workload::Workload;
use crate::{statistics, streams};

/// What the rows of one point have in common.
pub(crate) struct Point<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) workload: &'a Workload,
    /// Threads that were asked for. Where fewer find work, a row says how many.
    pub(crate) threads: usize,
    /// Whether the data fits the caches of those that are at work.
    pub(crate) fits: bool,
    pub(crate) end: End,
    /// The core's clock before and after, with nothing to do: whether it moved meanwhile.
    pub(crate) clock: [Option<f64>; 2],
    /// What timing itself costs.
    pub(crate) calibration: Calibration,
    /// What sensors said meanwhile.
    pub(crate) timeline: Option<Timeline>,
    pub(crate) host: &'a Host,
    pub(crate) options: &'a Options<'a>,
}

/// A loop that takes more than this part of a pass is worth a warning.
const NOTICEABLE: f64 = 0.02;
/// Clocks before and after that differ by more than this are worth a warning.
const STEADY: f64 = 0.05;

impl Point<'_> {
    /// The row of `runner`, which ran beside `others`.
    #[allow(clippy::cast_precision_loss)] // sizes below 2^53
    pub(crate) fn row(&self, runner: &Runner<'_>, others: &[Runner<'_>]) -> Measurement {
        let seconds = runner.round_seconds();
        let summary = summarise(runner, &seconds, self.options.seed);
        let (bytes, messages) = (self.workload.bytes(), self.workload.messages());
        let rate = |seconds: f64| bytes as f64 / seconds;
        // Of the CPU's core, at work: it does not count on a device that launches kernels.
        let core_clock_hertz = runner.clock();
        let bytes_per_second = rate(summary.median_seconds);
        let threads = runner.threads();
        let cycles = core_clock_hertz.map(|hertz| hertz * threads as f64 / bytes_per_second);
        let verified = runner.checks.unexpected == 0;
        let timeline = self.timeline.as_ref().map(|timeline| timeline.of(&runner.contender.device.info().id));
        let best_rival = self.fastest_rival(runner, others);
        let mut warnings = self.warnings(&summary, runner, timeline.as_ref());
        warnings.extend(self.idle_threads(runner));
        warnings.extend(best_rival.and_then(|rival| self.fewer_threads(runner, rival)));
        Measurement {
            schema_version: SCHEMA_VERSION,
            experiment: self.experiment.to_owned(),
            workload: self.workload.name.to_string(),
            algorithm: self.workload.algorithm(),
            operation: self.workload.operation().to_owned(),
            device: runner.contender.device.info().id.clone(),
            device_name: runner.contender.device.info().name.clone(),
            kernel: joined(&runner.plans, |plan| &plan.kernel),
            tier: joined(&runner.plans, |plan| &plan.tier),
            threads,
            message_bytes: (bytes + messages / 2).checked_div(messages).unwrap_or(0),
            messages,
            bytes,
            keys: self.workload.keys(),
            bytes_per_second,
            bytes_per_second_ci95: Interval {
                low: rate(summary.median_ci95_seconds.high),
                high: rate(summary.median_ci95_seconds.low),
            },
            messages_per_second: messages as f64 / summary.median_seconds,
            cycles_per_byte: cycles.filter(|_| bytes > 0),
            core_clock_hertz,
            verified,
            checks: runner.checks,
            scope: self.scope(runner),
            ceiling: self.ceiling(runner, bytes_per_second, core_clock_hertz),
            best_rival: best_rival.map(|rival| self.comparison(runner, rival)),
            geometry: self.geometry(runner),
            times: times(runner),
            streams: streams::medians(&runner.streams),
            load: None,
            energy: None,
            timeline,
            calibration: Some(self.calibration),
            passes_per_sample: u64::from(runner.passes),
            samples: runner.samples.clone(),
            parts: self.parts(runner),
            seed: self.options.seed,
            unix_seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            argv: self.options.argv.clone(),
            warnings,
            host: self.host.clone(),
            summary,
        }
    }

    fn scope(&self, runner: &Runner<'_>) -> Scope {
        // A key that messages share is set up once per session and kept from pass to pass, by our devices as by
        // the rivals: the first pass, which nobody times, expands it.
        let kept = self.workload.keys() == Keys::Same;
        let hot = self.options.cache == Wanted::Hot && self.fits;
        Scope {
            key_setup: if kept { KeySetup::Outside } else { KeySetup::Inside },
            tag: self.workload.tag(),
            transfer: runner.transfer(),
            cache: if hot { Cache::Hot } else { Cache::Cold },
            working_set_bytes: self.workload.working_set_bytes(),
            code_path: joined(&runner.plans, |plan| &plan.kernel),
        }
    }

    /// What the measured rates of this core's instructions, and of its memory, allow to one of our own kernels with a
    /// key for all messages.
    #[allow(clippy::cast_precision_loss)] // numbers of threads
    fn ceiling(&self, runner: &Runner<'_>, bytes_per_second: f64, hertz: Option<f64>) -> Option<Ceiling> {
        let ([task], [plan]) = (self.workload.tasks.as_slice(), runner.plans.as_slice()) else { return None };
        let keyed = self.workload.keys() == Keys::Distinct;
        let chained = task.part.algorithm.hash().is_some() && task.part.len() < plan.lanes;
        if runner.contender.is_rival() || runner.launches() || keyed || chained {
            return None;
        }
        let ceilings = self.options.ceilings?;
        let cores = self.host.cores(runner.threads());
        // What is flushed lies behind all caches, however little it is.
        let is_flushed = self.options.cache == Wanted::Cold;
        let working_set = if is_flushed { u64::MAX } else { self.workload.working_set_bytes() };
        let sharing = cores as u64;
        let (cores, hertz) = (cores as f64, hertz?);
        let by_a_core = bytes_per_second / cores;
        let bound = mix::bound_above(ceilings, task.part.algorithm, &plan.tier, by_a_core / hertz)?;
        let compute = bound.bytes_per_clock * hertz * cores;
        let (copying, level) = mix::memory_bound(ceilings, working_set, sharing, by_a_core)?;
        let (limit, bound) =
            if copying * cores < compute { (copying * cores, level) } else { (compute, bound.by) };
        Some(Ceiling { bytes_per_second: limit, share: bytes_per_second / limit, bound })
    }

    /// The fastest rival of `runner` of which every output was right.
    fn fastest_rival<'r, 'c>(&self, runner: &Runner<'_>, others: &'r [Runner<'c>]) -> Option<&'r Runner<'c>> {
        // A wrong result is no faster than anything, and who need not move the data is no rival of who must.
        let alone = runner.transfer() == Transfer::Excluded;
        if runner.contender.is_rival() || runner.checks.unexpected > 0 || alone {
            return None;
        }
        let right = others.iter().filter(|other| other.contender.is_rival() && other.checks.unexpected == 0);
        let timed = right.map(|other| (statistics::median(&other.round_seconds()), other));
        timed.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, fastest)| fastest)
    }

    /// `runner` beside `rival`.
    #[allow(clippy::cast_precision_loss)] // sizes below 2^53
    fn comparison(&self, runner: &Runner<'_>, rival: &Runner<'_>) -> Comparison {
        let theirs = rival.round_seconds();
        let ratio = statistics::speed_ratio(&runner.round_seconds(), &theirs, self.options.seed);
        let info = rival.contender.device.info();
        Comparison {
            rival: info.id.clone(),
            rival_name: info.name.clone(),
            rival_bytes_per_second: self.workload.bytes() as f64 / statistics::median(&theirs),
            ratio: ratio.median,
            ratio_ci95: ratio.interval,
            verdict: ratio.verdict,
        }
    }

    /// That `rival` ran on fewer threads than `runner` beside it, and why, if it is for want of messages.
    fn fewer_threads(&self, runner: &Runner<'_>, rival: &Runner<'_>) -> Option<String> {
        let (ours, theirs) = (runner.threads(), rival.threads());
        let messages = self.workload.tasks.iter().map(|task| task.part.len()).max().unwrap_or(0);
        let reason = match theirs {
            1 if messages == 1 => ": it cannot split one message",
            _ if messages == theirs => ": it cannot split a message",
            _ => "",
        };
        let rival = &rival.contender.device.info().id;
        (theirs < ours).then(|| format!("{rival} ran on {}, not on {ours}{reason}", threads_in_words(theirs)))
    }

    /// That fewer threads than were asked for found work in `runner`. A rival's number is told beside ours.
    fn idle_threads(&self, runner: &Runner<'_>) -> Option<String> {
        let (asked, at_work) = (self.threads, runner.threads());
        let is_ours = !runner.contender.is_rival() && !runner.launches();
        (is_ours && at_work < asked).then(|| {
            let at_work = threads_in_words(at_work);
            format!(
                "{at_work} of {asked} had work: these messages are not cut, and there are too few for more"
            )
        })
    }

    /// How the kernels of the task with most text are launched.
    fn geometry(&self, runner: &Runner<'_>) -> Option<Geometry> {
        let plans = self.workload.tasks.iter().zip(&runner.plans);
        let (_, plan) = plans.max_by_key(|(task, _)| task.part.texts.len())?;
        let geometry = plan.geometry?;
        Some(Geometry {
            blocks: geometry.blocks as u64,
            threads_per_block: geometry.threads_per_block as u64,
            // What stays on the device needs one.
            streams: if runner.transfer() == Transfer::Excluded {
                1
            } else {
                streams::count(&runner.streams)
            },
        })
    }

    fn parts(&self, runner: &Runner<'_>) -> Vec<Part> {
        let tasks = self.workload.tasks.iter().zip(&runner.plans).zip(&runner.task_seconds);
        tasks
            .map(|((task, plan), seconds)| Part {
                algorithm: task.part.algorithm.to_string(),
                operation: task.part.operation.to_string(),
                messages: task.part.len() as u64,
                bytes: task.part.texts.len() as u64,
                planned_rejects: task.planned_rejects(),
                kernel: plan.kernel.clone(),
                lanes: plan.lanes,
                chunk_bytes: plan.chunk as u64,
                constant_time: plan.constant_time,
                median_seconds: statistics::median(seconds),
            })
            .collect()
    }

    fn warnings(&self, summary: &Summary, runner: &Runner<'_>, timeline: Option<&Timeline>) -> Vec<String> {
        let (mut warnings, checks) = (Vec::new(), runner.checks);
        if checks.unexpected > 0 {
            warnings.push(format!("{} of {} outputs are wrong", checks.unexpected, checks.messages));
        }
        let wanted = self.options.sampling.min_rounds;
        if self.end == End::TimeUp && summary.n < wanted {
            warnings
                .push(format!("{} rounds of {wanted} fit the time; give more for a firm figure", summary.n));
        }
        if summary.preempted > 0 {
            warnings
                .push(format!("{} samples were interrupted; the machine was not idle", summary.preempted));
        }
        if let [Some(before), Some(after)] = self.clock
            && (before / after - 1.0).abs() > STEADY
        {
            let [before, after] = [before / 1e9, after / 1e9];
            warnings.push(format!("the core's clock went from {before:.2} to {after:.2} GHz"));
        }
        let empty = self.calibration.empty_pass_seconds / summary.median_seconds;
        if empty > NOTICEABLE {
            warnings.push(format!(
                "{:.0} % of a pass is the loop that times it; take more messages",
                100.0 * empty
            ));
        }
        let (threads, cpus) = (runner.threads(), self.host.logical_cores);
        if threads > cpus {
            warnings.push(format!(
                "{threads} threads take turns on {cpus} CPUs; a thread's clocks are not its own"
            ));
        }
        let reasons = timeline.map(throttle::seen).unwrap_or_default();
        if !reasons.is_empty() {
            let marked = runner.samples.iter().filter(|sample| sample.throttled == Some(true)).count();
            let (all, reasons) = (runner.samples.len(), reasons.join(", "));
            warnings
                .push(format!("the clock was held back ({reasons}); {marked} of {all} samples are marked"));
        }
        warnings
    }
}

fn threads_in_words(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Where the time of a pass went, on a device with memory of its own.
fn times(runner: &Runner<'_>) -> Option<Times> {
    if !runner.launches() || runner.spans.is_empty() {
        return None;
    }
    let median = |time: fn(&Spans) -> Duration| {
        let seconds: Vec<f64> = runner.spans.iter().map(|spans| time(spans).as_secs_f64()).collect();
        statistics::median(&seconds)
    };
    Some(Times {
        to_device_seconds: median(|spans| spans.load),
        kernel_seconds: median(|spans| spans.execute),
        to_host_seconds: median(|spans| spans.store),
    })
}

fn summarise(runner: &Runner<'_>, seconds: &[f64], seed: u64) -> Summary {
    let sorted = statistics::sorted(seconds);
    let (outliers_mild, outliers_severe) = statistics::outliers(seconds);
    let kept = runner.samples.iter().filter(|sample| !sample.superseded);
    let cpu: Option<Vec<f64>> = kept.map(|sample| sample.cpu_seconds).collect();
    Summary {
        n: seconds.len(),
        median_seconds: statistics::quantile(&sorted, 0.5),
        median_ci95_seconds: statistics::median_interval(seconds, seed),
        mad_seconds: statistics::mad(seconds),
        p5_seconds: statistics::quantile(&sorted, 0.05),
        p95_seconds: statistics::quantile(&sorted, 0.95),
        min_seconds: sorted[0],
        max_seconds: sorted[sorted.len() - 1],
        outliers_mild,
        outliers_severe,
        preempted: runner.samples.iter().filter(|sample| sample.preempted).count(),
        median_cpu_seconds: cpu.map(|cpu| statistics::median(&cpu)),
    }
}

/// The different names that the plans give, joined by `+`.
fn joined(plans: &[Plan], name: fn(&Plan) -> &String) -> String {
    plans.iter().map(name).cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use cipherlane::verify::Reference;

    use super::*;
    use crate::bench::Sampling;
    use crate::contender::Contender;
    use crate::judge::Judges;
    use crate::measure::calibrate;
    use crate::measure::runner::Timing;
    use crate::workload::{Choice, Custom, Request};

    fn workload(judges: &Judges<'_>) -> Workload {
        let custom = Custom {
            algorithm: "aes-128-ctr".parse().unwrap(),
            operation: cipherlane::Operation::Encrypt,
            lengths: 64.into(),
            messages: Some(2),
            keys: Keys::Same,
            input: None,
        };
        Choice::Custom(custom).build(&Request { seed: 1, working_set_bytes: 0, judges }).unwrap()
    }

    /// Cores that were idle before and after had another clock.
    #[test]
    fn the_clock_is_that_behind_the_samples() {
        let reference = Reference::new();
        let contender = Contender::new(&reference);
        let judges = Judges { fast: contender.clone(), readable: contender.clone() };
        let workload = workload(&judges);
        let mut runner = Runner::open(0, &contender, &workload, 1).unwrap().remove(0);
        let time = Duration::from_millis(1);
        // The first was repeated.
        for (round, hertz) in [(0, 5e9), (0, 3e9), (1, 2e9), (2, 2.5e9)] {
            let spans = Spans::default();
            let timing = Timing {
                wall: time,
                cpu: time,
                hertz: Some(hertz),
                tasks: vec![time],
                spans,
                streams: vec![],
            };
            runner.keep(round, 2, timing, None);
        }
        let stop = AtomicBool::new(false);
        let options = Options {
            budget: time,
            sampling: Sampling::default(),
            cache: Wanted::Hot,
            seed: 1,
            stop: &stop,
            ceilings: None,
            sampler: None,
            argv: Vec::new(),
        };
        let point = Point {
            experiment: "bench",
            workload: &workload,
            threads: 2,
            fits: true,
            end: End::Enough,
            clock: [Some(4e9), Some(4e9)],
            calibration: calibrate(),
            timeline: None,
            host: &crate::host::detect(),
            options: &options,
        };
        assert_eq!(point.row(&runner, &[]).core_clock_hertz, Some(2.5e9));
    }
}
