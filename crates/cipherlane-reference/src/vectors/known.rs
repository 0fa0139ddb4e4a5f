//! Known answers small enough to carry along: the examples that the standards print.

use super::{Case, parse};

/// The files, each with the name that its cases give as their source.
const FILES: [(&str, &str, &str); 19] = [
    ("FIPS 197", "fips197-ecb.rsp", include_str!("../../known/fips197-ecb.rsp")),
    ("SP 800-38A", "sp800-38a-ecb.rsp", include_str!("../../known/sp800-38a-ecb.rsp")),
    ("SP 800-38A", "sp800-38a-cbc.rsp", include_str!("../../known/sp800-38a-cbc.rsp")),
    ("SP 800-38A", "sp800-38a-ctr.rsp", include_str!("../../known/sp800-38a-ctr.rsp")),
    ("GCM specification", "mcgrew-viega-gcm.rsp", include_str!("../../known/mcgrew-viega-gcm.rsp")),
    ("DLMS/COSEM", "dlms-gcm.rsp", include_str!("../../known/dlms-gcm.rsp")),
    ("IEEE 1619", "ieee1619-xts.rsp", include_str!("../../known/ieee1619-xts.rsp")),
    ("RFC 3713", "rfc3713-ecb.rsp", include_str!("../../known/rfc3713-ecb.rsp")),
    ("OpenSSL", "openssl-camellia-cbc.rsp", include_str!("../../known/openssl-camellia-cbc.rsp")),
    ("RFC 5528", "rfc5528-ctr.rsp", include_str!("../../known/rfc5528-ctr.rsp")),
    (
        "draft-kato-ipsec-camellia-gcm",
        "kato-camellia-gcm.rsp",
        include_str!("../../known/kato-camellia-gcm.rsp"),
    ),
    ("NESSIE", "sc2000-ecb.rsp", include_str!("../../known/sc2000-ecb.rsp")),
    ("draft-ribose-cfrg-sm4", "sm4-ecb.rsp", include_str!("../../known/sm4-ecb.rsp")),
    ("draft-ribose-cfrg-sm4", "sm4-cbc.rsp", include_str!("../../known/sm4-cbc.rsp")),
    ("draft-ribose-cfrg-sm4", "sm4-ctr.rsp", include_str!("../../known/sm4-ctr.rsp")),
    ("RFC 8998", "rfc8998-gcm.rsp", include_str!("../../known/rfc8998-gcm.rsp")),
    ("FIPS 180-4", "fips180-4.rsp", include_str!("../../known/fips180-4.rsp")),
    ("FIPS 202", "fips202.rsp", include_str!("../../known/fips202.rsp")),
    ("KeccakKAT-3", "keccak.rsp", include_str!("../../known/keccak.rsp")),
];

/// The known answers of the standards, each in both directions.
///
/// # Panics
/// Never: the files are part of the program, and a test reads them.
#[must_use]
pub fn known() -> Vec<Case> {
    let mut cases = Vec::new();
    for (source, name, text) in FILES {
        let parsed = parse(name, text).expect("known answers are well formed");
        for mut case in parsed {
            source.clone_into(&mut case.source);
            cases.extend(case.reversed());
            cases.push(case);
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use cipherlane_core::{Algorithm, Cipher, Mode};

    #[test]
    fn every_mode_has_known_answers() {
        let cases = known();
        let count = |algorithm| cases.iter().filter(|case| case.algorithm == algorithm).count();
        for algorithm in Algorithm::all() {
            let none = match algorithm {
                // IEEE 1619 has AES alone, and none with 192-bit keys; Wycheproof has.
                Algorithm::Cipher(cipher, Mode::Xts) => !matches!(cipher, Cipher::Aes128 | Cipher::Aes256),
                // Nothing is published on SC2000 in a mode.
                Algorithm::Cipher(cipher, mode) if cipher.family() == "sc2000" => mode != Mode::Ecb,
                _ => algorithm == Algorithm::new(Cipher::Camellia192, Mode::Gcm),
            };
            assert_eq!(count(algorithm) == 0, none, "{algorithm}");
        }
        assert_eq!(cases.iter().filter(|case| case.source == "GCM specification").count(), 2 * 18);
    }
}
