//! SHA-2 as FIPS 180-4 writes it down: SHA-224, SHA-256, SHA-384, SHA-512 and SHA-512/256. Section numbers are that
//! standard's.

/// SHA-224 (section 6.3).
#[must_use]
pub fn sha224(message: &[u8]) -> [u8; 28] {
    first(&to_bytes_32(sha256_from(low_halves(ROOTS_9_TO_16), message)))
}

/// SHA-256 (section 6.2).
#[must_use]
pub fn sha256(message: &[u8]) -> [u8; 32] {
    to_bytes_32(sha256_from(high_halves(ROOTS_1_TO_8), message))
}

/// SHA-384 (section 6.5).
#[must_use]
pub fn sha384(message: &[u8]) -> [u8; 48] {
    first(&to_bytes_64(sha512_from(ROOTS_9_TO_16, message)))
}

/// SHA-512 (section 6.4).
#[must_use]
pub fn sha512(message: &[u8]) -> [u8; 64] {
    to_bytes_64(sha512_from(ROOTS_1_TO_8, message))
}

/// SHA-512/256 (section 6.7), whose initial value is a digest itself (section 5.3.6).
#[must_use]
pub fn sha512_256(message: &[u8]) -> [u8; 32] {
    let generator = ROOTS_1_TO_8.map(|word| word ^ 0xa5a5_a5a5_a5a5_a5a5);
    first(&to_bytes_64(sha512_from(sha512_from(generator, b"SHA-512/256"), message)))
}

/// SHA-256 computation (section 6.2.2) with the initial hash value `h`.
fn sha256_from(mut h: [u32; 8], message: &[u8]) -> [u32; 8] {
    for block in padded::<64>(message) {
        compress_32(&mut h, &block);
    }
    h
}

/// SHA-512 computation (section 6.4.2) with the initial hash value `h`.
fn sha512_from(mut h: [u64; 8], message: &[u8]) -> [u64; 8] {
    for block in padded::<128>(message) {
        compress_64(&mut h, &block);
    }
    h
}

/// The blocks of the message with its padding: a bit of one, zeros, and the length in bits (section 5.1), which fills
/// the last eighth of a block.
fn padded<const BLOCK: usize>(message: &[u8]) -> Vec<[u8; BLOCK]> {
    let mut bytes = message.to_vec();
    bytes.push(0x80);
    // The length has 8 or 16 bytes. It starts with zeros: no message here has 2^64 bits.
    let field = BLOCK / 8;
    bytes.resize((bytes.len() + field).next_multiple_of(BLOCK) - 8, 0);
    bytes.extend((message.len() as u64 * 8).to_be_bytes());
    bytes.as_chunks().0.to_vec()
}

/// One block of section 6.2.2, with the functions of section 4.1.2.
fn compress_32(h: &mut [u32; 8], block: &[u8; 64]) {
    let ch = |x: u32, y: u32, z: u32| (x & y) ^ (!x & z);
    let maj = |x: u32, y: u32, z: u32| (x & y) ^ (x & z) ^ (y & z);
    let upper_0 = |x: u32| x.rotate_right(2) ^ x.rotate_right(13) ^ x.rotate_right(22);
    let upper_1 = |x: u32| x.rotate_right(6) ^ x.rotate_right(11) ^ x.rotate_right(25);
    let lower_0 = |x: u32| x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
    let lower_1 = |x: u32| x.rotate_right(17) ^ x.rotate_right(19) ^ x >> 10;
    // 1. The message schedule.
    let mut w = [0; 64];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        w[t] =
            lower_1(w[t - 2]).wrapping_add(w[t - 7]).wrapping_add(lower_0(w[t - 15])).wrapping_add(w[t - 16]);
    }
    // 2. and 3. The working variables.
    let mut v = *h;
    for (w, k) in w.into_iter().zip(K) {
        let [a, b, c, d, e, f, g, h] = v;
        let t1 =
            h.wrapping_add(upper_1(e)).wrapping_add(ch(e, f, g)).wrapping_add(high_half(k)).wrapping_add(w);
        let t2 = upper_0(a).wrapping_add(maj(a, b, c));
        v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
    }
    // 4. The intermediate hash value.
    for (word, variable) in h.iter_mut().zip(v) {
        *word = word.wrapping_add(variable);
    }
}

/// One block of section 6.4.2, with the functions of section 4.1.3.
fn compress_64(h: &mut [u64; 8], block: &[u8; 128]) {
    let ch = |x: u64, y: u64, z: u64| (x & y) ^ (!x & z);
    let maj = |x: u64, y: u64, z: u64| (x & y) ^ (x & z) ^ (y & z);
    let upper_0 = |x: u64| x.rotate_right(28) ^ x.rotate_right(34) ^ x.rotate_right(39);
    let upper_1 = |x: u64| x.rotate_right(14) ^ x.rotate_right(18) ^ x.rotate_right(41);
    let lower_0 = |x: u64| x.rotate_right(1) ^ x.rotate_right(8) ^ x >> 7;
    let lower_1 = |x: u64| x.rotate_right(19) ^ x.rotate_right(61) ^ x >> 6;
    // 1. The message schedule.
    let mut w = [0; 80];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    for t in 16..80 {
        w[t] =
            lower_1(w[t - 2]).wrapping_add(w[t - 7]).wrapping_add(lower_0(w[t - 15])).wrapping_add(w[t - 16]);
    }
    // 2. and 3. The working variables.
    let mut v = *h;
    for (w, k) in w.into_iter().zip(K) {
        let [a, b, c, d, e, f, g, h] = v;
        let t1 = h.wrapping_add(upper_1(e)).wrapping_add(ch(e, f, g)).wrapping_add(k).wrapping_add(w);
        let t2 = upper_0(a).wrapping_add(maj(a, b, c));
        v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
    }
    // 4. The intermediate hash value.
    for (word, variable) in h.iter_mut().zip(v) {
        *word = word.wrapping_add(variable);
    }
}

/// The first bytes: how the short digests are cut from the long ones.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

fn to_bytes_32(words: [u32; 8]) -> [u8; 32] {
    std::array::from_fn(|i| words[i / 4].to_be_bytes()[i % 4])
}

fn to_bytes_64(words: [u64; 8]) -> [u8; 64] {
    std::array::from_fn(|i| words[i / 8].to_be_bytes()[i % 8])
}

#[allow(clippy::cast_possible_truncation)] // 32 bits remain
fn high_half(word: u64) -> u32 {
    (word >> 32) as u32
}

fn high_halves(words: [u64; 8]) -> [u32; 8] {
    words.map(high_half)
}

#[allow(clippy::cast_possible_truncation)] // the low half is wanted
fn low_halves(words: [u64; 8]) -> [u32; 8] {
    words.map(|word| word as u32)
}

/// Fractional parts of the square roots of the first eight primes: H(0) of SHA-512 (section 5.3.5), and their first 32
/// bits that of SHA-256 (section 5.3.3).
const ROOTS_1_TO_8: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Those of the ninth to sixteenth primes: H(0) of SHA-384 (section 5.3.4), and their second 32 bits that of SHA-224
/// (section 5.3.2).
const ROOTS_9_TO_16: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8,
    0x629a_292a_367c_d507,
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
    0x47b5_481d_befa_4fa4,
];

/// Fractional parts of the cube roots of the first eighty primes (section 4.2.3); SHA-256 takes the first 32 bits of
/// the first 64 (section 4.2.2).
const K: [u64; 80] = [
    0x428a_2f98_d728_ae22,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
    0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242,
    0x1283_5b01_4570_6fbe,
    0x2431_85be_4ee4_b28c,
    0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f,
    0x80de_b1fe_3b16_96b1,
    0x9bdc_06a7_25c7_1235,
    0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2,
    0xefbe_4786_384f_25e3,
    0x0fc1_9dc6_8b8c_d5b5,
    0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275,
    0x4a74_84aa_6ea6_e483,
    0x5cb0_a9dc_bd41_fbd4,
    0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab,
    0xa831_c66d_2db4_3210,
    0xb003_27c8_98fb_213f,
    0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2,
    0xd5a7_9147_930a_a725,
    0x06ca_6351_e003_826f,
    0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc,
    0x2e1b_2138_5c26_c926,
    0x4d2c_6dfc_5ac4_2aed,
    0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de,
    0x766a_0abb_3c77_b2a8,
    0x81c2_c92e_47ed_aee6,
    0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364,
    0xa81a_664b_bc42_3001,
    0xc24b_8b70_d0f8_9791,
    0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218,
    0xd699_0624_5565_a910,
    0xf40e_3585_5771_202a,
    0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8,
    0x1e37_6c08_5141_ab53,
    0x2748_774c_df8e_eb99,
    0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63,
    0x4ed8_aa4a_e341_8acb,
    0x5b9c_ca4f_7763_e373,
    0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc,
    0x78a5_636f_4317_2f60,
    0x84c8_7814_a1f0_ab72,
    0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28,
    0xa450_6ceb_de82_bde9,
    0xbef9_a3f7_b2c6_7915,
    0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c,
    0xd186_b8c7_21c0_c207,
    0xeada_7dd6_cde0_eb1e,
    0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba,
    0x0a63_7dc5_a2c8_98a6,
    0x113f_9804_bef9_0dae,
    0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84,
    0x32ca_ab7b_40c7_2493,
    0x3c9e_be0a_15c9_bebc,
    0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6,
    0x597f_299c_fc65_7e2a,
    0x5fcb_6fab_3ad6_faec,
    0x6c44_198c_4a47_5817,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::hex::encode;

    /// The examples that NIST publishes with FIPS 180-4: one block, two blocks (of 64 and of 128 bytes), and none.
    const SHORT: &[u8] = b"abc";
    const TWO_OF_64: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    const TWO_OF_128: &[u8] = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
        hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

    #[test]
    fn examples_of_sha_224_and_sha_256() {
        for (message, digest) in [
            (SHORT, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (TWO_OF_64, "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"),
        ] {
            assert_eq!(encode(&sha224(message)), digest);
        }
        for (message, digest) in [
            (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (SHORT, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (TWO_OF_64, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ] {
            assert_eq!(encode(&sha256(message)), digest);
        }
    }

    #[test]
    fn examples_of_sha_384() {
        for (message, digest) in [
            (
                SHORT,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                TWO_OF_128,
                "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
            ),
        ] {
            assert_eq!(encode(&sha384(message)), digest);
        }
    }

    #[test]
    fn examples_of_sha_512() {
        for (message, digest) in [
            (
                SHORT,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (
                TWO_OF_128,
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
                 501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
            ),
        ] {
            assert_eq!(encode(&sha512(message)), digest);
        }
        for (message, digest) in [
            (SHORT, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            (TWO_OF_128, "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a"),
        ] {
            assert_eq!(encode(&sha512_256(message)), digest);
        }
    }

    /// The example of a million times `a`.
    #[test]
    fn a_million_bytes() {
        let message = vec![b'a'; 1_000_000];
        assert_eq!(
            encode(&sha256(&message)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
        assert!(encode(&sha512(&message)).starts_with("e718483d0ce769644e2e42c7bc15b4638e1f98b13b204428"));
    }
}
