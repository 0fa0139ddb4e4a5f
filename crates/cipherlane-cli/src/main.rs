//! The command line of cipherlane.

fn main() {}
