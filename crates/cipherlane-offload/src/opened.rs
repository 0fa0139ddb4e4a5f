//! A device that is opened by its first use.

use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::Fault;

/// What a device was opened as, once it was. A failure is not kept: memory or a GPU that others have now may be free by the
/// next use.
#[derive(Debug)]
pub struct Opened<B>(Mutex<Option<Arc<B>>>);

impl<B> Opened<B> {
    /// Not opened yet.
    #[must_use]
    pub const fn not_yet() -> Self {
        Self(Mutex::new(None))
    }

    /// The device, by `open` if it is not open. Others wait meanwhile.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, open: impl FnOnce() -> Result<B, Fault>) -> Result<Arc<B>, Fault> {
        // Whoever panicked has left nothing half-open here.
        let mut device = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = &*device {
            return Ok(Arc::clone(device));
        }
        let opened = Arc::new(open()?);
        *device = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_not_kept_and_a_device_is() {
        let device = Opened::not_yet();
        assert!(device.get(|| Err(Fault("another process has it".to_owned()))).is_err());
        assert_eq!(device.get(|| Ok(1)), Ok(Arc::new(1)));
        assert_eq!(device.get(|| Ok(2)), Ok(Arc::new(1)));
    }
}
