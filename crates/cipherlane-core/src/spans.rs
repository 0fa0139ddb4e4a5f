//! Where the time of one run went: as a whole, and stream by stream.

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

/// Times of one run on one of the streams that a session keeps busy, by the device's own events.
///
/// A stream does one thing after the other, so that its three times never overlap, and are together no longer than the
/// run. Streams run side by side: their sum may be longer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSpans {
    /// The device by its identifier: `cuda:0`.
    pub device: String,
    /// The stream's number there, from 0.
    pub stream: usize,
    /// How much of the batch went through it: groups of messages, and pieces of messages that were cut.
    pub chunks: usize,
    /// Moving chunks, with their keys and nonces, to the device.
    pub load: Duration,
    /// Computing.
    pub execute: Duration,
    /// Moving results back.
    pub store: Duration,
}

impl StreamSpans {
    /// Stream `stream` of `device`, through which nothing went yet.
    #[must_use]
    pub fn idle(device: &str, stream: usize) -> Self {
        Self { device: device.to_owned(), stream, ..Self::default() }
    }

    /// Forgets what went through.
    pub const fn clear(&mut self) {
        (self.chunks, self.load, self.execute, self.store) =
            (0, Duration::ZERO, Duration::ZERO, Duration::ZERO);
    }

    /// Adds what went through the same stream in another run.
    pub fn add(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.load += other.load;
        self.execute += other.execute;
        self.store += other.store;
    }

    /// The three times together: how long the stream had something to do.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.load + self.execute + self.store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_are_forgotten() {
        let time = Duration::from_micros;
        let idle = StreamSpans::idle("cuda:0", 3);
        let one = StreamSpans { chunks: 2, load: time(5), execute: time(7), store: time(11), ..idle.clone() };
        let mut both = one.clone();
        both.add(&one);
        assert_eq!((both.chunks, both.busy()), (4, time(46)));
        both.clear();
        assert_eq!(both, idle);
    }
}
