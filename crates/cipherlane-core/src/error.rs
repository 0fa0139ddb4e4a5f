//! Errors. Each names the remedy.

use thiserror::Error;

use crate::algorithm::{Algorithm, Operation};

/// A batch whose parts do not fit together. Nothing was read or written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BatchError {
    /// The operation is not one of the algorithm's.
    #[error("{algorithm} cannot {operation}; it can {}", listed(*algorithm))]
    Operation {
        /// The algorithm of the batch.
        algorithm: Algorithm,
        /// The operation of the batch.
        operation: Operation,
    },
    /// The session was opened for something else.
    #[error("this session runs {session}, the batch asks for {batch}; open a session for it")]
    OtherSession {
        /// Algorithm and operation of the session.
        session: String,
        /// Algorithm and operation of the batch.
        batch: String,
    },
    /// Offsets fall or leave their buffer.
    #[error(
        "the offsets of {what} must have one entry more than there are items, never fall and end within the {bytes} bytes of their buffer"
    )]
    Offsets {
        /// Whose offsets.
        what: &'static str,
        /// Length of their buffer.
        bytes: usize,
    },
    /// A column has not one row per message.
    #[error("{messages} messages need {messages} {what}, one row each{}", or_shared(what))]
    Rows {
        /// Which column.
        what: &'static str,
        /// Messages of the batch.
        messages: usize,
    },
    /// Tags, or their lengths, are not one per message.
    #[error("{messages} messages need {messages} {what}, one each")]
    Tags {
        /// Which of them.
        what: &'static str,
        /// Messages of the batch.
        messages: usize,
    },
    /// A key, nonce or tag has the wrong length.
    #[error("{algorithm} takes {what} of {wanted} bytes, message {message} has {found}")]
    Width {
        /// The algorithm of the batch.
        algorithm: Algorithm,
        /// What has the wrong length.
        what: &'static str,
        /// Which lengths are right.
        wanted: String,
        /// First message at fault.
        message: usize,
        /// Its length in bytes.
        found: usize,
    },
    /// Data that the algorithm has no use for.
    #[error("{algorithm} takes no {what}; leave it empty")]
    Unused {
        /// The algorithm of the batch.
        algorithm: Algorithm,
        /// What is too much.
        what: &'static str,
    },
    /// Messages that would be encrypted under one key and one nonce, which gives them away (SP 800-38D appendix A).
    #[error(
        "{messages} messages share a key and a nonce, which gives away their texts in {algorithm}; give each message its own nonce"
    )]
    SharedNonce {
        /// The algorithm of the batch.
        algorithm: Algorithm,
        /// How many were found: all of the batch, or the first two that meet.
        messages: usize,
    },
    /// A message whose length the mode does not take.
    #[error("{algorithm} takes messages of {wanted}, message {message} has {found} bytes")]
    Length {
        /// The algorithm of the batch.
        algorithm: Algorithm,
        /// Which lengths are right.
        wanted: &'static str,
        /// First message at fault.
        message: usize,
        /// Its length in bytes.
        found: u64,
    },
    /// Texts on a device, where those of the host are wanted.
    #[error(
        "the texts lie in the memory of a device, where no session takes them: open a `resident` of that device and `bind` it to them"
    )]
    OnDevice,
    /// Texts of the host, where those on a device are wanted.
    #[error(
        "the texts lie in the memory of the host: name `Source::OnDevice` to have them run where the device has them, or `load` them"
    )]
    OnHost,
    /// An output buffer of the wrong size.
    #[error("the output needs {wanted} {what}, it has {found}")]
    Output {
        /// Which buffer, and its unit.
        what: &'static str,
        /// Least size that fits.
        wanted: usize,
        /// The size it has.
        found: usize,
    },
}

/// The other way to hold rows, of what messages may share.
fn or_shared(what: &str) -> &'static str {
    // Under one nonce texts give each other away: GCM refuses it, and no other mode is the better for it.
    if what == "nonces" { "" } else { ", or one shared row" }
}

fn listed(algorithm: Algorithm) -> String {
    algorithm.operations().iter().map(|operation| operation.name()).collect::<Vec<_>>().join(" and ")
}

/// A plan that the device cannot offer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Unsupported {
    /// The device has no kernel for this.
    #[error("{device} does not offer {what}; it offers {}", offered(known))]
    Kernel {
        /// The device.
        device: String,
        /// What was asked for.
        what: String,
        /// What there is instead.
        known: Vec<String>,
    },
    /// This CPU lacks the instructions of the tier.
    #[error("tier {tier} needs {missing}, which this CPU lacks; available here: {}", offered(known))]
    Missing {
        /// The tier that was asked for.
        tier: String,
        /// Instruction sets that are missing.
        missing: String,
        /// Tiers that there are.
        known: Vec<String>,
    },
    /// The tier is switched off by the environment.
    #[error("tier {tier} is switched off by {variable}; unset it to use the tier")]
    SwitchedOff {
        /// The tier that was asked for.
        tier: String,
        /// The environment variable.
        variable: String,
    },
    /// A number outside its range.
    #[error("{what} must be {wanted}, not {found}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The range.
        wanted: String,
        /// What was given.
        found: usize,
    },
}

fn offered(known: &[String]) -> String {
    if known.is_empty() { "nothing like it".to_owned() } else { known.join(", ") }
}

/// Why a session could not be opened or a batch not be run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// The batch is not well formed.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The plan is not one of the device's.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The device failed.
    #[error("{device}: {reason}")]
    Failed {
        /// The device.
        device: String,
        /// What happened, and what helps.
        reason: String,
    },
    /// Memory that cannot be used as it is meant to be.
    #[error("{device}: {reason}")]
    Memory {
        /// The device.
        device: String,
        /// What does not fit, and what would.
        reason: String,
    },
    /// The device gave an output that is known to be wrong.
    #[error("{device}: {what} gives a wrong output: do not use it, and report it")]
    WrongOutput {
        /// The device.
        device: String,
        /// The kernel, and how it was launched.
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shared_nonce_is_offered() {
        let error = |what| BatchError::Rows { what, messages: 2 }.to_string();
        assert_eq!(error("nonces"), "2 messages need 2 nonces, one row each");
        assert_eq!(error("keys"), "2 messages need 2 keys, one row each, or one shared row");
    }
}
