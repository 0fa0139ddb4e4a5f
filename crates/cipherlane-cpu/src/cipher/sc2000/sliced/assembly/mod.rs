//! Pairs of groups at 512 bits (AVX-512 VBMI, GFNI) in our own order of instructions, turned beside the rounds of other
//! pairs.
//!
//! Rounds of a group are a chain that leaves ports idle, and have more values than there are registers: a compiler
//! moves those to memory and back. Here it is half of each block that lies in memory, while the other goes through R,
//! and two groups fill what the chains leave free. So do the 128 instructions and more that turn a group.
//!
//! No address and no branch depends on a secret.

#[macro_use]
mod round;
#[macro_use]
mod turn;

use std::arch::asm;
use std::mem::{MaybeUninit, offset_of};

use cipherlane_core::BLOCK;

use super::layers::Layers;
use super::vbmi::{LOW_TWO, MATRICES, TABLES_OF_FIELDS, TURN, Vbmi};
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::byte_sliced::turn::{BYTES, Constants};
use crate::cipher::sc2000::tables::{FIELDS, turned_masks};
use crate::lanes::permute::Table64;

/// What instructions want in memory, by the numbers that they have.
#[repr(C, align(64))]
struct Memory {
    /// The matrices of M behind tables.
    constants: Constants,
    /// Matrices 16 to 23: those that turn bytes of a word, and those that turn them back.
    turns: [[u64; 4]; 2],
    /// The masks of rounds, which take them in turn.
    masks: [[u64; 4]; 2],
    tables: [Table64; 2 * FIELDS],
    low_two: u64,
}

static MEMORY: Memory = Memory {
    constants: Constants::new({
        let [upper, lower] = MATRICES;
        let [[m0, m1], [m2, m3]] = lower;
        let [[m4, m5], [m6, m7]] = upper;
        [m0, m1, m2, m3, m4, m5, m6, m7]
    }),
    turns: TURN,
    masks: turned_masks(Vbmi::TURNS),
    tables: TABLES_OF_FIELDS,
    low_two: LOW_TWO,
};

/// Pairs on their way: see [`turn`]. And what there is no register for.
#[repr(C, align(64))]
struct Room {
    pairs: MaybeUninit<[u8; 8 * BYTES]>,
    /// How many pairs there are to be run yet.
    count: usize,
    /// Where round keys begin, and the masks of the first round.
    keys: *const u8,
    masks: *const u8,
    rounds: usize,
    /// The first counter.
    counter: [u8; BLOCK],
}

impl Room {
    fn new<const INVERSE: bool>(fours: &[[u64; GROUP]], groups: usize, counter: [u8; BLOCK]) -> Self {
        const { assert!(offset_of!(Memory, turns) == 8 * 16 && offset_of!(Memory, masks).is_multiple_of(64)) };
        debug_assert!(groups >= 2 && groups.is_multiple_of(2));
        let rounds = fours.len() / 2 - 1;
        Self {
            pairs: MaybeUninit::uninit(),
            count: groups / 2,
            keys: fours.as_ptr().cast(),
            masks: MEMORY.masks[if INVERSE { (rounds - 1) % 2 } else { 0 }].as_ptr().cast(),
            rounds,
            counter,
        }
    }
}

/// Beside the rounds of the first pair, none leaves.
macro_rules! unless_first {
    ($text:expr) => {
        concat!("test {to}, {to}\njz 3f\n", $text, "3:\n")
    };
}

/// Beside those of the last one, none enters.
macro_rules! unless_last {
    ($text:expr) => {
        concat!("cmp qword ptr [{room} + {count_at}], 1\nje 3f\n", $text, "3:\n")
    };
}

/// How pairs are run: `$ahead` of the first one's rounds, beside a round each what leaves, `$left`, by which it has
/// left, `$enter` and `$entered`, then `$step`, and `$left` behind those of the last one.
///
/// The round is there once, and called: instructions that a CPU has yet to decode cost more than they do.
macro_rules! run {
    ($substitute:ident, $room:ident, $to:expr, $ahead:expr, $left:expr, $enter:expr, $entered:expr, $step:expr,
     $($operands:tt)*) => {{
        let room = (&raw mut $room).cast::<u8>();
        asm!(
            "vpbroadcastq zmm24, [{constants} + {low_two}]",
            "vpbroadcastq zmm25, [{constants}]",
            "vpbroadcastq zmm26, [{constants} + 8]",
            "vpbroadcastq zmm27, [{constants} + 16]",
            "vpbroadcastq zmm28, [{constants} + 24]",
            "vpbroadcastq zmm29, [{constants} + 32]",
            "vpbroadcastq zmm30, [{constants} + 40]",
            "vpbroadcastq zmm31, [{constants} + 48]",
            $ahead,
            "jmp 6f",
            ".p2align 6",
            "4:",
            b_and_r!($substitute),
            "ret",
            ".p2align 6",
            "5:",
            r!(),
            "ret",
            ".p2align 6",
            "6:",
            "mov {keys}, [{room} + {keys_at}]",
            "mov {masks}, [{room} + {masks_at}]",
            input!(0 [0 1 2 3] [4 5 6 7]),
            input!(1024 [8 9 10 11] [12 13 14 15]),
            "call 4b",
            unless_first!(for_both!("2" concat!(leave!(0), leave!(1), leave!(2), leave!(3)))),
            "call 5b",
            "call 4b",
            unless_first!(for_both!("2" $left)),
            "call 5b",
            "call 4b",
            unless_last!(for_both!("2" $enter)),
            "call 5b",
            "call 4b",
            unless_last!(for_both!("2" $entered)),
            "call 5b",
            "call 4b",
            "call 5b",
            "call 4b",
            "call 5b",
            "cmp dword ptr [{room} + {rounds_at}], 7",
            "jne 3f",
            "call 4b",
            "call 5b",
            "3:",
            b_function!($substitute, ready, 0 [0 1 2 3] [4 5 6 7]),
            b_function!($substitute, ready, 1024 [8 9 10 11] [12 13 14 15]),
            "mov {to}, {out}",
            "add {out}, 2048",
            $step,
            "xchg {here}, {other}",
            "dec qword ptr [{room} + {count_at}]",
            "jnz 6b",
            for_both!("2" concat!(leave!(0), leave!(1), leave!(2), leave!(3))),
            for_both!("2" $left),
            "vzeroupper",
            keys = out(reg) _,
            masks = out(reg) _,
            constants = in(reg) &raw const MEMORY,
            room = in(reg) room,
            here = inout(reg) room.add(4 * BYTES) => _,
            other = inout(reg) room.add(6 * BYTES) => _,
            group = out(reg) _,
            to = inout(reg) std::ptr::null_mut::<u8>() => _,
            out = inout(reg) $to => _,
            tables = const offset_of!(Memory, tables),
            low_two = const offset_of!(Memory, low_two),
            count_at = const offset_of!(Room, count),
            keys_at = const offset_of!(Room, keys),
            masks_at = const offset_of!(Room, masks),
            rounds_at = const offset_of!(Room, rounds),
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _,
            out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
            out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _,
            out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            $($operands)*
        );
    }};
}

/// How pairs are run that lie in memory, with `$text` added to them or nothing.
macro_rules! crypt {
    ($substitute:ident, $room:ident, $groups:ident, [$($text:literal)?], $step:literal, $($operands:tt)*) => {{
        let Groups { from, to, ahead, .. } = $groups;
        debug_assert!(ahead.is_multiple_of(2 * BYTES));
        run!(
            $substitute, $room, to,
            concat!(
                for_both!("2" concat!(enter!(0), enter!(1), enter!(2), enter!(3))),
                for_both!("2" concat!(
                    entered!(0 to "{here}"), entered!(1 to "{here}"), entered!(2 to "{here}"), entered!(3 to "{here}"),
                )),
                "add {next}, 2048\n",
            ),
            // From the end: what CBC adds lies a block before, at addresses whose low bits are those of stores just made.
            concat!(left!(3 $(+ $text)?), left!(2 $(+ $text)?), left!(1 $(+ $text)?), left!(0 $(+ $text)?)),
            concat!(enter!(0), enter!(1), enter!(2), enter!(3)),
            concat!(
                entered!(0 to "{other}"), entered!(1 to "{other}"), entered!(2 to "{other}"), entered!(3 to "{other}"),
            ),
            concat!("add {next}, 2048\n", $step),
            ahead = inout(reg) ahead => _,
            next = inout(reg) from => _,
            $($operands)*
        );
    }};
}

/// Both ways of [`crypt!`].
macro_rules! crypt_either {
    ($substitute:ident, $room:ident, $groups:ident, $added:ident) => {
        match $added {
            None => crypt!($substitute, $room, $groups, [], "",),
            Some(added) => crypt!(
                $substitute, $room, $groups, ["{added}"],
                "mov {added}, {text}\n\
                 add {text}, 2048\n",
                text = inout(reg) added => _,
                added = out(reg) _,
            ),
        }
    };
}

/// Runs groups, an even number of them and at least two, and adds to them what lies from `added` on, if it is given.
/// INVERSE decrypts.
///
/// # Safety
/// This CPU has AVX-512BW, VBMI and GFNI, there are 14 or 16 `fours`, the groups are readable and writable, and what is
/// added is readable.
#[inline(never)] // the room is no part of what calls it
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) unsafe fn crypt<const INVERSE: bool>(
    fours: &[[u64; GROUP]],
    groups: Groups,
    added: Option<*const u8>,
) {
    let mut room = Room::new::<INVERSE>(fours, groups.count, [0; BLOCK]);
    // SAFETY: the caller's.
    unsafe {
        if INVERSE {
            crypt_either!(substitute_inversely, room, groups, added);
        } else {
            crypt_either!(substitute, room, groups, added);
        }
    }
}

/// Adds what becomes of counters, encrypted, to groups of text, an even number of them and at least two.
///
/// # Safety
/// As for [`crypt`].
#[inline(never)] // the room is no part of what calls it
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) unsafe fn count(fours: &[[u64; GROUP]], counter: [u8; BLOCK], text: Groups) {
    let Groups { from, to, count, ahead } = text;
    debug_assert!(ahead.is_multiple_of(2 * BYTES));
    let mut room = Room::new::<false>(fours, count, counter);
    let [.., high, low] = counter;
    // SAFETY: the caller's.
    unsafe {
        run!(
            substitute, room, to,
            concat!(
                for_both!("2" concat!(
                    copy!(0 to "{here}"), copy!(1 to "{here}"), copy!(2 to "{here}"), counted!(to "{here}"),
                )),
            ),
            concat!(left!(0 + "{added}"), left!(1 + "{added}"), left!(2 + "{added}"), left!(3 + "{added}")),
            concat!(ask!("{text}", 0), ask!("{text}", 1), ask!("{text}", 2), ask!("{text}", 3)),
            concat!(
                copy!(0 to "{other}"), copy!(1 to "{other}"), copy!(2 to "{other}"), counted!(to "{other}"),
            ),
            "mov {added}, {text}\n\
             add {text}, 2048\n",
            ahead = inout(reg) ahead => _,
            low = inout(reg) u64::from(u16::from_be_bytes([high, low])) => _,
            text = inout(reg) from => _,
            added = out(reg) _,
            counter = const offset_of!(Room, counter),
            out("k1") _,
        );
    }
}
