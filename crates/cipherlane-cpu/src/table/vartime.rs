//! Ciphers with tables, for the laboratory: what they cost and what they gain is to be measured, but their time tells
//! of the key. None is picked unless it is asked for by name.

use cipherlane_core::{Cipher, Mode, Operation};

use super::{Entry, mode};
use crate::cipher::aes_table_vartime::{AesDecryptVartime, AesEncryptVartime};
use crate::cipher::camellia_table_vartime::{
    Bits32, Bits64, CamelliaDecryptVartime, CamelliaEncryptVartime, Width,
};
use crate::cipher::sc2000_table_vartime::{
    FourPieces, Layout, Sc2000DecryptVartime, Sc2000EncryptVartime, SixPieces, ThreePieces,
};
use crate::cipher::sm4_table_vartime::{Sm4DecryptVartime, Sm4EncryptVartime};
use crate::cipher::{KeyPerLane, Permutation};
use crate::lanes::portable::Portable;
use crate::mode::gcm::{Gcm, KeyEach, Open, Seal};
use crate::worker::Kernel;

/// Blocks in flight: a block's look-ups wait for memory, and those of the next do not wait for them. XTS has no smaller
/// groups.
const N: usize = 8;
/// Powers of H.
const POWERS: usize = 2 * N;

/// The kernels with tables, by what their names say after the tier.
pub(crate) fn kernels(cipher: Cipher, parts: (Mode, Operation)) -> Vec<(&'static str, Entry)> {
    match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => {
            vec![("table_vartime", entry::<AesEncryptVartime, AesDecryptVartime>(parts))]
        }
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => vec![
            ("table-32_vartime", camellia::<Bits32>(parts)),
            ("table-64_vartime", camellia::<Bits64>(parts)),
        ],
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => vec![
            ("table-6-10-10-6_vartime", sc2000::<FourPieces>(parts)),
            ("table-11-10-11_vartime", sc2000::<ThreePieces>(parts)),
            ("table-6-5-5-5-5-6_vartime", sc2000::<SixPieces>(parts)),
        ],
        Cipher::Sm4 => vec![("table_vartime", entry::<Sm4EncryptVartime, Sm4DecryptVartime>(parts))],
    }
}

fn camellia<W: Width>(parts: (Mode, Operation)) -> Entry {
    entry::<CamelliaEncryptVartime<W>, CamelliaDecryptVartime<W>>(parts)
}

fn sc2000<T: Layout>(parts: (Mode, Operation)) -> Entry {
    entry::<Sc2000EncryptVartime<T>, Sc2000DecryptVartime<T>>(parts)
}

/// The kernel for encryption E and decryption D.
fn entry<E, D>((of, operation): (Mode, Operation)) -> Entry
where
    E: KeyPerLane<Isa = Portable>,
    D: Permutation<Isa = Portable>,
{
    Entry { lanes: N, kernel: mode::<E, D, N>((Portable, of, operation), gcm::<E>) }
}

fn gcm<P: Permutation<Isa = Portable>>(isa: Portable, operation: Operation) -> Box<dyn Kernel> {
    if operation == Operation::Seal {
        Box::new(Gcm::<P, Seal, KeyEach<P, Seal, N, POWERS, true>, N, POWERS, true>::new(isa))
    } else {
        Box::new(Gcm::<P, Open, KeyEach<P, Open, N, POWERS, true>, N, POWERS, true>::new(isa))
    }
}
