//! What a run did to messages, in all: the sums that study 000 shows while it runs and at the head of its log.

use std::collections::BTreeMap;

use cipherlane::{Algorithm, UnknownName};
use cipherlane_record::Measurement;
use serde::Serialize;

use crate::workload::Workload;

/// Sums over all timed passes.
///
/// They count what went through the device. What of it was compared with the expected outputs is
/// [`cipherlane_record::Checks`]: after each sample, all outputs of its last pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Messages that were sealed, encrypted or hashed.
    pub sealed: u64,
    /// Messages that were opened or decrypted, and whose tag, where there is one, is right.
    pub opened: u64,
    /// Messages with a planned wrong tag.
    pub planned_rejects: u64,
    /// Messages by the bits of their key; those of a hash have none.
    pub by_key_bits: BTreeMap<usize, u64>,
    /// Bytes of message text.
    pub bytes: u64,
}

impl Totals {
    /// Those of `passes` passes over `workload`.
    #[must_use]
    pub fn of_workload(workload: &Workload, passes: u64) -> Self {
        let mut totals = Self::default();
        for task in &workload.tasks {
            let (messages, bytes) = (task.part.len() as u64, task.part.texts.len() as u64);
            totals.add(
                task.part.algorithm,
                task.part.operation.is_forward(),
                [passes * messages, passes * task.planned_rejects(), passes * bytes],
            );
        }
        totals
    }

    /// Those of a row, by its samples and parts.
    ///
    /// # Errors
    /// If the row names an algorithm that there is not here.
    pub fn of_row(row: &Measurement) -> Result<Self, UnknownName> {
        let passes = row.samples.len() as u64 * row.passes_per_sample;
        let mut totals = Self::default();
        for part in &row.parts {
            let operation: cipherlane::Operation = part.operation.parse()?;
            totals.add(
                part.algorithm.parse()?,
                operation.is_forward(),
                [passes * part.messages, passes * part.planned_rejects, passes * part.bytes],
            );
        }
        Ok(totals)
    }

    /// Messages of every kind.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.sealed + self.opened + self.planned_rejects
    }

    fn add(&mut self, algorithm: Algorithm, forward: bool, [messages, rejects, bytes]: [u64; 3]) {
        if forward {
            self.sealed += messages;
        } else {
            self.opened += messages - rejects;
            self.planned_rejects += rejects;
        }
        if let Some(cipher) = algorithm.cipher() {
            *self.by_key_bits.entry(8 * cipher.key_bytes()).or_default() += messages;
        }
        self.bytes += bytes;
    }
}
