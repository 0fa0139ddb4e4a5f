//! An experiment that is stopped keeps the rows that are whole, and nothing of the one that it was at.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cipherlane::verify::Reference;
use cipherlane::{
    Batch, Cpu, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans, Unsupported, Wish,
};
use cipherlane_lab::experiment::{Experiment, Scale, Setting};
use cipherlane_lab::resume::Done;
use cipherlane_lab::telemetry::{Sampler, Sensors};
use cipherlane_lab::{Judges, Observer, host};
use cipherlane_record::{Measurement, Observation};

/// This CPU, whose user presses Ctrl-C in one of its runs.
struct Stopping {
    cpu: Cpu,
    stop: Arc<AtomicBool>,
    runs_left: Arc<AtomicUsize>,
}

impl Device for Stopping {
    fn info(&self) -> &Info {
        self.cpu.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.cpu.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.cpu.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let (stop, runs_left) = (Arc::clone(&self.stop), Arc::clone(&self.runs_left));
        Ok(Box::new(StoppingSession { session: self.cpu.open(plan)?, stop, runs_left }))
    }
}

struct StoppingSession {
    session: Box<dyn Session>,
    stop: Arc<AtomicBool>,
    runs_left: Arc<AtomicUsize>,
}

impl Session for StoppingSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        if self.runs_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.session.run(batch, output)
    }
}

/// What an experiment hands out.
#[derive(Default)]
struct Rows {
    whole: usize,
    skipped: Vec<String>,
}

impl Observer for Rows {
    fn finished(&mut self, _: &Measurement) -> io::Result<()> {
        Ok(())
    }

    fn observed(&mut self, row: &Observation) -> io::Result<()> {
        assert_eq!(row.verified, Some(true));
        self.whole += 1;
        Ok(())
    }

    fn skipped(&mut self, skipped: &cipherlane_lab::Skipped) {
        self.skipped.push(skipped.reason.clone());
    }
}

/// The rows of `experiment` where it is stopped in run number `runs`.
fn stopped_in(experiment: &str, runs: usize) -> Rows {
    let stop = Arc::new(AtomicBool::new(false));
    let runs_left = Arc::new(AtomicUsize::new(runs));
    let device = Stopping { cpu: Cpu::new(), stop: Arc::clone(&stop), runs_left };
    let reference = Reference::new();
    let setting = Setting {
        experiment,
        devices: &[&device],
        cpu: &device.cpu,
        judges: &Judges::new(&device.cpu, &reference),
        sampler: &Sampler::start(Sensors::default(), 1.0).unwrap(),
        host: &host::detect(),
        stop: &stop,
        done: &Done::of(Vec::new()),
        records: &[],
        change_machine: false,
        seed: 1,
        argv: &[],
    };
    let run = Experiment::named(experiment).unwrap().at(Scale::Smoke).unwrap().unwrap();
    let mut rows = Rows::default();
    run.run(&setting, &mut rows).unwrap();
    rows
}

#[test]
fn a_row_that_was_stopped_is_left_out() {
    let stopped_in = |runs| stopped_in("block-ciphers", runs);
    let whole: Vec<usize> = (0..12).map(|runs| stopped_in(runs).whole).collect();
    assert_eq!(whole[0], 0, "the first of its runs");
    assert!(whole.is_sorted(), "{whole:?}");
    let rows = stopped_in(usize::MAX);
    assert!(rows.whole > 0 && rows.whole >= whole[11], "{whole:?}");
    assert!(rows.skipped.iter().all(|reason| !reason.contains("stopped")), "{:?}", rows.skipped);
}

/// Neither idleness nor a load that was cut short is one.
#[test]
fn what_needs_its_time_is_whole_or_left_out() {
    for (experiment, rows) in [("thermal", 4), ("energy", 1)] {
        let all = stopped_in(experiment, usize::MAX);
        assert_eq!((all.whole, all.skipped.len()), (rows, 0), "{experiment}: {:?}", all.skipped);
        // Its first run looks at the outputs, and the next is one of the load.
        let stopped = stopped_in(experiment, 1);
        assert_eq!((stopped.whole, stopped.skipped.len()), (0, 0), "{experiment}: {:?}", stopped.skipped);
    }
}
