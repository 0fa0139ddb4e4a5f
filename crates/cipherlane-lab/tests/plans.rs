//! What a plan says of an experiment is what comes of it: where nothing can run, the reason is known before.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::io;
use std::sync::atomic::AtomicBool;

use cipherlane::Cpu;
use cipherlane::verify::Reference;
use cipherlane_lab::experiment::{Experiment, Run, Scale, Setting};
use cipherlane_lab::resume::Done;
use cipherlane_lab::telemetry::{Sampler, Sensors};
use cipherlane_lab::{Judges, Observer, Skipped, host};
use cipherlane_record::{Measurement, Observation};

/// What an experiment hands out.
#[derive(Default)]
struct Rows {
    observed: usize,
    skipped: Vec<String>,
}

impl Observer for Rows {
    fn finished(&mut self, _: &Measurement) -> io::Result<()> {
        Ok(())
    }

    fn observed(&mut self, _: &Observation) -> io::Result<()> {
        self.observed += 1;
        Ok(())
    }

    fn skipped(&mut self, skipped: &Skipped) {
        self.skipped.push(skipped.reason.clone());
    }
}

/// Experiments that have nothing to run on a CPU alone, or without records.
const NOTHING: [&str; 8] = [
    "breakdown",
    "core-vs-core",
    "findings",
    "generations",
    "gpu-grid",
    "launch-geometry",
    "offload",
    "streams",
];

/// Has `see` look at each experiment that makes observations, on this CPU alone and without records.
fn on_a_cpu_alone(mut see: impl FnMut(&Experiment, &dyn Run, &Setting<'_>)) {
    let (cpu, reference) = (Cpu::new(), Reference::new());
    let setting = Setting {
        experiment: "plans",
        devices: &[&cpu],
        cpu: &cpu,
        judges: &Judges::new(&cpu, &reference),
        sampler: &Sampler::start(Sensors::default(), 1.0).unwrap(),
        host: &host::detect(),
        stop: &AtomicBool::new(false),
        done: &Done::of(Vec::new()),
        records: &[],
        change_machine: false,
        seed: 1,
        argv: &[],
    };
    for experiment in Experiment::all() {
        if let Some(run) = experiment.at(Scale::Smoke).unwrap() {
            see(&experiment, &*run, &setting);
        }
    }
}

#[test]
fn a_plan_without_points_says_why_and_no_other_does() {
    on_a_cpu_alone(|experiment, run, setting| {
        let name = experiment.name.as_str();
        let (points, nothing) = (run.plan(setting), run.nothing(setting));
        assert_eq!(nothing.is_some(), NOTHING.contains(&name), "{name}: {nothing:?}");
        assert_eq!(points.is_empty(), nothing.is_some(), "{name}: {points:?}");
    });
}

#[test]
fn what_is_said_before_is_what_a_run_tells() {
    let mut seen = 0;
    on_a_cpu_alone(|experiment, run, setting| {
        let Some(reason) = run.nothing(setting) else { return };
        let mut rows = Rows::default();
        run.run(setting, &mut rows).unwrap();
        assert_eq!((rows.observed, rows.skipped), (0, vec![reason]), "{}", experiment.name);
        seen += 1;
    });
    assert_eq!(seen, NOTHING.len());
}
