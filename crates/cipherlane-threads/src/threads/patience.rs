//! Polling, as long as it pays.

use std::time::{Duration, Instant};

/// How long a thread polls.
pub(super) struct Patience {
    poll: Duration,
    since: Instant,
    polls: u32,
}

/// Polls from one look at the clock to the next, which takes longer than many of them.
pub(super) const LOOKS: u32 = 16;

impl Patience {
    pub(super) fn new(poll: Duration) -> Self {
        Self { poll, since: Instant::now(), polls: 0 }
    }

    /// Pauses, if it is not over.
    pub(super) fn lasts(&mut self) -> bool {
        self.polls = self.polls.wrapping_add(1);
        let looks = self.polls.is_multiple_of(LOOKS);
        let lasts = if looks { self.since.elapsed() < self.poll } else { !self.poll.is_zero() };
        if lasts {
            std::hint::spin_loop();
        }
        lasts
    }
}
