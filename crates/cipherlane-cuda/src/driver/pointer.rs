//! What the driver knows of an address.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use super::api::Handle;
use super::{Context, Driver};

/// `CUpointer_attribute`: what is asked, and of which type the answer is.
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
const BUFFER_ID: c_int = 7;
const DEVICE_ORDINAL: c_int = 9;

/// The attribute of the memory at `pointer`, or `unset` where the driver does not know that memory: of that the one function
/// that asks for several attributes makes no error, which tools that watch for errors would tell users of.
///
/// # Safety
/// `T` is the attribute's type, and `unset` is zero.
unsafe fn attribute<T>(driver: &'static Driver, attribute: c_int, pointer: u64, unset: T) -> Option<T> {
    let (mut answer, mut asked) = (unset, attribute);
    let mut to = (&raw mut answer).cast::<c_void>();
    // SAFETY: the driver reads one number and one address, and writes one value of the attribute's type there; it only looks
    // the pointer up.
    let code = unsafe { (driver.functions.cuPointerGetAttributes)(1, &raw mut asked, &raw mut to, pointer) };
    (code == 0).then_some(answer)
}

/// Which of the allocations of pinned memory of the host, or of the parts of other memory that were pinned by themselves, the
/// byte at `pointer` belongs to; `None` if it is not pinned. No two of a process have the same number.
#[must_use]
pub fn pinned(driver: &'static Driver, pointer: *const u8) -> Option<u64> {
    /// `CU_MEMORYTYPE_HOST`.
    const HOST: c_uint = 1;
    let pointer = pointer.addr() as u64;
    // SAFETY: an unsigned int.
    let kind = unsafe { attribute(driver, MEMORY_TYPE, pointer, 0) };
    // SAFETY: an unsigned long long.
    let id = || unsafe { attribute(driver, BUFFER_ID, pointer, 0_u64) };
    if kind == Some(HOST) { id() } else { None }
}

/// The number of the GPU in whose memory `pointer` is; `None` for memory of the host, and what the driver does not know.
#[must_use]
pub fn gpu_of(driver: &'static Driver, pointer: u64) -> Option<usize> {
    /// `CU_MEMORYTYPE_DEVICE`.
    const DEVICE: c_uint = 2;
    // SAFETY: an unsigned int, and an int.
    let (kind, ordinal) = unsafe {
        (attribute(driver, MEMORY_TYPE, pointer, 0)?, attribute::<c_int>(driver, DEVICE_ORDINAL, pointer, 0)?)
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
