//! Rounds, as text for the assembler.
//!
//! Registers: of two groups, 15 behind one another, the input of the next round in 0 to 3, what is behind its inversion in 4 to 7
//! and 8 to 11; the matrices for those in 30 and 31. Words of the block lie in memory.

/// Adds a word of the group `$group` bytes behind `here`.
macro_rules! add_word {
    ($group:literal $word:literal $($to:literal += $i:literal)*) => {
        concat!($(
            "vpxorq zmm", $to, ", zmm", $to, ", [{here} + ", $group, " + 256 * ", $word, " + 64 * ", $i, "]\n",
        )*)
    };
    ($group:literal $word:literal $($to:literal += $a:literal + $i:literal)*) => {
        concat!($(
            "vpternlogq zmm", $to, ", zmm", $a, ", [{here} + ", $group, " + 256 * ", $word, " + 64 * ", $i, "], 0x96\n",
        )*)
    };
}

/// The parts of L of the S-box, `$matrix` having the map behind the inversion, and a constant.
macro_rules! substitute {
    ($matrix:literal $constant:literal $($to:literal = $from:literal)*) => {
        concat!($("vgf2p8affineinvqb zmm", $to, ", zmm", $from, ", zmm", $matrix, ", {", $constant, "}\n",)*)
    };
}

/// A round of a group, which replaces word `$first`. The input of the next one has the new word for the word behind `$first`, and
/// another key.
///
/// With the sums of r of byte i and of p of byte i + 3, a byte takes the other three: see `add_l`.
macro_rules! round {
    ($key:literal $group:literal $first:literal $second:literal
     [$a:literal $b:literal $c:literal $d:literal]
     [$p0:literal $p1:literal $p2:literal $p3:literal]
     [$r0:literal $r1:literal $r2:literal $r3:literal]) => {
        concat!(
            substitute!(31 "right" $r0 = $a $r1 = $b $r2 = $c $r3 = $d),
            substitute!(30 "left" $p3 = $d $p0 = $a $p1 = $b $p2 = $c),
            add_word!($group $second $a += 0 $b += 1 $c += 2 $d += 3),
            add!($r0 += $p3 $r1 += $p0 $r2 += $p1 $r3 += $p2),
            add!($p0 = $r0 + $r1 $p1 = $r2 + $r3),
            add_word!($group $first $r1 += $p1 + 0 $r0 += $p1 + 1 $r3 += $p0 + 2 $r2 += $p0 + 3),
            add_step!($key $a += $r1 + 0 $b += $r0 + 1 $c += $r3 + 2 $d += $r2 + 3),
            registers!(to concat!("{here} + ", $group, " + 256 * ", $first), 0 $r1 1 $r0 2 $r3 3 $r2),
        )
    };
}

/// Adds the new word and what comes to the key, so many rounds behind that at `steps`.
macro_rules! add_step {
    ($key:literal $($to:literal += $a:literal + $i:literal)*) => {
        concat!($(
            "vpternlogq zmm", $to, ", zmm", $a,
            ", qword ptr [{steps} + 32 * ", $key, " + 8 * ", $i, "]{{1to8}}, 0x96\n",
        )*)
    };
}

/// A round of both groups.
macro_rules! both {
    ($key:literal $first:literal $second:literal) => {
        concat!(
            round!($key 0 $first $second [0 1 2 3] [4 5 6 7] [8 9 10 11]),
            round!($key 1024 $first $second [15 16 17 18] [19 20 21 22] [23 24 25 26]),
        )
    };
}

/// Four rounds, each with other work behind it.
macro_rules! rounds {
    ($a:expr, $b:expr, $c:expr, $d:expr) => {
        concat!(both!(1 0 1), $a, both!(2 1 2), $b, both!(3 2 3), $c, both!(4 3 0), $d, "sub {steps}, -128\n")
    };
}

/// The input of a group's first round.
macro_rules! input {
    ($group:literal $($register:literal $i:literal)*) => {
        concat!(
            registers!(from concat!("{here} + 256 + ", $group), $($i $register)*),
            add_word!($group 2 $($register += $i)*),
            add_word!($group 3 $($register += $i)*),
            $("vpxorq zmm", $register, ", zmm", $register, ", qword ptr [{steps} + 8 * ", $i, "]{{1to8}}\n",)*
        )
    };
}
