//! The context of one device: its programs, kernels and memory.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cl3::memory::{CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE};
use cl3::types::{CL_TRUE, cl_kernel, cl_mem};
use opencl3::context::Context as Inner;
use opencl3::device::Device;
use opencl3::kernel::Kernel as InnerKernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program as InnerProgram;

use super::error::Named;
use super::{ClError, DeviceHandle, Queue};

/// A context with one device in it, kept alive by whoever holds a clone.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) inner: Arc<Inner>,
    device: DeviceHandle,
}

impl Context {
    /// The context of `device`. While somebody has it, it is the only one of the process, so that all who use the device
    /// reach one another's memory.
    ///
    /// # Errors
    /// If the device is taken.
    pub fn new(device: &DeviceHandle) -> Result<Self, ClError> {
        static MADE: Mutex<BTreeMap<usize, Weak<Inner>>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.get(&device.id().addr()).and_then(Weak::upgrade);
        let inner = match known {
            Some(inner) => inner,
            None => Arc::new(Inner::from_device(&Device::new(device.id())).named("clCreateContext")?),
        };
        made.insert(device.id().addr(), Arc::downgrade(&inner));
        Ok(Self { inner, device: device.clone() })
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &DeviceHandle {
        &self.device
    }

    /// Compiles a program with `options`.
    ///
    /// # Errors
    /// The compiler's log, if it refuses the source.
    pub fn compile(&self, source: &str, options: &str) -> Result<Program, (ClError, String)> {
        let program = InnerProgram::create_from_source(&self.inner, source)
            .named("clCreateProgramWithSource")
            .map_err(|error| (error, String::new()))?;
        self.build(program, options)
    }

    /// The program of a binary that [`Program::binary`] returned, for the same device and driver.
    ///
    /// # Errors
    /// If the driver does not know it.
    pub fn load(&self, binary: &[u8], options: &str) -> Result<Program, (ClError, String)> {
        // SAFETY: the device is the context's.
        let program =
            unsafe { InnerProgram::create_from_binary(&self.inner, &[self.device.id()], &[binary]) };
        let program = program.named("clCreateProgramWithBinary").map_err(|error| (error, String::new()))?;
        self.build(program, options)
    }

    fn build(&self, mut program: InnerProgram, options: &str) -> Result<Program, (ClError, String)> {
        let built = program.build(&[self.device.id()], options).named("clBuildProgram");
        let log = program.get_build_log(self.device.id()).unwrap_or_default();
        let log = log.trim_matches(['\0', '\n', ' ']).to_owned();
        match built {
            Ok(()) => Ok(Program { inner: program, log }),
            Err(error) => Err((error, log)),
        }
    }
}

/// A compiled program.
#[derive(Debug)]
pub struct Program {
    inner: InnerProgram,
    log: String,
}

impl Program {
    /// What the compiler said.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The program as the driver wants it back.
    ///
    /// # Errors
    /// If the driver has none.
    pub fn binary(&self) -> Result<Vec<u8>, ClError> {
        let binaries = self.inner.get_binaries().named("clGetProgramInfo")?;
        Ok(binaries.into_iter().next().unwrap_or_default())
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// If the program has none.
    pub fn kernel(&self, name: &str) -> Result<Kernel, ClError> {
        InnerKernel::create(&self.inner, name).named("clCreateKernel").map(Kernel)
    }
}

/// A kernel with the arguments of its next launch: one session's, since setting them changes it.
#[derive(Debug)]
pub struct Kernel(InnerKernel);

impl Kernel {
    pub(super) const fn get(&self) -> cl_kernel {
        self.0.get()
    }

    /// Sets an argument by value.
    ///
    /// # Errors
    /// If the kernel has no such argument of this size.
    ///
    /// # Safety
    /// The bytes are a value of the argument's type.
    pub unsafe fn set_value(&mut self, index: usize, bytes: &[u8]) -> Result<(), ClError> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        // SAFETY: OpenCL copies as many bytes as it is told; the caller vouches for what they are.
        unsafe { cl3::kernel::set_kernel_arg(self.get(), index, bytes.len(), bytes.as_ptr().cast()) }
            .named("clSetKernelArg")
    }

    /// Sets an argument that points to memory, or to a part of it. The memory is to live until the launch is enqueued.
    ///
    /// # Errors
    /// If the kernel has no such argument.
    ///
    /// # Safety
    /// `handle` is a buffer that lives.
    pub unsafe fn set_memory(&mut self, index: usize, handle: cl_mem) -> Result<(), ClError> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        // SAFETY: OpenCL copies the handle of a buffer that lives, as the caller vouches, and checks that the argument takes one.
        unsafe {
            cl3::kernel::set_kernel_arg(self.get(), index, size_of::<cl_mem>(), (&raw const handle).cast())
        }
        .named("clSetKernelArg")
    }
}

/// Bytes on the device.
#[derive(Debug)]
pub struct Memory {
    pub(super) buffer: Buffer<u8>,
    pub(super) bytes: usize,
}

impl Memory {
    /// `bytes` bytes with any contents.
    ///
    /// # Errors
    /// If there are not so many left, or the device has no buffers of that size.
    pub fn new(context: &Context, bytes: usize) -> Result<Self, ClError> {
        // OpenCL has no empty buffers.
        // SAFETY: no host memory is handed over.
        let buffer = unsafe { Buffer::create(&context.inner, CL_MEM_READ_WRITE, bytes.max(1), null_mut()) };
        Ok(Self { buffer: buffer.named("clCreateBuffer")?, bytes })
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

    /// The memory as an argument.
    #[must_use]
    pub fn get(&self) -> cl_mem {
        self.buffer.get()
    }

    /// `bytes` bytes from byte `at` on, as an argument of its own. It keeps the memory alive.
    ///
    /// # Errors
    /// If they do not lie within the memory, or `at` is not aligned as the device wants it.
    pub fn part(&self, at: usize, bytes: usize) -> Result<Part, ClError> {
        // SAFETY: OpenCL checks that the part lies within the buffer.
        let part = unsafe { self.buffer.create_sub_buffer(CL_MEM_READ_WRITE, at, bytes) };
        part.named("clCreateSubBuffer").map(Part)
    }
}

/// A part of [`Memory`].
#[derive(Debug)]
pub struct Part(Buffer<u8>);

impl Part {
    /// The part as an argument.
    #[must_use]
    pub fn get(&self) -> cl_mem {
        self.0.get()
    }
}

/// Bytes of the host that the driver has allocated, where it copies from and to fastest.
#[derive(Debug)]
pub struct Staging {
    queue: Queue,
    buffer: Buffer<u8>,
    pointer: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned by one.
unsafe impl Send for Staging {}
// SAFETY: shared access only reads.
unsafe impl Sync for Staging {}

impl Staging {
    /// `bytes` zeros.
    ///
    /// # Errors
    /// If the driver cannot give so many.
    pub fn new(context: &Context, bytes: usize) -> Result<Self, ClError> {
        Self::map(context, bytes).map_err(ClError::of_host)
    }

    fn map(context: &Context, bytes: usize) -> Result<Self, ClError> {
        let queue = Queue::new(context)?;
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host memory is handed over.
        let buffer = unsafe { Buffer::create(&context.inner, flags, bytes.max(1), null_mut()) };
        let buffer = buffer.named("clCreateBuffer")?;
        let mut pointer = null_mut();
        // SAFETY: the whole buffer is mapped once, until the staging is dropped; no kernel uses the buffer.
        let mapped = unsafe {
            queue.inner().enqueue_map_buffer(
                &buffer,
                CL_TRUE,
                CL_MAP_READ | CL_MAP_WRITE,
                0,
                bytes.max(1),
                &mut pointer,
                &[],
            )
        };
        mapped.named("clEnqueueMapBuffer")?;
        // SAFETY: the driver has just mapped so many bytes.
        unsafe { std::ptr::write_bytes(pointer.cast::<u8>(), 0, bytes) };
        Ok(Self { queue, buffer, pointer: pointer.cast(), bytes })
    }
}

impl Deref for Staging {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped and initialised; whoever has a copy into it running has made sure that nobody reads then.
        unsafe { std::slice::from_raw_parts(self.pointer, self.bytes) }
    }
}

impl DerefMut for Staging {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed by one.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: mapped by `Staging::new`, unmapped once. What the driver answers helps nobody here.
        drop(unsafe {
            self.queue.inner().enqueue_unmap_mem_object(self.buffer.get(), self.pointer.cast(), &[])
        });
    }
}
