//! What Keccak computes with: 64-bit words, as integers or one in each lane.

use super::permutation::{Word, of_row};
use crate::hash::MAX_STREAMS;
use crate::lanes::words::{MAX_WORDS_64, WordLanes};

/// Words of COUNT states, on their way from and to memory.
pub(super) trait Stored: Word {
    /// The proof of the instructions that it takes.
    type Isa: Copy;
    /// States side by side.
    const COUNT: usize;

    /// A word of each state.
    ///
    /// # Safety
    /// COUNT words are readable.
    unsafe fn load(isa: Self::Isa, from: *const u64) -> Self;

    /// Stores a word of each state.
    ///
    /// # Safety
    /// COUNT words are writable.
    unsafe fn store(self, to: *mut u64);

    /// Two consecutive words, little-endian, of each message `i`, from `from[i] + at` on.
    ///
    /// # Safety
    /// There are COUNT pointers to 16 readable bytes each from `at` on.
    unsafe fn two(isa: Self::Isa, from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2];
}

impl Word for u64 {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        self ^ a ^ b
    }

    #[inline(always)]
    fn xor_constant(self, constant: u64) -> Self {
        self ^ constant
    }

    #[inline(always)]
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5] {
        of_row(words, row, |a, b, c| a ^ (!b & c))
    }

    #[inline(always)]
    fn rotate<const R: i32>(self) -> Self {
        self.rotate_left(R.cast_unsigned())
    }
}

impl Stored for u64 {
    type Isa = ();
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn load((): (), from: *const u64) -> Self {
        // SAFETY: the caller's.
        unsafe { from.read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's.
        unsafe { to.write(self) }
    }

    #[inline(always)]
    unsafe fn two((): (), from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        // SAFETY: the caller's; an array of bytes has no alignment.
        let [first, second] = unsafe { from[0].add(at).cast::<[[u8; 8]; 2]>().read() };
        [Self::from_le_bytes(first), Self::from_le_bytes(second)]
    }
}

impl<V: WordLanes> Word for V {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        WordLanes::xor(self, other)
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        WordLanes::xor3(self, a, b)
    }

    #[inline(always)]
    fn xor_constant(self, constant: u64) -> Self {
        WordLanes::xor(self, V::splat_64(self.isa(), constant))
    }

    #[inline(always)]
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5] {
        of_row(words, row, WordLanes::chi)
    }

    #[inline(always)]
    fn rotate<const R: i32>(self) -> Self {
        match R {
            0 => self,
            // Where a rotation is three instructions, as in all but the widest registers: CPUs have more units for
            // additions than for shifts.
            1 if V::WORDS_64 < MAX_WORDS_64 => WordLanes::xor(self.add_64(self), self.shift_right_64::<63>()),
            _ => self.rotate_left_64::<R>(),
        }
    }
}

impl<V: WordLanes> Stored for V {
    type Isa = <V as WordLanes>::Isa;
    const COUNT: usize = V::WORDS_64;

    #[inline(always)]
    unsafe fn load(isa: <V as WordLanes>::Isa, from: *const u64) -> Self {
        // SAFETY: the caller's.
        unsafe { <V as WordLanes>::load(isa, from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's.
        unsafe { WordLanes::store(self, to.cast()) }
    }

    #[inline(always)]
    unsafe fn two(isa: <V as WordLanes>::Isa, from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        let mut words = [std::ptr::null(); MAX_WORDS_64];
        for lane in 0..V::WORDS_64 {
            words[lane] = from[lane].wrapping_add(at);
        }
        // SAFETY: the caller's.
        unsafe { V::gather_64(isa, &words) }
    }
}
