//! Memory that the caller lends for a call.

#![allow(unsafe_code)] // slices are made of the caller's pointers

use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::slice;

use crate::status::Failure;

/// Bytes to be read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first of them; NULL where there are none.
    pub data: *const u8,
    /// How many.
    pub length: usize,
}

/// Bytes to be written.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The first of them; NULL where there are none.
    pub data: *mut u8,
    /// How many.
    pub length: usize,
}

impl Bytes {
    /// # Safety
    /// Where `data` is not NULL, `length` bytes lie there which nobody writes for `'a`.
    pub(crate) unsafe fn slice<'a>(self, what: &str) -> Result<&'a [u8], Failure> {
        // SAFETY: promised by the caller.
        unsafe { items(self.data, self.length, what) }
    }

    pub(crate) fn addresses(self) -> Range<usize> {
        addresses(self.data, self.length)
    }
}

impl Buffer {
    /// # Safety
    /// Where `data` is not NULL, `length` bytes lie there which nobody else reads or writes for `'a`.
    pub(crate) unsafe fn slice<'a>(self, what: &str) -> Result<&'a mut [u8], Failure> {
        if self.length == 0 {
            return Ok(&mut []);
        }
        check(self.data, self.length, what)?;
        // SAFETY: promised by the caller, and looked at.
        Ok(unsafe { slice::from_raw_parts_mut(self.data, self.length) })
    }

    /// The same, to be read.
    pub(crate) fn bytes(self) -> Bytes {
        Bytes { data: self.data, length: self.length }
    }

    pub(crate) fn addresses(self) -> Range<usize> {
        addresses(self.data, self.length)
    }
}

/// The `count` items at `first`; none where there shall be none, wherever it points.
///
/// # Safety
/// Where `first` is not NULL, `count` items lie there which nobody writes for `'a`.
pub(crate) unsafe fn items<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(first, count, what)?;
    // SAFETY: promised by the caller, and looked at.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// Fails where no slice can be made, whatever lies there.
fn check<T>(first: *const T, count: usize, what: &str) -> Result<(), Failure> {
    let reason = if first.is_null() {
        format!("{what} is NULL but its length is {count}; pass a pointer, or 0 for the length")
    } else if !first.is_aligned() {
        format!("{what} lies at {first:p}; move it to a multiple of {} bytes", align_of::<T>())
    } else if count > isize::MAX as usize / size_of::<T>() {
        format!("{what} shall have a length of {count}, which no memory has; give the right one")
    } else {
        return Ok(());
    };
    Err(Failure::pointer(reason))
}

/// A name.
///
/// # Errors
/// Where it is NULL or no UTF-8; `what` says whose name it is.
///
/// # Safety
/// Where `name` is not NULL, a string lies there that ends with a zero and is not written for `'a`.
pub unsafe fn name<'a>(name: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: promised by the caller.
    let name = unsafe { some_name(name, what)? };
    name.ok_or_else(|| Failure::pointer(format!("{what} is NULL; give its name")))
}

/// The same, where NULL is allowed.
///
/// # Errors
/// Where it is no UTF-8.
///
/// # Safety
/// As that of [`name`].
pub unsafe fn some_name<'a>(name: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: promised by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    let name = name.to_str().map_err(|_| Failure::name(format!("{what} is not UTF-8")))?;
    Ok(Some(name))
}

/// Where `count` items at `first` lie.
pub(crate) fn addresses<T>(first: *const T, count: usize) -> Range<usize> {
    let first = first.addr();
    first..first.saturating_add(count.saturating_mul(size_of::<T>()))
}
