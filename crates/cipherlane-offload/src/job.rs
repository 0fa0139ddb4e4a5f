//! A checked batch with its output, as pointers: the device reads and writes the texts while the host does other
//! things.
#![allow(unsafe_code)] // pointers into the buffers of a checked batch

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::{
    Batch, BatchError, Checked, DeviceTexts, Operation, Output, Shape, Source, TagLengths,
};

use crate::copy;
use crate::part::Part;

/// A batch that has passed [`Batch::check`], or [`Batch::check_on_device`], with its output.
pub(crate) struct Job<'a> {
    pub(crate) batch: &'a Batch<'a>,
    pub(crate) shape: Shape,
    /// Which part of a message the batch's one message is, if it is not all of it.
    pub(crate) part: Option<Part>,
    /// Whether the texts lie on the device: then there is nothing behind the next two.
    pub(crate) on_device: bool,
    /// Whether a copy of text back was begun: before, nothing has come out.
    has_text_out: Cell<bool>,
    input: *const u8,
    output: *mut u8,
    tags: *mut u8,
    accepted: *mut bool,
    borrowed: PhantomData<&'a mut u8>,
}

/// All offsets of texts of `batch` that the host has: none where they lie on the device.
fn texts(batch: &Batch<'_>) -> Range<u64> {
    let offsets = match batch.messages.source {
        Source::Apart(_) | Source::InPlace => batch.messages.offsets,
        Source::OnDevice => &[],
    };
    offsets.first().copied().unwrap_or(0)..offsets.last().copied().unwrap_or(0)
}

/// The offsets of what is zeroed of an output when a device fails at `batch`: all of one that lies apart, and in place what
/// was to be opened, once text `has_come_out` that no tag may vouch for. Until then it is what the caller has sealed, which
/// nobody else may have; other texts in place are left alone.
fn forgotten(batch: &Batch<'_>, has_come_out: bool) -> Range<u64> {
    let is_apart = matches!(batch.messages.source, Source::Apart(_)) && batch.operation != Operation::Hash;
    if is_apart || (has_come_out && batch.operation == Operation::Open) { texts(batch) } else { 0..0 }
}

/// How many messages of `batch` a verdict is on.
fn verdicts(batch: &Batch<'_>) -> usize {
    if batch.operation == Operation::Open { batch.len() } else { 0 }
}

/// Zeroes what a device may have written of `batch`, which it failed at before or after text came out, and accepts no
/// message: verdicts of a batch before may still be there.
pub(crate) fn forget(batch: &Batch<'_>, output: &mut Output<'_>, has_come_out: bool) {
    let Range { start, end } = forgotten(batch, has_come_out);
    let [start, end] = [start, end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    output.bytes[start..end].fill(0);
    output.accepted[..verdicts(batch)].fill(false);
}

impl<'a> Job<'a> {
    /// The job of running `batch` into `output`, which it checks first: on one thread, many offsets would take as long as the
    /// link takes with their texts.
    pub(crate) fn new(batch: &'a Batch<'a>, output: &'a mut Output<'_>) -> Result<Self, BatchError> {
        Ok(Self::of(Checked::by(batch, output, &copy::on_idle_threads)?))
    }

    /// The job of running a batch that has been checked.
    pub(crate) fn of(checked: Checked<'a, 'a, '_>) -> Self {
        let shape = checked.shape();
        let (batch, output) = checked.into_parts();
        Self::checked(batch, output, shape)
    }

    /// The same where the batch's texts are `texts`, on the device.
    pub(crate) fn of_texts(
        batch: &'a Batch<'a>,
        output: &'a mut Output<'_>,
        texts: &DeviceTexts,
    ) -> Result<Self, BatchError> {
        let shape = batch.check_on_device(texts, output)?;
        Ok(Self::checked(batch, output, shape))
    }

    fn checked(batch: &'a Batch<'a>, output: &'a mut Output<'_>, shape: Shape) -> Self {
        let text = output.bytes.as_mut_ptr();
        let input = match batch.messages.source {
            Source::Apart(bytes) => bytes.as_ptr(),
            Source::InPlace | Source::OnDevice => text.cast_const(),
        };
        let on_device = matches!(batch.messages.source, Source::OnDevice);
        let (tags, accepted) = (output.tags.as_mut_ptr(), output.accepted.as_mut_ptr());
        let (output, borrowed) = (text, PhantomData);
        let has_text_out = Cell::new(false);
        Self { batch, shape, part: None, on_device, has_text_out, input, output, tags, accepted, borrowed }
    }

    /// The same where the batch's message is the part `part` of one.
    pub(crate) fn of_part(
        batch: &'a Batch<'a>,
        output: &'a mut Output<'_>,
        part: Part,
    ) -> Result<Self, BatchError> {
        Ok(Self { part: Some(part), ..Self::new(batch, output)? })
    }

    /// Whether the device needs one buffer of text alone: in place, and where no text comes out.
    pub(crate) fn runs_in_place(&self) -> bool {
        self.shape.in_place || self.batch.operation == Operation::Hash
    }

    /// All offsets of texts that the host has: none where they lie on the device.
    pub(crate) fn texts(&self) -> Range<u64> {
        texts(self.batch)
    }

    /// First byte of the input at text offset `at`, which is at most the last that the host has.
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn input(&self, at: u64) -> *const u8 {
        debug_assert!(at <= self.texts().end);
        // SAFETY: the check has shown that the input reaches to the last offset, where the host has it.
        unsafe { self.input.add(at as usize) }
    }

    /// First byte of the output at text offset `at`, which is at most the last that the host has.
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn output(&self, at: u64) -> *mut u8 {
        debug_assert!(at <= self.texts().end);
        // SAFETY: the check has shown that the output reaches to the last offset, where the host has it.
        unsafe { self.output.add(at as usize) }
    }

    /// Copies the input text of `range` to the front of `target`, a staging on node `near`.
    ///
    /// # Panics
    /// If it does not fit.
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn read_input(&self, range: &Range<u64>, target: &mut [u8], near: Option<usize>) {
        let bytes = (range.end - range.start) as usize;
        // SAFETY: the range lies within the texts of the checked batch. Nobody writes there now: the device writes
        // only output of messages whose input was read.
        let source = unsafe { std::slice::from_raw_parts(self.input(range.start), bytes) };
        copy::to_staging(source, &mut target[..bytes], near);
    }

    /// Copies the front of `source`, a staging on node `near`, to the output text of `range`.
    ///
    /// # Panics
    /// If `source` is shorter.
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn write_output(&mut self, range: &Range<u64>, source: &[u8], near: Option<usize>) {
        let bytes = (range.end - range.start) as usize;
        // SAFETY: the range lies within the output, and nobody else uses it now.
        let target = unsafe { std::slice::from_raw_parts_mut(self.output(range.start), bytes) };
        copy::from_staging(&source[..bytes], target, near);
    }

    /// Notes that a copy of text back is begun.
    pub(crate) fn note_text_out(&self) {
        self.has_text_out.set(true);
    }

    /// Whether text may have come out.
    pub(crate) fn has_text_out(&self) -> bool {
        self.has_text_out.get()
    }

    /// Zeroes what a device that failed may have written of the texts, and accepts no message: verdicts may have come
    /// already, or be of a batch before.
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn forget(&mut self) {
        let Range { start, end } = forgotten(self.batch, self.has_text_out());
        // SAFETY: the range lies within the output, and nobody else uses it now.
        unsafe { self.output(start).write_bytes(0, (end - start) as usize) };
        for message in 0..verdicts(self.batch) {
            // SAFETY: the check has shown that there is a verdict for each message.
            unsafe { self.accepted.add(message).write(false) };
        }
    }

    /// Stores what kernels wrote of the messages `messages`: tags or digests, or verdicts, from a staging on node `near`.
    ///
    /// # Panics
    /// If there are fewer results than messages.
    pub(crate) fn write_results(&mut self, messages: &Range<usize>, results: &[u8], near: Option<usize>) {
        if self.batch.operation == Operation::Open {
            for (index, &verdict) in messages.clone().zip(&results[..messages.len()]) {
                // SAFETY: the check has shown that there is a verdict for each message.
                unsafe { self.accepted.add(index).write(verdict != 0) }
            }
            return;
        }
        let stride = self.batch.tag_lengths.stride();
        let rows = &results[..messages.len() * stride];
        // SAFETY: the check has shown that there is a row of `stride` bytes for each message.
        let tags =
            unsafe { std::slice::from_raw_parts_mut(self.tags.add(messages.start * stride), rows.len()) };
        copy::from_staging(rows, tags, near);
        if let TagLengths::Each(lengths) = self.batch.tag_lengths {
            // Kernels write a tag and not its row: what memory of the device held behind it may be somebody's key.
            for (row, &bytes) in tags.chunks_exact_mut(stride).zip(&lengths[messages.clone()]) {
                row[usize::from(bytes)..].fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Algorithm, Cipher, Column, Hash, Messages, Mode};

    use super::*;

    #[test]
    fn what_is_forgotten_is_what_came_out_and_what_no_tag_vouches_for() {
        let offsets = [16, 32, 48];
        let at = |source| Messages { source, offsets: &offsets };
        let (apart, none) = (at(Source::Apart(&[0; 48])), Column::EMPTY);
        let algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
        let all = [apart, at(Source::InPlace), at(Source::OnDevice)];
        for (has_come_out, opened_in_place) in [(true, 16..48), (false, 0..0)] {
            let open = |messages| Batch::open(algorithm, none, none, none, messages, &[]);
            let seal = |messages| Batch::seal(algorithm, none, none, none, messages);
            let of_opened = all.map(|messages| forgotten(&open(messages), has_come_out));
            assert_eq!(of_opened, [16..48, opened_in_place, 0..0], "{has_come_out}");
            let of_sealed = all.map(|messages| forgotten(&seal(messages), has_come_out));
            assert_eq!(of_sealed, [16..48, 0..0, 0..0], "{has_come_out}");
            assert_eq!(forgotten(&Batch::hash(Hash::Sha256, apart, 32), has_come_out), 0..0);
        }
    }
}
