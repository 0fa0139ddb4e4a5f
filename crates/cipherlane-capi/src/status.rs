//! What a call says of itself: a status, and in words the last failure of the thread.

#![allow(unsafe_code)] // functions of C have names that nobody mangles

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use cipherlane_lent::{Failure, Status};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs `call`, and keeps what it says where it fails or panics.
pub(crate) fn report(call: impl FnOnce() -> Result<(), Failure>) -> Status {
    // What a panic leaves behind is the caller's buffers, of which `Status::Internal` promises nothing.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::internal("a fault of cipherlane, whose words went to stderr: please report it"),
    };
    let words = CString::new(failure.to_string().replace('\0', " ")).unwrap_or_default();
    // Where the thread is ending, nobody will ask for them: what it keeps is gone already.
    let _ = LAST.try_with(|last| last.replace(words));
    failure.status()
}

/// What the last call of this thread that failed says of it, with a remedy: in UTF-8, empty where none has failed. It is
/// there until the thread's next failure, or its end: what destructors of the thread ask for is empty.
#[unsafe(no_mangle)]
pub extern "C" fn cipherlane_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn cipherlane_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    const IN_C: &CStr = match CStr::from_bytes_with_nul(VERSION.as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    IN_C.as_ptr()
}
