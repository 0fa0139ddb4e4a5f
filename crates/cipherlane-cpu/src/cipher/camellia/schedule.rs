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

/// 64 bits of a key, first byte highest; or of many keys, side by side.
pub(in crate::cipher) trait Part: Copy {
    /// `word` <<< `by`, of two parts.
    fn rotated(word: [Self; 2], by: u32) -> [Self; 2];

    /// `self ^ other`.
    fn add(self, other: Self) -> Self;

    /// `self ^ constant`.
    fn add_constant(self, constant: u64) -> Self;

    /// Of a subkey of FL or FLINV (section 2.4.2) its k2 in place of k1, and zeros: what FL XORs to its result, and FLINV
    /// to its argument, besides what is linear, since x | k2 is (x & !k2) ^ k2.
    fn constant_of_layer(self) -> Self;

    /// Of such a subkey k1 and the complement of k2: the masks of what is linear.
    #[inline(always)]
    fn masks(self) -> Self {
        self.add_constant(u64::from(u32::MAX))
    }

    /// FLINV without its constant, of `y` under the subkey `self`, which is also the inverse of FL without its constant.
    fn inverse_linear(self, y: Self) -> Self;
}

#[allow(clippy::cast_possible_truncation)] // takes the halves apart
impl Part for u64 {
    #[inline(always)]
    fn rotated([left, right]: [u64; 2], by: u32) -> [u64; 2] {
        let word = (u128::from(left) << 64 | u128::from(right)).rotate_left(by);
        [(word >> 64) as u64, word as u64]
    }

    #[inline(always)]
    fn add(self, other: u64) -> u64 {
        self ^ other
    }

    #[inline(always)]
    fn add_constant(self, constant: u64) -> u64 {
        self ^ constant
    }

    #[inline(always)]
    fn constant_of_layer(self) -> u64 {
        self << 32
    }

    #[inline(always)]
    fn inverse_linear(self, y: u64) -> u64 {
        let (k1, k2) = ((self >> 32) as u32, self as u32);
        let (mut y1, mut y2) = ((y >> 32) as u32, y as u32);
        y1 ^= y2 & !k2;
        y2 ^= (y1 & k1).rotate_left(1);
        u64::from(y1) << 32 | u64::from(y2)
    }
}

/// KL, KR, KA and KB, big-endian.
#[derive(Clone, Copy)]
pub(in crate::cipher) struct Material<T> {
    pub(in crate::cipher) kl: [T; 2],
    pub(in crate::cipher) kr: [T; 2],
    pub(in crate::cipher) ka: [T; 2],
    pub(in crate::cipher) kb: [T; 2],
}

/// Rounds for a key of `bytes` bytes.
pub(in crate::cipher) const fn rounds(bytes: usize) -> usize {
    if bytes == 16 { 18 } else { 24 }
}

/// KR of a key of `bytes` bytes, of which `rest` is what follows the first 16.
pub(in crate::cipher) fn second_half<T: Part>(rest: [T; 2], bytes: usize) -> [T; 2] {
    // A key of 192 bits is followed by the complement of its end.
    if bytes == 24 { [rest[0], rest[0].add_constant(u64::MAX)] } else { rest }
}

/// The subkeys by their names in RFC 3713; kw, k and ke are numbered from 0 here.
#[derive(Clone, Copy)]
pub(in crate::cipher) struct Subkeys<T> {
    pub(in crate::cipher) kw: [T; 4],
    /// By pairs of rounds.
    pub(in crate::cipher) k: [[T; 2]; MAX_ROUNDS / 2],
    pub(in crate::cipher) ke: [T; 2 * MAX_LAYERS],
    pub(in crate::cipher) rounds: usize,
}

impl<T: Part> Subkeys<T> {
    /// The subkeys of `rounds` rounds, in the order of decryption if `INVERSE`.
    #[inline(always)]
    pub(in crate::cipher) fn new<const INVERSE: bool>(material: &Material<T>, rounds: usize) -> Self {
        let subkeys = if rounds == 18 { Self::of_128_bits(material) } else { Self::of_more_bits(material) };
        if INVERSE { subkeys.reversed() } else { subkeys }
    }

    #[inline(always)]
    fn of_128_bits(&Material { kl, ka, .. }: &Material<T>) -> Self {
        let k = [
            ka,
            T::rotated(kl, 15),
            T::rotated(ka, 15),
            T::rotated(kl, 45),
            [T::rotated(ka, 45)[0], T::rotated(kl, 60)[1]],
            T::rotated(ka, 60),
            T::rotated(kl, 94),
            T::rotated(ka, 94),
            T::rotated(kl, 111),
            // Nobody asks for these.
            ka,
            ka,
            ka,
        ];
        let ([a, b], [c, d]) = (T::rotated(ka, 30), T::rotated(kl, 77));
        let ([first, second], [third, fourth]) = (kl, T::rotated(ka, 111));
        Self { kw: [first, second, third, fourth], k, ke: [a, b, c, d, a, b], rounds: 18 }
    }

    #[inline(always)]
    fn of_more_bits(&Material { kl, kr, ka, kb }: &Material<T>) -> Self {
        let k = [
            kb,
            T::rotated(kr, 15),
            T::rotated(ka, 15),
            T::rotated(kb, 30),
            T::rotated(kl, 45),
            T::rotated(ka, 45),
            T::rotated(kr, 60),
            T::rotated(kb, 60),
            T::rotated(kl, 77),
            T::rotated(kr, 94),
            T::rotated(ka, 94),
            T::rotated(kl, 111),
        ];
        let ([a, b], [c, d], [e, f]) = (T::rotated(kr, 30), T::rotated(kl, 60), T::rotated(ka, 77));
        let ([first, second], [third, fourth]) = (kl, T::rotated(kb, 111));
        Self { kw: [first, second, third, fourth], k, ke: [a, b, c, d, e, f], rounds: 24 }
    }

    /// For decryption (section 2.3.3): in the opposite order, the halves of the whitening as they were.
    #[inline(always)]
    fn reversed(mut self) -> Self {
        self.kw.rotate_left(2);
        self.k.as_flattened_mut()[..self.rounds].reverse();
        self.ke[..self.rounds / 3 - 2].reverse();
        self
    }
}

impl Zeroize for Subkeys<u64> {
    fn zeroize(&mut self) {
        self.kw.zeroize();
        self.k.zeroize();
        self.ke.zeroize();
    }
}

/// The sum of both, where there is a first.
#[inline(always)]
fn add_to<T: Part>(first: Option<T>, second: T) -> T {
    match first {
        Some(first) => first.add(second),
        None => second,
    }
}

/// Where goes what the rounds add and mask, in blocks of two halves.
pub(super) trait Sink<T> {
    /// Added to the block before all rounds; then what rounds 1 and 2 add to the halves, rounds 3 and 4, and so on;
    /// then what is added to the right half after all rounds, and what nobody asks for.
    fn sum(&mut self, index: usize, halves: [T; 2]);

    /// The masks of FL and of FLINV, layer by layer.
    fn mask(&mut self, index: usize, halves: [T; 2]);
}

/// Makes subkeys of `rounds` rounds, in the order of decryption if `INVERSE`. `offset` is XORed to what is added to an
/// input of F: see [`super::boxes::Boxes::OFFSET`].
#[inline(always)]
pub(super) fn expand<T: Part, const INVERSE: bool>(
    material: &Material<T>,
    rounds: usize,
    offset: u64,
    sink: &mut impl Sink<T>,
) {
    let subkeys = Subkeys::new::<INVERSE>(material, rounds);
    let Subkeys { kw, ke, .. } = &subkeys;
    let k = subkeys.k.as_flattened();
    // What the left half carries, and the right one but for what is nothing at first.
    let (mut left, mut right) = (k[0].add_constant(offset), None);
    sink.sum(0, [kw[0].add(left), kw[1]]);
    for pair in 0..rounds / 2 {
        let next = 2 * pair + 2;
        // Round 2 pair + 1 changes the right half, which is the input of round 2 pair + 2.
        let second = k[next - 1].add_constant(offset);
        let to_right = add_to(right, second);
        let mut carries = [if next == rounds { kw[3] } else { k[next].add_constant(offset) }, second];
        let mut to_left = carries[0];
        if next < rounds && next.is_multiple_of(ROUNDS_OF_SEGMENT) {
            let layer = next / ROUNDS_OF_SEGMENT - 1;
            let [fl, inverse] = [ke[2 * layer], ke[2 * layer + 1]];
            sink.mask(layer, [fl.masks(), inverse.masks()]);
            to_left = fl.inverse_linear(to_left.add(fl.constant_of_layer()));
            carries[1] = inverse.inverse_linear(second.add(inverse.constant_of_layer()));
        }
        sink.sum(pair + 1, [to_right, left.add(to_left)]);
        (left, right) = (carries[0], Some(carries[1]));
    }
    let last = add_to(right, kw[2]);
    sink.sum(1 + rounds / 2, [last, last]);
}
