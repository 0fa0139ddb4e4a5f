//! Why a file cannot be sealed or opened.

use std::io;

use cipherlane::DeviceError;
use thiserror::Error;

/// Why a file cannot be sealed or opened.
#[derive(Debug, Error)]
pub enum Error {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[source] io::Error),
    /// What comes of it cannot be written.
    #[error("the result cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The keyset is not one that can be used here.
    #[error("the keyset cannot be used: {0}")]
    Keyset(String),
    /// The operating system gave no random bytes.
    #[error("the system has no random bytes: {0}")]
    Random(String),
    /// No key of the keyset opens the first segment.
    #[error(
        "no key of the keyset opens it: it was sealed under another key or with other associated data, or its first segment, \
         in a short file all of it, was changed or cut"
    )]
    NoKey,
    /// A segment is not what was sealed at this place.
    #[error("segment {segment} is not what was sealed there: the file was changed, or its end is missing")]
    Rejected {
        /// The number of the segment, from 0.
        segment: u64,
    },
    /// More segments than a nonce can count.
    #[error("it has more than {} segments; take a key with longer ones", 1_u64 << 32)]
    TooLong,
    /// The device failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
}
