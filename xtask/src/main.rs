//! What CI and developers run.

fn main() {}
