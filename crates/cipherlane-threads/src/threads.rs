//! Threads pinned to CPUs that wait for work between runs.
//!
//! Our own, not a general pool, for three things that small batches need: the calling thread takes part; a thread
//! that wakes too late is not waited for; and no thread is woken on the CPU that the caller occupies.

#![allow(unsafe_code)] // a run lends its closure to threads that outlive it; one block

mod patience;
mod slot;

use std::any::Any;
use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use core_affinity::CoreId;

use self::patience::{LOOKS, Patience};
use self::slot::Slot;
use crate::topology::{LogicalCpu, Topology};

/// How long an idle thread polls before it sleeps. Waking a sleeping one costs about as much (a system call here
/// and tens of microseconds there), so polling at most doubles the cost of a pause.
const POLL: Duration = Duration::from_micros(50);

/// Set to anything but nothing or 0, threads go where the system puts them: for processes that share a machine, each of
/// which would take its first CPUs.
pub const FREE: &str = "CIPHERLANE_NO_PINNING";

/// Whether threads are not pinned.
fn are_free() -> bool {
    std::env::var_os(FREE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Work lent to a thread, which is told its number. The true lifetime is that of [`Threads::share`], which ends after the
/// last use.
type Call = &'static (dyn Fn(usize) + Sync);

/// A number of threads, the calling one included.
///
/// A fork takes along the one thread that asks for it: in the new process, all tasks of threads that it has inherited run on
/// the caller.
pub struct Threads {
    shared: Arc<Shared>,
    /// One per thread of the plan. The caller stands in for one of them, see [`Threads::stand_in`].
    workers: Vec<Worker>,
    /// All CPUs of the process, those without a worker included; none where workers are not pinned.
    cpus: Vec<LogicalCpu>,
    /// The process that the workers are of.
    process: u32,
}

struct Worker {
    cpu: Option<LogicalCpu>,
    handle: JoinHandle<()>,
}

/// What callers and workers both see.
struct Shared {
    slots: Vec<Slot>,
    ends: Ends,
    caller: Mutex<Option<Thread>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    stop: AtomicBool,
    poll: Duration,
}

/// How a run ends, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Ends {
    /// Workers that have been called and neither returned nor been called off.
    pending: AtomicUsize,
    /// Whether the caller has to be woken.
    asleep: AtomicBool,
}

impl Threads {
    /// Starts `threads` threads on the CPUs of `topology`, in its order. One thread is the caller alone. Threads
    /// beyond the last CPU are left to the scheduler, and so is one that the system refuses to pin, and all of them where
    /// [`FREE`] is set.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn start(threads: usize, topology: &Topology) -> io::Result<Self> {
        Self::polling(threads, topology, POLL)
    }

    /// The same, where an idle thread polls for `poll` before it sleeps: for work that comes at longer intervals, and is to
    /// be begun at once.
    ///
    /// # Errors
    /// If the system starts no more threads.
    pub fn polling(threads: usize, topology: &Topology, poll: Duration) -> io::Result<Self> {
        let workers = if threads > 1 { threads } else { 0 };
        // More threads than may run: who polls keeps another from working, or uses up its quota.
        let crowded = threads > topology.at_once();
        let mut threads = Self::of(workers, topology, if crowded { Duration::ZERO } else { poll });
        for index in 0..workers {
            threads.spawn(index)?;
        }
        Ok(threads)
    }

    /// With room for `workers` workers, none of which is there yet.
    fn of(workers: usize, topology: &Topology, poll: Duration) -> Self {
        let shared = Arc::new(Shared {
            slots: (0..workers).map(|_| Slot::default()).collect(),
            ends: Ends::default(),
            caller: Mutex::default(),
            panic: Mutex::new(None),
            stop: AtomicBool::new(false),
            poll,
        });
        let cpus = if are_free() { Vec::new() } else { topology.cpus().to_vec() };
        Self { shared, workers: Vec::with_capacity(workers), cpus, process: process::id() }
    }

    /// The caller alone.
    pub(crate) fn alone(topology: &Topology) -> Self {
        Self::of(0, topology, Duration::ZERO)
    }

    fn spawn(&mut self, index: usize) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let cpu = self.cpus.get(index).copied();
        let handle = std::thread::Builder::new().name(format!("cipherlane-{index}")).spawn(move || {
            if let Some(cpu) = cpu {
                core_affinity::set_for_current(CoreId { id: cpu.id });
            }
            shared.serve(index);
        })?;
        self.workers.push(Worker { cpu, handle });
        Ok(())
    }

    /// Whether the system lets a thread of this process be pinned to `cpu`.
    pub fn can_pin(cpu: LogicalCpu) -> bool {
        let pin = move || core_affinity::set_for_current(CoreId { id: cpu.id });
        std::thread::Builder::new().spawn(pin).is_ok_and(|thread| thread.join().unwrap_or(false))
    }

    /// Calls `task(i)` once for each `i` below `tasks`, on as many threads as there are tasks for. Returns when all
    /// are done. A panic of a task reaches the caller.
    pub fn run(&mut self, tasks: usize, task: impl Fn(usize) + Sync) {
        let threads = tasks.min(self.workers.len());
        if threads <= 1 {
            return (0..tasks).for_each(task);
        }
        let caller = self.stand_in();
        // The caller's worker and the first of the others, in the order of their CPUs.
        let called = |index: usize| index == caller || index < threads - usize::from(caller >= threads);
        self.hand_out(tasks, threads, caller, called);
        let slots = &self.shared.slots;
        let work = |own: usize| {
            for turn in 0..slots.len() {
                slots[(own + turn) % slots.len()].run(&task);
            }
        };
        self.share(caller, called, &work);
    }

    /// Gives each of the `threads` workers of `called` about as many of `tasks` in a row: the first ones, which may be a
    /// little larger, to the caller, who begins before the others.
    fn hand_out(&self, tasks: usize, threads: usize, caller: usize, called: impl Fn(usize) -> bool) {
        let mut others = 1;
        for (index, slot) in self.shared.slots.iter().enumerate() {
            let mut rank = 0;
            if index != caller {
                rank = others;
                others += usize::from(called(index));
            }
            let end = if called(index) { (rank + 1) * tasks / threads } else { 0 };
            slot.next.store(rank * tasks / threads, Ordering::Relaxed);
            slot.end.store(end, Ordering::Relaxed);
        }
    }

    /// Runs `work` on the caller, as worker `caller`, and on those of the other workers of `called` that come in time.
    fn share(&self, caller: usize, called: impl Fn(usize) -> bool, work: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let call: *mut Call = (&raw const work).cast_mut().cast();
        let called = || (0..self.workers.len()).filter(|&index| index != caller && called(index));
        shared.ends.pending.store(called().count(), Ordering::Relaxed);
        for index in called() {
            shared.slots[index].call.store(call, Ordering::Release);
            // The system has to be asked which process this is: it is where it has to be asked to wake somebody.
            if shared.slots[index].asleep.load(Ordering::Relaxed) && !self.are_left_behind() {
                self.workers[index].handle.thread().unpark();
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| work(caller)));
        for index in called() {
            // No work is left. Whoever has not begun need not begin: the slot still holds the call. Workers that were left
            // behind never do.
            let slot = &shared.slots[index].call;
            let is_there = slot.load(Ordering::Relaxed) == call;
            let relaxed = Ordering::Relaxed;
            if is_there && slot.compare_exchange(call, ptr::null_mut(), relaxed, relaxed).is_ok() {
                shared.ends.pending.fetch_sub(1, Ordering::Relaxed);
            }
        }
        shared.wait();
        let theirs = lock(&shared.panic).take();
        if let Some(panic) = outcome.err().or(theirs) {
            resume_unwind(panic);
        }
    }

    /// The worker in whose place the caller works: the one pinned to the caller's CPU, else to its core, else the
    /// first. The caller itself is never pinned: its affinity is its owner's, and threads that it starts inherit it.
    fn stand_in(&self) -> usize {
        let Some(id) = current_cpu() else { return 0 };
        let core = self.cpus.iter().find(|cpu| cpu.id == id).map(|cpu| cpu.core);
        let on = |here: &dyn Fn(LogicalCpu) -> bool| {
            self.workers.iter().position(|worker| worker.cpu.is_some_and(here))
        };
        on(&|cpu| cpu.id == id).or_else(|| on(&|cpu| Some(cpu.core) == core)).unwrap_or(0)
    }

    /// Whether this process was forked after the workers were started: it has their handles, and none of them.
    fn are_left_behind(&self) -> bool {
        self.process != process::id()
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Threads").field("workers", &self.workers.len()).finish_non_exhaustive()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.are_left_behind() {
            // Nobody is there to be told or waited for, and a handle may not be let go of either: the system has used its
            // thread's memory for others.
            return self.workers.drain(..).for_each(mem::forget);
        }
        self.shared.stop.store(true, Ordering::Release);
        for worker in &self.workers {
            worker.handle.thread().unpark();
        }
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its calls, so there is none to pass on.
            let _ = worker.handle.join();
        }
    }
}

impl Shared {
    /// The life of worker `index`.
    fn serve(&self, index: usize) {
        while let Some(call) = self.next_call(index) {
            // SAFETY: a call that was taken from its slot is pending until the end of this turn, and `share` does
            // not return, nor do the things that its closure borrows end, before no call is pending.
            let work = unsafe { *call };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(index))) {
                *lock(&self.panic) = Some(panic);
            }
            // The caller looks once more after it has said that it sleeps: one of both sees what the other wrote.
            let is_last = self.ends.pending.fetch_sub(1, Ordering::SeqCst) == 1;
            if is_last && self.ends.asleep.load(Ordering::SeqCst) {
                lock(&self.caller).as_ref().inspect(|caller| caller.unpark());
            }
        }
    }

    /// Takes the next call out of slot `index`; polls for a while, then sleeps. `None` when told to stop.
    fn next_call(&self, index: usize) -> Option<*mut Call> {
        let (slot, mut patience) = (&self.slots[index], Patience::new(self.poll));
        loop {
            if let Some(call) = slot.take() {
                return Some(call);
            }
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
            if !patience.lasts() {
                slot.asleep.store(true, Ordering::SeqCst);
                // Whoever calls or stops at this moment may not have seen that yet.
                if (0..LOOKS).all(|_| slot.is_empty() && !self.stop.load(Ordering::Acquire)) {
                    std::thread::park();
                }
                slot.asleep.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Returns when no call is pending, and everything that workers wrote can be seen.
    fn wait(&self) {
        let mut patience = Patience::new(self.poll);
        while self.ends.pending.load(Ordering::Acquire) > 0 {
            if patience.lasts() {
                continue;
            }
            *lock(&self.caller) = Some(std::thread::current());
            self.ends.asleep.store(true, Ordering::SeqCst);
            if self.ends.pending.load(Ordering::SeqCst) > 0 {
                std::thread::park();
            }
            self.ends.asleep.store(false, Ordering::Relaxed);
        }
    }
}

/// The CPU that the calling thread is on, where the system says so.
#[cfg(target_os = "linux")]
fn current_cpu() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

/// The CPU that the calling thread is on, where the system says so.
#[cfg(not(target_os = "linux"))]
fn current_cpu() -> Option<usize> {
    None
}

/// No lock is held while a task runs, so a poisoned one holds nothing half-made.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `tasks` tasks on `threads` threads; how often each was called.
    fn calls(threads: &mut Threads, tasks: usize) -> Vec<usize> {
        let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
        threads.run(tasks, |index| {
            counts[index].fetch_add(1, Ordering::Relaxed);
        });
        counts.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn each_task_runs_once() {
        let topology = Topology::detect();
        for count in [1, 2, 3, 7] {
            let mut threads = Threads::start(count, &topology).unwrap();
            for round in 0..200 {
                let tasks = round % 13;
                assert_eq!(calls(&mut threads, tasks), vec![1; tasks]);
            }
        }
    }

    #[test]
    fn sleeping_threads_wake() {
        let mut threads = Threads::start(3, &Topology::detect()).unwrap();
        for _ in 0..3 {
            std::thread::sleep(10 * POLL);
            let meeting = std::sync::Barrier::new(3);
            // Nobody passes before all three threads have come.
            threads.run(3, |_| {
                meeting.wait();
            });
        }
    }

    #[test]
    fn a_run_may_come_from_any_thread() {
        let mut threads = Threads::start(2, &Topology::detect()).unwrap();
        for _ in 0..3 {
            std::thread::scope(|scope| {
                scope.spawn(|| assert_eq!(calls(&mut threads, 100), [1; 100]));
            });
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_threads_go_on() {
        let mut threads = Threads::start(3, &Topology::detect()).unwrap();
        let run = |threads: &mut Threads| threads.run(50, |index| assert_ne!(index, 40, "the answer"));
        let panic = catch_unwind(AssertUnwindSafe(|| run(&mut threads))).unwrap_err();
        assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("the answer")));
        assert_eq!(calls(&mut threads, 50), [1; 50]);
    }

    /// Threads as a forked process finds them: no worker does anything, unless it is woken.
    fn left_behind(count: usize) -> Threads {
        let mut threads = Threads::start(count, &Topology::detect()).unwrap();
        while !threads.shared.slots.iter().all(|slot| slot.asleep.load(Ordering::SeqCst)) {
            std::thread::yield_now();
        }
        // They may be on their way to sleep yet, and look for a call once more.
        std::thread::sleep(Duration::from_millis(20));
        threads.process = !process::id();
        threads
    }

    #[test]
    fn what_a_forked_process_inherits_runs_on_its_caller() {
        let mut threads = left_behind(3);
        for _ in 0..3 {
            let callers = Mutex::new(Vec::new());
            threads.run(20, |index| {
                std::thread::sleep(POLL);
                lock(&callers).push((index, std::thread::current().id()));
            });
            let mut callers = callers.into_inner().unwrap();
            callers.sort_by_key(|(index, _)| *index);
            let mine = std::thread::current().id();
            assert!(callers.into_iter().eq((0..20).map(|index| (index, mine))));
        }
        assert_eq!(threads.shared.ends.pending.load(Ordering::SeqCst), 0);
        threads.process = process::id();
    }

    #[test]
    fn what_a_forked_process_inherits_is_not_waited_for() {
        let threads = left_behind(3);
        let workers: Vec<Thread> =
            threads.workers.iter().map(|worker| worker.handle.thread().clone()).collect();
        let shared = Arc::clone(&threads.shared);
        drop(threads);
        // Nobody was told to stop.
        assert_eq!(Arc::strong_count(&shared), 1 + workers.len());
        shared.stop.store(true, Ordering::Release);
        workers.iter().for_each(Thread::unpark);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn workers_sit_on_their_cpus() {
        let topology = Topology::detect();
        let count = topology.cpus().len();
        let mut threads = Threads::start(count, &topology).unwrap();
        if count == 1 || !Threads::can_pin(topology.cpus()[0]) {
            return;
        }
        let meeting = std::sync::Barrier::new(count);
        let seen = Mutex::new(Vec::new());
        threads.run(count, |_| {
            meeting.wait();
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            seen.lock().unwrap().push((name, rustix::thread::sched_getcpu()));
        });
        let named = |index| format!("cipherlane-{index}");
        let seen = seen.into_inner().unwrap();
        let right = |(index, cpu): &(usize, &LogicalCpu)| seen.contains(&(named(*index), cpu.id));
        // One of them has the caller for a stand-in.
        assert_eq!(topology.cpus().iter().enumerate().filter(right).count(), count - 1, "{seen:?}");
    }
}
