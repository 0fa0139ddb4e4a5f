//! Other architectures and systems: there are no single steps, and no probes are assembled.

use super::{Cost, Work};

/// There is none.
pub(crate) enum Probe {}

impl Probe {
    /// Never called: there is none.
    pub(crate) const fn disturbed(&mut self) -> Result<f64, String> {
        match *self {}
    }
}

/// Says so.
///
/// # Errors
/// Always.
pub(crate) fn cost(_: [Work<'_>; 2], _: usize) -> Result<(Cost, Probe), String> {
    Err("instructions are counted by single steps on x86-64 Linux alone".to_owned())
}

/// None.
pub(crate) fn clocks_of(_: &[(&'static str, f64)], _: u32) -> Option<f64> {
    None
}
