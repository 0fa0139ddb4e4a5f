//! A device that launches kernels is examined algorithm by algorithm on several threads, and nobody can tell from what comes
//! of it.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use cipherlane_core::{
    Algorithm, Batch, Device, DeviceError, Geometry, Info, Kernel, Output, Plan, Session, Shape, Spans,
    Unsupported, Wish,
};
use cipherlane_reference::conformance::{self, Failure};
use cipherlane_reference::exam::{self, Tally};
use cipherlane_reference::{Reference, vectors};

/// Cheap ones, in no order.
const NAMES: [&str; 6] = ["sha-256", "aes-128-ecb", "sm4-ecb", "aes-128-ctr", "sha3-256", "aes-256-ecb"];
/// What the exam takes at most, however many CPUs there are.
const MOST: usize = 8;
/// Longer than any machine takes to start a thread.
const PATIENCE: Duration = Duration::from_secs(60);

fn algorithms() -> [Algorithm; 6] {
    NAMES.map(|name| name.parse().unwrap())
}

/// How many sessions each thread has open that has opened any, and how many threads there were with some at a time.
#[derive(Debug, Default)]
struct Threads {
    open: HashMap<ThreadId, usize>,
    most: usize,
}

impl Threads {
    fn opened(&mut self) {
        *self.open.entry(thread::current().id()).or_default() += 1;
        self.most = self.most.max(self.open.values().filter(|&&open| open > 0).count());
    }

    fn closed(&mut self) {
        *self.open.entry(thread::current().id()).or_default() -= 1;
    }
}

/// What a device does with an algorithm in the place of opening a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Fails,
    Panics,
}

/// The reference as a device that launches kernels.
#[derive(Debug)]
struct Launching {
    inner: Reference,
    troubles: Vec<(&'static str, Trouble)>,
    /// How many threads must have opened a session for the first to be there.
    company: usize,
    came: Condvar,
    threads: Arc<Mutex<Threads>>,
}

impl Launching {
    fn new() -> Self {
        Self { company: cpus().min(2), ..Self::with(&[]) }
    }

    fn with(troubles: &[(&'static str, Trouble)]) -> Self {
        let (inner, threads) = (Reference::new(), Arc::default());
        Self { inner, troubles: troubles.to_vec(), company: 0, came: Condvar::new(), threads }
    }

    /// Takes a session down as this thread's, and waits for others to have some.
    fn opened(&self) {
        let mut threads = self.threads.lock().unwrap();
        threads.opened();
        self.came.notify_all();
        let is_alone = |threads: &mut Threads| threads.open.len() < self.company;
        let (_threads, waited) = self.came.wait_timeout_while(threads, PATIENCE, is_alone).unwrap();
        assert!(!waited.timed_out(), "one thread alone examines a device that launches kernels");
    }
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Device for Launching {
    fn info(&self) -> &Info {
        self.inner.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.inner.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let geometry = Some(Geometry { blocks: 1, threads_per_block: 1, streams: None });
        Ok(Plan { geometry, ..self.inner.plan(shape, wish)? })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let name = plan.algorithm.to_string();
        match self.troubles.iter().find(|(algorithm, _)| *algorithm == name) {
            Some((_, Trouble::Fails)) => {
                return Err(DeviceError::Failed { device: "a GPU".to_owned(), reason: name });
            }
            Some((_, Trouble::Panics)) => panic!("a defect in {name}"),
            None => {}
        }
        let inner = self.inner.open(&Plan { geometry: None, ..plan.clone() })?;
        self.opened();
        Ok(Box::new(Watched { inner, opened_by: thread::current().id(), threads: Arc::clone(&self.threads) }))
    }
}

struct Watched {
    inner: Box<dyn Session>,
    opened_by: ThreadId,
    threads: Arc<Mutex<Threads>>,
}

impl Session for Watched {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        assert_eq!(thread::current().id(), self.opened_by, "a session went from thread to thread");
        self.inner.run(batch, output)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // A panic elsewhere must not become one in here.
        if let Ok(mut threads) = self.threads.lock() {
            threads.closed();
        }
    }
}

fn check(device: &dyn Device) -> Result<conformance::Report, Failure> {
    conformance::check_each(device, &[Wish::default()], algorithms())
}

fn answers(device: &dyn Device) -> Result<Tally, DeviceError> {
    exam::run(device, &Wish::default(), &vectors::known())
}

/// Whether several threads had sessions, where there are several CPUs, and not more than there may be.
fn assert_threads(device: &Launching) {
    let threads = device.threads.lock().unwrap();
    assert!((cpus().min(2)..=cpus().min(MOST)).contains(&threads.most), "{} CPUs, {threads:?}", cpus());
    assert!(threads.open.values().all(|&open| open == 0), "{threads:?}");
}

#[test]
fn the_exam_comes_out_as_on_one_thread() {
    let device = Launching::new();
    let alone = check(&Reference::new()).unwrap();
    assert_eq!(alone.checks.len(), NAMES.len());
    assert_eq!(check(&device).unwrap(), alone);
    assert_threads(&device);
}

#[test]
fn known_answers_come_out_as_on_one_thread() {
    let device = Launching::new();
    assert_eq!(answers(&device).unwrap(), answers(&Reference::new()).unwrap());
    assert_threads(&device);
}

#[test]
fn of_several_failures_the_first_is_told() {
    let device = Launching::with(&[("aes-256-ecb", Trouble::Fails), ("sm4-ecb", Trouble::Fails)]);
    for _ in 0..3 {
        let failure = check(&device).unwrap_err();
        assert!(failure.what.starts_with("sm4-ecb ") && failure.finding.contains("sm4-ecb"), "{failure}");
        let error = answers(&device).unwrap_err();
        assert!(error.to_string().ends_with("aes-256-ecb"), "{error}");
    }
}

#[test]
fn a_panic_stays_what_it_is() {
    let device = Launching::with(&[("aes-128-ctr", Trouble::Panics), ("aes-256-ecb", Trouble::Fails)]);
    let payload = catch_unwind(AssertUnwindSafe(|| check(&device))).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "a defect in aes-128-ctr");
}
