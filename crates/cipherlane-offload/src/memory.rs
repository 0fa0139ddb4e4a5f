//! Memory of a device in the hands of callers.
#![allow(unsafe_code)] // copies that are waited for before they return

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cipherlane_core::{DeviceError, DeviceMemory};
use zeroize::Zeroize;

use crate::backend::{Backend, Commands, Fault, Memory};
use crate::copy;

/// Bytes of a staging for what one copy does not take.
const STAGING: usize = 4 << 20;

/// Memory that a device gave to a caller, or that a caller lends it.
#[derive(Debug)]
pub struct CallerMemory<B: Backend> {
    backend: Arc<B>,
    memory: B::Memory,
    bytes: usize,
    /// Whether it was allocated for the caller, so that it is zeroed before it is given back.
    is_own: bool,
    /// A queue that nothing is done on, for the next copy: making one may take longer than a short copy.
    spare: Mutex<Option<B::Queue>>,
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
        let made = Self { backend, memory, bytes, is_own: true, spare: Mutex::default() };
        made.wipe()?;
        Ok(made)
    }

    /// All of `memory`, which somebody else has allocated and is to free.
    #[must_use]
    pub fn lent(backend: Arc<B>, memory: B::Memory) -> Self {
        Self { bytes: memory.bytes(), backend, memory, is_own: false, spare: Mutex::default() }
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
        self.on_queue(|queue| Commands { backend: &*self.backend, queue }.wipe(&self.memory))
    }

    /// Does `work`, which waits for all that it enqueues, on a queue: the one that is spare, or, while another thread has
    /// that, a new one.
    fn on_queue(&self, work: impl FnOnce(&B::Queue) -> Result<(), Fault>) -> Result<(), Fault> {
        self.backend.held(|| {
            let spare = self.spare().take();
            let queue = spare.map_or_else(|| self.backend.queue(), Ok)?;
            let done = work(&queue);
            *self.spare() = Some(queue);
            done
        })
    }

    fn spare(&self) -> MutexGuard<'_, Option<B::Queue>> {
        // A queue is whole, whoever panicked.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the memory has the `count` bytes from byte `at` on.
    fn check(&self, at: usize, count: usize) -> Result<(), DeviceError> {
        if at.checked_add(count).is_some_and(|end| end <= self.bytes) {
            return Ok(());
        }
        let reason = format!(
            "{count} bytes from byte {at} on are not within the memory's {}: copy fewer, or take more memory",
            self.bytes
        );
        Err(DeviceError::Memory { device: self.backend.id().to_owned(), reason })
    }

    /// Waits for what `copy` enqueues.
    fn at_once(&self, copy: impl FnOnce(&B::Queue) -> Result<B::Step, Fault>) -> Result<(), Fault> {
        self.on_queue(|queue| self.backend.wait(&copy(queue)?))
    }

    /// Has `copy` bring each part of `count` bytes by one staging.
    fn by_staging(
        &self,
        count: usize,
        mut copy: impl FnMut(&B::Queue, &mut B::Staging, Range<usize>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut staging = self.backend.staging(count.min(STAGING))?;
        let mut parts =
            (0..count).step_by(STAGING).map(|start| start..start.saturating_add(STAGING).min(count));
        let copied = self.on_queue(|queue| parts.try_for_each(|part| copy(queue, &mut staging, part)));
        staging[..].zeroize();
        copied
    }

    fn write_by_staging(&self, at: usize, source: &[u8]) -> Result<(), Fault> {
        self.by_staging(source.len(), |queue, staging, part| {
            let (to, bytes) = (at + part.start, part.len());
            copy::to_staging(&source[part], &mut staging[..bytes], self.backend.node());
            // SAFETY: the staging is touched again when the copy has been waited for, and the bytes lie within the memory.
            let step = unsafe { self.backend.upload(queue, &self.memory, to, staging.as_ptr(), bytes) }?;
            self.backend.wait(&step)
        })
    }

    fn read_by_staging(&self, at: usize, target: &mut [u8]) -> Result<(), Fault> {
        self.by_staging(target.len(), |queue, staging, part| {
            let (from, bytes) = (at + part.start, part.len());
            // SAFETY: as above.
            let step =
                unsafe { self.backend.download(queue, &self.memory, from, staging.as_mut_ptr(), bytes) }?;
            self.backend.wait(&step)?;
            copy::from_staging(&staging[..bytes], &mut target[part], self.backend.node());
            Ok(())
        })
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
        self.check(at, source.len())?;
        let (start, bytes) = (source.as_ptr(), source.len());
        let written = if bytes == 0 {
            Ok(())
        } else if self.backend.takes_at_once(start, bytes) {
            // SAFETY: the source is borrowed until the copy has been waited for, and the bytes lie within the memory. Queues
            // that use these bytes meanwhile make them any bytes, as texts may be.
            self.at_once(|queue| unsafe { self.backend.upload(queue, &self.memory, at, start, bytes) })
        } else {
            self.write_by_staging(at, source)
        };
        written.map_err(|fault| fault.of(self.backend.id()))
    }

    fn read(&self, at: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        self.check(at, target.len())?;
        let (start, bytes) = (target.as_mut_ptr(), target.len());
        let read = if bytes == 0 {
            Ok(())
        } else if self.backend.takes_at_once(start, bytes) {
            // SAFETY: as above.
            self.at_once(|queue| unsafe { self.backend.download(queue, &self.memory, at, start, bytes) })
        } else {
            self.read_by_staging(at, target)
        };
        read.map_err(|fault| fault.of(self.backend.id()))
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::fake::Fake;

    #[test]
    fn what_no_copy_takes_goes_by_a_staging() {
        let backend = Arc::new(Fake::picky());
        let text: Vec<u8> = (0..2 * STAGING + 77).map(|index| (index % 251) as u8).collect();
        let memory = CallerMemory::new(Arc::clone(&backend), text.len() + 8).unwrap();
        memory.write(3, &text).unwrap();
        let mut found = vec![0xee; text.len() + 8];
        memory.read(0, &mut found).unwrap();
        assert!(
            found[3..text.len() + 3] == text && found[..3] == [0; 3] && found[text.len() + 3..] == [0; 5]
        );
        assert_eq!(backend.longest_staging(), STAGING);
        assert_eq!(backend.under_way(), [""; 0]);
        assert!(memory.write(text.len() + 8, &[]).is_ok());
        let error = memory.write(9, &text).unwrap_err().to_string();
        assert!(error.contains("not within the memory's") && error.contains("copy fewer"), "{error}");
    }

    #[test]
    fn copies_are_over_when_they_return() {
        let backend = Arc::new(Fake::new());
        let memory = CallerMemory::new(Arc::clone(&backend), 100).unwrap();
        memory.write(0, &[7; 100]).unwrap();
        assert_eq!(backend.under_way(), [""; 0]);
        let mut found = [0; 100];
        memory.read(0, &mut found).unwrap();
        assert_eq!((found, backend.under_way()), ([7; 100], Vec::new()));
        drop(memory);
        assert_eq!(backend.under_way(), [""; 0]);
        assert_eq!(backend.queues(), 1, "each of them had a queue of its own");
    }

    #[test]
    fn threads_copy_at_the_same_time() {
        let backend = Arc::new(Fake::new());
        let memory = CallerMemory::lent(Arc::clone(&backend), backend.allocate(64).unwrap());
        assert_eq!(backend.queues(), 0, "nothing is copied yet");
        let both = Barrier::new(2);
        let wait = |_: &_| {
            both.wait();
            Ok(())
        };
        let meet = || memory.on_queue(wait).unwrap();
        thread::scope(|scope| {
            scope.spawn(meet);
            meet();
        });
        assert_eq!(backend.queues(), 2);
        assert!(memory.on_queue(|_| Err(Fault("refused".to_owned()))).is_err());
        memory.write(0, &[7; 64]).unwrap();
        assert_eq!(backend.queues(), 2);
    }
}
