//! What compilers made of kernels: their instructions, counted.
//!
//! Disassemblers are other people's programs ([`tool`]); [`listing`] reads what they print.

mod listing;
mod tool;

pub(crate) use listing::{Counts, Listing, Nest};
pub(crate) use tool::{Nvdisasm, objdump_function};
