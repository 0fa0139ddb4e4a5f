//! Texts in the memory of a GPU.

#![allow(unsafe_code)] // the caller's addresses are handed on

use std::sync::Arc;

use cipherlane::{DeviceMemory, DeviceTexts, foreign};

use crate::lent::{Buffer, Bytes};
use crate::status::Failure;

/// Where texts lie that are read from `source`, or else from `text`, and written to `text`, unless it `hashes`. What has
/// been begun on the GPU is done then.
///
/// # Safety
/// Memory of a GPU that they name stays allocated for as long as what is returned is there.
pub(crate) unsafe fn texts(source: Bytes, text: Buffer, hashes: bool) -> Result<DeviceTexts, Failure> {
    // SAFETY: promised by the caller.
    let memory = |bytes: Bytes, what| unsafe { memory(bytes, what) };
    let (in_place, text) = (source.data.is_null() && source.length == 0, text.bytes());
    let read = if in_place { memory(text, "the text of the output")? } else { memory(source, "the source")? };
    foreign::wait_for_cuda(&read)?;
    Ok(match (hashes, in_place) {
        (true, _) => DeviceTexts::Read(read),
        (false, true) => DeviceTexts::InPlace(read),
        (false, false) => DeviceTexts::Apart { input: read, output: memory(text, "the text of the output")? },
    })
}

/// # Safety
/// As that of [`texts`].
unsafe fn memory(bytes: Bytes, what: &str) -> Result<Arc<dyn DeviceMemory>, Failure> {
    if bytes.data.is_null() {
        let reason = format!("{what} is NULL, and shall lie in the memory of a GPU; give its address there");
        return Err(Failure::pointer(reason));
    }
    // SAFETY: promised by the caller.
    let memory = unsafe { foreign::cuda(bytes.data.addr() as u64, bytes.length) };
    memory.map_err(|error| Failure::from(error).of(what))
}
