//! SC2000 on every instruction set of this CPU: published values, and the readable reference.

use std::any::type_name;

use cipherlane_core::{BLOCK, Cipher};
use cipherlane_reference::sha2::sha256;

use crate::cipher::grouped::Only;
use crate::cipher::tests::check_key_each;
use crate::cipher::tests::memory::{check_counting, check_in_memory};
use crate::cipher::tests::support::{
    Block, apply_counting, assert_blocks, blocks, expected, random_blocks, random_bytes, registers,
};
use crate::cipher::{KeyEach, Permutation, V};
use crate::lanes::portable::Portable;
use crate::lanes::{Isa, Lanes};

const SC2000: [Cipher; 3] = [Cipher::Sc2000_128, Cipher::Sc2000_192, Cipher::Sc2000_256];

/// A check that is made of every implementation.
trait Check {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    );
}

/// Makes the check of what this CPU can run.
fn everywhere<C: Check>() {
    C::of::<Only<super::portable::Sc2000Encrypt>, Only<super::portable::Sc2000Decrypt>>(Portable);
    #[cfg(target_arch = "x86_64")]
    x86::everywhere::<C>();
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::sliced::layers::Layers;
    use super::super::sliced::shuffle::{WithGalois, WithNibbles};
    use super::super::sliced::vbmi::Vbmi;
    use super::super::sliced::{Sc2000Decrypt, Sc2000Encrypt};
    use super::Check;
    use crate::cipher::grouped::Only;
    use crate::lanes::bytes::IsaOf;
    use crate::lanes::bytes::x86::{Xmm, Ymm};
    use crate::lanes::{avx2, sse::Sse, vaes256, vaes512::Vaes512};

    fn of<C: Check, L: Layers>(isa: IsaOf<L::Bytes>) {
        C::of::<Only<Sc2000Encrypt<L>>, Only<Sc2000Decrypt<L>>>(isa);
    }

    pub(super) fn everywhere<C: Check>() {
        type Sse16 = WithNibbles<Xmm>;
        type Avx2Pair = WithNibbles<Ymm<avx2::X2>>;
        type Avx2Whole = WithNibbles<Ymm<vaes256::X2>>;
        type Avx2Galois = WithGalois<Ymm<vaes256::X2<true>>>;
        Sse::detect().into_iter().for_each(of::<C, Sse16>);
        let pair = avx2::Avx2::detect().into_iter();
        pair.for_each(of::<C, Avx2Pair>);
        let whole = vaes256::Vaes256::detect().into_iter();
        whole.for_each(of::<C, Avx2Whole>);
        let galois = vaes256::Vaes256::detect_with_gfni().into_iter();
        galois.for_each(of::<C, Avx2Galois>);
        Vaes512::detect().into_iter().for_each(of::<C, Vbmi>);
    }
}

/// 00 01 02 ..
fn counting<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| u8::try_from(i).unwrap())
}

/// Zero but for the bit `index`, counted from the top bit of the first byte.
fn one_bit<const N: usize>(index: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[index / 8] = 0x80 >> (index % 8);
    bytes
}

/// Encrypts a block as one of two registers, and checks that decryption undoes it.
fn both_ways<E: Permutation<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
    isa: E::Isa,
    key: &[u8],
    block: Block,
) -> Block {
    let output = E::new(isa, key).apply(registers::<_, 2>(isa, &[block]));
    assert_eq!(D::new(isa, key).apply(output)[0].to_blocks()[0], block);
    output[0].to_blocks()[0]
}

/// Published with the submission to NESSIE; the first is also the example of the specification for CRYPTREC.
struct Published;

impl Check for Published {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    ) {
        let (zero, first) = ([0; BLOCK], one_bit(0));
        for (key, plaintext, ciphertext) in [
            (&[0; 16][..], zero, 0xfae4_baa3_bb72_c4c0_60b9_a4a5_c4b2_ab32_u128),
            (&one_bit::<16>(0), zero, 0x3fcb_3bc9_dbe0_0a8b_f28d_69d7_f671_02a7),
            (&[0; 16], first, 0xb75c_d863_b9cb_21c7_cebd_9e10_14bf_774f),
            (&[1; 16], [1; BLOCK], 0xee5c_548e_a5ef_353b_896a_780e_324b_e38d),
            (&[9; 16], [9; BLOCK], 0x8839_d41b_099a_817e_f8f9_ffe6_b884_55ce),
            (&one_bit::<24>(0), zero, 0xab2b_f8e2_ec1f_839b_180f_b587_4868_fdb0),
            (&one_bit::<24>(191), zero, 0x45d0_062c_5ace_382a_6fcc_5ddc_2186_0230),
            (&one_bit::<32>(0), zero, 0x0030_c256_b29b_13b8_577f_cb23_8936_98e7),
            (&one_bit::<32>(255), zero, 0x2a27_5fdc_fbe4_1e88_b97e_c009_1569_fbc9),
            (&[0; 24], zero, 0x6c2b_ab23_1cb6_41ed_3ac8_d4b0_ea69_ee3b),
            (&[0; 32], zero, 0x6c2b_ab23_1cb6_41ed_3ac8_d4b0_ea69_ee3b),
            (&[0; 24], first, 0xc625_023b_9378_a2eb_810a_07c1_0e5c_d9d1),
            (&[0; 32], first, 0xc625_023b_9378_a2eb_810a_07c1_0e5c_d9d1),
            (&[255; 24], [255; BLOCK], 0xb8d2_2aba_0b80_e05b_52c2_c2d1_4c6b_0ef9),
            (&[255; 32], [255; BLOCK], 0xb8d2_2aba_0b80_e05b_52c2_c2d1_4c6b_0ef9),
        ] {
            assert_eq!(u128::from_be_bytes(both_ways::<E, D>(isa, key, plaintext)), ciphertext, "{key:?}");
        }
    }
}

#[test]
fn published_values() {
    everywhere::<Published>();
}

/// SHA-256 of the ciphertexts of a set, by its first 64 bits, which are plenty for a set that is known.
fn digest(ciphertexts: impl Iterator<Item = Block>) -> u64 {
    let hash = sha256(&ciphertexts.collect::<Vec<_>>().concat());
    u64::from_be_bytes(*hash.first_chunk().unwrap())
}

/// The sets 1, 2 and 3 of NESSIE whole, each by a digest of its published ciphertexts: keys with one bit, plaintexts
/// with one bit, and equal bytes in key and plaintext.
struct Sets;

impl Sets {
    fn of_size<
        E: KeyEach<Source = <E as Permutation>::Isa>,
        D: KeyEach<Isa = E::Isa, Source = E::Isa>,
        const KEY: usize,
    >(
        isa: E::Isa,
    ) -> [u64; 3] {
        let encrypt = |key: &[u8], block| both_ways::<E, D>(isa, key, block);
        let bytes = || 0..=u8::MAX;
        [
            digest((0..8 * KEY).map(|bit| encrypt(&one_bit::<KEY>(bit), [0; BLOCK]))),
            digest((0..8 * BLOCK).map(|bit| encrypt(&[0; KEY], one_bit(bit)))),
            digest(bytes().map(|byte| encrypt(&[byte; KEY], [byte; BLOCK]))),
        ]
    }
}

impl Check for Sets {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    ) {
        let [second, third] = [0x2bfd_3762_0746_b5ba, 0x85ae_f147_5bf4_3771];
        let published = [0xe005_c92a_1d7b_700f, 0x7d08_0be9_ba2b_ff21, 0xfee3_919e_c7f2_f764];
        assert_eq!(Self::of_size::<E, D, 16>(isa), published);
        assert_eq!(Self::of_size::<E, D, 24>(isa), [0xfb29_b5bf_4fd1_7bbf, second, third]);
        assert_eq!(Self::of_size::<E, D, 32>(isa), [0x1e19_f62b_f31a_10b8, second, third]);
    }
}

#[test]
fn published_sets() {
    everywhere::<Sets>();
}

/// A thousand encryptions one after the other, from zeros, under the key 00 01 02 ..: derived values, on which
/// independent implementations agree.
struct Iterated;

impl Check for Iterated {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    ) {
        for (key_bytes, last) in [
            (16, 0x31fd_2508_fd0c_be61_7f0c_c636_466c_6cb4_u128),
            (24, 0x5a20_878b_8303_cd52_2870_fdd3_f635_8f83),
            (32, 0xca70_65df_46e1_91cd_d844_e901_80c5_a838),
        ] {
            let key: [u8; 32] = counting();
            let (encrypt, decrypt) = (E::new(isa, &key[..key_bytes]), D::new(isa, &key[..key_bytes]));
            let mut register = [isa.zero()];
            for _ in 0..1000 {
                register = encrypt.apply(register);
            }
            assert_eq!(register[0].to_blocks()[0], last.to_be_bytes());
            for _ in 0..1000 {
                register = decrypt.apply(register);
            }
            assert_eq!(blocks(&register), vec![[0; BLOCK]; V::<E>::LANES]);
        }
    }
}

#[test]
fn iterated_values() {
    everywhere::<Iterated>();
}

/// Random blocks under random keys, in counts of registers around those of groups, and a key for each
/// block.
struct Agreement;

impl Agreement {
    fn of_count<
        E: KeyEach<Source = <E as Permutation>::Isa>,
        D: KeyEach<Isa = E::Isa, Source = E::Isa>,
        const N: usize,
    >(
        isa: E::Isa,
        cipher: Cipher,
    ) {
        let (input, key) = (random_blocks(N * V::<E>::LANES), random_bytes(1000));
        let key_bytes = &key[..cipher.key_bytes()];
        let output: [V<E>; N] = apply_counting(&E::new(isa, key_bytes), &input);
        assert_blocks::<E>(&output, &expected(cipher, false, &key, &input));
        assert_blocks::<D>(&D::new(isa, key_bytes).apply(output), &input);
    }
}

impl Check for Agreement {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    ) {
        for cipher in SC2000 {
            check_key_each::<E>(isa, cipher, false);
            check_key_each::<D>(isa, cipher, true);
            Self::of_count::<E, D, 1>(isa, cipher);
            Self::of_count::<E, D, 5>(isa, cipher);
            Self::of_count::<E, D, 16>(isa, cipher);
            Self::of_count::<E, D, 19>(isa, cipher);
            Self::of_count::<E, D, 32>(isa, cipher);
            Self::of_count::<E, D, 51>(isa, cipher);
        }
    }
}

#[test]
fn random_blocks_agree_with_the_reference() {
    everywhere::<Agreement>();
}

/// Whole groups in memory, and counters of such.
struct InMemory;

impl Check for InMemory {
    fn of<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        isa: E::Isa,
    ) {
        let pairs = |count: usize| if type_name::<E>().contains("vbmi") { count / 2 * 2 } else { 0 };
        for cipher in SC2000 {
            check_in_memory::<E>(isa, cipher, false, pairs);
            check_in_memory::<D>(isa, cipher, true, pairs);
            check_counting::<E>(isa, cipher, false, pairs);
            check_counting::<D>(isa, cipher, true, |_| 0);
        }
    }
}

#[test]
fn groups_in_memory_agree_with_the_reference() {
    everywhere::<InMemory>();
}

#[test]
fn groups_of_slices_agree_with_the_reference() {
    use super::portable::{Sc2000Decrypt, Sc2000Encrypt};
    for cipher in SC2000 {
        Agreement::of_count::<Only<Sc2000Encrypt>, Only<Sc2000Decrypt>, 64>(Portable, cipher);
        Agreement::of_count::<Only<Sc2000Encrypt>, Only<Sc2000Decrypt>, 67>(Portable, cipher);
    }
}
