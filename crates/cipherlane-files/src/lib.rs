//! Files in the format of Tink's streaming AEAD, AES-GCM-HKDF
//! (<https://developers.google.com/tink/streaming-aead/aes_gcm_hkdf_streaming>), which Tink's libraries for Java, C++, Go and
//! Python read and write.
//!
//! A file is cut into segments, each an AES-GCM message under a key that is the file's own, so that all lanes and
//! threads have something to do, on a GPU as well. The number of a segment and whether it is the last are in its nonce:
//! segments cannot be moved, and a file cannot be cut.
//!
//! ```
//! use cipherlane::Engine;
//! use cipherlane_files::{Keyset, Params, open, seal};
//!
//! let (engine, keyset) = (Engine::new(), Keyset::generate(Params::AES256_GCM_HKDF_1MB)?);
//! let (mut sealed, mut opened) = (Vec::new(), Vec::new());
//! seal(&engine, &keyset, b"backup of Monday", &b"all that there is"[..], &mut sealed)?;
//! open(&engine, &keyset, b"backup of Monday", &sealed[..], &mut opened)?;
//! assert_eq!(opened, b"all that there is");
//! assert!(open(&engine, &keyset, b"backup of Tuesday", &sealed[..], &mut Vec::new()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`open`] writes segments as they turn out to be right, before it has seen the last one: what it has written is
//! worth nothing until it has returned without an error. A program that writes files does so under another name.

#![forbid(unsafe_code)]

mod error;
mod header;
mod keyset;
mod pipeline;
mod run;
#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests;
mod window;

pub use error::Error;
pub use keyset::{Hkdf, Key, Keyset, Params};
pub use run::{open, seal};
