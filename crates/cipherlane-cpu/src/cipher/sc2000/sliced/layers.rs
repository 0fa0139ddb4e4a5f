//! What the rounds of byte-sliced SC2000 ask of an instruction set.

use cipherlane_core::BLOCK;

use super::schedule;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::lanes::bytes::{Bytes, IsaOf};

/// A word of every block: a register for each of its bytes, the topmost first.
pub(crate) type Word<B> = [B; 4];

/// Blocks of byte-sliced registers B.
pub(crate) type LanesOf<L> = <<L as Layers>::Bytes as Bytes>::Lanes;

/// The layers of SC2000 on registers of bytes.
///
/// A word's bytes lie in its registers turned by [`Layers::TURNS`] bits, which puts fields to where instructions find
/// them.
pub(crate) trait Layers: 'static {
    /// The registers.
    type Bytes: Bytes;

    /// By how many bits towards the low bit each byte of a word is rotated.
    const TURNS: [u32; 4];

    /// A byte of a round key for all lanes, as it lies in memory.
    type Key: Copy + Send + Sync + 'static;

    /// Turns [`GROUP`] registers of blocks into slices: register `4 w + k` has byte k of word w of every block.
    fn slice(blocks: &mut [Self::Bytes; GROUP]);

    /// The inverse of [`Layers::slice`].
    fn unslice(slices: &mut [Self::Bytes; GROUP]);

    /// The bytes of round keys whose words are those of the blocks of a register, lane by lane.
    fn keys(round_keys: LanesOf<Self>) -> [Self::Key; GROUP];

    /// The extended keys of intermediate keys, four by four as a block has words: see [`super::schedule`].
    #[inline(always)]
    fn extend(isa: IsaOf<Self::Bytes>, intermediate: [LanesOf<Self>; 4], blocks: &mut [LanesOf<Self>]) {
        schedule::extend(isa, intermediate, blocks);
    }

    /// A byte of a round key as a slice.
    fn key(isa: IsaOf<Self::Bytes>, key: Self::Key) -> Self::Bytes;

    /// Rotates the bytes of a word as [`Layers::TURNS`] has them.
    fn turn(word: Word<Self::Bytes>) -> Word<Self::Bytes>;

    /// The inverse of [`Layers::turn`].
    fn turn_back(word: Word<Self::Bytes>) -> Word<Self::Bytes>;

    /// The S function, then the M function.
    fn ms(word: Word<Self::Bytes>) -> Word<Self::Bytes>;

    /// The S-box of the B function, or its inverse, on byte k of the four words of a block: a bit of each makes a
    /// nibble, that of the first word being the highest.
    fn substitute<const INVERSE: bool>(words: [Self::Bytes; 4]) -> [Self::Bytes; 4];

    /// Whether [`Layers::run_pairs`] and [`Layers::count_pairs`] are written for these registers.
    const IN_MEMORY: bool = false;

    /// Runs groups, an even number of them and at least two, under round keys in the order of use: see
    /// [`Permutation::run_in_memory`](crate::cipher::Permutation::run_in_memory).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn run_pairs<const INVERSE: bool>(
        _fours: &[[Self::Key; GROUP]],
        _groups: Groups,
        _added: Option<*const u8>,
    ) {
        unreachable!("of registers that this is written for alone")
    }

    /// Adds counters, encrypted, to groups, an even number of them and at least two: see
    /// [`Permutation::count`](crate::cipher::Permutation::count).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn count_pairs(_fours: &[[Self::Key; GROUP]], _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of registers that this is written for alone")
    }
}

/// One step of transposing N registers: bytes of each of the first half, and of the one that is as far on in the
/// second, alternate. The highest bit of the index of a register moves behind the lowest bit of the index of a byte
/// in its lane, and the highest bit of that behind the lowest bit of the register's.
#[inline(always)]
pub(super) fn interleaved<B: Bytes, const N: usize>(registers: [B; N]) -> [B; N] {
    let mut result = registers;
    for i in 0..N / 2 {
        result[2 * i] = registers[i].interleave_low(registers[i + N / 2]);
        result[2 * i + 1] = registers[i].interleave_high(registers[i + N / 2]);
    }
    result
}

/// Round keys of a group of blocks.
pub(super) trait RoundKeys<L: Layers> {
    /// The four words of one I function.
    type Four: Copy;

    /// Rounds but for the last half.
    fn rounds(&self) -> usize;

    /// Round keys `4 index` to `4 index + 3` in the order of use.
    fn four(&self, index: usize) -> Self::Four;

    /// Byte `byte` of them: four for each word.
    fn byte(&self, four: Self::Four, byte: usize) -> L::Bytes;
}

/// The same round keys for all registers of a group.
pub(super) struct Shared<'a, L: Layers> {
    pub(super) isa: IsaOf<L::Bytes>,
    /// As many fours as there are.
    pub(super) fours: &'a [[L::Key; GROUP]],
}

impl<'a, L: Layers> RoundKeys<L> for Shared<'a, L> {
    type Four = &'a [L::Key; GROUP];

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.fours.len() / 2 - 1
    }

    #[inline(always)]
    fn four(&self, index: usize) -> Self::Four {
        &self.fours[index]
    }

    #[inline(always)]
    fn byte(&self, four: Self::Four, byte: usize) -> L::Bytes {
        L::key(self.isa, four[byte])
    }
}
