//! Camellia and SM4 on every instruction set of this CPU, and with tables: known answers, and the readable reference.

use std::any::type_name;

use cipherlane_core::{BLOCK, Cipher};
use cipherlane_reference::cipher::keyed;

use super::GROUP;
use crate::cipher::camellia_table_vartime::{Bits32, Bits64, CamelliaDecryptVartime, CamelliaEncryptVartime};
use crate::cipher::grouped::{InGroups, Only};
use crate::cipher::slices::Native;
use crate::cipher::sm4_table_vartime::{Sm4DecryptVartime, Sm4EncryptVartime};
use crate::cipher::tests::check_key_each;
use crate::cipher::tests::memory::{check_counting, check_in_memory};
use crate::cipher::tests::support::{
    apply_counting, assert_blocks, expected, random_blocks, random_bytes, random_keys,
};
use crate::cipher::{KeyEach, Permutation, V, camellia, sm4};
use crate::lanes::portable::Portable;
use crate::lanes::{Isa, Lanes};

/// Something to be done with both directions of a cipher on an instruction set.
trait Test: Copy {
    fn run<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        self,
        isa: E::Isa,
    );
}

/// Runs it where there is such an instruction set.
fn on<E: InGroups, D: InGroups<Isa = E::Isa>>(isa: Option<E::Isa>, test: impl Test) {
    isa.into_iter().for_each(|isa| test.run::<Only<E>, Only<D>>(isa));
}

fn on_every_camellia(test: impl Test) {
    use camellia::{CamelliaDecrypt as D, CamelliaEncrypt as E, bits::Bits};
    on::<E<Bits<Native>>, D<Bits<Native>>>(Some(Portable), test);
    on::<CamelliaEncryptVartime<Bits32>, CamelliaDecryptVartime<Bits32>>(Some(Portable), test);
    on::<CamelliaEncryptVartime<Bits64>, CamelliaDecryptVartime<Bits64>>(Some(Portable), test);
    #[cfg(target_arch = "x86_64")]
    {
        use crate::lanes::bytes::x86::{Xmm, Ymm, Zmm};
        use crate::lanes::{avx2, sse::Sse, vaes256, vaes256::Vaes256, vaes512::Vaes512};
        use camellia::by_aes::{CamelliaDecrypt as AesD, CamelliaEncrypt as AesE};
        use camellia::galois::Galois as G;
        on::<AesE<Xmm>, AesD<Xmm>>(Sse::detect(), test);
        on::<AesE<Ymm<avx2::X2>>, AesD<Ymm<avx2::X2>>>(avx2::Avx2::detect(), test);
        on::<AesE<Ymm<vaes256::X2>>, AesD<Ymm<vaes256::X2>>>(Vaes256::detect(), test);
        type Gfni = Ymm<vaes256::X2<true>>;
        on::<E<G<Gfni>>, D<G<Gfni>>>(Vaes256::detect_with_gfni(), test);
        on::<E<G<Zmm>>, D<G<Zmm>>>(Vaes512::detect(), test);
    }
}

fn on_every_sm4(test: impl Test) {
    use sm4::{Sm4Decrypt as D, Sm4Encrypt as E, bits::Bits};
    on::<E<Bits<Native>>, D<Bits<Native>>>(Some(Portable), test);
    on::<Sm4EncryptVartime, Sm4DecryptVartime>(Some(Portable), test);
    #[cfg(target_arch = "x86_64")]
    {
        use crate::lanes::bytes::x86::{Xmm, Ymm, Zmm};
        use crate::lanes::{avx2, sse::Sse, vaes256, vaes256::Vaes256, vaes512::Vaes512};
        use sm4::{aes::AesBox as A, galois::Galois as G};
        on::<E<A<Xmm>>, D<A<Xmm>>>(Sse::detect(), test);
        on::<E<A<Ymm<avx2::X2>>>, D<A<Ymm<avx2::X2>>>>(avx2::Avx2::detect(), test);
        on::<E<A<Ymm<vaes256::X2>>>, D<A<Ymm<vaes256::X2>>>>(Vaes256::detect(), test);
        type Gfni = Ymm<vaes256::X2<true>>;
        on::<E<G<Gfni>>, D<G<Gfni>>>(Vaes256::detect_with_gfni(), test);
        on::<E<G<Zmm>>, D<G<Zmm>>>(Vaes512::detect(), test);
    }
}

/// A published example: the key, a block, and the block encrypted.
#[derive(Clone, Copy)]
struct Example<'a> {
    key: &'a [u8],
    plain: u128,
    cipher: u128,
}

impl Test for Example<'_> {
    fn run<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        self,
        isa: E::Isa,
    ) {
        let (plain, cipher) = (self.plain.to_be_bytes(), self.cipher.to_be_bytes());
        let [output] = E::new(isa, self.key).apply([isa.splat(&plain)]);
        assert_eq!(output.to_blocks()[..V::<E>::LANES], vec![cipher; V::<E>::LANES]);
        let [output] = D::new(isa, self.key).apply([isa.splat(&cipher)]);
        assert_eq!(output.to_blocks()[..V::<E>::LANES], vec![plain; V::<E>::LANES]);
    }
}

/// The key of the examples: RFC 3713 appendix A has its first 16, 24 or 32 bytes, GB/T 32907 appendix A its first 16.
const KEY: [u8; 32] = [
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x00,
    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
];

/// The block of all the examples.
const PLAIN: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;

#[test]
fn camellia_gives_the_examples_of_rfc_3713() {
    for (bytes, cipher) in [
        (16, 0x6767_3138_5496_6973_0857_0656_48ea_be43),
        (24, 0xb499_3401_b3e9_96f8_4ee5_cee7_d79b_09b9),
        (32, 0x9acc_237d_ff16_d76c_20ef_7c91_9e3a_7509),
    ] {
        on_every_camellia(Example { key: &KEY[..bytes], plain: PLAIN, cipher });
    }
}

#[test]
fn sm4_gives_the_first_example_of_the_standard() {
    const CIPHER: u128 = 0x681e_df34_d206_965e_86b3_e94f_536e_4246;
    on_every_sm4(Example { key: &KEY[..16], plain: PLAIN, cipher: CIPHER });
}

/// The second example of GB/T 32907 appendix A: the block encrypted a million times.
#[test]
fn sm4_gives_the_second_example_of_the_standard() {
    fn check<E: Permutation<Source = <E as Permutation>::Isa>, const N: usize>(isa: E::Isa) {
        const CIPHER: u128 = 0x5952_98c7_c6fd_271f_0402_f804_c33d_3f66;
        let cipher = E::new(isa, &KEY[..16]);
        let mut blocks = [isa.splat(&PLAIN.to_be_bytes()); N];
        for _ in 0..1_000_000 {
            blocks = cipher.apply(blocks);
        }
        assert_eq!(blocks[N - 1].to_blocks()[V::<E>::LANES - 1], CIPHER.to_be_bytes());
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = crate::lanes::vaes512::Vaes512::detect() {
        type Wide = Only<sm4::Sm4Encrypt<sm4::galois::Galois<crate::lanes::bytes::x86::Zmm>>>;
        check::<Wide, 1>(isa);
        return check::<Wide, 3>(isa);
    }
    check::<Only<sm4::Sm4Encrypt<sm4::bits::Bits<Native>>>, 1>(Portable);
}

/// Random blocks under random keys against the reference, in counts of registers around whole groups.
#[derive(Clone, Copy)]
struct AgainstReference(Cipher);

impl AgainstReference {
    /// N registers under one key, and again under another one in its place.
    fn shared<P: Permutation<Source = <P as Permutation>::Isa>, const N: usize>(
        self,
        isa: P::Isa,
        decrypts: bool,
    ) {
        let input = random_blocks(N * V::<P>::LANES);
        let mut permutation = None;
        for key in random_keys(1000, 3) {
            let wanted = expected(self.0, decrypts, &key, &input);
            let key = &key[..self.0.key_bytes()];
            let permutation = match &mut permutation {
                None => permutation.insert(P::new(isa, key)),
                Some(permutation) => {
                    permutation.rekey(key);
                    permutation
                }
            };
            let output: [V<P>; N] = apply_counting(permutation, &input);
            assert_blocks::<P>(&output, &wanted);
            // A key that comes again and again is expanded for groups at last, and so is one that fills a group.
            if permutation.chain().is_some() {
                assert_eq!(permutation.few(), if N > 4 { 2 } else { 4 });
            }
            for _ in 0..8 {
                let again: [V<P>; N] = apply_counting(permutation, &input);
                assert_blocks::<P>(&again, &wanted);
            }
            if permutation.chain().is_some() {
                assert_eq!(permutation.few(), if N > 2 { 2 } else { 4 });
            }
        }
    }

    /// Chains of blocks, apart and in place, where the cipher has a way of its own for them.
    fn chained<P: Permutation<Source = <P as Permutation>::Isa>>(self, isa: P::Isa) {
        let key: [u8; 32] = random_bytes(1003);
        let key = &key[..self.0.key_bytes()];
        let (permutation, reference, before) = (P::new(isa, key), keyed(self.0, key), random_bytes(1));
        for count in [1, 2, 7] {
            let input = random_blocks(count);
            let mut apart = vec![[0; BLOCK]; count];
            let mut in_place = input.clone();
            let Some(chain) = permutation.chain() else {
                // With GFNI there is one, and ciphers that have none run whole groups alone.
                assert!(!type_name::<P>().contains("galois"), "{}", type_name::<P>());
                assert_eq!(permutation.few(), 0, "{}", type_name::<P>());
                continue;
            };
            let place = in_place.as_mut_ptr().cast();
            // SAFETY: each has so many blocks.
            unsafe {
                chain.encrypt(&before, input.as_ptr().cast(), apart.as_mut_ptr().cast(), count);
                chain.encrypt(&before, place, place, count);
            }
            let mut last = before;
            for ((text, apart), in_place) in input.iter().zip(&apart).zip(&in_place) {
                last = reference.encrypt(std::array::from_fn(|i| text[i] ^ last[i]));
                assert_eq!([apart, in_place], [&last; 2], "{}", type_name::<P>());
            }
        }
    }

    /// Whole groups in memory, and counters of such, where the cipher has a way of its own for them.
    fn in_memory<P: Permutation<Source = <P as Permutation>::Isa>>(self, isa: P::Isa, decrypts: bool) {
        let name = type_name::<P>();
        let (has_one, is_sm4) = (name.contains("galois") && V::<P>::LANES == 4, self.0 == Cipher::Sm4);
        let own = |count: usize, least_of_pairs: usize| match (has_one, is_sm4) {
            (true, true) if count >= least_of_pairs => count / 2 * 2,
            (true, false) => count,
            _ => 0,
        };
        check_in_memory::<P>(isa, self.0, decrypts, |count| own(count, 6));
        check_counting::<P>(isa, self.0, decrypts, |count| own(count, 4));
    }

    /// A group under a key for each block.
    fn each<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        self,
        isa: E::Isa,
    ) {
        check_key_each::<E>(isa, self.0, false);
        check_key_each::<D>(isa, self.0, true);
    }

    fn count<
        E: KeyEach<Source = <E as Permutation>::Isa>,
        D: KeyEach<Isa = E::Isa, Source = E::Isa>,
        const N: usize,
    >(
        self,
        isa: E::Isa,
    ) {
        self.shared::<E, N>(isa, false);
        self.shared::<D, N>(isa, true);
    }
}

impl Test for AgainstReference {
    fn run<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
        self,
        isa: E::Isa,
    ) {
        self.chained::<E>(isa);
        self.each::<E, D>(isa);
        self.in_memory::<E>(isa, false);
        self.in_memory::<D>(isa, true);
        self.count::<E, D, 1>(isa);
        self.count::<E, D, 2>(isa);
        self.count::<E, D, 4>(isa);
        self.count::<E, D, 5>(isa);
        self.count::<E, D, GROUP>(isa);
        self.count::<E, D, { 2 * GROUP }>(isa);
        self.count::<E, D, { GROUP + 2 }>(isa);
        self.count::<E, D, { GROUP + 3 }>(isa);
    }
}

#[test]
fn camellia_agrees_with_the_reference() {
    for cipher in [Cipher::Camellia128, Cipher::Camellia192, Cipher::Camellia256] {
        on_every_camellia(AgainstReference(cipher));
    }
}

#[test]
fn sm4_agrees_with_the_reference() {
    on_every_sm4(AgainstReference(Cipher::Sm4));
}
