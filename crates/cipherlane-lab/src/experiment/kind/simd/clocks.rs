//! The clock of cores that are idle, of one that works and of all that do (study 003, 003.3).

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use cipherlane_record::{Axis, Host, Value};

use super::State;
use crate::energy::pause;
use crate::experiment::sensors::recent;
use crate::experiment::setting::{Row, Setting, beside, known};
use crate::measure::clock::core_clock_hertz;
use crate::statistics;

const STUDY: &str = "003.3";
const IDLE: [(f64, &str); 2] =
    [(1.0, "the study's CPU, power plan balanced"), (4.7, "the study's CPU, power plan ultimate")];
const ONE: [(f64, &str); 1] = [(4.8, "the study's CPU, turbo on")];
const ALL: [(f64, &str); 1] = [(4.4, "the study's CPU, turbo on")];
/// Percent of the clock that is lost when all cores work.
const LOST: [(f64, &str); 1] =
    [(100.0 * (1.0 - 4.4 / 4.8), "the study's CPU, turbo on: from 4.8 to 4.4 GHz")];

/// Long enough for a look at idle cores, and for clocks to settle under a load of all.
const IDLE_FOR: Duration = Duration::from_secs(1);
const BUSY_FOR: Duration = Duration::from_millis(300);

const NOT_PINNED: &str = "the system places threads as it likes, so that not all cores may be busy";

/// The state of the machine, with what the system calls its power plan.
pub(super) fn axes(host: &Host, state: &State) -> BTreeMap<String, Axis> {
    let plan = host.frequency_governor.as_deref().unwrap_or("unknown");
    state.axes().into_iter().chain([("power plan".to_owned(), plan.into())]).collect()
}

pub(super) fn row(setting: &Setting<'_>, state: &State) -> Row {
    let mark = setting.sampler.mark();
    pause(IDLE_FOR, setting.stop);
    let idle = recent(&setting.sampler.since(mark), "cpu.frequency");
    let (one, all) = (of_one(), of_all());
    let lost = all.clone().and_then(|all| Ok(100.0 * (1.0 - all / one.clone()?)));
    // The study tells no clock without turbo.
    let with_turbo = |value: Value, figures: &[(f64, &str)]| {
        beside(value, STUDY, if state.turbo == Some(false) { &[] } else { figures })
    };
    let clock = |name: &str, hertz: Result<f64, String>| known(name, "GHz", hertz.map(|hertz| 1e-9 * hertz));
    Row {
        values: vec![
            with_turbo(clock("clock of idle cores", idle), &IDLE),
            with_turbo(clock("clock of one busy core", one), &ONE),
            with_turbo(clock("clock of all busy cores", all), &ALL),
            with_turbo(known("all lose to the clock", "%", lost), &LOST),
        ],
        timeline: Some(setting.sampler.since(mark)),
        notes: vec![
            "of idle cores: as the system says; of busy ones: by chains of additions, on one CPU and on all at once"
                .to_owned(),
        ],
        ..Row::default()
    }
}

/// The clock of the CPU that this runs on, after it has been busy for a while.
fn of_one() -> Result<f64, String> {
    until(Instant::now() + BUSY_FOR)
}

/// The clock of the CPU that this runs on, when it has been busy until `end`.
fn until(end: Instant) -> Result<f64, String> {
    loop {
        let clock = core_clock_hertz();
        if clock.is_err() || Instant::now() >= end {
            return clock;
        }
    }
}

/// The same on all CPUs that may be used at once: the median of theirs. All end at one moment, whenever their threads
/// began: those that went on when others had ended would run at the clock of few.
fn of_all() -> Result<f64, String> {
    let end = Instant::now() + BUSY_FOR;
    let clocks: Vec<Result<f64, String>> = thread::scope(|scope| {
        let start = |cpu| {
            scope.spawn(move || {
                if core_affinity::set_for_current(cpu) { until(end) } else { Err(NOT_PINNED.to_owned()) }
            })
        };
        let busy: Vec<_> = core_affinity::get_core_ids().unwrap_or_default().into_iter().map(start).collect();
        busy.into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a chain failed".to_owned())))
            .collect()
    });
    let clocks = clocks.into_iter().collect::<Result<Vec<_>, _>>()?;
    if clocks.is_empty() { Err(NOT_PINNED.to_owned()) } else { Ok(statistics::median(&clocks)) }
}
