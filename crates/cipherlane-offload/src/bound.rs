//! Memory of callers that a batch is bound to.

use std::sync::Arc;

use cipherlane_core::{DeviceError, DeviceTexts};

use crate::backend::{Backend, Memory};
use crate::memory::CallerMemory;

/// Where the texts of a bound batch lie.
#[derive(Debug)]
pub(crate) struct Bound<B: Backend> {
    pub(crate) texts: DeviceTexts,
    input: Arc<CallerMemory<B>>,
    output: Option<Arc<CallerMemory<B>>>,
}

impl<B: Backend> Bound<B> {
    /// `texts`, as kernels of `backend` find them.
    ///
    /// # Errors
    /// [`DeviceError::Memory`] if they lie on another device, or overlap.
    pub(crate) fn new(backend: &B, texts: &DeviceTexts) -> Result<Self, DeviceError> {
        let find = |memory| CallerMemory::of(backend, memory);
        let input = find(texts.input())?;
        let output = texts.output().map(find).transpose()?;
        if let (DeviceTexts::Apart { .. }, Some(output)) = (texts, &output)
            && input.memory().overlaps(output.memory())
        {
            return Err(DeviceError::Memory {
                device: backend.id().to_owned(),
                reason:
                    "input and output overlap: give two memories that have no byte in common, or one in place"
                        .to_owned(),
            });
        }
        Ok(Self { texts: texts.clone(), input, output })
    }

    pub(crate) fn input(&self) -> &B::Memory {
        self.input.memory()
    }

    /// In place, and where nothing is written, the input.
    pub(crate) fn output(&self) -> &B::Memory {
        self.output.as_ref().unwrap_or(&self.input).memory()
    }
}
