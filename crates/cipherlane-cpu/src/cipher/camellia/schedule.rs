//! The key schedule of RFC 3713 section 2.2, and its subkeys as the rounds of this implementation take them.
//!
//! RFC 3713 adds a subkey to each input of F. Here a half of the block carries the subkey of its next round with it:
//! what a round adds is the difference of two subkeys, in the same instruction as the output of F, and the whitening
//! is part of such differences. FL and FLINV are affine for a given subkey, so what a half carries can be carried
//! through them, and their constants with it: they become linear.

use zeroize::Zeroize;

/// Most rounds: those of a key of more than 128 bits.
const MAX_ROUNDS: usize = 24;

/// Most blocks of subkeys: whitening, pairs of rounds, and the last half.
pub(super) const MAX_BLOCKS: usize = 1 + MAX_ROUNDS / 2 + 1;

/// Most layers of FL and FLINV.
pub(super) const MAX_LAYERS: usize = 3;

/// Rounds between layers of FL and FLINV.
pub(in crate::cipher) const ROUNDS_OF_SEGMENT: usize = 6;

/// Sigma1 to Sigma6.
pub(in crate::cipher) const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// KL, KR, KA and KB, big-endian.
#[derive(Clone, Copy)]
pub(in crate::cipher) struct Material {
    pub(in crate::cipher) kl: u128,
    pub(in crate::cipher) kr: u128,
    pub(in crate::cipher) ka: u128,
    pub(in crate::cipher) kb: u128,
}

/// Rounds for a key of `bytes` bytes.
pub(in crate::cipher) const fn rounds(bytes: usize) -> usize {
    if bytes == 16 { 18 } else { 24 }
}

/// KR of a key of `bytes` bytes, of which `rest` is what follows the first 16, then zeros.
pub(in crate::cipher) const fn second_half(rest: u128, bytes: usize) -> u128 {
    // A key of 192 bits is followed by the complement of its end.
    if bytes == 24 { rest | !rest >> 64 } else { rest }
}

/// The subkeys by their names in RFC 3713; kw, k and ke are numbered from 0 here.
#[derive(Clone, Copy, Zeroize)]
pub(in crate::cipher) struct Subkeys {
    pub(in crate::cipher) kw: [u64; 4],
    pub(in crate::cipher) k: [u64; MAX_ROUNDS],
    pub(in crate::cipher) ke: [u64; 2 * MAX_LAYERS],
    pub(in crate::cipher) rounds: usize,
}

/// The halves of `word` <<< `by`.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the halves apart
fn rotated(word: u128, by: u32) -> [u64; 2] {
    let word = word.rotate_left(by);
    [(word >> 64) as u64, word as u64]
}

impl Subkeys {
    /// The subkeys of `rounds` rounds, in the order of decryption if `INVERSE`.
    #[inline(always)]
    pub(in crate::cipher) fn new<const INVERSE: bool>(material: &Material, rounds: usize) -> Self {
        let subkeys = if rounds == 18 { Self::of_128_bits(material) } else { Self::of_more_bits(material) };
        if INVERSE { subkeys.reversed() } else { subkeys }
    }

    #[inline(always)]
    fn of_128_bits(&Material { kl, ka, .. }: &Material) -> Self {
        let mut k = [0; MAX_ROUNDS];
        let pairs = [
            rotated(ka, 0),
            rotated(kl, 15),
            rotated(ka, 15),
            rotated(kl, 45),
            [rotated(ka, 45)[0], rotated(kl, 60)[1]],
            rotated(ka, 60),
            rotated(kl, 94),
            rotated(ka, 94),
            rotated(kl, 111),
        ];
        k[..18].copy_from_slice(pairs.as_flattened());
        let ([a, b], [c, d]) = (rotated(ka, 30), rotated(kl, 77));
        let ([first, second], [third, fourth]) = (rotated(kl, 0), rotated(ka, 111));
        Self { kw: [first, second, third, fourth], k, ke: [a, b, c, d, 0, 0], rounds: 18 }
    }

    #[inline(always)]
    fn of_more_bits(&Material { kl, kr, ka, kb }: &Material) -> Self {
        let mut k = [0; MAX_ROUNDS];
        let pairs = [
            rotated(kb, 0),
            rotated(kr, 15),
            rotated(ka, 15),
            rotated(kb, 30),
            rotated(kl, 45),
            rotated(ka, 45),
            rotated(kr, 60),
            rotated(kb, 60),
            rotated(kl, 77),
            rotated(kr, 94),
            rotated(ka, 94),
            rotated(kl, 111),
        ];
        k.copy_from_slice(pairs.as_flattened());
        let ([a, b], [c, d], [e, f]) = (rotated(kr, 30), rotated(kl, 60), rotated(ka, 77));
        let ([first, second], [third, fourth]) = (rotated(kl, 0), rotated(kb, 111));
        Self { kw: [first, second, third, fourth], k, ke: [a, b, c, d, e, f], rounds: 24 }
    }

    /// For decryption (section 2.3.3): in the opposite order, the halves of the whitening as they were.
    #[inline(always)]
    fn reversed(mut self) -> Self {
        self.kw.rotate_left(2);
        self.k[..self.rounds].reverse();
        self.ke[..self.rounds / 3 - 2].reverse();
        self
    }
}

/// A subkey of FL or FLINV: k1 and k2 of section 2.4.2.
#[derive(Clone, Copy)]
struct Layer {
    k1: u32,
    k2: u32,
}

impl Layer {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes the halves apart
    fn new(subkey: u64) -> Self {
        Self { k1: (subkey >> 32) as u32, k2: subkey as u32 }
    }

    /// x | k2 is (x & !k2) ^ k2: the masks of what is linear in FL and FLINV.
    #[inline(always)]
    fn masks(self) -> u64 {
        u64::from(self.k1) << 32 | u64::from(!self.k2)
    }

    /// What FL XORs to its result, and FLINV to its argument, besides what is linear.
    #[inline(always)]
    fn constant(self) -> u64 {
        u64::from(self.k2) << 32
    }

    /// FLINV without its constant, which is also the inverse of FL without its constant.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes the halves apart
    fn inverse_linear(self, y: u64) -> u64 {
        let (mut y1, mut y2) = ((y >> 32) as u32, y as u32);
        y1 ^= y2 & !self.k2;
        y2 ^= (y1 & self.k1).rotate_left(1);
        u64::from(y1) << 32 | u64::from(y2)
    }
}

/// What the rounds add and mask, in blocks.
pub(super) struct Blocks {
    /// Added to the block before all rounds; then what rounds 1 and 2 add to the halves, rounds 3 and 4, and so on;
    /// then what is added to the right half after all rounds, and nothing.
    pub(super) sums: [u128; MAX_BLOCKS],
    /// The masks of FL and of FLINV, layer by layer.
    pub(super) masks: [u128; MAX_LAYERS],
}

/// A block of two halves.
#[inline(always)]
fn block([left, right]: [u64; 2]) -> u128 {
    u128::from(left) << 64 | u128::from(right)
}

impl Blocks {
    /// The subkeys of `rounds` rounds, in the order of decryption if `INVERSE`. `offset` is XORed to
    /// what is added to an input of F: see [`super::boxes::Boxes::OFFSET`].
    #[inline(always)]
    pub(super) fn new<const INVERSE: bool>(material: &Material, rounds: usize, offset: u64) -> Self {
        let Subkeys { kw, mut k, ke, rounds } = Subkeys::new::<INVERSE>(material, rounds);
        for subkey in &mut k {
            *subkey ^= offset;
        }
        let mut blocks = Self { sums: [0; MAX_BLOCKS], masks: [0; MAX_LAYERS] };
        // What the left half and the right half carry.
        let mut carried = [k[0], 0];
        blocks.sums[0] = block([kw[0] ^ carried[0], kw[1]]);
        for pair in 0..rounds / 2 {
            let next = 2 * pair + 2;
            // Round 2 pair + 1 changes the right half, which is the input of round 2 pair + 2.
            let right = carried[1] ^ k[next - 1];
            let layer = next / ROUNDS_OF_SEGMENT;
            let (left, at_end) = if next == rounds {
                (kw[3], true)
            } else if next % ROUNDS_OF_SEGMENT == 0 {
                let [fl, inverse] = [Layer::new(ke[2 * layer - 2]), Layer::new(ke[2 * layer - 1])];
                blocks.masks[layer - 1] = block([fl.masks(), inverse.masks()]);
                let left = fl.inverse_linear(k[next] ^ fl.constant());
                blocks.sums[pair + 1] = block([right, carried[0] ^ left]);
                carried = [k[next], inverse.inverse_linear(k[next - 1] ^ inverse.constant())];
                continue;
            } else {
                (k[next], false)
            };
            blocks.sums[pair + 1] = block([right, carried[0] ^ left]);
            carried = [left, k[next - 1]];
            if at_end {
                blocks.sums[pair + 2] = block([carried[1] ^ kw[2], 0]);
            }
        }
        blocks
    }
}
