//! A device for tests: its memory is the host's, its kernels for texts invert every bit, those for keys copy them, all
//! tags are the same, and every message that is to be opened is rejected.
//!
//! It does at once what is enqueued, and all the same shows what its queues leave open: `order` finds commands that may
//! be done in either order where one of them is wrong, and `host` what the host does to memory that a copy still uses.
#![allow(unsafe_code)] // copies as the trait has them

mod case;
mod host;
mod kernel;
mod memory;
mod order;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cipherlane_core::{Operation, Plan, Shape};
use cipherlane_kernels::manifest::{self, KEYS, Target};
use cipherlane_kernels::probe;

use crate::backend::{Backend, Fault, Limits, Pointer, Unit};
use crate::programs::{Programs, Tuning};
use crate::tuning;

pub(crate) use case::Case;
use host::{Carried, Staging, on_host};
pub(crate) use kernel::TAG;
use kernel::{Kernels, Launch};
use memory::Bytes;
use order::{How, Order, Queue, Step};

/// The device.
#[derive(Debug)]
pub(crate) struct Fake {
    limits: Limits,
    /// Where stagings were made.
    stagings: Mutex<Vec<Range<usize>>>,
    /// Whether copies have to go by stagings.
    is_picky: bool,
    /// Whether it reaches all memory of the host by itself.
    is_pinned: bool,
    order: Arc<Order>,
    /// Programs that were loaded.
    loads: AtomicUsize,
    /// What is to fail next, and how many of its kind do not before.
    failing: Mutex<Option<(Failing, usize)>>,
}

/// What of the device fails, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// An allocation.
    Room,
    /// Loading a program.
    Load,
    /// A kernel for keys, before it has done anything.
    Keys,
    /// A kernel for texts, when it has done its work.
    Texts,
    /// A kernel for texts, by a panic in its place.
    Panic,
    /// Another kernel, before it has done anything.
    Stage,
    /// A copy to the device.
    Upload,
    /// A copy to the host.
    Download,
    /// Zeroing a memory.
    Wipe,
    /// Waiting for what is done.
    Wait,
}

impl Failing {
    /// All that the device answers with an error, where a program is loaded.
    pub(crate) const ERRORS: [Self; 8] = [
        Self::Room,
        Self::Keys,
        Self::Texts,
        Self::Stage,
        Self::Upload,
        Self::Download,
        Self::Wipe,
        Self::Wait,
    ];
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Fake {
    pub(crate) fn new() -> Self {
        let limits = Limits {
            units: 1,
            lanes: 32,
            threads_per_block: 1024,
            shared_per_block: 227 << 10,
            memory_bytes: 1 << 30,
            allocation_bytes: 1 << 30,
            alignment: 256,
            clock_hertz: 1,
        };
        Self {
            limits,
            stagings: Mutex::default(),
            is_picky: false,
            is_pinned: false,
            order: Arc::default(),
            loads: AtomicUsize::new(0),
            failing: Mutex::default(),
        }
    }

    /// Has the next call of a kind fail, after `others` that do not.
    pub(crate) fn fail(&self, what: Failing, others: usize) {
        *lock(&self.failing) = Some((what, others));
    }

    fn check(&self, what: Failing) -> Result<(), Fault> {
        let mut failing = lock(&self.failing);
        match &mut *failing {
            Some((known, 0)) if *known == what => {
                *failing = None;
                Err(Fault("the device is lost".to_owned()))
            }
            Some((known, others)) if *known == what => {
                *others -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// One that allocates no more than `bytes` at a time.
    pub(crate) fn limited(bytes: u64) -> Self {
        let fake = Self::new();
        Self { limits: Limits { allocation_bytes: bytes, ..fake.limits }, ..fake }
    }

    /// One whose copies have to go by stagings.
    pub(crate) fn picky() -> Self {
        Self { is_picky: true, ..Self::new() }
    }

    /// One that takes all memory of the host for pinned.
    pub(crate) fn pinned() -> Self {
        Self { is_pinned: true, ..Self::new() }
    }

    /// How many queues were made.
    pub(crate) fn queues(&self) -> usize {
        self.order.queues()
    }

    /// What was enqueued that nobody has waited for.
    pub(crate) fn under_way(&self) -> Vec<String> {
        self.order.under_way()
    }

    /// Bytes of the longest staging that was made.
    pub(crate) fn longest_staging(&self) -> usize {
        lock(&self.stagings).iter().map(Range::len).max().unwrap_or(0)
    }

    fn check_copy(&self, host: usize) -> Result<(), Fault> {
        let is_staging = lock(&self.stagings).iter().any(|staging| staging.contains(&host));
        if self.is_picky && !is_staging { Err(Fault("pinned in parts".to_owned())) } else { Ok(()) }
    }
}

/// The plan for messages with one key, and its programs: those that an NVIDIA GPU has.
pub(crate) fn planned(algorithm: &str, operation: Operation, chunk: usize) -> (Plan, Programs<Fake>) {
    planned_for(&Shape::uniform(algorithm.parse().unwrap(), operation, 1, 100, true), chunk)
}

/// The same for batches of `shape`.
pub(crate) fn planned_for(shape: &Shape, chunk: usize) -> (Plan, Programs<Fake>) {
    let Shape { algorithm, operation, .. } = *shape;
    let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
    let program = manifest::programs(shape, &target).remove(0);
    let plan = Plan {
        device: "fake:0".to_owned(),
        algorithm,
        operation,
        kernel: program.kernel,
        tier: program.variant.to_owned(),
        lanes: program.lanes,
        threads: 1,
        chunk,
        geometry: None,
        constant_time: true,
    };
    let launch = tuning::Launch { blocks: 1, threads: 128, tile: 0 };
    (plan.clone(), Programs::new(plan, target, Tuning::Given(launch)))
}

impl Backend for Fake {
    type Memory = Bytes;
    type Staging = Staging;
    type Queue = Queue;
    type Program = Kernels;
    type Step = Step;

    fn id(&self) -> &'static str {
        "fake:0"
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn node(&self) -> Option<usize> {
        None
    }

    fn allocate(&self, bytes: usize) -> Result<Bytes, Fault> {
        self.check(Failing::Room)?;
        if bytes as u64 > self.limits.allocation_bytes {
            return Err(Fault(format!("no allocation of {bytes} bytes")));
        }
        Ok(Bytes::new(bytes, &self.order))
    }

    fn staging(&self, bytes: usize) -> Result<Staging, Fault> {
        let made = Staging::new(bytes, &self.order);
        lock(&self.stagings).push(made.place());
        Ok(made)
    }

    fn shares_memory(&self, _: &Self) -> bool {
        true
    }

    fn reaches(&self, _: *const u8, _: usize) -> bool {
        self.is_pinned
    }

    fn takes_at_once(&self, _: *const u8, _: usize) -> bool {
        !self.is_picky
    }

    fn queue(&self) -> Result<Queue, Fault> {
        Ok(self.order.queue())
    }

    unsafe fn upload(
        &self,
        queue: &Queue,
        memory: &Bytes,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        self.check(Failing::Upload)?;
        self.check_copy(source.addr())?;
        let touches = vec![on_host(How::Reads, source, bytes), memory.touch(How::Writes, at..at + bytes)];
        let step = self.order.enqueue(queue, "a copy to the device", touches);
        // SAFETY: the caller vouches for it.
        let carried = unsafe { Carried::to_device(source, bytes) };
        lock(&memory.bytes)[at..at + bytes].copy_from_slice(carried.bytes());
        self.order.carry(&step, carried);
        Ok(step)
    }

    unsafe fn download(
        &self,
        queue: &Queue,
        memory: &Bytes,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        self.check(Failing::Download)?;
        self.check_copy(target.addr())?;
        let touches = vec![on_host(How::Writes, target, bytes), memory.touch(How::Reads, at..at + bytes)];
        let step = self.order.enqueue(queue, "a copy to the host", touches);
        let found = memory.part(at..at + bytes);
        // SAFETY: the caller vouches for it.
        self.order.carry(&step, unsafe { Carried::to_host(target, found) });
        Ok(step)
    }

    fn load(&self, unit: &Unit) -> Result<Kernels, Fault> {
        self.check(Failing::Load)?;
        Ok(Kernels::new(unit, self.loads.fetch_add(1, Ordering::Relaxed), &self.order))
    }

    fn blocks_per_unit(&self, _: &Kernels, _: usize) -> Result<usize, Fault> {
        Ok(1)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        program: &mut Kernels,
        entry: usize,
        _: u32,
        pointers: &[Pointer<'_, Bytes>],
        value: &[u8],
    ) -> Result<Step, Fault> {
        if program.entries[entry] == probe::ENTRY {
            let touch = |pointer: &Pointer<'_, Bytes>| pointer.memory.touch(How::Writes, 0..usize::MAX);
            return Ok(self.order.enqueue(queue, probe::ENTRY, pointers.iter().map(touch).collect()));
        }
        let launch = Launch::new(program, entry, pointers, value);
        if launch.entry.ends_with(KEYS) {
            self.check(Failing::Keys)?;
        } else if launch.entry.ends_with("text") {
            assert!(self.check(Failing::Panic).is_ok(), "a defect");
            if let Err(fault) = self.check(Failing::Texts) {
                launch.run();
                return Err(fault);
            }
        } else {
            self.check(Failing::Stage)?;
        }
        let step = self.order.enqueue(queue, launch.entry, launch.touches());
        launch.run();
        Ok(step)
    }

    unsafe fn set_schedule(
        &self,
        queue: &Queue,
        program: &mut Kernels,
        from: Pointer<'_, Bytes>,
        bytes: usize,
        schedule: &Bytes,
    ) -> Result<Step, Fault> {
        let touches = vec![
            from.memory.touch(How::Reads, from.at..from.at + bytes),
            schedule.touch(How::Writes, 0..bytes),
            program.touch(How::Writes),
        ];
        let step = self.order.enqueue(queue, "the copy of a schedule", touches);
        let words = from.memory.part(from.at..from.at + bytes);
        lock(&schedule.bytes)[..bytes].copy_from_slice(&words);
        *lock(&program.schedule) = words;
        Ok(step)
    }

    fn wipe_schedule(&self, queue: &Queue, program: &Kernels, schedule: &Bytes) -> Result<Step, Fault> {
        let all = [program.touch(How::Writes), schedule.touch(How::Writes, 0..usize::MAX)];
        let step = self.order.enqueue(queue, "the end of a schedule", all.to_vec());
        lock(&program.schedule).fill(0);
        lock(&schedule.bytes).fill(0);
        Ok(step)
    }

    fn after(&self, queue: &Queue, step: &Step) -> Result<(), Fault> {
        self.order.after(queue, step);
        Ok(())
    }

    fn wipe(&self, queue: &Queue, memory: &Bytes) -> Result<Step, Fault> {
        self.check(Failing::Wipe)?;
        let step =
            self.order.enqueue(queue, "a memory's end", vec![memory.touch(How::Writes, 0..usize::MAX)]);
        lock(&memory.bytes).fill(0);
        Ok(step)
    }

    /// One that fails tells what the commands failed by, which are over all the same.
    fn wait(&self, step: &Step) -> Result<(), Fault> {
        self.order.wait(step);
        self.check(Failing::Wait)
    }

    fn time(&self, first: &Step, last: &Step) -> Result<Duration, Fault> {
        self.order.check_done(first);
        self.order.check_done(last);
        Ok(Duration::from_nanos(1))
    }
}
