//! Events that are used again: the driver takes longer to make and to destroy one than to record it.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::{Context, CudaError, Event};

/// Events of a context that no step has any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<Arc<Event>>>>);

/// An event that is in use. Who waits for what was recorded in it before waits for that, though it be recorded anew.
#[derive(Debug)]
pub(crate) struct Used {
    event: Arc<Event>,
    home: Events,
}

impl Events {
    /// One that is spare, or a new one, to be recorded before anything else.
    pub(crate) fn take(&self, context: &Context) -> Result<Used, CudaError> {
        let spare = self.spare().pop();
        let event = spare.map_or_else(|| Event::new(context).map(Arc::new), Ok)?;
        Ok(Used { event, home: self.clone() })
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Arc<Event>>> {
        // What is in it is whole, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Used {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        self.home.spare().push(Arc::clone(&self.event));
    }
}
