//! Where the caller of a run and one of its workers meet.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::Call;

/// What a worker finds: its next call, null where there is none, and its tasks. They have a pair of cache lines of their
/// own, since polling one slot must not slow a store to the next, and one pair, since the way from one CPU to another is a
/// tenth of a microsecond.
///
/// Each thread has its stretch of the batch: where the next batch lies where this one does, its texts are in the caches of
/// the thread that does them again.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Slot {
    pub(super) call: AtomicPtr<Call>,
    /// Tasks from here to `end` are left, which others take over once they have done their own.
    pub(super) next: AtomicUsize,
    pub(super) end: AtomicUsize,
    /// Whether the worker has to be woken: waking one that polls costs as much as the way to it. A caller who reads it a
    /// moment too early wakes nobody, and does the work alone.
    pub(super) asleep: AtomicBool,
}

impl Slot {
    /// Does what is left, as long as something is.
    pub(super) fn run(&self, task: &impl Fn(usize)) {
        // Looks before it takes: most often another's share is done.
        let end = self.end.load(Ordering::Relaxed);
        while self.next.load(Ordering::Relaxed) < end {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index < end {
                task(index);
            }
        }
    }

    /// Whether there is no call, after a pause.
    pub(super) fn is_empty(&self) -> bool {
        std::hint::spin_loop();
        self.call.load(Ordering::Relaxed).is_null()
    }

    /// Takes the call out, if there is one.
    pub(super) fn take(&self) -> Option<*mut Call> {
        // Looks before it takes: a swap would pull the cache line away from a caller who is about to store.
        if self.call.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let call = self.call.swap(ptr::null_mut(), Ordering::Acquire);
        (!call.is_null()).then_some(call)
    }
}
