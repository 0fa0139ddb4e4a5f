//! A segment at 256 bits (VAES) in our own order of instructions.
//!
//! A round has 128 instructions of vectors for 32 blocks, which is 32 clocks where four can start in each: 48 look up and
//! shift, 72 are sums and masks, eight the S-box of the AES. What changes half a block has it in eight registers, and
//! finds the other half, keys and tables in memory; so nothing else goes there. The compiler keeps more in registers
//! than there are, and what it moves to memory for that the next instruction waits for.

use std::arch::asm;
use std::arch::x86_64::{_mm_set1_epi8, _mm_set1_epi16};
use std::mem::offset_of;

use super::boxes::{Around, DECRYPTING, ENCRYPTING};
use super::subkeys::SegmentKeys;
use crate::cipher::camellia::boxes::Half;
use crate::lanes::bytes::x86::Ymm;
use crate::lanes::vaes256::X2;

/// Brings the tables at offset `$at` of [`Around`] to registers 8 and 9.
macro_rules! tables {
    ($around:literal $at:literal) => {
        concat!(
            "vbroadcasti128 ymm8, [{",
            $around,
            "} + ",
            $at,
            " - 128]\n",
            "vbroadcasti128 ymm9, [{",
            $around,
            "} + ",
            $at,
            " - 112]\n",
        )
    };
}

/// Maps bytes by the tables in registers 8 and 9, two registers side by side. Their high halves are shifted by products,
/// for which there are ports that have no shifts.
macro_rules! map {
    ($($x:literal $y:literal)*) => {
        concat!($(
            "vpand ymm10, ymm15, ymm", $x, "\n",
            "vpand ymm11, ymm15, ymm", $y, "\n",
            "vpmulhuw ymm", $x, ", ymm14, ymm", $x, "\n",
            "vpmulhuw ymm", $y, ", ymm14, ymm", $y, "\n",
            "vpshufb ymm10, ymm8, ymm10\n",
            "vpshufb ymm11, ymm8, ymm11\n",
            "vpand ymm", $x, ", ymm15, ymm", $x, "\n",
            "vpand ymm", $y, ", ymm15, ymm", $y, "\n",
            "vpshufb ymm", $x, ", ymm9, ymm", $x, "\n",
            "vpshufb ymm", $y, ", ymm9, ymm", $y, "\n",
            "vpxor ymm", $x, ", ymm10, ymm", $x, "\n",
            "vpxor ymm", $y, ", ymm11, ymm", $y, "\n",
        )*)
    };
}

/// The S-box of the AES, or its inverse, and the sum with the key of each byte.
macro_rules! substitute {
    ($instruction:literal $($x:literal = $i:literal)*) => {
        concat!($($instruction, " ymm", $x, ", ymm", $x, ", [{keys} + 32 * ", $i, " - 128]\n",)*)
    };
}

/// Sums.
macro_rules! add {
    ($($to:literal += $x:literal)*) => {
        concat!($("vpxor ymm", $to, ", ymm", $to, ", ymm", $x, "\n",)*)
    };
}

/// Adds the other half, and puts the sum there.
macro_rules! change {
    ($half:literal $($x:literal = $i:literal)*) => {
        concat!($(
            "vpxor ymm", $x, ", ymm", $x, ", [{", $half, "} + 32 * ", $i, " - 128]\n",
            "vmovdqa [{", $half, "} + 32 * ", $i, " - 128], ymm", $x, "\n",
        )*)
    };
}

/// A round of the half in these registers, which the changed half is then in: its second word first.
macro_rules! round {
    ($around:literal $instruction:literal $half:literal
     $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            tables!($around 32),
            map!($d $g),
            substitute!($instruction $d = 3 $g = 6),
            tables!($around 0),
            map!($h $a), substitute!($instruction $h = 7 $a = 0),
            map!($f $c), substitute!($instruction $f = 5 $c = 2),
            map!($b $e), substitute!($instruction $b = 1 $e = 4),
            tables!($around 64),
            map!($d $g $h $a),
            tables!($around 128),
            map!($f $c),
            tables!($around 96),
            map!($b $e),
            add!($c += $h $a += $f $b += $g $d += $e),
            add!($e += $c $f += $d $g += $a $h += $b),
            add!($a += $h $b += $e $c += $f $d += $g),
            add!($e += $d $f += $a $g += $b $h += $c),
            change!($half $e = 0 $f = 1 $g = 2 $h = 3 $a = 4 $b = 5 $c = 6 $d = 7),
        )
    };
}

/// The rounds of a segment.
///
/// # Safety
/// This CPU has AVX2 and VAES.
#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(super) unsafe fn segment([left, right]: &mut [Half<Ymm<X2>>; 2], keys: &SegmentKeys<Ymm<X2>>) {
    // Instructions are shortest where what they address is within 128 bytes of a pointer.
    const MIDDLE: usize = 128;
    const {
        assert!(size_of::<Half<Ymm<X2>>>() == 2 * MIDDLE && size_of::<Around>() == 2 * MIDDLE);
        assert!(offset_of!(Around, input_4) == 32 && offset_of!(Around, outputs) == 64);
    }
    // SAFETY: the caller's; halves are aligned to a register, and each round has a register of keys for every byte.
    unsafe {
        asm!(
            "vpbroadcastw ymm14, xmm14",
            "vpbroadcastw ymm15, xmm15",
            "vmovdqa ymm0, [{left} - 128]",
            "vmovdqa ymm1, [{left} - 96]",
            "vmovdqa ymm2, [{left} - 64]",
            "vmovdqa ymm3, [{left} - 32]",
            "vmovdqa ymm4, [{left}]",
            "vmovdqa ymm5, [{left} + 32]",
            "vmovdqa ymm6, [{left} + 64]",
            "vmovdqa ymm7, [{left} + 96]",
            ".p2align 6",
            "2:",
            round!("encrypting" "vaesenclast" "right" 0 1 2 3 4 5 6 7),
            "add {keys}, 256",
            round!("decrypting" "vaesdeclast" "left" 4 5 6 7 0 1 2 3),
            "add {keys}, 256",
            "dec {pairs:e}",
            "jnz 2b",
            left = in(reg) left.as_mut_ptr().cast::<u8>().add(MIDDLE),
            right = in(reg) right.as_mut_ptr().cast::<u8>().add(MIDDLE),
            keys = inout(reg) keys.as_ptr().cast::<u8>().add(MIDDLE) => _,
            pairs = inout(reg) keys.len() => _,
            encrypting = in(reg) (&raw const ENCRYPTING).cast::<u8>().add(MIDDLE),
            decrypting = in(reg) (&raw const DECRYPTING).cast::<u8>().add(MIDDLE),
            inout("xmm14") _mm_set1_epi16(1 << 12) => _,
            inout("xmm15") _mm_set1_epi8(0xf) => _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
            out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            options(nostack),
        );
    }
}
