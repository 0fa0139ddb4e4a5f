//! Modes of operation over any block cipher and instruction set: a file or a folder each.

mod blocks;
mod body;
pub(crate) mod cbc;
mod counters;
pub(crate) mod ctr;
pub(crate) mod ecb;
mod first_round;
pub(crate) mod gcm;
mod key_each;
pub(crate) mod keys;
mod last_byte;
mod listed;
#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
pub(crate) mod xts;
