//! Work of several devices, side by side on threads of their own. These are started for each run: what it would save to keep
//! them has not been measured.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use cipherlane_core::{DeviceError, Spans};

/// Does all of `jobs` at once, the first on this thread. The spans are the longest of each kind, since they overlap.
///
/// # Errors
/// The first failure. All jobs have ended by then.
pub(super) fn together<J: FnOnce() -> Result<Spans, DeviceError> + Send>(
    jobs: impl Iterator<Item = J>,
) -> Result<Spans, DeviceError> {
    all_at_once(jobs).into_iter().try_fold(Spans::default(), |longest, spans| Ok(beside(longest, spans?)))
}

/// What `work` comes to on the devices `ids`. A panic of one is a failure, after which what others have made of a batch is
/// forgotten, too. It gets here when all have ended, and let go of the batch.
pub(super) fn caught<T>(ids: &str, work: impl FnOnce() -> Result<T, DeviceError>) -> Result<T, DeviceError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|defect| {
        let reason = format!("a panic, which is a defect of cipherlane: report it ({})", words(&*defect));
        Err(DeviceError::Failed { device: ids.to_owned(), reason })
    })
}

/// What a panic says.
fn words(defect: &(dyn Any + Send)) -> &str {
    let owned = defect.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| defect.downcast_ref().copied()).unwrap_or("without words")
}

/// What each of `jobs` gives, done at once, the first on this thread.
pub(super) fn all_at_once<T: Send, J: FnOnce() -> T + Send>(jobs: impl Iterator<Item = J>) -> Vec<T> {
    all_on(Builder::new, jobs)
}

/// The same on threads that `builder` gives. A job that none can be started for is done on this one, after the first.
fn all_on<T: Send, J: FnOnce() -> T + Send>(
    builder: impl Fn() -> Builder,
    jobs: impl Iterator<Item = J>,
) -> Vec<T> {
    // A thread that is refused keeps what it was to do: so each gets a key to its job alone.
    let jobs: Vec<Mutex<Option<J>>> = jobs.map(|job| Mutex::new(Some(job))).collect();
    let run = |job: &Mutex<Option<J>>| {
        let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
        job.map(|job| job())
    };
    thread::scope(|scope| {
        let start = |job| (job, builder().spawn_scoped(scope, move || run(job)));
        let others: Vec<_> = jobs.iter().skip(1).map(start).collect();
        let first = jobs.first().and_then(run);
        let others: Vec<_> = others.into_iter().map(|(job, thread)| thread.map_err(|_| run(job))).collect();
        let ended = others.into_iter().map(|other| match other {
            Ok(thread) => thread.join().unwrap_or_else(|defect| resume_unwind(defect)),
            Err(done_here) => done_here,
        });
        first.into_iter().chain(ended.flatten()).collect()
    })
}

/// Spans of what ran side by side.
fn beside(a: Spans, b: Spans) -> Spans {
    join(a, b, Duration::max)
}

/// Spans of what ran one after the other.
pub(super) fn after(a: Spans, b: Spans) -> Spans {
    join(a, b, |a, b| a + b)
}

fn join(a: Spans, b: Spans, time: fn(Duration, Duration) -> Duration) -> Spans {
    Spans {
        load: time(a.load, b.load),
        execute: time(a.execute, b.execute),
        store: time(a.store, b.store),
        wall: time(a.wall, b.wall),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the jobs in order, and the threads that they ran on.
    fn numbers(builder: impl Fn() -> Builder) -> (Vec<usize>, Vec<thread::ThreadId>) {
        let jobs = (0..5).map(|number| move || (number, thread::current().id()));
        all_on(builder, jobs).into_iter().unzip()
    }

    #[test]
    fn a_job_that_no_thread_is_started_for_is_done_here() {
        let here = thread::current().id();
        let (found, threads) = numbers(Builder::new);
        assert_eq!(found, [0, 1, 2, 3, 4]);
        assert!(threads[0] == here && threads[1..].iter().all(|&thread| thread != here));
        // No machine has so much room for a stack.
        let (found, threads) = numbers(|| Builder::new().stack_size(usize::MAX / 4 + 1));
        assert_eq!(found, [0, 1, 2, 3, 4]);
        assert!(threads.iter().all(|&thread| thread == here));
        assert!(all_at_once(std::iter::empty::<fn() -> u8>()).is_empty());
    }

    #[test]
    fn a_panic_of_a_device_is_told_when_all_have_ended() {
        let ended = Mutex::new(0);
        for panicking in 0..3 {
            let (ended, jobs) = (&ended, 0..3);
            let jobs = jobs.map(|number| {
                move || {
                    assert!(number != panicking, "device {number} is broken");
                    *ended.lock().unwrap() += 1;
                    Ok(Spans::default())
                }
            });
            let error = caught("fake:all", || together(jobs)).unwrap_err().to_string();
            assert!(error.starts_with("fake:all: ") && error.contains("report it (device "), "{error}");
        }
        assert_eq!(*ended.lock().unwrap(), 6);
    }
}
