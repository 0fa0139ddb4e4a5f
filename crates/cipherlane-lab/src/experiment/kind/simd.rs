//! Tiers by threads, by turbo and by hyper-threading: what a thread is worth when others work beside it (study 003).

mod clocks;
mod printed;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Shape, Wish};
use cipherlane_record::{Axis, Value, Verdict};
use serde::Deserialize;

use crate::energy::pause;
use crate::experiment::setting::{Row, Run, Setting, beside, known};
use crate::experiment::steady::Work;
use crate::experiment::switch::{Change, Switch};
use crate::experiment::thread_grid::{Cell, ThreadGrid, at, cores, single_of};
use crate::observer::Observer;
use crate::telemetry::Files;
use printed::{Machine, Printed, STUDY_OF_MACHINES, Threads};

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Simd {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Bytes of a message.
    message_bytes: usize,
    /// Bytes of text for each thread.
    bytes_per_thread: usize,
    /// Visits to each cell.
    #[serde(deserialize_with = "super::super::fields::count")]
    visits: usize,
    /// Seconds of a visit.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

const STUDY: &str = "003.2";
/// After a switch was turned, clocks and scheduler settle.
const SETTLE: Duration = Duration::from_millis(500);

/// Turbo and hyper-threading while cells are measured; unknown where the machine does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    turbo: Option<bool>,
    smt: Option<bool>,
}

impl State {
    /// What the machine is set to, and why parts are not known.
    fn present(files: &Files, setting: &Setting<'_>) -> (Self, Vec<String>) {
        let turbo = Switch::Turbo.state(files);
        let smt = Switch::Smt.state(files).or_else(|reason| setting.host.smt.ok_or(reason));
        let reasons = [&turbo, &smt].into_iter().filter_map(|state| state.as_ref().err().cloned()).collect();
        (Self { turbo: turbo.ok(), smt: smt.ok() }, reasons)
    }

    /// The study's four.
    fn all() -> [Self; 4] {
        let state = |turbo, smt| Self { turbo: Some(turbo), smt: Some(smt) };
        [state(true, true), state(true, false), state(false, true), state(false, false)]
    }

    fn axes(&self) -> [(String, Axis); 2] {
        let word =
            |state: Option<bool>| Axis::from(state.map_or("unknown", |on| if on { "on" } else { "off" }));
        [(Switch::Turbo.name().to_owned(), word(self.turbo)), (Switch::Smt.name().to_owned(), word(self.smt))]
    }

    /// Turns both switches.
    fn set(&self, files: &Files) -> Result<Vec<Change>, String> {
        let mut changes = Vec::new();
        for (switch, on) in [(Switch::Smt, self.smt), (Switch::Turbo, self.turbo)] {
            if let Some(on) = on {
                changes.extend(switch.turn(files, on)?);
            }
        }
        Ok(changes)
    }
}

impl Simd {
    /// One thread, one on each core, and one on each logical CPU unless hyper-threading is off.
    fn counts(setting: &Setting<'_>, state: &State) -> Vec<usize> {
        let mut counts = vec![1, cores(setting)];
        if state.smt != Some(false) {
            counts.push(setting.host.logical_cores);
        }
        counts.dedup();
        counts
    }

    /// The tiers that serve `algorithm` here, narrowest first.
    fn tiers(setting: &Setting<'_>, algorithm: Algorithm) -> Vec<String> {
        let kernels = setting.cpu.kernels(&Shape::uniform(algorithm, algorithm.forward(), 1, 16, true));
        let safe = kernels.into_iter().filter(|kernel| kernel.constant_time);
        safe.map(|kernel| kernel.tier).rev().collect()
    }

    fn grid<'a>(&self, algorithm: Algorithm, kernels: &'a [Wish], threads: &'a [usize]) -> ThreadGrid<'a> {
        ThreadGrid {
            work: Work::forward(algorithm, self.message_bytes, None),
            bytes_per_thread: self.bytes_per_thread,
            kernels,
            threads,
            visits: self.visits,
            seconds: self.seconds,
        }
    }

    fn axes(algorithm: Algorithm, tier: &str, state: &State) -> BTreeMap<String, Axis> {
        let own = [
            ("algorithm".to_owned(), Axis::Name(algorithm.to_string())),
            ("tier".to_owned(), Axis::from(tier)),
        ];
        own.into_iter().chain(state.axes()).collect()
    }

    /// All algorithms in one state of the machine.
    fn state(&self, setting: &Setting<'_>, state: &State, observer: &mut dyn Observer) -> io::Result<()> {
        let axes = clocks::axes(setting.host, state);
        setting.point(observer, setting.cpu, None, axes, || Ok(clocks::row(setting, state)))?;
        for &algorithm in &self.algorithms {
            let tiers = Self::tiers(setting, algorithm);
            let done = |tier: &String| setting.is_done(setting.cpu, &Self::axes(algorithm, tier, state));
            if setting.stopped() || tiers.iter().all(done) {
                continue;
            }
            if tiers.len() < 2 {
                let reason = "it has the portable tier alone here, so there is nothing to compare".to_owned();
                setting.skip(observer, setting.cpu, Some(algorithm), reason);
                continue;
            }
            self.algorithm(setting, state, algorithm, &tiers, observer)?;
        }
        Ok(())
    }

    fn algorithm(
        &self,
        setting: &Setting<'_>,
        state: &State,
        algorithm: Algorithm,
        tiers: &[String],
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let wishes: Vec<Wish> = tiers.iter().map(|tier| at(tier)).collect();
        let counts = Self::counts(setting, state);
        let mark = setting.sampler.mark();
        let Some(cells) = self.grid(algorithm, &wishes, &counts).run(setting) else { return Ok(()) };
        let mut timeline = Some(setting.sampler.since(mark));
        for (place, tier) in tiers.iter().enumerate() {
            let own: Vec<&Cell> = cells.iter().filter(|cell| cell.kernel == place).collect();
            for cell in &own {
                if let Some(reason) = cell.failure() {
                    let reason = format!("{tier}, {} threads: {reason}", cell.threads);
                    setting.skip(observer, setting.cpu, Some(algorithm), reason);
                    continue;
                }
                let mut axes = Self::axes(algorithm, tier, state);
                axes.insert("threads".to_owned(), Axis::Number(cell.threads as f64));
                let single = single_of(&cells, cell);
                let row = Row {
                    axes,
                    values: values(setting, state, tier, cell, single),
                    samples: cell.samples(MBIT),
                    verified: Some(cell.verified()),
                    // All cells ran in turn: what the sensors said belongs to all, and stands once.
                    timeline: timeline.take(),
                    notes: cell.notes(single),
                };
                observer.observed(&setting.observation(setting.cpu, row))?;
            }
            let row = Row {
                axes: Self::axes(algorithm, tier, state),
                values: rule(setting, &own),
                notes: vec![RULE.to_owned()],
                ..Row::default()
            };
            observer.observed(&setting.observation(setting.cpu, row))?;
        }
        Ok(())
    }

    /// The states that can be had, and why others cannot.
    fn states(setting: &Setting<'_>, files: &Files) -> (Vec<State>, Vec<String>) {
        let (present, mut reasons) = State::present(files, setting);
        if !setting.change_machine {
            let missing: Vec<String> =
                State::all().iter().filter(|state| **state != present).map(named).collect();
            let remedy = if present.turbo.is_some() && present.smt.is_some() {
                "give --change-machine, which turns the switches as root and puts them back"
            } else {
                "they want a machine that has both switches, which virtual ones have not"
            };
            reasons.push(format!(
                "only the present state is run ({}); the study also has {}: {remedy}",
                named(&present),
                missing.join("; ")
            ));
            return (vec![present], reasons);
        }
        let (mut states, mut left_out) = (Vec::new(), Vec::new());
        for state in State::all() {
            // Threads are placed on the CPUs that were there at the start.
            let wakes = state.smt == Some(true) && present.smt == Some(false);
            let known = present.turbo.is_some() && present.smt.is_some();
            if state == present || (known && !wakes) {
                states.push(state);
            } else {
                left_out.push(named(&state));
            }
        }
        if !states.contains(&present) {
            states.push(present);
        }
        if !left_out.is_empty() {
            reasons.push(format!(
                "left out: {}: both switches must be there, and hyper-threading on from the start (turn it on, run again)",
                left_out.join("; ")
            ));
        }
        (states, reasons)
    }
}

/// Bytes per second of a Mbit/s.
const MBIT: f64 = 1e6 / 8.0;

fn named(state: &State) -> String {
    state.axes().map(|(name, word)| format!("{name} {word}")).join(", ")
}

/// A cell beside the study's: where its state is not known, beside that of turbo and hyper-threading.
fn values(
    setting: &Setting<'_>,
    state: &State,
    tier: &str,
    cell: &Cell,
    single: Option<&Cell>,
) -> Vec<Value> {
    let (cores, logical) = (cores(setting), setting.host.logical_cores);
    let (turbo, smt) = (state.turbo.unwrap_or(true), state.smt.unwrap_or(true));
    let all = cell.threads == logical && logical > cores;
    let printed = Printed::of(turbo, smt, all).filter(|_| cell.threads > 1);
    let rate: Vec<_> = printed.and_then(|row| row.rate(tier)).into_iter().collect();
    let efficiency: Vec<_> = printed.and_then(|row| row.efficiency(tier)).into_iter().collect();
    let values = cell.values(single, ("Mbit/s", MBIT), STUDY, &rate, setting.seed);
    let threads = match cell.threads {
        1 => Some(Threads::One),
        _ => all.then_some(Threads::All),
    };
    let [rates, efficiencies] = threads
        .filter(|_| turbo && smt)
        .map_or_else(Default::default, |threads| Machine::figures(tier, threads));
    let with_figures = |value: Value| match value.name.as_str() {
        "throughput" => beside(value, STUDY_OF_MACHINES, &rates),
        "efficiency" => beside(beside(value, STUDY, &efficiency), STUDY_OF_MACHINES, &efficiencies),
        _ => value,
    };
    values.into_iter().map(with_figures).collect()
}

/// The study's rule, and ours.
const RULE: &str = "take threads: the fewest that no larger number beats beyond noise. The study's rule: code with AVX or \
                    AVX-512 takes a thread per core, plain code and SSE up to the logical CPUs";

/// How many threads to take, as measured, and what hyper-threading gives and costs.
fn rule(setting: &Setting<'_>, cells: &[&Cell]) -> Vec<Value> {
    let (cores, logical) = (cores(setting), setting.host.logical_cores);
    let at = |threads: usize| cells.iter().find(|cell| cell.threads == threads);
    let is_beaten = |cell: &Cell| {
        let larger = cells.iter().filter(|other| other.threads > cell.threads);
        larger
            .filter_map(|other| other.against(cell, setting.seed))
            .any(|ratio| ratio.verdict == Verdict::Faster)
    };
    let mut measured = cells.iter().filter(|cell| cell.rate().is_some());
    let too_few = measured.clone().find_map(|cell| cell.too_few());
    let take = measured.find(|cell| !is_beaten(cell));
    let take = take.map(|cell| cell.threads as f64).ok_or_else(|| "no cell was measured".to_owned());
    // Where nothing can be told apart, one thread would seem to be enough.
    let take = too_few.clone().map_or(take, Err);
    let pair = if cores == logical {
        Err("no logical CPUs share a core, as far as the system shows".to_owned())
    } else {
        at(cores).zip(at(logical)).ok_or_else(|| "hyper-threading is off".to_owned())
    };
    let ratio = pair.clone().and_then(|(half, all)| {
        all.against(half, setting.seed).ok_or_else(|| "one of the two failed".to_owned())
    });
    let clock = pair.clone().and_then(|(half, all)| Ok(all.clock()? / half.clock()?));
    let interval = ratio.as_ref().ok().map(|ratio| ratio.interval).filter(|_| too_few.is_none());
    let gain = known(
        "all CPUs by a thread per core",
        "1",
        ratio.as_ref().map(|ratio| ratio.median).map_err(Clone::clone),
    );
    let each = ratio.map(|ratio| ratio.median * cores as f64 / logical as f64);
    let contention = each.and_then(|each| Ok(100.0 * (1.0 - each / clock.clone()?)));
    vec![
        known("take threads", "1", take),
        Value { ci95: interval, ..gain },
        known("a thread loses to the clock", "%", clock.map(|clock| 100.0 * (1.0 - clock))),
        known("a thread loses to its sibling", "%", contention),
    ]
}

impl Run for Simd {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let (states, _) = Self::states(setting, &Files::of_this_machine());
        let of = |state: &State| {
            let counts = Self::counts(setting, state);
            let step = |&algorithm: &Algorithm| {
                let tiers = Self::tiers(setting, algorithm);
                let wishes: Vec<Wish> = tiers.iter().map(|tier| at(tier)).collect();
                let time = self.grid(algorithm, &wishes, &counts).time();
                let text =
                    format!("{algorithm}, {} on {counts:?} threads, {}", tiers.join(", "), named(state));
                (text, time)
            };
            self.algorithms.iter().map(step).collect::<Vec<_>>()
        };
        states.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let files = Files::of_this_machine();
        let (states, reasons) = Self::states(setting, &files);
        for reason in reasons {
            setting.skip(observer, setting.cpu, None, reason);
        }
        for state in states {
            if setting.stopped() {
                break;
            }
            let changes = if setting.change_machine { state.set(&files) } else { Ok(Vec::new()) };
            let changes = match changes {
                Ok(changes) => changes,
                Err(reason) => {
                    setting.skip(observer, setting.cpu, None, format!("{}: {reason}", named(&state)));
                    continue;
                }
            };
            if !changes.is_empty() {
                pause(SETTLE, setting.stop);
            }
            self.state(setting, &state, observer)?;
            for change in changes.into_iter().rev() {
                if let Err(reason) = change.undo() {
                    setting.skip(observer, setting.cpu, None, format!("NOT PUT BACK: {reason}"));
                }
            }
        }
        Ok(())
    }
}
