//! Passes that have gone through the cipher, R blocks of each message in one.

use super::members::Texts;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;

/// The last passes of a set of messages that have gone through the cipher: two, where there are as many.
pub(super) struct Passed<T, X, const R: usize> {
    texts: X,
    pass: usize,
    /// The input of even passes and of odd ones, register by register of each message, where it is overwritten before it is
    /// hashed.
    kept: [[T; R]; 2],
}

impl<T: Lanes, X: Texts<T>, const R: usize> Passed<T, X, R> {
    /// Registers of a message.
    const REGISTERS: usize = R / T::LANES;

    /// Pass `pass` of nobody, where a first set has none before it: what is hashed of it is of no use.
    #[inline(always)]
    pub(super) fn nothing(zero: T, texts: X, pass: usize) -> Self {
        Self { texts, pass, kept: [[zero; R]; 2] }
    }

    /// The texts.
    #[inline(always)]
    pub(super) fn texts(&self) -> &X {
        &self.texts
    }

    /// The last pass.
    #[inline(always)]
    pub(super) fn last(&self) -> usize {
        self.pass
    }

    /// Whether what is hashed is overwritten.
    #[inline(always)]
    fn keeps<D: Direction>(&self) -> bool {
        D::OPEN && self.texts.are_in_place()
    }

    /// Becomes pass `pass` of `texts`, encrypted or decrypted with block i of all key streams in register i.
    ///
    /// # Safety
    /// Input is readable and output writable.
    #[inline(always)]
    pub(super) unsafe fn crypt<D: Direction>(&mut self, texts: X, pass: usize, keystream: &[T]) {
        (self.texts, self.pass) = (texts, pass);
        for (register, keys) in keystream.chunks_exact(T::LANES).enumerate() {
            let mut each = [keys[0]; MAX_LANES];
            each[..T::LANES].copy_from_slice(keys);
            let each = T::transpose(&each);
            for (message, &key) in each.iter().enumerate().take(T::LANES) {
                let place = (message, pass, register);
                // SAFETY: the caller's.
                let x: T = unsafe { texts.load::<false>(key.isa(), place) };
                if self.keeps::<D>() {
                    self.kept[pass % 2][message * Self::REGISTERS + register] = x;
                }
                // SAFETY: as above.
                unsafe { texts.store(x.xor(key), place) }
            }
        }
    }

    /// Block i of all ciphertexts in register i, of the blocks of register `register` of `pass`, one of the last two, bytes
    /// reversed.
    #[inline(always)]
    pub(super) fn blocks<D: Direction>(&self, isa: T::Isa, pass: usize, register: usize) -> [T; MAX_LANES] {
        let mut rows = [isa.zero(); MAX_LANES];
        for (message, row) in rows.iter_mut().enumerate().take(T::LANES) {
            let place = (message, pass, register);
            let x = if self.keeps::<D>() {
                self.kept[pass % 2][message * Self::REGISTERS + register]
            } else if D::OPEN {
                // SAFETY: a text of the job.
                unsafe { self.texts.load::<false>(isa, place) }
            } else {
                // SAFETY: as above.
                unsafe { self.texts.load::<true>(isa, place) }
            };
            *row = x.reverse_bytes();
        }
        T::transpose(&rows)
    }
}
