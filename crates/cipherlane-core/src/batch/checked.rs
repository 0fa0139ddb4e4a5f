//! A batch that has passed the check.

use super::Batch;
use crate::error::BatchError;
use crate::output::Output;
use crate::shape::Shape;
use crate::survey::{Spread, alone};

/// A batch that has passed [`Batch::check`] against the output that it is run into. Nobody can change either meanwhile, so
/// that no session need look at them again.
#[derive(Debug)]
pub struct Checked<'c, 'b, 'o> {
    batch: &'c Batch<'b>,
    output: &'c mut Output<'o>,
    shape: Shape,
}

impl<'c, 'b, 'o> Checked<'c, 'b, 'o> {
    /// Checks `batch` on the calling thread.
    ///
    /// # Errors
    /// As [`Batch::check`].
    pub fn new(batch: &'c Batch<'b>, output: &'c mut Output<'o>) -> Result<Self, BatchError> {
        Self::by(batch, output, &alone)
    }

    /// The same, where `spread` shares out the work: a thread by itself looks at a message in less than a nanosecond, which is
    /// more than many threads take to run a short one.
    ///
    /// # Errors
    /// As [`Batch::check`].
    pub fn by(
        batch: &'c Batch<'b>,
        output: &'c mut Output<'o>,
        spread: &Spread<'_>,
    ) -> Result<Self, BatchError> {
        let shape = batch.check_by(output, spread)?;
        Ok(Self { batch, output, shape })
    }

    /// The batch.
    #[must_use]
    pub const fn batch(&self) -> &'c Batch<'b> {
        self.batch
    }

    /// Its sizes.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Rejects all messages, until they are found to be right.
    pub fn reject_all(&mut self) {
        self.output.accepted.fill(false);
    }

    /// The batch and its output.
    #[must_use]
    pub const fn into_parts(self) -> (&'c Batch<'b>, &'c mut Output<'o>) {
        (self.batch, self.output)
    }
}
