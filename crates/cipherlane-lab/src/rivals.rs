//! Other libraries as contenders: those that this build and this machine have, and why the others are absent.

pub use cipherlane_rivals::{Absent, absent, available};
