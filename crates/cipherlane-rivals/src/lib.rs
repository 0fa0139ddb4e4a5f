//! Other libraries as devices, to measure and to test against.
//!
//! [`available`] lists those that this build and this machine have, [`absent`] the others and how to get them. Each
//! is called in the fastest public way that it has, message by message but for ipsec-mb and the hashes of ISA-L Crypto, which
//! take many at once; where there are several ways, each is a kernel of its own. A key that messages share is set up once and kept between batches; a key each is set up for each.
//!
//! | device | built by | algorithms |
//! |---|---|---|
//! | `rival:aws-lc` | feature `aws-lc` (default) | AES in ECB, CBC, CTR, GCM, XTS with 256-bit keys; SHA-2, SHA-3, SHAKE |
//! | `rival:libcrypto` | nothing: opened at run time | what its version has of AES, Camellia, SM4 and the hashes |
//! | `rival:libgcrypt` | nothing: opened at run time | AES, Camellia, SM4; all hashes but the original Keccak |
//! | `rival:ipsec-mb` | nothing: opened at run time | AES in ECB, CBC, CTR, and GCM with nonces of 12 bytes; SHA-224 to SHA-512 |
//! | `rival:isal-crypto` | nothing: opened at run time | AES in CBC; AES in GCM with nonces of 12 bytes, and XTS, with keys of 128 and 256 bits; SHA-256, SHA-512 |
//! | `rival:openssl` | feature `openssl` | AES, Camellia, SM4 (some modes), all hashes |
//! | `rival:ring`, `rival:graviola` | feature `crates` | AES-128-GCM, AES-256-GCM (nonces of 12, tags of 16 bytes); SHA-2 |
//! | `rival:rustcrypto` | feature `crates` | all but SC2000 |

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod digest;
mod each;
mod evp;
#[cfg(all(feature = "crates", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod graviola;
mod intel_gcm;
mod ipsec_mb;
mod isal;
mod libcrypto;
mod libgcrypt;
mod limits;
mod masking;
mod message;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "crates")]
mod ring;
mod rows;
#[cfg(feature = "crates")]
mod rustcrypto;
mod session;
mod sha2;
mod shared;

use cipherlane_core::Device;

pub use masking::masking;

/// A rival that could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Identifier of the device: `rival:openssl`.
    pub id: String,
    /// Why it is absent.
    pub reason: String,
    /// What gets it.
    pub remedy: String,
}

impl Absent {
    #[cfg(not(all(feature = "aws-lc", feature = "openssl", feature = "crates")))]
    fn feature(id: &str, feature: &str) -> Self {
        let reason = format!("this build has no feature `{feature}`");
        Self { id: id.to_owned(), reason, remedy: format!("build with `--features {feature}`") }
    }
}

#[cfg(feature = "crates")]
fn graviola() -> Result<Box<dyn Device>, Absent> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let opened = graviola::open();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let opened = Err("graviola has no code for this architecture".to_owned());
    let remedy = "run on x86-64 since 2013 or on AArch64 with its cryptographic extension";
    opened.map_err(|reason| Absent { id: "rival:graviola".to_owned(), reason, remedy: remedy.to_owned() })
}

fn found() -> Vec<Result<Box<dyn Device>, Absent>> {
    let libcrypto = libcrypto::open().map_err(|reason| Absent {
        id: libcrypto::ID.to_owned(),
        reason,
        remedy: "install the system's OpenSSL library (libssl3, openssl-libs, openssl@3)".to_owned(),
    });
    let libgcrypt = libgcrypt::open().map_err(|reason| Absent {
        id: libgcrypt::ID.to_owned(),
        reason,
        remedy: "install the system's libgcrypt (libgcrypt20, libgcrypt)".to_owned(),
    });
    let ipsec_mb = ipsec_mb::open().map_err(|reason| Absent {
        id: ipsec_mb::ID.to_owned(),
        reason,
        remedy: "on x86-64, install Intel's Multi-Buffer Crypto (libipsec-mb1, intel-ipsec-mb)".to_owned(),
    });
    let isal = isal::open().map_err(|reason| Absent {
        id: isal::ID.to_owned(),
        reason,
        remedy: "build Intel's ISA-L Crypto (isa-l_crypto), 2.25 or later, and have the loader find it"
            .to_owned(),
    });
    vec![
        #[cfg(feature = "aws-lc")]
        Ok(aws_lc::open()),
        #[cfg(not(feature = "aws-lc"))]
        Err(Absent::feature("rival:aws-lc", "aws-lc")),
        libcrypto,
        libgcrypt,
        ipsec_mb,
        isal,
        #[cfg(feature = "openssl")]
        Ok(openssl::open()),
        #[cfg(not(feature = "openssl"))]
        Err(Absent::feature("rival:openssl", "openssl")),
        #[cfg(feature = "crates")]
        Ok(ring::open()),
        #[cfg(not(feature = "crates"))]
        Err(Absent::feature("rival:ring", "crates")),
        #[cfg(feature = "crates")]
        graviola(),
        #[cfg(not(feature = "crates"))]
        Err(Absent::feature("rival:graviola", "crates")),
        #[cfg(feature = "crates")]
        Ok(rustcrypto::open()),
        #[cfg(not(feature = "crates"))]
        Err(Absent::feature("rival:rustcrypto", "crates")),
    ]
}

/// The rivals that this build and this machine have.
#[must_use]
pub fn available() -> Vec<Box<dyn Device>> {
    found().into_iter().filter_map(Result::ok).collect()
}

/// The rivals that this build or this machine lacks.
#[must_use]
pub fn absent() -> Vec<Absent> {
    found().into_iter().filter_map(Result::err).collect()
}
