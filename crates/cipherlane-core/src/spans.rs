//! Where the time of one run went.

use std::time::Duration;

/// Times of one run. The same four names on every device: event times on a GPU, the monotonic clock on a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// Moving the batch to where it is computed; zero where it already lies there.
    pub load: Duration,
    /// Computing, key set-up of the batch included.
    pub execute: Duration,
    /// Moving the results back; zero where they are used in place.
    pub store: Duration,
    /// From call to return.
    pub wall: Duration,
}
