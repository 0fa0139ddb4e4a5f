//! Ctrl-C, SIGTERM and SIGHUP: how a program is asked to end.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{SigSet, Signal};

/// Signals that come as fast as this upon each other are one request: `timeout` signals a program, and a moment later the
/// group of processes that it is in.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// Has `end` be called on each request to end.
pub(crate) fn on_request(mut end: impl FnMut() + Send + 'static) -> Result<()> {
    let mut requests = Requests::default();
    let handler = move || {
        if requests.is_new(Instant::now()) {
            end();
        }
    };
    ctrlc::set_handler(handler).context("Ctrl-C cannot be caught")
}

/// The requests so far.
#[derive(Debug, Default)]
struct Requests {
    last: Option<Instant>,
}

impl Requests {
    /// Whether a signal that comes `now` is a request of its own.
    fn is_new(&mut self, now: Instant) -> bool {
        let is_new = self.last.is_none_or(|last| now.duration_since(last) >= ONE_REQUEST);
        if is_new {
            self.last = Some(now);
        }
        is_new
    }
}

/// Has a file that grows beyond what the process may write fail like any other, so that what is half-written is removed, and
/// requests to end stay ignored where whoever started this program ignores them: `nohup` does SIGHUP, and a script SIGINT
/// for what it starts with `&`. Whatever handlers are installed later, they are never delivered, to this program or to what
/// it starts. To be called before there is a second thread, since threads and programs inherit what is held up here.
pub(crate) fn hold_up() {
    let ignored = ignored();
    let requests = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter();
    let held_up =
        requests.filter(|&signal| ignored & (1 << (signal as u32 - 1)) != 0).chain([Signal::SIGXFSZ]);
    // Where that fails they end the program, which loses nothing.
    let _ = SigSet::from_iter(held_up).thread_block();
}

/// The signals that are ignored, where the system tells: a bit each, the lowest for that of number 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_of_one_moment_are_one_request() {
        let mut requests = Requests::default();
        let start = Instant::now();
        let is_new: Vec<bool> =
            [0, 1, 499, 500, 999, 2000].map(|ms| requests.is_new(start + Duration::from_millis(ms))).to_vec();
        assert_eq!(is_new, [true, false, false, true, false, true]);
    }
}
