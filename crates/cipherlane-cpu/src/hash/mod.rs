//! Hash functions: iterated over blocks, with a message in each lane.
//!
//! A hash function is two things. [`Iterated`] has the rules of its standard: initial value, padding, output.
//! [`Absorb`] is an engine: code that absorbs blocks of LANES messages at once. Everything else is written once over
//! these: which message is in which lane, the ends of messages, long outputs, single streams.

pub(crate) mod either;
mod ends;
pub(crate) mod incremental;
pub(crate) mod integers;
pub(crate) mod keccak;
pub(crate) mod sha2;
mod streams;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod worker;

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use crate::lanes::Work;

/// Most bytes of a block: the rate of SHAKE128 (FIPS 202 section 6.2).
pub(crate) const MAX_BLOCK: usize = 168;

/// Most bytes of the padded end of a message: two blocks of SHA-512 (FIPS 180-4 section 5.1.2), whole registers.
pub(crate) const MAX_END: usize = 256;
const _: () = assert!(MAX_END >= MAX_BLOCK && MAX_END.is_multiple_of(4 * BLOCK));

/// Most messages that an engine runs side by side.
pub(crate) const MAX_STREAMS: usize = 32;

/// The rules of a hash function that absorbs a message block by block into a chaining value: Merkle-Damgård, or a
/// sponge, whose chaining value is its state.
pub(crate) trait Iterated: Copy + Send + Sync + 'static {
    /// What one message's blocks are absorbed into. Plain integers.
    type Chain: Copy + Send + Sync + 'static;

    /// Most bytes of the padded end of a message, with less than a block of text.
    const END: usize = MAX_END;

    /// Bytes of a block (of a sponge: its rate), at most [`MAX_BLOCK`].
    fn block_bytes(self) -> usize;

    /// The chaining value before the first block.
    fn initial(self) -> Self::Chain;

    /// Most bytes that are one block with their padding.
    fn most_in_a_block(self) -> usize;

    /// Blocks of `bytes` bytes, which a message ends with, and the padding.
    #[inline(always)]
    fn padded_blocks(self, bytes: usize) -> usize {
        let (block, most) = (self.block_bytes(), self.most_in_a_block());
        // Most often without a division.
        if bytes <= most { 1 } else { 1 + (bytes - most).div_ceil(block) }
    }

    /// Pads the end of a message of `total` bytes and returns how many blocks it is: its [`Iterated::padded_blocks`].
    ///
    /// The end is the last `rest` bytes, which whole blocks come before. `end` has room for its blocks, and zeros behind these
    /// bytes.
    fn pad(self, end: &mut [u8], rest: usize, total: u64) -> usize;

    /// Of a message of `total` bytes, those after the last whole block.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // less than a block
    fn rest(self, total: u64) -> usize {
        (total % self.block_bytes() as u64) as usize
    }

    /// Most bytes of output that one chaining value gives. A sponge gives more after absorbing a block of zeros,
    /// which is a permutation of its state and nothing else; other functions never have longer digests.
    fn output_bytes(self) -> usize;

    /// Writes the first bytes of output, at most [`Iterated::output_bytes`], to `to`.
    fn output(self, chain: &Self::Chain, to: &mut [u8]);
}

/// An engine: absorbs blocks of LANES messages at once. A token, like [`crate::lanes::Isa`]: it exists only where
/// its instructions do.
pub(crate) trait Absorb<H: Iterated>: Copy + Send + Sync + 'static {
    /// Messages side by side, at most [`MAX_STREAMS`].
    const LANES: usize;

    /// The chaining values of LANES messages, as the engine likes them. Plain integers and registers: they are
    /// wiped by overwriting their bytes.
    type States: Copy;

    /// Runs `work` compiled for the engine's instructions, if that makes a difference.
    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        work.run()
    }

    /// The initial value in every lane.
    fn fresh(self, hash: H) -> Self::States;

    /// Puts a chaining value into `lane`.
    fn put(states: &mut Self::States, lane: usize, chain: &H::Chain);

    /// The chaining value in `lane`.
    fn get(states: &Self::States, lane: usize) -> H::Chain;

    /// The chaining values of all lanes.
    #[inline(always)]
    fn get_all(self, states: &Self::States, chains: &mut [MaybeUninit<H::Chain>; MAX_STREAMS]) {
        for (lane, chain) in chains[..Self::LANES].iter_mut().enumerate() {
            chain.write(Self::get(states, lane));
        }
    }

    /// Absorbs `blocks` consecutive blocks of each lane `i`, 1 at least, from `from[i]` on.
    ///
    /// Only the first `active` lanes count. Those behind them have pointers, too, which are as good to read from; an
    /// engine may absorb those blocks or not.
    ///
    /// # Safety
    /// `from` has LANES pointers, each to that many readable blocks, and these are 1 at least.
    unsafe fn absorb(
        self,
        hash: H,
        states: &mut Self::States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    );

    /// Writes an end of a message to `to`: `rest` bytes from `text` on, and behind them those of the first `bytes` bytes of
    /// `padding`, which has zeros in their place.
    ///
    /// # Safety
    /// `text` has so many readable bytes, and `rest <= bytes <= MAX_END`.
    #[inline(always)]
    unsafe fn lay_end(
        self,
        to: &mut MaybeUninit<PaddedEnd>,
        (text, rest): (*const u8, usize),
        padding: &PaddedEnd,
        bytes: usize,
    ) {
        debug_assert!(rest <= bytes && bytes <= MAX_END);
        let to = to.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's; the end has room for as many.
        unsafe {
            to.copy_from_nonoverlapping(padding.0.as_ptr(), bytes);
            to.copy_from_nonoverlapping(text, rest);
        }
    }

    /// Fewest messages that [`Absorb::hash_whole`] is worth its while for; more than LANES where there is no such thing.
    const LEAST: usize = usize::MAX;

    /// Hashes messages from the initial value to the output, groups of LANES one after the other, of which the last one may have
    /// fewer. For output that one chaining value gives.
    ///
    /// # Safety
    /// What [`Text`] says is true, the messages of a group come by falling numbers of blocks, and outputs are `digest_bytes` bytes.
    #[inline(always)]
    unsafe fn hash_whole(self, _hash: H, _texts: &[Text], _digest_bytes: usize) {
        unreachable!("of engines that hash whole messages alone")
    }

    /// Makes `shared` ready to be absorbed.
    #[inline(always)]
    fn prepare(self, _shared: &mut Shared) {}

    /// Absorbs a block that is the same in the first `active` lanes, and [prepared](Absorb::prepare).
    #[inline(always)]
    fn absorb_alike(self, hash: H, states: &mut Self::States, shared: &Shared, active: usize) {
        // SAFETY: every lane, idle or not, reads this block.
        unsafe { self.absorb(hash, states, &shared.everywhere(), active, 1) }
    }
}

/// The padded end of a message, where registers of it lie within cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct PaddedEnd([u8; MAX_END]);

/// A message, which the caller alone has.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    /// Where it begins.
    from: *const u8,
    /// Its whole blocks.
    blocks: usize,
    /// Bytes behind them, less than a block.
    rest: usize,
    /// Where its output goes.
    to: *mut u8,
}

/// A block that lanes share, which is no secret, and what an engine makes of it.
pub(crate) struct Shared {
    block: [u8; MAX_BLOCK],
    /// Words of its schedule in SHA-256 (FIPS 180-4 section 6.2.2 step 1), the constants of their rounds added; zeros
    /// where an engine makes none.
    sums: [u32; 64],
}

impl Shared {
    /// A block that [`Absorb::prepare`] has yet to see.
    #[inline(always)]
    fn new(block: &[u8]) -> Self {
        let mut shared = Self { block: [0; MAX_BLOCK], sums: [0; 64] };
        shared.block[..block.len()].copy_from_slice(block);
        shared
    }

    /// The block, from where each lane absorbs it.
    #[inline(always)]
    fn everywhere(&self) -> [*const u8; MAX_STREAMS] {
        [self.block.as_ptr(); MAX_STREAMS]
    }

    /// Whether this is `block`.
    #[inline(always)]
    fn is(&self, block: &[u8]) -> bool {
        self.block[..block.len()] == *block
    }
}

/// Overwrites plain integers or registers that may hold a secret.
#[inline(always)]
fn wipe<T: Copy>(value: &mut T) {
    // SAFETY: an exclusive reference is good for a write, and a volatile one is never left out. Zeros are plain
    // integers.
    unsafe { std::ptr::write_volatile((&raw mut *value).cast(), MaybeUninit::<T>::zeroed()) }
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}
