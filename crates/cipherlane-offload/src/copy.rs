//! Copies between the memory of callers and stagings, on as many threads as it takes to keep up with a device's link.

#![allow(unsafe_code)] // stores past the caches

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use cipherlane_core::alone;
use cipherlane_threads::{Threads, Topology};

/// Bytes from which on a copy is worth several threads.
const PARALLEL: usize = 1 << 20;
/// Bytes of one thread's turn.
const TURN: usize = 64 << 10;
/// Cores that keep up with a link. Where there are not twice as many, all are one crew.
const CORES: usize = 16;
/// How long a thread polls for the next copy before it sleeps: on a link of 40 GB/s a chunk is under way for 0.4 ms.
const POLL: Duration = Duration::from_micros(500);

/// All crews of this process, as the thread that makes the first device sees its CPUs, node by node.
static CREWS: LazyLock<Vec<Crew>> = LazyLock::new(|| {
    let topology = Topology::detect();
    Crew::all(&topology, topology.at_once())
});

/// Some of the cores. Their threads begin at the same places each time, so that a staging stays in the caches of those who
/// write it.
struct Crew {
    topology: Topology,
    /// Most threads, the calling one included.
    threads: usize,
    /// These, once they are needed.
    started: Mutex<Option<Threads>>,
}

impl Crew {
    /// Crews on the cores of `topology`, with no more than `allowed` threads in all.
    fn all(topology: &Topology, allowed: usize) -> Vec<Self> {
        let mut groups = topology.groups(CORES);
        groups.truncate((allowed / CORES).max(1));
        let crew = |topology: Topology| {
            let threads = topology.cores().min(allowed);
            Self { topology, threads, started: Mutex::new(None) }
        };
        groups.into_iter().map(crew).collect()
    }

    /// Whether its first core, and most of the others, are of NUMA node `node`.
    fn is_of(&self, node: usize) -> bool {
        self.topology.cpus().first().is_some_and(|cpu| cpu.node == node)
    }

    /// Starts the threads. Where the system refuses, the calling one has to do: that is slower, and no reason to fail.
    fn start(&self) -> Option<Threads> {
        let poll = |threads| Threads::polling(threads, &self.topology, POLL);
        poll(self.threads).or_else(|_| poll(1)).ok()
    }

    /// What there is of its threads, unless they have work.
    fn idle(&self) -> Option<MutexGuard<'_, Option<Threads>>> {
        match self.started.try_lock() {
            Ok(started) => Some(started),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Does `task` once for each number below `tasks`.
    fn run(&self, started: &mut Option<Threads>, tasks: usize, task: impl Fn(usize) + Sync) {
        if started.is_none() {
            *started = self.start();
        }
        match started {
            Some(threads) => threads.run(tasks, task),
            None => (0..tasks).for_each(task),
        }
    }
}

/// Looks which CPUs there are.
pub(crate) fn prepare() {
    LazyLock::force(&CREWS);
}

/// Copies `source` to a staging, which the device reads next, from the caches if it can: by threads on node `near`, where
/// the device and its stagings are, if these have time.
///
/// # Panics
/// If they differ in length.
pub(crate) fn to_staging(source: &[u8], target: &mut [u8], near: Option<usize>) {
    spread(source, target, near, <[u8]>::copy_from_slice);
}

/// Writes `words`, counted from `base`, to a staging as the device reads them. By threads as above: millions of offsets take
/// one as long as a link takes with all that belongs to them.
///
/// # Panics
/// If `target` has another number of words.
pub(crate) fn words_to_staging(words: &[u64], base: u64, target: &mut [u8], near: Option<usize>) {
    assert_eq!(8 * words.len(), target.len(), "a word has eight bytes");
    let write = |(target, words): &mut (&mut [u8], &[u64])| {
        for (place, word) in target.as_chunks_mut::<8>().0.iter_mut().zip(*words) {
            *place = word.wrapping_sub(base).to_le_bytes();
        }
    };
    if target.len() < PARALLEL {
        write(&mut (target, words));
    } else {
        on_threads(near, target.chunks_mut(TURN).zip(words.chunks(TURN / 8)), write);
    }
}

/// Copies a staging to where the caller wants it: past the caches where it is long, which spares them, and spares fetching
/// what is overwritten. By threads as above.
///
/// # Panics
/// If they differ in length.
pub(crate) fn from_staging(source: &[u8], target: &mut [u8], near: Option<usize>) {
    spread(source, target, near, past_caches);
}

/// Copies by `copy`, or by the system's copy where one thread is enough.
fn spread(source: &[u8], target: &mut [u8], near: Option<usize>, copy: fn(&mut [u8], &[u8])) {
    assert_eq!(source.len(), target.len(), "a copy is as long as what is copied");
    if target.len() < PARALLEL {
        target.copy_from_slice(source);
    } else {
        let turns = target.chunks_mut(TURN).zip(source.chunks(TURN));
        on_threads(near, turns, |(target, source)| copy(target, source));
    }
}

/// Overwrites with zeros, on as many threads as it takes.
pub(crate) fn zero(target: &mut [u8]) {
    on_threads(None, target.chunks_mut(TURN), |part| part.fill(0));
}

/// The crews, of which there is one at least: those of node `near` first, if there are any.
fn nearest(near: Option<usize>) -> Vec<&'static Crew> {
    let mut crews: Vec<_> = CREWS.iter().collect();
    // A stable sort: the others stay in their order.
    crews.sort_by_key(|crew| near.is_some_and(|node| !crew.is_of(node)));
    crews
}

/// Does `work` once with each of `turns`, on the nearest crew that does nothing. Where all copy for other sessions, it
/// waits for the first.
fn on_threads<T: Send>(near: Option<usize>, turns: impl Iterator<Item = T>, work: impl Fn(&mut T) + Sync) {
    let turns: Vec<Mutex<T>> = turns.map(Mutex::new).collect();
    // Each turn is taken once, by one thread.
    let task = |index: usize| work(&mut lock(&turns[index]));
    let crews = nearest(near);
    let idle = crews.iter().find_map(|crew| Some((crew, crew.idle()?)));
    let (crew, mut started) = idle.unwrap_or_else(|| (&crews[0], lock(&crews[0].started)));
    crew.run(&mut started, turns.len(), task);
}

/// Calls `work` once for each number below `parts`, on the first crew that was started and does nothing, or else on this
/// thread: none is started for it, and none waited for. A [`Spread`](cipherlane_core::Spread), for checks of batches.
pub(crate) fn on_idle_threads(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    for mut started in CREWS.iter().filter_map(Crew::idle) {
        if let Some(threads) = &mut *started {
            return threads.run(parts, work);
        }
    }
    alone(parts, work);
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

/// Copies: stores past the caches are for x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
fn past_caches(target: &mut [u8], source: &[u8]) {
    target.copy_from_slice(source);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread::{self, ThreadId};

    use super::*;

    type Copying = fn(&[u8], &mut [u8], Option<usize>);

    #[test]
    fn copies_of_any_length_and_place_are_true() {
        let source: Vec<u8> = (0..3 * PARALLEL).map(|index| ((index * index) >> 7) as u8).collect();
        let ways: [(Copying, Option<usize>); 3] =
            [(to_staging, None), (from_staging, None), (from_staging, Some(0))];
        for (copy, near) in ways {
            for (from, to, bytes) in [(0, 0, 0), (3, 5, 1), (1, 63, PARALLEL - 1), (7, 9, 2 * PARALLEL + 77)]
            {
                let mut target = vec![0xA5; to + bytes + 100];
                copy(&source[from..from + bytes], &mut target[to..to + bytes], near);
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
    fn words_of_any_number_are_counted_from_the_base() {
        for count in [0, 1, PARALLEL / 8 - 1, PARALLEL / 4 + 3] {
            let words: Vec<u64> = (5..).map(|index: u64| index * index).take(count).collect();
            let mut target = vec![0xA5; 8 * count];
            words_to_staging(&words, 25, &mut target, None);
            let read = target.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            assert!(read.eq(words.iter().map(|word| word - 25)), "{count} words");
        }
    }

    #[test]
    fn crews_are_no_larger_than_a_quota() {
        let topology = Topology::detect();
        let threads = |allowed| Crew::all(&topology, allowed).iter().map(|crew| crew.threads).sum::<usize>();
        assert_eq!((threads(1), threads(usize::MAX)), (1, topology.cores()));
    }

    #[test]
    fn all_crews_copy_for_every_node() {
        for near in [None, Some(0), Some(1000)] {
            assert_eq!(nearest(near).len(), CREWS.len());
        }
        let first = nearest(None)[0];
        let node = first.topology.cpus()[0].node;
        assert!(first.is_of(node) && !first.is_of(node + 1) && nearest(Some(node))[0].is_of(node));
    }

    #[test]
    fn zeros_reach_the_end() {
        let mut text = vec![9; 3 * TURN + 5];
        zero(&mut text[1..3 * TURN + 4]);
        assert_eq!((text[0], text[3 * TURN + 4]), (9, 9));
        assert!(text[1..3 * TURN + 4].iter().all(|&byte| byte == 0));
    }

    /// On which threads `parts` parts were done, each once.
    fn threads_of(parts: usize) -> HashSet<ThreadId> {
        let done: Vec<Mutex<Vec<ThreadId>>> = (0..parts).map(|_| Mutex::default()).collect();
        on_idle_threads(parts, &|part| {
            lock(&done[part]).push(thread::current().id());
            // Nobody does all of them before the others have come.
            thread::sleep(Duration::from_millis(5));
        });
        let each = done.iter().map(|threads| lock(threads).clone());
        each.map(|threads| <[ThreadId; 1]>::try_from(threads).unwrap()[0]).collect()
    }

    #[test]
    fn a_check_is_shared_out_and_waits_for_nobody() {
        // One that has started, be it beside other tests.
        from_staging(&vec![7; PARALLEL], &mut vec![0; PARALLEL], None);
        let is_shared = |_| threads_of(64).len() > 1;
        assert!(CREWS.iter().all(|crew| crew.threads == 1) || (0..100).any(is_shared));
        let busy: Vec<_> = CREWS.iter().map(|crew| lock(&crew.started)).collect();
        assert_eq!(threads_of(9), HashSet::from([thread::current().id()]));
        drop(busy);
        assert!(threads_of(0).is_empty());
    }

    #[test]
    fn sessions_copy_at_the_same_time() {
        let source = vec![7; 2 * PARALLEL];
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut target = vec![0; source.len()];
                    for _ in 0..8 {
                        from_staging(&source, &mut target, None);
                    }
                    assert!(target == source);
                });
            }
        });
    }
}
