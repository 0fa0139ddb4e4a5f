//! The primary context of a GPU: the one that other CUDA libraries of the process use, too.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::Arc;

use super::api::{Code, Functions, Handle};
use super::{CudaError, Gpu};

/// The primary context of a GPU, kept alive by whoever holds a clone.
#[derive(Clone, Debug)]
pub struct Context(Arc<Retained>);

#[derive(Debug)]
struct Retained {
    gpu: Gpu,
    node: Option<usize>,
    handle: Handle,
}

// SAFETY: the driver lets any thread make a context current and use what belongs to it.
unsafe impl Send for Retained {}
// SAFETY: as above; the driver serialises what must be.
unsafe impl Sync for Retained {}

impl Context {
    /// The context of `gpu`; the first one of the process makes it, which takes about a tenth of a second.
    ///
    /// # Errors
    /// If the GPU is taken or out of memory.
    pub fn new(gpu: Gpu) -> Result<Self, CudaError> {
        let mut handle = null_mut();
        // SAFETY: the driver writes one handle, which is released when `Retained` is dropped.
        let code = unsafe { (gpu.driver.functions.cuDevicePrimaryCtxRetain)(&raw mut handle, gpu.handle) };
        gpu.driver.check("cuDevicePrimaryCtxRetain", code)?;
        Ok(Self(Arc::new(Retained { gpu, node: gpu.node(), handle })))
    }

    /// The GPU.
    #[must_use]
    pub fn gpu(&self) -> Gpu {
        self.0.gpu
    }

    /// The NUMA node of the host that the GPU is nearest to, where the system says so.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        self.0.node
    }

    /// Free and total bytes of the GPU's memory.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn memory_info(&self) -> Result<(usize, usize), CudaError> {
        let (mut free, mut total) = (0, 0);
        let api = self.enter()?;
        // SAFETY: the context is current; the driver writes two sizes.
        self.check("cuMemGetInfo_v2", unsafe { (api.cuMemGetInfo_v2)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    /// Waits until all is done that was begun in the context, by other libraries of the process, too.
    ///
    /// # Errors
    /// If the driver refuses, as it does while a stream of the context is captured into a graph, or something that was begun
    /// has failed.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let api = self.enter()?;
        // SAFETY: the context is current.
        self.check("cuCtxSynchronize", unsafe { (api.cuCtxSynchronize)() })
    }

    /// Does `work` with the context current on this thread, which each call in it would push and pop again. None of `work` is
    /// of others, who might look for the context that is theirs. Where the driver refuses, the calls in it say so.
    pub fn held<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.enter_to_drop();
        work()
    }

    /// Makes the context current on this thread, as the functions need it that this returns.
    pub(super) fn enter(&self) -> Result<Entered, CudaError> {
        let entered = self.enter_to_drop();
        self.check("cuCtxPushCurrent_v2", entered.code)?;
        Ok(entered)
    }

    /// The functions with the context current, for giving something back. Nobody can be told of a failure there.
    pub(super) fn enter_to_drop(&self) -> Entered {
        let functions = &self.0.gpu.driver.functions;
        let entered = |code, outside| Entered { functions, code, outside, here: PhantomData };
        let context = CURRENT.get();
        if context == self.0.handle {
            return entered(0, None);
        }
        // SAFETY: the context is retained.
        let code = unsafe { (functions.cuCtxPushCurrent_v2)(self.0.handle) };
        if code != 0 {
            return entered(code, None);
        }
        CURRENT.set(self.0.handle);
        entered(0, Some(Outside { context, capture_mode: exchange_capture_mode(functions, RELAXED) }))
    }

    pub(super) fn handle(&self) -> Handle {
        self.0.handle
    }

    pub(super) fn check(&self, call: &'static str, code: Code) -> Result<(), CudaError> {
        self.0.gpu.driver.check(call, code)
    }
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`. While any thread captures a stream into a graph in the global mode, as PyTorch does
/// unless it is told otherwise, the driver refuses others whatever might be of that graph: to allocate, and to wait, so that
/// a copy to the caller's memory would go on which nobody can wait for. Nothing here is of a graph: streams of our own are
/// never captured.
const RELAXED: c_int = 2;

/// Has this thread be in `mode` while others capture. Returns the mode before, if the driver knows of such: those of CUDA 10.1
/// and later do.
fn exchange_capture_mode(functions: &Functions, mode: c_int) -> Option<c_int> {
    let exchange = functions.cuThreadExchangeStreamCaptureMode?;
    let mut mode = mode;
    // SAFETY: the driver reads one enumerator, an int, and writes one.
    let code = unsafe { exchange(&raw mut mode) };
    (code == 0).then_some(mode)
}

thread_local! {
    /// The context that this thread has [entered](Context::enter) last, and not left yet; else null.
    static CURRENT: Cell<Handle> = const { Cell::new(null_mut()) };
}

/// The functions while a context is current on this thread, which no capture of others hinders meanwhile. Dropped, it leaves
/// current what was before: a caller may use other GPUs by other libraries, whose context is nobody's to change, nor is
/// how they capture. Within another one of the same context it changes nothing. Of those of a thread the last ends first.
pub(super) struct Entered {
    functions: &'static Functions,
    /// What pushing the context came to.
    code: Code,
    /// What there was before, if this one has pushed the context.
    outside: Option<Outside>,
    /// It does not go to other threads, where nothing was pushed.
    here: PhantomData<*const ()>,
}

/// What a thread is in before it enters a context.
struct Outside {
    /// The context that was entered before; else null.
    context: Handle,
    /// How it was to capture, where that was changed.
    capture_mode: Option<c_int>,
}

impl Deref for Entered {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        self.functions
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some(Outside { context, capture_mode }) = self.outside.take() else { return };
        if let Some(mode) = capture_mode {
            exchange_capture_mode(self.functions, mode);
        }
        let mut popped = null_mut();
        // SAFETY: the driver writes one handle, that of the context that was pushed.
        unsafe { (self.functions.cuCtxPopCurrent_v2)(&raw mut popped) };
        CURRENT.set(context);
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: retained once by `Context::new`.
        unsafe { (self.gpu.driver.functions.cuDevicePrimaryCtxRelease_v2)(self.gpu.handle) };
    }
}
