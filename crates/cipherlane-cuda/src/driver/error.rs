//! What the driver answered, in words.

use std::fmt;

use super::api::Code;

/// A call of the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaError {
    /// The function, as CUDA's manual names it.
    pub call: &'static str,
    /// `CUresult`.
    pub code: i32,
    /// The code's name and the driver's words about it; a number where the driver knows no name.
    pub text: String,
    /// What helps, where that is known.
    pub remedy: Option<&'static str>,
}

impl CudaError {
    pub(super) fn new(call: &'static str, code: Code, text: String) -> Self {
        Self { call, code, text, remedy: remedy(call, code) }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.text)?;
        self.remedy.map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for CudaError {}

/// The codes of `cuda.h` that a user can do something about.
fn remedy(call: &str, code: Code) -> Option<&'static str> {
    Some(match code {
        1 => {
            "the driver does not take what it was given: memory of the host has to be pinned as a whole or not at all, and \
             stay so while it is used; if it is, report the batch's sizes as a defect"
        }
        2 if call == "cuMemHostAlloc" => {
            "the host has no more memory that can be pinned: ask for fewer bytes, or for a smaller chunk; drop sessions that \
             are not needed (what they pin, they keep; `Engine::release`), or end what else uses the host's memory"
        }
        2 => {
            "ask for a smaller chunk (which is no help to a message that is longer than one, as twice its bytes lie there), \
             drop sessions that are not needed (they keep memory for their longest message; `Engine::release`), or end what \
             else uses the GPU's memory (see nvidia-smi)"
        }
        3 => {
            "the driver serves no process that was forked after its parent had begun to use it: start this one by itself \
             (Python's multiprocessing: `spawn` or `forkserver`), or fork before the first look for GPUs"
        }
        46 => "another process has the GPU for itself; wait for it, or have its compute mode set to default",
        35 | 803 => {
            "the driver's library and the kernel's module differ: restart the machine after a driver update"
        }
        100 => "no GPU is visible: look at nvidia-smi and at CUDA_VISIBLE_DEVICES",
        101 => "there is no GPU of this number: see `cipherlane devices`",
        200 | 209 => {
            "the compiled kernel is not for this GPU: delete the folder `cipherlane` in the user's cache"
        }
        218 | 222 => {
            "the driver is older than the compiler: install the NVRTC of the CUDA version that nvidia-smi shows"
        }
        304 | 999 => {
            "look at the system's log; `nvidia-modprobe -u` as root loads the driver where nothing else has"
        }
        700 | 714..=719 => "the context is lost: end this process, and report the batch's sizes as a defect",
        701 => {
            "the kernel needs more registers or shared memory than there are: ask for fewer threads a block"
        }
        702 => {
            "the launch ran into the display's time limit: ask for a smaller chunk, or use a GPU without a display"
        }
        802 => "the fabric manager is not ready: start the service nvidia-fabricmanager",
        804 => {
            "this GPU does not work with the compatibility package: remove cuda-compat, or update the driver"
        }
        900..=907 => {
            "a stream of this process is being captured into a CUDA graph, during which the driver does not do this: call \
             before the capture begins, or when it has ended"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_code_and_remedy() {
        let error = CudaError::new("cuMemAlloc_v2", 2, "CUDA_ERROR_OUT_OF_MEMORY: out of memory".to_owned());
        let error = error.to_string();
        let call = "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory; ask for a smaller chunk ";
        assert!(error.starts_with(call) && error.ends_with("(see nvidia-smi)"), "{error}");
        assert!(error.contains("no help to a message that is longer"), "{error}");
        let text = || "CUDA_ERROR_OF_SOME_KIND".to_owned();
        let pinned = CudaError::new("cuMemHostAlloc", 2, text()).to_string();
        assert!(pinned.contains("the host has no more memory") && !pinned.contains("GPU"), "{pinned}");
        let refused = CudaError::new("cuMemcpyHtoDAsync_v2", 1, text()).to_string();
        assert!(refused.contains("pinned as a whole or not at all"), "{refused}");
        let forked = CudaError::new("cuInit", 3, text()).to_string();
        assert!(forked.contains("forked after its parent") && forked.contains("`spawn`"), "{forked}");
        for code in 900..=907 {
            let captured = CudaError::new("cuCtxSynchronize", code, text()).to_string();
            assert!(captured.contains("captured into a CUDA graph"), "{captured}");
        }
        assert_eq!(CudaError::new("cuInit", 34567, "34567".to_owned()).to_string(), "cuInit: 34567");
    }
}
