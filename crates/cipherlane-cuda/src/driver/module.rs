//! Compiled kernels on the GPU, and their launches.

use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use super::api::{Code, Handle};
use super::{Context, CudaError, Stream};

/// Kernels that were compiled together.
#[derive(Debug)]
pub struct Module(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    context: Context,
    handle: Handle,
}

// SAFETY: the driver lets any thread use a module.
unsafe impl Send for Loaded {}
// SAFETY: as above; a loaded module does not change.
unsafe impl Sync for Loaded {}

impl Module {
    /// Loads a cubin, or PTX that ends in a zero byte.
    ///
    /// # Errors
    /// If it is neither, or not for this GPU and driver.
    ///
    /// # Safety
    /// The image is whole, as its compiler made it: the driver is not told where it ends.
    pub unsafe fn new(context: &Context, image: &[u8]) -> Result<Self, CudaError> {
        let mut handle = null_mut();
        let api = context.enter()?;
        // SAFETY: the context is current; a cubin carries its length, PTX ends in zero: the caller's. No options.
        let code = unsafe {
            (api.cuModuleLoadDataEx)(&raw mut handle, image.as_ptr().cast(), 0, null_mut(), null_mut())
        };
        context.check("cuModuleLoadDataEx", code)?;
        Ok(Self(Arc::new(Loaded { context: context.clone(), handle })))
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// If the module has none.
    pub fn function(&self, name: &str) -> Result<Function, CudaError> {
        let text = c_string(name);
        let mut handle = null_mut();
        let Loaded { context, handle: module } = &*self.0;
        let api = context.enter()?;
        // SAFETY: the module lives; the name is a C string; the driver writes one handle.
        let code = unsafe { (api.cuModuleGetFunction)(&raw mut handle, *module, text.as_ptr()) };
        context.check("cuModuleGetFunction", code)?;
        Ok(Function { module: Arc::clone(&self.0), handle })
    }

    /// Address and bytes of the module's variable `name`, or `None` where the module has none.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn global(&self, name: &str) -> Result<Option<(u64, usize)>, CudaError> {
        /// `CUDA_ERROR_NOT_FOUND`.
        const NOT_FOUND: Code = 500;
        let text = c_string(name);
        let (mut pointer, mut bytes) = (0, 0);
        let Loaded { context, handle } = &*self.0;
        let api = context.enter()?;
        // SAFETY: the module lives; the name is a C string; the driver writes a pointer and a size.
        let code =
            unsafe { (api.cuModuleGetGlobal_v2)(&raw mut pointer, &raw mut bytes, *handle, text.as_ptr()) };
        if code == NOT_FOUND {
            return Ok(None);
        }
        context.check("cuModuleGetGlobal_v2", code)?;
        Ok(Some((pointer, bytes)))
    }

    /// The context that the module is loaded in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }
}

/// No name of a kernel has a zero byte; one that had would be cut, and not be found.
fn c_string(name: &str) -> CString {
    CString::new(name.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: loaded by `Module::new`; every function of it holds it.
        unsafe { (self.context.enter_to_drop().cuModuleUnload)(self.handle) };
    }
}

/// A kernel on the GPU.
#[derive(Clone, Debug)]
pub struct Function {
    module: Arc<Loaded>,
    handle: Handle,
}

// SAFETY: the driver lets any thread launch a function.
unsafe impl Send for Function {}
// SAFETY: as above; its attributes are set before it is shared.
unsafe impl Sync for Function {}

/// How many blocks of how many threads, with how many bytes of dynamic shared memory each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block, beyond what the kernel declares.
    pub shared_bytes: u32,
}

/// What a kernel takes of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: usize,
    /// Bytes of local memory of a thread: spills and arrays that found no registers.
    pub local_bytes: usize,
    /// Bytes of shared memory that the kernel declares.
    pub shared_bytes: usize,
    /// Most threads of a block.
    pub threads: usize,
}

impl Function {
    /// What the kernel takes.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn usage(&self) -> Result<Usage, CudaError> {
        // `CUfunction_attribute`.
        Ok(Usage {
            threads: self.attribute(0)?,
            shared_bytes: self.attribute(1)?,
            local_bytes: self.attribute(3)?,
            registers: self.attribute(4)?,
        })
    }

    fn attribute(&self, attribute: c_int) -> Result<usize, CudaError> {
        let mut value = 0;
        let api = self.module.context.enter()?;
        // SAFETY: the function's module lives; the driver writes one int.
        let code = unsafe { (api.cuFuncGetAttribute)(&raw mut value, attribute, self.handle) };
        self.module.context.check("cuFuncGetAttribute", code)?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    /// Lets launches ask for up to `bytes` of dynamic shared memory. More than 48 KiB has to be allowed by name.
    ///
    /// # Errors
    /// If a block cannot have so many.
    pub fn allow_shared(&self, bytes: usize) -> Result<(), CudaError> {
        /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
        const MAX_DYNAMIC_SHARED: c_int = 8;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        let api = self.module.context.enter()?;
        // SAFETY: the function's module lives.
        let code = unsafe { (api.cuFuncSetAttribute)(self.handle, MAX_DYNAMIC_SHARED, bytes) };
        self.module.context.check("cuFuncSetAttribute", code)
    }

    /// How many blocks of `threads` threads and `shared_bytes` of dynamic shared memory a multiprocessor holds.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn blocks_per_multiprocessor(&self, threads: usize, shared_bytes: usize) -> Result<usize, CudaError> {
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let api = self.module.context.enter()?;
        // SAFETY: the function's module lives; the driver writes one int.
        let code = unsafe {
            (api.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                self.handle,
                threads,
                shared_bytes,
            )
        };
        self.module.context.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        Ok(usize::try_from(blocks).unwrap_or(0))
    }

    /// Enqueues a launch.
    ///
    /// # Errors
    /// If the driver refuses the dimensions. What fails on the GPU shows when the stream is waited for.
    ///
    /// # Safety
    /// `arguments` point to values of the types that the kernel takes, in its order. The memory that they name is
    /// good for all that the kernel does with it, and lives until the stream has done the launch.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        size: Dimensions,
        arguments: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let Dimensions { blocks, threads, shared_bytes } = size;
        let api = self.module.context.enter()?;
        // SAFETY: stream and module live; the caller vouches for the arguments, which the driver copies.
        let code = unsafe {
            (api.cuLaunchKernel)(
                self.handle,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                stream.handle(),
                arguments.as_mut_ptr(),
                null_mut(),
            )
        };
        self.module.context.check("cuLaunchKernel", code)
    }
}
