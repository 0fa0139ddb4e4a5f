//! SC2000, byte-sliced.

mod layers;
mod rounds;
mod schedule;
pub(crate) mod shuffle;

pub(crate) mod vbmi;

use layers::{Each, LanesOf, Layers, RoundKeys, Shared};
use rounds::crypt;
use schedule::{MAX_FOURS, fours, intermediate, load};

use crate::cipher::byte_sliced::GROUP;
use crate::cipher::{CALLS, KeyPerLane, Meanwhile, Permutation, V};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Work, wipe};

/// SC2000 under a key of any length, or under a key a lane; INVERSE decrypts.
pub(crate) struct Sc2000<L: Layers, const INVERSE: bool> {
    isa: IsaOf<L::Bytes>,
    /// Groups of four round keys: 14 for 6.5 rounds, 16 for 7.5.
    fours: usize,
    /// Four round keys a lane, as a block has words, in the order of use.
    blocks: [LanesOf<L>; MAX_FOURS],
    /// The same byte by byte.
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

/// The key schedule as work of its own, so that it is compiled once and not into every mode.
struct Expand<'a, L: Layers, const INVERSE: bool> {
    cipher: &'a mut Sc2000<L, INVERSE>,
    user: [LanesOf<L>; 2],
}

impl<L: Layers, const INVERSE: bool> Work for Expand<'_, L, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Sc2000 { isa, fours, blocks, bytes } = self.cipher;
        let intermediate = intermediate::<L>(*isa, self.user);
        L::extend(*isa, intermediate, &mut blocks[..*fours]);
        if INVERSE {
            blocks[..*fours].reverse();
        }
        for (bytes, block) in bytes.0.iter_mut().zip(&*blocks).take(*fours) {
            *bytes = L::keys(*block);
        }
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
        let mut state = [L::Bytes::from_lanes(self.blocks[0]); GROUP];
        for (slice, block) in state.iter_mut().zip(&*self.blocks) {
            *slice = L::Bytes::from_lanes(*block);
        }
        L::slice(&mut state);
        crypt::<L, K, INVERSE>(self.isa, &self.keys, &mut state);
        L::unslice(&mut state);
        for (slice, block) in state.into_iter().zip(self.blocks) {
            *block = slice.to_lanes();
        }
    }
}

impl<L: Layers, const INVERSE: bool> Sc2000<L, INVERSE> {
    #[inline(always)]
    fn set<'k>(&mut self, key_bytes: usize, key: impl Fn(usize) -> &'k [u8]) {
        self.fours = fours(key_bytes);
        let user = load(self.isa, key_bytes, key);
        self.isa.vectorize(Expand { cipher: self, user });
    }

    /// A group as work.
    #[inline(always)]
    fn group<'a>(&'a self, blocks: &'a mut [LanesOf<L>; GROUP]) -> Group<'a, L, Shared<'a, L>, INVERSE> {
        Group { keys: Shared { isa: self.isa, fours: &self.bytes.0[..self.fours] }, isa: self.isa, blocks }
    }

    #[inline(always)]
    fn with<'k>(isa: IsaOf<L::Bytes>, key_bytes: usize, key: impl Fn(usize) -> &'k [u8]) -> Self {
        // SAFETY: keys are plain bytes, and zeros are some.
        let bytes = unsafe { std::mem::zeroed() };
        let mut cipher = Self { isa, fours: 0, blocks: [isa.zero(); MAX_FOURS], bytes };
        cipher.set(key_bytes, key);
        cipher
    }
}

impl<L: Layers, const INVERSE: bool> Permutation for Sc2000<L, INVERSE> {
    type Isa = IsaOf<L::Bytes>;
    type Source = Self::Isa;
    const WHOLE_GROUPS: bool = true;

    #[inline(always)]
    fn new(isa: Self::Isa, key: &[u8]) -> Self {
        Self::with(isa, key.len(), |_| key)
    }

    #[inline(always)]
    fn rekey(&mut self, key: &[u8]) {
        self.set(key.len(), |_| key);
    }

    #[inline(always)]
    fn isa(&self) -> Self::Isa {
        self.isa
    }

    /// Best with N a multiple of [`GROUP`]. The rounds leave no port idle, so `meanwhile` does its work before them.
    #[inline(always)]
    fn apply_while<const N: usize>(
        &self,
        mut blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        for call in 0..CALLS {
            meanwhile.step(call);
        }
        for some in blocks.chunks_mut(GROUP) {
            let mut group = [self.isa.zero(); GROUP];
            group[..some.len()].copy_from_slice(some);
            self.isa.vectorize(self.group(&mut group));
            some.copy_from_slice(&group[..some.len()]);
        }
        blocks
    }
}

impl<L: Layers> KeyPerLane for Sc2000Encrypt<L> {
    #[inline(always)]
    fn per_lane<'k>(isa: Self::Isa, key: impl Fn(usize) -> &'k [u8]) -> Self {
        Self::with(isa, key(0).len(), key)
    }

    #[inline(always)]
    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.set(key(0).len(), key);
    }

    #[inline(always)]
    fn apply_each<const N: usize>(each: [&Self; N], mut blocks: [V<Self>; N]) -> [V<Self>; N] {
        let isa = each[0].isa;
        for (i, some) in blocks.chunks_mut(GROUP).enumerate() {
            let mut group = [isa.zero(); GROUP];
            group[..some.len()].copy_from_slice(some);
            // Registers that fill up the last group are encrypted under the last keys, and dropped.
            let mut keys = Each::<L> { fours: each[0].fours, blocks: [&each[0].blocks; GROUP] };
            for (j, blocks) in keys.blocks.iter_mut().enumerate() {
                *blocks = &each[(GROUP * i + j).min(N - 1)].blocks;
            }
            isa.vectorize(Group::<L, _, false> { isa, keys, blocks: &mut group });
            some.copy_from_slice(&group[..some.len()]);
        }
        blocks
    }
}

impl<L: Layers, const INVERSE: bool> Drop for Sc2000<L, INVERSE> {
    fn drop(&mut self) {
        wipe(&mut self.blocks);
    }
}
