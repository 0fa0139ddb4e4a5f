//! Kinds of experiments that make observations, one file each.

pub(super) mod breakdown;
pub(super) mod ceilings;
pub(super) mod ciphers;
pub(super) mod compilers;
pub(super) mod cores;
pub(super) mod datatypes;
pub(super) mod disassembly;
pub(super) mod energy;
pub(super) mod findings;
pub(super) mod generations;
pub(super) mod grid;
pub(super) mod instructions;
pub(super) mod languages;
pub(super) mod load;
pub(super) mod mix;
pub(super) mod offload;
pub(super) mod projection;
pub(super) mod simd;
pub(super) mod streams;
pub(super) mod thermal;
pub(super) mod threads;
