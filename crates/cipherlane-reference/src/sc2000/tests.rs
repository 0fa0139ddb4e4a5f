//! Published values of NESSIE and CRYPTREC, and values derived from them.

use super::*;
use crate::sha2::sha256;
use crate::vectors::hex::{decode, encode};

/// 00 01 02 ..
fn counting<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| u8::try_from(i).unwrap())
}

fn block(hex: &str) -> Block {
    decode(hex).unwrap().try_into().unwrap()
}

/// Zero but for the bit `index`, counted from the top bit of the first byte.
fn one_bit<const N: usize>(index: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[index / 8] = 0x80 >> (index % 8);
    bytes
}

/// Encrypts, and checks that decryption undoes it.
fn both_ways(key: &[u8], plaintext: Block) -> Block {
    let cipher = Sc2000::new(key);
    let ciphertext = cipher.encrypt(plaintext);
    assert_eq!(cipher.decrypt(ciphertext), plaintext);
    ciphertext
}

/// Published with the submission to NESSIE; the first is also the example of the specification for CRYPTREC.
#[test]
fn published_vectors() {
    let zero = [0; 16];
    let first = one_bit(0);
    for (key, plaintext, ciphertext) in [
        (&[0; 16][..], zero, "fae4baa3bb72c4c060b9a4a5c4b2ab32"),
        (&one_bit::<16>(0), zero, "3fcb3bc9dbe00a8bf28d69d7f67102a7"),
        (&[0; 16], first, "b75cd863b9cb21c7cebd9e1014bf774f"),
        (&[1; 16], [1; 16], "ee5c548ea5ef353b896a780e324be38d"),
        (&[9; 16], [9; 16], "8839d41b099a817ef8f9ffe6b88455ce"),
        (&one_bit::<24>(0), zero, "ab2bf8e2ec1f839b180fb5874868fdb0"),
        (&one_bit::<24>(191), zero, "45d0062c5ace382a6fcc5ddc21860230"),
        (&one_bit::<32>(0), zero, "0030c256b29b13b8577fcb23893698e7"),
        (&one_bit::<32>(255), zero, "2a275fdcfbe41e88b97ec0091569fbc9"),
        (&[0; 24], zero, "6c2bab231cb641ed3ac8d4b0ea69ee3b"),
        (&[0; 32], zero, "6c2bab231cb641ed3ac8d4b0ea69ee3b"),
        (&[0; 24], first, "c625023b9378a2eb810a07c10e5cd9d1"),
        (&[0; 32], first, "c625023b9378a2eb810a07c10e5cd9d1"),
        (&[255; 24], [255; 16], "b8d22aba0b80e05b52c2c2d14c6b0ef9"),
        (&[255; 32], [255; 16], "b8d22aba0b80e05b52c2c2d14c6b0ef9"),
    ] {
        assert_eq!(both_ways(key, plaintext), block(ciphertext), "{}", encode(key));
    }
}

/// SHA-256 over the ciphertexts of a whole set, which stands for their 3 * 16 to 256 blocks.
fn digest_of(ciphertexts: impl Iterator<Item = Block>) -> String {
    encode(&sha256(&ciphertexts.collect::<Vec<_>>().concat()))
}

/// NESSIE's sets 1 (one bit of the key), 2 (one bit of the text) and 3 (all bytes equal), by the digests of what was
/// published.
fn nessie<const KEY: usize>(set_1: &str, set_2: &str, set_3: &str) {
    let zero = [0; 16];
    let keys = (0..8 * KEY).map(|bit| both_ways(&one_bit::<KEY>(bit), zero));
    assert_eq!(digest_of(keys), set_1, "set 1");
    let texts = (0..128).map(|bit| both_ways(&[0; KEY], one_bit(bit)));
    assert_eq!(digest_of(texts), set_2, "set 2");
    let bytes = (0..=255).map(|byte| both_ways(&[byte; KEY], [byte; 16]));
    assert_eq!(digest_of(bytes), set_3, "set 3");
}

#[test]
fn nessie_sets() {
    nessie::<16>(
        "e005c92a1d7b700fd7989226c5df79c2fb7cf7297c1afc3d799d9e3b8e8b3ba3",
        "7d080be9ba2bff2184076feca59cbec45a09f6ce2143423c13b02c948486ba6a",
        "fee3919ec7f2f7643f2ed026e75b738068476ddf98bc8b3939c63cdcdc3ee831",
    );
    // Constant keys: 192 and 256 bits extend to the same.
    let set_2 = "2bfd37620746b5ba08fda0cd3ef6c5d92012a0bdadf8c86095a36c327fea7b30";
    let set_3 = "85aef1475bf43771106c9ff42836975ea94417af87b20081a2d4c4f1b7de5ac9";
    nessie::<24>("fb29b5bf4fd17bbfd3d1b24cd399534232ef4155035f4276287962d948fa5f7e", set_2, set_3);
    nessie::<32>("1e19f62bf31a10b8ce22568d8da5cc9aa370577b6875af3ba96818601162d6c9", set_2, set_3);
}

/// Derived, not published: an independent program that passes all of NESSIE's vectors made these.
#[test]
fn derived_vectors() {
    let plaintext = block("00112233445566778899aabbccddeeff");
    let keys = [&counting::<16>()[..], &counting::<24>(), &counting::<32>()];
    let once = [
        "a78996b59e3caa32b1a3041a74275de6",
        "791e1d9d27753c577d35548a23dd9aa7",
        "ef86389cb5981d0fe9bc710235ddd83c",
    ];
    let a_thousand_times = [
        "31fd2508fd0cbe617f0cc636466c6cb4",
        "5a20878b8303cd522870fdd3f6358f83",
        "ca7065df46e191cdd844e90180c5a838",
    ];
    for (index, key) in keys.into_iter().enumerate() {
        assert_eq!(both_ways(key, plaintext), block(once[index]));
        let cipher = Sc2000::new(key);
        let last = (0..1000).fold([0; 16], |block, _| cipher.encrypt(block));
        assert_eq!(last, block(a_thousand_times[index]));
    }
}

/// Derived, not published: the parts, each by itself.
#[test]
fn parts() {
    assert_eq!(s_function(0x0123_4567), 0xbfdf_b436);
    assert_eq!(m_function(s_function(0x0123_4567)), 0x5a90_e456);
    let constants = [0x0eaa_5e14, 0xe805_a839, 0x286c_899c, 0x795d_d2d3, 0xf2fb_60cd, 0x074e_d881];
    assert_eq!(std::array::from_fn(|i| m_function(s_function(u32::try_from(i).unwrap()))), constants);
    let state = [0x0001_0203, 0x0405_0607, 0x0809_0a0b, 0x0c0d_0e0f];
    let substituted = [0x0c0d_0e0f, 0x0c0d_0e0f, 0xf7f7_f7f7, 0x0404_0404];
    assert_eq!(b_function(state, &S4), substituted);
    assert_eq!(b_function(substituted, &S4_INVERSE), state);
    assert_eq!(r_function(state, MASKS[0]), [0xe16b_0038, 0x0e9b_cf0a, state[2], state[3]]);
    assert_eq!(r_function(state, MASKS[1]), [0xc34f_421e, 0x6efd_8d2c, state[2], state[3]]);
}

/// Derived, not published: keys on their way from the user's key to the rounds.
#[test]
fn keys() {
    let user = std::array::from_fn(|i| {
        let first = u8::try_from(4 * (i % 4)).unwrap();
        u32::from_be_bytes([first, first + 1, first + 2, first + 3])
    });
    let [a, b, c, d] = intermediate_keys(&user);
    assert_eq!(a, [0x7f2c_07eb, 0x30bd_7370, 0x085a_13c7]);
    assert_eq!(b, [0xaccd_7d33, 0xcf3b_1698, 0x27be_9736]);
    assert_eq!(c, [0x5e99_4815, 0x3c2a_abbd, 0x6963_da03]);
    assert_eq!(d, [0x55c0_6920, 0x455f_9a84, 0xc1e6_21b1]);
    let cipher = Sc2000::new(&counting::<16>());
    assert_eq!(cipher.round_keys[0], [0x65c1_c31d, 0x521a_b237, 0x4546_f506, 0xb610_7013]);
    // From number 36 on, the order is one further.
    assert_eq!(cipher.round_keys[8][2..], [0x3204_8e97, 0xb390_8c0f]);
    assert_eq!(cipher.round_keys[9][..3], [0x4108_1604, 0x99cb_516f, 0x6376_282c]);
    assert_eq!(cipher.round_keys[13], [0x0664_094e, 0x17be_00a6, 0x6733_c0f0, 0x624d_838c]);
    let cipher = Sc2000::new(&counting::<24>());
    assert_eq!(cipher.round_keys[0], [0x28f3_0201, 0x5ddd_36ea, 0x6ced_6d37, 0xa5a0_e365]);
    assert_eq!(cipher.round_keys[15], [0xf31c_3db8, 0x0a95_8639, 0xe7e1_f446, 0xe3af_7abc]);
    let cipher = Sc2000::new(&counting::<32>());
    assert_eq!(cipher.round_keys[0], [0xfc61_8dbd, 0x4500_9ca2, 0x08d9_d3a5, 0x7115_7131]);
    assert_eq!(cipher.round_keys[15], [0x8dfb_5e10, 0x1342_4fd7, 0x2f88_b922, 0x054a_9e54]);
}

#[test]
fn debug_shows_no_key() {
    assert_eq!(format!("{:?}", Sc2000::new(&[7; 16])), "Sc2000(6.5 rounds)");
    assert_eq!(format!("{:?}", Sc2000::new(&[7; 24])), "Sc2000(7.5 rounds)");
}
