//! Shares of a batch, each worked on by a thread of its own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use cipherlane_core::{Batch, DeviceError, Output, Source, Spans};

use super::owned::Owned;
use super::share::{self, Aside, Cut, Share};
use crate::job;
use crate::part::{Part, Sum};

/// What came of a part of a message.
pub(super) struct Summand {
    /// The message, by its number in the batch.
    pub(super) message: usize,
    /// Bytes of all of it.
    pub(super) message_bytes: u64,
    /// Which worker had the part, and as which of its runs.
    pub(super) place: (usize, usize),
    /// What it adds, once it has run.
    pub(super) sum: Option<Sum>,
    /// What is beside the text.
    pub(super) aside: Aside,
}

/// What came of a batch.
#[derive(Default)]
pub(super) struct Done {
    pub(super) spans: Spans,
    /// The parts of GCM messages that were cut, in order.
    pub(super) summands: Vec<Summand>,
}

impl Done {
    /// The parts, message by message.
    pub(super) fn messages(&self) -> impl Iterator<Item = &[Summand]> {
        self.summands.chunk_by(|a, b| a.message == b.message)
    }
}

/// One of the runs of a worker.
struct Run<'a> {
    batch: Batch<'a>,
    output: Output<'a>,
    part: Option<Part>,
    sum: &'a mut Option<Sum>,
}

/// Has each of `workers` do its share of a checked batch, run by run, of which the second argument of `work` is the
/// number.
pub(super) fn each<W: Send>(
    workers: &mut [W],
    how: Cut,
    batch: &Batch<'_>,
    output: &mut Output<'_>,
    work: impl Fn(
        &mut W,
        usize,
        &Batch<'_>,
        &mut Output<'_>,
        Option<Part>,
    ) -> Result<(Spans, Option<Sum>), DeviceError>
    + Sync,
) -> Result<Done, DeviceError> {
    let start = Instant::now();
    let shares = share::cut(batch, workers.len(), how);
    if shares.len() < 2 {
        let (spans, _) = work(&mut workers[0], 0, batch, output, None)?;
        return Ok(Done { spans, summands: Vec::new() });
    }
    let runs: Vec<Vec<Share>> = shares.into_iter().map(|share| share.runs(batch)).collect();
    let flat: Vec<Share> = runs.iter().flatten().cloned().collect();
    let owned = owned(batch, &flat, output);
    let mut asides: Vec<Aside> = flat.iter().map(|share| share.aside(batch)).collect();
    let mut sums: Vec<Option<Sum>> = flat.iter().map(|_| None).collect();
    let outputs = share::outputs(batch, &flat, output, &mut asides);
    let all = flat.iter().zip(&owned).zip(outputs).zip(&mut sums);
    let mut all = all.map(|(((share, owned), output), sum)| Run {
        batch: owned.batch(batch, share, source(batch, share)),
        output,
        part: share.part(batch),
        sum,
    });
    let jobs: Vec<(&mut W, Vec<Run<'_>>)> = workers
        .iter_mut()
        .zip(&runs)
        .map(|(worker, runs)| (worker, all.by_ref().take(runs.len()).collect()))
        .collect();
    let work = &work;
    let mut spans = together(jobs.into_iter().map(|(worker, runs)| {
        move || {
            let mut total = Spans::default();
            for (number, Run { batch, mut output, part, sum }) in runs.into_iter().enumerate() {
                let (spans, made) = work(worker, number, &batch, &mut output, part)?;
                *sum = made;
                total = after(total, spans);
            }
            Ok(total)
        }
    }))?;
    spans.wall = start.elapsed();
    let parts = flat.iter().zip(places(&runs)).zip(sums).zip(asides);
    let summands = parts.filter_map(|(((share, place), sum), aside)| {
        let Part { message_bytes, .. } = share.part(batch)?;
        Some(Summand { message: share.messages.start, message_bytes, place, sum, aside })
    });
    Ok(Done { spans, summands: summands.collect() })
}

/// The worker and the number there of each of `runs`.
fn places(runs: &[Vec<Share>]) -> impl Iterator<Item = (usize, usize)> {
    runs.iter().enumerate().flat_map(|(worker, runs)| (0..runs.len()).map(move |run| (worker, run)))
}

/// Messages from which on threads are started to write down what shares need of their own.
const MANY: usize = 1 << 17;

/// What each share needs of its own.
fn owned(batch: &Batch<'_>, shares: &[Share], output: &Output<'_>) -> Vec<Owned> {
    let text = match batch.messages.source {
        Source::Apart(text) => text,
        // What lies on a device has not passed the check.
        Source::InPlace | Source::OnDevice => &*output.bytes,
    };
    let own = |share| Owned::new(batch, share, text);
    if batch.len() < MANY {
        shares.iter().map(own).collect()
    } else {
        all_at_once(shares.iter().map(|share| || own(share)))
    }
}

/// The input of a share.
fn source<'a>(batch: &Batch<'a>, share: &Share) -> Source<'a> {
    match batch.messages.source {
        own @ (Source::InPlace | Source::OnDevice) => own,
        Source::Apart(text) => {
            let [start, end] =
                [share.text.start, share.text.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            Source::Apart(&text[start..end])
        }
    }
}

/// Zeroes what devices have written of a batch that one of them failed at, as one device does by itself, where text
/// `has_come_out` of any of them.
pub(super) fn forget(batch: &Batch<'_>, output: &mut Output<'_>, error: &DeviceError, has_come_out: bool) {
    // Others are told before anything runs.
    if matches!(error, DeviceError::Failed { .. }) {
        job::forget(batch, output, has_come_out);
    }
}

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
fn all_at_once<T: Send, J: FnOnce() -> T + Send>(jobs: impl Iterator<Item = J>) -> Vec<T> {
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
