//! The rounds of Camellia over slices (RFC 3713 sections 2.2 and 2.3).

use super::boxes::{Boxes, Coordinates, Half, Maps, Plain, Word};
use super::schedule::{ROUNDS_OF_SEGMENT, SIGMA};
use crate::cipher::byte_sliced::GROUP;
use crate::lanes::bytes::{Bytes, IsaOf, repeated};

/// Where the rounds take their subkeys from.
pub(super) trait Subkeys<X: Boxes> {
    /// How many rounds there are.
    fn rounds(&self) -> usize;

    /// Entered: see [`super::schedule::Sink::sum`].
    fn sum(&self, index: usize) -> [Half<X::Bytes>; 2];

    /// FL of the left half and FLINV of the right one, without their constants, for layer `index` from 0.
    fn layer(&self, index: usize, halves: [Half<X::Bytes>; 2]) -> [Half<X::Bytes>; 2];
}

/// All rounds.
#[inline(always)]
pub(super) fn crypt<X: Boxes>(subkeys: &impl Subkeys<X>, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
    let [left, right] = halves(entered::<X>(block));
    let [first, second] = subkeys.sum(0);
    let (mut left, mut right) = (add(left, first), add(right, second));
    for segment in 0..subkeys.rounds() / ROUNDS_OF_SEGMENT {
        if segment > 0 {
            [left, right] = subkeys.layer(segment - 1, [left, right]);
        }
        for pair in 0..ROUNDS_OF_SEGMENT / 2 {
            let [first, second] = subkeys.sum(1 + ROUNDS_OF_SEGMENT / 2 * segment + pair);
            right = round::<X>(left, right, first);
            left = round::<X>(right, left, second);
        }
    }
    let [last, _] = subkeys.sum(1 + subkeys.rounds() / 2);
    left_again::<X>([add(right, last), left])
}

/// `to ^ F(from) ^ sum`, where `from` carries its subkey.
#[inline(always)]
fn round<X: Boxes>(from: Half<X::Bytes>, to: Half<X::Bytes>, sum: Half<X::Bytes>) -> Half<X::Bytes> {
    let z = X::sboxes(from);
    if X::Bytes::HAS_XOR3 { add_p_by_threes(z, to, sum) } else { add(add(to, sum), p(z)) }
}

/// P (section 2.4.1), in steps that each change a byte: 16 sums of two.
#[inline(always)]
pub(super) fn p<B: Bytes>(
    [mut z1, mut z2, mut z3, mut z4, mut z5, mut z6, mut z7, mut z8]: Half<B>,
) -> Half<B> {
    (z1, z2, z3, z4) = (z1.xor(z6), z2.xor(z7), z3.xor(z8), z4.xor(z5));
    (z5, z6, z7, z8) = (z5.xor(z3), z6.xor(z4), z7.xor(z1), z8.xor(z2));
    (z1, z2, z3, z4) = (z1.xor(z8), z2.xor(z5), z3.xor(z6), z4.xor(z7));
    (z5, z6, z7, z8) = (z5.xor(z4), z6.xor(z1), z7.xor(z2), z8.xor(z3));
    [z5, z6, z7, z8, z1, z2, z3, z4]
}

/// The inverse of [`p`]: its steps backwards, each of which undoes itself.
#[inline(always)]
pub(super) fn p_inverse<B: Bytes>(
    [mut z5, mut z6, mut z7, mut z8, mut z1, mut z2, mut z3, mut z4]: Half<B>,
) -> Half<B> {
    (z5, z6, z7, z8) = (z5.xor(z4), z6.xor(z1), z7.xor(z2), z8.xor(z3));
    (z1, z2, z3, z4) = (z1.xor(z8), z2.xor(z5), z3.xor(z6), z4.xor(z7));
    (z5, z6, z7, z8) = (z5.xor(z3), z6.xor(z4), z7.xor(z1), z8.xor(z2));
    (z1, z2, z3, z4) = (z1.xor(z6), z2.xor(z7), z3.xor(z8), z4.xor(z5));
    [z1, z2, z3, z4, z5, z6, z7, z8]
}

/// `to ^ P(z) ^ sum` in 26 sums of three or two, of which one waits for SBOX4, of bytes 4 and 7, which takes longest, and
/// at most three, one after the other, for another of `z`: rounds are a chain, and its length is their time.
#[inline(always)]
fn add_p_by_threes<B: Bytes>(z: Half<B>, to: Half<B>, sum: Half<B>) -> Half<B> {
    let [z1, z2, z3, z4, z5, z6, z7, z8] = z;
    let (a, b, c) = (z1.xor(z8), z2.xor(z5), z3.xor(z6));
    [
        to[0].xor(sum[0]).xor3(a, c).xor3(z4, z7),
        to[1].xor(sum[1]).xor3(a, b).xor3(z4, z7),
        to[2].xor3(sum[2], a).xor3(b, c),
        to[3].xor(sum[3]).xor3(b, c).xor3(z4, z7),
        to[4].xor(sum[4]).xor3(z2, z6).xor3(a, z7),
        to[5].xor(sum[5]).xor3(z3, z8).xor3(b, z7),
        to[6].xor(sum[6]).xor3(z5, z8).xor3(c, z4),
        to[7].xor3(sum[7], z1).xor3(z5, z6).xor3(z4, z7),
    ]
}

/// FL without its constant (section 2.4.2).
#[inline(always)]
pub(super) fn fl<C: Coordinates>(half: Half<C::Bytes>, maps: &Maps<C::Bytes>) -> Half<C::Bytes> {
    let [x1, x2] = words(half);
    let x2 = C::add_rotated(x2, x1, maps);
    of_words([C::add_masked(x1, x2, maps), x2])
}

/// FLINV without its constant (section 2.4.3).
#[inline(always)]
pub(super) fn fl_inverse<C: Coordinates>(half: Half<C::Bytes>, maps: &Maps<C::Bytes>) -> Half<C::Bytes> {
    let [y1, y2] = words(half);
    let y1 = C::add_masked(y1, y2, maps);
    of_words([y1, C::add_rotated(y2, y1, maps)])
}

/// FL of the left half and FLINV of the right one, without their constants, by the masks of a layer, all of it as RFC 3713
/// has bytes.
#[inline(always)]
pub(super) fn plain_layer<B: Bytes>(masks: [B; GROUP], [left, right]: [Half<B>; 2]) -> [Half<B>; 2] {
    let [of_fl, of_inverse] = halves(masks);
    [fl::<Plain<B>>(left, &Maps::plain(of_fl)), fl_inverse::<Plain<B>>(right, &Maps::plain(of_inverse))]
}

/// KA and KB of KL and KR (section 2.2), in slices. KB only if it is needed.
#[inline(always)]
pub(super) fn derive<X: Boxes>(
    isa: IsaOf<X::Bytes>,
    [kl, kr]: [[X::Bytes; GROUP]; 2],
    kb_needed: bool,
) -> [[X::Bytes; GROUP]; 2] {
    let [left, right] = halves(entered::<X>(kl));
    let [kr_left, kr_right] = halves(entered::<X>(kr));
    let mut ka = two_rounds::<X>(isa, 0, [add(left, kr_left), add(right, kr_right)]);
    ka = two_rounds::<X>(isa, 2, [add(ka[0], left), add(ka[1], right)]);
    let mut kb = ka;
    if kb_needed {
        kb = two_rounds::<X>(isa, 4, [add(ka[0], kr_left), add(ka[1], kr_right)]);
    }
    [left_again::<X>(ka), left_again::<X>(kb)]
}

/// Two rounds with constants number `first` and the next for subkeys.
#[inline(always)]
fn two_rounds<X: Boxes>(
    isa: IsaOf<X::Bytes>,
    first: usize,
    [left, right]: [Half<X::Bytes>; 2],
) -> [Half<X::Bytes>; 2] {
    let one = constant::<X>(isa, SIGMA[first]);
    let two = constant::<X>(isa, SIGMA[first + 1]);
    let left = add(left, one);
    let right = round::<X>(left, right, two);
    [round::<X>(right, left, one), add(right, two)]
}

/// A subkey that is the same everywhere.
#[inline(always)]
fn constant<X: Boxes>(isa: IsaOf<X::Bytes>, subkey: u64) -> Half<X::Bytes> {
    let mut half = [X::Bytes::splat_half(isa, 0); 8];
    for (slice, byte) in half.iter_mut().zip(subkey.to_be_bytes()) {
        *slice = X::enter(X::Bytes::splat_half(isa, repeated(byte ^ X::OFFSET)));
    }
    half
}

/// Every byte in the coordinates of C.
#[inline(always)]
pub(super) fn entered<C: Coordinates>(mut block: [C::Bytes; GROUP]) -> [C::Bytes; GROUP] {
    for byte in &mut block {
        *byte = C::enter(*byte);
    }
    block
}

/// Every byte of two halves as RFC 3713 has it.
#[inline(always)]
pub(super) fn left_again<C: Coordinates>(halves: [Half<C::Bytes>; 2]) -> [C::Bytes; GROUP] {
    let mut block = join(halves);
    for byte in &mut block {
        *byte = C::leave(*byte);
    }
    block
}

#[inline(always)]
pub(super) fn add<B: Bytes, const N: usize>(mut a: [B; N], b: [B; N]) -> [B; N] {
    for i in 0..N {
        a[i] = a[i].xor(b[i]);
    }
    a
}

/// The left and the right half of a block.
#[inline(always)]
pub(super) fn halves<B: Copy>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [B; GROUP]) -> [Half<B>; 2] {
    [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p]]
}

#[inline(always)]
pub(super) fn join<B: Copy>(
    [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p]]: [Half<B>; 2],
) -> [B; GROUP] {
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

#[inline(always)]
fn words<B: Copy>([a, b, c, d, e, f, g, h]: Half<B>) -> [Word<B>; 2] {
    [[a, b, c, d], [e, f, g, h]]
}

#[inline(always)]
fn of_words<B: Copy>([[a, b, c, d], [e, f, g, h]]: [Word<B>; 2]) -> Half<B> {
    [a, b, c, d, e, f, g, h]
}
