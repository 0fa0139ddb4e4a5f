//! Two rounds of SHA-512, as text for the assembler, and what is made of the schedule beside them.
//!
//! Registers: the working variables are in rax, rcx, rdx, rbx, rsi, r8, r9 and r10, and instead of moving they are
//! renamed; r11 and r12 in turn have `b ^ c`, which the round before has computed as its `a ^ b`; r13, r14 and r15 are
//! for whatever comes up. rdi points to the sums of words and constants, rbp to the constants that are added next.
//! ymm0 to ymm7 have the last sixteen words of both blocks, the first block's in their lower halves; ymm8 to ymm12 are
//! for whatever comes up; ymm14 rotates by 8 and ymm15 reverses the bytes of words.

/// An instruction of integer registers, or of registers and a number.
macro_rules! i {
    ($name:ident $to:ident $from:tt $($by:literal)?) => {
        concat!(stringify!($name), " ", stringify!($to), ", ", stringify!($from), $(", ", $by,)? "\n")
    };
}

/// An instruction of vector registers, or of these and a number.
macro_rules! v {
    ($name:ident $to:literal $from:literal $(, $by:literal)?) => {
        concat!(stringify!($name), " ymm", $to, ", ymm", $from, $(", ", $by,)? "\n")
    };
    ($name:ident $to:literal $a:literal $b:literal $(, $by:literal)?) => {
        concat!(stringify!($name), " ymm", $to, ", ymm", $a, ", ymm", $b, $(", ", $by,)? "\n")
    };
}

/// One round (FIPS 180-4 section 6.4.2 step 3) with the sum at $at, and a vector instruction behind every two of its own.
///
/// Maj(a, b, c) is `(a ^ b) & (b ^ c) ^ b`. A round waits five clocks for the one before and has 22 operations for four
/// units, of which only some rotate: what is handed to which unit is decided in the order of the text. In this one, the
/// best of some thousands, it takes 5.8 clocks on Zen 4, and 6.3 in the order in which it would be written.
macro_rules! round {
    ([$($at:literal)*] $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $bc:ident $ab:ident) => {
        round!([$($at)*] $a $b $c $d $e $f $g $h, $bc $ab; "", "", "", "", "", "", "", "", "", "", "", "")
    };
    (
        [$($at:literal)*] $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $bc:ident $ab:ident;
        $v0:expr, $v1:expr, $v2:expr, $v3:expr, $v4:expr, $v5:expr,
        $v6:expr, $v7:expr, $v8:expr, $v9:expr, $v10:expr, $v11:expr
    ) => {
        concat!(
            i!(mov $ab $a), i!(mov r13 $f), $v0,
            "add ", stringify!($h), ", [rdi + ", $($at,)* "]\n", i!(xor r13 $g), $v1,
            i!(rorx r14 $e 14), i!(rorx r15 $e 18), $v2,
            i!(and r13 $e), i!(xor r14 r15), $v3,
            i!(rorx r15 $e 41), i!(xor r13 $g), $v4,
            i!(add $h r13), i!(xor r14 r15), $v5,
            i!(add $h r14), i!(add $d $h), $v6,
            i!(rorx r14 $a 28), i!(xor $ab $b), $v7,
            i!(rorx r15 $a 34), i!(and $bc $ab), $v8,
            i!(xor $bc $b), i!(xor r14 r15), $v9,
            i!(add $h $bc), i!(rorx r15 $a 39), $v10,
            i!(xor r14 r15), i!(add $h r14), $v11,
        )
    };
}

/// Sixteen rounds, two by two: their number, the variables, and the registers of words 0, 2, 8, 10 and 14 from there on.
macro_rules! sixteen {
    ($two:ident) => {
        concat!(
            $two!(0: rax rcx rdx rbx rsi r8 r9 r10; 0 1 4 5 7),
            $two!(1: r9 r10 rax rcx rdx rbx rsi r8; 1 2 5 6 0),
            $two!(2: rsi r8 r9 r10 rax rcx rdx rbx; 2 3 6 7 1),
            $two!(3: rdx rbx rsi r8 r9 r10 rax rcx; 3 4 7 0 2),
            $two!(4: rax rcx rdx rbx rsi r8 r9 r10; 4 5 0 1 3),
            $two!(5: r9 r10 rax rcx rdx rbx rsi r8; 5 6 1 2 4),
            $two!(6: rsi r8 r9 r10 rax rcx rdx rbx; 6 7 2 3 5),
            $two!(7: rdx rbx rsi r8 r9 r10 rax rcx; 7 0 3 4 6),
        )
    };
}

/// Two rounds of the first block, and nothing beside them.
macro_rules! two_of_first {
    ($i:literal: $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident; $($w:literal)*) => {
        concat!(
            round!(["32 * " $i] $a $b $c $d $e $f $g $h, r11 r12),
            round!(["8 + 32 * " $i] $h $a $b $c $d $e $f $g, r12 r11),
        )
    };
}

/// Two rounds of the second block.
macro_rules! two_of_second {
    ($i:literal: $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident; $($w:literal)*) => {
        concat!(
            round!(["16 + 32 * " $i] $a $b $c $d $e $f $g $h, r11 r12),
            round!(["24 + 32 * " $i] $h $a $b $c $d $e $f $g, r12 r11),
        )
    };
}

/// The constants of two rounds, in both halves of ymm8.
macro_rules! constants {
    ($i:literal) => {
        concat!("vbroadcasti128 ymm8, [rbp + 16 * ", $i, "]\n")
    };
}

/// Stores ymm8 as the sums of two rounds, so many bytes from rdi on.
macro_rules! store_sums {
    ($from:literal, $i:literal) => {
        concat!("vmovdqa [rdi + ", $from, " + 32 * ", $i, "], ymm8\n")
    };
}

/// Two rounds of the first block, and of both blocks the words of the rounds sixteen later (step 1), with rotations by
/// AVX-512.
macro_rules! two_with_avx512 {
    (
        $i:literal: $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident;
        $w0:literal $w2:literal $w8:literal $w10:literal $w14:literal
    ) => {
        concat!(
            round!(["32 * " $i] $a $b $c $d $e $f $g $h, r11 r12;
                v!(vpalignr 8 $w2 $w0, 8), v!(vpalignr 9 $w10 $w8, 8), "",
                v!(vprorq 10 8, 1), v!(vpaddq $w0 $w0 9), "",
                v!(vprorq 11 8, 8), v!(vpsrlq 8 8, 7), "",
                v!(vpternlogq 8 10 11, 0x96), v!(vprorq 9 $w14, 19), ""),
            round!(["8 + 32 * " $i] $h $a $b $c $d $e $f $g, r12 r11;
                v!(vprorq 10 $w14, 61), v!(vpsrlq 11 $w14, 6), "",
                v!(vpaddq $w0 $w0 8), v!(vpternlogq 9 10 11, 0x96), "",
                v!(vpaddq $w0 $w0 9), constants!($i), "",
                v!(vpaddq 8 8 $w0), store_sums!(256, $i), ""),
        )
    };
}

/// The same, with rotations by AVX2: by shuffling bytes, or by two shifts whose bits are added.
macro_rules! two_with_avx2 {
    (
        $i:literal: $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident;
        $w0:literal $w2:literal $w8:literal $w10:literal $w14:literal
    ) => {
        concat!(
            round!(["32 * " $i] $a $b $c $d $e $f $g $h, r11 r12;
                v!(vpalignr 8 $w2 $w0, 8), v!(vpalignr 9 $w10 $w8, 8), v!(vpsrlq 10 8, 1),
                v!(vpaddq $w0 $w0 9), v!(vpsllq 11 8, 63), v!(vpshufb 12 8 14),
                v!(vpsrlq 8 8, 7), v!(vpxor 10 10 11), v!(vpxor 8 8 12),
                v!(vpxor 8 8 10), v!(vpsrlq 9 $w14, 19), v!(vpsllq 10 $w14, 45)),
            round!(["8 + 32 * " $i] $h $a $b $c $d $e $f $g, r12 r11;
                v!(vpsrlq 11 $w14, 61), v!(vpsllq 12 $w14, 3), v!(vpaddq $w0 $w0 8),
                v!(vpxor 9 9 10), v!(vpxor 11 11 12), v!(vpsrlq 8 $w14, 6),
                v!(vpxor 9 9 11), v!(vpxor 8 8 9), v!(vpaddq $w0 $w0 8),
                constants!($i), v!(vpaddq 8 8 $w0), store_sums!(256, $i)),
        )
    };
}
