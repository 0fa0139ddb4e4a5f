//! Small programs of ours in many languages, built by whatever toolchains are here and raced against each other.
//!
//! Every program prints a checksum and the seconds that its work took by its own monotonic clock, without start-up. The
//! checksums of a race must agree.

mod race;
mod recipe;
mod tool;

pub(super) use race::{Entry, Figure, Race, Single};
pub(super) use recipe::{Recipe, Workshop};
pub(super) use tool::{CLANG, CPP, CSHARP, GCC, GO, JAVA, JAVAC, NODE, PYTHON, RUSTC, Tool};
