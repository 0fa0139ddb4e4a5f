//! Other libraries as devices, to measure and to test against.
