//! Which kernel serves an algorithm on a tier.

mod sliced;
mod vartime;

use cipherlane_core::{Algorithm, Cipher, Mode, Operation};

use crate::cipher::{KeyEach, aes_bitsliced};
use crate::hash;
use crate::lanes::{Isa, Lanes, portable::Portable};
use crate::mode::cbc::{self, CbcDecrypt, CbcEncrypt, InTeams};
use crate::mode::ctr::Ctr;
use crate::mode::ecb::Ecb;
use crate::mode::gcm::{self, Gcm, Open, Seal};
use crate::mode::keys::KeyEachWorker;
use crate::mode::xts::{self, Xts};
use crate::tier::Tier;
use crate::worker::Kernel;

/// A kernel, and how many blocks it has in flight.
pub(crate) struct Entry {
    pub(crate) lanes: usize,
    pub(crate) kernel: Box<dyn Kernel>,
}

/// The kernel of `tier`, or `None` where this CPU lacks the tier.
pub(crate) fn kernel(tier: Tier, algorithm: Algorithm, operation: Operation) -> Option<Entry> {
    if !algorithm.operations().contains(&operation) {
        return None;
    }
    let (cipher, mode) = match algorithm {
        Algorithm::Cipher(cipher, mode) => (cipher, mode),
        Algorithm::Hash(hash) => return hash::table::kernel(tier, hash),
    };
    let parts = (mode, operation);
    match tier {
        Tier::Portable => portable(cipher, parts),
        #[cfg(target_arch = "x86_64")]
        Tier::Sse | Tier::Avx2 | Tier::Avx512 => x86::kernel(tier, cipher, parts),
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Sse | Tier::Avx2 | Tier::Avx512 => None,
    }
}

/// The kernels whose time tells of secrets, by what their names say after the tier: for the laboratory.
pub(crate) fn vartime(algorithm: Algorithm, operation: Operation) -> Vec<(&'static str, Entry)> {
    match algorithm {
        Algorithm::Cipher(cipher, mode) if algorithm.operations().contains(&operation) => {
            vartime::kernels(cipher, (mode, operation))
        }
        _ => Vec::new(),
    }
}

/// Bitsliced AES, a slice at a time.
fn portable(cipher: Cipher, (of, operation): (Mode, Operation)) -> Option<Entry> {
    const N: usize = aes_bitsliced::GROUP;
    /// Powers of H: a multiplication is dear here, so no more than a group needs.
    const POWERS: usize = 2 * N;
    fn of_gcm<P: KeyEach<Source = Portable>>(isa: Portable, operation: Operation) -> Box<dyn Kernel> {
        if operation == Operation::Seal {
            Box::new(Gcm::<P, Seal, gcm::InTeams<P, Seal, N, POWERS, true>, N, POWERS, true>::new(isa))
        } else {
            Box::new(Gcm::<P, Open, gcm::InTeams<P, Open, N, POWERS, true>, N, POWERS, true>::new(isa))
        }
    }
    use aes_bitsliced::{AesDecrypt, AesEncrypt};
    if !Cipher::AES.contains(&cipher) {
        return sliced::portable(cipher, (of, operation));
    }
    // One kernel for all: the key that it is given says which.
    let kernel = mode::<AesEncrypt, AesDecrypt, InTeams<AesEncrypt>, N, N, N, N>(
        (Portable, Portable),
        (of, operation),
        of_gcm::<AesEncrypt>,
    );
    Some(Entry { lanes: N * <Portable as Isa>::V::LANES, kernel })
}

/// The modes of a block cipher with encryption E and decryption D: N registers in flight, LONG where all blocks of a
/// message are there at once, COUNTED where they are counters, TWEAKED where tweaks stay beside them; K encrypts CBC with
/// a key for each message.
fn mode<E, D, K, const N: usize, const LONG: usize, const COUNTED: usize, const TWEAKED: usize>(
    (encrypt, decrypt): (E::Source, D::Source),
    (mode, operation): (Mode, Operation),
    gcm: fn(E::Source, Operation) -> Box<dyn Kernel>,
) -> Box<dyn Kernel>
where
    E: KeyEach,
    D: KeyEach<Isa = E::Isa>,
    K: KeyEachWorker<E>,
{
    match (mode, operation.is_forward()) {
        (Mode::Ecb, true) => Box::new(Ecb::<E, LONG>::new(encrypt)),
        (Mode::Ecb, false) => Box::new(Ecb::<D, LONG>::new(decrypt)),
        (Mode::Cbc, true) => Box::new(CbcEncrypt::<E, K, N>::new(encrypt)),
        (Mode::Cbc, false) => Box::new(CbcDecrypt::<D, LONG>::new(decrypt)),
        (Mode::Ctr, _) => Box::new(Ctr::<E, COUNTED>::new(encrypt)),
        (Mode::Xts, true) => Box::new(Xts::<E, E, xts::Encrypt, TWEAKED>::new(encrypt, encrypt)),
        (Mode::Xts, false) => Box::new(Xts::<D, E, xts::Decrypt, TWEAKED>::new(decrypt, encrypt)),
        (Mode::Gcm, _) => gcm(encrypt, operation),
    }
}

/// AES by rounds on vector registers.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::cipher::KeyPerLane;
    use crate::cipher::aes_rounds::{AesDecrypt, AesEncrypt};
    use crate::lanes::{AesLanes, avx2::Avx2, sse::Sse, vaes256::Vaes256, vaes512::Vaes512};
    use crate::microarchitecture::Microarchitecture;
    use crate::mode::gcm::InLanes;
    use crate::tier::has_vaes256;

    /// Registers in flight: enough to fill the latency of an AES round on every CPU with these instructions, few
    /// enough for 16 architectural registers.
    const N: usize = 8;

    /// Where all blocks of a message are there at once and there are 32 registers: 8 leave Zen 5, which starts two rounds
    /// a clock, without work between one group and the next. Counters gain nothing, and messages of 1 KiB lose.
    const LONG: usize = 2 * N;

    pub(super) fn kernel(tier: Tier, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
        if !Cipher::AES.contains(&cipher) {
            return sliced::x86::kernel(tier, cipher, parts);
        }
        // Narrow registers spread over more ports than carry-less multiplications do: Karatsuba pays everywhere.
        // At 512 bits it does on CPUs that start one of those every other clock.
        match tier {
            Tier::Sse => aes::<_, N, 32, true>(Sse::detect()?, cipher, parts),
            Tier::Avx2 if has_vaes256() => aes::<_, N, 32, true>(Vaes256::detect()?, cipher, parts),
            Tier::Avx2 => aes::<_, N, 32, true>(Avx2::detect()?, cipher, parts),
            Tier::Avx512 if Microarchitecture::of_this_cpu().multiplies_slowly() => {
                aes::<_, LONG, 64, true>(Vaes512::detect()?, cipher, parts)
            }
            Tier::Avx512 => aes::<_, LONG, 64, false>(Vaes512::detect()?, cipher, parts),
            Tier::Portable => None,
        }
    }

    fn aes<I: Isa<V: AesLanes>, const LONG: usize, const POWERS: usize, const KARATSUBA: bool>(
        isa: I,
        cipher: Cipher,
        (mode, operation): (Mode, Operation),
    ) -> Option<Entry> {
        let kernel = match cipher {
            Cipher::Aes128 => rounds::<I, 10, LONG, POWERS, KARATSUBA>(isa, mode, operation),
            Cipher::Aes192 => rounds::<I, 12, LONG, POWERS, KARATSUBA>(isa, mode, operation),
            Cipher::Aes256 => rounds::<I, 14, LONG, POWERS, KARATSUBA>(isa, mode, operation),
            _ => return None,
        };
        Some(Entry { lanes: N * I::V::LANES, kernel })
    }

    fn rounds<
        I: Isa<V: AesLanes>,
        const ROUNDS: usize,
        const LONG: usize,
        const POWERS: usize,
        const KARATSUBA: bool,
    >(
        isa: I,
        algorithm_mode: Mode,
        operation: Operation,
    ) -> Box<dyn Kernel> {
        let gcm = gcm::<AesEncrypt<I, ROUNDS>, POWERS, KARATSUBA>;
        mode::<
            AesEncrypt<I, ROUNDS>,
            AesDecrypt<I, ROUNDS>,
            cbc::InLanes<AesEncrypt<I, ROUNDS>, N>,
            N,
            LONG,
            N,
            N,
        >((isa, isa), (algorithm_mode, operation), gcm)
    }

    fn gcm<P: KeyPerLane, const POWERS: usize, const KARATSUBA: bool>(
        source: P::Source,
        operation: Operation,
    ) -> Box<dyn Kernel> {
        if operation == Operation::Seal {
            let new = Gcm::<P, Seal, InLanes<P, Seal, N, POWERS, KARATSUBA>, N, POWERS, KARATSUBA>::new;
            Box::new(new(source))
        } else {
            let new = Gcm::<P, Open, InLanes<P, Open, N, POWERS, KARATSUBA>, N, POWERS, KARATSUBA>::new;
            Box::new(new(source))
        }
    }
}
