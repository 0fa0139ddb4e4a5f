//! Copies of offsets, in memory that is kept from call to call: the system gives that of millions page by page.

use std::mem;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use pyo3::{Bound, PyAny, PyResult};

use crate::buffers::Lent;

/// Memory for the offsets of the next call.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<u64>>);

impl Spare {
    /// A copy of the offsets that `object` shows.
    pub(crate) fn copy(&self, object: &Bound<'_, PyAny>, what: &str) -> PyResult<Offsets<'_>> {
        let mut offsets = Offsets { offsets: self.replace(Vec::new()), spare: self };
        Lent::copy_offsets(object, what, &mut offsets.offsets)?;
        Ok(offsets)
    }

    /// Gives it back to the system.
    pub(crate) fn release(&self) {
        self.replace(Vec::new());
    }

    fn replace(&self, memory: Vec<u64>) -> Vec<u64> {
        mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), memory)
    }
}

/// Offsets of a call, whose memory is the next one's.
pub(crate) struct Offsets<'s> {
    offsets: Vec<u64>,
    spare: &'s Spare,
}

impl Deref for Offsets<'_> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.offsets
    }
}

impl Drop for Offsets<'_> {
    fn drop(&mut self) {
        self.spare.replace(mem::take(&mut self.offsets));
    }
}
