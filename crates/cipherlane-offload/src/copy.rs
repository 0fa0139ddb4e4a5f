//! Copies between the memory of callers and stagings, on as many threads as it takes to keep up with a device's link.

#![allow(unsafe_code)] // stores past the caches

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use cipherlane_threads::{Threads, Topology};

use crate::backend::Fault;

/// Bytes from which on a copy is worth several threads.
const PARALLEL: usize = 1 << 20;
/// Bytes of one thread's turn.
const TURN: usize = 64 << 10;
/// Cores of a crew: enough to keep up with a link.
const CORES: usize = 16;
/// How long a thread polls for the next copy: longer than a group is under way, so that none sleeps while a run lasts.
const POLL: Duration = Duration::from_micros(500);

/// All crews of this process, as the thread that opens the first session sees its CPUs.
static CREWS: LazyLock<Vec<Crew>> = LazyLock::new(|| {
    let crew = |topology| Crew { topology, threads: Mutex::new(None) };
    Topology::detect().groups(CORES).into_iter().map(crew).collect()
});

/// Some of the cores. Their threads begin at the same places each time, so that a staging stays in the caches of those who
/// write it.
struct Crew {
    topology: Topology,
    /// Once they are needed.
    threads: Mutex<Option<Threads>>,
}

/// Looks which CPUs there are.
pub(crate) fn prepare() {
    LazyLock::force(&CREWS);
}

/// Copies `source` to a staging, which the device reads next, from the caches if it can.
///
/// # Panics
/// If they differ in length.
pub(crate) fn to_staging(source: &[u8], target: &mut [u8]) -> Result<(), Fault> {
    spread(source, target, <[u8]>::copy_from_slice)
}

/// Copies a staging to where the caller wants it: past the caches where it is long, which spares them, and spares fetching
/// what is overwritten.
///
/// # Panics
/// If they differ in length.
pub(crate) fn from_staging(source: &[u8], target: &mut [u8]) -> Result<(), Fault> {
    spread(source, target, past_caches)
}

/// Copies by `copy`, or by the system's copy where one thread is enough.
fn spread(source: &[u8], target: &mut [u8], copy: fn(&mut [u8], &[u8])) -> Result<(), Fault> {
    assert_eq!(source.len(), target.len(), "a copy is as long as what is copied");
    if target.len() < PARALLEL {
        target.copy_from_slice(source);
        return Ok(());
    }
    let turns: Vec<_> = target.chunks_mut(TURN).zip(source.chunks(TURN)).map(Mutex::new).collect();
    on_threads(&turns, |(target, source)| copy(target, source))
}

/// Overwrites with zeros, on as many threads as it takes.
pub(crate) fn zero(target: &mut [u8]) {
    let turns: Vec<_> = target.chunks_mut(TURN).map(Mutex::new).collect();
    if on_threads(&turns, |part| part.fill(0)).is_err() {
        // What has to be gone is overwritten by however many there are.
        drop(turns);
        target.fill(0);
    }
}

/// Does `work` once with each of `turns`.
fn on_threads<T: Send>(turns: &[Mutex<T>], work: impl Fn(&mut T) + Sync) -> Result<(), Fault> {
    let (topology, mut threads) = free_crew();
    if threads.is_none() {
        let cores = topology.cores();
        *threads = Some(Threads::polling(cores, topology, POLL).map_err(|error| {
            Fault(format!("{cores} threads that copy could not be started: {error}; end other programs"))
        })?);
    }
    if let Some(threads) = &mut *threads {
        // Each turn is taken once, by one thread.
        threads.run(turns.len(), |index| work(&mut lock(&turns[index])));
    }
    Ok(())
}

/// The first crew that does nothing; where all copy for other sessions, the first again, which is then waited for.
fn free_crew() -> (&'static Topology, MutexGuard<'static, Option<Threads>>) {
    for crew in &*CREWS {
        match crew.threads.try_lock() {
            Ok(threads) => return (&crew.topology, threads),
            Err(TryLockError::Poisoned(poisoned)) => return (&crew.topology, poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    (&CREWS[0].topology, lock(&CREWS[0].threads))
}

/// A panic while the lock was held leaves nothing behind that is half-made.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As many bytes as a line of the caches has, at a place where one begins.
#[cfg(target_arch = "x86_64")]
#[repr(C, align(64))]
struct Line([std::arch::x86_64::__m128i; 4]);

/// Copies past the caches. SSE2, which it takes, is part of the architecture.
#[cfg(target_arch = "x86_64")]
fn past_caches(target: &mut [u8], source: &[u8]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    // SAFETY: a line is bytes of any value.
    let (head, lines, tail) = unsafe { target.align_to_mut::<Line>() };
    let (first, rest) = source.split_at(head.len());
    let (middle, last) = rest.split_at(size_of_val(lines));
    head.copy_from_slice(first);
    for (Line(line), source) in lines.iter_mut().zip(middle.as_chunks::<64>().0) {
        for (register, bytes) in line.iter_mut().zip(source.as_chunks::<16>().0) {
            // SAFETY: both are 16 bytes, and the target is aligned.
            unsafe { _mm_stream_si128(register, _mm_loadu_si128(bytes.as_ptr().cast())) };
        }
    }
    tail.copy_from_slice(last);
    // SAFETY: an instruction of every x86-64. Whoever is told that the copy is done has to see it.
    unsafe { _mm_sfence() };
}

/// Copies; this architecture has no stores past the caches.
#[cfg(not(target_arch = "x86_64"))]
fn past_caches(target: &mut [u8], source: &[u8]) {
    target.copy_from_slice(source);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_any_length_and_place_are_true() {
        let source: Vec<u8> = (0..3 * PARALLEL).map(|index| ((index * index) >> 7) as u8).collect();
        for copy in [to_staging, from_staging] {
            for (from, to, bytes) in [(0, 0, 0), (3, 5, 1), (1, 63, PARALLEL - 1), (7, 9, 2 * PARALLEL + 77)]
            {
                let mut target = vec![0xA5; to + bytes + 100];
                copy(&source[from..from + bytes], &mut target[to..to + bytes]).unwrap();
                assert!(
                    target[to..to + bytes] == source[from..from + bytes],
                    "{bytes} bytes from {from} to {to}"
                );
                assert!(target[..to].iter().chain(&target[to + bytes..]).all(|&byte| byte == 0xA5));
            }
        }
    }

    #[test]
    fn stores_past_the_caches_are_true_at_any_place() {
        let source: Vec<u8> = (0..400).map(|index| ((index * 7) >> 1) as u8).collect();
        for at in 0..70 {
            for bytes in (0..300).step_by(13) {
                let mut target = vec![0; 400];
                past_caches(&mut target[at..at + bytes], &source[at / 2..at / 2 + bytes]);
                assert_eq!(target[at..at + bytes], source[at / 2..at / 2 + bytes]);
                assert!(target[..at].iter().chain(&target[at + bytes..]).all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn zeros_reach_the_end() {
        let mut text = vec![9; 3 * TURN + 5];
        zero(&mut text[1..3 * TURN + 4]);
        assert_eq!((text[0], text[3 * TURN + 4]), (9, 9));
        assert!(text[1..3 * TURN + 4].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn sessions_copy_at_the_same_time() {
        let source = vec![7; 2 * PARALLEL];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut target = vec![0; source.len()];
                    for _ in 0..8 {
                        from_staging(&source, &mut target).unwrap();
                    }
                    assert!(target == source);
                });
            }
        });
    }
}
