//! Key expansion step by step, beside other work: a step waits for the one before, and leaves ports idle.

use super::keys::{RoundKeys, STEPS_192, STEPS_256, next_128, next_192, next_first_256, next_second_256};
use crate::cipher::{CALLS, Meanwhile};
use crate::lanes::{AesLanes, Isa, Lanes};

/// The key expansion of FIPS 197 section 5.2 for 10, 12 or 14 rounds, in every lane at once.
pub(super) struct Expanding<'a, I: Isa, const ROUNDS: usize> {
    isa: I,
    /// The last words so far.
    key: [I::V; 2],
    keys: &'a mut RoundKeys<I::V>,
}

impl<'a, I: Isa<V: AesLanes>, const ROUNDS: usize> Expanding<'a, I, ROUNDS> {
    /// Of the keys `key`: their first 16 bytes, then the rest (8 bytes in the low half, or 16).
    #[inline(always)]
    pub(super) fn new(isa: I, key: [I::V; 2], keys: &'a mut RoundKeys<I::V>) -> Self {
        const { assert!(ROUNDS == 10 || ROUNDS == 12 || ROUNDS == 14) };
        keys[0].write(key[0]);
        if ROUNDS == 14 {
            keys[1].write(key[1]);
        }
        Self { isa, key, keys }
    }

    /// What is left behind the calls that there are at least.
    #[inline(always)]
    pub(super) fn finish(&mut self) {
        if ROUNDS == 10 {
            self.step_128(CALLS);
        }
    }

    #[inline(always)]
    fn step_128(&mut self, step: usize) {
        let next = next_128(self.isa, self.key[0], step).pin();
        self.keys[step + 1].write(next);
        self.key[0] = next;
    }

    #[inline(always)]
    fn step_192(&mut self, step: usize) {
        next_192(self.isa, &mut self.key, self.keys, step);
        self.key = [self.key[0].pin(), self.key[1].pin()];
    }

    /// Four words of eight: the first and the second in turn.
    #[inline(always)]
    fn step_256(&mut self, step: usize) {
        let half = step % 2;
        let next = if half == 0 {
            next_first_256(self.isa, self.key, step / 2)
        } else {
            next_second_256(self.isa, self.key)
        };
        self.key[half] = next.pin();
        self.keys[step + 2].write(self.key[half]);
    }
}

/// As often as AES has inner rounds.
impl<I: Isa<V: AesLanes>, const ROUNDS: usize> Meanwhile for Expanding<'_, I, ROUNDS> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        match ROUNDS {
            10 if call < CALLS => self.step_128(call),
            12 if call < STEPS_192 => self.step_192(call),
            14 if call < STEPS_256 => self.step_256(call),
            _ => {}
        }
    }
}
