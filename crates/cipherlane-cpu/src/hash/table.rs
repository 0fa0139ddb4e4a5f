//! Which engine serves a hash function on a tier.

use cipherlane_core::Hash;

use super::incremental::{Incremental, Stream};
use super::integers::Baseline;
use super::keccak::scalar::Scalar as KeccakScalar;
use super::keccak::{self, Keccak};
use super::sha2::scalar::Scalar;
use super::sha2::{self, Sha2};
use super::worker::Hashing;
use super::{Absorb, Iterated};
use crate::table::Entry;
use crate::tier::Tier;

/// A hash function by what serves it.
#[derive(Clone, Copy)]
enum Function {
    /// SHA-2 of 32-bit words.
    Sha2Of32(Sha2<u32>),
    /// SHA-2 of 64-bit words.
    Sha2Of64(Sha2<u64>),
    Keccak(Keccak),
}

/// The kernel of `tier`, or `None` where this CPU lacks the tier.
pub(crate) fn kernel(tier: Tier, hash: Hash) -> Option<Entry> {
    let function = function(hash);
    match tier {
        Tier::Portable => Some(portable(function)),
        #[cfg(target_arch = "x86_64")]
        Tier::Sse => x86::sse(function),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => x86::avx2(function),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => x86::avx512(function),
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Sse | Tier::Avx2 | Tier::Avx512 => None,
    }
}

/// The best code of `tier` for one message of `hash` that comes in pieces; `tier` is one that this CPU has.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))] // there is one tier
pub(super) fn stream(tier: Tier, hash: Hash) -> Box<dyn Stream> {
    let function = function(hash);
    #[cfg(target_arch = "x86_64")]
    if let Some(stream) = x86::stream(tier, function) {
        return stream;
    }
    match function {
        Function::Sha2Of32(hash) => Box::new(Incremental::new(hash, Scalar::new(Baseline))),
        Function::Sha2Of64(hash) => Box::new(Incremental::new(hash, Scalar::new(Baseline))),
        Function::Keccak(hash) => Box::new(Incremental::new(hash, KeccakScalar::new(Baseline))),
    }
}

fn function(hash: Hash) -> Function {
    match hash {
        Hash::Sha224 => Function::Sha2Of32(sha2::SHA_224),
        Hash::Sha256 => Function::Sha2Of32(sha2::SHA_256),
        Hash::Sha384 => Function::Sha2Of64(sha2::SHA_384),
        Hash::Sha512 => Function::Sha2Of64(sha2::SHA_512),
        Hash::Sha512_256 => Function::Sha2Of64(sha2::SHA_512_256),
        Hash::Sha3_224 => Function::Keccak(keccak::SHA3_224),
        Hash::Sha3_256 => Function::Keccak(keccak::SHA3_256),
        Hash::Sha3_384 => Function::Keccak(keccak::SHA3_384),
        Hash::Sha3_512 => Function::Keccak(keccak::SHA3_512),
        Hash::Shake128 => Function::Keccak(keccak::SHAKE_128),
        Hash::Shake256 => Function::Keccak(keccak::SHAKE_256),
        Hash::Keccak224 => Function::Keccak(keccak::KECCAK_224),
        Hash::Keccak256 => Function::Keccak(keccak::KECCAK_256),
        Hash::Keccak384 => Function::Keccak(keccak::KECCAK_384),
        Hash::Keccak512 => Function::Keccak(keccak::KECCAK_512),
    }
}

fn entry<H: Iterated, E: Absorb<H>>(hash: H, engine: E) -> Entry {
    Entry { lanes: E::LANES, kernel: Box::new(Hashing::new(hash, engine)) }
}

/// Integers.
fn portable(function: Function) -> Entry {
    match function {
        Function::Sha2Of32(hash) => entry(hash, Scalar::new(Baseline)),
        Function::Sha2Of64(hash) => entry(hash, Scalar::new(Baseline)),
        Function::Keccak(hash) => entry(hash, KeccakScalar::new(Baseline)),
    }
}

/// Vector registers, and the instructions made for a function.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::hash::either::Either;
    use crate::hash::integers::{Bmi, BmiAvx2, BmiAvx512};
    use crate::hash::keccak::assembly::Assembly as KeccakAssembly;
    use crate::hash::keccak::in_lanes::InLanes as KeccakInLanes;
    use crate::hash::keccak::ordered::Ordered;
    use crate::hash::sha2::in_lanes::InLanes;
    use crate::hash::sha2::sha_ni::ShaNi;
    use crate::hash::sha2::word::{Words32, Words64};
    use crate::hash::sha2::zipped::Zipped;
    use crate::lanes::words::avx2::Ymm;
    use crate::lanes::{avx2::Avx2, sse, vaes512};
    use crate::microarchitecture::Microarchitecture;

    // Where lanes begin to pay, by clocks for a block of each message, measured on Zen 4: lanes take as long for one
    // message as for all of them.

    pub(super) fn sse(function: Function) -> Option<Entry> {
        let isa = sse::Sse::detect()?;
        Some(match (function, ShaNi::detect()) {
            (Function::Sha2Of32(hash), Some(engine)) => entry(hash, engine),
            // 1040 clocks for four lanes, 640 for a message in integers.
            (Function::Sha2Of32(hash), None) => {
                entry(hash, Either::new(InLanes::<Words32<sse::X1>, 1>::new(isa), Scalar::new(Baseline), 2))
            }
            // Two lanes take as long as two messages one after the other.
            (Function::Sha2Of64(hash), _) => entry(hash, Scalar::new(isa)),
            (Function::Keccak(hash), _) => {
                entry(hash, KeccakInLanes::<sse::X1, _>::new(isa, KeccakScalar::new(KeccakAssembly)))
            }
        })
    }

    pub(super) fn avx2(function: Function) -> Option<Entry> {
        let isa = Avx2::detect()?;
        Some(match (function, ShaNi::detect()) {
            // Two registers of lanes would be half as fast.
            (Function::Sha2Of32(hash), Some(engine)) => entry(hash, engine),
            // 1000 clocks for eight lanes, 640 for a message in integers.
            (Function::Sha2Of32(hash), None) => {
                entry(hash, Either::new(InLanes::<Words32<Ymm>, 1>::new(isa), Scalar::new(Baseline), 2))
            }
            (Function::Sha2Of64(hash), _) => {
                // 1250 clocks for four lanes, 500 for a message by itself.
                let lanes = InLanes::<Words64<Ymm>, 1>::new(isa);
                match BmiAvx2::detect() {
                    Some(bmi) => entry(hash, Either::new(lanes, Scalar::new(bmi), 3)),
                    None => entry(hash, Either::new(lanes, Scalar::new(Baseline), 2)),
                }
            }
            (Function::Keccak(hash), _) => match Bmi::detect() {
                Some(bmi) => entry(hash, KeccakInLanes::<Ymm, _>::new(isa, KeccakScalar::new(bmi))),
                None => entry(hash, KeccakInLanes::<Ymm, _>::new(isa, KeccakScalar::new(KeccakAssembly))),
            },
        })
    }

    pub(super) fn avx512(function: Function) -> Option<Entry> {
        let isa = vaes512::Vaes512::detect()?;
        Some(match function {
            Function::Sha2Of32(hash) => {
                let one = InLanes::<Words32<vaes512::X4>, 1>::new(isa);
                let two = InLanes::<Words32<vaes512::X4>, 2>::new(isa);
                let zipped = InLanes::<Words32<vaes512::X4>, 2, Zipped>::new(isa);
                match (ShaNi::detect(), BesideShaNi::of_this_cpu()) {
                    (None, _) => entry(hash, Either::new(two, Scalar::new(Baseline), 2)),
                    (Some(engine), BesideShaNi::Slower) => entry(hash, engine),
                    (Some(engine), BesideShaNi::Sixteen) => entry(hash, Either::new(one, engine, 9)),
                    (Some(engine), BesideShaNi::TwiceSixteen) => entry(hash, Either::new(zipped, engine, 9)),
                }
            }
            Function::Sha2Of64(hash) => {
                let lanes = InLanes::<Words64<vaes512::X4>, 2>::new(isa);
                let zipped = InLanes::<Words64<vaes512::X4>, 2, Zipped>::new(isa);
                match (BmiAvx512::detect(), Microarchitecture::of_this_cpu()) {
                    // 860 clocks for eight lanes, 570 for a message by itself.
                    (Some(bmi), Microarchitecture::FromZen5) => {
                        entry(hash, Either::new(zipped, Scalar::new(bmi), 2))
                    }
                    // 1280 clocks for eight lanes, 490 for a message by itself.
                    (Some(bmi), _) => entry(hash, Either::new(lanes, Scalar::new(bmi), 3)),
                    (None, _) => entry(hash, Either::new(lanes, Scalar::new(Baseline), 2)),
                }
            }
            Function::Keccak(hash) => entry(hash, KeccakInLanes::<vaes512::X4, _, Ordered>::new(isa, isa)),
        })
    }

    /// What a tier adds to integers of the baseline, if it adds something.
    pub(super) fn stream(tier: Tier, function: Function) -> Option<Box<dyn Stream>> {
        if tier == Tier::Portable {
            return None;
        }
        let bmi = BmiAvx2::detect().filter(|_| tier >= Tier::Avx2);
        let short = BmiAvx512::detect().filter(|_| tier >= Tier::Avx512);
        Some(match function {
            Function::Sha2Of32(hash) => Box::new(Incremental::new(hash, ShaNi::detect()?)),
            Function::Sha2Of64(hash) => match (short, bmi) {
                (Some(short), _) => Box::new(Incremental::new(hash, Scalar::new(short))),
                (None, Some(bmi)) => Box::new(Incremental::new(hash, Scalar::new(bmi))),
                (None, None) => Box::new(Incremental::new(hash, Scalar::new(sse::Sse::detect()?))),
            },
            Function::Keccak(hash) => match vaes512::Vaes512::detect().filter(|_| tier == Tier::Avx512) {
                Some(isa) => {
                    let engine = KeccakInLanes::<vaes512::X4, _, Ordered>::new(isa, isa);
                    Box::new(Incremental::new(hash, engine))
                }
                None => match Bmi::detect() {
                    Some(bmi) => Box::new(Incremental::new(hash, KeccakScalar::new(bmi))),
                    None => Box::new(Incremental::new(hash, KeccakScalar::new(KeccakAssembly))),
                },
            },
        })
    }

    /// What lanes of 512 bits are for SHA-256 on a CPU that has SHA-NI as well.
    ///
    /// A round is 25 instructions, 10 of them rotations and shifts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum BesideShaNi {
        /// Interleaved SHA-NI is as fast, 1.0 bytes a clock, and needs four messages for it.
        Slower,
        /// One register of messages at a time: 1.02 clocks a byte of 64 messages. SHA-NI takes 1.89, interleaved or not.
        Sixteen,
        /// Two registers, zipped: 28 clocks for 64 bytes of each message, 600 for one of sixteen messages or fewer, and
        /// 64 for each of several by SHA-NI.
        TwiceSixteen,
    }

    impl BesideShaNi {
        fn of_this_cpu() -> Self {
            match Microarchitecture::of_this_cpu() {
                Microarchitecture::Intel => Self::Sixteen,
                Microarchitecture::FromZen5 => Self::TwiceSixteen,
                Microarchitecture::UpToZen4 | Microarchitecture::Other => Self::Slower,
            }
        }
    }
}
