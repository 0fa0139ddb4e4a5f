//! Whether a device is right: published answers, and batches of all shapes against the readable reference.
//!
//! ```
//! use cipherlane::verify::{exam, vectors};
//! use cipherlane::{Engine, Wish};
//!
//! let engine = Engine::new();
//! let tally = exam::run(&**engine.device("cpu")?, &Wish::default(), &vectors::known())?;
//! assert_eq!(tally.total().failed, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use cipherlane_reference::{Reference, conformance, exam, vectors};
