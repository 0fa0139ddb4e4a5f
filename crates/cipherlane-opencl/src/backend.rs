//! An OpenCL device with its context, as sessions use it.
#![allow(unsafe_code)] // hands on what the caller vouches for

use std::time::Duration;

use cipherlane_offload::backend::{self, Backend, Fault, Limits, Pointer, Unit};
use cipherlane_offload::near::near;
use cipherlane_offload::pci::PciDevice;

use crate::compile::{self, Compiled};
use crate::driver::{ClError, Context, DeviceHandle, Facts, Memory, Part, Queue, Staging, Step};

/// A device with its context.
#[derive(Debug)]
pub struct OpenCl {
    id: String,
    limits: Limits,
    facts: Facts,
    node: Option<usize>,
    context: Context,
}

impl From<ClError> for Fault {
    fn from(error: ClError) -> Self {
        Self(error.to_string())
    }
}

/// The sizes of a device.
pub(crate) fn limits(facts: &Facts) -> Limits {
    Limits {
        units: facts.units,
        lanes: 32,
        threads_per_block: facts.group_size,
        shared_per_block: usize::try_from(facts.local_bytes).unwrap_or(usize::MAX),
        memory_bytes: facts.memory_bytes,
        allocation_bytes: facts.buffer_bytes,
        alignment: facts.alignment.max(16),
        clock_hertz: u64::from(facts.megahertz) * 1_000_000,
    }
}

impl OpenCl {
    /// The context.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Makes the context of `device`, or finds it made.
    pub(crate) fn new(id: &str, device: &DeviceHandle, facts: Facts) -> Result<Self, ClError> {
        let (id, limits) = (id.to_owned(), limits(&facts));
        let node = facts.bus.as_ref().and_then(|bus| PciDevice::at(bus).node());
        Ok(Self { id, limits, node, context: Context::new(device)?, facts })
    }
}

impl backend::Memory for Memory {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn handle(&self) -> u64 {
        self.get().expose_provenance() as u64
    }

    fn overlaps(&self, other: &Self) -> bool {
        Self::overlaps(self, other)
    }
}

impl Backend for OpenCl {
    type Memory = Memory;
    type Staging = Staging;
    type Queue = Queue;
    type Program = Compiled;
    type Step = Step;

    fn id(&self) -> &str {
        &self.id
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn node(&self) -> Option<usize> {
        self.node
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Fault> {
        Ok(Memory::new(&self.context, bytes)?)
    }

    fn staging(&self, bytes: usize) -> Result<Staging, Fault> {
        Ok(near(self.node, || Staging::new(&self.context, bytes))?)
    }

    fn shares_memory(&self, other: &Self) -> bool {
        self.context.is(&other.context)
    }

    fn reaches(&self, _: *const u8, _: usize) -> bool {
        // OpenCL 1.2 does not tell.
        false
    }

    fn takes_at_once(&self, _: *const u8, _: usize) -> bool {
        // OpenCL takes any memory of the host.
        true
    }

    fn queue(&self) -> Result<Queue, Fault> {
        Ok(Queue::new(&self.context)?)
    }

    unsafe fn upload(
        &self,
        queue: &Queue,
        memory: &Memory,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        // SAFETY: the caller vouches for it.
        Ok(unsafe { queue.write(memory, at, source, bytes) }?)
    }

    unsafe fn download(
        &self,
        queue: &Queue,
        memory: &Memory,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<Step, Fault> {
        // SAFETY: the caller vouches for it.
        Ok(unsafe { queue.read(memory, at, target, bytes) }?)
    }

    fn load(&self, unit: &Unit) -> Result<Compiled, Fault> {
        compile::load(&self.context, &self.facts, unit)
    }

    fn blocks_per_unit(&self, program: &Compiled, entry: usize) -> Result<usize, Fault> {
        // OpenCL does not tell how many groups a unit holds. A CPU runs one after the other on each core.
        let threads = program.threads[entry].max(1) as usize;
        Ok(if self.facts.is_gpu { (2048 / threads).max(1) } else { 1 })
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        program: &mut Compiled,
        entry: usize,
        blocks: u32,
        pointers: &[Pointer<'_, Memory>],
        value: &[u8],
    ) -> Result<Step, Fault> {
        let (kernel, threads) = (&mut program.kernels[entry], program.threads[entry]);
        // The parts live until the launch is enqueued, which keeps what it needs.
        let mut parts: Vec<Part> = Vec::new();
        for (index, pointer) in pointers.iter().enumerate() {
            let handle = if pointer.bytes == 0 {
                pointer.memory.get()
            } else {
                // Kernels read whole words, of which the last may begin within the part's last bytes.
                let bytes = pointer.bytes.next_multiple_of(4).min(pointer.memory.len() - pointer.at);
                parts.push(pointer.memory.part(pointer.at, bytes)?);
                parts[parts.len() - 1].get()
            };
            // SAFETY: memory and parts live until the launch is enqueued.
            unsafe { kernel.set_memory(index, handle)? };
        }
        // SAFETY: the caller vouches for the value, and for what the kernel does with the memory.
        unsafe {
            kernel.set_value(pointers.len(), value)?;
            Ok(queue.launch(kernel, blocks as usize, threads as usize)?)
        }
    }

    unsafe fn set_schedule(
        &self,
        queue: &Queue,
        _: &mut Compiled,
        from: Pointer<'_, Memory>,
        bytes: usize,
        schedule: &Memory,
    ) -> Result<Step, Fault> {
        Ok(queue.copy(from.memory, from.at, schedule, bytes)?)
    }

    fn wipe_schedule(&self, queue: &Queue, _: &Compiled, schedule: &Memory) -> Result<Step, Fault> {
        self.wipe(queue, schedule)
    }

    fn after(&self, queue: &Queue, step: &Step) -> Result<(), Fault> {
        Ok(queue.after(step)?)
    }

    fn wipe(&self, queue: &Queue, memory: &Memory) -> Result<Step, Fault> {
        Ok(queue.wipe(memory)?)
    }

    fn wait(&self, step: &Step) -> Result<(), Fault> {
        Ok(step.wait()?)
    }

    fn time(&self, first: &Step, last: &Step) -> Result<Duration, Fault> {
        Ok(last.since(first)?)
    }
}
