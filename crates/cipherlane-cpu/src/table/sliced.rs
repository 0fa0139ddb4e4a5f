//! The ciphers that run sliced: Camellia, SC2000 and SM4, a group of sixteen registers at a time.

use cipherlane_core::{Cipher, Mode, Operation};

use super::{Entry, mode};
use crate::cipher::aes_bitsliced::Native;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::{KeyPerLane, Permutation, camellia, sc2000, sm4};
use crate::lanes::{Isa, Lanes, portable::Portable};
use crate::mode::gcm::{Gcm, KeyEach, Open, Seal};
use crate::worker::Kernel;

/// Powers of H: what a group needs, twice on narrow registers.
const POWERS: usize = 32;
/// The same at 512 bits.
#[cfg(target_arch = "x86_64")]
const WIDE_POWERS: usize = 64;

/// The kernel for encryption E and decryption D.
fn entry<E, D, const POWERS: usize>(isa: E::Isa, (of, operation): (Mode, Operation)) -> Entry
where
    E: KeyPerLane,
    D: Permutation<Isa = E::Isa>,
{
    Entry {
        lanes: GROUP * <E::Isa as Isa>::V::LANES,
        kernel: mode::<E, D, GROUP>((isa, of, operation), gcm::<E, POWERS>),
    }
}

fn gcm<P: Permutation, const POWERS: usize>(isa: P::Isa, operation: Operation) -> Box<dyn Kernel> {
    if operation == Operation::Seal {
        type Each<P, const POWERS: usize> = KeyEach<P, Seal, GROUP, POWERS, true>;
        Box::new(Gcm::<P, Seal, Each<P, POWERS>, GROUP, POWERS, true>::new(isa))
    } else {
        type Each<P, const POWERS: usize> = KeyEach<P, Open, GROUP, POWERS, true>;
        Box::new(Gcm::<P, Open, Each<P, POWERS>, GROUP, POWERS, true>::new(isa))
    }
}

/// Bit-sliced, on any CPU.
pub(super) fn portable(cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
    use camellia::{CamelliaDecrypt, CamelliaEncrypt};
    use sc2000::portable::{Sc2000Decrypt, Sc2000Encrypt};
    use sm4::{Sm4Decrypt, Sm4Encrypt};
    type C = camellia::bits::Bits<Native>;
    type S = sm4::bits::Bits<Native>;
    Some(match cipher {
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
            entry::<CamelliaEncrypt<C>, CamelliaDecrypt<C>, POWERS>(Portable, parts)
        }
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
            entry::<Sc2000Encrypt, Sc2000Decrypt, POWERS>(Portable, parts)
        }
        Cipher::Sm4 => entry::<Sm4Encrypt<S>, Sm4Decrypt<S>, POWERS>(Portable, parts),
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
    })
}

/// Byte-sliced, on vector registers.
#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::*;
    use crate::lanes::bytes::IsaOf;
    use crate::lanes::bytes::x86::{Xmm, Ymm, Zmm};
    use crate::lanes::{avx2, sse::Sse, vaes256, vaes512::Vaes512};
    use crate::tier::{Tier, has_vaes256};
    use camellia::{CamelliaDecrypt, CamelliaEncrypt};
    use sc2000::sliced::{Sc2000Decrypt, Sc2000Encrypt};
    use sm4::{Sm4Decrypt, Sm4Encrypt};

    pub(crate) fn kernel(tier: Tier, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
        match tier {
            Tier::Sse => aes::<Xmm>(Sse::detect()?, cipher, parts),
            Tier::Avx2 if !has_vaes256() => aes::<Ymm<avx2::X2>>(avx2::Avx2::detect()?, cipher, parts),
            Tier::Avx2 => match vaes256::Vaes256::detect_with_gfni() {
                Some(isa) => galois(isa, cipher, parts),
                None => aes::<Ymm<vaes256::X2>>(vaes256::Vaes256::detect()?, cipher, parts),
            },
            Tier::Avx512 => wide(Vaes512::detect()?, cipher, parts),
            Tier::Portable => None,
        }
    }

    /// S-boxes by the instructions of the AES, and small tables.
    fn aes<B>(isa: IsaOf<B>, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry>
    where
        B: crate::lanes::bytes::AesBytes + crate::lanes::permute::ShuffleBytes,
    {
        type C<B> = camellia::aes::AesBox<B>;
        type S<B> = sm4::aes::AesBox<B>;
        type N<B> = sc2000::sliced::shuffle::WithNibbles<B>;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                entry::<CamelliaEncrypt<C<B>>, CamelliaDecrypt<C<B>>, POWERS>(isa, parts)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                entry::<Sc2000Encrypt<N<B>>, Sc2000Decrypt<N<B>>, POWERS>(isa, parts)
            }
            Cipher::Sm4 => entry::<Sm4Encrypt<S<B>>, Sm4Decrypt<S<B>>, POWERS>(isa, parts),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }

    /// S-boxes by affine maps, at 256 bits.
    fn galois(isa: vaes256::Vaes256<true>, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
        type B = Ymm<vaes256::X2<true>>;
        type C = camellia::galois::Galois<B>;
        type S = sm4::galois::Galois<B>;
        type G = sc2000::sliced::shuffle::WithGalois<B>;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                entry::<CamelliaEncrypt<C>, CamelliaDecrypt<C>, POWERS>(isa, parts)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                entry::<Sc2000Encrypt<G>, Sc2000Decrypt<G>, POWERS>(isa, parts)
            }
            Cipher::Sm4 => entry::<Sm4Encrypt<S>, Sm4Decrypt<S>, POWERS>(isa, parts),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }

    /// S-boxes by affine maps and by byte permutations, at 512 bits.
    fn wide(isa: Vaes512, cipher: Cipher, parts: (Mode, Operation)) -> Option<Entry> {
        type C = camellia::galois::Galois<Zmm>;
        type S = sm4::galois::Galois<Zmm>;
        type P = sc2000::sliced::vbmi::Vbmi;
        Some(match cipher {
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                entry::<CamelliaEncrypt<C>, CamelliaDecrypt<C>, WIDE_POWERS>(isa, parts)
            }
            Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => {
                entry::<Sc2000Encrypt<P>, Sc2000Decrypt<P>, WIDE_POWERS>(isa, parts)
            }
            Cipher::Sm4 => entry::<Sm4Encrypt<S>, Sm4Decrypt<S>, WIDE_POWERS>(isa, parts),
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
        })
    }
}
