//! Live runs: as long as somebody wants, with the numbers of their rows.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cipherlane::Cpu;
use cipherlane::verify::Reference;
use cipherlane_lab::live::FEWEST_SAMPLES;
use cipherlane_lab::telemetry::{Sampler, Sensors};
use cipherlane_lab::workload::{Request, named};
use cipherlane_lab::{Contender, Judges, Live, Options, Sampling, Totals, Wanted, host, log};

fn options(stop: &AtomicBool) -> Options<'_> {
    Options {
        budget: Duration::ZERO,
        sampling: Sampling { min_sample: Duration::from_micros(100), ..Sampling::default() },
        cache: Wanted::Hot,
        seed: 7,
        stop,
        ceilings: None,
        sampler: None,
        argv: Vec::new(),
    }
}

/// Runs `act` with a few meter messages that are about to be measured on this CPU.
fn meter(resident: bool, act: impl FnOnce(Result<Live<'_>, cipherlane::DeviceError>)) {
    let (cpu, reference, host, stop) = (Cpu::new(), Reference::new(), host::detect(), AtomicBool::new(false));
    let judges = Judges::new(&cpu, &reference);
    let request = Request { seed: 7, working_set_bytes: 20_000, judges: &judges };
    let workload = named("meter-128").unwrap().choices().next().unwrap().build(&request).unwrap();
    let (contender, options) = (Contender::new(&cpu), options(&stop));
    act(Live::start(workload, &contender, 1, resident, &host, &options));
}

#[test]
fn the_row_has_the_numbers_that_were_shown() {
    meter(false, |live| {
        let mut live = live.unwrap();
        assert_eq!(live.totals().messages(), 0);
        for round in 0..FEWEST_SAMPLES {
            assert!(live.row("test").is_none(), "{round} samples are too few");
            let before = live.totals();
            let sampled = live.sample().unwrap();
            assert_eq!(live.totals().messages() - before.messages(), sampled.messages);
            assert_eq!(live.totals().bytes - before.bytes, sampled.bytes);
            assert!(sampled.seconds > 0.0);
        }
        let row = live.row("test").unwrap();
        assert_eq!(Totals::of_row(&row), Ok(live.totals()));
        assert_eq!(row.checks, live.checks());
        let totals = live.totals();
        assert_eq!((totals.sealed, totals.opened), (2 * totals.planned_rejects, totals.planned_rejects));
        assert_eq!(totals.by_key_bits.keys().copied().collect::<Vec<_>>(), [128, 192, 256]);
        assert!(row.verified && row.checks.unexpected == 0 && row.checks.planned_rejects > 0);
    });
}

#[test]
fn a_log_shows_what_came_out_of_the_last_pass() {
    meter(false, |live| {
        let mut live = live.unwrap();
        for _ in 0..FEWEST_SAMPLES {
            let _ = live.sample().unwrap();
        }
        let row = live.row("test").unwrap();
        let mut text = Vec::new();
        log::write(&mut text, &row, live.workload(), live.results()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let count = |line: &str| text.lines().filter(|found| found.starts_with(line)).count() as u64;
        let all = row.messages;
        assert_eq!(count("Sequence No: 0x"), all, "all of a small workload is shown");
        assert_eq!((count("Operation: seal"), count("Operation: open")), (all / 2, all / 2));
        assert_eq!(count("Authentication (Reference): fails, as planned"), all / 4);
        assert_eq!(count("Authentication (Calculated): fails"), all / 4);
        assert_eq!(count("Authentication (Calculated): succeeds"), all / 4);
        let pairs = text
            .lines()
            .filter_map(|line| line.split_once(" (Reference): "))
            .filter(|(name, _)| *name != "Authentication");
        for (name, reference) in pairs {
            assert!(text.contains(&format!("{name} (Calculated): {reference}")), "{name}");
        }
    });
}

#[test]
fn what_has_no_memory_of_its_own_cannot_keep_data_there() {
    meter(true, |live| {
        let error = live.err().unwrap().to_string();
        assert!(error.contains("cpu") && error.contains("brought with each pass"), "{error}");
    });
}

#[test]
fn what_sensors_say_in_a_pause_is_not_of_the_row() {
    let sampler = Sampler::start(Sensors::default(), 0.01).unwrap();
    while sampler.latest().seconds.is_empty() {
        std::thread::yield_now(); // until its own reading, the only one for a long time
    }
    let (cpu, reference, host, stop) = (Cpu::new(), Reference::new(), host::detect(), AtomicBool::new(false));
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let request = Request { seed: 7, working_set_bytes: 20_000, judges: &judges };
    let workload = named("tls-16k").unwrap().choices().next().unwrap().build(&request).unwrap();
    let (contender, options) = (Contender::new(&cpu), Options { sampler: Some(&sampler), ..options(&stop) });
    let mut live = Live::start(workload, &contender, 1, false, &host, &options).unwrap();
    for _ in 0..FEWEST_SAMPLES {
        let _ = live.sample().unwrap();
    }
    live.pause();
    let (from, to) = (sampler.mark(), sampler.mark());
    live.resume();
    let timeline = live.row("test").unwrap().timeline.unwrap();
    // Of the beginning, before and after the pause, and of the end; not of what lies between.
    assert_eq!(timeline.seconds.len(), 4);
    assert!(timeline.seconds[2] - timeline.seconds[1] >= sampler.seconds_between(from, to));
    live.pause();
    let _ = sampler.mark();
    let timeline = live.row("test").unwrap().timeline.unwrap();
    assert_eq!(timeline.seconds.len(), 5, "in a pause a row ends where the pause begins");
}
