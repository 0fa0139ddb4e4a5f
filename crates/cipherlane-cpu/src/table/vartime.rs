//! Ciphers with tables, for the laboratory: what they cost and what they gain is to be measured, but their time tells
//! of the key. None is picked unless it is asked for by name.

use cipherlane_core::{Cipher, Mode, Operation};

use super::Entry;
use super::sliced::{POWERS, Pair};
use crate::cipher::aes_table_vartime::{AesDecryptVartime, AesEncryptVartime};
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::camellia_table_vartime::{
    Bits32, Bits64, CamelliaDecryptVartime, CamelliaEncryptVartime, Width,
};
use crate::cipher::sc2000_table_vartime::{
    FourPieces, Layout, Sc2000DecryptVartime, Sc2000EncryptVartime, SixPieces, ThreePieces,
};
use crate::cipher::sm4_table_vartime::{Sm4DecryptVartime, Sm4EncryptVartime};
use crate::lanes::portable::Portable;

/// The kernels with tables, by what their names say after the tier.
pub(crate) fn kernels(cipher: Cipher, parts: (Mode, Operation)) -> Vec<(&'static str, Entry)> {
    let pairs = match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => {
            vec![("table_vartime", Pair::new::<AesEncryptVartime, AesDecryptVartime>(Portable))]
        }
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
            vec![("table-32_vartime", camellia::<Bits32>()), ("table-64_vartime", camellia::<Bits64>())]
        }
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => vec![
            ("table-6-10-10-6_vartime", sc2000::<FourPieces>()),
            ("table-11-10-11_vartime", sc2000::<ThreePieces>()),
            ("table-6-5-5-5-5-6_vartime", sc2000::<SixPieces>()),
        ],
        Cipher::Sm4 => vec![("table_vartime", Pair::new::<Sm4EncryptVartime, Sm4DecryptVartime>(Portable))],
    };
    pairs.into_iter().map(|(name, pair)| (name, pair.entry::<GROUP, GROUP, POWERS>(parts))).collect()
}

fn camellia<W: Width>() -> Pair<Portable> {
    Pair::new::<CamelliaEncryptVartime<W>, CamelliaDecryptVartime<W>>(Portable)
}

fn sc2000<T: Layout>() -> Pair<Portable> {
    Pair::new::<Sc2000EncryptVartime<T>, Sc2000DecryptVartime<T>>(Portable)
}
