//! Groups at 512 bits (AVX-512, GFNI) in our own order of instructions, each turned beside the rounds of others.
//!
//! Rounds are a chain: on a Zen 5, 13 to 14 clocks each, in which 36 instructions start where four can in each clock. A group
//! becomes slices and blocks again by 128 instructions and more, which fill what the chain leaves free: beside the rounds of
//! a group, the next one is turned, and the one before it turned back. A compiler moves the one away from the other.
//!
//! No address and no branch depends on a secret.

#[macro_use]
mod round;
#[macro_use]
mod turn;

use std::arch::asm;
use std::mem::MaybeUninit;

use super::{MATRICES, OUTPUT_1, OUTPUT_2, OUTPUT_3, ROTATE_CONSTANT};
use crate::cipher::Groups;
use crate::cipher::byte_sliced::turn::{BYTES, Constants};
use crate::cipher::camellia::schedule::ROUNDS_OF_SEGMENT;
use crate::cipher::camellia::subkeys::Shared;

static CONSTANTS: Constants = Constants::new(MATRICES);

/// Groups on their way: see [`turn`].
#[repr(C, align(64))]
struct Room(MaybeUninit<[u8; 4 * BYTES]>);

/// How groups are run: `$ahead` of the first one's rounds, `$begin` at the start of each, `$a` to `$h` beside its pairs of rounds,
/// `$step` behind them, `$next` ahead of the next one's, and `$last` behind those of the last one. Beside the first one's rounds,
/// what nothing has been put to yet is turned back to where it came from.
macro_rules! run {
    ($keys:ident, $groups:expr, $to:expr,
     $ahead:expr, $begin:expr, [$a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr],
     $step:expr, $next:expr, $last:expr, $($operands:tt)*) => {{
        // Instructions are shortest where what they address is within 1024 bytes of a pointer, either way.
        const MIDDLE: usize = 1024;
        const { assert!(ROUNDS_OF_SEGMENT == 6) };
        let mut room = Room(MaybeUninit::uninit());
        let room = room.0.as_mut_ptr().cast::<u8>();
        asm!(
            "vpbroadcastq zmm16, [{constants}]",
            "vpbroadcastq zmm17, [{constants} + 8]",
            "vpbroadcastq zmm18, [{constants} + 16]",
            "vpbroadcastq zmm19, [{constants} + 24]",
            $ahead,
            ".p2align 6",
            "2:",
            $begin,
            // Not before: with a text that is known, what lies in memory would tell of the subkey.
            add_subkey!("-1024", 0 += 0 1 += 1 2 += 2 3 += 3 4 += 4 5 += 5 6 += 6 7 += 7),
            add_subkey!("-1024", 8 += 8 9 += 9 10 += 10 11 += 11 12 += 12 13 += 13 14 += 14 15 += 15),
            rounds!(0 0 1), $a,
            rounds!(0 2 3), $b,
            rounds!(0 4 5), $c,
            layer!(0),
            rounds!(1 0 1), $d,
            rounds!(1 2 3), $e,
            rounds!(1 4 5), $f,
            layer!(1),
            rounds!(2 0 1), $g,
            rounds!(2 2 3), $h,
            rounds!(2 4 5),
            "cmp {segments:e}, 3",
            "jne 3f",
            last_subkey!(3),
            "jmp 4f",
            "3:",
            layer!(2),
            rounds!(3 0 1),
            rounds!(3 2 3),
            rounds!(3 4 5),
            last_subkey!(4),
            "4:",
            "mov {to}, {out}",
            "add {out}, 1024",
            $step,
            "dec {groups}",
            "jz 5f",
            // The halves change places (RFC 3713 section 2.3.1).
            registers!(to "{room} + 2048", 0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15),
            registers!(to "{room} + 2560", 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7),
            $next,
            "jmp 2b",
            "5:",
            $last,
            "vzeroupper",
            sums = in(reg) $keys.sums.as_ptr().cast::<u8>().add(MIDDLE),
            maps = in(reg) $keys.maps.as_ptr(),
            segments = in(reg) $keys.rounds / ROUNDS_OF_SEGMENT,
            constants = in(reg) &raw const CONSTANTS,
            room = in(reg) room,
            groups = inout(reg) $groups => _,
            to = inout(reg) room.add(3 * BYTES) => _,
            out = inout(reg) $to => _,
            rotate = const ROTATE_CONSTANT,
            one = const OUTPUT_1,
            two = const OUTPUT_2,
            three = const OUTPUT_3,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _,
            out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
            out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _,
            out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            options(nostack),
            $($operands)*
        );
    }};
}

/// How groups are run that lie in memory, with `$text` added to them or nothing. Beside the last one's rounds, that itself is
/// what is turned.
macro_rules! crypt {
    ($keys:ident, $groups:ident, [$($text:literal)?], $first:literal, $step:literal, $($operands:tt)*) => {{
        let Groups { from, to, count, ahead } = $groups;
        debug_assert!(count > 0);
        run!(
            $keys, count, to,
            concat!($first, enter_at_once!()),
            "mov {here}, {next}\n\
             add {next}, 1024\n\
             cmp {groups}, 1\n\
             cmove {next}, {here}\n",
            [
                concat!(leave!(0), enter!(0)),
                concat!(leave!(1), enter!(1)),
                concat!(leave!(2), enter!(2)),
                concat!(leave!(3), enter!(3)),
                concat!(left!(0 $(+ $text)?), entered!(0)),
                concat!(left!(1 $(+ $text)?), entered!(1)),
                concat!(left!(2 $(+ $text)?), entered!(2)),
                concat!(left!(3 $(+ $text)?), entered!(3))
            ],
            $step,
            registers!(from "{room} + 1024", 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12 12 13 13 14 14 15 15),
            leave_at_once!($($text)?),
            ahead = in(reg) ahead,
            next = inout(reg) from => _,
            here = out(reg) _,
            $($operands)*
        );
    }};
}

/// Runs groups, at least one, and adds to them what lies from `added` on, if it is given.
///
/// # Safety
/// This CPU has AVX-512BW and GFNI, the groups are readable and writable, and what is added is readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) unsafe fn crypt(keys: &Shared, groups: Groups, added: Option<*const u8>) {
    // SAFETY: the caller's. What is added beside the rounds of the first group is what lies before it in the room.
    unsafe {
        match added {
            None => crypt!(keys, groups, [], "", "",),
            Some(added) => crypt!(
                keys, groups, ["{added}"],
                "mov {added}, {room}\n",
                "mov {added}, {text}\n\
                 add {text}, 1024\n",
                text = inout(reg) added => _,
                added = out(reg) _,
            ),
        }
    }
}

/// Adds what becomes of counters to groups of text, at least one: of 14 slices that all of them have, entered, and
/// of two that are made of the last 16 bits of the first counter.
///
/// # Safety
/// As for [`crypt`], and the slices are readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) unsafe fn count(keys: &Shared, slices: *const u8, low: u16, text: Groups) {
    let Groups { from, to, count, ahead } = text;
    debug_assert!(count > 0);
    // SAFETY: the caller's. What is added beside the rounds of the first group is what lies before it in the room.
    unsafe {
        run!(
            keys, count, to,
            "mov {added}, {room}\n",
            concat!(
                registers!(from "{slices}", 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12 12 13 13),
                count!(14 15 by 20 21),
                change!(4 14 15),
            ),
            [
                concat!(ask!("{text}", 0), leave!(0)),
                concat!(ask!("{text}", 1), leave!(1)),
                concat!(ask!("{text}", 2), leave!(2)),
                concat!(ask!("{text}", 3), leave!(3)),
                left!(0 + "{added}"), left!(1 + "{added}"), left!(2 + "{added}"), left!(3 + "{added}")
            ],
            "mov {added}, {text}\n\
             add {text}, 1024\n",
            "",
            leave_at_once!("{added}"),
            ahead = in(reg) ahead,
            slices = in(reg) slices,
            low = inout(reg) u64::from(low) => _,
            text = inout(reg) from => _,
            added = out(reg) _,
            out("k1") _,
        );
    }
}
