//! GHASH of a message in each lane, under a hash key of its own: by itself, or while a cipher works.

use super::set::BLOCKS;
use crate::cipher::{CALLS, Meanwhile};
use crate::lanes::Lanes;
use crate::mode::gcm::ghash::{Power, Products};

/// Powers of the hash key of each lane, highest first. Without the sums of their halves: where these do not stay in
/// registers, two instructions make them anew sooner than a CPU that stores 256 bits a clock has stored them.
pub(super) type Powers<T> = [T; BLOCKS];

/// `hash` after the first N of some registers, a block a lane each, their bytes reversed: with a single reduction.
#[inline(always)]
pub(super) fn absorb<T: Lanes, const N: usize, const KARATSUBA: bool>(
    powers: &Powers<T>,
    hash: T,
    blocks: &[T; BLOCKS],
) -> T {
    let mut products = Products::zero(hash.isa());
    for i in 0..N {
        let x = if i == 0 { blocks[0].xor(hash) } else { blocks[i] };
        products.add::<KARATSUBA>(x, Power::new(powers[BLOCKS - N + i]));
    }
    products.settle::<KARATSUBA>().reduce(hash.isa())
}

/// [`absorb`] of `count` registers.
#[inline(always)]
pub(super) fn absorb_some<T: Lanes, const KARATSUBA: bool>(
    powers: &Powers<T>,
    hash: T,
    blocks: &[T; BLOCKS],
    count: usize,
) -> T {
    match count {
        0 => hash,
        1 => absorb::<T, 1, KARATSUBA>(powers, hash, blocks),
        2 => absorb::<T, 2, KARATSUBA>(powers, hash, blocks),
        3 => absorb::<T, 3, KARATSUBA>(powers, hash, blocks),
        _ => absorb::<T, BLOCKS, KARATSUBA>(powers, hash, blocks),
    }
}

/// Powers of the hash keys `h`, as the cipher has given them.
#[inline(always)]
pub(super) fn powers<T: Lanes, const KARATSUBA: bool>(h: T) -> Powers<T> {
    let isa = h.isa();
    let h = h.reverse_bytes().times_x_reflected();
    let square = Products::square(h).reduce(isa);
    let mut third = Products::zero(isa);
    third.add::<KARATSUBA>(square, Power::new(h));
    let third = third.settle::<KARATSUBA>().reduce(isa);
    let fourth = Products::square(square).reduce(isa);
    [fourth, third, square, h]
}

/// Hashes BLOCKS registers of each of G sets of lanes, while a cipher works.
pub(super) struct Absorb<'a, T, const G: usize, const KARATSUBA: bool> {
    powers: &'a [Powers<T>],
    hash: &'a mut [T; G],
    blocks: &'a [[T; BLOCKS]; G],
    products: [Products<T>; G],
}

impl<'a, T: Lanes, const G: usize, const KARATSUBA: bool> Absorb<'a, T, G, KARATSUBA> {
    #[inline(always)]
    pub(super) fn new(powers: &'a [Powers<T>], hash: &'a mut [T; G], blocks: &'a [[T; BLOCKS]; G]) -> Self {
        let products = [Products::zero(hash[0].isa()); G];
        Self { powers, hash, blocks, products }
    }
}

/// Steps that multiply; the one after them reduces.
const MULTIPLYING: usize = CALLS - 1;

impl<T: Lanes, const G: usize, const KARATSUBA: bool> Meanwhile for Absorb<'_, T, G, KARATSUBA> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        if call < MULTIPLYING {
            // The registers spread evenly over the steps, those of all sets in turn.
            for i in call * G * BLOCKS / MULTIPLYING..(call + 1) * G * BLOCKS / MULTIPLYING {
                let (g, block) = (i % G, i / G);
                let x = self.blocks[g][block];
                let x = if block == 0 { x.xor(self.hash[g]) } else { x };
                self.products[g].add::<KARATSUBA>(x, Power::new(self.powers[g][block]));
                self.products[g] = self.products[g].pin();
            }
        } else if call == MULTIPLYING {
            for g in 0..G {
                self.hash[g] = self.products[g].settle::<KARATSUBA>().reduce(self.hash[g].isa());
            }
        }
    }
}
