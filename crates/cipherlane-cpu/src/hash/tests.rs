//! What the tests of engines share. `tests/kernels/` puts the same exam to what the table has, through the library that
//! is compiled anyway.

use cipherlane_core::{Batch, Checked, DeviceError, Output, Session, Spans};

pub(super) use self::lanes::{digests, examine, message};
use super::worker::Hashing;
use super::{Absorb, Iterated};
use crate::job::Job;
use crate::worker::Kernel;

#[path = "../../tests/kernels/lanes.rs"]
mod lanes;

/// A hash function on an engine, as a session: all messages of a batch at once, on the calling thread.
pub(super) struct Alone<H, E>(pub(super) Hashing<H, E>);

impl<H: Iterated, E: Absorb<H>> Session for Alone<H, E> {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.0.worker(None).messages(&Job::new(Checked::new(batch, output)?), 0..batch.len());
        Ok(Spans::default())
    }
}
