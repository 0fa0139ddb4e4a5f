//! Memory of a device in the hands of callers.
#![allow(unsafe_code)] // copies that are waited for before they return

use std::any::Any;
use std::sync::Arc;

use cipherlane_core::{DeviceError, DeviceMemory};

use crate::backend::{Backend, Fault, Memory};

/// Memory that a device gave to a caller, or that a caller lends it.
#[derive(Debug)]
pub struct CallerMemory<B: Backend> {
    backend: Arc<B>,
    memory: B::Memory,
    bytes: usize,
    /// Whether it was allocated for the caller, so that it is zeroed before it is given back.
    is_own: bool,
}

impl<B: Backend> CallerMemory<B> {
    /// `bytes` zeros.
    ///
    /// # Errors
    /// If there are not so many left, or the device fails.
    pub(crate) fn new(backend: Arc<B>, bytes: usize) -> Result<Self, Fault> {
        // Kernels read whole words.
        let room = bytes.max(1).checked_next_multiple_of(16);
        let room = room.ok_or_else(|| Fault(format!("no device has {bytes} bytes: ask for fewer")))?;
        let memory = backend.allocate(room)?;
        let made = Self { backend, memory, bytes, is_own: true };
        made.wipe()?;
        Ok(made)
    }

    /// All of `memory`, which somebody else has allocated and is to free.
    #[must_use]
    pub fn lent(backend: Arc<B>, memory: B::Memory) -> Self {
        Self { bytes: memory.bytes(), backend, memory, is_own: false }
    }

    /// What `memory` is to `backend`.
    ///
    /// # Errors
    /// [`DeviceError::Memory`] if it is not of its device.
    pub(crate) fn of(backend: &B, memory: &Arc<dyn DeviceMemory>) -> Result<Arc<Self>, DeviceError> {
        let any: Arc<dyn Any + Send + Sync> = Arc::<dyn DeviceMemory>::clone(memory);
        let own = any.downcast::<Self>().ok().filter(|own| backend.shares_memory(&own.backend));
        own.ok_or_else(|| DeviceError::Memory {
            device: backend.id().to_owned(),
            reason: format!(
                "the texts lie in memory of {}, where kernels of this device do not reach: bind them to a resident of the \
                 device that gave the memory, or write them to memory that this one gives",
                memory.device()
            ),
        })
    }

    /// The memory as the backend has it.
    #[must_use]
    pub const fn memory(&self) -> &B::Memory {
        &self.memory
    }

    /// What it is used by.
    #[must_use]
    pub const fn backend(&self) -> &Arc<B> {
        &self.backend
    }

    fn wipe(&self) -> Result<(), Fault> {
        let queue = self.backend.queue()?;
        self.backend.wait(&self.backend.wipe(&queue, &self.memory)?)
    }

    /// Has `copy` enqueue the copy of `count` bytes at byte `at`, and waits for it.
    fn copy(
        &self,
        at: usize,
        count: usize,
        copy: impl FnOnce(&B::Queue) -> Result<B::Step, Fault>,
    ) -> Result<(), DeviceError> {
        let device = || self.backend.id().to_owned();
        if at.checked_add(count).is_none_or(|end| end > self.bytes) {
            let reason =
                format!("{count} bytes from byte {at} on are not within the memory's {}", self.bytes);
            return Err(DeviceError::Memory { device: device(), reason });
        }
        if count == 0 {
            return Ok(());
        }
        let copied = self.backend.queue().and_then(|queue| self.backend.wait(&copy(&queue)?));
        copied.map_err(|Fault(reason)| DeviceError::Failed { device: device(), reason })
    }
}

impl<B: Backend> DeviceMemory for CallerMemory<B> {
    fn device(&self) -> &str {
        self.backend.id()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn handle(&self) -> u64 {
        self.memory.handle()
    }

    fn write(&self, at: usize, source: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the source is borrowed until the copy has been waited for, and the bytes lie within the memory. Queues that
        // use these bytes meanwhile make them any bytes, as texts may be.
        self.copy(at, source.len(), |queue| unsafe {
            self.backend.upload(queue, &self.memory, at, source.as_ptr(), source.len())
        })
    }

    fn read(&self, at: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        let (start, bytes) = (target.as_mut_ptr(), target.len());
        // SAFETY: as above.
        self.copy(at, bytes, |queue| unsafe { self.backend.download(queue, &self.memory, at, start, bytes) })
    }
}

impl<B: Backend> Drop for CallerMemory<B> {
    fn drop(&mut self) {
        if self.is_own {
            // A device that is lost has nothing to wipe, and nobody can be told here.
            drop(self.wipe());
        }
    }
}
