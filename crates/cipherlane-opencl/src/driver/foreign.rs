//! Buffers that somebody else has made.

use std::sync::Arc;

use cl3::types::cl_mem;
use opencl3::memory::{Buffer, ClMem};

use super::error::Named;
use super::{ClError, Context, Memory};

impl Context {
    /// Whether `other` is the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether `buffer` was made in this context.
    ///
    /// # Errors
    /// If the driver cannot say.
    ///
    /// # Safety
    /// `buffer` is one.
    pub unsafe fn has(&self, buffer: cl_mem) -> Result<bool, ClError> {
        let buffer = Borrowed(buffer);
        Ok(buffer.context().named("clGetMemObjectInfo")? == self.inner.get())
    }
}

impl Memory {
    /// `buffer`, kept alive for as long as this is.
    ///
    /// # Errors
    /// If the driver cannot say how long it is.
    ///
    /// # Safety
    /// `buffer` is one.
    pub unsafe fn foreign(buffer: cl_mem) -> Result<Self, ClError> {
        let bytes = Borrowed(buffer).size().named("clGetMemObjectInfo")?;
        // SAFETY: the caller vouches for the buffer. What is released when it is dropped is this reference.
        unsafe { cl3::memory::retain_mem_object(buffer) }.named("clRetainMemObject")?;
        Ok(Self { buffer: Buffer::new(buffer), bytes })
    }

    /// Whether the two have a byte in common: a buffer may be a part of another.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let ((root, start), (other_root, other_start)) = (self.place(), other.place());
        root == other_root && start < other_start + other.bytes && other_start < start + self.bytes
    }

    /// The buffer that this is all or a part of, and where it begins there.
    fn place(&self) -> (cl_mem, usize) {
        match (self.buffer.associated_memobject(), self.buffer.offset()) {
            (Ok(whole), Ok(at)) if !whole.is_null() => (whole, at),
            _ => (self.get(), 0),
        }
    }
}

/// A buffer to be asked about.
struct Borrowed(cl_mem);

impl ClMem for Borrowed {
    fn get(&self) -> cl_mem {
        self.0
    }

    fn get_mut(&mut self) -> cl_mem {
        self.0
    }
}
