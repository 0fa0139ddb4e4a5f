//! SHA-2 on every engine of this CPU.

use cipherlane_core::Hash;

use super::scalar::Scalar;
use super::*;
use crate::hash::integers::Baseline;
use crate::hash::tests::{Alone, digests, examine, message};
use crate::hash::worker::Hashing;
use crate::hash::{Absorb, MAX_END, MAX_STREAMS, Shared};

/// A test of any engine.
trait Test {
    fn run<W: Integer, E: Absorb<Sha2<W>>>(&self, function: Sha2<W>, hash: Hash, engine: E);

    fn of_32<E: Absorb<Sha2<u32>>>(&self, engine: E) {
        self.run(SHA_224, Hash::Sha224, engine);
        self.run(SHA_256, Hash::Sha256, engine);
    }

    fn of_64<E: Absorb<Sha2<u64>>>(&self, engine: E) {
        self.run(SHA_384, Hash::Sha384, engine);
        self.run(SHA_512, Hash::Sha512, engine);
        self.run(SHA_512_256, Hash::Sha512_256, engine);
    }
}

fn on_every_engine(test: &impl Test) {
    test.of_32(Scalar::new(Baseline));
    test.of_64(Scalar::new(Baseline));
    #[cfg(target_arch = "x86_64")]
    x86(test);
}

#[cfg(target_arch = "x86_64")]
fn x86(test: &impl Test) {
    use super::in_lanes::InLanes;
    use super::sha_ni::ShaNi;
    use super::word::{Words32, Words64};
    use super::zipped::Zipped;
    use crate::hash::either::Either;
    use crate::hash::integers::{Bmi, BmiAvx2, BmiAvx512};
    use crate::lanes::words::{WordLanes, avx2::Ymm};
    use crate::lanes::{avx2::Avx2, sse, vaes512};
    fn lanes<V: WordLanes>(isa: Option<V::Isa>, test: &impl Test) {
        if let Some(isa) = isa {
            test.of_32(InLanes::<Words32<V>, 1>::new(isa));
            test.of_32(InLanes::<Words32<V>, 2>::new(isa));
            test.of_64(InLanes::<Words64<V>, 1>::new(isa));
            test.of_64(InLanes::<Words64<V>, 2>::new(isa));
        }
    }
    lanes::<sse::X1>(sse::Sse::detect(), test);
    lanes::<Ymm>(Avx2::detect(), test);
    lanes::<vaes512::X4>(vaes512::Vaes512::detect(), test);
    if let Some(isa) = vaes512::Vaes512::detect() {
        test.of_32(InLanes::<Words32<vaes512::X4>, 1, Zipped>::new(isa));
        test.of_32(InLanes::<Words32<vaes512::X4>, 2, Zipped>::new(isa));
        test.of_64(InLanes::<Words64<vaes512::X4>, 1, Zipped>::new(isa));
        test.of_64(InLanes::<Words64<vaes512::X4>, 2, Zipped>::new(isa));
    }
    if let Some(bmi) = Bmi::detect() {
        test.of_32(Scalar::new(bmi));
        test.of_64(Scalar::new(bmi));
    }
    if let Some(isa) = sse::Sse::detect() {
        test.of_64(Scalar::new(isa));
    }
    if let Some(instructions) = BmiAvx2::detect() {
        test.of_64(Scalar::new(instructions));
    }
    if let Some(instructions) = BmiAvx512::detect() {
        test.of_64(Scalar::new(instructions));
    }
    if let Some(engine) = ShaNi::detect() {
        test.of_32(engine);
        // What the table chooses on one CPU or another, this one or not.
        if let Some(isa) = vaes512::Vaes512::detect() {
            test.of_32(Either::new(InLanes::<Words32<vaes512::X4>, 1>::new(isa), engine, 9));
            test.of_32(Either::new(InLanes::<Words32<vaes512::X4>, 2, Zipped>::new(isa), engine, 13));
        }
    }
}

/// The examples that NIST publishes with FIPS 180-4: one block and two.
#[test]
fn published_digests() {
    struct Published;
    impl Test for Published {
        fn run<W: Integer, E: Absorb<Sha2<W>>>(&self, function: Sha2<W>, hash: Hash, engine: E) {
            const TWO_OF_64: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
            const TWO_OF_128: &[u8] = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
            let (one, two) = match hash {
                Hash::Sha224 => (
                    "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
                    "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525",
                ),
                Hash::Sha256 => (
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                ),
                Hash::Sha384 => (
                    "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                     8086072ba1e7cc2358baeca134c825a7",
                    "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712\
                     fcc7c71a557e2db966c3e9fa91746039",
                ),
                Hash::Sha512 => (
                    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                     2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                    "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
                     501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
                ),
                _ => (
                    "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
                    "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a",
                ),
            };
            let long = if function.block_bytes() == 64 { TWO_OF_64 } else { TWO_OF_128 };
            let mut session = Alone(Hashing::new(function, engine));
            let found = digests(&mut session, hash, &[b"abc".to_vec(), long.to_vec()], one.len() / 2);
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            assert_eq!([hex(&found[0]), hex(&found[1])], [one, two], "{}", std::any::type_name::<E>());
        }
    }
    on_every_engine(&Published);
}

#[test]
fn every_engine_passes_the_exam() {
    struct Exam;
    impl Test for Exam {
        fn run<W: Integer, E: Absorb<Sha2<W>>>(&self, function: Sha2<W>, hash: Hash, engine: E) {
            examine(&mut Alone(Hashing::new(function, engine)), hash);
        }
    }
    on_every_engine(&Exam);
}

/// A chaining value is what was put there, in every lane, by itself and with all others.
#[test]
fn chaining_values_are_put_and_got() {
    struct Moved;
    impl Test for Moved {
        fn run<W: Integer, E: Absorb<Sha2<W>>>(&self, function: Sha2<W>, _: Hash, engine: E) {
            let mut states = engine.fresh(function);
            let mut chain = function.initial();
            for lane in 0..E::LANES {
                assert!(E::get(&states, lane) == function.initial());
                chain.rotate_left(1);
                E::put(&mut states, lane, &chain);
            }
            let mut all = [const { std::mem::MaybeUninit::uninit() }; MAX_STREAMS];
            engine.get_all(&states, &mut all);
            let mut expected = function.initial();
            for (lane, chain) in all[..E::LANES].iter().enumerate() {
                expected.rotate_left(1);
                assert!(E::get(&states, lane) == expected);
                // SAFETY: the engine has written every lane's.
                assert!(unsafe { chain.assume_init() } == expected);
            }
        }
    }
    on_every_engine(&Moved);
}

/// A block that all messages share is absorbed like any other, by every number of lanes that run.
#[test]
fn a_shared_block_is_absorbed_like_others() {
    struct OfAll;
    impl Test for OfAll {
        fn run<W: Integer, E: Absorb<Sha2<W>>>(&self, function: Sha2<W>, _: Hash, engine: E) {
            let block = message(function.block_bytes(), 1);
            let from = [block.as_ptr(); MAX_STREAMS];
            let mut shared = Shared::new(&block);
            engine.prepare(&mut shared);
            let mut chain = function.initial();
            let (mut expected, mut found) = (engine.fresh(function), engine.fresh(function));
            for lane in 0..E::LANES {
                chain.rotate_left(1);
                E::put(&mut expected, lane, &chain);
                E::put(&mut found, lane, &chain);
            }
            for active in 1..=E::LANES {
                // SAFETY: every lane reads the block.
                unsafe { engine.absorb(function, &mut expected, &from, active, 1) }
                engine.absorb_alike(function, &mut found, &shared, active);
                for lane in 0..active {
                    assert!(
                        E::get(&found, lane) == E::get(&expected, lane),
                        "{}",
                        std::any::type_name::<E>()
                    );
                }
            }
        }
    }
    on_every_engine(&OfAll);
}

/// A bit stands behind the text, and the number of all bits at the end of the block, of whose words it takes two.
#[test]
fn ends_of_any_blocks_are_padded() {
    fn examine<W: Integer>(function: Sha2<W>) {
        let (block, length_bytes) = (function.block_bytes(), 2 * size_of::<W>());
        for rest in 0..MAX_END - length_bytes {
            let (mut end, mut expected) = ([0; MAX_END], [0; MAX_END]);
            let blocks = (rest + length_bytes) / block + 1;
            let bits = (u128::from(rest as u64) * 8 + (1 << 40)).to_be_bytes();
            expected[rest] = 0x80;
            expected[blocks * block - length_bytes..blocks * block]
                .copy_from_slice(&bits[16 - length_bytes..]);
            assert_eq!(function.pad(&mut end, rest, rest as u64 + (1 << 37)), blocks, "{rest} of {block}");
            assert_eq!((function.padded_blocks(rest), end), (blocks, expected), "{rest} of {block}");
        }
    }
    examine(SHA_256);
    examine(SHA_512);
}
