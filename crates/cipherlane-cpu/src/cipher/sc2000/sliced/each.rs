//! SC2000 under a key for each block of a group.

use super::layers::{LanesOf, Layers, RoundKeys};
use super::schedule::{self, MAX_FOURS, fours};
use super::{Group, expanded};
use crate::cipher::byte_sliced::{GROUP, load, store};
use crate::cipher::grouped::GroupKeys;
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes, Work, wipe};

/// Groups of four round keys in the order of use, in slices.
type Slices<L> = [[LanesOf<L>; GROUP]; MAX_FOURS];

/// SC2000 under a key for each lane of each register of a group. INVERSE decrypts. Wiped when dropped.
pub(crate) struct EachKey<L: Layers, const INVERSE: bool> {
    isa: IsaOf<L::Bytes>,
    /// How many there are.
    fours: usize,
    slices: Box<Slices<L>>,
}

impl<L: Layers, const INVERSE: bool> GroupKeys for EachKey<L, INVERSE> {
    type Isa = IsaOf<L::Bytes>;
    /// Round keys of a group are several times as many bytes as those of one key: longer messages are faster alone.
    const MOST_BLOCKS: usize = GROUP * LanesOf::<L>::LANES;

    fn new(isa: Self::Isa) -> Self {
        Self { isa, fours: 0, slices: Box::new([[isa.zero(); GROUP]; MAX_FOURS]) }
    }

    fn rekey(&mut self, keys: &[&[u8]]) {
        self.fours = fours(keys[0].len());
        self.isa.vectorize(Expand { to: self, keys });
    }

    fn apply(&self, blocks: &mut [LanesOf<L>; GROUP]) {
        let keys = Sliced::<L>(&self.slices[..self.fours]);
        self.isa.vectorize(Group::<_, _, INVERSE> { isa: self.isa, keys, blocks });
    }
}

impl<L: Layers, const INVERSE: bool> Drop for EachKey<L, INVERSE> {
    fn drop(&mut self) {
        wipe(self.slices.as_flattened_mut());
    }
}

/// The key schedules as work: register by register, then slice by slice.
struct Expand<'a, L: Layers, const INVERSE: bool> {
    to: &'a mut EachKey<L, INVERSE>,
    keys: &'a [&'a [u8]],
}

impl<L: Layers, const INVERSE: bool> Work for Expand<'_, L, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let EachKey { isa, fours, slices } = self.to;
        for (register, keys) in self.keys.chunks_exact(LanesOf::<L>::LANES).enumerate() {
            let mut blocks = expanded::<L, INVERSE>(*isa, schedule::load(*isa, keys), *fours);
            for (registers, block) in slices.iter_mut().zip(&blocks) {
                registers[register] = *block;
            }
            wipe(&mut blocks);
        }
        for registers in &mut slices[..*fours] {
            let mut four = load::<L::Bytes>(registers);
            L::slice(&mut four);
            store(registers, four);
        }
    }
}

/// Round keys of a group.
struct Sliced<'a, L: Layers>(&'a [[LanesOf<L>; GROUP]]);

impl<'a, L: Layers> RoundKeys<L> for Sliced<'a, L> {
    type Four = &'a [LanesOf<L>; GROUP];

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.len() / 2 - 1
    }

    #[inline(always)]
    fn four(&self, index: usize) -> Self::Four {
        &self.0[index]
    }

    #[inline(always)]
    fn byte(&self, four: Self::Four, byte: usize) -> L::Bytes {
        L::Bytes::from_lanes(four[byte])
    }
}
