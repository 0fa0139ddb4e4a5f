//! One state in assembly, for CPUs without BMI, which have neither `andn` nor rotations into another register.
//!
//! A state has 25 words and such a CPU 16 registers, so that a round is mostly a question of what stays in them. The
//! compiler copies a word wherever it has to be overwritten, and spills and reloads in between: 218 instructions a
//! round. Here it is 179, of which theta has 31 (20 sums, 5 rotations, 5 sums of two, 1 copy), its addition 25, rho 24,
//! chi 65 (10 for each row, 2 copies and one NOT) and iota 1. The other 33 load and store: a state has two places in
//! memory, a round reads one and writes the other, and seven words go from round to round in registers alone. These are
//! four of the five that the first row takes, and what the rows have registers left for.
//!
//! Words are kept as [`Complemented`] does, rows as in [`permutation`](super::permutation). No address and no branch
//! depends on a word of a state.

#[macro_use]
mod round;

use std::arch::naked_asm;

use super::complemented::Complemented;
use super::permutation::{ROUND_CONSTANTS, Word};
use super::scalar::Single;
use super::words::Stored;
use super::{Keccak, WORDS};
use crate::hash::{MAX_BLOCK, MAX_STREAMS};

/// The instructions that every x86-64 has, in our own order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembly;

impl Single for Assembly {
    unsafe fn absorb<const ROW: usize>(
        self,
        hash: Keccak,
        states: &mut [[u64; ROW]; WORDS],
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    ) {
        // What `add` has.
        const { assert!(ROW >= 1 && MAX_BLOCK / size_of::<u64>() == 21) };
        // SAFETY: rows have a word or more, the state is 25 words with those complemented that are kept so, and the
        // caller vouches for the blocks.
        unsafe {
            let mut state = [Complemented::load((), states[0].as_ptr()); WORDS];
            for (word, row) in state.iter_mut().zip(&*states) {
                *word = Complemented::load((), row.as_ptr());
            }
            state = Complemented::between_permutations(state);
            absorb_blocks(state.as_mut_ptr().cast(), from[0], blocks, hash.rate_words());
            state = Complemented::between_permutations(state);
            for (word, row) in state.iter().zip(states) {
                word.store(row.as_mut_ptr());
            }
        }
    }
}

/// The same of words of the state at rdi, one after the other.
macro_rules! of_state {
    ($name:literal $($i:literal)*) => {
        concat!($($name, " qword ptr [rdi + 8 * ", $i, "]\n",)*)
    };
}

/// Adds words of the block at rsi, as far as it has them by rcx. A loop would end in a branch that is not foreseen:
/// 4 % of the time.
macro_rules! add {
    ($($i:literal)*) => {
        concat!($(
            "cmp ecx, ", $i, "\nje 3f\n",
            "mov rax, [rsi + 8 * ", $i, "]\n",
            "xor ", word!(200, $i), ", rax\n",
        )*)
    };
}

/// Adds blocks to a state, each followed by the permutation.
///
/// The frame, from its end: the caller's registers, the arguments, the state, and its other place.
///
/// # Safety
/// `state` points to 25 words, kept as [`Complemented`] keeps them between rounds, and `from` to `blocks` blocks of
/// `rate_words` words, at most 21.
#[unsafe(naked)]
unsafe extern "sysv64" fn absorb_blocks(state: *mut u64, from: *const u8, blocks: usize, rate_words: usize) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi", // 424: state
        "push rsi", // 416: from
        "push rdx", // 408: blocks
        "push rcx", // 400: rate_words
        of_state!("push" 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0),
        "sub rsp, 200",
        // For each block.
        "2:",
        "sub qword ptr [rsp + 408], 1",
        "jb 5f",
        "mov rsi, [rsp + 416]",
        "mov rcx, [rsp + 400]",
        add!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20),
        "3:",
        "lea rsi, [rsi + 8 * rcx]",
        "mov [rsp + 416], rsi",
        "lea r15, [rip + {constants}]",
        load!(r10 = 1 of 200),
        load!(rsi = 3 of 200),
        load!(r9 = 4 of 200),
        load!(r8 = 5 of 200),
        load!(rdi = 17 of 200),
        load!(rbp = 20 of 200),
        load!(rax = 21 of 200),
        load!(rbx = 22 of 200),
        load!(r13 = 23 of 200),
        load!(r12 = 24 of 200),
        // For each two rounds.
        ".p2align 5",
        "4:",
        round!(200, 0, 0),
        round!(0, 200, 1),
        "add r15, 16",
        "lea r11, [rip + {constants} + 192]",
        "cmp r15, r11",
        "jne 4b",
        store!(1 of 200 = r10),
        store!(3 of 200 = rsi),
        store!(4 of 200 = r9),
        store!(5 of 200 = r8),
        store!(17 of 200 = rdi),
        store!(23 of 200 = r13),
        store!(24 of 200 = r12),
        "jmp 2b",
        "5:",
        "mov rdi, [rsp + 424]",
        "add rsp, 200",
        of_state!("pop" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24),
        "add rsp, 32",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        constants = sym ROUND_CONSTANTS,
    )
}

#[cfg(test)]
mod tests {
    use super::super::permutation::permute;
    use super::super::{KECCAK_512, SHA3_256, SHAKE_128};
    use super::*;

    /// A stream of words that look random.
    fn words(mut seed: u64) -> impl Iterator<Item = u64> {
        std::iter::from_fn(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some(seed ^ (seed >> 29).rotate_left(40))
        })
    }

    fn plain(mut state: [u64; WORDS], blocks: &[u64], rate_words: usize) -> [u64; WORDS] {
        for block in blocks.chunks(rate_words) {
            for (word, added) in state.iter_mut().zip(block) {
                *word ^= added;
            }
            state = permute(state);
        }
        state
    }

    #[test]
    fn it_is_the_plain_permutation() {
        for (seed, hash) in [SHA3_256, SHAKE_128, KECCAK_512].into_iter().cycle().take(300).enumerate() {
            let mut random = words(seed as u64);
            let state: [u64; WORDS] = std::array::from_fn(|_| random.next().unwrap());
            let message: Vec<u64> = random.take(hash.rate_words() * (seed % 4)).collect();
            let bytes: Vec<u8> = message.iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut found = state.map(|word| [word, 0]);
            // SAFETY: the message is that many blocks.
            unsafe { Assembly.absorb(hash, &mut found, &[bytes.as_ptr(); MAX_STREAMS], seed % 4) };
            let expected = plain(state, &message, hash.rate_words());
            assert_eq!(found, expected.map(|word| [word, 0]), "seed {seed}");
        }
    }
}
