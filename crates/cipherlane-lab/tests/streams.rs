//! Rows carry what sessions say of their streams.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane::{
    Batch, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans, StreamSpans, Unsupported,
    Wish,
};
use cipherlane_lab::{Contender, Judges, Observer, Options, Sampling, Suite, Wanted, host, run_suite};
use cipherlane_record::{Host, Measurement};

/// The reference, with streams that it does not have.
struct Streaming(Info);

impl Device for Streaming {
    fn info(&self) -> &Info {
        &self.0
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        Reference::new().kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        Reference::new().plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(Streams(Reference::new().open(plan)?)))
    }
}

struct Streams(Box<dyn Session>);

impl Session for Streams {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.0.run(batch, output)
    }

    /// The second stream has nothing to do.
    fn streams(&self) -> Vec<StreamSpans> {
        let [load, execute, store] = [3, 5, 7].map(Duration::from_millis);
        let one = StreamSpans { chunks: 2, load, execute, store, ..StreamSpans::idle("cuda:0", 0) };
        vec![one, StreamSpans::idle("cuda:0", 1)]
    }
}

struct Silent;

impl Observer for Silent {
    fn finished(&mut self, _: &Measurement) -> io::Result<()> {
        Ok(())
    }
}

fn measured(device: &dyn Device) -> Measurement {
    let (stop, reference) = (AtomicBool::new(false), Reference::new());
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let options = Options {
        budget: Duration::from_millis(500),
        sampling: Sampling { min_rounds: 3, max_rounds: 4, ..Sampling::default() },
        cache: Wanted::Hot,
        seed: 7,
        stop: &stop,
        ceilings: None,
        sampler: None,
        argv: vec!["bench".to_owned()],
    };
    let host = Host { l2_bytes: Some(32 << 10), ..host::detect() };
    let suite = Suite::of(&["meter-128"], &[1]).unwrap();
    let outcome = run_suite(&suite, &[Contender::new(device)], &judges, &host, &options, &mut Silent);
    outcome.unwrap().rows.remove(0)
}

#[test]
fn rows_carry_the_streams_of_all_sessions_of_a_pass() {
    let row = measured(&Streaming(Info { id: "cuda:0".to_owned(), ..Reference::new().info().clone() }));
    let [one, idle] = &row.streams[..] else { panic!("{:?}", row.streams) };
    let batches = row.parts.len() as u64;
    assert!(batches > 1);
    assert_eq!((&*one.device, one.stream, one.chunks), ("cuda:0", 0, 2 * batches));
    let times = one.times;
    for (found, milliseconds) in
        [(times.to_device_seconds, 3.0), (times.kernel_seconds, 5.0), (times.to_host_seconds, 7.0)]
    {
        assert!((found - 1e-3 * milliseconds * batches as f64).abs() < 1e-9, "{times:?}");
    }
    assert_eq!((idle.stream, idle.chunks), (1, 0));
    assert!(idle.times.total_seconds().abs() < 1e-12);
}

#[test]
fn rows_of_devices_without_streams_have_none() {
    assert!(measured(&Reference::new()).streams.is_empty());
}
