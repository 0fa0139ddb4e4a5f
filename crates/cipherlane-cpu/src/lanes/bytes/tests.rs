//! Every operation on bytes on every instruction set of this CPU, against arithmetic byte by byte.

use super::*;
use crate::lanes::{Isa, MAX_LANES, Work};

/// Bytes of the widest register, the same in each run.
type Model = [[u8; 16]; MAX_LANES];

fn bytes(seed: u8) -> Model {
    let byte = |lane: usize, i: usize| u8::try_from((lane * 16 + i) * 151 % 256).unwrap() ^ seed;
    std::array::from_fn(|lane| std::array::from_fn(|i| byte(lane, i)))
}

fn register<B: Bytes>(isa: IsaOf<B>, model: &Model) -> B {
    B::from_lanes(isa.lanes(model))
}

#[track_caller]
fn assert_bytes<B: Bytes>(register: B, expected: impl Fn(usize, usize) -> u8) {
    for (lane, block) in register.to_lanes().to_blocks()[..B::Lanes::LANES].iter().enumerate() {
        let expected: [u8; 16] = std::array::from_fn(|i| expected(lane, i));
        assert_eq!(*block, expected, "lane {lane} of {}", std::any::type_name::<B>());
    }
}

/// A test over any instruction set with these operations.
trait Test: Copy {
    fn run<B: Bytes>(self, isa: IsaOf<B>);
}

/// A test over instruction sets with affine maps.
trait GaloisTest: Copy {
    fn run<B: GaloisBytes>(self, isa: IsaOf<B>);
}

struct Inside<B: Bytes, T>(IsaOf<B>, T);

impl<B: Bytes, T: Test> Work for Inside<B, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.1.run::<B>(self.0);
    }
}

#[cfg(target_arch = "x86_64")]
fn on_every_isa(test: impl Test) {
    use super::x86::{Xmm, Ymm, Zmm};
    use crate::lanes::{avx2, sse::Sse, vaes256, vaes256::Vaes256, vaes512::Vaes512};
    fn both<B: Bytes>(isa: Option<IsaOf<B>>, test: impl Test) {
        if let Some(isa) = isa {
            test.run::<B>(isa);
            isa.vectorize(Inside::<B, _>(isa, test));
        }
    }
    both::<Xmm>(Sse::detect(), test);
    both::<Ymm<avx2::X2>>(avx2::Avx2::detect(), test);
    both::<Ymm<vaes256::X2>>(Vaes256::detect(), test);
    both::<Ymm<vaes256::X2<true>>>(Vaes256::detect_with_gfni(), test);
    both::<Zmm>(Vaes512::detect(), test);
}

#[cfg(not(target_arch = "x86_64"))]
fn on_every_isa(_: impl Test) {}

#[cfg(target_arch = "x86_64")]
fn on_every_galois_isa(test: impl GaloisTest) {
    use super::x86::{Ymm, Zmm};
    use crate::lanes::{vaes256, vaes512};
    if let Some(isa) = vaes256::Vaes256::detect_with_gfni() {
        test.run::<Ymm<vaes256::X2<true>>>(isa);
    }
    if let Some(isa) = vaes512::Vaes512::detect() {
        test.run::<Zmm>(isa);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn on_every_galois_isa(_: impl GaloisTest) {}

#[test]
fn bytes_are_interleaved_and_halves_repeated() {
    #[derive(Clone, Copy)]
    struct Interleaved;
    impl Test for Interleaved {
        #[inline(always)]
        fn run<B: Bytes>(self, isa: IsaOf<B>) {
            let (a, b) = (bytes(0), bytes(0x5a));
            let (x, y) = (register::<B>(isa, &a), register::<B>(isa, &b));
            let of = |lane: usize, i: usize, from: usize| [a, b][i % 2][lane][from + i / 2];
            assert_bytes(x.interleave_low(y), |lane, i| of(lane, i, 0));
            assert_bytes(x.interleave_high(y), |lane, i| of(lane, i, 8));
            let half = 0x0123_4567_89ab_cdef_u64;
            assert_bytes(B::splat_half(isa, half), |_, i| half.to_le_bytes()[i % 8]);
        }
    }
    on_every_isa(Interleaved);
}

#[test]
fn bytes_are_shifted_by_themselves() {
    #[derive(Clone, Copy)]
    struct Shifted;
    impl Test for Shifted {
        #[inline(always)]
        fn run<B: Bytes>(self, isa: IsaOf<B>) {
            let a = bytes(0);
            let x = register::<B>(isa, &a);
            assert_bytes(x.shift_bits_left::<1>(), |lane, i| a[lane][i] << 1);
            assert_bytes(x.shift_bits_left::<2>(), |lane, i| a[lane][i] << 2);
            assert_bytes(x.shift_bits_right::<4>(), |lane, i| a[lane][i] >> 4);
            assert_bytes(x.shift_bits_right::<7>(), |lane, i| a[lane][i] >> 7);
        }
    }
    on_every_isa(Shifted);
}

/// The product modulo x^8 + x^4 + x^3 + x + 1.
fn times(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0, |product: u8, i| {
        let doubled = product << 1 ^ if product & 0x80 != 0 { 0x1b } else { 0 };
        doubled ^ if b >> i & 1 == 1 { a } else { 0 }
    })
}

/// `matrix` times `x`, row by row.
fn product(matrix: u64, x: u8) -> u8 {
    (0..8).fold(0, |sum, i| {
        let row = matrix.to_le_bytes()[7 - i];
        sum | u8::try_from((row & x).count_ones() % 2).unwrap() << i
    })
}

#[test]
fn affine_maps_have_a_row_for_each_bit() {
    #[derive(Clone, Copy)]
    struct Maps;
    impl GaloisTest for Maps {
        fn run<B: GaloisBytes>(self, isa: IsaOf<B>) {
            const MATRICES: [u64; 2] = [0x0102_0408_1020_4080, 0x8f1e_2c3b_5aa5_77d1];
            let a = bytes(0);
            let x = register::<B>(isa, &a);
            let inverse = |x| (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
            for matrix in MATRICES {
                let words = B::splat_half(isa, matrix);
                let plain = |lane: usize, i: usize| product(matrix, a[lane][i]) ^ 0x63;
                let inverted = |lane: usize, i: usize| product(matrix, inverse(a[lane][i])) ^ 0x63;
                assert_bytes(x.affine::<0x63>(words), plain);
                assert_bytes(x.affine_of_inverse::<0x63>(words), inverted);
            }
            // A matrix of its own for each half.
            let halves = isa.splat_word(u128::from(MATRICES[1]) << 64 | u128::from(MATRICES[0]));
            let halves = B::from_lanes(halves);
            assert_bytes(x.affine::<0>(halves), |lane, i| product(MATRICES[i / 8], a[lane][i]));
        }
    }
    on_every_galois_isa(Maps);
}
