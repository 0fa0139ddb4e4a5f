//! GHASH of four messages of a row, while a cipher works.

use std::marker::PhantomData;

use super::texts::Texts;
use crate::cipher::{CALLS, Meanwhile};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::FOUR;
use crate::mode::gcm::ghash::{Falling, Power, Products};

/// The hashes of four messages, a message a lane, some blocks each call: of the output when sealing, of the input when
/// opening. Registers of them are whole, or in PART they may not be.
pub(super) struct Hash<
    'a,
    I: Isa,
    D,
    const R: usize,
    const PART: bool,
    const CHUNKED: bool,
    const KARATSUBA: bool,
> {
    powers: Falling<'a, I>,
    texts: Texts<I::V, R, CHUNKED>,
    /// Sums of products, each of LANES messages.
    pub(super) sums: [Products<I::V>; FOUR],
    /// Register by register, block i of LANES messages.
    columns: [I::V; MAX_LANES],
    direction: PhantomData<D>,
}

impl<'a, I: Isa, D: Direction, const R: usize, const PART: bool, const CHUNKED: bool, const KARATSUBA: bool>
    Hash<'a, I, D, R, PART, CHUNKED, KARATSUBA>
{
    /// Blocks of a message that are multiplied at once.
    const AT_ONCE: usize = if I::V::LANES > 1 { 2 } else { 1 };
    /// How often that makes all.
    const TIMES: usize = FOUR * R / Self::AT_ONCE;

    #[inline(always)]
    pub(super) fn new(
        powers: Falling<'a, I>,
        texts: Texts<I::V, R, CHUNKED>,
        sums: [Products<I::V>; FOUR],
    ) -> Self {
        let columns = [powers.isa().zero(); MAX_LANES];
        Self { powers, texts, sums, columns, direction: PhantomData }
    }

    /// Loads register `register` of LANES messages, from message `first` of the four on.
    #[inline(always)]
    fn load(&mut self, first: usize, register: usize) {
        let text = if D::OPEN { self.texts.input() } else { self.texts.output() };
        for (lane, row) in self.columns.iter_mut().enumerate().take(I::V::LANES) {
            // SAFETY: texts of a job, readable.
            let x = unsafe { self.texts.load::<PART>(self.powers.isa(), text, first + lane, register) };
            *row = x.reverse_bytes();
        }
        self.columns = I::V::transpose(&self.columns);
    }

    /// What block `block` of a message is multiplied by.
    #[inline(always)]
    fn power(&self, block: usize) -> Power<I::V> {
        // SAFETY: of the registers that are run together two and a part of a third may lack their blocks; the table goes
        // on as far.
        unsafe { self.powers.of(block) }
    }

    /// Multiplies some blocks of LANES messages, for the `time`-th time.
    #[inline(always)]
    fn multiply(&mut self, time: usize) {
        let in_register = FOUR / Self::AT_ONCE;
        let (register, place) = (time / in_register, time % in_register * Self::AT_ONCE);
        let (group, column) = (place / I::V::LANES, place % I::V::LANES);
        if column == 0 {
            self.load(group * I::V::LANES, register);
        }
        let block = register * I::V::LANES + column;
        let mut sum = self.sums[group];
        if Self::AT_ONCE == 1 {
            sum.add::<KARATSUBA>(self.columns[column], self.power(block));
        } else {
            let blocks = [self.columns[column], self.columns[column + 1]];
            sum.add_two::<KARATSUBA>(blocks, [self.power(block), self.power(block + 1)]);
        }
        self.sums[group] = sum.pin();
    }
}

impl<I: Isa, D: Direction, const R: usize, const PART: bool, const CHUNKED: bool, const KARATSUBA: bool>
    Meanwhile for Hash<'_, I, D, R, PART, CHUNKED, KARATSUBA>
{
    #[inline(always)]
    fn step(&mut self, call: usize) {
        let at_once = const { Self::TIMES.div_ceil(CALLS) };
        for time in call * at_once..((call + 1) * at_once).min(Self::TIMES) {
            self.multiply(time);
        }
    }
}
