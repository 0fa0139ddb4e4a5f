//! A device for tests: its memory is the host's, its kernels for texts invert every bit, and those for keys copy them.
#![allow(unsafe_code)] // copies as the trait has them

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use cipherlane_core::{Algorithm, Operation, Plan, Shape};
use cipherlane_kernels::abi::Argument;
use cipherlane_kernels::manifest::{self, KEYS, Target};

use crate::backend::{Backend, Fault, Limits, Memory, Pointer, Unit};
use crate::programs::{Programs, Tuning};
use crate::tuning::Launch;

/// The device, which does at once what is enqueued.
#[derive(Debug)]
pub(crate) struct Fake {
    limits: Limits,
    /// Where stagings were made.
    stagings: Mutex<Vec<Range<usize>>>,
    /// Whether copies have to go by stagings.
    is_picky: bool,
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
    /// A copy to the host.
    Download,
    /// Zeroing a memory.
    Wipe,
    /// Waiting for what is done.
    Wait,
}

/// Memory of the device.
#[derive(Debug)]
pub(crate) struct Bytes(Mutex<Vec<u8>>);

/// A program, with a schedule of its own as in CUDA.
#[derive(Debug)]
pub(crate) struct Kernels {
    number: usize,
    entries: Vec<String>,
    schedule: Mutex<Vec<u8>>,
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

    /// One whose copies have to go by stagings.
    pub(crate) fn picky() -> Self {
        Self { is_picky: true, ..Self::new() }
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

impl Bytes {
    pub(crate) fn all(&self) -> Vec<u8> {
        lock(&self.0).clone()
    }
}

impl Kernels {
    pub(crate) fn schedule(&self) -> Vec<u8> {
        lock(&self.schedule).clone()
    }
}

/// The plan for messages with one key, and its programs: those that an NVIDIA GPU has.
pub(crate) fn planned(algorithm: &str, operation: Operation, chunk: usize) -> (Plan, Programs<Fake>) {
    let algorithm: Algorithm = algorithm.parse().unwrap();
    let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
    let program = manifest::programs(&Shape::uniform(algorithm, operation, 1, 100, true), &target).remove(0);
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
    let launch = Launch { blocks: 1, threads: 128, tile: 0 };
    (plan.clone(), Programs::new(plan, target, Tuning::Given(launch)))
}

impl Memory for Bytes {
    fn bytes(&self) -> usize {
        lock(&self.0).len()
    }

    fn handle(&self) -> u64 {
        0
    }

    fn overlaps(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Backend for Fake {
    type Memory = Bytes;
    type Staging = Vec<u8>;
    type Queue = ();
    type Program = Kernels;
    type Step = ();

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
        Ok(Bytes(Mutex::new(vec![0xa5; bytes])))
    }

    fn staging(&self, bytes: usize) -> Result<Vec<u8>, Fault> {
        let made = vec![0; bytes];
        let start = made.as_ptr().addr();
        lock(&self.stagings).push(start..start + bytes);
        Ok(made)
    }

    fn shares_memory(&self, _: &Self) -> bool {
        true
    }

    fn reaches(&self, _: *const u8, _: usize) -> bool {
        false
    }

    fn takes_at_once(&self, _: *const u8, _: usize) -> bool {
        !self.is_picky
    }

    fn queue(&self) -> Result<(), Fault> {
        Ok(())
    }

    unsafe fn upload(
        &self,
        (): &(),
        memory: &Bytes,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), Fault> {
        self.check_copy(source.addr())?;
        // SAFETY: the caller vouches for it.
        lock(&memory.0)[at..at + bytes].copy_from_slice(unsafe { std::slice::from_raw_parts(source, bytes) });
        Ok(())
    }

    unsafe fn download(
        &self,
        (): &(),
        memory: &Bytes,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<(), Fault> {
        self.check(Failing::Download)?;
        self.check_copy(target.addr())?;
        // SAFETY: the caller vouches for it.
        unsafe { std::slice::from_raw_parts_mut(target, bytes) }
            .copy_from_slice(&lock(&memory.0)[at..at + bytes]);
        Ok(())
    }

    fn load(&self, unit: &Unit) -> Result<Kernels, Fault> {
        self.check(Failing::Load)?;
        let entries = unit.entries.iter().map(|entry| entry.name.clone()).collect();
        let number = self.loads.fetch_add(1, Ordering::Relaxed);
        Ok(Kernels { number, entries, schedule: Mutex::default() })
    }

    fn blocks_per_unit(&self, _: &Kernels, _: usize) -> Result<usize, Fault> {
        Ok(1)
    }

    unsafe fn launch(
        &self,
        (): &(),
        program: &mut Kernels,
        entry: usize,
        _: u32,
        pointers: &[Pointer<'_, Bytes>],
        _: &[u8],
    ) -> Result<(), Fault> {
        let name = &program.entries[entry];
        let of = |argument: Argument| pointers[argument as usize];
        if name.ends_with(KEYS) {
            self.check(Failing::Keys)?;
            let Pointer { memory, at, bytes } = of(Argument::Keys);
            let keys = memory.all()[at..at + bytes].to_vec();
            let mut work = lock(&of(Argument::Work).memory.0);
            // As the schedule, and as what else is made of a key, which each program has elsewhere.
            work[..bytes].copy_from_slice(&keys);
            work[256 * program.number + 128..][..bytes].copy_from_slice(&keys);
        } else if name.ends_with("text") {
            assert!(self.check(Failing::Panic).is_ok(), "a defect");
            let inverted: Vec<u8> = of(Argument::In).memory.all().iter().map(|byte| !byte).collect();
            let mut out = lock(&of(Argument::Out).memory.0);
            let bytes = inverted.len().min(out.len());
            out[..bytes].copy_from_slice(&inverted[..bytes]);
            self.check(Failing::Texts)?;
        }
        Ok(())
    }

    unsafe fn set_schedule(
        &self,
        (): &(),
        program: &mut Kernels,
        from: Pointer<'_, Bytes>,
        bytes: usize,
        schedule: &Bytes,
    ) -> Result<(), Fault> {
        let words = from.memory.all()[from.at..from.at + bytes].to_vec();
        lock(&schedule.0)[..bytes].copy_from_slice(&words);
        *lock(&program.schedule) = words;
        Ok(())
    }

    fn wipe_schedule(&self, (): &(), program: &Kernels, schedule: &Bytes) -> Result<(), Fault> {
        lock(&program.schedule).fill(0);
        self.wipe(&(), schedule)
    }

    fn after(&self, (): &(), (): &()) -> Result<(), Fault> {
        Ok(())
    }

    fn wipe(&self, (): &(), memory: &Bytes) -> Result<(), Fault> {
        self.check(Failing::Wipe)?;
        lock(&memory.0).fill(0);
        Ok(())
    }

    fn wait(&self, (): &()) -> Result<(), Fault> {
        self.check(Failing::Wait)
    }

    fn time(&self, (): &(), (): &()) -> Result<Duration, Fault> {
        Ok(Duration::from_nanos(1))
    }
}
