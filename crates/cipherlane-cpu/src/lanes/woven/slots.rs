//! What is woven, as text for the assembler.
//!
//! Registers: 0 to 7 the blocks; 8 to 15, 19 to 21, 23, 24 and 26 factors and products; 16, 17 and 18 the sums of low,
//! high and middle products; 22 the state, later the last register of the group; 25 text; 28 the polynomial; 29 the
//! pattern that reverses a block; 30 a round key; 31 what counter blocks share after their first round, 27 the last
//! ones. `at` is where a group begins.

/// A step of GHASH: one instruction of a vector unit, and what it loads.
///
/// `j` counts factors of the group, the state first. Each is multiplied by H^(4 * (8 - j)), whose halves lie at `powers`
/// and the sum of whose halves, in every lane, at `sums`. A load of 64 bits into all places is a load alone; one of 128
/// bits costs a shuffle.
macro_rules! slot {
    // Register `i` of the group, its blocks reversed.
    (text $to:literal $i:literal) => {
        concat!(
            "vmovdqu64 zmm", $to, ", [{hashed} + {at} + 64 * ", $i, "]\n",
            "vpshufb zmm", $to, ", zmm", $to, ", zmm29\n"
        )
    };
    // Products of the low halves, of the high halves, and of the sums of halves.
    (low $to:literal $x:literal $j:literal) => {
        slot!(@ $to $x $j 0 "0x00")
    };
    (high $to:literal $x:literal $j:literal) => {
        slot!(@ $to $x $j 8 "0x01")
    };
    (middle0 $to:literal $x:literal $j:literal) => {
        concat!("vpclmulqdq zmm", $to, ", zmm", $x, ", [{sums} + 64 * ", $j, "], 0x00\n")
    };
    (middle1 $to:literal $x:literal $j:literal) => {
        concat!("vpclmulqdq zmm", $to, ", zmm", $x, ", [{sums} + 64 * ", $j, "], 0x01\n")
    };
    (@ $to:literal $x:literal $j:literal $half:literal $halves:literal) => {
        concat!(
            "vpbroadcastq zmm", $to, ", [{powers} + 64 * ", $j, " + ", $half, "]\n",
            "vpclmulqdq zmm", $to, ", zmm", $x, ", zmm", $to, ", ", $halves, "\n"
        )
    };
    // The low halves of two registers, and the high ones.
    (lows $to:literal $a:literal $b:literal) => {
        concat!("vpunpcklqdq zmm", $to, ", zmm", $a, ", zmm", $b, "\n")
    };
    (highs $to:literal $a:literal $b:literal) => {
        concat!("vpunpckhqdq zmm", $to, ", zmm", $a, ", zmm", $b, "\n")
    };
    // a = b + c, and a += b + c.
    (set $a:literal $b:literal $c:literal) => {
        concat!("vpxorq zmm", $a, ", zmm", $b, ", zmm", $c, "\n")
    };
    (add $a:literal $b:literal $c:literal) => {
        concat!("vpternlogq zmm", $a, ", zmm", $b, ", zmm", $c, ", 0x96\n")
    };
    // The low half by the polynomial's high half, and the halves exchanged.
    (fold $to:literal $x:literal) => {
        concat!("vpclmulqdq zmm", $to, ", zmm", $x, ", zmm28, 0x10\n")
    };
    (swap $to:literal $x:literal) => {
        concat!("vpshufd zmm", $to, ", zmm", $x, ", 0x4e\n")
    };
}

/// A round key.
macro_rules! key {
    ($round:literal) => {
        concat!("vmovdqa64 zmm30, [{keys} + 64 * ", $round, "]\n")
    };
}

/// Counter block `i` after its first round, of what it shares with others.
macro_rules! begin {
    ($i:literal $shared:literal) => {
        concat!("vpxorq zmm", $i, ", zmm", $shared, ", [{effects} + {at} + 64 * ", $i, "]\n")
    };
}

/// A round of block `i`.
macro_rules! round {
    ($i:literal) => {
        concat!("vaesenc zmm", $i, ", zmm", $i, ", zmm30\n")
    };
}

/// The last round of block `i`, and its text: the last round ends in a sum, which the text may join beforehand.
macro_rules! last {
    ($i:literal) => {
        concat!(
            "vpxorq zmm25, zmm30, [{input} + {at} + 64 * ",
            $i,
            "]\n",
            "vaesenclast zmm",
            $i,
            ", zmm",
            $i,
            ", zmm25\n",
            "vmovdqu64 [{output} + {at} + 64 * ",
            $i,
            "], zmm",
            $i,
            "\n"
        )
    };
}

/// What counter blocks share to begin with.
macro_rules! start {
    () => {
        "vmovdqa64 zmm27, zmm31\ntest {ahead}, {ahead}\nje 3f\n"
    };
}

/// The next group, if there is one.
macro_rules! next {
    () => {
        concat!(
            "add {at}, 512\ndec {groups}\nje 4f\n",
            "dec {ahead}\njg 2b\njl 5f\n",
            // The last byte overflows in the next group.
            "3:\nvbroadcasti32x4 zmm27{{{overflown}}}, [{rests}]\njmp 2b\n",
            // It did in this one.
            "5:\nvbroadcasti32x4 zmm31, [{rests}]\nvmovdqa64 zmm27, zmm31\nadd {rests}, 16\n",
            "sub {effects}, {turn}\nmov {ahead}, {between}\njmp 2b\n4:\n"
        )
    };
}

/// What is left of a hash: its sums become the state (Gueron and Kounavis).
macro_rules! reduce {
    () => {
        order! {
            [fold 23 16] [add 18 16 17] [swap 24 16] [add 18 23 24]
            [fold 23 18] [set 22 22 17] [swap 24 18] [add 22 23 24]
        }
    };
}

/// Instructions in their order.
macro_rules! order {
    ($([$kind:ident $($argument:literal)*])*) => {
        concat!($(instruction!($kind $($argument)*),)*)
    };
}

macro_rules! instruction {
    (begin $($argument:literal)*) => { begin!($($argument)*) };
    (key $($argument:literal)*) => { key!($($argument)*) };
    (round $($argument:literal)*) => { round!($($argument)*) };
    (last $($argument:literal)*) => { last!($($argument)*) };
    ($slot:ident $($argument:literal)*) => { slot!($slot $($argument)*) };
}
