//! A batch with its results, and the comparison of what a session makes of it.

use std::ops::Range;

use cipherlane_core::{
    BLOCK, Batch, Device, DeviceError, Messages, Operation, Output, Session, Shape, Source, Wish,
};

use super::draft::{Damage, Draft};
use crate::Reference;
use crate::random::Random;
use crate::rows::{Rows, flip, item, offsets};
use crate::vectors::hex;

/// A draft with its texts on both sides of the cipher.
pub(super) struct Trial {
    draft: Draft,
    offsets: Vec<u64>,
    /// Both texts fill their buffer up to the last offset. What lies before the first offset is noise.
    plain: Vec<u8>,
    coded: Vec<u8>,
    /// Rows of tags.
    tags: Vec<u8>,
    /// Messages that must be rejected.
    rejected: Vec<bool>,
}

/// Bytes behind each output that must not change.
pub(super) const GUARD: usize = 67;

impl Trial {
    /// Draws texts, has the reference encrypt them, and damages what shall be rejected.
    pub(super) fn new(mut draft: Draft, random: &mut Random) -> Result<Self, DeviceError> {
        let damaged = std::mem::take(&mut draft.damaged);
        let messages = draft.lengths.len();
        let mut trial = Self {
            offsets: offsets(draft.lead as u64, draft.lengths.iter().copied()),
            plain: random.bytes(draft.lead + draft.lengths.iter().sum::<usize>()),
            coded: Vec::new(),
            tags: Vec::new(),
            rejected: vec![false; messages],
            draft,
        };
        trial.encrypt()?;
        for (message, damage) in damaged {
            trial.damage(message, damage, random);
        }
        Ok(trial)
    }

    fn encrypt(&mut self) -> Result<(), DeviceError> {
        let operation = self.draft.algorithm.forward();
        let mut coded = self.plain.clone();
        let mut tags = vec![0; self.rejected.len() * self.stride()];
        let reference = Reference::new();
        let shape = Shape::uniform(self.draft.algorithm, operation, self.rejected.len(), 0, false);
        let plan = reference.plan(&shape, &Wish::default())?;
        let mut output = Output { bytes: &mut coded, tags: &mut tags, accepted: &mut [] };
        reference.open(&plan)?.run(&self.batch(operation, Source::InPlace), &mut output)?;
        (self.coded, self.tags) = (coded, tags);
        Ok(())
    }

    /// Whether the input is to lie in the output buffer from now on.
    pub(super) const fn put_in_place(&mut self, in_place: bool) {
        self.draft.in_place = in_place;
    }

    /// Flips a bit so that a message must be rejected, and with it all that share what was flipped.
    pub(super) fn damage(&mut self, message: usize, damage: Damage, random: &mut Random) {
        let tag = self.tag(message);
        let (done, rows) = match damage {
            Damage::Key => (self.draft.keys.flip(message, random), Some(&self.draft.keys)),
            Damage::Nonce => (self.draft.nonces.flip(message, random), Some(&self.draft.nonces)),
            Damage::Aad => (self.draft.aad.flip(message, random), Some(&self.draft.aad)),
            Damage::Text => (flip(&mut self.coded[item(&self.offsets, message)], random), None),
            Damage::Tag => (flip(&mut self.tags[tag], random), None),
        };
        if done && matches!(rows, Some(Rows::Shared(_))) {
            self.rejected.fill(true);
        }
        self.rejected[message] |= done;
    }

    fn stride(&self) -> usize {
        self.draft.tag_lengths.lengths().stride()
    }

    /// Where the tag of a message lies.
    fn tag(&self, message: usize) -> Range<usize> {
        let start = message * self.stride();
        start..start + self.draft.tag_lengths.lengths().get(message)
    }

    fn batch<'a>(&'a self, operation: Operation, source: Source<'a>) -> Batch<'a> {
        Batch {
            algorithm: self.draft.algorithm,
            operation,
            keys: self.draft.keys.column(),
            nonces: self.draft.nonces.column(),
            aad: self.draft.aad.column(),
            messages: Messages { source, offsets: &self.offsets },
            tag_lengths: self.draft.tag_lengths.lengths(),
            tags: if operation == Operation::Open { &self.tags } else { &[] },
        }
    }

    /// Runs the batch on `session`. `noise` draws what the output buffers hold before.
    ///
    /// # Errors
    /// What came out wrong.
    pub(super) fn run(
        &self,
        session: &mut dyn Session,
        operation: Operation,
        noise: &mut Random,
    ) -> Result<(), String> {
        let end = self.plain.len();
        let (from, to) =
            if operation.is_forward() { (&self.plain, &self.coded) } else { (&self.coded, &self.plain) };
        let mut bytes = noise.bytes(end + GUARD);
        let mut expected = bytes.clone();
        expected[self.draft.lead..end].copy_from_slice(&to[self.draft.lead..]);
        for message in (0..self.rejected.len()).filter(|&message| self.rejected[message]) {
            expected[item(&self.offsets, message)].fill(0);
        }
        let source = if self.draft.in_place {
            bytes[self.draft.lead..end].copy_from_slice(&from[self.draft.lead..]);
            Source::InPlace
        } else {
            Source::Apart(from)
        };
        let (seals, opens) = (operation == Operation::Seal, operation == Operation::Open);
        let mut tags = noise.bytes(if seals { self.tags.len() + GUARD } else { 0 });
        let guard = tags.clone();
        let mut accepted: Vec<bool> = if opens { self.rejected.clone() } else { Vec::new() };
        if opens {
            accepted.extend([false, true, false]);
        }
        let mut output = Output { bytes: &mut bytes, tags: &mut tags, accepted: &mut accepted };
        session.run(&self.batch(operation, source), &mut output).map_err(|error| error.to_string())?;
        if opens {
            self.compare_verdicts(&accepted)?;
        }
        self.compare_texts(&expected, &bytes)?;
        if seals { self.compare_tags(&guard, &tags) } else { Ok(()) }
    }

    fn compare_verdicts(&self, accepted: &[bool]) -> Result<(), String> {
        for (message, (&accepted, &rejected)) in accepted.iter().zip(&self.rejected).enumerate() {
            if accepted == rejected {
                let verdict = if accepted { "a wrong tag was accepted" } else { "a right tag was rejected" };
                return Err(format!("{}: {verdict}", self.describe(message)));
            }
        }
        if accepted[self.rejected.len()..] == [false, true, false] {
            Ok(())
        } else {
            Err("a verdict behind the last message changed".to_owned())
        }
    }

    fn compare_texts(&self, expected: &[u8], found: &[u8]) -> Result<(), String> {
        let Some(at) = first_difference(expected, found) else { return Ok(()) };
        let message = (0..self.rejected.len()).find(|&message| item(&self.offsets, message).contains(&at));
        let place = match message {
            Some(message) => {
                let byte = at - item(&self.offsets, message).start;
                let rejected = if self.rejected[message] { ", rejected" } else { "" };
                format!("{}{rejected}: byte {byte}", self.describe(message))
            }
            None => format!("byte {at} of the output, outside of all messages,"),
        };
        Err(format!("{place} {}", difference(expected, found, at)))
    }

    fn compare_tags(&self, guard: &[u8], found: &[u8]) -> Result<(), String> {
        for message in 0..self.rejected.len() {
            // Rows and not tags alone: what is behind a short tag goes to the caller, too.
            let row = message * self.stride()..(message + 1) * self.stride();
            let (expected, found) = (&self.tags[row.clone()], &found[row]);
            if let Some(at) = first_difference(expected, found) {
                return Err(format!(
                    "{}: byte {at} of its tag's row {}",
                    self.describe(message),
                    difference(expected, found, at)
                ));
            }
        }
        match first_difference(&guard[self.tags.len()..], &found[self.tags.len()..]) {
            Some(at) => Err(format!("byte {at} behind the last tag changed")),
            None => Ok(()),
        }
    }

    fn describe(&self, message: usize) -> String {
        format!("message {message} of {} ({} bytes)", self.rejected.len(), self.draft.lengths[message])
    }
}

pub(super) fn first_difference(expected: &[u8], found: &[u8]) -> Option<usize> {
    expected.iter().zip(found).position(|(a, b)| a != b)
}

pub(super) fn difference(expected: &[u8], found: &[u8], at: usize) -> String {
    let show = |bytes: &[u8]| hex::encode(&bytes[at..bytes.len().min(at + BLOCK)]);
    format!("expected {}.., found {}..", show(expected), show(found))
}
