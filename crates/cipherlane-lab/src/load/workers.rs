//! The threads that make a load, and what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::LoadError;

/// Threads that work until they are dropped.
#[derive(Debug, Default)]
pub(super) struct Workers {
    stop: Arc<AtomicBool>,
    done: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

/// What one of the threads sees of the others.
#[derive(Debug)]
pub(super) struct Desk {
    stop: Arc<AtomicBool>,
    nanoseconds: Arc<AtomicU64>,
    /// When the thread began.
    pub(super) start: Instant,
}

/// A moment in the life of a load, from which on what it reached is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    at: Instant,
    done: Duration,
}

impl Workers {
    /// One more thread, called `name`, that runs `work`.
    pub(super) fn add(
        &mut self,
        name: &str,
        work: impl FnOnce(&Desk) + Send + 'static,
    ) -> Result<(), LoadError> {
        let nanoseconds = Arc::new(AtomicU64::new(0));
        let desk = Desk {
            stop: Arc::clone(&self.stop),
            nanoseconds: Arc::clone(&nanoseconds),
            start: Instant::now(),
        };
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(move || work(&desk))?);
        self.done.push(nanoseconds);
        Ok(())
    }

    pub(super) const fn count(&self) -> usize {
        self.threads.len()
    }

    fn done(&self) -> Duration {
        self.done.iter().map(|done| Duration::from_nanos(done.load(Ordering::Relaxed))).sum()
    }

    /// Now.
    pub(super) fn now(&self) -> Since {
        Since { at: Instant::now(), done: self.done() }
    }

    /// Work of all threads in a second since then.
    pub(super) fn rate(&self, since: Since) -> f64 {
        let passed = since.at.elapsed().as_secs_f64();
        if passed > 0.0 { self.done().saturating_sub(since.done).as_secs_f64() / passed } else { 0.0 }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A load that panicked has ended, which is what is wanted.
            let _ = thread.join();
        }
    }
}

impl Desk {
    /// Whether the load shall end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Tells what was worked so far.
    pub(super) fn tell(&self, done: Duration) {
        self.nanoseconds.store(u64::try_from(done.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Sleeps until `moment`, or until the load shall end.
    pub(super) fn rest_until(&self, moment: Instant) {
        while !self.stopped() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
        }
    }
}
