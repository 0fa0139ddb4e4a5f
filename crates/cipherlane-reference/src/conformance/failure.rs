//! A result that is wrong.

use cipherlane_core::{Device, Wish};
use thiserror::Error;

/// A result that is wrong: which kernel, on which case, and where it departs from what was expected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} on {kernel}: {case} (seed {seed:#x}): {finding}")]
pub struct Failure {
    /// Algorithm and operation: `aes-128-gcm open`.
    pub what: String,
    /// The kernel with its threads and chunk, or the device.
    pub kernel: String,
    /// What was tried.
    pub case: String,
    /// Seed of the case's keys, nonces and texts.
    pub seed: u64,
    /// What was wrong: the first byte that differs, expected and found bytes, or an error.
    pub finding: String,
}

impl Failure {
    pub(super) fn nothing_offered(device: &dyn Device, wishes: &[Wish]) -> Self {
        let wishes: Vec<String> = wishes.iter().map(|wish| format!("{wish:?}")).collect();
        Self {
            what: "any algorithm".to_owned(),
            kernel: device.info().id.clone(),
            case: wishes.join(" or "),
            seed: 0,
            finding: format!("there is no such kernel; tiers here: {}", device.info().tiers.join(", ")),
        }
    }
}
