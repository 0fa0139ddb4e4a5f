//! Published test vectors: their files, read into [`Case`]s that [`crate::exam`] puts to a device.

pub mod case;
pub mod error;
pub mod files;
pub mod hex;
pub mod known;
pub mod rsp;
pub mod wycheproof;

pub use case::{Case, Expectation, Start};
pub use error::VectorError;
pub use files::{Format, SourceFile, directory, find, gcm_records, parse_file};
pub use known::known;
