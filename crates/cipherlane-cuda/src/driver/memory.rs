//! Memory of the GPU, and pinned memory of the host that it can reach by itself.

use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;

use cipherlane_offload::near::near;

use super::api::DevicePointer;
use super::{Context, CudaError, Stream};

/// Bytes on the GPU. What is allocated here is so plainly: never managed memory, which may be moved behind a kernel's back.
#[derive(Debug)]
pub struct Memory {
    context: Context,
    pointer: DevicePointer,
    bytes: usize,
    /// Whether it is to be freed.
    is_owned: bool,
}

impl Memory {
    /// `bytes` bytes with any contents, aligned to 256.
    ///
    /// # Errors
    /// If there are not so many left.
    pub fn new(context: &Context, bytes: usize) -> Result<Self, CudaError> {
        let mut pointer = 0;
        let api = context.enter()?;
        // The driver refuses to allocate nothing.
        // SAFETY: the context is current; the driver writes one pointer.
        let code = unsafe { (api.cuMemAlloc_v2)(&raw mut pointer, bytes.max(1)) };
        context.check("cuMemAlloc_v2", code)?;
        Ok(Self { context: context.clone(), pointer, bytes, is_owned: true })
    }

    /// The `bytes` bytes at `pointer`, which somebody else has allocated and will free.
    ///
    /// # Safety
    /// They are memory of `context`, and stay so until what is returned is dropped and work that uses it is done.
    #[must_use]
    pub unsafe fn foreign(context: &Context, pointer: u64, bytes: usize) -> Self {
        Self { context: context.clone(), pointer, bytes, is_owned: false }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The address on the GPU, as kernels take it.
    #[must_use]
    pub const fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Enqueues a copy of `bytes` bytes from `source` to byte `at`. From pinned memory it returns at once; from other
    /// memory when the source may be reused.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Panics
    /// If the bytes do not fit.
    ///
    /// # Safety
    /// `source` is good for that many bytes, and stays so and unchanged until the stream has done the copy. Nothing
    /// else that runs on the GPU meanwhile uses these bytes of the memory.
    pub unsafe fn write(
        &self,
        stream: &Stream,
        at: usize,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let target = self.place(at, bytes);
        let api = self.context.enter()?;
        // SAFETY: the target lies within the memory; the caller vouches for the source.
        let code = unsafe { (api.cuMemcpyHtoDAsync_v2)(target, source.cast(), bytes, stream.handle()) };
        self.context.check("cuMemcpyHtoDAsync_v2", code)
    }

    /// Enqueues a copy of `bytes` bytes from byte `at` to `target`.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Panics
    /// If the memory has not so many.
    ///
    /// # Safety
    /// `target` is good for that many bytes, and nobody uses them until the stream has done the copy.
    pub unsafe fn read(
        &self,
        stream: &Stream,
        at: usize,
        target: *mut u8,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let source = self.place(at, bytes);
        let api = self.context.enter()?;
        // SAFETY: the source lies within the memory; the caller vouches for the target.
        let code = unsafe { (api.cuMemcpyDtoHAsync_v2)(target.cast(), source, bytes, stream.handle()) };
        self.context.check("cuMemcpyDtoHAsync_v2", code)
    }

    /// Enqueues a copy of `bytes` bytes from byte `at` to the address `target` of the GPU.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Panics
    /// If the memory has not so many.
    ///
    /// # Safety
    /// `target` is memory of the GPU for that many bytes, which nobody else uses until the stream has done the copy.
    pub unsafe fn copy_to(
        &self,
        stream: &Stream,
        at: usize,
        target: u64,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let source = self.place(at, bytes);
        let api = self.context.enter()?;
        // SAFETY: the source lies within the memory; the caller vouches for the target.
        let code = unsafe { (api.cuMemcpyDtoDAsync_v2)(target, source, bytes, stream.handle()) };
        self.context.check("cuMemcpyDtoDAsync_v2", code)
    }

    /// Enqueues filling all bytes with `byte`.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn fill(&self, stream: &Stream, byte: u8) -> Result<(), CudaError> {
        let api = self.context.enter()?;
        // SAFETY: the memory is good for its length.
        let code = unsafe { (api.cuMemsetD8Async)(self.pointer, byte, self.bytes, stream.handle()) };
        self.context.check("cuMemsetD8Async", code)
    }

    /// The address of byte `at`, of which `bytes` follow.
    fn place(&self, at: usize, bytes: usize) -> DevicePointer {
        let end = at.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= self.bytes), "{bytes} bytes at {at} of {}", self.bytes);
        self.pointer + at as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.is_owned {
            return;
        }
        // SAFETY: allocated by `Memory::new`. The driver waits for work that uses it.
        unsafe { (self.context.enter_to_drop().cuMemFree_v2)(self.pointer) };
    }
}

/// Bytes of the host that the GPU reads and writes by itself, at the full speed of the link. They stay in memory,
/// so a machine has few of them.
#[derive(Debug)]
pub struct Pinned {
    context: Context,
    pointer: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned by one.
unsafe impl Send for Pinned {}
// SAFETY: shared access only reads.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// `bytes` zeros, on the node of the host that the GPU is nearest to if there is room. Cached by the CPU like other
    /// memory: write-combined memory would be slow to read.
    ///
    /// # Errors
    /// If the system cannot pin so many.
    pub fn new(context: &Context, bytes: usize) -> Result<Self, CudaError> {
        near(context.node(), || Self::anywhere(context, bytes))
    }

    fn anywhere(context: &Context, bytes: usize) -> Result<Self, CudaError> {
        /// `CU_MEMHOSTALLOC_PORTABLE`: pinned for every context of the process.
        const PORTABLE: u32 = 1;
        let mut pointer = null_mut();
        let api = context.enter()?;
        // SAFETY: the context is current; the driver writes one pointer.
        let code = unsafe { (api.cuMemHostAlloc)(&raw mut pointer, bytes.max(1), PORTABLE) };
        context.check("cuMemHostAlloc", code)?;
        // SAFETY: the driver has just allocated so many bytes.
        unsafe { std::ptr::write_bytes(pointer.cast::<u8>(), 0, bytes) };
        Ok(Self { context: context.clone(), pointer: pointer.cast(), bytes })
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: allocated and initialised; whoever has the GPU write to it has made sure that nobody reads then.
        unsafe { std::slice::from_raw_parts(self.pointer, self.bytes) }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed by one.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `Pinned::new`.
        unsafe { (self.context.enter_to_drop().cuMemFreeHost)(self.pointer.cast()) };
    }
}
