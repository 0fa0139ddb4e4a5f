//! The clock that the core runs at, measured: frequency files are absent in virtual machines and false under
//! turbo, but a chain of additions, each of which needs the one before, runs at one a cycle on every core.

#![allow(unsafe_code)] // inline assembly: a compiler would fold the chain into one multiplication

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Additions of one timed chain. 20,000 last 5 microseconds at 4 GHz: long against the clock's resolution, short
/// enough that most chains run without an interrupt.
const ADDITIONS: u32 = 20_000;
/// Chains timed; the fastest counts, for nothing but the core's clock makes a chain faster.
const CHAINS: usize = 100;
/// Chains behind work of several threads. They take less time than these poll for their next call, so that all cores are
/// still awake, and the clock is that of all of them at work.
const CHAINS_BEHIND: usize = 5;

/// Cycles per second of the core that this runs on, or why it is not known.
///
/// # Errors
/// Where there is no chain for this architecture.
pub fn core_clock_hertz() -> Result<f64, String> {
    fastest_of(CHAINS)
}

/// The same right behind work whose threads are still awake: a core alone runs at a higher clock than all of them.
///
/// # Errors
/// Where there is no chain for this architecture.
pub(crate) fn behind_work() -> Result<f64, String> {
    fastest_of(CHAINS_BEHIND)
}

/// The same by `chains` chains, each of which takes some 5 microseconds: for a look in the middle of other work, when
/// little time may pass.
///
/// # Errors
/// Where there is no chain for this architecture.
pub(crate) fn fastest_of(chains: usize) -> Result<f64, String> {
    let best = (0..chains).map(|_| time_chain()).collect::<Result<Vec<_>, _>>()?.into_iter().min();
    let look = (0..chains).map(|_| Instant::now().elapsed()).min().unwrap_or_default();
    // A look at the clock is no part of a chain, and takes a time that counts beside one.
    best.map(|best| best.saturating_sub(look))
        .filter(|best| !best.is_zero())
        .map(|best| f64::from(ADDITIONS) / best.as_secs_f64())
        .ok_or_else(|| "the monotonic clock did not move during a chain of additions".to_owned())
}

/// CPU time that this thread has used.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Time of one chain. Sixteen additions a turn hide the loop's own two instructions, which run beside the chain.
///
/// The addend lies in a register: recent cores do additions of small constants while renaming, in no time.
#[cfg(target_arch = "x86_64")]
fn time_chain() -> Result<Duration, String> {
    let start = Instant::now();
    // SAFETY: registers only, all of them declared; flags are clobbered by default.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {sum}, {addend}",
            ".endr",
            "sub {turns:e}, 1",
            "jnz 2b",
            sum = inout(reg) 1_u64 => _,
            addend = in(reg) 3_u64,
            turns = inout(reg) ADDITIONS / 16 => _,
            options(nomem, nostack),
        );
    }
    Ok(start.elapsed())
}

/// Time of one chain.
#[cfg(target_arch = "aarch64")]
fn time_chain() -> Result<Duration, String> {
    let start = Instant::now();
    // SAFETY: registers only, all of them declared; flags are clobbered by default.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {sum}, {sum}, {addend}",
            ".endr",
            "subs {turns:w}, {turns:w}, #1",
            "b.ne 2b",
            sum = inout(reg) 1_u64 => _,
            addend = in(reg) 3_u64,
            turns = inout(reg) ADDITIONS / 16 => _,
            options(nomem, nostack),
        );
    }
    Ok(start.elapsed())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn time_chain() -> Result<Duration, String> {
    Err("no chain of additions is written for this architecture".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn the_clock_is_one_that_cores_have() {
        let hertz = core_clock_hertz().unwrap();
        assert!((5e8..8e9).contains(&hertz), "{hertz}");
    }
}
