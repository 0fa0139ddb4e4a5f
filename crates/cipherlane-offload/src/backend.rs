//! What a device with memory of its own can do: all that sessions need of CUDA or OpenCL.

use std::fmt;
use std::ops::DerefMut;
use std::time::Duration;

/// What a device failed by, in words: the call, its error, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// Sizes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Multiprocessors or compute units.
    pub units: usize,
    /// Lanes that run together: a warp of 32, or what the device prefers.
    pub lanes: usize,
    /// Most threads of a block (work-items of a work-group).
    pub threads_per_block: usize,
    /// Most bytes of shared (local) memory of a block.
    pub shared_per_block: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Most bytes of one allocation.
    pub allocation_bytes: u64,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Blocks (work-groups).
    pub blocks: u32,
    /// Threads of a block (work-items of a work-group).
    pub threads: u32,
    /// Bytes of shared (local) memory of a block that the launch asks for, beyond what the kernel declares.
    pub shared_bytes: u32,
}

/// One argument of a kernel.
#[derive(Debug)]
pub enum Argument<'a, M> {
    /// Memory of the device, from its first byte.
    Memory(&'a M),
    /// A number or a structure of numbers, passed by value: its bytes as the device reads them.
    Value(&'a [u8]),
}

impl<M> Clone for Argument<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Argument<'_, M> {}

/// A device with memory of its own, and queues of commands that it carries out by itself.
///
/// Commands of one queue run in their order. Each returns a *step*, by which it can be waited for and timed.
pub trait Backend: Send + Sync + 'static {
    /// Memory of the device.
    type Memory: Send + Sync + 'static;
    /// Memory of the host that the device reaches by itself, at the full speed of the link.
    type Staging: DerefMut<Target = [u8]> + Send + 'static;
    /// A queue of commands.
    type Queue: Send + 'static;
    /// A compiled kernel.
    type Kernel: Send + 'static;
    /// A command that was enqueued.
    type Step: Send + 'static;

    /// The device's identifier: `cuda:0`.
    fn id(&self) -> &str;

    /// The device's sizes.
    fn limits(&self) -> &Limits;

    /// Memory of `bytes` bytes with any contents, aligned to 16.
    ///
    /// # Errors
    /// If there are not so many left.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory, Fault>;

    /// `bytes` bytes of host memory that the device reaches.
    ///
    /// # Errors
    /// If the system cannot give so many.
    fn staging(&self, bytes: usize) -> Result<Self::Staging, Fault>;

    /// Whether the device reaches these `bytes` of the host by itself, so that they need no staging.
    fn reaches(&self, pointer: *const u8, bytes: usize) -> bool;

    /// A queue of its own.
    ///
    /// # Errors
    /// If the device refuses.
    fn queue(&self) -> Result<Self::Queue, Fault>;

    /// Enqueues a copy from the host to byte `at` of `memory`.
    ///
    /// # Errors
    /// If the device refuses.
    ///
    /// # Safety
    /// `source` is good for `bytes` bytes, and stays so and unchanged until the step is done. The bytes lie within
    /// the memory, and no other queue uses them meanwhile.
    unsafe fn upload(
        &self,
        queue: &Self::Queue,
        memory: &Self::Memory,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<Self::Step, Fault>;

    /// Enqueues a copy from byte `at` of `memory` to the host.
    ///
    /// # Errors
    /// If the device refuses.
    ///
    /// # Safety
    /// `target` is good for `bytes` bytes, and nobody uses them until the step is done. The bytes lie within the
    /// memory, and no other queue writes them meanwhile.
    unsafe fn download(
        &self,
        queue: &Self::Queue,
        memory: &Self::Memory,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<Self::Step, Fault>;

    /// Enqueues a launch of `kernel`.
    ///
    /// # Errors
    /// If the device refuses. What fails within the launch shows when its step is waited for.
    ///
    /// # Safety
    /// The arguments are those that the kernel takes, in its order, and all that it does with the memory that they
    /// name lies within it. No other queue uses that memory meanwhile, and it lives until the step is done.
    unsafe fn launch(
        &self,
        queue: &Self::Queue,
        kernel: &mut Self::Kernel,
        geometry: Geometry,
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<Self::Step, Fault>;

    /// Enqueues zeroing all of `memory`.
    ///
    /// # Errors
    /// If the device refuses.
    fn wipe(&self, queue: &Self::Queue, memory: &Self::Memory) -> Result<Self::Step, Fault>;

    /// Waits until `step` and all before it in its queue are done.
    ///
    /// # Errors
    /// What any of them failed by.
    fn wait(&self, step: &Self::Step) -> Result<(), Fault>;

    /// How long the device took for `step`, which is done.
    ///
    /// # Errors
    /// If the device cannot say.
    fn time(&self, step: &Self::Step) -> Result<Duration, Fault>;
}
