//! The thread that does the work: takes run after run, and makes a row and a log of each.

mod loads;
mod measure;

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane_lab::judge::{first_wrong, known_answers};
use cipherlane_lab::workload::{self, Workload};
use cipherlane_lab::{Ceilings, Contender, Judges, Live, Options, Sampling, Wanted as Place};

pub(crate) use measure::described;

use crate::board::Board;
use crate::keep::Keep;
use crate::machine::Machine;
use crate::request::Order;
use crate::run::{End, Wanted};

/// The name under which rows are kept.
pub(crate) const EXPERIMENT: &str = "dashboard";
/// A sample lasts at least so long: the checks between samples then take little of the time, so that clocks and
/// temperatures are those of steady work.
const SHORTEST_SAMPLE: f64 = 0.02;
/// Samples of a run, about; more are of no use to its interval, and each is kept.
const SAMPLES: f64 = 5000.0;
/// A sample of a run that somebody stops, after seconds or after an hour.
const OPEN_ENDED_SAMPLE: f64 = 0.1;

/// Works until the board says that it is over.
pub(crate) fn work(machine: &Machine, board: &Board, mut keep: Keep) {
    let ceilings = OnceCell::new();
    while let Some((id, order)) = board.next(|| machine.sampler.forget()) {
        let job = Work { machine, board, ceilings: &ceilings, id, order: &order };
        // A panic is a defect of ours, and must not take the runs that wait with it.
        let end = catch_unwind(AssertUnwindSafe(|| job.run(&mut keep)));
        board.end(
            id,
            match end {
                Ok(Ok(end)) => end,
                Ok(Err(reason)) => End::Failed(reason),
                Err(_) => End::Failed(
                    "internal defect of cipherlane, told on the terminal; please report it".to_owned(),
                ),
            },
        );
    }
}

/// One run on its way.
struct Work<'a> {
    machine: &'a Machine,
    board: &'a Board,
    /// What this core's instructions and memory allow: measured once, before the first run.
    ceilings: &'a OnceCell<Result<Ceilings, String>>,
    id: u64,
    order: &'a Order,
}

impl Work<'_> {
    /// Prepares, measures and keeps.
    fn run(&self, keep: &mut Keep) -> Result<End, String> {
        let contender = self.order.contender();
        self.check_known_answers(&contender)?;
        if self.is_stopped() {
            return Ok(End::Cancelled("stopped before it measured".to_owned()));
        }
        self.board.say(self.id, "measures what the core's instructions allow");
        let ceilings = self.ceilings.get_or_init(Ceilings::measure).as_ref();
        self.board.say(self.id, "computes the expected outputs, in two ways");
        let workload = self.build()?;
        if self.is_stopped() {
            return Ok(End::Cancelled("stopped before it measured".to_owned()));
        }
        self.board.say(self.id, "opens sessions and warms up");
        // The board stops a run: a sample is never broken off.
        let never = AtomicBool::new(false);
        let options = self.options(ceilings.ok(), &never);
        let Order { threads, resident, .. } = *self.order;
        let host = self.machine.host();
        let mut live = Live::start(workload, &contender, threads, resident, host, &options)
            .map_err(|error| error.to_string())?;
        let measured = measure::measure(self, &mut live)?;
        let Some(mut row) = live.row(EXPERIMENT) else {
            return Ok(End::Cancelled("stopped before there were samples enough for a row".to_owned()));
        };
        if let Err(reason) = ceilings {
            row.warnings.push(format!("no ceiling is shown: {reason}"));
        }
        let problem = measured.tell(&mut row);
        if let Err(error) = keep.row(&row) {
            return Ok(End::Unkept { row: Arc::new(row), reason: error.to_string() });
        }
        let log = match problem {
            None => {
                keep.log(self.id, &row, live.workload(), live.results()).map_err(|error| error.to_string())
            }
            // A log shows what came out of the last pass.
            Some(problem) => Err(problem),
        };
        Ok(End::Finished { row: Arc::new(row), log })
    }

    fn is_stopped(&self) -> bool {
        self.board.wanted(self.id) == Wanted::Stop
    }

    /// Has the contender compute the known answers of what will be measured ([`first_wrong`]).
    fn check_known_answers(&self, contender: &Contender<'_>) -> Result<(), String> {
        self.board.say(self.id, "computes known answers");
        let known = known_answers(self.order.choice.job().algorithms());
        match first_wrong(contender, &known).map_err(|error| error.to_string())? {
            None => Ok(()),
            Some(first) => Err(format!("wrong answers, so nothing is timed: {first}")),
        }
    }

    fn build(&self) -> Result<Workload, String> {
        let cpu = self.machine.device("cpu").map_err(|error| error.to_string())?;
        let reference = Reference::new();
        let judges = Judges::new(&**cpu, &reference);
        let (host, threads) = (self.machine.host(), self.order.threads);
        let working_set_bytes = workload::Request::working_set(Place::Hot, host, threads);
        let request = workload::Request { seed: self.order.seed, working_set_bytes, judges: &judges };
        self.order.choice.build(&request).map_err(|error| error.to_string())
    }

    fn options<'o>(&'o self, ceilings: Option<&'o Ceilings>, stop: &'o AtomicBool) -> Options<'o> {
        let sample = if self.order.open_ended {
            OPEN_ENDED_SAMPLE
        } else {
            (self.order.limit.as_secs_f64() / SAMPLES).max(SHORTEST_SAMPLE)
        };
        Options {
            budget: self.order.limit,
            sampling: Sampling { min_sample: Duration::from_secs_f64(sample), ..Sampling::default() },
            cache: Place::Hot,
            seed: self.order.seed,
            stop,
            ceilings,
            sampler: Some(&self.machine.sampler),
            argv: self.machine.config.argv.clone(),
        }
    }
}
