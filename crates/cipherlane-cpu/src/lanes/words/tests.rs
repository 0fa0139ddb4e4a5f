//! Every operation on words on every instruction set of this CPU, against integers word by word.

use super::super::{Isa, Work};
use super::*;

/// The bytes of the widest register.
type Model = [u8; 64];

/// Different bytes everywhere (the low bytes of a Weyl sequence), other ones for each `seed`.
fn model(seed: u32) -> Model {
    std::array::from_fn(|i| {
        let position = u32::try_from(i).unwrap() + 64 * seed;
        (position.wrapping_mul(0x9e37_79b9) >> 24).to_le_bytes()[0]
    })
}

fn words_32(model: &Model) -> [u32; MAX_WORDS_32] {
    std::array::from_fn(|i| u32::from_le_bytes(model[4 * i..4 * i + 4].try_into().unwrap()))
}

fn words_64(model: &Model) -> [u64; MAX_WORDS_64] {
    std::array::from_fn(|i| u64::from_le_bytes(model[8 * i..8 * i + 8].try_into().unwrap()))
}

fn load<V: WordLanes>(isa: V::Isa, model: &Model) -> V {
    // SAFETY: the model has the bytes of the widest register.
    unsafe { V::load(isa, model.as_ptr()) }
}

fn stored<V: WordLanes>(register: V) -> Model {
    let mut bytes = [0; 64];
    // SAFETY: as above.
    unsafe { register.store(bytes.as_mut_ptr()) };
    bytes
}

#[track_caller]
fn assert_32<V: WordLanes>(register: V, word: impl Fn(usize) -> u32) {
    let found = words_32(&stored(register));
    for (i, found) in found[..V::WORDS_32].iter().enumerate() {
        assert_eq!(*found, word(i), "word {i} of {}", std::any::type_name::<V>());
    }
}

#[track_caller]
fn assert_64<V: WordLanes>(register: V, word: impl Fn(usize) -> u64) {
    let found = words_64(&stored(register));
    for (i, found) in found[..V::WORDS_64].iter().enumerate() {
        assert_eq!(*found, word(i), "word {i} of {}", std::any::type_name::<V>());
    }
}

/// A test over any instruction set with words.
trait Test: Copy {
    fn run<V: WordLanes>(self, isa: V::Isa);
}

/// Runs a test on each instruction set of this CPU, within [`Isa::vectorize`], as kernels do, and outside.
#[cfg(target_arch = "x86_64")]
fn on_every_isa(test: impl Test) {
    use super::super::{avx2::Avx2, sse, vaes512};
    struct Inside<V: WordLanes, T>(V::Isa, T);
    impl<V: WordLanes, T: Test> Work for Inside<V, T> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            self.1.run::<V>(self.0);
        }
    }
    fn both<V: WordLanes>(isa: Option<V::Isa>, test: impl Test) {
        if let Some(isa) = isa {
            test.run::<V>(isa);
            isa.vectorize(Inside::<V, _>(isa, test));
        }
    }
    both::<sse::X1>(sse::Sse::detect(), test);
    both::<avx2::Ymm>(Avx2::detect(), test);
    both::<vaes512::X4>(vaes512::Vaes512::detect(), test);
}

#[cfg(not(target_arch = "x86_64"))]
fn on_every_isa(_: impl Test) {}

#[test]
fn first_bytes_are_stored_and_no_others() {
    #[derive(Clone, Copy)]
    struct Stored;
    impl Test for Stored {
        #[inline(always)]
        fn run<V: WordLanes>(self, isa: V::Isa) {
            let model = model(7);
            let register: V = load(isa, &model);
            for bytes in 0..=V::BYTES {
                let mut found = [0xa5; 64];
                // SAFETY: so many bytes of it are writable.
                unsafe { register.store_first(found.as_mut_ptr(), bytes) };
                assert_eq!(found[..bytes], model[..bytes], "{}", std::any::type_name::<V>());
                assert_eq!(found[bytes..], [0xa5; 64][bytes..], "{}", std::any::type_name::<V>());
            }
        }
    }
    on_every_isa(Stored);
}

#[test]
fn words_of_32_bits_are_combined() {
    #[derive(Clone, Copy)]
    struct Combined;
    impl Test for Combined {
        #[inline(always)]
        fn run<V: WordLanes>(self, isa: V::Isa) {
            let (a, b, c) = (model(1), model(2), model(3));
            let (x, y, z): (V, V, V) = (load(isa, &a), load(isa, &b), load(isa, &c));
            let (a, b, c) = (words_32(&a), words_32(&b), words_32(&c));
            assert_32(V::splat_32(x.isa(), 0x8123_4567), |_| 0x8123_4567);
            assert_32(V::zero(isa), |_| 0);
            assert_32(x.xor(y), |i| a[i] ^ b[i]);
            assert_32(x.xor3(y, z), |i| a[i] ^ b[i] ^ c[i]);
            assert_32(x.and(y), |i| a[i] & b[i]);
            assert_32(x.add_32(y), |i| a[i].wrapping_add(b[i]));
            assert_32(x.rotate_right_32::<7>(), |i| a[i].rotate_right(7));
            assert_32(x.rotate_right_32::<25>(), |i| a[i].rotate_right(25));
            assert_32(x.shift_right_32::<3>(), |i| a[i] >> 3);
            assert_32(x.swap_bytes_32(), |i| a[i].swap_bytes());
            assert_32(x.choose(y, z), |i| a[i] & b[i] | !a[i] & c[i]);
            assert_32(x.majority(y, z), |i| a[i] & b[i] | a[i] & c[i] | b[i] & c[i]);
        }
    }
    on_every_isa(Combined);
}

#[test]
fn words_of_64_bits_are_combined() {
    #[derive(Clone, Copy)]
    struct Combined;
    impl Test for Combined {
        #[inline(always)]
        fn run<V: WordLanes>(self, isa: V::Isa) {
            let (a, b, c) = (model(4), model(5), model(6));
            let (x, y, z): (V, V, V) = (load(isa, &a), load(isa, &b), load(isa, &c));
            let (a, b, c) = (words_64(&a), words_64(&b), words_64(&c));
            assert_64(V::splat_64(isa, 0x8123_4567_89ab_cdef), |_| 0x8123_4567_89ab_cdef);
            assert_64(x.add_64(y), |i| a[i].wrapping_add(b[i]));
            assert_64(x.rotate_right_64::<1>(), |i| a[i].rotate_right(1));
            assert_64(x.rotate_right_64::<61>(), |i| a[i].rotate_right(61));
            assert_64(x.rotate_left_64::<1>(), |i| a[i].rotate_left(1));
            assert_64(x.rotate_left_64::<8>(), |i| a[i].rotate_left(8));
            assert_64(x.rotate_left_64::<56>(), |i| a[i].rotate_left(56));
            assert_64(x.rotate_left_64::<62>(), |i| a[i].rotate_left(62));
            assert_64(x.shift_right_64::<7>(), |i| a[i] >> 7);
            assert_64(x.swap_bytes_64(), |i| a[i].swap_bytes());
            assert_64(x.chi(y, z), |i| a[i] ^ !b[i] & c[i]);
        }
    }
    on_every_isa(Combined);
}

#[test]
fn words_and_registers_change_places() {
    #[derive(Clone, Copy)]
    struct Transposed;
    impl Test for Transposed {
        #[inline(always)]
        fn run<V: WordLanes>(self, isa: V::Isa) {
            let models: [Model; MAX_WORDS_32] = std::array::from_fn(|i| model(u32::try_from(i).unwrap()));
            let mut registers: [V; MAX_WORDS_32] = std::array::from_fn(|i| load(isa, &models[i]));
            let mut wide: [V; MAX_WORDS_64] = std::array::from_fn(|i| registers[i]);
            V::transpose_32(&mut registers);
            for (i, register) in registers[..V::WORDS_32].iter().enumerate() {
                assert_32(*register, |j| words_32(&models[j])[i]);
            }
            V::transpose_64(&mut wide);
            for (i, register) in wide[..V::WORDS_64].iter().enumerate() {
                assert_64(*register, |j| words_64(&models[j])[i]);
            }
        }
    }
    on_every_isa(Transposed);
}

#[test]
fn words_are_gathered() {
    #[derive(Clone, Copy)]
    struct Gathered;
    impl Test for Gathered {
        #[inline(always)]
        fn run<V: WordLanes>(self, isa: V::Isa) {
            let models: [Model; MAX_WORDS_64] = std::array::from_fn(|i| model(u32::try_from(i).unwrap()));
            let from = std::array::from_fn(|i| models[i].as_ptr().wrapping_add(8 * (i % 7)));
            // SAFETY: 16 of 64 bytes, from byte 48 on at most.
            let [first, second] = unsafe { V::gather_64(isa, &from) };
            assert_64(first, |i| words_64(&models[i])[i % 7]);
            assert_64(second, |i| words_64(&models[i])[i % 7 + 1]);
        }
    }
    on_every_isa(Gathered);
}
