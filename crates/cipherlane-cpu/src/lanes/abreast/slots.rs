//! What stands between the rounds, as text for the assembler.
//!
//! Registers: 0 to 7 the blocks; 8 to 20 the round keys from the first on; 21 the last one, and 22 what it makes with
//! that before the first; 23 to 27 blocks on their way; 28 to 31 what comes in with the last key.
//!
//! A part is the next two cache lines of four streams, those of one register. Line `l` of it is four rows of the stage,
//! 2048 bytes in all.

/// An instruction or two beside a round.
macro_rules! slot {
    [] => { "" };
    // Half of two rows, from the stage: two blocks each of two steps.
    [rows $to:literal $line:literal $row:literal $next:literal $half:literal] => {
        concat!(
            "vmovdqa64 ymm", $to, ", [{there} + 2048 * ", $line, " + 512 * ", $row, " + 32 * ", $half, "]\n",
            "vinserti64x4 zmm", $to, ", zmm", $to,
            ", [{there} + 2048 * ", $line, " + 512 * ", $next, " + 32 * ", $half, "], 1\n"
        )
    };
    // The two halves of a stream's line, and those of the next stream's line behind them.
    [line $low:literal $high:literal $line:literal $stream:literal] => {
        concat!(
            "mov {text}, [{inputs} + 8 * ", $stream, "]\n",
            "vmovdqu64 ymm", $low, ", [{text} + {enters} + 64 * ", $line, "]\n",
            "vmovdqu64 ymm", $high, ", [{text} + {enters} + 64 * ", $line, " + 32]\n"
        )
    };
    [behind $low:literal $high:literal $line:literal $stream:literal] => {
        concat!(
            "mov {text}, [{inputs} + 8 * ", $stream, "]\n",
            "vinserti64x4 zmm", $low, ", zmm", $low, ", [{text} + {enters} + 64 * ", $line, "], 1\n",
            "vinserti64x4 zmm", $high, ", zmm", $high, ", [{text} + {enters} + 64 * ", $line, " + 32], 1\n"
        )
    };
    // The lower lanes of the halves of two registers, and the upper ones.
    [lower $to:literal $x:literal $y:literal] => {
        concat!("vshufi64x2 zmm", $to, ", zmm", $x, ", zmm", $y, ", 0x88\n")
    };
    [upper $to:literal $x:literal $y:literal] => {
        concat!("vshufi64x2 zmm", $to, ", zmm", $x, ", zmm", $y, ", 0xdd\n")
    };
    // A row of the stage, and a line of a stream.
    [stays $from:literal $line:literal $row:literal] => {
        concat!("vmovdqa64 [{there} + 2048 * ", $line, " + 512 * ", $row, "], zmm", $from, "\n")
    };
    [goes $from:literal $line:literal $stream:literal] => {
        concat!(
            "mov {text}, [{outputs} + 8 * ", $stream, "]\n",
            "vmovdqu64 [{text} + {leaves} + 64 * ", $line, "], zmm", $from, "\n"
        )
    };
}

/// The round of all blocks whose key is in register `key`, with a slot behind each; or the slots alone.
macro_rules! row {
    (none $($slot:tt)*) => { concat!($(slot! $slot,)*) };
    ($key:literal $($slot:tt)*) => { row!(@ $key [0 1 2 3 4 5 6 7] [$($slot)*]) };
    (@ $key:literal [$($i:literal)*] [$($slot:tt)*]) => {
        concat!($("vaesenc zmm", $i, ", zmm", $i, ", zmm", $key, "\n", slot! $slot,)*)
    };
}

/// A round with nothing beside it.
macro_rules! alone {
    ($key:literal) => { row!($key [] [] [] [] [] [] [] []) };
    ($half:ident $key:literal $line:literal) => { alone!($key) };
}

/// A round beside which four rows leave the stage: they come, or they go.
macro_rules! leave {
    (first $key:tt $line:literal) => {
        row!($key [rows 23 $line 0 1 0] [] [rows 24 $line 2 3 0] [] [rows 25 $line 0 1 1] [] [rows 26 $line 2 3 1] [])
    };
    (second $key:tt $line:literal) => {
        row!($key
            [lower 27 23 24] [upper 24 23 24] [lower 23 25 26] [upper 26 25 26]
            [goes 27 $line 0] [goes 24 $line 1] [goes 23 $line 2] [goes 26 $line 3]
        )
    };
}

/// A round beside which a line of four streams enters the stage.
macro_rules! enter {
    (first $key:tt $line:literal) => {
        row!($key
            [line 23 25 $line 0] [] [behind 23 25 $line 1] [] [line 24 26 $line 2] [] [behind 24 26 $line 3] []
        )
    };
    (second $key:tt $line:literal) => {
        row!($key
            [lower 27 23 24] [upper 24 23 24] [lower 23 25 26] [upper 26 25 26]
            [stays 27 $line 0] [stays 24 $line 1] [stays 23 $line 2] [stays 26 $line 3]
        )
    };
}

/// The last round of all blocks: what is added before the first round of the next ones comes in with its key, and is taken
/// off again where it ends up on the stage.
macro_rules! last {
    () => {
        last!(@ [0 28] [1 29] [2 30] [3 31] [4 28] [5 29] [6 30] [7 31])
    };
    (@ $([$i:literal $t:literal])*) => {
        concat!($(
            "vpxorq zmm", $t, ", zmm22, [{next} + 64 * ", $i, "]\n",
            "vaesenclast zmm", $i, ", zmm", $i, ", zmm", $t, "\n",
            "vpternlogq zmm", $t, ", zmm21, zmm", $i, ", 0x96\n",
            "vmovdqa64 [{here} + 64 * ", $i, "], zmm", $t, "\n",
        )*)
    };
}

/// The rounds of a step, with two parts that leave and two that enter.
macro_rules! rounds_10 {
    ($leave:ident $enter:ident) => {
        concat!(
            alone!(8),
            $leave!(first 9 0), $leave!(second 10 0), $enter!(first 11 0), $enter!(second 12 0),
            $leave!(first 13 1), $leave!(second 14 1), $enter!(first 15 1), $enter!(second 16 1)
        )
    };
}

macro_rules! rounds_12 {
    ($leave:ident $enter:ident) => {
        concat!(rounds_10!($leave $enter), alone!(17), alone!(18))
    };
}

macro_rules! rounds_14 {
    ($leave:ident $enter:ident) => {
        concat!(rounds_12!($leave $enter), alone!(19), alone!(20))
    };
}

/// Two parts, and nothing else.
macro_rules! parts {
    ($part:ident) => {
        concat!($part!(first none 0), $part!(second none 0), $part!(first none 1), $part!(second none 1))
    };
}

/// All round keys, from where `text` points to.
macro_rules! keys_10 {
    () => { keys!(@ 10 [8 1] [9 2] [10 3] [11 4] [12 5] [13 6] [14 7] [15 8] [16 9]) };
}

macro_rules! keys_12 {
    () => { keys!(@ 12 [8 1] [9 2] [10 3] [11 4] [12 5] [13 6] [14 7] [15 8] [16 9] [17 10] [18 11]) };
}

macro_rules! keys_14 {
    () => {
        keys!(@ 14
            [8 1] [9 2] [10 3] [11 4] [12 5] [13 6] [14 7] [15 8] [16 9] [17 10] [18 11] [19 12] [20 13]
        )
    };
}

macro_rules! keys {
    (@ $last:literal $([$to:literal $key:literal])*) => {
        concat!(
            $("vmovdqa64 zmm", $to, ", [{text} + 64 * ", $key, "]\n",)*
            "vmovdqa64 zmm21, [{text} + 64 * ", $last, "]\n",
            "vpxorq zmm22, zmm21, [{text}]\n"
        )
    };
}

/// Where the next texts are: on the other stage, behind the last step of this one.
macro_rules! next {
    () => {
        "lea {next}, [{here} + 512]\ncmp {left}, 1\ncmove {next}, {other}\n"
    };
}

/// On to the next step, if there is one: its parts are the next two lines of the same streams, of which there are `lines`
/// pairs, or the first ones of the next four.
macro_rules! step {
    () => {
        concat!(
            "mov {here}, {next}\n",
            "add {there}, 4096\n",
            "add {enters}, 128\n",
            "add {leaves}, 128\n",
            "dec {pair}\n",
            "jnz 3f\n",
            "mov {pair}, {lines}\n",
            "mov {text}, {lines}\n",
            "shl {text}, 7\n",
            "sub {enters}, {text}\n",
            "sub {leaves}, {text}\n",
            "shl {text}, 5\n",
            "sub {there}, {text}\n",
            "add {there}, 64\n",
            "add {inputs}, 32\n",
            "add {outputs}, 32\n",
            "3:\n",
            "dec {left}\n",
            "jnz 2b\n"
        )
    };
}
