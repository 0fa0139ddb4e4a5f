//! How throughput grows with threads, up to the logical CPUs and beyond, by plain code and by special instructions
//! (study 000).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Shape, Tier, Wish};
use cipherlane_record::{Axis, Keys, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, known, value};
use crate::experiment::steady::Work;
use crate::experiment::thread_grid::{Cell, ThreadGrid, at, cores, single_of, up_to};
use crate::observer::Observer;
use crate::scaling::{Gain, Law, slope};

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Threads {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// On which messages.
    messages: Vec<Messages>,
    /// Bytes of text for each thread.
    bytes_per_thread: usize,
    /// Numbers of threads; none for 1 to the logical CPUs, and one and a half, two and four times as many.
    #[serde(default, deserialize_with = "super::super::fields::counts")]
    counts: Vec<usize>,
    /// Visits to each number of threads.
    #[serde(deserialize_with = "super::super::fields::count")]
    visits: usize,
    /// Seconds of a visit, for each kernel.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Messages {
    bytes: usize,
    keys: Keys,
}

const STUDY: &str = "000.7";
const STUDY_SPECIAL: &str = "000.4";
/// MB/s of one thread, of a thread per logical CPU, and of those with special instructions.
const ONE: [(f64, &str); 3] = [(42.3, "i7-12700H"), (34.8, "i7-11370H"), (42.4, "i7-13620H")];
const ALL: [(f64, &str); 3] =
    [(493.0, "i7-12700H, 20 threads"), (176.0, "i7-11370H, 8 threads"), (480.0, "i7-13620H, 16 threads")];
const ALL_SPECIAL: [(f64, &str); 3] =
    [(2000.0, "i7-12700H, 20 threads"), (1700.0, "i7-13620H, 16 threads"), (646.0, "i7-11370H, 8 threads")];
/// What special instructions were worth, in percent of plain code: as the text says, and, on all logical CPUs, as
/// follows from the study's own tables, which is less.
const SPECIAL: [(f64, &str); 1] = [(450.0, "the study's CPU, up to")];
const SPECIAL_OF_ALL: [(f64, &str); 3] = [
    (100.0 * 2000.0 / 493.0, "i7-12700H, 20 threads, by the study's table"),
    (100.0 * 1700.0 / 480.0, "i7-13620H, 16 threads, by the study's table"),
    (100.0 * 646.0 / 176.0, "i7-11370H, 8 threads, by the study's table"),
];
/// What a thread added: "about half".
const SLOPE: [(f64, &str); 1] = [(0.5, "the study's CPU, up to its logical CPUs")];

/// The kernels, by what makes the difference.
const PLAIN: &str = "plain";
const PORTABLE: &str = "portable";
const SPECIAL_KERNEL: &str = "special";
/// 1 to `logical` (evenly thinned where that is much), `cores`, and one and a half, two and four times `logical`.
fn counts(cores: usize, logical: usize) -> Vec<usize> {
    let mut counts = up_to(logical);
    counts.extend([cores, logical + logical.div_ceil(2), 2 * logical, 4 * logical]);
    counts.sort_unstable();
    counts.dedup();
    counts
}

impl Threads {
    fn counts(&self, setting: &Setting<'_>) -> Vec<usize> {
        if self.counts.is_empty() {
            counts(cores(setting), setting.host.logical_cores)
        } else {
            self.counts.clone()
        }
    }

    /// The kernels that there are: with tables as the study had them, in constant time without special instructions,
    /// and the best.
    fn kernels(&self, setting: &Setting<'_>) -> Vec<(&'static str, Wish)> {
        let shape = Shape::uniform(self.algorithm, self.algorithm.forward(), 1, 1, true);
        let all = setting.cpu.kernels(&shape);
        let plain = all.iter().find(|kernel| !kernel.constant_time);
        let plain = plain.map(|kernel| Wish { kernel: Some(kernel.name.clone()), ..Wish::default() });
        let special = all.first().filter(|kernel| kernel.tier != Tier::Portable.name());
        [
            (PLAIN, plain),
            (PORTABLE, Some(at(Tier::Portable.name()))),
            (SPECIAL_KERNEL, special.map(|kernel| at(&kernel.tier))),
        ]
        .into_iter()
        .filter_map(|(name, wish)| Some((name, wish?)))
        .collect()
    }

    fn grid<'a>(&self, messages: Messages, kernels: &'a [Wish], threads: &'a [usize]) -> ThreadGrid<'a> {
        let work = Work::forward(self.algorithm, messages.bytes, None);
        ThreadGrid {
            work: Work { keys: messages.keys, ..work },
            bytes_per_thread: self.bytes_per_thread,
            kernels,
            threads,
            visits: self.visits,
            seconds: self.seconds,
        }
    }

    fn axes(&self, messages: Messages, kernel: &str) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("algorithm".to_owned(), Axis::Name(self.algorithm.to_string())),
            ("kernel".to_owned(), Axis::from(kernel)),
            ("keys".to_owned(), Axis::from(messages.keys.name())),
            ("message bytes".to_owned(), Axis::Number(messages.bytes as f64)),
        ])
    }

    /// All kernels at all numbers of threads on one kind of messages.
    fn sweep(
        &self,
        setting: &Setting<'_>,
        messages: Messages,
        kernels: &[(&'static str, Wish)],
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let (names, wishes): (Vec<_>, Vec<_>) = kernels.iter().cloned().unzip();
        let counts = self.counts(setting);
        let mark = setting.sampler.mark();
        let Some(cells) = self.grid(messages, &wishes, &counts).run(setting) else { return Ok(()) };
        let mut timeline = Some(setting.sampler.since(mark));
        for (place, &name) in names.iter().enumerate() {
            let own: Vec<&Cell> = cells.iter().filter(|cell| cell.kernel == place).collect();
            for cell in &own {
                if let Some(reason) = cell.failure() {
                    let reason = format!("{name}, {} threads: {reason}", cell.threads);
                    setting.skip(observer, setting.cpu, Some(self.algorithm), reason);
                    continue;
                }
                let plain = cells.iter().find(|other| {
                    names.first() == Some(&PLAIN) && other.kernel == 0 && other.threads == cell.threads
                });
                let mut row = self.row(setting, messages, name, cell, &cells, plain);
                // All cells ran in turn: what the sensors said belongs to all, and stands once.
                row.timeline = timeline.take();
                observer.observed(&setting.observation(setting.cpu, row))?;
            }
            let row = Row {
                axes: self.axes(messages, name),
                values: scaling(setting, &own),
                notes: vec![boundary(setting)],
                ..Row::default()
            };
            observer.observed(&setting.observation(setting.cpu, row))?;
        }
        Ok(())
    }

    fn row(
        &self,
        setting: &Setting<'_>,
        messages: Messages,
        name: &str,
        cell: &Cell,
        cells: &[Cell],
        plain: Option<&Cell>,
    ) -> Row {
        let mut axes = self.axes(messages, name);
        axes.insert("threads".to_owned(), Axis::Number(cell.threads as f64));
        let all = cell.threads == setting.host.logical_cores;
        let figures: &[(f64, &str)] = match (name, cell.threads) {
            (PLAIN, 1) => &ONE,
            (PLAIN, _) if all => &ALL,
            (SPECIAL_KERNEL, _) if all => &ALL_SPECIAL,
            _ => &[],
        };
        let single = single_of(cells, cell);
        let mut values = cell.values(single, ("MB/s", 1e6), STUDY, figures, setting.seed);
        let by_plain = plain.and_then(|plain| Some(100.0 * cell.rate()? / plain.rate()?));
        let by_plain = known("of plain code", "%", by_plain.ok_or_else(|| "no plain kernel ran".to_owned()));
        values.push(beside_special(by_plain, name, all));
        let text = format!(
            "{} KiB of text for each thread, or for each logical CPU where threads are more; the study's messages are said \
             to have 128 B and are shorter (see cavp-mix), so MB/s stand beside each other for their order alone",
            self.bytes_per_thread >> 10
        );
        Row {
            axes,
            values,
            samples: cell.samples(1e6),
            verified: Some(cell.verified()),
            timeline: None,
            notes: [format!("{name}: {}", cell.path)]
                .into_iter()
                .chain(cell.notes(single))
                .chain([text])
                .collect(),
        }
    }
}

/// `by_plain`, what the kernel `name` does by plain code, beside the study's: on `all` logical CPUs beside its tables'
/// as well.
fn beside_special(by_plain: Value, name: &str, all: bool) -> Value {
    if name != SPECIAL_KERNEL {
        return by_plain;
    }
    let told = beside(by_plain, STUDY_SPECIAL, &SPECIAL);
    if all { beside(told, STUDY, &SPECIAL_OF_ALL) } else { told }
}

/// Where the cores end, and where the logical CPUs do.
fn boundary(setting: &Setting<'_>) -> String {
    let (cores, logical) = (cores(setting), setting.host.logical_cores);
    let smt = match setting.host.physical_cores {
        None => "; the system does not tell cores from logical CPUs",
        Some(_) if cores == logical => "; no CPUs share a core, as far as the system shows",
        Some(_) => "; beyond the cores, two threads or more share one",
    };
    format!(
        "{cores} cores, {logical} logical CPUs{smt}; laws are fitted up to the logical CPUs, beyond which threads take turns"
    )
}

/// What the gains of one kernel add up to.
fn scaling(setting: &Setting<'_>, cells: &[&Cell]) -> Vec<Value> {
    let (cores, logical) = (cores(setting), setting.host.logical_cores);
    let single = cells.iter().find(|cell| cell.threads == 1);
    let gains: Vec<Gain> = match single {
        Some(single) => cells.iter().filter_map(|cell| cell.gain(single)).collect(),
        None => Vec::new(),
    };
    let within: Vec<Gain> = gains.iter().filter(|gain| gain.threads <= logical).copied().collect();
    let at = |threads: usize| {
        let gain = gains.iter().find(|gain| gain.threads == threads).map(|gain| gain.gain);
        gain.ok_or_else(|| format!("{threads} threads were not run beside one"))
    };
    let few = |parameters: &str| {
        format!(
            "{parameters}: too few numbers of threads up to the {logical} logical CPUs; take a larger machine"
        )
    };
    let amdahl = Law::amdahl(&within).ok_or_else(|| few("one parameter"));
    let usl = Law::usl(&within).ok_or_else(|| few("two parameters"));
    let of = |law: &Result<Law, String>, part: fn(&Law) -> f64| law.as_ref().map(part).map_err(Clone::clone);
    let slope = slope(&within).ok_or_else(|| few("a slope"));
    let peak = usl.clone().and_then(|law| law.peak().ok_or_else(|| "kappa is 0: it never falls".to_owned()));
    let beyond = at(2 * logical).and_then(|twice| Ok(100.0 * (twice / at(logical)? - 1.0)));
    vec![
        beside(known("slope", "1", slope), STUDY_SPECIAL, &SLOPE),
        known("gain, all CPUs", "1", at(logical)),
        known("gain, all cores", "1", at(cores)),
        known("twice the CPUs add", "%", beyond),
        known("Amdahl sigma", "1", of(&amdahl, |law| law.sigma)),
        known("Amdahl residual", "%", of(&amdahl, |law| 100.0 * law.residual)),
        known("USL sigma", "1", of(&usl, |law| law.sigma)),
        known("USL kappa", "1", of(&usl, |law| law.kappa)),
        known("USL residual", "%", of(&usl, |law| 100.0 * law.residual)),
        known("USL peak", "threads", peak),
        value("cores", "1", cores as f64),
        value("logical CPUs", "1", logical as f64),
    ]
}

impl Run for Threads {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let (kernels, counts) = (self.kernels(setting), self.counts(setting));
        let wishes: Vec<Wish> = kernels.iter().map(|(_, wish)| wish.clone()).collect();
        let names: Vec<&str> = kernels.iter().map(|(name, _)| *name).collect();
        let what = |&messages: &Messages| {
            let (bytes, keys) = (messages.bytes, messages.keys.name());
            let text = format!(
                "{} of {bytes} B, keys {keys}, {} on {counts:?} threads",
                self.algorithm,
                names.join(", ")
            );
            (text, self.grid(messages, &wishes, &counts).time())
        };
        self.messages.iter().map(what).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let kernels = self.kernels(setting);
        if kernels.iter().all(|(name, _)| *name != SPECIAL_KERNEL) {
            let reason = "no special instructions: no tier above portable is here or switched on".to_owned();
            setting.skip(observer, setting.cpu, Some(self.algorithm), reason);
        }
        for &messages in &self.messages {
            // The row of what it adds up to is the last of each kernel.
            let done = |(name, _): &(&str, Wish)| setting.is_done(setting.cpu, &self.axes(messages, name));
            if !setting.stopped() && !kernels.iter().all(done) {
                self.sweep(setting, messages, &kernels, observer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::thread_grid::MOST_COUNTED;

    #[test]
    fn all_numbers_of_threads_are_there_and_some_beyond() {
        assert_eq!(counts(2, 2), [1, 2, 3, 4, 8]);
        assert_eq!(counts(1, 1), [1, 2, 4]);
        assert_eq!(counts(4, 8), [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32]);
    }

    #[test]
    fn special_instructions_stand_beside_the_text_and_the_tables() {
        let figures = |name, all| {
            let value = beside_special(value("of plain code", "%", 100.0), name, all);
            value
                .published
                .into_iter()
                .map(|figure| (figure.value.round(), figure.source))
                .collect::<Vec<_>>()
        };
        let told = (450.0, "000.4".to_owned());
        let table = |figure| (figure, "000.7".to_owned());
        assert_eq!(figures(SPECIAL_KERNEL, false), std::slice::from_ref(&told));
        assert_eq!(figures(SPECIAL_KERNEL, true), [told, table(406.0), table(354.0), table(367.0)]);
        assert!(figures(PLAIN, true).is_empty());
    }

    #[test]
    fn a_large_machine_is_thinned_but_its_boundaries_are_kept() {
        let counts = counts(96, 192);
        assert!(counts.len() <= MOST_COUNTED + 5, "{}", counts.len());
        for kept in [1, 96, 192, 288, 384, 768] {
            assert!(counts.contains(&kept), "{kept}");
        }
    }
}
