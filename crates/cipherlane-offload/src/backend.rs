//! What a device with memory of its own can do: all that sessions need of CUDA or OpenCL.
#![allow(unsafe_code)] // methods whose callers vouch for memory that the device uses later

use std::fmt;
use std::ops::DerefMut;
use std::time::Duration;

use cipherlane_core::DeviceError;

/// What a device failed by, in words: the call, its error, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// The same as the error of `device`.
    #[must_use]
    pub fn of(self, device: &str) -> DeviceError {
        DeviceError::Failed { device: device.to_owned(), reason: self.0 }
    }
}

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
    /// Most bytes of one allocation that the driver promises; it may have room for longer ones.
    pub allocation_bytes: u64,
    /// What offsets of pointers into memory must be a multiple of, in bytes.
    pub alignment: usize,
    /// The highest clock of the units, as the driver gives it.
    pub clock_hertz: u64,
}

/// A program to compile and load: one text, and the entry points in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What errors call it.
    pub name: String,
    /// The whole source.
    pub text: String,
    /// Its entry points.
    pub entries: Vec<Entry>,
}

/// An entry point of a [`Unit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kernel's name.
    pub name: String,
    /// Threads of a block, as the kernel is compiled.
    pub threads: u32,
    /// Bytes of shared (local) memory of a block.
    pub shared_bytes: u32,
}

/// A pointer that a kernel gets: into `memory`, `at` bytes from its start. With no `bytes`, to all of it.
#[derive(Debug)]
pub struct Pointer<'a, M> {
    /// Memory of the device.
    pub memory: &'a M,
    /// A multiple of [`Limits::alignment`].
    pub at: usize,
    /// Bytes that the kernel reads or writes from there on. What else is in the memory may be used by others.
    pub bytes: usize,
}

impl<M> Clone for Pointer<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Pointer<'_, M> {}

/// Memory of a device, as its backend allocates it or finds it allocated.
pub trait Memory: fmt::Debug + Send + Sync + 'static {
    /// Number of bytes.
    fn bytes(&self) -> usize;

    /// What [`DeviceMemory::handle`](cipherlane_core::DeviceMemory::handle) is to say.
    fn handle(&self) -> u64;

    /// Whether the two have a byte in common.
    fn overlaps(&self, other: &Self) -> bool;
}

/// Where commands go: a queue, and the backend that it is of.
#[derive(Debug)]
pub(crate) struct Commands<'a, B: Backend> {
    pub(crate) backend: &'a B,
    pub(crate) queue: &'a B::Queue,
}

impl<B: Backend> Clone for Commands<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Commands<'_, B> {}

impl<B: Backend> Commands<'_, B> {
    /// Zeroes all of `memory`, and waits for that.
    pub(crate) fn wipe(self, memory: &B::Memory) -> Result<(), Fault> {
        self.backend.wait(&self.backend.wipe(self.queue, memory)?)
    }
}

/// A device with memory of its own, and queues of commands that it carries out by itself.
///
/// Commands of one queue run in their order. Each returns a *step*, by which it can be waited for and timed.
pub trait Backend: fmt::Debug + Send + Sync + 'static {
    /// Memory of the device.
    type Memory: Memory;
    /// Memory of the host that the device reaches by itself, at the full speed of the link.
    type Staging: fmt::Debug + DerefMut<Target = [u8]> + Send + Sync + 'static;
    /// A queue of commands.
    type Queue: fmt::Debug + Send + 'static;
    /// A compiled and loaded program. It belongs to one session: its schedule and its arguments are its own.
    type Program: fmt::Debug + Send + 'static;
    /// A command that was enqueued.
    type Step: fmt::Debug + Send + 'static;

    /// The device's identifier: `cuda:0`.
    fn id(&self) -> &str;

    /// The device's sizes.
    fn limits(&self) -> &Limits;

    /// The NUMA node of the host that the device is nearest to, where that is known.
    fn node(&self) -> Option<usize>;

    /// Does `work`, whose calls of this backend may leave to it what each of them would begin and end with on this thread. No
    /// code of callers runs in it.
    fn held<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Memory of `bytes` bytes with any contents, aligned to 16.
    ///
    /// # Errors
    /// If there are not so many left.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory, Fault>;

    /// `bytes` bytes of host memory that the device reaches, on its node if there is room.
    ///
    /// # Errors
    /// If the system cannot give so many.
    fn staging(&self, bytes: usize) -> Result<Self::Staging, Fault>;

    /// Whether memory that `other` has is memory to this one as well.
    fn shares_memory(&self, other: &Self) -> bool;

    /// Whether the device reaches these `bytes` of the host by itself, so that they need no staging.
    fn reaches(&self, pointer: *const u8, bytes: usize) -> bool;

    /// Whether one copy takes these `bytes` of the host, wherever they lie. Not so where the device reaches a part of them
    /// by itself, or all of them in several allocations: those have to go by a staging.
    fn takes_at_once(&self, pointer: *const u8, bytes: usize) -> bool;

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

    /// Compiles `unit`, or finds it compiled, and loads it.
    ///
    /// # Errors
    /// The compiler's log, or that there is no compiler and what gets one.
    fn load(&self, unit: &Unit) -> Result<Self::Program, Fault>;

    /// How many blocks of entry `entry` a unit of the device holds at once; 1 where it does not tell.
    ///
    /// # Errors
    /// If the device cannot say.
    fn blocks_per_unit(&self, program: &Self::Program, entry: usize) -> Result<usize, Fault>;

    /// Enqueues a launch of entry `entry` of `program` in `blocks` blocks: `pointers`, then `value` by value.
    ///
    /// # Errors
    /// If the device refuses. What fails within the launch shows when its step is waited for.
    ///
    /// # Safety
    /// The arguments are those that the kernel takes, in its order, and all that it does with the memory behind the
    /// pointers lies within it. No other queue uses that memory meanwhile, and it lives until the step is done.
    unsafe fn launch(
        &self,
        queue: &Self::Queue,
        program: &mut Self::Program,
        entry: usize,
        blocks: u32,
        pointers: &[Pointer<'_, Self::Memory>],
        value: &[u8],
    ) -> Result<Self::Step, Fault>;

    /// Enqueues a copy of the `bytes` bytes at `from` to where launches of `program` read their schedule: constant
    /// memory of the program where it has some, else the start of `schedule`.
    ///
    /// # Errors
    /// If the device refuses.
    ///
    /// # Safety
    /// The bytes lie within both memories; no launch of the program is under way; the memory lives until the step is
    /// done.
    unsafe fn set_schedule(
        &self,
        queue: &Self::Queue,
        program: &mut Self::Program,
        from: Pointer<'_, Self::Memory>,
        bytes: usize,
        schedule: &Self::Memory,
    ) -> Result<Self::Step, Fault>;

    /// Enqueues zeroing what [`Backend::set_schedule`] has written for `program`. No launch of it is under way.
    ///
    /// # Errors
    /// If the device refuses.
    fn wipe_schedule(
        &self,
        queue: &Self::Queue,
        program: &Self::Program,
        schedule: &Self::Memory,
    ) -> Result<Self::Step, Fault>;

    /// Has later commands of `queue` wait for `step`, which may be of another queue.
    ///
    /// # Errors
    /// If the device refuses.
    fn after(&self, queue: &Self::Queue, step: &Self::Step) -> Result<(), Fault>;

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

    /// How long the device took from the start of `first` to the end of `last`, both done. They may be the same.
    ///
    /// # Errors
    /// If the device cannot say.
    fn time(&self, first: &Self::Step, last: &Self::Step) -> Result<Duration, Fault>;
}
