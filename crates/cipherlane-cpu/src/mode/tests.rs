//! Modes with ciphers and groups of registers that the table does not choose: AES-NI in pairs where there is VAES, and
//! whole groups of a cipher that has no need of them. `tests/kernels/` puts the same to all that the table has, through
//! the library that is compiled anyway: these tests would compile every kernel once more.

use cipherlane_core::{Algorithm, Cipher, Mode, Operation, Session};

use self::material::Tested;
use super::cbc::{CbcDecrypt, CbcEncrypt, InLanes, InTeams};
use super::ctr::Ctr;
use super::ecb::Ecb;
use super::keys::KeyEachWorker;
use super::xts::{Decrypt, Encrypt, Xts};
use crate::cipher::aes_rounds::{AesDecrypt, AesEncrypt};
use crate::cipher::{KeyEach, Meanwhile, Permutation, SMALL, V};
use crate::lanes::{avx2::Avx2, sse::Sse, vaes512::Vaes512};
use crate::session::Bare;
use crate::worker::Kernel;

#[path = "../../tests/kernels/material.rs"]
mod material;

/// A cipher that pads the rest of a message to a whole group.
struct Padding<P>(P);

impl<P: Permutation> Permutation for Padding<P> {
    type Isa = P::Isa;
    type Source = P::Source;
    const WHOLE_GROUPS: bool = true;

    fn new(source: P::Source, key: &[u8]) -> Self {
        Self(P::new(source, key))
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key);
    }

    fn isa(&self) -> P::Isa {
        self.0.isa()
    }

    fn apply_while<const N: usize>(&self, blocks: [V<P>; N], meanwhile: &mut impl Meanwhile) -> [V<P>; N] {
        self.0.apply_while(blocks, meanwhile)
    }
}

impl<P: KeyEach> KeyEach for Padding<P> {
    type Keys = P::Keys;

    fn no_keys(source: P::Source) -> P::Keys {
        P::no_keys(source)
    }

    fn expand_keys(keys: &mut P::Keys, each: &[&[u8]]) {
        P::expand_keys(keys, each);
    }

    fn apply_keys(keys: &P::Keys, blocks: &mut [V<P>; SMALL]) {
        P::apply_keys(keys, blocks);
    }
}

/// Adds what `make` makes, for an algorithm and operation.
fn push<K: Kernel + 'static>(
    all: &mut Vec<Tested>,
    (cipher, mode, operation): (Cipher, Mode, Operation),
    make: impl Fn() -> K + 'static,
) {
    let algorithm = Algorithm::new(cipher, mode);
    let open = move |segment| -> Box<dyn Session> {
        Box::new(Bare::new((algorithm, operation), Box::new(make()), segment))
    };
    all.push(Tested { algorithm, operation, open: Box::new(open) });
}

/// Adds the kernels of a cipher with encryption E and decryption D; K encrypts CBC with a key for each message.
fn add<
    E: KeyEach<Source = <E as Permutation>::Isa>,
    D: KeyEach<Isa = E::Isa, Source = E::Isa>,
    K: KeyEachWorker<E>,
    const N: usize,
>(
    isa: E::Isa,
    cipher: Cipher,
    all: &mut Vec<Tested>,
) {
    use Operation::{Decrypt as Down, Encrypt as Up};
    push(all, (cipher, Mode::Ecb, Up), move || Ecb::<E, N>::new(isa));
    push(all, (cipher, Mode::Ecb, Down), move || Ecb::<D, N>::new(isa));
    push(all, (cipher, Mode::Cbc, Up), move || CbcEncrypt::<E, K, N>::new(isa));
    push(all, (cipher, Mode::Cbc, Down), move || CbcDecrypt::<D, N>::new(isa));
    push(all, (cipher, Mode::Ctr, Up), move || Ctr::<E, N>::new(isa));
    push(all, (cipher, Mode::Ctr, Down), move || Ctr::<E, N>::new(isa));
    push(all, (cipher, Mode::Xts, Up), move || Xts::<E, E, Encrypt, N>::new(isa, isa));
    push(all, (cipher, Mode::Xts, Down), move || Xts::<D, E, Decrypt, N>::new(isa, isa));
}

/// The kernels that this CPU can run.
fn all() -> Vec<Tested> {
    let mut all = Vec::new();
    if let Some(isa) = Sse::detect() {
        type Padded = Padding<AesEncrypt<Sse, 10>>;
        add::<Padded, Padding<AesDecrypt<_, 10>>, InTeams<Padded>, 8>(isa, Cipher::Aes128, &mut all);
    }
    if let Some(isa) = Avx2::detect() {
        add::<AesEncrypt<_, 12>, AesDecrypt<_, 12>, InLanes<AesEncrypt<_, 12>, 4>, 4>(
            isa,
            Cipher::Aes192,
            &mut all,
        );
    }
    if let Some(isa) = Vaes512::detect() {
        add::<AesEncrypt<_, 14>, AesDecrypt<_, 14>, InLanes<AesEncrypt<_, 14>, 2>, 2>(
            isa,
            Cipher::Aes256,
            &mut all,
        );
    }
    all
}

#[test]
fn ragged_batches_match_the_reference() {
    material::ragged_batches_match_the_reference(&all());
}

#[test]
fn every_length_up_to_two_groups_matches_the_reference() {
    material::every_length_up_to_two_groups_matches_the_reference(&all());
}

#[test]
fn counters_carry_through_all_128_bits() {
    material::counters_carry_through_all_128_bits(&all());
}

#[test]
fn segments_of_a_long_unit_find_their_tweak() {
    material::segments_of_a_long_unit_find_their_tweak(&all());
}

#[test]
fn the_examples_of_the_standards_come_out() {
    let all = all();
    let cases = material::the_examples_of_the_standards_come_out(&all);
    assert!(all.is_empty() || cases > 0);
}
