//! Modes of operation over any block cipher and instruction set: one file each.
