//! Sessions: a plan put into effect.

mod bare;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cipherlane_core::{
    Algorithm, Batch, Checked, Column, DeviceError, Operation, Output, Plan, Session, Spans, agree,
};
use cipherlane_threads::Pool;
use zeroize::Zeroizing;

pub(crate) use self::bare::Bare;
use crate::crew::Crew;
use crate::job::Job;
use crate::table::Entry;
use crate::worker::{Kernel, Worker};

/// A session on the CPU.
pub(crate) struct CpuSession {
    algorithm: Algorithm,
    operation: Operation,
    workers: Workers,
    crew: Crew,
    caches: Caches,
}

/// Bytes of the caches that texts are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caches {
    /// The second one of a core, where texts from behind it are known to gain by prefetches.
    pub(crate) second: Option<usize>,
    /// The last one, where it is known.
    pub(crate) last: Option<usize>,
}

impl Caches {
    /// Those that `threads` threads have together: a second one each, and the last one.
    fn of(self, threads: usize) -> Self {
        Self { second: self.second.map(|bytes| bytes.saturating_mul(threads)), ..self }
    }
}

impl CpuSession {
    /// A session that carries out `plan`, which has been checked, with the kernel of `entry`, on cores
    /// with these caches.
    pub(crate) fn new(plan: &Plan, entry: Entry, pool: Arc<Pool>, caches: Caches) -> Self {
        Self {
            algorithm: plan.algorithm,
            operation: plan.operation,
            workers: Workers::new(entry.kernel),
            crew: Crew::new(pool, plan.chunk, entry.lanes),
            caches: caches.of(plan.threads),
        }
    }

    /// Runs a batch of its algorithm and operation.
    fn work(&mut self, mut checked: Checked<'_, '_, '_>) {
        // A kernel that panics leaves texts behind that nobody has verified: no verdict of before may stand beside them.
        checked.reject_all();
        let (batch, shape) = (checked.batch(), checked.shape());
        let job = Job::new(checked)
            .beside_second_caches(self.caches.second.unwrap_or(usize::MAX))
            .beside_cache(self.caches.last.unwrap_or(usize::MAX));
        if !batch.is_empty() {
            self.crew.run(self.workers.of(batch, self.crew.chunk()), &job, &shape);
        }
    }
}

impl Session for CpuSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        batch.check_operation(self.algorithm, self.operation)?;
        let checked = Checked::by(batch, output, &|parts, work| self.crew.on_threads(parts, work))?;
        self.run_checked(checked)
    }

    fn run_checked(&mut self, checked: Checked<'_, '_, '_>) -> Result<Spans, DeviceError> {
        let begun = checked.begun();
        self.run_checked_untimed(checked)?;
        Ok(spans(begun))
    }

    fn run_untimed(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), DeviceError> {
        batch.check_operation(self.algorithm, self.operation)?;
        let checked = Checked::untimed(batch, output, &|parts, work| self.crew.on_threads(parts, work))?;
        self.run_checked_untimed(checked)
    }

    fn run_checked_untimed(&mut self, checked: Checked<'_, '_, '_>) -> Result<(), DeviceError> {
        checked.batch().check_operation(self.algorithm, self.operation)?;
        self.work(checked);
        Ok(())
    }
}

/// The texts are used where they lie: all that is not computing is the check, too short to time apart.
fn spans(begun: Instant) -> Spans {
    let wall = begun.elapsed();
    Spans { load: Duration::ZERO, execute: wall, store: Duration::ZERO, wall }
}

/// The workers that a session keeps from batch to batch.
struct Workers {
    kernel: Box<dyn Kernel>,
    /// For batches with a key each.
    key_each: Box<dyn Worker>,
    /// For the one key of the last batch that had one.
    one_key: Option<Keyed>,
}

/// A key, wiped when it is dropped, with what it was expanded to.
struct Keyed {
    key: Zeroizing<Vec<u8>>,
    worker: Box<dyn Worker>,
}

impl Workers {
    fn new(kernel: Box<dyn Kernel>) -> Self {
        Self { key_each: kernel.worker(None), one_key: None, kernel }
    }

    /// The worker for `batch`, which is checked and not empty. A key that the last batch had is not expanded again.
    fn of(&mut self, batch: &Batch<'_>, chunk: usize) -> &dyn Worker {
        let (key, kept) = match (batch.keys, batch.messages.offsets) {
            (Column::Shared(key), _) => (key, true),
            // One message with a key of its own can be run on several threads, too, if it is long enough for all that a
            // shared key prepares. Its key is expanded each time: a key for each message is what the caller said.
            (_, &[start, end]) if end - start > chunk as u64 => (batch.keys.row(0), false),
            (Column::Each { .. } | Column::Ragged(_), _) => return &*self.key_each,
        };
        self.one_key.take_if(|keyed| !(kept && agree(&keyed.key, key)));
        let expand = || Keyed { key: Zeroizing::new(key.to_vec()), worker: self.kernel.worker(Some(key)) };
        &*self.one_key.get_or_insert_with(expand).worker
    }
}

#[cfg(test)]
mod tests;
