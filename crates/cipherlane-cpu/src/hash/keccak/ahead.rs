//! Words of the next block of each message, which are brought beside the rounds of the block before it.
//!
//! Rounds leave the integer unit idle. It copies words one by one to where those of all messages at the same place lie
//! together: no shuffle is left to do, and no register of a state is in its way.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::words::Stored;
use crate::hash::{MAX_BLOCK, MAX_STREAMS};
use crate::lanes::words::MAX_WORDS_64;

/// Words of the longest block.
const MOST: usize = MAX_BLOCK / size_of::<u64>();

/// What is copied beside a permutation: two words of each of [`MAX_WORDS_64`] messages beside each two rounds, `pairs` times.
pub(crate) struct Ahead<'a> {
    /// Where messages begin, of each lane.
    pub(super) from: *const *const u8,
    /// Bytes from there to the first word. All that is copied is readable.
    pub(super) at: usize,
    /// Rows for the words at the same place, which are written one behind the other.
    pub(super) to: *mut [u64; MAX_WORDS_64],
    /// At most half the words of the longest block, rounded up.
    pub(super) pairs: usize,
    /// Words from the first pair to the second: of an odd number of words one comes twice.
    pub(super) hop: usize,
    lifetime: PhantomData<&'a mut Rows>,
}

impl Ahead<'_> {
    /// Nothing to copy.
    pub(super) const NOTHING: Self = Self {
        from: std::ptr::null(),
        at: 0,
        to: std::ptr::null_mut(),
        pairs: 0,
        hop: 0,
        lifetime: PhantomData,
    };

    /// Whether this is nothing to copy.
    #[inline(always)]
    pub(super) fn is_nothing(&self) -> bool {
        self.pairs == 0
    }
}

/// Room for them.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Rows([MaybeUninit<[u64; MAX_WORDS_64]>; MOST]);

impl Rows {
    /// Room without words.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; MOST])
    }

    /// The `words` words at byte `at` of each message, none or two at least, as what is to be copied here.
    #[inline(always)]
    pub(super) fn ahead(&mut self, from: &[*const u8; MAX_STREAMS], at: usize, words: usize) -> Ahead<'_> {
        debug_assert!(words != 1 && words <= MOST);
        let (pairs, hop) = (words.div_ceil(2), 2 - words % 2);
        Ahead { from: from.as_ptr(), at, to: self.0.as_mut_ptr().cast(), pairs, hop, lifetime: PhantomData }
    }

    /// Word `i` of the block.
    ///
    /// # Safety
    /// It has been copied.
    #[inline(always)]
    pub(super) unsafe fn word<W: Stored>(&self, isa: W::Isa, i: usize) -> W {
        debug_assert!(i < MOST && W::COUNT == MAX_WORDS_64);
        // SAFETY: the caller's.
        unsafe { W::load(isa, self.0.as_ptr().add(i).cast()) }
    }
}
