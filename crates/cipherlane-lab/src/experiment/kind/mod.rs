//! Kinds of experiments that make observations, one file each.

pub(super) mod energy;
pub(super) mod load;
pub(super) mod offload;
pub(super) mod thermal;
