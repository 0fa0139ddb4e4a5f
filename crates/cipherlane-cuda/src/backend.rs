//! A GPU with its context, as sessions use it.
#![allow(unsafe_code)] // hands on what the caller vouches for

use std::ffi::c_void;
use std::time::Duration;

use cipherlane_kernels::abi::SCHEDULE_SYMBOL;
use cipherlane_offload::backend::{self, Backend, Fault, Limits, Pointer, Unit};

use crate::driver::{
    Attribute, Context, CudaError, Dimensions, Function, Gpu, Memory, Module, Pinned, Stream, pinned,
};
use crate::events::{Events, Used};
use crate::kernels::Kernels;

/// A GPU with its context and its compiled kernels.
#[derive(Debug)]
pub struct Cuda {
    id: String,
    limits: Limits,
    context: Context,
    kernels: Kernels,
    events: Events,
}

/// A program in a module of its own, since its schedule is the module's.
#[derive(Debug)]
pub struct Program {
    module: Module,
    entries: Vec<Entry>,
    /// Its array in constant memory for a schedule. Kernels without one read their schedule where an argument points to.
    schedule: Option<Constants>,
}

/// A variable of a module.
#[derive(Clone, Copy, Debug)]
struct Constants {
    pointer: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    function: Function,
    threads: u32,
    shared_bytes: u32,
}

impl Program {
    /// The array in constant memory as memory of the GPU, where there is one.
    fn constants(&self) -> Option<Memory> {
        let Constants { pointer, bytes } = self.schedule?;
        // SAFETY: constant memory of a module that lives as long as its functions.
        Some(unsafe { Memory::foreign(self.module.context(), pointer, bytes) })
    }

    /// Zeroes the array in constant memory. No launch of the program is under way.
    fn wipe(&self) -> Result<(), CudaError> {
        let Some(constants) = self.constants() else { return Ok(()) };
        // Not in the default stream, where the driver refuses it while somebody captures a stream that waits for that one.
        let stream = Stream::new(self.module.context())?;
        constants.fill(&stream, 0)?;
        stream.synchronize()
    }
}

impl Drop for Program {
    /// A schedule is a key.
    fn drop(&mut self) {
        // A device that is lost has nothing to wipe, and nobody can be told here.
        drop(self.wipe());
    }
}

impl From<CudaError> for Fault {
    fn from(error: CudaError) -> Self {
        Self(error.to_string())
    }
}

/// A command with the times at which the GPU began and ended it.
#[derive(Debug)]
pub struct Step {
    start: Used,
    end: Used,
}

/// The sizes of a GPU.
pub(crate) fn limits(gpu: Gpu) -> Result<Limits, CudaError> {
    let bytes = gpu.memory_bytes()? as u64;
    Ok(Limits {
        units: gpu.attribute(Attribute::Multiprocessors)?,
        lanes: gpu.attribute(Attribute::WarpSize)?,
        threads_per_block: gpu.attribute(Attribute::ThreadsPerBlock)?,
        shared_per_block: gpu.attribute(Attribute::SharedPerBlock)?,
        memory_bytes: bytes,
        allocation_bytes: bytes,
        // What cuMemAlloc aligns to, and so every kernel can count on.
        alignment: 256,
        clock_hertz: gpu.attribute(Attribute::ClockKilohertz)? as u64 * 1000,
    })
}

impl Cuda {
    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Makes the context of `gpu`.
    pub(crate) fn new(id: &str, gpu: Gpu, kernels: Kernels) -> Result<Self, CudaError> {
        let (limits, context) = (limits(gpu)?, Context::new(gpu)?);
        Ok(Self { id: id.to_owned(), limits, context, kernels, events: Events::default() })
    }

    /// The pinned allocations that the first and the last of `bytes` bytes of the host belong to; `None` for an end that is
    /// not pinned.
    fn ends(&self, pointer: *const u8, bytes: usize) -> [Option<u64>; 2] {
        let last = pointer.wrapping_add(bytes.saturating_sub(1));
        [pointer, last].map(|end| pinned(self.context.gpu().driver(), end))
    }

    /// Runs `enqueue` between two events of `queue`.
    fn step(&self, queue: &Stream, enqueue: impl FnOnce() -> Result<(), CudaError>) -> Result<Step, Fault> {
        let event = || self.events.take(&self.context);
        let step = Step { start: event()?, end: event()? };
        step.start.record(queue)?;
        enqueue()?;
        if let Err(error) = step.end.record(queue) {
            // What was enqueued has no step by which it could be waited for.
            drop(queue.synchronize());
            return Err(error.into());
        }
        Ok(step)
    }
}

impl backend::Memory for Memory {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn handle(&self) -> u64 {
        self.pointer()
    }

    fn overlaps(&self, other: &Self) -> bool {
        let ends = [self, other].map(|memory| memory.pointer() + memory.len() as u64);
        self.pointer() < ends[1] && other.pointer() < ends[0]
    }
}

impl Backend for Cuda {
    type Memory = Memory;
    type Staging = Pinned;
    type Queue = Stream;
    type Program = Program;
    type Step = Step;

    fn id(&self) -> &str {
        &self.id
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn node(&self) -> Option<usize> {
        self.context.node()
    }

    fn held<T>(&self, work: impl FnOnce() -> T) -> T {
        self.context.held(work)
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Fault> {
        Ok(Memory::new(&self.context, bytes)?)
    }

    fn staging(&self, bytes: usize) -> Result<Pinned, Fault> {
        Ok(Pinned::new(&self.context, bytes)?)
    }

    fn shares_memory(&self, other: &Self) -> bool {
        // All contexts here are primary ones, of which a GPU has one.
        self.context.gpu().index() == other.context.gpu().index()
    }

    fn reaches(&self, pointer: *const u8, bytes: usize) -> bool {
        // The driver refuses a copy over memory that was pinned in several parts, be they neighbours.
        let [first, last] = self.ends(pointer, bytes);
        bytes > 0 && first.is_some() && first == last
    }

    fn takes_at_once(&self, pointer: *const u8, bytes: usize) -> bool {
        // Where neither end is pinned, the driver copies by a staging of its own, whatever is pinned in between.
        let [first, last] = self.ends(pointer, bytes);
        first == last
    }

    fn queue(&self) -> Result<Stream, Fault> {
        Ok(Stream::new(&self.context)?)
    }

    unsafe fn upload(
        &self,
        queue: &Stream,
        memory: &Memory,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        // SAFETY: the caller vouches for it.
        self.step(queue, || unsafe { memory.write(queue, at, source, bytes) })
    }

    unsafe fn download(
        &self,
        queue: &Stream,
        memory: &Memory,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        // SAFETY: the caller vouches for it.
        self.step(queue, || unsafe { memory.read(queue, at, target, bytes) })
    }

    fn load(&self, unit: &Unit) -> Result<Program, Fault> {
        let named = |error: CudaError| Fault(format!("{}: {error}", unit.name));
        let image = self.kernels.image(unit)?.bytes;
        // SAFETY: the compiler's, or out of the cache, which keeps a digest of each.
        let module = unsafe { Module::new(&self.context, &image) }.map_err(named)?;
        let entry = |entry: &backend::Entry| {
            let function = module.function(&entry.name)?;
            function.allow_shared(entry.shared_bytes as usize)?;
            Ok(Entry { function, threads: entry.threads, shared_bytes: entry.shared_bytes })
        };
        let entries = unit.entries.iter().map(entry).collect::<Result<_, _>>().map_err(named)?;
        let schedule = module.global(SCHEDULE_SYMBOL).map_err(named)?;
        let schedule = schedule.map(|(pointer, bytes)| Constants { pointer, bytes });
        Ok(Program { module, entries, schedule })
    }

    fn blocks_per_unit(&self, program: &Program, entry: usize) -> Result<usize, Fault> {
        let Entry { function, threads, shared_bytes } = &program.entries[entry];
        Ok(function.blocks_per_multiprocessor(*threads as usize, *shared_bytes as usize)?)
    }

    unsafe fn launch(
        &self,
        queue: &Stream,
        program: &mut Program,
        entry: usize,
        blocks: u32,
        pointers: &[Pointer<'_, Memory>],
        value: &[u8],
    ) -> Result<Step, Fault> {
        let Entry { function, threads, shared_bytes } = &program.entries[entry];
        let addresses: Vec<u64> =
            pointers.iter().map(|pointer| pointer.memory.pointer() + pointer.at as u64).collect();
        // The driver reads each argument through a pointer to it, as many bytes as the kernel declares.
        let by_address = addresses.iter().map(|address| (&raw const *address).cast_mut().cast::<c_void>());
        let mut arguments: Vec<*mut c_void> = by_address.chain([value.as_ptr().cast_mut().cast()]).collect();
        let size = Dimensions { blocks, threads: *threads, shared_bytes: *shared_bytes };
        // SAFETY: the caller vouches for the arguments; the driver only reads what the pointers point to.
        self.step(queue, || unsafe { function.launch(queue, size, &mut arguments) })
    }

    unsafe fn set_schedule(
        &self,
        queue: &Stream,
        program: &mut Program,
        from: Pointer<'_, Memory>,
        bytes: usize,
        schedule: &Memory,
    ) -> Result<Step, Fault> {
        let constants = program.constants();
        let target = constants.as_ref().unwrap_or(schedule);
        if bytes > target.len() {
            let room = target.len();
            return Err(Fault(format!(
                "a schedule of {bytes} bytes does not fit {SCHEDULE_SYMBOL} ({room} bytes)"
            )));
        }
        // SAFETY: the target is constant memory of a module that lives as long as its functions, or the schedule's;
        // it has room, as was just looked at.
        self.step(queue, || unsafe { from.memory.copy_to(queue, from.at, target.pointer(), bytes) })
    }

    fn wipe_schedule(&self, queue: &Stream, program: &Program, schedule: &Memory) -> Result<Step, Fault> {
        self.wipe(queue, program.constants().as_ref().unwrap_or(schedule))
    }

    fn after(&self, queue: &Stream, step: &Step) -> Result<(), Fault> {
        Ok(queue.wait(&step.end)?)
    }

    fn wipe(&self, queue: &Stream, memory: &Memory) -> Result<Step, Fault> {
        self.step(queue, || memory.fill(queue, 0))
    }

    fn wait(&self, step: &Step) -> Result<(), Fault> {
        Ok(step.end.synchronize()?)
    }

    fn time(&self, first: &Step, last: &Step) -> Result<Duration, Fault> {
        Ok(last.end.since(&first.start)?)
    }
}
