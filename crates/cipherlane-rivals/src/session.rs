//! A session of a library: its contexts, and the threads that they run on.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use cipherlane_core::{Batch, Checked, DeviceError, Operation, Output, Plan, Session, Spans, agree};
use cipherlane_threads::Pool;
use zeroize::Zeroizing;

use crate::limits::Limits;
use crate::message::{Context, Cuts, Fault, Part};

/// A context with the key that it was last given.
pub(crate) struct Worker {
    context: Box<dyn Context>,
    key: Zeroizing<Vec<u8>>,
}

impl Worker {
    pub(crate) fn new(context: Box<dyn Context>) -> Self {
        Self { context, key: Zeroizing::new(Vec::new()) }
    }

    /// Runs `part`; the shared key, if any, is set up only where the context does not have it yet.
    fn run(&mut self, part: &mut Part<'_>, shared: Option<&[u8]>) -> Result<(), Fault> {
        part.new_key = shared.is_some_and(|key| !agree(key, &self.key));
        let fresh = part.new_key || shared.is_none();
        let result = self.context.part(part);
        if fresh || result.is_err() {
            let kept = shared.filter(|_| result.is_ok()).unwrap_or_default();
            self.key = Zeroizing::new(kept.to_vec());
        }
        result
    }
}

/// A worker for each thread.
struct Workers(Vec<Mutex<Worker>>);

impl Workers {
    /// The worker whose number is `home`, or another while a thread that helps has it: there are as many as threads.
    fn free(&self, home: usize) -> MutexGuard<'_, Worker> {
        let turns = (home..self.0.len()).chain(0..home).cycle();
        let mut found = turns.filter_map(|index| match self.0[index].try_lock() {
            Ok(worker) => Some(worker),
            // No worker is left half-made: a context that failed gets its key anew.
            Err(TryLockError::Poisoned(worker)) => Some(worker.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        found.next().expect("an endless cycle")
    }

    /// The first worker, while no thread has any.
    fn first(&mut self) -> &mut Worker {
        self.0[0].get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session on the threads of a pool.
pub(crate) struct EachSession {
    plan: Plan,
    limits: Limits,
    workers: Workers,
    pool: Arc<Pool>,
}

impl EachSession {
    /// A session that carries out `plan`, with a worker for each thread of `pool`.
    pub(crate) fn new(plan: Plan, limits: Limits, workers: Vec<Worker>, pool: Arc<Pool>) -> Self {
        let workers = Workers(workers.into_iter().map(Mutex::new).collect());
        Self { plan, limits, workers, pool }
    }

    /// Calls `work(i)` once for each `i` below `parts`.
    fn on_threads(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.pool.lend(|threads| threads.run(parts, work));
    }

    /// Runs a batch of its algorithm and operation.
    fn work(&mut self, checked: Checked<'_, '_, '_>) -> Result<(), DeviceError> {
        self.limits.check(&checked, &|parts, work| self.on_threads(parts, work))?;
        let (batch, output) = checked.into_parts();
        let Err(function) = self.execute(batch, output) else { return Ok(()) };
        // Half a batch is no result, and its texts may be secrets.
        if batch.operation != Operation::Hash {
            output.bytes[text(batch)].fill(0);
        }
        output.accepted.iter_mut().take(batch.len()).for_each(|accepted| *accepted = false);
        Err(DeviceError::Failed { device: self.plan.device.clone(), reason: failed(function) })
    }

    fn execute(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), Fault> {
        if batch.is_empty() {
            return Ok(());
        }
        let shared = batch.keys.is_shared().then(|| batch.keys.row(0));
        let threads = self.pool.threads();
        let chunk = if threads > 1 { self.plan.chunk } else { usize::MAX };
        let mut cuts = Cuts::new(batch, output, chunk);
        // Lists and locks for several parts would take as long as some libraries take for a short message.
        if let Some(mut all) = cuts.whole() {
            return self.workers.first().run(&mut all, shared);
        }
        let parts: Vec<_> = cuts.map(Mutex::new).collect();
        let fault = Mutex::new(Ok(()));
        let run = |index: usize| {
            // Threads begin with parts in a row, the same in each run, so that these stay in their caches.
            let mut worker = self.workers.free(index * threads / parts.len());
            if let Err(function) = worker.run(&mut lock(&parts[index]), shared) {
                *lock(&fault) = Err(function);
            }
        };
        self.on_threads(parts.len(), &run);
        fault.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session for EachSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        let checked = Checked::by(batch, output, &|parts, work| self.on_threads(parts, work))?;
        self.run_checked(checked)
    }

    fn run_checked(&mut self, checked: Checked<'_, '_, '_>) -> Result<Spans, DeviceError> {
        let begun = checked.begun();
        self.run_checked_untimed(checked)?;
        Ok(spans(begun))
    }

    fn run_untimed(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), DeviceError> {
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        let checked = Checked::untimed(batch, output, &|parts, work| self.on_threads(parts, work))?;
        self.run_checked_untimed(checked)
    }

    fn run_checked_untimed(&mut self, checked: Checked<'_, '_, '_>) -> Result<(), DeviceError> {
        checked.batch().check_operation(self.plan.algorithm, self.plan.operation)?;
        self.work(checked)
    }
}

/// All that is not the library's is the check, which is not timed apart: nor is that of our own engine.
fn spans(begun: Instant) -> Spans {
    let wall = begun.elapsed();
    Spans { load: Duration::ZERO, execute: wall, store: Duration::ZERO, wall }
}

/// A function of a library that failed, in words.
pub(crate) fn failed(function: Fault) -> String {
    format!("{function} failed; the library is out of memory or not built for this")
}

/// Where the texts of a checked batch lie.
fn text(batch: &Batch<'_>) -> Range<usize> {
    let offsets = batch.messages.offsets;
    let place =
        |offset: Option<&u64>| offset.map_or(0, |&offset| usize::try_from(offset).unwrap_or_default());
    place(offsets.first())..place(offsets.last())
}
