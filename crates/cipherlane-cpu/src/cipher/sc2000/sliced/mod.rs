//! SC2000, byte-sliced.

mod assembly;
mod each;
pub(super) mod layers;
mod rounds;
mod schedule;
pub(crate) mod shuffle;
pub(crate) mod vbmi;

use each::EachKey;
use layers::{LanesOf, Layers, RoundKeys, Shared};
use rounds::crypt;
use schedule::{MAX_FOURS, fours, intermediate, load};

use cipherlane_core::BLOCK;

use crate::cipher::Groups;
use crate::cipher::byte_sliced::{self, GROUP};
use crate::cipher::grouped::{InGroups, filled_up};
use crate::lanes::bytes::IsaOf;
use crate::lanes::{Isa, MAX_LANES, Work, wipe};

/// SC2000 under a key of any length; INVERSE decrypts.
pub(crate) struct Sc2000<L: Layers, const INVERSE: bool> {
    isa: IsaOf<L::Bytes>,
    /// Groups of four round keys: 14 for 6.5 rounds, 16 for 7.5.
    fours: usize,
    /// The round keys byte by byte, in the order of use.
    bytes: ByBytes<L>,
}

/// Round keys byte by byte.
#[repr(align(64))] // no key lies in two cache lines, and wiping goes by registers
struct ByBytes<L: Layers>([[L::Key; GROUP]; MAX_FOURS]);

impl<L: Layers> Drop for ByBytes<L> {
    fn drop(&mut self) {
        const { assert!(align_of::<LanesOf<L>>() <= 64) };
        let registers = size_of::<Self>() / size_of::<LanesOf<L>>();
        // SAFETY: keys are plain bytes, registers are too; a whole number of them, aligned, is this array.
        wipe(unsafe { std::slice::from_raw_parts_mut((&raw mut self.0).cast::<LanesOf<L>>(), registers) });
    }
}

/// SC2000 encryption.
pub(crate) type Sc2000Encrypt<L> = Sc2000<L, false>;

/// SC2000 decryption.
pub(crate) type Sc2000Decrypt<L> = Sc2000<L, true>;

/// Four round keys a lane, as a block has words, in the order of use, of the keys that the lanes have in `user`.
#[inline(always)]
fn expanded<L: Layers, const INVERSE: bool>(
    isa: IsaOf<L::Bytes>,
    user: [LanesOf<L>; 2],
    fours: usize,
) -> [LanesOf<L>; MAX_FOURS] {
    let mut blocks = [isa.zero(); MAX_FOURS];
    L::extend(isa, intermediate::<L>(isa, user), &mut blocks[..fours]);
    if INVERSE {
        blocks[..fours].reverse();
    }
    blocks
}

/// The key schedule as work of its own, so that it is compiled once and not into every mode.
struct Expand<'a, L: Layers, const INVERSE: bool> {
    cipher: &'a mut Sc2000<L, INVERSE>,
    key: &'a [u8],
}

impl<L: Layers, const INVERSE: bool> Work for Expand<'_, L, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Sc2000 { isa, fours, bytes } = self.cipher;
        let user = load(*isa, &[self.key; MAX_LANES]);
        let mut blocks = expanded::<L, INVERSE>(*isa, user, *fours);
        for (bytes, block) in bytes.0.iter_mut().zip(&blocks).take(*fours) {
            *bytes = L::keys(*block);
        }
        wipe(&mut blocks);
    }
}

/// Up to [`GROUP`] registers, as work.
struct Group<'a, L: Layers, K, const INVERSE: bool> {
    isa: IsaOf<L::Bytes>,
    keys: K,
    blocks: &'a mut [LanesOf<L>; GROUP],
}

impl<L: Layers, K: RoundKeys<L>, const INVERSE: bool> Work for Group<'_, L, K, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut state = byte_sliced::load::<L::Bytes>(self.blocks);
        L::slice(&mut state);
        crypt::<L, K, INVERSE>(self.isa, &self.keys, &mut state);
        L::unslice(&mut state);
        byte_sliced::store(self.blocks, state);
    }
}

impl<L: Layers, const INVERSE: bool> Sc2000<L, INVERSE> {
    /// Round keys in the order of use.
    fn fours(&self) -> &[[L::Key; GROUP]] {
        &self.bytes.0[..self.fours]
    }

    fn run(&self, blocks: &mut [LanesOf<L>; GROUP]) {
        let keys = Shared::<L> { isa: self.isa, fours: self.fours() };
        self.isa.vectorize(Group::<_, _, INVERSE> { isa: self.isa, keys, blocks });
    }

    /// Runs pairs of groups where they lie. Returns what is left.
    #[inline(never)] // as chains of single groups wait for each instruction around them
    fn run_pairs<'a>(&self, blocks: &'a mut [LanesOf<L>]) -> &'a mut [LanesOf<L>] {
        let count = blocks.len() / (2 * GROUP) * 2;
        let (groups, rest) = blocks.split_at_mut(count * GROUP);
        let to = groups.as_mut_ptr().cast::<u8>();
        // SAFETY: so many groups are there, and registers are plain bytes.
        unsafe { L::run_pairs::<INVERSE>(self.fours(), Groups { from: to, to, count, ahead: 0 }, None) }
        rest
    }
}

impl<L: Layers, const INVERSE: bool> InGroups for Sc2000<L, INVERSE> {
    type Isa = IsaOf<L::Bytes>;
    type GroupKeys = EachKey<L, INVERSE>;

    fn new(isa: Self::Isa, key: &[u8]) -> Self {
        // SAFETY: keys are plain bytes, and zeros are some.
        let bytes = unsafe { std::mem::zeroed() };
        let mut cipher = Self { isa, fours: 0, bytes };
        cipher.rekey(key);
        cipher
    }

    fn rekey(&mut self, key: &[u8]) {
        self.fours = fours(key.len());
        self.isa.vectorize(Expand { cipher: self, key });
    }

    fn apply(&self, blocks: &mut [LanesOf<L>]) {
        if L::IN_MEMORY && blocks.len() >= 2 * GROUP {
            let rest = self.run_pairs(blocks);
            if !rest.is_empty() {
                self.apply(rest);
            }
            return;
        }
        let (groups, rest) = blocks.as_chunks_mut();
        for group in groups {
            self.run(group);
        }
        if !rest.is_empty() {
            filled_up(rest, |group| self.run(group));
        }
    }

    fn runs_pairs(&self) -> bool {
        L::IN_MEMORY
    }

    /// Pairs.
    fn runs_in_memory(&self, groups: usize) -> usize {
        if L::IN_MEMORY { groups / 2 * 2 } else { 0 }
    }

    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { L::run_pairs::<INVERSE>(self.fours(), groups, added) }
    }

    /// Only what encrypts: no mode decrypts counters.
    fn counts(&self, groups: usize) -> usize {
        if L::IN_MEMORY && !INVERSE { groups / 2 * 2 } else { 0 }
    }

    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { L::count_pairs(self.fours(), counter, text) }
    }
}
