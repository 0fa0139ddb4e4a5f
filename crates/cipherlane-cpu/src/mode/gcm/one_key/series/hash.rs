//! GHASH of a message's text, while a cipher works.

use cipherlane_core::BLOCK;

use crate::cipher::{CALLS, Meanwhile};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::gcm::ghash::{Power, Powers, Products};

/// The hash of a text of which H registers are at hand: those are multiplied meanwhile.
pub(super) struct Hash<I: Isa, const H: usize, const KARATSUBA: bool> {
    pub(super) texts: [I::V; H],
    /// What has been multiplied.
    pub(super) sum: Products<I::V>,
    /// Where the powers lie that `texts` are multiplied by, falling, and the sums of their halves.
    powers: [*const u8; 2],
}

impl<I: Isa, const H: usize, const KARATSUBA: bool> Hash<I, H, KARATSUBA> {
    /// That of zeros.
    #[inline(always)]
    pub(super) fn nothing(powers: &Powers<I>) -> Self {
        let (isa, highest) = (powers.isa(), powers.highest());
        debug_assert!(highest >= H * I::V::LANES, "powers for as many registers");
        Self { texts: [isa.zero(); H], sum: Products::zero(isa), powers: powers.from(highest) }
    }

    /// That of `text`, of which nothing is at hand; there are powers for all of it and for the block of lengths.
    #[inline(always)]
    pub(super) fn of(powers: &Powers<I>, text: Message) -> Self {
        // What is pending is multiplied by H as well.
        Self { powers: powers.from(text.bytes.div_ceil(BLOCK) + 1), ..Self::nothing(powers) }
    }

    /// With `texts` at hand, which follow.
    #[inline(always)]
    pub(super) fn followed_by<const C: usize>(self, texts: [I::V; C]) -> Hash<I, C, KARATSUBA> {
        Hash { texts, sum: self.sum, powers: self.powers }
    }

    /// What register `register` is multiplied by.
    #[inline(always)]
    fn power(&self, register: usize) -> Power<I::V> {
        let isa = self.sum.isa();
        let [value, sum] = self.powers.map(|from| from.wrapping_add(register * I::V::BYTES));
        // SAFETY: there are powers for every block, and behind the last of them a register is readable.
        unsafe { Power::with_sum(isa.load(value), isa.load(sum)) }
    }

    /// Multiplies the registers from `first` on, two at most.
    #[inline(always)]
    fn multiply(&mut self, first: usize) {
        let x = self.texts[first].reverse_bytes();
        if first + 1 < H {
            let blocks = [x, self.texts[first + 1].reverse_bytes()];
            self.sum.add_two::<KARATSUBA>(blocks, [self.power(first), self.power(first + 1)]);
        } else {
            self.sum.add::<KARATSUBA>(x, self.power(first));
        }
        self.sum = self.sum.pin();
    }
}

/// Calls from two registers to the next two.
const PACE: usize = 4;

impl<I: Isa, const H: usize, const KARATSUBA: bool> Meanwhile for Hash<I, H, KARATSUBA> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        const { assert!(H.div_ceil(2) * PACE < CALLS, "all are multiplied") };
        let first = call / PACE * 2;
        if call % PACE == 1 && first < H {
            self.multiply(first);
        }
        if call + 1 == CALLS {
            self.powers = self.powers.map(|from| from.wrapping_add(H * I::V::BYTES));
        }
    }
}
