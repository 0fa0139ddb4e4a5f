//! From the numbers of units to the tweaks of their first blocks (IEEE 1619 section 5.3.1).

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::XtsKey;
use super::tweak::MAX_GROUP;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::blocks;
use crate::mode::keys::Keys;

/// The first tweaks of units, in every lane, one after the other: where they share a key, N registers of them are made at a
/// time.
pub(super) struct FirstTweaks<'a, E: Permutation, const N: usize> {
    keys: &'a Keys<E>,
    job: &'a Job<'a>,
    /// The cipher under the key of the last unit, where each has its own.
    own: Option<E>,
    /// The units whose tweaks are made, from the next one on.
    made: Range<usize>,
    /// The end of all units.
    end: usize,
    /// The tweaks of units up to the last one made.
    tweaks: [[u8; BLOCK]; MAX_GROUP],
    /// The unit of the first of them.
    start: usize,
}

impl<'a, E: Permutation, const N: usize> FirstTweaks<'a, E, N> {
    /// Those of `units`; none is made yet.
    #[inline(always)]
    pub(super) fn new(keys: &'a Keys<E>, job: &'a Job<'a>, units: Range<usize>) -> Self {
        let Range { start, end } = units;
        Self { keys, job, own: None, made: start..start, end, tweaks: [[0; BLOCK]; MAX_GROUP], start }
    }

    /// Makes as many tweaks as go through the cipher at a time, behind those that are made.
    #[inline(always)]
    fn make(&mut self) {
        self.start = self.made.end;
        let cipher = self.keys.of(XtsKey::of(self.job.key(self.start)).tweak, &mut self.own);
        let together = if self.keys.shared().is_some() { N * V::<E>::LANES } else { 1 };
        self.made = self.start..self.end.min(self.start + together);
        if self.made.len() <= V::<E>::LANES {
            encrypt_numbers::<E, 1>(cipher, self.job, self.made.clone(), &mut self.tweaks);
        } else {
            encrypt_numbers::<E, N>(cipher, self.job, self.made.clone(), &mut self.tweaks);
        }
    }
}

/// Units, and their tweaks.
impl<E: Permutation, const N: usize> Iterator for FirstTweaks<'_, E, N> {
    type Item = (usize, V<E>);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, V<E>)> {
        if self.made.is_empty() && self.made.end < self.end {
            self.make();
        }
        let unit = self.made.next()?;
        Some((unit, self.keys.isa().splat(&self.tweaks[unit - self.start])))
    }
}

/// The first tweak of `unit` under the key of `cipher`, in every lane.
#[inline(always)]
pub(super) fn first_tweak<E: Permutation>(cipher: &E, job: &Job<'_>, unit: usize) -> V<E> {
    let [tweak] = cipher.apply([cipher.isa().splat(&job.nonce_block(unit))]);
    tweak
}

/// Encrypts the numbers of `units`, at most M registers of them.
#[inline(always)]
fn encrypt_numbers<E: Permutation, const M: usize>(
    cipher: &E,
    job: &Job<'_>,
    units: Range<usize>,
    tweaks: &mut [[u8; BLOCK]; MAX_GROUP],
) {
    debug_assert!(units.len() <= M * V::<E>::LANES);
    let mut numbers = [cipher.isa().zero(); M];
    for (i, register) in numbers.iter_mut().enumerate() {
        let mut lanes = [std::ptr::null(); MAX_LANES];
        for (lane, number) in lanes.iter_mut().enumerate().take(V::<E>::LANES) {
            // Lanes beyond the last unit repeat it.
            let unit = (units.start + i * V::<E>::LANES + lane).min(units.end - 1);
            *number = job.nonce(unit).as_ptr();
        }
        // SAFETY: the check has shown that each number has 16 bytes.
        *register = unsafe { cipher.isa().gather(&lanes) };
    }
    if E::WHOLE_GROUPS {
        cipher.apply_used(&mut numbers, units.len().div_ceil(V::<E>::LANES));
    } else {
        numbers = cipher.apply(numbers);
    }
    // SAFETY: MAX_GROUP blocks hold M registers, or `tweak::start` would not compile.
    unsafe { blocks::store(&numbers, tweaks.as_mut_ptr().cast()) }
}
