//! Rounds, as text for the assembler.
//!
//! Registers: the left half of a group in 0 to 7, the right one in 8 to 15, the matrices of SBOX1, SBOX2, SBOX3 and of what
//! SBOX4 has ahead of them in 16 to 19. The others are free between rounds.

/// `to` becomes the S-box of `from` by a matrix, and its constant.
macro_rules! substitute {
    ($($to:literal = $from:literal by $matrix:literal $constant:literal)*) => {
        concat!($("vgf2p8affineinvqb zmm", $to, ", zmm", $from, ", zmm", $matrix, ", {", $constant, "}\n",)*)
    };
}

/// Adds what lies at `$at` and so many halves of a lane behind it to all lanes, and another register with it.
macro_rules! add_subkey {
    ($at:expr, $($to:literal += $a:literal + $i:literal)*) => {
        concat!($(
            "vpternlogq zmm", $to, ", zmm", $a, ", qword ptr [{sums} + ", $at, " + 8 * ", $i, "]{{1to8}}, 0x96\n",
        )*)
    };
    ($at:expr, $($to:literal += $i:literal)*) => {
        concat!($("vpxorq zmm", $to, ", zmm", $to, ", qword ptr [{sums} + ", $at, " + 8 * ", $i, "]{{1to8}}\n",)*)
    };
}

/// Adds F of the half `$x`, which carries its subkey, to the half `$y`, and the subkey that this is to carry: round `$round`
/// of segment `$segment`.
///
/// The order is of measurements: S-boxes that sums wait for longest come first, sums of subkeys fill the time until these are
/// there, and what waits for SBOX4, which is two instructions, comes last.
macro_rules! round {
    ($segment:literal $round:literal
     [$x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal $x7:literal $x8:literal]
     [$y1:literal $y2:literal $y3:literal $y4:literal $y5:literal $y6:literal $y7:literal $y8:literal]) => {
        concat!(
            "vgf2p8affineqb zmm20, zmm", $x4, ", zmm19, {rotate}\n",
            "vgf2p8affineqb zmm21, zmm", $x7, ", zmm19, {rotate}\n",
            substitute!(24 = $x3 by 18 "three" 27 = $x8 by 16 "one" 23 = $x2 by 17 "two" 26 = $x6 by 18 "three"),
            substitute!(25 = $x5 by 17 "two" 22 = $x1 by 16 "one" 20 = 20 by 16 "one" 21 = 21 by 16 "one"),
            add_subkey!(
                concat!("128 + 384 * ", $segment, " + 64 * ", $round, " - 1024"),
                $y6 += 5 $y5 += 4 $y7 += 6 $y4 += 3 $y1 += 0 $y2 += 1
            ),
            // 22 to 27: z1, z2, z3, z5, z6, z8. 20 and 21: z4 and z7.
            add!(30 = 24 + 26),
            add!($y6 += 24 + 27),
            add!(29 = 23 + 25 28 = 22 + 27),
            add!($y5 += 23 + 26 $y7 += 25 + 27),
            add_subkey!(
                concat!("128 + 384 * ", $segment, " + 64 * ", $round, " - 1024"),
                $y8 += 22 + 7 $y3 += 30 + 2
            ),
            add!($y8 += 25 + 26),
            add!($y4 += 29 + 30 $y1 += 28 + 30 $y2 += 28 + 29 $y3 += 28 + 29),
            add!($y7 += 30 + 20 $y4 += 20 + 21 $y1 += 20 + 21 $y5 += 28 + 21 $y6 += 29 + 21 $y2 += 20 + 21 $y8 += 20 + 21),
        )
    };
}

/// Round `$first` of a segment and the next one.
macro_rules! rounds {
    ($segment:literal $first:literal $second:literal) => {
        concat!(
            round!($segment $first [0 1 2 3 4 5 6 7] [8 9 10 11 12 13 14 15]),
            round!($segment $second [8 9 10 11 12 13 14 15] [0 1 2 3 4 5 6 7]),
        )
    };
}

/// Maps a slice by the matrices of layer `$layer` that lie `$at` bytes behind its first.
macro_rules! map {
    ($layer:literal $($to:literal = $from:literal by $at:literal $i:literal)*) => {
        concat!($(
            "vgf2p8affineqb zmm", $to, ", zmm", $from,
            ", qword ptr [{maps} + 192 * ", $layer, " + ", $at, " + 8 * ", $i, "]{{1to8}}, 0\n",
        )*)
    };
}

/// FL of the left half and FLINV of the right one, without their constants.
macro_rules! layer {
    ($layer:literal) => {
        concat!(
            map!($layer 20 = 0 by 0 0 21 = 1 by 0 1 22 = 2 by 0 2 23 = 3 by 0 3),
            map!($layer 24 = 1 by 32 1 25 = 2 by 32 2 26 = 3 by 32 3 27 = 0 by 32 0),
            map!($layer 28 = 12 by 160 0 29 = 13 by 160 1 30 = 14 by 160 2 31 = 15 by 160 3),
            add!(4 += 20 + 24 5 += 21 + 25 6 += 22 + 26 7 += 23 + 27),
            add!(8 += 28 9 += 29 10 += 30 11 += 31),
            map!($layer 20 = 4 by 64 0 21 = 5 by 64 1 22 = 6 by 64 2 23 = 7 by 64 3),
            map!($layer 24 = 8 by 96 0 25 = 9 by 96 1 26 = 10 by 96 2 27 = 11 by 96 3),
            map!($layer 28 = 9 by 128 1 29 = 10 by 128 2 30 = 11 by 128 3 31 = 8 by 128 0),
            add!(0 += 20 1 += 21 2 += 22 3 += 23),
            add!(12 += 24 + 28 13 += 25 + 29 14 += 26 + 30 15 += 27 + 31),
        )
    };
}

/// Adds the last subkey, behind so many segments.
macro_rules! last_subkey {
    ($segments:literal) => {
        add_subkey!(
            concat!("128 + 384 * ", $segments, " - 1024"),
            8 += 0 9 += 1 10 += 2 11 += 3 12 += 4 13 += 5 14 += 6 15 += 7
        )
    };
}
