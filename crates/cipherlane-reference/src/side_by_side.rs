//! Work on several threads, with the results and the error that it would have had on one.
//!
//! One thing differs where algorithms of a GPU are examined: what fails the device as a whole, as an address out of bounds
//! does in CUDA, fails all that are under way, and the first of these in order is told, which may not be the one that did it.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder};

use cipherlane_core::Device;

/// Most algorithms that are examined at a time, however many CPUs there are: each has the sessions of all its kernels open,
/// which for messages of 16 MiB take some 400 MiB on the device and 130 MiB of pinned memory. So many fit in 4 GiB.
const MOST: usize = 8;

/// Bytes of a thread's stack: as many as the first thread of a process has on Linux, where compilers have always run.
const STACK: usize = 8 << 20;

/// On how many threads the algorithms of `device` are examined side by side. Where kernels are launched, most of the time
/// goes to compilers that take one thread each; on a CPU a session has all threads already.
pub(crate) fn threads(device: &dyn Device) -> usize {
    if device.launches() { thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST) } else { 1 }
}

/// Calls `work` with each of `items`, on up to `threads` threads, of which the caller's is one. Returns what came of them, in
/// their order.
///
/// # Errors
/// That of the first of `items` that fails. Items are begun in their order, and none once one has failed, so that it is the
/// one that would have failed if they had been done one after the other; those that are under way are waited for.
///
/// # Panics
/// If `work` does, in the same way.
pub fn try_map<I: Sync, T: Send, E: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let serve = || {
        while !has_failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            // Nobody sees what a panic leaves behind: it goes on in the caller.
            let outcome = catch_unwind(AssertUnwindSafe(|| work(item)));
            if !matches!(outcome, Ok(Ok(_))) {
                has_failed.store(true, Ordering::Relaxed);
            }
            // The receiver is there until all have come.
            drop(sender.send((index, outcome)));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            // One that the system refuses is not missed: the others do its work.
            drop(Builder::new().stack_size(STACK).spawn_scoped(scope, serve));
        }
        serve();
    });
    drop(sender);
    let mut outcomes: Vec<_> = receiver.into_iter().collect();
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome.unwrap_or_else(|panic| resume_unwind(panic))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;
    use crate::Reference;

    /// More than most machines have CPUs are on purpose.
    const THREADS: [usize; 4] = [1, 2, 5, 100];

    fn items() -> Vec<usize> {
        (0..40).collect()
    }

    /// What `f` panics with.
    fn panic_of<T>(f: impl FnOnce() -> T) -> String {
        let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("no panic came through");
        *payload.downcast::<String>().expect("another panic came through")
    }

    #[test]
    fn each_item_is_done_once_and_results_keep_the_order() {
        for threads in THREADS {
            let done = AtomicUsize::new(0);
            let results = try_map(threads, &items(), |&item| {
                done.fetch_add(1, Ordering::Relaxed);
                // The first of a handful end last.
                thread::sleep(Duration::from_millis(4 - item as u64 % 5));
                Ok::<_, String>(2 * item)
            });
            assert_eq!(results, Ok(items().iter().map(|item| 2 * item).collect()));
            assert_eq!(done.into_inner(), items().len());
        }
        assert_eq!(try_map(3, &[], |&()| Ok::<_, String>(())), Ok(Vec::new()));
    }

    #[test]
    fn as_many_threads_as_asked_for_work_at_a_time() {
        for threads in [1, 2, 5] {
            // With fewer they would wait for ever.
            let together = Barrier::new(threads);
            let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let results = try_map(threads, &items()[..4 * threads], |_| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                together.wait();
                running.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, String>(thread::current().id())
            });
            let workers = results.unwrap();
            assert!(workers.contains(&thread::current().id()), "the caller works, too");
            assert_eq!(most.into_inner(), threads);
        }
    }

    #[test]
    fn the_first_failure_in_order_is_told_and_nothing_begun_after_it() {
        let begun = AtomicUsize::new(0);
        let failed = try_map(1, &items(), |&item| {
            begun.fetch_add(1, Ordering::Relaxed);
            if item < 3 { Ok(()) } else { Err(item) }
        });
        assert_eq!((failed, begun.into_inner()), (Err(3), 4));
        let (begun, together) = (AtomicUsize::new(0), Barrier::new(2));
        let failed = try_map(2, &items(), |&item| {
            begun.fetch_add(1, Ordering::Relaxed);
            together.wait();
            // The second fails first.
            thread::sleep(Duration::from_millis(if item == 0 { 50 } else { 0 }));
            Err::<(), _>(item)
        });
        assert_eq!((failed, begun.into_inner()), (Err(0), 2));
    }

    #[test]
    fn a_panic_comes_through_and_others_are_waited_for() {
        for threads in THREADS {
            let ended = AtomicUsize::new(0);
            let told = panic_of(|| {
                try_map(threads, &items(), |&item| {
                    assert!(item < 5 || item % 2 == 0, "{item} is odd");
                    ended.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, String>(())
                })
            });
            assert_eq!(told, "5 is odd", "{threads} threads");
            assert!(ended.into_inner() >= 5);
        }
        // An error before it counts for more, be it later.
        let together = Barrier::new(2);
        let failed = try_map(2, &items()[..2], |&item| {
            together.wait();
            assert!(item == 0, "a panic");
            thread::sleep(Duration::from_millis(50));
            Err::<(), _>(item)
        });
        assert_eq!(failed, Err(0));
    }

    #[test]
    fn what_launches_nothing_is_examined_on_one_thread() {
        assert_eq!(threads(&Reference::new()), 1);
    }
}
