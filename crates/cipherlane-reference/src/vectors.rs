//! Published test vectors: their files, read into [`Case`]s that [`crate::exam`] puts to a device.

pub mod case;
pub mod digests;
pub mod error;
pub mod files;
pub mod hex;
pub mod known;
pub mod ntt;
pub mod rsp;
pub mod set;
pub mod wycheproof;

pub use case::{Case, Expectation, Start};
pub use error::VectorError;
pub use files::{Format, SourceFile, directory, find, gcm_records, parse, parse_file};
pub use known::known;
pub use set::{FETCHED, Set};
