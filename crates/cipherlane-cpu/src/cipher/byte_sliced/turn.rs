//! Groups at 512 bits that are turned in assembly: text for the assembler that ciphers have in common.
//!
//! Either way, to slices and to blocks, is two halves of two steps of [`transpose`](super::transpose) each, of four registers
//! at a time: those whose numbers differ by a multiple of four, which then follow one another.

use super::GROUP;

/// Registers of a group, in bytes.
pub(crate) const BYTES: usize = 1024;

/// What instructions want in memory.
#[repr(C, align(64))]
pub(crate) struct Constants {
    matrices: [u64; 8],
    /// Which block of a group each byte of a slice is of.
    blocks: [u8; 64],
}

impl Constants {
    /// With `matrices`, for a cipher to number.
    #[allow(clippy::cast_possible_truncation)] // 64 blocks
    pub(crate) const fn new(matrices: [u64; 8]) -> Self {
        let (mut blocks, mut i) = ([0; 64], 0);
        while i < blocks.len() {
            blocks[i] = (i % GROUP * 4 + i / GROUP) as u8;
            i += 1;
        }
        Self { matrices, blocks }
    }
}

/// The lower or the higher halves of lanes, byte by byte.
macro_rules! interleave {
    ($($half:literal $to:literal = $a:literal $b:literal)*) => {
        concat!($("vpunpck", $half, "bw zmm", $to, ", zmm", $a, ", zmm", $b, "\n",)*)
    };
}

/// Two steps of four registers, by four others, to four more, any of which may be of those before that are done with.
macro_rules! turn {
    ($a:literal $b:literal $c:literal $d:literal by $e:literal $f:literal $g:literal $h:literal
     to $p:literal $q:literal $r:literal $s:literal) => {
        concat!(
            interleave!("l" $e = $a $c "h" $f = $a $c "l" $g = $b $d "h" $h = $b $d),
            interleave!("l" $p = $e $g "h" $q = $e $g "l" $r = $f $h "h" $s = $f $h),
        )
    };
}

/// Loads registers `$part`, and four, eight and twelve behind it, of the group at `$from`.
macro_rules! take {
    ($from:expr, $part:literal to $($i:literal $register:literal)*) => {
        concat!($("vmovdqu64 zmm", $register, ", [", $from, " + 64 * ", $part, " + 256 * ", $i, "]\n",)*)
    };
}

/// Sums of two and of three.
macro_rules! add {
    ($($to:literal += $a:literal)*) => {
        concat!($("vpxorq zmm", $to, ", zmm", $to, ", zmm", $a, "\n",)*)
    };
    ($($to:literal = $a:literal + $b:literal)*) => {
        concat!($("vpxorq zmm", $to, ", zmm", $a, ", zmm", $b, "\n",)*)
    };
    ($($to:literal += $a:literal + $b:literal)*) => {
        concat!($("vpternlogq zmm", $to, ", zmm", $a, ", zmm", $b, ", 0x96\n",)*)
    };
}

/// Adds what lies at `$from` to registers `4 * $part` and those behind it of a group.
macro_rules! add_text {
    ($from:expr, $part:literal to $($i:literal $register:literal)*) => {
        concat!($(
            "vpxorq zmm", $register, ", zmm", $register, ", [", $from, " + 256 * ", $part, " + 64 * ", $i, "]\n",
        )*)
    };
}

/// Stores registers `4 * $part` and those behind it of the group at `$to`.
macro_rules! put {
    ($to:expr, $part:literal from $($i:literal $register:literal)*) => {
        concat!($("vmovdqu64 [", $to, " + 256 * ", $part, " + 64 * ", $i, "], zmm", $register, "\n",)*)
    };
}

/// Asks for a fourth of the lines of a group: of one as many bytes behind that at `$at` as the caller wants.
macro_rules! ask {
    ($at:expr, $part:literal) => {
        ask!(at $at, $part 0 64 128 192)
    };
    (at $at:expr, $part:literal $($line:literal)*) => {
        concat!($("prefetcht0 [", $at, " + {ahead} + 256 * ", $part, " + ", $line, "]\n",)*)
    };
}

/// Loads or stores registers so many times 64 bytes behind `$at`.
macro_rules! registers {
    (from $at:expr, $($i:literal $register:literal)*) => {
        concat!($("vmovdqu64 zmm", $register, ", [", $at, " + 64 * ", $i, "]\n",)*)
    };
    (to $at:expr, $($i:literal $register:literal)*) => {
        concat!($("vmovdqu64 [", $at, " + 64 * ", $i, "], zmm", $register, "\n",)*)
    };
}

/// Maps slices by matrix `$matrix`.
macro_rules! change {
    ($matrix:literal $($register:literal)*) => {
        concat!($(
            "vgf2p8affineqb zmm", $register, ", zmm", $register,
            ", qword ptr [{constants} + 8 * ", $matrix, "]{{1to8}}, 0\n",
        )*)
    };
}

/// The last two slices of the next counters, by two other registers: low bytes are counted up from the first one's, and where
/// one is lower than that, it has wrapped, and 1 is carried to the high byte.
#[rustfmt::skip] // an instruction a line
macro_rules! count {
    ($high:literal $low:literal by $first:literal $ones:literal) => {
        concat!(
            "vpbroadcastb zmm", $first, ", {low:e}\n",
            "vpbroadcastw zmm", $high, ", {low:e}\n",
            "vpaddb zmm", $low, ", zmm", $first, ", [{constants} + 64]\n",
            "vpcmpltub k1, zmm", $low, ", zmm", $first, "\n",
            "vpternlogd zmm", $ones, ", zmm", $ones, ", zmm", $ones, ", 0xff\n",
            "vpsrlw zmm", $high, ", zmm", $high, ", 8\n",
            "vpackuswb zmm", $high, ", zmm", $high, ", zmm", $high, "\n",
            "vpsubb zmm", $high, "{{k1}}, zmm", $high, ", zmm", $ones, "\n",
            "add {low:e}, 64\n",
        )
    };
}

/// Does something for the first group of a pair, `group` being 0, and for the second, it being 1024: where that lies behind the
/// first, and lines that are asked for lie behind those. Instructions are in a loop as the CPU keeps only so many of them ready.
macro_rules! for_both {
    ($label:literal $text:expr) => {
        concat!(
            "xor {group:e}, {group:e}\n",
            $label,
            ":\n",
            $text,
            "xor {ahead:e}, 1024\n",
            "xor {group:e}, 1024\n",
            "jnz ",
            $label,
            "b\n",
        )
    };
}
