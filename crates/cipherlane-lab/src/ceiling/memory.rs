//! How fast one core reads and copies at each level of the memory.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::copy::WAYS;
use super::{Level, read};
use crate::host;

/// Bytes that one timing moves at least: about a millisecond.
const MOVED: usize = 32 << 20;

/// Half of each cache, so that both buffers of a copy fit with room to spare, and several times the last one, of which little
/// is found in it then; of `walks` walks through each the fastest counts.
pub(super) fn levels(walks: usize) -> Vec<Level> {
    let caches = host::cache_bytes();
    let mut sizes: Vec<(String, usize)> =
        caches.iter().map(|&(level, bytes)| (format!("L{level}"), bytes / 2)).collect();
    let last = caches.last().map_or(32 << 20, |&(_, bytes)| bytes);
    sizes.push(("DRAM".to_owned(), beyond(last, host::available_memory_bytes())));
    nested(sizes.into_iter().map(|(name, bytes)| level(name, bytes, walks)).collect())
}

/// Bytes that lie behind a last cache of `last` bytes: eight times as many, or four where that is more than half a GiB. No
/// more than a quarter of what is `available`.
fn beyond(last: usize, available: Option<u64>) -> usize {
    let bytes = (8 * last).clamp(128 << 20, 512 << 20).max(4 * last);
    let most = available.map_or(usize::MAX, |bytes| usize::try_from(bytes / 4).unwrap_or(usize::MAX));
    bytes.min(most)
}

/// `levels`, the nearest one first, none of them below a farther one: what lies there can be had as fast. It is measured
/// below where others use a cache that is shared, or a virtual machine has less of it than it is told.
fn nested(mut levels: Vec<Level>) -> Vec<Level> {
    let (mut copy, mut read) = (0.0_f64, 0.0_f64);
    for level in levels.iter_mut().rev() {
        copy = copy.max(level.copy_bytes_per_second);
        read = read.max(level.read_bytes_per_second);
        (level.copy_bytes_per_second, level.read_bytes_per_second) = (copy, read);
    }
    levels
}

/// What copying reached where it was measured again, by the names of levels and by bytes.
#[derive(Debug, Default)]
pub(super) struct Copies(Mutex<BTreeMap<(String, u64), f64>>);

impl Copies {
    /// Bytes per second of copying in `level`. Where something else reached more with `working_set` bytes, copying is
    /// measured again with as many: others share the last cache and the memory, and may have been at work, and of what
    /// just overflows a cache the cache still holds a part. The fastest counts.
    pub(super) fn fastest(&self, level: &Level, working_set: u64, reached: f64) -> f64 {
        let measure = |bytes| copy(usize::try_from(bytes).unwrap_or(usize::MAX), AGAIN);
        self.fastest_by(level, working_set, reached, measure)
    }

    fn fastest_by(&self, level: &Level, working_set: u64, reached: f64, measure: impl Fn(u64) -> f64) -> f64 {
        let bytes = working_set.min(level.bytes);
        // Rates are whole between changes, whoever panicked.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fastest = known.entry((level.name.clone(), bytes)).or_insert(level.copy_bytes_per_second);
        if *fastest < reached {
            *fastest = fastest.max(measure(bytes));
        }
        *fastest
    }
}

/// Walks where copying is measured again.
const AGAIN: usize = 15;

/// Bytes per second of copying one half of `bytes` to the other, by the fastest way.
fn copy(bytes: usize, walks: usize) -> f64 {
    let half = bytes / 2;
    let words = half / size_of::<u128>();
    let (source, mut target) = (vec![1_u128; words], vec![2_u128; words]);
    let copies = WAYS.map(|way| fastest(half, walks, || way(&mut target, black_box(&source))));
    black_box(&target);
    copies.into_iter().fold(0.0, f64::max)
}

fn level(name: String, bytes: usize, walks: usize) -> Level {
    let copy = copy(bytes, walks);
    let words = vec![1_u128; bytes / size_of::<u128>()];
    let way = read::widest();
    let read = fastest(bytes, walks, || {
        black_box(way(black_box(&words)));
    });
    // Who copies has read.
    let read = read.max(copy);
    Level { name, bytes: bytes as u64, copy_bytes_per_second: copy, read_bytes_per_second: read }
}

/// Bytes per second of `run`, which moves `bytes`.
#[allow(clippy::cast_precision_loss)] // sizes below 2^53
fn fastest(bytes: usize, walks: usize, mut run: impl FnMut()) -> f64 {
    let repeats = (MOVED / bytes.max(1)).max(1);
    run();
    let best = (0..walks)
        .map(|_| {
            let start = Instant::now();
            (0..repeats).for_each(|_| run());
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    (repeats * bytes) as f64 / best.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_measured_behind_the_last_cache() {
        const MIB: usize = 1 << 20;
        let plenty = Some(1 << 40);
        assert_eq!(beyond(32 * MIB, plenty), 256 * MIB);
        assert_eq!(beyond(MIB, plenty), 128 * MIB);
        assert_eq!(beyond(96 * MIB, plenty), 512 * MIB);
        assert_eq!(beyond(300 * MIB, plenty), 1200 * MIB);
        assert_eq!(beyond(300 * MIB, Some(1 << 30)), 256 * MIB);
        assert_eq!(beyond(300 * MIB, None), 1200 * MIB);
    }

    #[test]
    fn no_level_is_slower_than_one_behind_it() {
        let level = |name: &str, copy_bytes_per_second, read_bytes_per_second| Level {
            name: name.to_owned(),
            bytes: 1,
            copy_bytes_per_second,
            read_bytes_per_second,
        };
        let measured = vec![
            level("L1", 90.0, 95.0),
            level("L2", 40.0, 80.0),
            level("L3", 6.0, 7.0),
            level("DRAM", 10.0, 9.0),
        ];
        let copies: Vec<f64> =
            nested(measured.clone()).iter().map(|level| level.copy_bytes_per_second).collect();
        let reads: Vec<f64> = nested(measured).iter().map(|level| level.read_bytes_per_second).collect();
        assert_eq!((copies, reads), (vec![90.0, 40.0, 10.0, 10.0], vec![95.0, 80.0, 9.0, 9.0]));
    }

    #[test]
    fn a_copy_that_was_passed_is_measured_again() {
        let level = Level {
            name: "L2".to_owned(),
            bytes: 1 << 20,
            copy_bytes_per_second: 10.0,
            read_bytes_per_second: 20.0,
        };
        let copies = Copies::default();
        let fastest = |working_set, reached, again: Option<f64>| {
            copies.fastest_by(&level, working_set, reached, |_| again.expect("nothing passed it"))
        };
        assert!((fastest(1 << 20, 9.0, None) - 10.0).abs() < 1e-9);
        assert!((fastest(1 << 20, 11.0, Some(8.0)) - 10.0).abs() < 1e-9);
        assert!((fastest(1 << 20, 11.0, Some(12.0)) - 12.0).abs() < 1e-9);
        assert!((fastest(2 << 20, 11.5, None) - 12.0).abs() < 1e-9, "the level is measured at its size");
        assert!((fastest(1 << 19, 11.5, Some(30.0)) - 30.0).abs() < 1e-9, "a cache before it holds a part");
        assert!((fastest(1 << 20, 11.5, None) - 12.0).abs() < 1e-9);
    }
}
