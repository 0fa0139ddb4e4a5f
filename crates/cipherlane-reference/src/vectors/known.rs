//! Known answers small enough to carry along: the examples that the standards print.

use super::{Case, rsp};

/// The files, each with the name that its cases give as their source.
const FILES: [(&str, &str, &str); 7] = [
    ("FIPS 197", "fips197-ecb.rsp", include_str!("../../known/fips197-ecb.rsp")),
    ("SP 800-38A", "sp800-38a-ecb.rsp", include_str!("../../known/sp800-38a-ecb.rsp")),
    ("SP 800-38A", "sp800-38a-cbc.rsp", include_str!("../../known/sp800-38a-cbc.rsp")),
    ("SP 800-38A", "sp800-38a-ctr.rsp", include_str!("../../known/sp800-38a-ctr.rsp")),
    ("GCM specification", "mcgrew-viega-gcm.rsp", include_str!("../../known/mcgrew-viega-gcm.rsp")),
    ("DLMS/COSEM", "dlms-gcm.rsp", include_str!("../../known/dlms-gcm.rsp")),
    ("IEEE 1619", "ieee1619-xts.rsp", include_str!("../../known/ieee1619-xts.rsp")),
];

/// The known answers of the standards, each in both directions.
///
/// # Panics
/// Never: the files are part of the program, and a test reads them.
#[must_use]
pub fn known() -> Vec<Case> {
    let mut cases = Vec::new();
    for (source, name, text) in FILES {
        let parsed = rsp::parse(name, text).expect("known answers are well formed");
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
            // IEEE 1619 has no XTS with 192-bit keys; Wycheproof has.
            let none = algorithm == Algorithm::new(Cipher::Aes192, Mode::Xts);
            assert_eq!(count(algorithm) == 0, none, "{algorithm}");
        }
        assert_eq!(cases.iter().filter(|case| case.source == "GCM specification").count(), 2 * 18);
    }
}
