//! Messages of as many passes and of any lengths, from all over a batch: they are [lacking](super::lacking) some of the first
//! pass, each as much as it does.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::IN_PASS;
use super::lacking::{REGISTERS, there, up_to};
use super::members::{Members, Place, Texts};
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Stretch};
use crate::mode::counters::BIG_STEPS;
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::FOUR;
use crate::mode::gcm::ghash::lengths;
use crate::rows::load_block;

/// Most messages of a list. The first set's keys are expanded and the last set is hashed with nothing beside: of fewer
/// messages that would be felt.
const MOST: usize = 128;

/// Bytes of a nonce.
const NONCE: usize = 12;
/// Bytes of a pass.
const PASS: usize = IN_PASS * BLOCK;

/// What is there of the registers of a pass.
type There = [Stretch; REGISTERS];

/// That of messages of one pass, for each length.
static THERE: [There; PASS + 1] = {
    let mut all = [[Stretch::new(0..0); REGISTERS]; PASS + 1];
    let mut bytes = 1;
    while bytes <= PASS {
        all[bytes] = there::<IN_PASS>(bytes);
        bytes += 1;
    }
    all
};

/// That of a last pass that is not the first, for each number of its bytes.
static LAST: [There; PASS + 1] = {
    let mut all = [[Stretch::new(0..0); REGISTERS]; PASS + 1];
    let mut bytes = 1;
    while bytes <= PASS {
        all[bytes] = up_to(bytes);
        bytes += 1;
    }
    all
};

/// Entry i has i in every byte.
static IN_EVERY_BYTE: [u128; IN_PASS] = {
    let mut entries = [0; IN_PASS];
    let mut i = 0;
    while i < IN_PASS {
        entries[i] = u128::from_ne_bytes([i as u8; BLOCK]);
        i += 1;
    }
    entries
};

/// A message of a list.
#[derive(Clone, Copy)]
struct Entry {
    /// Its number in the batch.
    index: usize,
    key: *const u8,
    /// Where its first pass begins, from the beginning of both buffers: before that, of a first message.
    start: usize,
    /// What is there of the first pass.
    first: There,
    /// What is there of the last pass, if it is another.
    last: &'static There,
}

/// A block for each message, which sets take registers of. Put down long before: a register that is loaded from blocks just
/// stored waits for them to reach the cache.
#[repr(align(64))]
struct Column([MaybeUninit<u128>; MOST]);

impl Column {
    const NOTHING: Self = Self([const { MaybeUninit::uninit() }; MOST]);

    #[inline(always)]
    fn put(&mut self, place: usize, block: u128) {
        self.0[place].write(block);
    }

    /// The blocks of set `set`.
    ///
    /// # Safety
    /// They have been put there.
    #[inline(always)]
    unsafe fn load<I: Isa>(&self, isa: I, set: usize) -> I::V {
        debug_assert!((set + 1) * I::V::LANES <= MOST);
        // SAFETY: the caller's.
        unsafe { isa.load(self.0.as_ptr().add(set * I::V::LANES).cast()) }
    }
}

/// Messages of as many passes, whose nonces have 12 bytes and whose AAD is of one length.
pub(in super::super) struct List {
    passes: usize,
    count: usize,
    /// Bytes of each key, and of the AAD of each.
    key_bytes: usize,
    aad_bytes: usize,
    /// The first `count` of these and of the columns are written.
    entries: [MaybeUninit<Entry>; MOST],
    /// How many blocks each message lacks, in every byte.
    lacking: Column,
    /// The nonces, then zeros.
    nonces: Column,
    /// The blocks of lengths, bytes reversed.
    lengths: Column,
}

impl List {
    /// No messages, but such as are of so many passes, and have keys and AAD of so many bytes.
    pub(in super::super) const fn new(passes: usize, key_bytes: usize, aad_bytes: usize) -> Self {
        Self {
            passes,
            count: 0,
            key_bytes,
            aad_bytes,
            entries: [const { MaybeUninit::uninit() }; MOST],
            lacking: Column::NOTHING,
            nonces: Column::NOTHING,
            lengths: Column::NOTHING,
        }
    }

    /// Appends message `index`, which lies at `place` and has as many passes, while the list is not full.
    #[inline(always)]
    pub(in super::super) fn push(
        &mut self,
        job: &Job<'_>,
        index: usize,
        (start, bytes): (usize, usize),
        passes: usize,
    ) {
        let (key, nonce) = (job.key(index), job.nonce(index));
        debug_assert!(key.len() == self.key_bytes && job.aad(index).len() == self.aad_bytes);
        debug_assert!(passes == self.passes && nonce.len() == NONCE);
        let (place, lacking) = (self.count, passes * IN_PASS - bytes.div_ceil(BLOCK));
        let start = start.wrapping_sub(lacking * BLOCK);
        // Numbers are chosen without a branch, which nobody would foresee where lengths differ.
        let of_first = if passes == 1 { bytes } else { PASS - lacking * BLOCK };
        let of_last = bytes + lacking * BLOCK - (passes - 1) * PASS;
        let (first, last) = (THERE[of_first], &LAST[of_last]);
        self.entries[place].write(Entry { index, key: key.as_ptr(), start, first, last });
        self.lacking.put(place, IN_EVERY_BYTE[lacking]);
        // SAFETY: a nonce of the list has so many bytes.
        self.nonces.put(place, unsafe { load_block(nonce.as_ptr(), NONCE) });
        self.lengths.put(place, lengths(self.aad_bytes, bytes).swap_bytes());
        self.count = place + 1;
    }

    /// Whether there is no room for another message.
    #[inline(always)]
    pub(in super::super) const fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// The messages that a pipeline takes, if there are as many: a multiple of four, and twice that at least.
    #[inline(always)]
    pub(in super::super) fn members<'l, const ONE: bool>(
        &'l self,
        job: &'l Job<'l>,
    ) -> Option<Listed<'l, ONE>> {
        debug_assert!((self.passes == 1) == ONE);
        let fours = self.count / FOUR;
        (fours > 1).then_some(Listed { job, list: self, fours })
    }

    /// Those behind them, or all.
    #[inline(always)]
    pub(in super::super) fn rest(&self) -> impl Iterator<Item = usize> + '_ {
        let fours = self.count / FOUR;
        let taken = if fours > 1 { fours * FOUR } else { 0 };
        self.entries()[taken..].iter().map(|entry| entry.index)
    }

    /// Whether a message is of ONE pass.
    #[inline(always)]
    pub(in super::super) const fn is_of_one(&self) -> bool {
        self.passes == 1
    }

    /// Forgets all messages.
    #[inline(always)]
    pub(in super::super) const fn clear(&mut self) {
        self.count = 0;
    }

    #[inline(always)]
    fn entries(&self) -> &[Entry] {
        // SAFETY: the first `count` are written.
        unsafe { self.entries[..self.count].assume_init_ref() }
    }
}

/// The messages of a list, as far as they fill fours, which are of ONE pass or of more.
#[derive(Clone, Copy)]
pub(in super::super) struct Listed<'l, const ONE: bool> {
    job: &'l Job<'l>,
    list: &'l List,
    fours: usize,
}

impl<'l, const ONE: bool> Listed<'l, ONE> {
    /// The messages of a set.
    #[inline(always)]
    fn set<T: Lanes>(&self, set: usize) -> &'l [Entry] {
        let first = set * T::LANES;
        debug_assert!(first + T::LANES <= self.list.count);
        // SAFETY: there are so many sets.
        unsafe { self.list.entries().get_unchecked(first..first + T::LANES) }
    }
}

impl<'l, T: Lanes, const ONE: bool> Members<T> for Listed<'l, ONE> {
    type Texts = Ragged<'l, T, ONE>;

    #[inline(always)]
    fn sets(&self) -> usize {
        self.fours * (FOUR / T::LANES)
    }

    #[inline(always)]
    fn passes(&self) -> usize {
        if ONE { 1 } else { self.list.passes }
    }

    #[inline(always)]
    fn key(&self, set: usize, lane: usize) -> &[u8] {
        let entries = self.set::<T>(set);
        // SAFETY: a set has LANES entries, and keys are as long as that.
        unsafe { std::slice::from_raw_parts(entries.get_unchecked(lane).key, self.list.key_bytes) }
    }

    #[inline(always)]
    fn nonces(&self, isa: T::Isa, set: usize) -> T {
        // SAFETY: there are so many sets.
        unsafe { self.list.nonces.load(isa, set) }
    }

    #[inline(always)]
    fn aad_bytes(&self) -> usize {
        self.list.aad_bytes
    }

    #[inline(always)]
    fn aad(&self, isa: T::Isa, set: usize, block: usize) -> T {
        let at = block * BLOCK;
        let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for (block, entry) in blocks.iter_mut().zip(self.set::<T>(set)) {
            *block = &self.job.aad(entry.index)[at..self.list.aad_bytes.min(at + BLOCK)];
        }
        isa.gather_partial(&blocks).reverse_bytes()
    }

    #[inline(always)]
    fn texts(&self, isa: T::Isa, set: usize) -> Ragged<'l, T, ONE> {
        debug_assert!(T::LANES == MAX_LANES);
        let (entries, buffers) = (self.set::<T>(set), self.job.buffers());
        // SAFETY: there are so many sets.
        let (lacking, lengths) =
            unsafe { (self.list.lacking.load(isa, set), self.list.lengths.load(isa, set)) };
        Ragged { entries, buffers, last: self.list.passes - 1, lacking, lengths }
    }

    #[inline(always)]
    fn conclude<D: Direction>(&self, set: usize, tags: T) {
        let mut indices = [0; MAX_LANES];
        for (index, entry) in indices.iter_mut().zip(self.set::<T>(set)) {
            *index = entry.index;
        }
        D::conclude_some(self.job, &indices[..T::LANES], tags);
    }
}

/// The texts of some messages of a list.
#[derive(Clone, Copy)]
pub(in super::super) struct Ragged<'l, T, const ONE: bool> {
    entries: &'l [Entry],
    /// Input and output of the batch.
    buffers: (*const u8, *mut u8),
    /// The last pass.
    last: usize,
    /// How many blocks each lacks, in every byte.
    lacking: T,
    /// The blocks of lengths, bytes reversed.
    lengths: T,
}

impl<T: Lanes, const ONE: bool> Ragged<'_, T, ONE> {
    /// Where a register lies in both buffers, and what is there of it.
    #[inline(always)]
    fn place(&self, (message, pass, register): Place) -> (usize, Stretch) {
        // SAFETY: a set has LANES entries.
        let entry = unsafe { self.entries.get_unchecked(message) };
        let there = if ONE || pass == 0 {
            entry.first[register]
        } else if pass == self.last {
            entry.last[register]
        } else {
            Stretch::new(0..T::BYTES)
        };
        (entry.start.wrapping_add(pass * PASS + register * T::BYTES), there)
    }
}

/// For each number of blocks that a message may lack, from none on, 2 less that, modulo 256: the counter of the first block,
/// if it is there (SP 800-38D section 7.1 step 3).
static FIRST_COUNTS: [u8; BLOCK] = {
    let mut counts = [0; BLOCK];
    let mut lacking = 0;
    while lacking < BLOCK {
        counts[lacking] = 2_u8.wrapping_sub(lacking as u8);
        lacking += 1;
    }
    counts
};

/// The byte of a counter block that counts.
static LAST_BYTE: [u8; BLOCK] = 0xff_u128.to_be_bytes();

/// Entry i is all ones in byte i.
static ONES_AT: [[u8; BLOCK]; IN_PASS] = {
    let mut blocks = [[0; BLOCK]; IN_PASS];
    let mut i = 0;
    while i < IN_PASS {
        blocks[i][i] = 0xff;
        i += 1;
    }
    blocks
};

impl<T: Lanes, const ONE: bool> Texts<T> for Ragged<'_, T, ONE> {
    #[inline(always)]
    fn are_in_place(&self) -> bool {
        self.buffers.0 == self.buffers.1.cast_const()
    }

    #[inline(always)]
    fn count<P: Permutation<Isa = T::Isa>>(&self, cipher: &P, nonces: T, pass: usize, blocks: &mut [T]) {
        let isa = nonces.isa();
        let counts = isa.splat(&FIRST_COUNTS).permute_bytes(self.lacking).and(isa.splat(&LAST_BYTE));
        let first = nonces.xor(counts);
        for (i, block) in blocks.iter_mut().enumerate() {
            // The last byte is the highest of its word: nothing carries out of it.
            *block = cipher.whitened(first.add32(isa.splat(&BIG_STEPS[pass * IN_PASS + i])));
        }
    }

    #[inline(always)]
    unsafe fn load<const OUTPUT: bool>(&self, isa: T::Isa, place: Place) -> T {
        let (input, output) = self.buffers;
        let (at, there) = self.place(place);
        let text = if OUTPUT { output.cast_const() } else { input };
        // SAFETY: the caller's.
        unsafe { isa.load_stretch(text.wrapping_add(at), there) }
    }

    #[inline(always)]
    unsafe fn store(&self, x: T, place: Place) {
        let (at, there) = self.place(place);
        // SAFETY: the caller's.
        unsafe { x.store_stretch(self.buffers.1.wrapping_add(at), there) }
    }

    #[inline(always)]
    fn with_aad(&self, block: T, index: usize, aad: T) -> T {
        let is_first = block.isa().splat(&ONES_AT[index]).permute_bytes(self.lacking);
        block.xor(aad.and(is_first))
    }

    #[inline(always)]
    fn lengths(&self, _: T::Isa, _: usize) -> T {
        self.lengths
    }
}
