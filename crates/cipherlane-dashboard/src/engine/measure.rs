//! The loop of a run that measures: a sample, a look at what is wanted, four times a second a word to the board.

use std::time::{Duration, Instant};

use cipherlane::Plan;
use cipherlane_lab::Live;
use cipherlane_lab::live::Sampled;
use cipherlane_record::{Load, Measurement};

use super::Work;
use super::loads::Loads;
use crate::run::{Figures, Wanted};

/// How often the board is told.
const TOLD: Duration = Duration::from_millis(250);

/// What the row should say beside its samples.
pub(super) struct Measured {
    load: Option<Load>,
    pauses: u32,
    paused: Duration,
    /// Why it ended before its time.
    problem: Option<String>,
}

impl Measured {
    /// Adds it to the row; says what ended the run before its time, if something did.
    pub(super) fn tell(self, row: &mut Measurement) -> Option<String> {
        row.load = self.load;
        if self.pauses > 0 {
            let times = if self.pauses == 1 { "once".to_owned() } else { format!("{} times", self.pauses) };
            row.warnings
                .push(format!("the run was paused {times}, for {:.1} s in all", self.paused.as_secs_f64()));
        }
        let problem = self.problem.map(|reason| format!("the run ended before its time: {reason}"));
        row.warnings.extend(problem.clone());
        problem
    }
}

/// A run while it measures.
struct Meter<'a, 'l> {
    work: &'a Work<'a>,
    live: &'a mut Live<'l>,
    loads: Loads<'a>,
    start: Instant,
    pauses: u32,
    paused: Duration,
    /// Since the beginning, and since the board was last told.
    whole: Sampled,
    recent: Sampled,
    told: Instant,
}

/// Samples until the time is up or somebody stops it. An error after samples enough for a row is no reason to lose them.
pub(super) fn measure<'a>(work: &'a Work<'a>, live: &'a mut Live<'_>) -> Result<Measured, String> {
    let order = work.order;
    let loads = Loads::start(&*order.device, order.cpu_load, order.device_load)?;
    work.board.begin(work.id, live.plans().iter().map(described).collect());
    let now = Instant::now();
    let mut meter = Meter {
        work,
        live,
        loads,
        start: now,
        pauses: 0,
        paused: Duration::ZERO,
        whole: Sampled::default(),
        recent: Sampled::default(),
        told: now,
    };
    let problem = match meter.run() {
        Err(reason) if !meter.live.has_enough() => return Err(reason),
        ended => ended.err(),
    };
    Ok(Measured { load: meter.loads.record(), pauses: meter.pauses, paused: meter.paused, problem })
}

impl Meter<'_, '_> {
    fn run(&mut self) -> Result<(), String> {
        // However short the time is, there are samples enough for a row, unless somebody stops it before.
        while self.active() < self.work.order.limit || !self.live.has_enough() {
            match self.work.board.wanted(self.work.id) {
                Wanted::Stop => break,
                Wanted::Pause => {
                    if self.rest()? == Wanted::Stop {
                        break;
                    }
                }
                Wanted::Go => {}
            }
            let sampled = self.live.sample().map_err(|error| error.to_string())?;
            add(&mut self.whole, sampled);
            add(&mut self.recent, sampled);
            if self.told.elapsed() >= TOLD {
                self.tell();
            }
        }
        self.tell();
        Ok(())
    }

    /// Time of the run without its pauses.
    fn active(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.paused)
    }

    /// Rests, and the loads with it.
    fn rest(&mut self) -> Result<Wanted, String> {
        self.tell();
        self.loads.rest();
        self.live.pause();
        let from = Instant::now();
        // A gap in the chart.
        self.work.board.tell(self.work.id, self.figures(), (self.start.elapsed().as_secs_f64(), None));
        let wanted = self.work.board.rest(self.work.id);
        self.pauses += 1;
        self.paused += from.elapsed();
        if wanted != Wanted::Stop {
            self.loads.resume()?;
            self.live.resume();
        }
        self.told = Instant::now();
        Ok(wanted)
    }

    /// Tells the board how it stands.
    fn tell(&mut self) {
        if self.recent.bytes > 0 || self.recent.messages > 0 {
            let figures = self.figures();
            let rate = figures.bytes_per_second;
            self.work.board.tell(self.work.id, figures, (self.start.elapsed().as_secs_f64(), Some(rate)));
        }
        self.recent = Sampled::default();
        self.told = Instant::now();
    }

    #[allow(clippy::cast_precision_loss)] // rates
    fn figures(&self) -> Figures {
        let per_second = |count: u64, seconds: f64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let load = self.loads.record().unwrap_or_default();
        Figures {
            seconds: self.active().as_secs_f64(),
            samples: self.live.rounds(),
            totals: self.live.totals(),
            checks: self.live.checks(),
            bytes_per_second: per_second(self.recent.bytes, self.recent.seconds),
            messages_per_second: per_second(self.recent.messages, self.recent.seconds),
            mean_bytes_per_second: per_second(self.whole.bytes, self.whole.seconds),
            core_clock_hertz: self.live.clock(),
            cpu_load: load.cpu.map(|share| share.achieved),
            device_load: load.gpu.map(|share| share.achieved),
        }
    }
}

fn add(sum: &mut Sampled, sampled: Sampled) {
    sum.seconds += sampled.seconds;
    sum.bytes += sampled.bytes;
    sum.messages += sampled.messages;
}

/// A plan in a line.
pub(crate) fn described(plan: &Plan) -> String {
    let way = match plan.geometry {
        Some(geometry) => {
            let streams = geometry.streams.map_or_else(String::new, |streams| format!(", {streams} streams"));
            format!("{} blocks of {} threads{streams}", geometry.blocks, geometry.threads_per_block)
        }
        None if plan.threads == 1 => "1 thread".to_owned(),
        None => format!("{} threads", plan.threads),
    };
    format!("{} {}: {}, {way}", plan.algorithm, plan.operation, plan.kernel)
}
