//! Whole groups in memory: from where they lie to where they are to go, apart, unaligned and in place.

use std::any::type_name;

use cipherlane_core::{BLOCK, Cipher};

use super::support::{Block, expected, random_blocks, random_bytes};
use crate::cipher::{Groups, Permutation, SMALL, V};
use crate::lanes::Lanes;

/// Counts of groups around those that some cipher runs side by side.
const COUNTS: [usize; 7] = [1, 2, 3, 4, 6, 9, 17];

fn sum(a: &[Block], b: &[Block]) -> Vec<Block> {
    a.iter().zip(b).map(|(a, b)| std::array::from_fn(|i| a[i] ^ b[i])).collect()
}

/// Groups of P.
struct Text {
    blocks: Vec<Block>,
    group: usize,
    count: usize,
    name: &'static str,
}

impl Text {
    fn new<P: Permutation>(count: usize) -> Self {
        let group = SMALL * V::<P>::LANES;
        Self { blocks: random_blocks(count * group), group, count, name: type_name::<P>() }
    }

    /// Runs the first `own` groups, which become `wanted`, and nothing else changes.
    fn becomes(&self, own: usize, wanted: &[Block], run: impl Fn(Groups)) {
        let go = |from: *const Block, to: *mut u8| {
            if own > 0 {
                run(Groups { from: from.cast(), to, count: own, ahead: 0 });
            }
        };
        let (Self { blocks, group, count, name }, own) = (self, own * self.group);
        // One block more, and every other one unaligned.
        let mut apart = vec![0xee_u8; (count * group + 1) * BLOCK];
        go(blocks.as_ptr(), apart.as_mut_ptr().wrapping_add(count % 2));
        let (written, rest) = apart[count % 2..].split_at(own * BLOCK);
        assert!(written == wanted[..own].as_flattened(), "{name} x {count}");
        assert!(rest.iter().all(|&byte| byte == 0xee), "{name} x {count}");
        let mut in_place = blocks.clone();
        let place = in_place.as_mut_ptr();
        go(place, place.cast());
        assert!(in_place[..own] == wanted[..own], "{name} x {count}");
        assert!(in_place[own..] == blocks[own..], "{name} x {count}");
    }
}

/// Runs `check` on texts of all COUNTS, each with the cipher, its key, and how many of the groups are its `own` to run.
fn of_texts<P: Permutation<Source = <P as Permutation>::Isa>>(
    isa: P::Isa,
    cipher: Cipher,
    own: impl Fn(usize) -> usize,
    check: impl Fn(&P, &[u8; 32], &Text, usize),
) {
    let key: [u8; 32] = random_bytes(1004);
    let permutation = P::new(isa, &key[..cipher.key_bytes()]);
    for count in COUNTS {
        check(&permutation, &key, &Text::new::<P>(count), own(count));
    }
}

/// With something added and without, of so many groups `own(count)`.
pub(in crate::cipher) fn check_in_memory<P: Permutation<Source = <P as Permutation>::Isa>>(
    isa: P::Isa,
    cipher: Cipher,
    decrypts: bool,
    own: impl Fn(usize) -> usize,
) {
    of_texts::<P>(isa, cipher, own, |permutation, key, text, own| {
        assert_eq!(permutation.runs_in_memory(text.count), own);
        let wanted = expected(cipher, decrypts, key, &text.blocks);
        // SAFETY: so many groups are there.
        text.becomes(own, &wanted, |groups| unsafe { permutation.run_in_memory(groups, None) });
        let added: Vec<Block> = text.blocks.iter().rev().copied().collect();
        let added_from = Some(added.as_ptr().cast());
        // SAFETY: as above, and as much to be added.
        text.becomes(own, &sum(&wanted, &added), |groups| unsafe {
            permutation.run_in_memory(groups, added_from);
        });
    });
}

/// Counters, which begin at, around and as far as they can from a wrap of the last byte and of the last two.
pub(in crate::cipher) fn check_counting<P: Permutation<Source = <P as Permutation>::Isa>>(
    isa: P::Isa,
    cipher: Cipher,
    decrypts: bool,
    own: impl Fn(usize) -> usize,
) {
    of_texts::<P>(isa, cipher, own, |permutation, key, text, own| {
        assert_eq!(permutation.counts(text.count), own);
        let until_wrap = (1 << 16) - text.blocks.len();
        for low in [0, 1, 250, 0x12f3, until_wrap - 1, until_wrap] {
            let counter = u128::from_be_bytes(random_bytes(5)) >> 16 << 16 | low as u128;
            let counters: Vec<Block> =
                (0..text.blocks.len()).map(|i| (counter + i as u128).to_be_bytes()).collect();
            let wanted = sum(&expected(cipher, decrypts, key, &counters), &text.blocks);
            // SAFETY: so many groups are there, and the counters do not wrap before.
            text.becomes(own, &wanted, |text| unsafe { permutation.count(counter.to_be_bytes(), text) });
        }
    });
}
