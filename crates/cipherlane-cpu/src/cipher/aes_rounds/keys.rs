//! Round keys of AES (FIPS 197 section 5.2), lane by lane.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use crate::lanes::{AesLanes, Isa, Lanes, MAX_LANES, Work};

/// Most round keys: AES-256 has 15.
pub(super) const MAX_KEYS: usize = 15;

/// Round keys in the order of use, lane by lane: one key in all lanes, or a key a lane. As many as there are rounds and
/// one more are written. The others never are: with a key for each small message, filling them in took a twentieth of
/// the time.
pub(super) type RoundKeys<V> = [MaybeUninit<V>; MAX_KEYS];

/// Where the round keys of G sets of lanes are to stay.
pub(super) type Places<'a, V, const G: usize> = [&'a mut RoundKeys<V>; G];

/// The key expansion of FIPS 197 section 5.2 for 10, 12 or 14 rounds, in every lane at once: of G sets of keys step by
/// step, because a step waits for the one before.
///
/// `key` holds the key of each lane: its first 16 bytes, then the rest (8 bytes in the low half, or 16).
#[inline(always)]
fn expand<I: Isa<V: AesLanes>, const G: usize>(
    isa: I,
    rounds: usize,
    key: [[I::V; 2]; G],
    keys: &mut Places<'_, I::V, G>,
) {
    let mut first = [isa.zero(); G];
    for g in 0..G {
        first[g] = key[g][0];
        keys[g][0].write(key[g][0]);
    }
    match rounds {
        10 => expand_128(isa, first, keys),
        12 => expand_192(isa, key, keys),
        14 => expand_256(isa, key, keys),
        _ => unreachable!("AES has 10, 12 or 14 rounds"),
    }
}

/// Rcon[1..=10] of FIPS 197 section 5.2: powers of x.
const ROUND_CONSTANTS: [u8; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// How often six words follow six in a schedule of 13 keys.
pub(super) const STEPS_192: usize = 8;
/// How often four words follow the last eight in one of 15.
pub(super) const STEPS_256: usize = 13;

/// A byte times this is that byte at the start of each 32-bit word.
const IN_EACH_WORD: u128 = 0x0000_0001_0000_0001_0000_0001_0000_0001;

/// The byte pattern that puts word `word`, rotated by `rotate` bytes, into all four words.
const fn word_pattern(word: u8, rotate: u8) -> [u8; BLOCK] {
    let mut pattern = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        pattern[i] = 4 * word + (i as u8 + rotate) % 4;
        i += 1;
    }
    pattern
}

/// SubWord of word WORD, rotated by ROTATE bytes before, XOR `constant`: in all four words of each lane.
///
/// The last AES round is SubBytes and ShiftRows; with one word in all four columns ShiftRows changes nothing.
#[inline(always)]
fn sub_word<I: Isa<V: AesLanes>, const WORD: u8, const ROTATE: u8>(isa: I, keys: I::V, constant: u8) -> I::V {
    let pattern = isa.splat(&word_pattern(WORD, ROTATE));
    let constant = isa.splat(&u128::to_le_bytes(u128::from(constant) * IN_EACH_WORD));
    keys.permute_bytes(pattern).aes_encrypt_last(constant)
}

/// Word i becomes the XOR of words 0..=i: what w[i] = w[i - Nk] ^ w[i - 1] amounts to over four words.
#[inline(always)]
fn running_xor<T: Lanes>(words: T) -> T {
    let pairs = words.xor(words.shift_bytes::<4>());
    pairs.xor(pairs.shift_bytes::<8>())
}

/// The four words after those of `key`, with round constant `step`.
#[inline(always)]
pub(super) fn next_128<I: Isa<V: AesLanes>>(isa: I, key: I::V, step: usize) -> I::V {
    running_xor(key).xor(sub_word::<I, 3, 1>(isa, key, ROUND_CONSTANTS[step]))
}

/// The next four words of each stream after those of `key`, with ROUND_CONSTANTS[STEP].
#[inline(always)]
fn step_128<I: Isa<V: AesLanes>, const G: usize, const STEP: usize>(
    isa: I,
    mut key: [I::V; G],
    keys: &mut Places<'_, I::V, G>,
) -> [I::V; G] {
    for (key, keys) in key.iter_mut().zip(keys) {
        *key = next_128(isa, *key, STEP);
        keys[STEP + 1].write(*key);
    }
    key
}

/// Step by step: in a loop, the constants would be put together anew each time.
#[inline(always)]
fn expand_128<I: Isa<V: AesLanes>, const G: usize>(isa: I, key: [I::V; G], keys: &mut Places<'_, I::V, G>) {
    let key = step_128::<I, G, 0>(isa, key, keys);
    let key = step_128::<I, G, 1>(isa, key, keys);
    let key = step_128::<I, G, 2>(isa, key, keys);
    let key = step_128::<I, G, 3>(isa, key, keys);
    let key = step_128::<I, G, 4>(isa, key, keys);
    let key = step_128::<I, G, 5>(isa, key, keys);
    let key = step_128::<I, G, 6>(isa, key, keys);
    let key = step_128::<I, G, 7>(isa, key, keys);
    let key = step_128::<I, G, 8>(isa, key, keys);
    step_128::<I, G, 9>(isa, key, keys);
}

/// The next six words, kept as four and two, with round constant `step`; each round key takes the next four of the stream.
#[inline(always)]
pub(super) fn next_192<I: Isa<V: AesLanes>>(
    isa: I,
    key: &mut [I::V; 2],
    keys: &mut RoundKeys<I::V>,
    step: usize,
) {
    let [four, two] = *key;
    let next_four = running_xor(four).xor(sub_word::<I, 1, 1>(isa, two, ROUND_CONSTANTS[step]));
    let last_word = next_four.permute_bytes(isa.splat(&word_pattern(3, 0)));
    let next_two = two.xor(two.shift_bytes::<4>()).xor(last_word);
    let next = step / 2 * 3 + 1;
    if step.is_multiple_of(2) {
        keys[next].write(two.low_low(next_four));
        keys[next + 1].write(next_four.high_low(next_two));
    } else {
        keys[next + 2].write(next_four);
    }
    *key = [next_four, next_two];
}

#[inline(always)]
fn expand_192<I: Isa<V: AesLanes>, const G: usize>(
    isa: I,
    mut key: [[I::V; 2]; G],
    keys: &mut Places<'_, I::V, G>,
) {
    for step in 0..STEPS_192 {
        for (key, keys) in key.iter_mut().zip(&mut *keys) {
            next_192(isa, key, keys, step);
        }
    }
}

#[inline(always)]
fn expand_256<I: Isa<V: AesLanes>, const G: usize>(
    isa: I,
    key: [[I::V; 2]; G],
    keys: &mut Places<'_, I::V, G>,
) {
    for g in 0..G {
        keys[g][1].write(key[g][1]);
    }
    let key = step_256::<I, G, 1>(isa, key, keys);
    let key = step_256::<I, G, 2>(isa, key, keys);
    let key = step_256::<I, G, 3>(isa, key, keys);
    let key = step_256::<I, G, 4>(isa, key, keys);
    let key = step_256::<I, G, 5>(isa, key, keys);
    let key = step_256::<I, G, 6>(isa, key, keys);
    step_256::<I, G, 7>(isa, key, keys);
}

/// The first four of the next eight words, with round constant `step`.
#[inline(always)]
pub(super) fn next_first_256<I: Isa<V: AesLanes>>(isa: I, [first, second]: [I::V; 2], step: usize) -> I::V {
    running_xor(first).xor(sub_word::<I, 3, 1>(isa, second, ROUND_CONSTANTS[step]))
}

/// The other four, behind the first.
#[inline(always)]
pub(super) fn next_second_256<I: Isa<V: AesLanes>>(isa: I, [first, second]: [I::V; 2]) -> I::V {
    running_xor(second).xor(sub_word::<I, 3, 0>(isa, first, 0))
}

/// The next eight words of each stream; of the last ones, four are needed.
#[inline(always)]
fn step_256<I: Isa<V: AesLanes>, const G: usize, const STEP: usize>(
    isa: I,
    mut key: [[I::V; 2]; G],
    keys: &mut Places<'_, I::V, G>,
) -> [[I::V; 2]; G] {
    for ([first, second], keys) in key.iter_mut().zip(&mut *keys) {
        *first = next_first_256(isa, [*first, *second], STEP - 1);
        keys[2 * STEP].write(*first);
    }
    if STEP < 7 {
        for ([first, second], keys) in key.iter_mut().zip(keys) {
            *second = next_second_256(isa, [*first, *second]);
            keys[2 * STEP + 1].write(*second);
        }
    }
    key
}

/// The round keys of the equivalent inverse cipher (FIPS 197 section 5.3.5): in reverse order, all but the first
/// and the last through InvMixColumns. A last round undone by a full inverse round is just that.
#[inline(always)]
fn invert<I: Isa<V: AesLanes>>(isa: I, keys: &mut [I::V]) {
    keys.reverse();
    let inner = 1..keys.len() - 1;
    for key in &mut keys[inner] {
        *key = key.aes_encrypt_last(isa.zero()).aes_decrypt_round(isa.zero());
    }
}

/// Bytes of the key that has `rounds` rounds (FIPS 197 section 5, table 3).
const fn key_bytes(rounds: usize) -> usize {
    4 * (rounds - 6)
}

/// Lane `i` from `key(i)`, whose length is that of ROUNDS.
#[inline(always)]
pub(super) fn load_keys<'k, I: Isa, const ROUNDS: usize>(
    isa: I,
    key: impl Fn(usize) -> &'k [u8],
) -> [I::V; 2] {
    let bytes = const { key_bytes(ROUNDS) };
    let (mut first, mut last) = ([std::ptr::null(); MAX_LANES], [std::ptr::null(); MAX_LANES]);
    for lane in 0..I::V::LANES {
        let key = key(lane);
        assert!(key.len() == bytes, "a checked batch has keys of the right length");
        (first[lane], last[lane]) = (key.as_ptr(), key[bytes - BLOCK..].as_ptr());
    }
    // SAFETY: 16 bytes at either end of a key of at least as many.
    let (first, last) = unsafe { (isa.gather(&first), isa.gather(&last)) };
    // The last 16 of 24 bytes are 8 of the first half and 8 more.
    let last = if bytes == 24 { last.high_low(isa.zero()) } else { last };
    [first, last]
}

/// Key expansion as work of its own, so that it is compiled once and not into every mode. In place, because a key
/// of its own for each message would otherwise be copied several times.
pub(super) struct Expand<'a, I: Isa, const G: usize, const ROUNDS: usize, const INVERSE: bool> {
    pub(super) isa: I,
    pub(super) key: [[I::V; 2]; G],
    pub(super) keys: Places<'a, I::V, G>,
}

impl<I: Isa<V: AesLanes>, const G: usize, const ROUNDS: usize, const INVERSE: bool> Work
    for Expand<'_, I, G, ROUNDS, INVERSE>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        expand(self.isa, ROUNDS, self.key, &mut self.keys);
        if INVERSE {
            for keys in self.keys {
                // SAFETY: `expand` has written these.
                invert(self.isa, unsafe { keys[..=ROUNDS].assume_init_mut() });
            }
        }
    }
}
