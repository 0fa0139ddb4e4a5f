//! Withholding instructions from rivals, so that our narrower tiers meet them with the same instructions.
//!
//! The libraries read their variable once, when they are loaded: it has to be in the environment before the process
//! starts. Setting it later changes nothing. An empty value is no value to them but zero: it withholds everything.
//!
//! Seen on a CPU with AVX-512 and VAES, AES-128-GCM at 16 KiB: AWS-LC 5.12 and OpenSSL 4.0 fall from 16.5 GB/s to 6.6
//! with the value for `avx2` (they have no 256-bit AES code that does without AVX-512) and to 4.4 with that for `sse`.

/// OpenSSL and AWS-LC: two 64-bit words, `~` clears the bits that follow (OpenSSL's OPENSSL_ia32cap(3)). The first is
/// CPUID leaf 1 (EDX, then ECX in the upper half), the second leaf 7 (EBX, then ECX).
const IA32CAP: &str = "OPENSSL_ia32cap";

/// AVX (ECX 28), with which the 128-bit AES code of these libraries is a VEX-encoded one.
const LEAF1_AVX: u64 = 1 << (32 + 28);
/// AVX2 (EBX 5).
const LEAF7_AVX2: u64 = 1 << 5;
/// AVX512F (EBX 16), DQ (17), IFMA (21), CD (28), BW (30), VL (31); VBMI (ECX 1), VBMI2 (6), VNNI (11), BITALG (12),
/// VPOPCNTDQ (14).
const LEAF7_AVX512: u64 = 1 << 16
    | 1 << 17
    | 1 << 21
    | 1 << 28
    | 1 << 30
    | 1 << 31
    | (1 << 1 | 1 << 6 | 1 << 11 | 1 << 12 | 1 << 14) << 32;
/// VAES (ECX 9) and VPCLMULQDQ (ECX 10): AES and carry-less products on more than one block.
const LEAF7_VECTOR_AES: u64 = (1 << 9 | 1 << 10) << 32;

/// The environment variable, and its value, that leaves the rival `id` with the instructions of our `tier`.
///
/// None where the library has no such variable (`ring`, `graviola`, RustCrypto), where the tier is the widest, so
/// that there is nothing to withhold, and on other architectures.
#[must_use]
pub fn masking(id: &str, tier: &str) -> Option<(&'static str, String)> {
    if !cfg!(target_arch = "x86_64") || !["rival:libcrypto", "rival:openssl", "rival:aws-lc"].contains(&id) {
        return None;
    }
    value_for(tier).map(|value| (IA32CAP, value))
}

fn value_for(tier: &str) -> Option<String> {
    let (leaf1, leaf7) = match tier {
        // The tier has VAES and VPCLMULQDQ at 256 bits where the CPU has them, so the rivals keep them.
        "avx2" => (0, LEAF7_AVX512),
        "sse" => (LEAF1_AVX, LEAF7_AVX512 | LEAF7_AVX2 | LEAF7_VECTOR_AES),
        _ => return None,
    };
    Some(format!("~{leaf1:#x}:~{leaf7:#x}"))
}

/// The masking variable as a device shows it, where it is set.
pub(crate) fn detail() -> Option<(String, String)> {
    let value = std::env::var_os(IA32CAP)?;
    Some((IA32CAP.to_owned(), value.to_string_lossy().into_owned()))
}

/// Whether libraries that read the variable still have the AES instructions that the CPU has, as far as is known:
/// other values than ours may have withheld them.
pub(crate) fn keeps_aes() -> bool {
    let ours =
        |value: &str| ["avx2", "sse"].iter().any(|tier| value_for(tier).is_some_and(|our| our == value));
    detail().is_none_or(|(_, value)| ours(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn tiers_lose_what_they_do_not_have() {
        let value = |tier| masking("rival:openssl", tier).map(|(_, value)| value);
        assert_eq!(value("avx512"), None);
        assert_eq!(value("avx2").unwrap(), "~0x0:~0x5842d0230000");
        assert_eq!(value("sse").unwrap(), "~0x1000000000000000:~0x5e42d0230020");
        assert_eq!(masking("rival:ring", "sse"), None);
    }
}
