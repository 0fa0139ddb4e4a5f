//! A part with its expected output.

use cipherlane::Operation;
use cipherlane_record::Checks;

use super::part::{Part, Results};
use crate::judge::{JudgeError, Judges};

/// A part, and what must come out.
#[derive(Clone, Debug)]
pub struct Task {
    /// What goes in.
    pub part: Part,
    /// What must come out.
    pub expected: Results,
}

impl Task {
    /// `part`, which encrypts or seals.
    ///
    /// # Errors
    /// If the judges differ or fail.
    pub fn forward(part: Part, judges: &Judges<'_>) -> Result<Self, JudgeError> {
        let expected = judges.compute(&part)?;
        judges.confirm(&part, &expected)?;
        Ok(Self { part, expected })
    }

    /// The way back of `forward`: its ciphertexts go in, and a message with `spoiled` set gets a wrong tag.
    ///
    /// # Errors
    /// If the judges differ or fail.
    pub fn backward(forward: Part, judges: &Judges<'_>, spoiled: &[bool]) -> Result<Self, JudgeError> {
        let sealed = judges.compute(&forward)?;
        let Some(operation) = forward.algorithm.backward() else {
            return Self::forward(forward, judges);
        };
        let plain = forward.texts.clone();
        let mut part = Part { operation, texts: sealed.bytes, tags: sealed.tags, ..forward };
        let mut expected = Results { bytes: plain, ..Results::default() };
        if operation == Operation::Open {
            expected.accepted = vec![true; part.len()];
            for index in (0..part.len()).filter(|&index| spoiled.get(index) == Some(&true)) {
                let tag = part.tag_range(index);
                // Another bit in each message, so that a device that looks at a part of the tag is caught.
                part.tags[tag.start + index / 8 % tag.len()] ^= 1 << (index % 8);
                let text = part.range(index);
                expected.bytes[text].fill(0);
                expected.accepted[index] = false;
            }
        }
        judges.confirm(&part, &expected)?;
        Ok(Self { part, expected })
    }

    /// `part` with a published answer, on which the judges must agree.
    ///
    /// # Errors
    /// If they do not, or fail.
    pub fn published(
        part: Part,
        expected: Results,
        source: &str,
        judges: &Judges<'_>,
    ) -> Result<Self, JudgeError> {
        let task = Self { part, expected };
        let computed = judges.compute(&task.part)?;
        if let Some(index) = (0..task.part.len()).find(|&index| !task.is_right(&computed, index)) {
            return Err(judges.disagreement(source, &task.part, index));
        }
        judges.confirm(&task.part, &task.expected)?;
        Ok(task)
    }

    /// Compares `found` with the expected output.
    #[must_use]
    pub fn check(&self, found: &Results) -> Checks {
        let messages = self.part.len() as u64;
        // Most outputs are right, and equal buffers are quick to see; tags of different lengths lie in rows of
        // which a part is nobody's, so they are compared one by one.
        if *found == self.expected {
            return Checks { messages, planned_rejects: self.planned_rejects(), unexpected: 0 };
        }
        let mut checks = Checks { messages, ..Checks::default() };
        for index in 0..self.part.len() {
            if !self.is_right(found, index) {
                checks.unexpected += 1;
            } else if self.is_planned_reject(index) {
                checks.planned_rejects += 1;
            }
        }
        checks
    }

    /// Whether the text, tag and verdict of message `index` are right.
    fn is_right(&self, found: &Results, index: usize) -> bool {
        let expected = &self.expected;
        let text = if expected.bytes.is_empty() { 0..0 } else { self.part.range(index) };
        let tag = if expected.tags.is_empty() { 0..0 } else { self.part.tag_range(index) };
        found.bytes[text.clone()] == expected.bytes[text]
            && found.tags[tag.clone()] == expected.tags[tag]
            && found.accepted.get(index) == expected.accepted.get(index)
    }

    /// Messages with a planned wrong tag.
    #[must_use]
    pub fn planned_rejects(&self) -> u64 {
        self.expected.accepted.iter().filter(|&&accepted| !accepted).count() as u64
    }

    fn is_planned_reject(&self, index: usize) -> bool {
        self.expected.accepted.get(index) == Some(&false)
    }

    /// Overwrites `results`, so that an output that nobody wrote is a wrong one.
    pub fn scrub(&self, results: &mut Results) {
        invert(&mut results.bytes, &self.expected.bytes);
        invert(&mut results.tags, &self.expected.tags);
        invert(&mut results.accepted, &self.expected.accepted);
    }

    /// Overwrites the results of message `index`.
    pub fn scrub_message(&self, results: &mut Results, index: usize) {
        if !self.expected.bytes.is_empty() {
            let text = self.part.range(index);
            invert(&mut results.bytes[text.clone()], &self.expected.bytes[text]);
        }
        if !self.expected.tags.is_empty() {
            let tag = self.part.tag_range(index);
            invert(&mut results.tags[tag.clone()], &self.expected.tags[tag]);
        }
        if let (Some(found), Some(expected)) =
            (results.accepted.get_mut(index), self.expected.accepted.get(index))
        {
            *found = !expected;
        }
    }
}

/// Makes every item of `found` the opposite of what is expected.
fn invert<T: Copy + std::ops::Not<Output = T>>(found: &mut [T], expected: &[T]) {
    for (found, &expected) in found.iter_mut().zip(expected) {
        *found = !expected;
    }
}
