//! Pairs of groups at 512 bits (AVX-512, GFNI) in our own order of instructions, turned beside the rounds of other pairs.
//!
//! On a Zen 5, a round of two groups takes 18 clocks, in which 52 instructions start where four can in each clock: what turns the
//! pair behind to slices, and the one before to blocks, adds 3. What a compiler makes of it takes 20, and nothing beside.
//!
//! No address and no branch depends on a secret.

#[macro_use]
mod round;
#[macro_use]
mod turn;

use std::arch::asm;
use std::mem::MaybeUninit;

use super::{CONSTANT_LEFT, CONSTANT_RIGHT, MATRICES};
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::byte_sliced::turn::{BYTES, Constants};
use crate::cipher::sm4::keys::Shared;

static CONSTANTS: Constants = Constants::new(MATRICES);

/// Pairs on their way, and the slices that all groups of counters have: see [`turn`].
#[repr(C, align(64))]
struct Room {
    pairs: MaybeUninit<[u8; 8 * BYTES]>,
    slices: MaybeUninit<[[u8; 64]; GROUP]>,
}

impl Room {
    const fn new() -> Self {
        Self { pairs: MaybeUninit::uninit(), slices: MaybeUninit::uninit() }
    }
}

/// How pairs are run: `$ahead` of the first one's rounds, `$begin` at the start of each, beside eight rounds each what leaves,
/// `$a` to `$d`, `$e` to `$h`, by which it has left, and `$i` to `$l`, then `$step`, and `$e` to `$h` behind those of the last one. Beside the first one's rounds, what
/// nothing has been put to yet is turned back to where it came from.
macro_rules! run {
    ($keys:ident, $room:ident, $groups:expr, $to:expr, $ahead:expr, $begin:expr,
     [$a:expr, $b:expr, $c:expr, $d:expr], [$e:expr, $f:expr, $g:expr, $h:expr], [$i:expr, $j:expr, $k:expr, $l:expr],
     $step:expr, $($operands:tt)*) => {{
        let room = (&raw mut $room).cast::<u8>();
        asm!(
            "vpbroadcastq zmm30, [{constants}]",
            "vpbroadcastq zmm31, [{constants} + 8]",
            $ahead,
            ".p2align 6",
            "4:",
            $begin,
            input!(0 0 0 1 1 2 2 3 3),
            input!(1024 15 0 16 1 17 2 18 3),
            for_both!("5" rounds!(leave!(0), leave!(1), leave!(2), leave!(3))),
            for_both!("6" rounds!($a, $b, $c, $d)),
            for_both!("7" rounds!($e, $f, $g, $h)),
            for_both!("8" rounds!($i, $j, $k, $l)),
            "sub {steps}, 1024",
            "mov {to}, {out}",
            "add {out}, 2048",
            $step,
            "xchg {here}, {other}",
            "dec {pairs}",
            "jnz 4b",
            for_both!("2" concat!(leave!(0), leave!(1), leave!(2), leave!(3))),
            for_both!("3" concat!($e, $f, $g, $h)),
            "vzeroupper",
            steps = inout(reg) &raw const $keys.steps => _,
            constants = in(reg) &raw const CONSTANTS,
            room = in(reg) room,
            here = inout(reg) room.add(4 * BYTES) => _,
            other = inout(reg) room.add(6 * BYTES) => _,
            group = out(reg) _,
            pairs = inout(reg) $groups / 2 => _,
            to = inout(reg) room.add(2 * BYTES) => _,
            out = inout(reg) $to => _,
            left = const CONSTANT_LEFT,
            right = const CONSTANT_RIGHT,
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

/// How pairs are run that lie in memory, with `$text` added to them or nothing. Beside the last one's rounds, that itself is
/// what is turned.
macro_rules! crypt {
    ($keys:ident, $groups:ident, [$($text:literal)?], $first:literal, $step:literal, $($operands:tt)*) => {{
        let Groups { from, to, count, ahead } = $groups;
        debug_assert!(count >= 2 && count.is_multiple_of(2) && ahead.is_multiple_of(2 * BYTES));
        let mut room = Room::new();
        run!(
            $keys, room, count, to,
            concat!(
                $first,
                for_both!("2" concat!(enter!(0), enter!(1), enter!(2), enter!(3))),
                for_both!("3" concat!(
                    entered!(0 to "{here}"), entered!(1 to "{here}"), entered!(2 to "{here}"), entered!(3 to "{here}"),
                )),
            ),
            "mov {group}, {next}\n\
             add {next}, 2048\n\
             cmp {pairs}, 1\n\
             cmove {next}, {group}\n",
            [enter!(0), enter!(1), enter!(2), enter!(3)],
            [left!(0 $(+ $text)?), left!(1 $(+ $text)?), left!(2 $(+ $text)?), left!(3 $(+ $text)?)],
            [entered!(0 to "{other}"), entered!(1 to "{other}"), entered!(2 to "{other}"), entered!(3 to "{other}")],
            $step,
            ahead = inout(reg) ahead => _,
            next = inout(reg) from => _,
            $($operands)*
        );
    }};
}

/// Runs groups, an even number of them and at least two, and adds to them what lies from `added` on, if it is given.
///
/// # Safety
/// This CPU has AVX-512BW and GFNI, the groups are readable and writable, and what is added is readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) unsafe fn crypt(keys: &Shared, groups: Groups, added: Option<*const u8>) {
    // SAFETY: the caller's. What is added beside the rounds of the first pair is what lies before it in the room.
    unsafe {
        match added {
            None => crypt!(keys, groups, [], "", "",),
            Some(added) => crypt!(
                keys, groups, ["{added}"],
                "mov {added}, {room}\n",
                "mov {added}, {text}\n\
                 add {text}, 2048\n",
                text = inout(reg) added => _,
                added = out(reg) _,
            ),
        }
    }
}

/// Adds what becomes of counters to groups of text, an even number of them and at least two: of 14 slices that all groups have,
/// entered, and of two that are made of the last 16 bits of the first counter.
///
/// # Safety
/// As for [`crypt`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) unsafe fn count(keys: &Shared, slices: [[u8; 64]; GROUP], low: u16, text: Groups) {
    let Groups { from, to, count, ahead } = text;
    debug_assert!(count >= 2 && count.is_multiple_of(2) && ahead.is_multiple_of(2 * BYTES));
    let mut room = Room::new();
    room.slices.write(slices);
    // SAFETY: the caller's. What is added beside the rounds of the first pair is what lies before it in the room.
    unsafe {
        run!(
            keys, room, count, to,
            concat!(
                "mov {added}, {room}\n",
                for_both!("2" concat!(
                    copy!(0 to "{here}"), copy!(1 to "{here}"), copy!(2 to "{here}"), counted!(to "{here}"),
                )),
            ),
            "",
            [
                ask!("{text}", 0), ask!("{text}", 1), ask!("{text}", 2), ask!("{text}", 3)
            ],
            [left!(0 + "{added}"), left!(1 + "{added}"), left!(2 + "{added}"), left!(3 + "{added}")],
            [copy!(0 to "{other}"), copy!(1 to "{other}"), copy!(2 to "{other}"), counted!(to "{other}")],
            "mov {added}, {text}\n\
             add {text}, 2048\n",
            ahead = inout(reg) ahead => _,
            low = inout(reg) u64::from(low) => _,
            text = inout(reg) from => _,
            added = out(reg) _,
            out("k1") _,
        );
    }
}
