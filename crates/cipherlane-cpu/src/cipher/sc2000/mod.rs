//! SC2000.

pub(super) mod circuits;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sliced;
pub(super) mod tables;
#[cfg(test)]
mod tests;
