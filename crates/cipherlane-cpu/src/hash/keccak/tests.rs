//! Every engine of this CPU: the published examples, and the exam against the readable reference.

use cipherlane_core::Hash;
use cipherlane_reference::vectors::hex::{decode, encode};

use super::scalar::Scalar;
use super::*;
use crate::hash::integers::Baseline;
use crate::hash::tests::{Alone, digests, examine};
use crate::hash::worker::Hashing;
use crate::hash::{Absorb, MAX_END, MAX_STREAMS};

const ALL: [(Hash, Keccak); 10] = [
    (Hash::Sha3_224, SHA3_224),
    (Hash::Sha3_256, SHA3_256),
    (Hash::Sha3_384, SHA3_384),
    (Hash::Sha3_512, SHA3_512),
    (Hash::Shake128, SHAKE_128),
    (Hash::Shake256, SHAKE_256),
    (Hash::Keccak224, KECCAK_224),
    (Hash::Keccak256, KECCAK_256),
    (Hash::Keccak384, KECCAK_384),
    (Hash::Keccak512, KECCAK_512),
];

fn named(function: Keccak) -> Hash {
    let is_it = |(_, other): &&(Hash, Keccak)| (other.rate, other.suffix) == (function.rate, function.suffix);
    ALL.iter().find(is_it).unwrap().0
}

/// A test of any engine.
trait Test {
    fn run<E: Absorb<Keccak>>(&self, engine: E);
}

fn on_every_engine(test: &impl Test) {
    test.run(Scalar::new(Baseline));
    #[cfg(target_arch = "x86_64")]
    {
        use super::assembly::Assembly;
        use super::in_lanes::InLanes;
        use super::ordered::Ordered;
        use crate::hash::integers::Bmi;
        use crate::lanes::words::avx2::Ymm;
        use crate::lanes::{avx2::Avx2, sse, vaes512};
        let one = Scalar::new(Assembly);
        test.run(one);
        if let Some(bmi) = Bmi::detect() {
            test.run(Scalar::new(bmi));
        }
        if let Some(isa) = sse::Sse::detect() {
            test.run(InLanes::<sse::X1, _>::new(isa, one));
        }
        if let Some(isa) = Avx2::detect() {
            test.run(InLanes::<Ymm, _>::new(isa, one));
        }
        if let Some(isa) = vaes512::Vaes512::detect() {
            test.run(InLanes::<vaes512::X4, _>::new(isa, isa));
            test.run(InLanes::<vaes512::X4, _, Ordered>::new(isa, isa));
        }
    }
}

/// NIST's examples for FIPS 202, and known answers of the submission (KeccakKAT-3).
#[test]
fn published_digests() {
    struct Published;
    impl Test for Published {
        fn run<E: Absorb<Keccak>>(&self, engine: E) {
            for (function, message, digest) in [
                (SHA3_224, &b""[..], "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7"),
                (SHA3_224, b"abc", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
                (SHA3_224, &[0xa3; 200], "9376816aba503f72f96ce7eb65ac095deee3be4bf9bbc2a1cb7e11e0"),
                (SHA3_256, b"", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
                (SHA3_256, b"abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
                (SHA3_256, &[0xa3; 200], "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787"),
                (
                    SHA3_384,
                    b"abc",
                    "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
                ),
                (
                    SHA3_384,
                    &[0xa3; 200],
                    "1881de2ca7e41ef95dc4732b8f5f002b189cc1e42b74168ed1732649ce1dbcdd76197a31fd55ee989f2d7050dd473e8f",
                ),
                (
                    SHA3_512,
                    b"abc",
                    "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
                     10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
                ),
                (
                    SHA3_512,
                    &[0xa3; 200],
                    "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8\
                     1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
                ),
                (SHAKE_128, b"", "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"),
                (SHAKE_256, b"", "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"),
                (KECCAK_224, b"", "f71837502ba8e10837bdd8d365adb85591895602fc552b48b7390abd"),
                (KECCAK_256, b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
                (KECCAK_256, &[0xcc], "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a"),
            ] {
                // In every lane, and alone.
                for count in [E::LANES, 1] {
                    let (mut session, messages) =
                        (Alone(Hashing::new(function, engine)), vec![message.to_vec(); count]);
                    for found in digests(&mut session, named(function), &messages, digest.len() / 2) {
                        assert_eq!(encode(&found), digest, "{}", std::any::type_name::<E>());
                    }
                }
            }
        }
    }
    on_every_engine(&Published);
}

/// The 4096 bits of output that NIST gives for 1600 bits of a3, of which the first and the last.
#[test]
fn published_outputs_of_several_squeezes() {
    struct Squeezed;
    impl Test for Squeezed {
        fn run<E: Absorb<Keccak>>(&self, engine: E) {
            for (function, first, last) in [
                (
                    SHAKE_128,
                    "131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037",
                    "44c9fb359fd56ac0a9a75a743cff6862f17d7259ab075216c0699511643b6439",
                ),
                (
                    SHAKE_256,
                    "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d",
                    "6a1a9d7846436e4dca5728b6f760eef0ca92bf0be5615e96959d767197a0beeb",
                ),
            ] {
                let (mut session, messages) =
                    (Alone(Hashing::new(function, engine)), vec![vec![0xa3; 200]; E::LANES]);
                for found in digests(&mut session, named(function), &messages, 512) {
                    assert_eq!(found[..32], decode(first).unwrap());
                    assert_eq!(found[480..], decode(last).unwrap());
                }
            }
        }
    }
    on_every_engine(&Squeezed);
}

#[test]
fn every_engine_passes_the_exam() {
    struct Exam;
    impl Test for Exam {
        fn run<E: Absorb<Keccak>>(&self, engine: E) {
            for (hash, function) in ALL {
                examine(&mut Alone(Hashing::new(function, engine)), hash);
            }
        }
    }
    on_every_engine(&Exam);
}

/// A state is what was put there, in every lane, by itself and with all others.
#[test]
fn states_are_put_and_got() {
    struct Moved;
    impl Test for Moved {
        fn run<E: Absorb<Keccak>>(&self, engine: E) {
            let mut states = engine.fresh(SHA3_256);
            let state = |lane: usize| std::array::from_fn(|i| (100 * lane + i) as u64);
            for lane in 0..E::LANES {
                assert_eq!(E::get(&states, lane), SHA3_256.initial());
                E::put(&mut states, lane, &state(lane));
            }
            let mut all = [const { std::mem::MaybeUninit::uninit() }; MAX_STREAMS];
            engine.get_all(&states, &mut all);
            for (lane, taken) in all[..E::LANES].iter().enumerate() {
                assert_eq!(E::get(&states, lane), state(lane));
                // SAFETY: the engine has written every lane's.
                assert_eq!(unsafe { taken.assume_init() }, state(lane));
            }
        }
    }
    on_every_engine(&Moved);
}

/// The suffix stands behind the text, and the last bit ends the block.
#[test]
fn ends_of_any_blocks_are_padded() {
    for (_, function) in ALL {
        for rest in 0..MAX_END / function.rate * function.rate {
            let (mut end, mut expected) = ([0; MAX_END], [0; MAX_END]);
            let blocks = rest / function.rate + 1;
            expected[rest] ^= function.suffix;
            expected[blocks * function.rate - 1] ^= 0x80;
            assert_eq!(function.pad(&mut end, rest, 0), blocks, "{rest} of {}", function.rate);
            assert_eq!(
                (function.padded_blocks(rest), end),
                (blocks, expected),
                "{rest} of {}",
                function.rate
            );
        }
    }
}
