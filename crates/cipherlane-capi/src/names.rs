//! What there is, by name.

#![allow(unsafe_code)] // the caller's pointers are read and written

use std::ffi::c_char;
use std::ptr;

use cipherlane::{Algorithm, devices};
use cipherlane_lent::{Failure, Sizes, Status, name};

use crate::status::report;

/// Tells the sizes of an algorithm.
///
/// # Safety
/// `algorithm` is a string that ends with a zero, `sizes` is not NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_sizes_of(algorithm: *const c_char, sizes: *mut Sizes) -> Status {
    report(|| {
        // SAFETY: promised by the caller.
        let algorithm: Algorithm = unsafe { name(algorithm, "the algorithm")? }.parse()?;
        if sizes.is_null() {
            return Err(Failure::pointer("`sizes` is NULL; pass the address of a `cipherlane_sizes`"));
        }
        // SAFETY: promised by the caller, and not NULL.
        unsafe { sizes.write(Sizes::of(algorithm)) };
        Ok(())
    })
}

/// Writes the algorithms into `text`, a line for each, with a zero behind, as much as there is room for. Returns how many
/// bytes all of it takes, the zero included: with more than `size`, ask again; 0 for a fault of this library. `text` may
/// be NULL where `size` is 0.
///
/// # Safety
/// `text` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_algorithms(text: *mut c_char, size: usize) -> usize {
    // SAFETY: promised by the caller.
    unsafe { write_lines(text, size, || Algorithm::all().map(|algorithm| algorithm.to_string()).collect()) }
}

/// Writes the devices of this machine into `text`, as `cipherlane_algorithms` does the algorithms. Why there is none of a
/// kind, `cipherlane_engine_open` of its first one says. Looking for GPUs starts their drivers.
///
/// # Safety
/// `text` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cipherlane_devices(text: *mut c_char, size: usize) -> usize {
    let names = || devices::find().0.iter().map(|device| device.info().id.clone()).collect();
    // SAFETY: promised by the caller.
    unsafe { write_lines(text, size, names) }
}

/// Writes `names` as the two above say.
///
/// # Safety
/// `text` has room for `size` bytes.
unsafe fn write_lines(text: *mut c_char, size: usize, names: impl FnOnce() -> Vec<String>) -> usize {
    let mut wanted = 0;
    report(|| {
        let lines: String = names().into_iter().map(|name| name + "\n").collect();
        wanted = lines.len() + 1;
        if size > 0 && !text.is_null() {
            let fits = lines.len().min(size - 1);
            // SAFETY: there is room for so many and a zero, promised by the caller.
            unsafe {
                ptr::copy_nonoverlapping(lines.as_ptr().cast(), text, fits);
                text.add(fits).write(0);
            }
        }
        Ok(())
    });
    wanted
}
