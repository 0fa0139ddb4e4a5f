//! Blocks that become slices, and slices that become blocks, as text for the assembler: from memory to memory, in registers 12 to
//! 14 and 27 to 29, which no round has in use.
//!
//! Places of the room: two groups halfway to slices, two halfway to blocks, and twice two as slices, of which either is `here`,
//! the other one `other`: there groups enter when those that were there have left. Then the slices that counters have in common.

/// The first half of the way to slices of a group at `next`.
macro_rules! enter {
    ($part:literal) => {
        concat!(
            ask!("{next}", $part),
            take!("{next} + {group}", $part to 0 12 1 13 2 14 3 27),
            change!(2 12 13 14 27),
            turn!(12 13 14 27 by 28 12 29 13 to 14 28 27 12),
            put!("{room} + {group}", $part from 0 14 1 28 2 27 3 12),
        )
    };
}

/// The second half.
macro_rules! entered {
    ($part:literal to $to:literal) => {
        concat!(
            take!("{room} + {group}", $part to 0 12 1 13 2 14 3 27),
            turn!(12 13 14 27 by 28 12 29 13 to 14 28 27 12),
            put!(concat!($to, " + {group}"), $part from 0 14 1 28 2 27 3 12),
        )
    };
}

/// The first half of the way back, the words in the opposite order (GB/T 32907 section 7.1 b).
macro_rules! leave {
    ($part:literal) => {
        concat!(
            take!("{other} + {group}", $part to 3 12 2 13 1 14 0 27),
            change!(3 12 13 14 27),
            turn!(12 13 14 27 by 28 12 29 13 to 14 28 27 12),
            put!("{room} + 2048 + {group}", $part from 0 14 1 28 2 27 3 12),
        )
    };
}

/// The second half: to a group at `to`, to which that at `$text` is added.
macro_rules! left {
    ($part:literal $(+ $text:literal)?) => {
        concat!(
            ask!("{out}", $part),
            take!("{room} + 2048 + {group}", $part to 0 12 1 13 2 14 3 27),
            turn!(12 13 14 27 by 28 12 29 13 to 14 28 27 12),
            $(add_text!(concat!($text, " + {group}"), $part to 0 14 1 28 2 27 3 12),)?
            put!("{to} + {group}", $part from 0 14 1 28 2 27 3 12),
        )
    };
}

/// Four of the slices that all groups of counters have, to a group at `$to`.
macro_rules! copy {
    ($part:literal to $to:literal) => {
        concat!(
            registers!(from concat!("{room} + 8192 + 256 * ", $part), 0 12 1 13 2 14 3 27),
            registers!(to concat!($to, " + {group} + 256 * ", $part), 0 12 1 13 2 14 3 27),
        )
    };
}

/// The last of these, and those that are counted.
macro_rules! counted {
    (to $to:literal) => {
        concat!(
            registers!(from "{room} + 8960", 0 12 1 13),
            count!(14 27 by 28 29),
            change!(2 14 27),
            registers!(to concat!($to, " + {group} + 768"), 0 12 1 13 2 14 3 27),
        )
    };
}
