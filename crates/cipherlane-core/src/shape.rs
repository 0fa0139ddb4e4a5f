//! The sizes of a batch: all that a device needs to plan, and nothing of its contents.

use crate::algorithm::{Algorithm, Operation};

/// Sizes of a batch, never its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The cipher in its mode, or the hash function.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Number of messages.
    pub messages: usize,
    /// Bytes of all messages together, without AAD and tags.
    pub bytes: u64,
    /// Bytes of the longest message.
    pub longest: u64,
    /// Bytes that are worked on beside the texts of all messages together: AAD, which counts for each message where they
    /// share it, and what digests have beyond [`Hash::usual_digest_bytes`](crate::Hash::usual_digest_bytes). Threads of the
    /// CPU take them with whole messages: those of one message are one thread's, however many. GPUs plan without them.
    pub beside: u64,
    /// Whether all messages have one key.
    pub shared_key: bool,
    /// Whether the input lies in the output buffer.
    pub in_place: bool,
}

impl Shape {
    /// The shape of `messages` equal messages of `message_bytes` bytes, out of place, without AAD and with usual digests
    /// ([`Shape::beside`]). More than 2^64 - 1 bytes, which no batch has, count as that.
    #[must_use]
    pub const fn uniform(
        algorithm: Algorithm,
        operation: Operation,
        messages: usize,
        message_bytes: u64,
        shared_key: bool,
    ) -> Self {
        Self {
            algorithm,
            operation,
            messages,
            bytes: (messages as u64).saturating_mul(message_bytes),
            longest: message_bytes,
            beside: 0,
            shared_key,
            in_place: false,
        }
    }

    /// Whether all messages are as long as the longest.
    #[must_use]
    pub const fn is_uniform(&self) -> bool {
        match self.longest.checked_mul(self.messages as u64) {
            Some(bytes) => bytes == self.bytes,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lengths_add_up() {
        let algorithm = "aes-128-gcm".parse().unwrap();
        let shape = Shape::uniform(algorithm, Operation::Seal, 5, 128, true);
        assert!(shape.is_uniform());
        assert!(!Shape { bytes: 5 * 128 - 1, ..shape }.is_uniform());
        assert!(!Shape { messages: 6, ..shape }.is_uniform());
        assert!(Shape { messages: 0, bytes: 0, longest: 0, ..shape }.is_uniform());
    }
}
