//! What the link between host and device carries, to hold sessions against.
#![allow(unsafe_code)] // copies that the device makes while the host goes on

use std::time::Duration;

use crate::backend::{Backend, Commands, Fault};

/// Bytes that `backend` copies each way in a second while it copies `input` to the device and as much back to `output`:
/// in pieces of `piece` bytes, a queue for each way. A link may favour one of them; the figure is the mean of both until
/// the first is done. The output is overwritten.
///
/// # Errors
/// If there is no room on the device, or it fails.
///
/// # Panics
/// If a piece has no bytes.
pub fn both_ways<B: Backend>(
    backend: &B,
    input: &[u8],
    output: &mut [u8],
    piece: usize,
) -> Result<f64, Fault> {
    let (to, from) = (backend.allocate(input.len())?, backend.allocate(output.len())?);
    let (there, back) = (backend.queue()?, backend.queue()?);
    Commands { backend, queue: &back }.wipe(&from)?;
    let mut steps = [Vec::new(), Vec::new()];
    let (mut at, mut enqueued) = (0, Ok(()));
    for (from_host, to_host) in input.chunks(piece).zip(output.chunks_mut(piece)) {
        // SAFETY: the buffers are borrowed, and both memories live, until the steps have been waited for, below; each
        // memory is used by one queue.
        let up = unsafe { backend.upload(&there, &to, at, from_host.as_ptr(), from_host.len()) };
        // SAFETY: as above.
        let down = unsafe { backend.download(&back, &from, at, to_host.as_mut_ptr(), to_host.len()) };
        for (steps, step) in steps.iter_mut().zip([up, down]) {
            match step {
                Ok(step) => steps.push(step),
                Err(fault) => enqueued = Err(fault),
            }
        }
        at += from_host.len();
    }
    // All of them, whatever one failed by.
    let waited: Vec<Result<(), Fault>> = steps.iter().flatten().map(|step| backend.wait(step)).collect();
    enqueued?;
    waited.into_iter().collect::<Result<(), Fault>>()?;
    let mut ends = [Vec::new(), Vec::new()];
    for (ends, steps) in ends.iter_mut().zip(&steps) {
        for (step, bytes) in steps.iter().zip(input.chunks(piece).map(<[u8]>::len)) {
            ends.push((backend.time(&steps[0], step)?, bytes));
        }
    }
    Ok(rate(&ends))
}

/// When a piece was there, and its bytes: the last may be shorter than the others.
type End = (Duration, usize);

/// The mean rate of two ways until the first is done.
fn rate(ends: &[Vec<End>; 2]) -> f64 {
    let Some((first, _)) = ends.iter().filter_map(|ends| ends.last()).min() else { return 0.0 };
    let first = first.as_secs_f64();
    let bytes: f64 = ends.iter().map(|ends| done(ends, first)).sum();
    bytes / first / 2.0
}

/// Bytes that are there after `seconds`, with their part of the piece that is under way.
fn done(ends: &[End], seconds: f64) -> f64 {
    let (mut before, mut done) = (0.0, 0.0);
    for &(end, bytes) in ends {
        let (end, bytes) = (end.as_secs_f64(), bytes as f64);
        if end > seconds {
            return done + bytes * (seconds - before) / (end - before);
        }
        (before, done) = (end, done + bytes);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn the_slower_way_counts_until_the_faster_is_done() {
        let ends = |milliseconds: u64, bytes: usize| -> Vec<End> {
            (1..=4).map(|n| (Duration::from_millis(n * milliseconds), bytes)).collect()
        };
        // Four pieces in 40 ms, and two and two thirds of four.
        let found = rate(&[ends(10, 6), ends(15, 6)]);
        assert!((found - (4.0 + 8.0 / 3.0) * 6.0 / 0.040 / 2.0).abs() < 1e-9, "{found}");
        assert!((rate(&[ends(10, 5), ends(10, 5)]) - 500.0).abs() < 1e-9);
        // The last piece is a fifth of the others.
        let mut short = ends(10, 5);
        short[3].1 = 1;
        assert!((rate(&[short.clone(), short]) - 400.0).abs() < 1e-9);
    }

    #[test]
    fn both_ways_are_over_when_their_rate_is_known() {
        let (backend, mut output) = (Fake::new(), [0x33; 1000]);
        assert!(both_ways(&backend, &[7; 1000], &mut output, 300).unwrap() > 0.0);
        assert_eq!((output, backend.under_way()), ([0; 1000], Vec::new()));
    }
}
