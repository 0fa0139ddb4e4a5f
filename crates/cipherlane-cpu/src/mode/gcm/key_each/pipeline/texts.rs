//! The texts of a row of messages, as they go through the cipher: R blocks of each in a pass.

use cipherlane_core::BLOCK;

use super::IN_PASS;
use crate::job::Message;
use crate::lanes::{Isa, Lanes, MAX_LANES, Stretch};
use crate::mode::gcm::Direction;

/// Equal messages that follow one another, as passes of R blocks each. If these are WHOLE, no block lacks a byte; else there
/// is one pass, and it begins with the blocks that a message lacks.
#[derive(Clone, Copy)]
pub(super) struct Texts<const R: usize, const WHOLE: bool> {
    input: *const u8,
    output: *mut u8,
    /// Bytes of each.
    pub(super) bytes: usize,
    /// Blocks that each lacks.
    pub(super) lacking: usize,
    pub(super) passes: usize,
    /// What is there of the registers of a message, which is of one pass unless they are WHOLE. Put together once: for each
    /// register anew it took a third of the time.
    there: [Stretch; MAX_REGISTERS],
}

/// Most registers of a message in a pass: of two lanes at least.
const MAX_REGISTERS: usize = IN_PASS / 2;

impl<const R: usize, const WHOLE: bool> Texts<R, WHOLE> {
    /// From the first one on.
    #[inline(always)]
    pub(super) fn of<T: Lanes>(Message { input, output, bytes, .. }: Message) -> Self {
        debug_assert!(bytes > 0 && (!WHOLE || bytes.is_multiple_of(R * BLOCK)));
        let (blocks, passes) = (bytes.div_ceil(BLOCK), bytes.div_ceil(R * BLOCK));
        let lacking = if WHOLE { 0 } else { passes * R - blocks };
        debug_assert!(WHOLE || passes == 1);
        let mut there = [Stretch::new(0..T::BYTES); MAX_REGISTERS];
        if !WHOLE {
            for (register, there) in there.iter_mut().enumerate() {
                let at = register * T::BYTES;
                let of_register = |byte: usize| byte.clamp(at, at + T::BYTES) - at;
                *there = Stretch::new(of_register(lacking * BLOCK)..of_register(lacking * BLOCK + bytes));
            }
        }
        Self { input, output, bytes, lacking, passes, there }
    }

    /// Those that come after `messages` of them.
    ///
    /// # Safety
    /// There are as many.
    #[inline(always)]
    pub(super) unsafe fn skip(self, messages: usize) -> Self {
        let bytes = messages * self.bytes;
        // SAFETY: the caller's.
        unsafe { Self { input: self.input.add(bytes), output: self.output.add(bytes), ..self } }
    }

    /// Where register `register` of pass `pass` of message `message` begins, from the first message on.
    #[inline(always)]
    fn place<T: Lanes>(&self, (message, pass, register): (usize, usize, usize)) -> isize {
        let block = pass * R + register * T::LANES;
        (message * self.bytes + block * BLOCK).wrapping_sub(self.lacking * BLOCK).cast_signed()
    }

    /// What is there of a register of `text`, which is the input or the output, the rest zero.
    ///
    /// # Safety
    /// It is readable.
    #[inline(always)]
    unsafe fn load<T: Lanes>(
        &self,
        isa: T::Isa,
        text: *const u8,
        place @ (_, _, register): (usize, usize, usize),
    ) -> T {
        let from = text.wrapping_offset(self.place::<T>(place));
        // SAFETY: the caller's.
        unsafe { if WHOLE { isa.load(from) } else { isa.load_stretch(from, self.there[register]) } }
    }

    /// Stores what is there of a register to the output.
    ///
    /// # Safety
    /// It is writable.
    #[inline(always)]
    unsafe fn store<T: Lanes>(&self, x: T, place @ (_, _, register): (usize, usize, usize)) {
        let to = self.output.wrapping_offset(self.place::<T>(place));
        // SAFETY: the caller's.
        unsafe { if WHOLE { x.store(to) } else { x.store_stretch(to, self.there[register]) } }
    }
}

/// The last passes of a set of messages that have gone through the cipher: two, where there are as many.
pub(super) struct Passed<T, const R: usize, const WHOLE: bool> {
    texts: Texts<R, WHOLE>,
    pass: usize,
    /// The input of even passes and of odd ones, register by register of each message, where it is overwritten before it is
    /// hashed.
    kept: [[T; R]; 2],
}

impl<T: Lanes, const R: usize, const WHOLE: bool> Passed<T, R, WHOLE> {
    /// Registers of a message.
    const REGISTERS: usize = R / T::LANES;

    /// Nobody's, where a first set has none before it: what is hashed of it is of no use.
    #[inline(always)]
    pub(super) fn nothing(isa: T::Isa, texts: Texts<R, WHOLE>) -> Self {
        Self { texts, pass: texts.passes - 1, kept: [[isa.zero(); R]; 2] }
    }

    /// The texts.
    #[inline(always)]
    pub(super) fn texts(&self) -> &Texts<R, WHOLE> {
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
        D::OPEN && self.texts.input == self.texts.output.cast_const()
    }

    /// Becomes pass `pass` of `texts`, encrypted or decrypted with block i of all key streams in register i.
    ///
    /// # Safety
    /// Input is readable and output writable.
    #[inline(always)]
    pub(super) unsafe fn crypt<D: Direction>(
        &mut self,
        texts: Texts<R, WHOLE>,
        pass: usize,
        keystream: &[T],
    ) {
        (self.texts, self.pass) = (texts, pass);
        for (register, keys) in keystream.chunks_exact(T::LANES).enumerate() {
            let mut each = [keys[0]; MAX_LANES];
            each[..T::LANES].copy_from_slice(keys);
            let each = T::transpose(&each);
            for (message, &key) in each.iter().enumerate().take(T::LANES) {
                let place = (message, pass, register);
                // SAFETY: the caller's.
                let x: T = unsafe { texts.load(key.isa(), texts.input, place) };
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
        let Self { texts, kept, .. } = self;
        let text = if D::OPEN { texts.input } else { texts.output.cast_const() };
        let mut rows = [isa.zero(); MAX_LANES];
        for (message, row) in rows.iter_mut().enumerate().take(T::LANES) {
            let x = if self.keeps::<D>() {
                kept[pass % 2][message * Self::REGISTERS + register]
            } else {
                // SAFETY: a text of the job.
                unsafe { texts.load(isa, text, (message, pass, register)) }
            };
            *row = x.reverse_bytes();
        }
        T::transpose(&rows)
    }
}
