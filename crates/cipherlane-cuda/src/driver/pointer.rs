//! What the driver knows of an address.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use super::api::Handle;
use super::{Context, Driver};

/// `CUpointer_attribute`: what is asked, and of which type the answer is.
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
const DEVICE_ORDINAL: c_int = 9;

/// The attribute of the memory at `pointer`, where the driver knows that memory.
///
/// # Safety
/// `T` is the attribute's type.
unsafe fn attribute<T>(driver: &'static Driver, attribute: c_int, pointer: u64, mut unset: T) -> Option<T> {
    let to = (&raw mut unset).cast::<c_void>();
    // SAFETY: the driver writes one value of the attribute's type; it only looks the address up.
    let code = unsafe { (driver.functions.cuPointerGetAttribute)(to, attribute, pointer) };
    (code == 0).then_some(unset)
}

/// Whether the byte at `pointer` is pinned memory of the host, so that it needs no staging.
#[must_use]
pub fn is_pinned(driver: &'static Driver, pointer: *const u8) -> bool {
    /// `CU_MEMORYTYPE_HOST`.
    const HOST: c_uint = 1;
    // SAFETY: an unsigned int.
    unsafe { attribute(driver, MEMORY_TYPE, pointer.addr() as u64, 0) == Some(HOST) }
}

/// The number of the GPU in whose memory `pointer` is; `None` for memory of the host, and what the driver does not know.
#[must_use]
pub fn gpu_of(driver: &'static Driver, pointer: u64) -> Option<usize> {
    /// `CU_MEMORYTYPE_DEVICE`.
    const DEVICE: c_uint = 2;
    // SAFETY: an unsigned int, and an int.
    let (kind, ordinal) = unsafe {
        (
            attribute(driver, MEMORY_TYPE, pointer, 0)?,
            attribute::<c_int>(driver, DEVICE_ORDINAL, pointer, -1)?,
        )
    };
    usize::try_from(ordinal).ok().filter(|_| kind == DEVICE)
}

/// Whether `pointer` is memory of another context than `context`. Memory of a pool is of none.
#[must_use]
pub fn is_of_other(context: &Context, pointer: u64) -> bool {
    // SAFETY: a handle.
    let found = unsafe { attribute::<Handle>(context.gpu().driver(), CONTEXT, pointer, null_mut()) };
    found.is_some_and(|found| !found.is_null() && found != context.handle())
}
