//! A batch that has passed the check.

use std::time::Instant;

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
    begun: Option<Instant>,
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
        let begun = Some(Instant::now());
        Ok(Self { begun, ..Self::untimed(batch, output, spread)? })
    }

    /// [`Checked::by`] for who does not ask how long it takes: a look at the clock may take as long as a short message.
    ///
    /// # Errors
    /// As [`Batch::check`].
    pub fn untimed(
        batch: &'c Batch<'b>,
        output: &'c mut Output<'o>,
        spread: &Spread<'_>,
    ) -> Result<Self, BatchError> {
        let shape = batch.check_by(output, spread)?;
        Ok(Self { batch, output, shape, begun: None })
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

    /// When the check began, or now where it was [untimed](Checked::untimed). That of a session's run is this: a look at the
    /// clock may take as long as a short message.
    #[must_use]
    pub fn begun(&self) -> Instant {
        self.begun.unwrap_or_else(Instant::now)
    }

    /// Rejects all messages, until they are found to be right. Verdicts behind those of the batch stay as they are.
    pub fn reject_all(&mut self) {
        let verdicts = self.batch.len().min(self.output.accepted.len());
        self.output.accepted[..verdicts].fill(false);
    }

    /// The batch and its output.
    #[must_use]
    pub const fn into_parts(self) -> (&'c Batch<'b>, &'c mut Output<'o>) {
        (self.batch, self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Cipher, Column, Messages, Mode, Source};

    #[test]
    fn the_messages_of_the_batch_are_rejected_and_nothing_else() {
        let (algorithm, mut accepted) = (Algorithm::new(Cipher::Aes128, Mode::Gcm), [true; 4]);
        let messages = Messages { source: Source::InPlace, offsets: &[0, 0, 0] };
        let (key, nonce) = (Column::Shared(&[0; 16]), Column::Shared(&[0; 12]));
        let batch = Batch::open(algorithm, key, nonce, Column::EMPTY, messages, &[0; 32]);
        Checked::new(&batch, &mut Output::opened(&mut [], &mut accepted)).unwrap().reject_all();
        assert_eq!(accepted, [false, false, true, true]);
    }
}
