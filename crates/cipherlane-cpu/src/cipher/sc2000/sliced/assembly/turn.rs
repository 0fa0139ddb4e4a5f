//! Blocks that become slices, and slices that become blocks, as text for the assembler: from memory to memory, in
//! registers 16 to 21, which no function has in use when it ends.
//!
//! Places of the room: two groups halfway to slices, two halfway to blocks, and twice two as slices, of which either is
//! `here`, the other one `other`: there groups enter when those that were there have left.

/// Two steps of four registers, which lie at `$from`, to `$to`, with `$before` ahead of them and `$behind` them.
/// Registers are 16 to 19 there, and 18, 20, 19 and 16.
macro_rules! quarter {
    ($part:literal from $from:expr, $before:expr, $behind:expr, to $to:expr) => {
        concat!(
            take!(concat!($from, " + {group}"), $part to 0 16 1 17 2 18 3 19),
            $before,
            turn!(16 17 18 19 by 20 16 21 17 to 18 20 19 16),
            $behind,
            put!(concat!($to, " + {group}"), $part from 0 18 1 20 2 19 3 16),
        )
    };
}

/// The first half of the way to slices of a group at `next`.
macro_rules! enter {
    ($part:literal) => {
        concat!(ask!("{next}", $part), quarter!($part from "{next}", "", "", to "{room}"))
    };
}

/// The second half: a word, of which bytes 0 and 2 are turned.
macro_rules! entered {
    ($part:literal to $to:literal) => {
        quarter!($part from "{room}", "", concat!(change!(16 18), change!(18 19)), to $to)
    };
}

/// The first half of the way back, of the same byte of all words.
macro_rules! leave {
    (0) => {
        quarter!(0 from "{other}", change!(20 16 17 18 19), "", to "{room} + 2048")
    };
    (2) => {
        quarter!(2 from "{other}", change!(22 16 17 18 19), "", to "{room} + 2048")
    };
    ($part:literal) => {
        quarter!($part from "{other}", "", "", to "{room} + 2048")
    };
}

/// The second half: to a group at `to`, to which that at `$text` is added.
macro_rules! left {
    ($part:literal $(+ $text:literal)?) => {
        concat!(
            ask!("{out}", $part),
            quarter!(
                $part from "{room} + 2048", "",
                concat!("", $(add_text!(concat!($text, " + {group}"), $part to 0 18 1 20 2 19 3 16))?),
                to "{to}"
            ),
        )
    };
}

/// Slices of the byte that all counters of a group have at so many places of a word.
macro_rules! same {
    ($word:literal $($register:literal $i:literal)*) => {
        concat!($("vpbroadcastb zmm", $register, ", [{room} + {counter} + 4 * ", $word, " + ", $i, "]\n",)*)
    };
}

/// A word that all counters have, to a group at `$to`.
macro_rules! copy {
    ($part:literal to $to:literal) => {
        concat!(
            same!($part 16 0 17 1 18 2 19 3),
            change!(16 16),
            change!(18 18),
            registers!(to concat!($to, " + {group} + 256 * ", $part), 0 16 1 17 2 18 3 19),
        )
    };
}

/// The last word, which has what is counted.
macro_rules! counted {
    (to $to:literal) => {
        concat!(
            same!(3 16 0 17 1),
            count!(18 19 by 20 21),
            change!(16 16),
            change!(18 18),
            registers!(to concat!($to, " + {group} + 768"), 0 16 1 17 2 18 3 19),
        )
    };
}
