//! The ciphers that run sliced: Camellia, SC2000 and SM4, a group of sixteen registers at a time.

use cipherlane_core::{Cipher, Mode, Operation};

use super::{Entry, mode};
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::grouped::{Grouped, InGroups, Which};
use crate::cipher::slices::Native;
use crate::cipher::{camellia, sc2000, sm4};
use crate::lanes::{Isa, Lanes, portable::Portable};
use crate::mode::cbc::InTeams;
use crate::mode::gcm::{self, Gcm, Open, Seal};
use crate::worker::Kernel;

/// Registers at a time where all blocks of a message are there at once: two groups, which some ciphers run side by
/// side; where they lie in single lanes, as many as SC2000 slices together.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 2 * GROUP;
const LONG_PORTABLE: usize = 4 * GROUP;

/// Powers of H: what a group needs, twice on narrow registers.
pub(super) const POWERS: usize = 32;
/// The same at 512 bits.
#[cfg(target_arch = "x86_64")]
const WIDE_POWERS: usize = 64;

/// Encryption and decryption by the same cipher.
pub(super) struct Pair<I: Isa> {
    encrypt: Which<I>,
    decrypt: Which<I>,
}

impl<I: Isa> Pair<I> {
    /// Encryption by E and decryption by D.
    pub(super) fn new<E: InGroups<Isa = I>, D: InGroups<Isa = I>>(isa: I) -> Self {
        Self { encrypt: Which::is::<E>(isa), decrypt: Which::is::<D>(isa) }
    }

    /// The kernel of a mode over it: LONG registers at a time where all blocks of a message are there at once, TWEAKED
    /// where tweaks stay beside them, POWERS powers of H.
    pub(super) fn entry<const LONG: usize, const TWEAKED: usize, const POWERS: usize>(
        self,
        parts: (Mode, Operation),
    ) -> Entry {
        let Self { encrypt, decrypt } = self;
        Entry {
            lanes: GROUP * I::V::LANES,
            kernel: mode::<Grouped<I>, Grouped<I>, InTeams<Grouped<I>>, GROUP, LONG, LONG, TWEAKED>(
                (encrypt, decrypt),
                parts,
                of_gcm::<I, POWERS>,
            ),
        }
    }
}

fn of_gcm<I: Isa, const POWERS: usize>(which: Which<I>, operation: Operation) -> Box<dyn Kernel> {
    type Each<I, D, const POWERS: usize> = gcm::InTeams<Grouped<I>, D, GROUP, POWERS, true>;
    if operation == Operation::Seal {
        Box::new(Gcm::<Grouped<I>, Seal, Each<I, Seal, POWERS>, GROUP, POWERS, true>::new(which))
    } else {
        Box::new(Gcm::<Grouped<I>, Open, Each<I, Open, POWERS>, GROUP, POWERS, true>::new(which))
    }
}

/// Bit-sliced, on any CPU.
pub(super) fn portable(cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
    use camellia::{CamelliaDecrypt, CamelliaEncrypt};
    use sc2000::portable::{Sc2000Decrypt, Sc2000Encrypt};
    use sm4::{Sm4Decrypt, Sm4Encrypt};
    type C = camellia::bits::Bits<Native>;
    type S = sm4::bits::Bits<Native>;
    let pair = match cipher {
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
            Pair::new::<CamelliaEncrypt<C>, CamelliaDecrypt<C>>(Portable)
        }
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
            Pair::new::<Sc2000Encrypt, Sc2000Decrypt>(Portable)
        }
        Cipher::Sm4 => Pair::new::<Sm4Encrypt<S>, Sm4Decrypt<S>>(Portable),
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
    };
    Some(pair.entry::<LONG_PORTABLE, LONG_PORTABLE, POWERS>(parts))
}

/// Byte-sliced, on vector registers.
#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::*;
    use crate::lanes::bytes::IsaOf;
    use crate::lanes::bytes::x86::{Xmm, Ymm, Zmm};
    use crate::lanes::{avx2, sse::Sse, vaes256, vaes512::Vaes512};
    use crate::tier::{Tier, has_vaes256};
    use camellia::{CamelliaDecrypt, CamelliaEncrypt, by_aes};
    use sc2000::sliced::{Sc2000Decrypt, Sc2000Encrypt};
    use sm4::{Sm4Decrypt, Sm4Encrypt};

    pub(crate) fn kernel(tier: Tier, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
        Some(match tier {
            Tier::Sse => aes::<Xmm>(Sse::detect()?, cipher)?.entry::<LONG, LONG, POWERS>(parts),
            Tier::Avx2 if !has_vaes256() => {
                aes::<Ymm<avx2::X2>>(avx2::Avx2::detect()?, cipher)?.entry::<LONG, LONG, POWERS>(parts)
            }
            Tier::Avx2 => match vaes256::Vaes256::detect_with_gfni() {
                Some(isa) => galois(isa, cipher)?.entry::<LONG, LONG, POWERS>(parts),
                None => aes::<Ymm<vaes256::X2>>(vaes256::Vaes256::detect()?, cipher)?
                    .entry::<LONG, LONG, POWERS>(parts),
            },
            Tier::Avx512 => wide(Vaes512::detect()?, cipher)?.entry::<LONG, GROUP, WIDE_POWERS>(parts),
            Tier::Portable => return None,
        })
    }

    /// S-boxes by the instructions of the AES, and small tables.
    fn aes<B>(isa: IsaOf<B>, cipher: Cipher) -> Option<Pair<IsaOf<B>>>
    where
        B: by_aes::Segments + crate::lanes::permute::ShuffleBytes,
    {
        type S<B> = sm4::aes::AesBox<B>;
        type N<B> = sc2000::sliced::shuffle::WithNibbles<B>;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                Pair::new::<by_aes::CamelliaEncrypt<B>, by_aes::CamelliaDecrypt<B>>(isa)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                Pair::new::<Sc2000Encrypt<N<B>>, Sc2000Decrypt<N<B>>>(isa)
            }
            Cipher::Sm4 => Pair::new::<Sm4Encrypt<S<B>>, Sm4Decrypt<S<B>>>(isa),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }

    /// S-boxes by affine maps, at 256 bits.
    fn galois(isa: vaes256::Vaes256<true>, cipher: Cipher) -> Option<Pair<vaes256::Vaes256<true>>> {
        type B = Ymm<vaes256::X2<true>>;
        type C = camellia::galois::Galois<B>;
        type S = sm4::galois::Galois<B>;
        type G = sc2000::sliced::shuffle::WithGalois<B>;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                Pair::new::<CamelliaEncrypt<C>, CamelliaDecrypt<C>>(isa)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                Pair::new::<Sc2000Encrypt<G>, Sc2000Decrypt<G>>(isa)
            }
            Cipher::Sm4 => Pair::new::<Sm4Encrypt<S>, Sm4Decrypt<S>>(isa),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }

    /// S-boxes by affine maps and by byte permutations, at 512 bits.
    fn wide(isa: Vaes512, cipher: Cipher) -> Option<Pair<Vaes512>> {
        type C = camellia::galois::Galois<Zmm>;
        type S = sm4::galois::Galois<Zmm>;
        type P = sc2000::sliced::vbmi::Vbmi;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                Pair::new::<CamelliaEncrypt<C>, CamelliaDecrypt<C>>(isa)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                Pair::new::<Sc2000Encrypt<P>, Sc2000Decrypt<P>>(isa)
            }
            Cipher::Sm4 => Pair::new::<Sm4Encrypt<S>, Sm4Decrypt<S>>(isa),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }
}
