//! Blocks that become slices, and slices that become blocks, as text for the assembler: beside rounds from memory to memory, in
//! registers 26 to 31, which no round has in use when it ends.
//!
//! Places of the room: a group halfway to slices, as slices, behind its rounds, halfway to blocks.

/// The first half of the way to slices of the group at `next`.
macro_rules! enter {
    ($part:literal) => {
        concat!(
            ask!("{next}", $part),
            take!("{next}", $part to 0 26 1 27 2 28 3 29),
            turn!(26 27 28 29 by 30 26 31 27 to 28 30 29 26),
            put!("{room}", $part from 0 28 1 30 2 29 3 26),
        )
    };
}

/// The second half.
macro_rules! entered {
    ($part:literal) => {
        concat!(
            take!("{room}", $part to 0 26 1 27 2 28 3 29),
            turn!(26 27 28 29 by 30 26 31 27 to 28 30 29 26),
            change!(4 28 30 29 26),
            put!("{room} + 1024", $part from 0 28 1 30 2 29 3 26),
        )
    };
}

/// What slices go through behind the rounds, and the first half of the way back.
macro_rules! leave {
    ($part:literal) => {
        concat!(
            take!("{room} + 2048", $part to 0 26 1 27 2 28 3 29),
            change!(5 26 27 28 29),
            turn!(26 27 28 29 by 30 26 31 27 to 28 30 29 26),
            put!("{room} + 3072", $part from 0 28 1 30 2 29 3 26),
        )
    };
}

/// The second half: to the group at `to`, to which that at `$text` is added.
macro_rules! left {
    ($part:literal $(+ $text:literal)?) => {
        concat!(
            ask!("{out}", $part),
            take!("{room} + 3072", $part to 0 26 1 27 2 28 3 29),
            turn!(26 27 28 29 by 30 26 31 27 to 28 30 29 26),
            $(add_text!($text, $part to 0 28 1 30 2 29 3 26),)?
            put!("{to}", $part from 0 28 1 30 2 29 3 26),
        )
    };
}

/// The group at `next` to slices, with nothing to do beside: to registers 0 to 15.
macro_rules! enter_at_once {
    () => {
        concat!(
            take!("{next}", 0 to 0 20 1 21 2 22 3 23),
            turn!(20 21 22 23 by 24 25 26 27 to 0 4 8 12),
            take!("{next}", 1 to 0 20 1 21 2 22 3 23),
            turn!(20 21 22 23 by 24 25 26 27 to 1 5 9 13),
            take!("{next}", 2 to 0 20 1 21 2 22 3 23),
            turn!(20 21 22 23 by 24 25 26 27 to 2 6 10 14),
            take!("{next}", 3 to 0 20 1 21 2 22 3 23),
            turn!(20 21 22 23 by 24 25 26 27 to 3 7 11 15),
            turn!(0 1 2 3 by 20 21 22 23 to 0 1 2 3), change!(4 0 1 2 3),
            turn!(4 5 6 7 by 20 21 22 23 to 4 5 6 7), change!(4 4 5 6 7),
            turn!(8 9 10 11 by 20 21 22 23 to 8 9 10 11), change!(4 8 9 10 11),
            turn!(12 13 14 15 by 20 21 22 23 to 12 13 14 15), change!(4 12 13 14 15),
        )
    };
}

/// The group that is behind its rounds to blocks, from registers 8 to 15 and 0 to 7.
macro_rules! leave_at_once {
    ($($text:literal)?) => {
        concat!(
            change!(5 8 12 0 4), turn!(8 12 0 4 by 20 21 22 23 to 8 12 0 4),
            change!(5 9 13 1 5), turn!(9 13 1 5 by 20 21 22 23 to 9 13 1 5),
            change!(5 10 14 2 6), turn!(10 14 2 6 by 20 21 22 23 to 10 14 2 6),
            change!(5 11 15 3 7), turn!(11 15 3 7 by 20 21 22 23 to 11 15 3 7),
            turn!(8 9 10 11 by 20 21 22 23 to 8 9 10 11),
            $(add_text!($text, 0 to 0 8 1 9 2 10 3 11),)?
            put!("{to}", 0 from 0 8 1 9 2 10 3 11),
            turn!(12 13 14 15 by 20 21 22 23 to 12 13 14 15),
            $(add_text!($text, 1 to 0 12 1 13 2 14 3 15),)?
            put!("{to}", 1 from 0 12 1 13 2 14 3 15),
            turn!(0 1 2 3 by 20 21 22 23 to 0 1 2 3),
            $(add_text!($text, 2 to 0 0 1 1 2 2 3 3),)?
            put!("{to}", 2 from 0 0 1 1 2 2 3 3),
            turn!(4 5 6 7 by 20 21 22 23 to 4 5 6 7),
            $(add_text!($text, 3 to 0 4 1 5 2 6 3 7),)?
            put!("{to}", 3 from 0 4 1 5 2 6 3 7),
        )
    };
}
