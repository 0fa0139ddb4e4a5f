//! What OpenCL answered, in words.

use std::fmt;

use opencl3::error_codes::ClError as Inner;

/// A call of OpenCL that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClError {
    /// The function, as OpenCL's manual names it.
    pub call: &'static str,
    /// The error code.
    pub code: i32,
    /// The code's name.
    pub text: String,
    /// What helps, where that is known.
    pub remedy: Option<&'static str>,
}

impl ClError {
    /// The error that `call` returned.
    #[must_use]
    pub fn new(call: &'static str, code: i32) -> Self {
        Self { call, code, text: Inner(code).to_string(), remedy: remedy(code) }
    }

    /// The same where memory of the host was asked for.
    pub(super) fn of_host(self) -> Self {
        let remedy = match self.code {
            -6..=-4 | -12 => Some(
                "the host has no more memory for the driver: ask for fewer bytes, or for a smaller chunk; drop sessions \
                 that are not needed (what they have, they keep; `Engine::release`), or end what else uses the host's memory",
            ),
            _ => self.remedy,
        };
        Self { remedy, ..self }
    }
}

impl fmt::Display for ClError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.call, self.text, self.code)?;
        self.remedy.map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for ClError {}

/// Adds the name of the call to what it returned.
pub(super) trait Named<T> {
    fn named(self, call: &'static str) -> Result<T, ClError>;
}

impl<T> Named<T> for Result<T, i32> {
    fn named(self, call: &'static str) -> Result<T, ClError> {
        self.map_err(|code| ClError::new(call, code))
    }
}

impl<T> Named<T> for Result<T, Inner> {
    fn named(self, call: &'static str) -> Result<T, ClError> {
        self.map_err(|Inner(code)| ClError::new(call, code))
    }
}

/// The codes of `cl.h` that a user can do something about.
const fn remedy(code: i32) -> Option<&'static str> {
    Some(match code {
        -2000 => "install an OpenCL loader (Debian: ocl-icd-libopencl1)",
        -1001 => {
            "the loader lists no driver: install the vendor's (PoCL for a CPU: pocl-opencl-icd), or name its library \
             by OCL_ICD_FILENAMES (NVIDIA: libnvidia-opencl.so.1)"
        }
        -1 => "the driver has no device: is it in use, or hidden by the environment?",
        -2 => "the device is not available now; another process may hold it",
        -3 => "the driver has no compiler: install its full package",
        -5 => {
            "ask for a smaller chunk (which is no help to a message that is longer than one, as twice its bytes lie there), \
             drop sessions that are not needed (they keep memory for their longest message; `Engine::release`), or end what \
             else uses the device's memory; where none of it helps, the context is lost: end this process"
        }
        -6 | -4 => {
            "ask for a smaller chunk (which is no help to a message that is longer than one, as twice its bytes lie there), \
             drop sessions that are not needed (they keep memory for their longest message; `Engine::release`), or end what \
             else uses the device's memory"
        }
        // NVIDIA's driver has the first, a kernel's access to memory that is not its own, and then the second of all that
        // follows.
        -9999 | -36 => {
            "the context is lost: end this process, open the device in another one, and report the batch's sizes as a defect"
        }
        -61 => {
            "the device has no buffers of that size: a smaller chunk, shorter messages, or several batches, fit"
        }
        -52 | -54 | -55 => "the launch does not fit the device: ask for fewer threads",
        -42 => {
            "the compiled kernel is not for this driver: delete the folder `cipherlane` in the user's cache"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_code_and_remedy() {
        let error = ClError::new("clGetPlatformIDs", -1001).to_string();
        assert!(error.starts_with("clGetPlatformIDs: ") && error.contains("(-1001)"), "{error}");
        assert!(error.contains("OCL_ICD_FILENAMES"), "{error}");
        let host = ClError::new("clCreateBuffer", -4).of_host().to_string();
        assert!(host.contains("the host's memory") && !host.contains("the device's"), "{host}");
        assert!(ClError::new("clFlush", -36).to_string().starts_with("clFlush: "));
        for code in [-9999, -36, -5] {
            let lost = ClError::new("clFinish", code).to_string();
            assert!(lost.contains("the context is lost: end this process"), "{lost}");
        }
        for code in [-6, -5, -4] {
            let full = ClError::new("clCreateBuffer", code).to_string();
            assert!(full.contains("no help to a message that is longer"), "{full}");
        }
    }
}
