//! Counter blocks that differ in their last byte alone, with what the first round adds to them added ahead: a register
//! takes one XOR, where counting takes two instructions more.

use cipherlane_core::BLOCK;

use super::blocks::{Pass, add};
use super::counters::{BIG_STEPS, advanced, count_in_32_bits, parted};
use super::first_round::BYTES;
use crate::cipher::{Nothing, Permutation, V};
use crate::lanes::{Isa, Lanes};

/// The counter blocks of a message, modulo 2^32.
pub(super) struct LastByte<'a, P: Permutation> {
    cipher: &'a P,
    /// The next one, but for its last byte.
    rest: u128,
    /// That byte; 256 where it overflows.
    value: usize,
    /// `rest` in every lane, whitened.
    base: V<P>,
}

impl<'a, P: Permutation> LastByte<'a, P> {
    /// Counts from `first` on.
    #[inline(always)]
    pub(super) fn new(cipher: &'a P, first: &[u8; BLOCK]) -> Self {
        let mut this = Self { cipher, rest: 0, value: 0, base: cipher.isa().zero() };
        this.go_on_at(u128::from_le_bytes(*first));
        this
    }

    #[inline(always)]
    fn go_on_at(&mut self, next: u128) {
        (self.rest, self.value) = parted(next);
        self.base = self.cipher.whitened(self.cipher.isa().splat_word(self.rest));
    }

    /// The next M registers, whitened.
    #[inline(always)]
    fn take<const M: usize>(&mut self) -> [V<P>; M] {
        let (isa, end) = (self.cipher.isa(), self.value + M * V::<P>::LANES);
        if end > BYTES {
            return self.take_across();
        }
        let mut blocks = [self.base; M];
        for (i, block) in blocks.iter_mut().enumerate() {
            // SAFETY: the registers end within the table, which has every value.
            let values = unsafe { isa.load(BIG_STEPS.as_ptr().add(self.value + i * V::<P>::LANES).cast()) };
            *block = block.xor(values);
        }
        self.value = end;
        blocks
    }

    /// The same, where the last byte overflows among them.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // no more than 256, and no more blocks than 64
    fn take_across<const M: usize>(&mut self) -> [V<P>; M] {
        let (isa, next) = (self.cipher.isa(), advanced(self.rest, self.value as u32));
        self.go_on_at(advanced(next, (M * V::<P>::LANES) as u32));
        count_in_32_bits(isa, isa.splat_word(next)).map(|block| self.cipher.whitened(block))
    }
}

impl<P: Permutation> Pass for LastByte<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, text: &mut [V<P>; M]) {
        let blocks = self.take();
        add(text, &self.cipher.apply_whitened::<M>(blocks, &mut Nothing));
    }

    /// Text is not needed before the key stream is there.
    #[inline(always)]
    unsafe fn registers_of<const M: usize>(&mut self, registers: &mut [V<P>; M], input: *const u8) {
        let blocks = self.take();
        *registers = self.cipher.apply_whitened::<M>(blocks, &mut Nothing);
        for (i, register) in registers.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *register = register.xor(unsafe { self.cipher.isa().load(input.add(i * V::<P>::BYTES)) });
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::cipher::aes_rounds::AesEncrypt;
    use crate::lanes::{AesLanes, Work};
    use crate::lanes::{sse::Sse, vaes256::Vaes256};

    /// Registers of a group, which is followed by one of a register.
    const REGISTERS: usize = 8;

    /// The key stream of 40 groups from `first` on, as what becomes of zeros.
    struct Stream<'a, I: Isa> {
        cipher: &'a AesEncrypt<I, 10>,
        first: u128,
    }

    impl<I: Isa<V: AesLanes>> Work for Stream<'_, I> {
        type Output = Vec<u128>;

        #[inline(always)]
        fn run(self) -> Vec<u128> {
            let mut pass = LastByte::new(self.cipher, &self.first.to_le_bytes());
            let zeros = [[0_u8; BLOCK]; REGISTERS * 2];
            let mut words = Vec::new();
            for _ in 0..40 {
                let mut group = [self.cipher.isa().zero(); REGISTERS];
                // SAFETY: no register has more than two blocks.
                unsafe { pass.registers_of(&mut group, zeros.as_ptr().cast()) };
                let mut one = [self.cipher.isa().zero()];
                pass.registers(&mut one);
                let registers = group.iter().chain(&one);
                words
                    .extend(registers.flat_map(|register| register.to_words().into_iter().take(I::V::LANES)));
            }
            words
        }
    }

    fn stream_is_that_of_the_counters<I: Isa<V: AesLanes>>(isa: I) {
        let cipher = AesEncrypt::<I, 10>::new(isa, b"sixteen byte key");
        for count in [0, 1, 119, 240, 247, 248, 254, 255, 0x0001_fff8, 0xffff_fffd, u32::MAX] {
            let first = 0x1234_5678 | u128::from(u32::swap_bytes(count)) << 96;
            let words = isa.vectorize(Stream { cipher: &cipher, first });
            for (i, word) in (0..).zip(words) {
                let block = isa.splat_word(advanced(first, i));
                assert_eq!(word, cipher.apply([block])[0].to_words()[0], "block {i} from {count:#x}");
            }
        }
    }

    #[test]
    fn key_streams_are_those_of_the_counters() {
        match Sse::detect() {
            Some(isa) => stream_is_that_of_the_counters(isa),
            None => println!("not run: this CPU has no AES-NI"),
        }
        match Vaes256::detect() {
            Some(isa) => stream_is_that_of_the_counters(isa),
            None => println!("not run: this CPU has no VAES"),
        }
    }
}
