//! Streams, and events in them.

use std::ptr::null_mut;
use std::time::Duration;

use super::api::Handle;
use super::{Context, CudaError};

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream, which others may use.
const NON_BLOCKING: u32 = 1;

/// Work that the GPU does one after the other.
#[derive(Debug)]
pub struct Stream {
    context: Context,
    handle: Handle,
}

// SAFETY: the driver lets any thread use a stream.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver serialises what threads enqueue.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of its own.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let mut handle = null_mut();
        let api = context.enter()?;
        // SAFETY: the context is current; the driver writes one handle.
        context.check("cuStreamCreate", unsafe { (api.cuStreamCreate)(&raw mut handle, NON_BLOCKING) })?;
        Ok(Self { context: context.clone(), handle })
    }

    /// Waits until all work of the stream is done.
    ///
    /// # Errors
    /// What any of it failed by.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let api = self.context.enter()?;
        // SAFETY: the stream lives.
        self.context.check("cuStreamSynchronize", unsafe { (api.cuStreamSynchronize)(self.handle) })
    }

    /// Has later work of the stream wait for `event`.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn wait(&self, event: &Event) -> Result<(), CudaError> {
        let api = self.context.enter()?;
        // SAFETY: stream and event live; flags must be 0.
        let code = unsafe { (api.cuStreamWaitEvent)(self.handle, event.handle, 0) };
        self.context.check("cuStreamWaitEvent", code)
    }

    pub(super) const fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made by `Stream::new`; the driver keeps what is still running.
        unsafe { (self.context.enter_to_drop().cuStreamDestroy_v2)(self.handle) };
    }
}

/// A point in a stream, with the time at which the GPU passed it.
#[derive(Debug)]
pub struct Event {
    context: Context,
    handle: Handle,
}

// SAFETY: the driver lets any thread use an event.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event that no stream has met yet.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let mut handle = null_mut();
        let api = context.enter()?;
        // SAFETY: the context is current; the driver writes one handle. Flags 0: with time.
        context.check("cuEventCreate", unsafe { (api.cuEventCreate)(&raw mut handle, 0) })?;
        Ok(Self { context: context.clone(), handle })
    }

    /// Puts the event behind all work of `stream` so far.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        let api = self.context.enter()?;
        // SAFETY: event and stream live and are of one context.
        self.context.check("cuEventRecord", unsafe { (api.cuEventRecord)(self.handle, stream.handle) })
    }

    /// Waits until the GPU has passed the event.
    ///
    /// # Errors
    /// What the work before it failed by.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let api = self.context.enter()?;
        // SAFETY: the event lives.
        self.context.check("cuEventSynchronize", unsafe { (api.cuEventSynchronize)(self.handle) })
    }

    /// Time from `start` to this event, both passed. Half a microsecond is as fine as the GPU tells.
    ///
    /// # Errors
    /// If either is not recorded or not passed.
    pub fn since(&self, start: &Self) -> Result<Duration, CudaError> {
        let mut milliseconds = 0.0;
        let api = self.context.enter()?;
        // SAFETY: both events live; the driver writes one float.
        let code = unsafe { (api.cuEventElapsedTime)(&raw mut milliseconds, start.handle, self.handle) };
        self.context.check("cuEventElapsedTime", code)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `Event::new`; the driver keeps it as long as a stream needs it.
        unsafe { (self.context.enter_to_drop().cuEventDestroy_v2)(self.handle) };
    }
}
