//! Block ciphers on GPUs, by tables of which each bank has a copy.

use cipherlane::{Cipher, Mode, Operation, Shape};

use super::{Chain, Mix, NONE};

/// A block in a mode other than GCM.
pub(super) fn block(cipher: Cipher, mode: Mode, shape: &Shape, kernel: &str) -> Option<Mix> {
    let start = match mode {
        Mode::Ctr if kernel.contains("-split") => Start::Split,
        Mode::Ctr if kernel.contains("-counted") => Start::Rows,
        _ => Start::Whole,
    };
    let inverse = shape.operation == Operation::Decrypt && mode != Mode::Ctr;
    let block = rounds(cipher, start, kernel)?.with(around(mode, inverse));
    let last = || last_rounds(mode, inverse, shape.shared_key, kernel);
    let block = if is_aes(cipher) { block.with(last()) } else { block };
    let chain = (mode == Mode::Cbc && !inverse).then(|| chain(cipher, kernel)).flatten();
    Some(Mix { chain, ..block })
}

/// How AES takes its first two rounds.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// Like the others.
    Whole,
    /// A counter's bytes each have a table of what the two rounds make of them, or a register
    /// (`c/primitive/aes_counter.h`).
    Split,
    /// All but the lowest byte have a table, which a tile's lanes share (`c/primitive/aes_counted.h`).
    Shared,
    /// The same where a lane keeps its lowest byte for the blocks of a column (`c/entry/ctr_counted.c`): four, as many as
    /// messages of 16 KiB have rows.
    Rows,
    /// The same where a message has a thread, which keeps its one entry in registers (`c/entry/gcm_message_counter.h`).
    Kept,
}

/// A cipher on one block, from tables of which each bank has a copy.
pub(super) fn rounds(cipher: Cipher, start: Start, kernel: &str) -> Option<Mix> {
    let tables = if is_sc2000(cipher) { "/banked6" } else { "/banked4" };
    if !kernel.contains(tables) {
        return None;
    }
    Some(match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => aes(aes_rounds(cipher), start),
        // RFC 3713 section 2.4: a function F looks eight bytes up, each by an address of one permutation; sums of four
        // words twice, a sum, a rotation, the round key of two words, and two words that it is added to. Between
        // every six of them two functions FL; a key before and after.
        Cipher::Camellia128 => camellia(18.0, 2.0),
        Cipher::Camellia192 | Cipher::Camellia256 => camellia(24.0, 3.0),
        // GB/T 32907 section 7.1: 32 rounds of four look-ups; sums of four words and of five.
        Cipher::Sm4 => Mix { look_ups: 128.0, permutations: 128.0, logic: 32.0 * (2.0 + 2.0), ..NONE },
        Cipher::Sc2000_128 => sc2000(6.0),
        Cipher::Sc2000_192 | Cipher::Sc2000_256 => sc2000(7.0),
    })
}

pub(super) const fn is_aes(cipher: Cipher) -> bool {
    matches!(cipher, Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256)
}

/// FIPS 197 section 5: six rounds more than the key has words.
pub(super) const fn aes_rounds(cipher: Cipher) -> f64 {
    (cipher.key_bytes() / 4 + 6) as f64
}

const fn is_sc2000(cipher: Cipher) -> bool {
    matches!(cipher, Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256)
}

/// FIPS 197 section 5.1: a round is sixteen look-ups, whose addresses are one permutation each, and two functions of three
/// words for each column; the last picks bytes by three permutations a column. Instead of the first two, counters have a word
/// of four by 16 bytes, and two sums; those whose lowest byte is enciphered five look-ups, with a sum for each.
fn aes(rounds: f64, start: Start) -> Mix {
    let (looked_up, first) = match start {
        Start::Whole => (rounds, Mix { logic: 4.0, ..NONE }),
        Start::Split => (rounds - 2.0, Mix { look_ups: 4.0, logic: 8.0, ..NONE }),
        Start::Shared => (rounds - 2.0, Mix { look_ups: 4.0 + 5.0, permutations: 5.0, logic: 6.0, ..NONE }),
        Start::Rows => {
            let lowest = 5.0 / 4.0;
            let first = Mix { look_ups: 4.0 + lowest, permutations: lowest, logic: 4.0 + lowest, ..NONE };
            (rounds - 2.0, first)
        }
        Start::Kept => (rounds - 2.0, Mix { look_ups: 5.0, permutations: 5.0, logic: 6.0, ..NONE }),
    };
    first.with(Mix {
        look_ups: 16.0 * looked_up,
        permutations: 16.0 * looked_up + 12.0,
        logic: 8.0 * (looked_up - 1.0) + 4.0,
        ..NONE
    })
}

fn camellia(functions: f64, between: f64) -> Mix {
    Mix {
        look_ups: 8.0 * functions,
        permutations: 8.0 * functions,
        logic: 8.0 * functions + 4.0 * between + 4.0,
        shifts: functions + 4.0 * between,
        ..NONE
    }
}

/// CRYPTREC 09, with a table for each S-box (`c/primitive/sc2000_banked.h`). A round twice takes two words through six
/// look-ups each, whose addresses are a shift and six permutations and whose entries are added by three functions; four
/// functions mix and add them. Before each round and at the end stand seven functions of B between two times four keys;
/// the words' bytes are turned when they come and go.
fn sc2000(rounds: f64) -> Mix {
    let words = 4.0 * rounds;
    Mix {
        look_ups: 6.0 * words,
        permutations: 6.0 * words + 8.0,
        shifts: words,
        logic: 3.0 * words + 8.0 * rounds + 15.0 * (rounds + 1.0),
        ..NONE
    }
}

/// What the last rounds of AES add to [`aes`] for a block, on average over those by look-ups and those of pairs.
fn last_rounds(mode: Mode, inverse: bool, shared_key: bool, kernel: &str) -> Mix {
    // `entry/ctr_long.c` has a pair in five blocks, `aes_blocks` of `primitive/aes_banked.h` in four, as has
    // `entry/ctr_counted.c` under one key.
    let pairs = match mode {
        Mode::Ctr if kernel.contains("-split") => 2.0 / 5.0,
        Mode::Ctr if kernel.contains("-counted") && shared_key => 2.0 / 4.0,
        Mode::Ecb if kernel.ends_with("/x4") => 2.0 / 4.0,
        _ => 0.0,
    };
    let (by_look_ups, paired) =
        if inverse { (INVERSE_AES, PAIRED.with(INVERSE_PAIRED)) } else { (NONE, PAIRED) };
    by_look_ups.times(1.0 - pairs).with(paired.times(pairs))
}

/// What a block of a pair (`aes_last_pair` of `primitive/aes_banked.h`) has more, and less, than one by look-ups: a half of
/// 76 functions for the S-box, and of 48 functions and 24 shifts each way around it, of which those to the left are
/// products; and three functions a column that shift its rows.
const PAIRED: Mix = Mix {
    look_ups: -16.0,
    permutations: -16.0 - 12.0,
    logic: 38.0 + 24.0 + 12.0,
    shifts: 12.0,
    products: 12.0,
    ..NONE
};

/// The inverse S-box is the S-box between two affine maps of eight functions, for two blocks.
const INVERSE_PAIRED: Mix = Mix { logic: 8.0, ..NONE };

/// What the last inverse round of AES by look-ups has more: no table holds plain bytes, so four words are added up byte
/// by byte, by six permutations a column instead of three, and two functions more.
const INVERSE_AES: Mix = Mix { permutations: 12.0, logic: 8.0, ..NONE };

/// What a mode other than GCM adds to a block.
pub(super) fn around(mode: Mode, inverse: bool) -> Mix {
    match mode {
        // A counter of one word, its bytes reversed, and the text.
        Mode::Ctr => Mix { logic: 4.0, permutations: 1.0, sums: 1.0, ..NONE },
        // The block before is read as well, and passes the pipe of shared memory.
        Mode::Cbc if inverse => Mix { look_ups: 4.0, logic: 4.0, ..NONE },
        // The tweak moves on by words, and what is beyond goes below at four places. Both whitenings are the cipher's.
        Mode::Xts => Mix { shifts: 6.0, logic: 4.0, ..NONE },
        // The block before, or nothing: functions of three words take it with the key.
        Mode::Cbc | Mode::Ecb | Mode::Gcm => NONE,
    }
}

/// What a block waits for in CBC encryption by AES. In each round one of the look-ups, whose address is a permutation,
/// and two sums; where four threads share a message (`c/entry/cbc_encrypt_quad.c`), one of them goes to another lane.
fn chain(cipher: Cipher, kernel: &str) -> Option<Chain> {
    let rounds = is_aes(cipher).then(|| aes_rounds(cipher))?;
    let (threads, moved) = if kernel.contains("-quad/") { (4, 1.0) } else { (1, 0.0) };
    // The last round picks bytes by two permutations and adds the key. At the start there is one sum.
    let (logic, permutations) = (2.0 * (rounds - 1.0) + 2.0, rounds + 2.0);
    Some(Chain { look_ups: (1.0 + moved) * rounds, logic, permutations, threads })
}
