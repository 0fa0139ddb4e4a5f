//! Rounds of SHA-2 for one or two registers of messages, as text for the assembler.
//!
//! Registers: zmm0 to zmm7 have the working variables of the first set, which are renamed instead of moved, zmm16 to
//! zmm19 are for whatever comes up in a round, zmm20 to zmm23 for what comes up beside it; the second set has the
//! register eight behind each. rdi points to the states, rsi to the last sixteen words of each message, the second
//! set's 1024 bytes behind, rdx to room for as many words of the next block, rcx to the pointers to the texts, r10 to
//! the constants of the next rounds; r9 is where in each text the next block begins.

/// A register or a place in memory, of set 1 or 2.
macro_rules! operand {
    (1 [state $i:tt]) => { concat!("[rdi + 64 * ", $i, "]") };
    (2 [state $i:tt]) => { concat!("[rdi + 512 + 64 * ", $i, "]") };
    (1 [word $i:tt]) => { concat!("[rsi + 64 * ", $i, "]") };
    (2 [word $i:tt]) => { concat!("[rsi + 1024 + 64 * ", $i, "]") };
    (1 [next $i:tt]) => { concat!("[rdx + 64 * ", $i, "]") };
    (2 [next $i:tt]) => { concat!("[rdx + 1024 + 64 * ", $i, "]") };
    (1 [next 32 $row:tt $line:tt $q:tt]) => { concat!("[rdx + 64 * ", $row, " + 256 * ", $q, "]") };
    (2 [next 32 $row:tt $line:tt $q:tt]) => { concat!("[rdx + 1024 + 64 * ", $row, " + 256 * ", $q, "]") };
    (1 [next 64 $row:tt $line:tt $q:tt]) => {
        concat!("[rdx + 64 * ", $row, " + 512 * ", $line, " + 128 * ", $q, "]")
    };
    (2 [next 64 $row:tt $line:tt $q:tt]) => {
        concat!("[rdx + 1024 + 64 * ", $row, " + 512 * ", $line, " + 128 * ", $q, "]")
    };
    ($set:tt [constant 32 $i:tt]) => { concat!("dword ptr [r10 + 4 * ", $i, "]{{1to16}}") };
    ($set:tt [constant 64 $i:tt]) => { concat!("qword ptr [r10 + 8 * ", $i, "]{{1to8}}") };
    (1 [pointer 32 $row:tt $i:tt]) => { concat!("[rcx + 8 * ", $row, " + 32 * ", $i, "]") };
    (2 [pointer 32 $row:tt $i:tt]) => { concat!("[rcx + 128 + 8 * ", $row, " + 32 * ", $i, "]") };
    (1 [pointer 64 $row:tt $i:tt]) => { concat!("[rcx + 8 * ", $row, " + 16 * ", $i, "]") };
    (2 [pointer 64 $row:tt $i:tt]) => { concat!("[rcx + 64 + 8 * ", $row, " + 16 * ", $i, "]") };
    ($set:tt [rax]) => { "rax" };
    ($set:tt [text $line:tt]) => { concat!("[rax + r9 + 64 * ", $line, "]") };
    ($set:tt [after $bits:tt $line:tt]) => { concat!("[rax + r9 + 2 * ", $bits, " + 64 * ", $line, "]") };
    ($set:tt [reversed]) => { "zmmword ptr [rip + {reversed}]" };
    ($set:tt [by $($by:tt)*]) => { amount!($($by)*) };
    ($set:tt [table $table:literal]) => { $table };
    ($set:tt [quarters $quarters:literal]) => { $quarters };
    (1 $i:tt) => { concat!("zmm", $i) };
    (2 $i:tt) => { concat!("zmm", second!($i)) };
}

/// The register of the second set.
macro_rules! second {
    (0) => {
        8
    };
    (1) => {
        9
    };
    (2) => {
        10
    };
    (3) => {
        11
    };
    (4) => {
        12
    };
    (5) => {
        13
    };
    (6) => {
        14
    };
    (7) => {
        15
    };
    (16) => {
        24
    };
    (17) => {
        25
    };
    (18) => {
        26
    };
    (19) => {
        27
    };
    (20) => {
        28
    };
    (21) => {
        29
    };
    (22) => {
        30
    };
    (23) => {
        31
    };
}

/// By how many bits the functions of FIPS 180-4 sections 4.1.2 and 4.1.3 rotate a word; the sigmas shift it third.
macro_rules! amount {
    (32 sum_0 1) => {
        2
    };
    (32 sum_0 2) => {
        13
    };
    (32 sum_0 3) => {
        22
    };
    (32 sum_1 1) => {
        6
    };
    (32 sum_1 2) => {
        11
    };
    (32 sum_1 3) => {
        25
    };
    (32 sigma_0 1) => {
        7
    };
    (32 sigma_0 2) => {
        18
    };
    (32 sigma_0 3) => {
        3
    };
    (32 sigma_1 1) => {
        17
    };
    (32 sigma_1 2) => {
        19
    };
    (32 sigma_1 3) => {
        10
    };
    (64 sum_0 1) => {
        28
    };
    (64 sum_0 2) => {
        34
    };
    (64 sum_0 3) => {
        39
    };
    (64 sum_1 1) => {
        14
    };
    (64 sum_1 2) => {
        18
    };
    (64 sum_1 3) => {
        41
    };
    (64 sigma_0 1) => {
        1
    };
    (64 sigma_0 2) => {
        8
    };
    (64 sigma_0 3) => {
        7
    };
    (64 sigma_1 1) => {
        19
    };
    (64 sigma_1 2) => {
        61
    };
    (64 sigma_1 3) => {
        6
    };
}

/// What names of instructions end in.
macro_rules! suffix {
    (32) => {
        "d"
    };
    (64) => {
        "q"
    };
}

/// An instruction, of one set or of two one after the other.
macro_rules! v {
    (one $name:tt $bits:tt $($operand:tt)*) => { line!(1 $name $bits $($operand)*) };
    (two $name:tt $bits:tt $($operand:tt)*) => {
        concat!(line!(1 $name $bits $($operand)*), line!(2 $name $bits $($operand)*))
    };
}

macro_rules! line {
    ($set:tt move $bits:tt $to:tt $from:tt) => {
        concat!("vmovdqa64 ", operand!($set $to), ", ", operand!($set $from), "\n")
    };
    ($set:tt $name:ident as_is $first:tt $($operand:tt)*) => {
        concat!(stringify!($name), " ", operand!($set $first), $(", ", operand!($set $operand),)* "\n")
    };
    ($set:tt $name:ident $bits:tt $first:tt $($operand:tt)*) => {
        concat!(stringify!($name), suffix!($bits), " ", operand!($set $first), $(", ", operand!($set $operand),)* "\n")
    };
}

/// Ch(x, y, z), Maj(x, y, z) and the sum of three, by the bits of a truth table: `4 x + 2 y + z`.
macro_rules! choose {
    ($sets:ident $bits:tt $x:tt $y:tt $z:tt) => { v!($sets vpternlog $bits $x $y $z [table 0b1100_1010]) };
}
macro_rules! majority {
    ($sets:ident $bits:tt $x:tt $y:tt $z:tt) => { v!($sets vpternlog $bits $x $y $z [table 0b1110_1000]) };
}
macro_rules! xor3 {
    ($sets:ident $bits:tt $x:tt $y:tt $z:tt) => { v!($sets vpternlog $bits $x $y $z [table 0b1001_0110]) };
}

/// The three words whose sum a capital sigma is.
macro_rules! rotations {
    ($sets:ident $bits:tt $sum:ident of $x:tt to $a:tt $b:tt $c:tt) => {
        concat!(
            v!($sets vpror $bits $a $x [by $bits $sum 1]),
            v!($sets vpror $bits $b $x [by $bits $sum 2]),
            v!($sets vpror $bits $c $x [by $bits $sum 3]),
        )
    };
}

/// The three words whose sum a small sigma is.
macro_rules! shifts {
    ($sets:ident $bits:tt $sigma:ident of $x:tt to $a:tt $b:tt $c:tt) => {
        concat!(
            v!($sets vpror $bits $a $x [by $bits $sigma 1]),
            v!($sets vpror $bits $b $x [by $bits $sigma 2]),
            v!($sets vpsrl $bits $c $x [by $bits $sigma 3]),
        )
    };
}

/// Adds Ch, in zmm19, and sigma 1, in zmm16, to h, which becomes T1, and all of that to d.
///
/// One set waits for d: there it does not wait for T1 first, at the price of two additions. Two sets have no time to
/// lose with those.
macro_rules! t1 {
    (one $bits:tt $d:tt $h:tt) => {
        concat!(
            v!(one vpadd $bits $d $d $h),
            v!(one vpadd $bits $d $d 19),
            v!(one vpadd $bits $h $h 19),
            v!(one vpadd $bits $d $d 16),
            v!(one vpadd $bits $h $h 16),
        )
    };
    (two $bits:tt $d:tt $h:tt) => {
        concat!(
            v!(two vpadd $bits $h $h 19),
            v!(two vpadd $bits $h $h 16),
            v!(two vpadd $bits $d $d $h),
        )
    };
}

/// One round (FIPS 180-4 sections 6.2.2 and 6.4.2, step 3) that adds all of `addend`, with something else between its
/// two sums.
macro_rules! round {
    (
        $sets:ident $bits:tt [$($addend:tt)*] [$a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt] $between:expr
    ) => {
        concat!(
            $(v!($sets vpadd $bits $h $h $addend),)*
            rotations!($sets $bits sum_1 of $e to 16 17 18),
            v!($sets move $bits 19 $e),
            choose!($sets $bits 19 $f $g),
            xor3!($sets $bits 16 17 18),
            t1!($sets $bits $d $h),
            $between,
            rotations!($sets $bits sum_0 of $a to 16 17 18),
            v!($sets move $bits 19 $a),
            majority!($sets $bits 19 $b $c),
            xor3!($sets $bits 16 17 18),
            v!($sets vpadd $bits $h $h 19),
            v!($sets vpadd $bits $h $h 16),
        )
    };
}

/// The word of the round sixteen later, in the place of word `i` (step 1).
///
/// Shifts take their word from memory, each of them: a load costs nothing here, and saves a register.
macro_rules! expand {
    ($sets:ident $bits:tt $i:tt $before_15:tt $before_7:tt $before_2:tt) => {
        concat!(
            shifts!($sets $bits sigma_0 of [word $before_15] to 20 21 22),
            xor3!($sets $bits 20 21 22),
            v!($sets move $bits 23 [word $i]),
            v!($sets vpadd $bits 23 23 [word $before_7]),
            v!($sets vpadd $bits 23 23 20),
            shifts!($sets $bits sigma_1 of [word $before_2] to 20 21 22),
            xor3!($sets $bits 20 21 22),
            v!($sets vpadd $bits 23 23 20),
            v!($sets move $bits [word $i] 23),
        )
    };
}

/// Overwrites a word that no round needs any more, and what was in the room for the next block: they tell what the
/// message was.
macro_rules! wipe {
    ($sets:ident $bits:tt $i:tt) => {
        concat!(
            v!($sets vpxor $bits 20 20 20),
            v!($sets move $bits [word $i] 20),
            v!($sets move $bits [next $i] 20),
        )
    };
}

/// The words of line `line` of message `row + 4 i`, or of 64-bit words `row + 2 i`, of one set. The line a block behind
/// is asked for, into the second cache: messages some KiB apart share few sets of the first one.
macro_rules! line_of {
    ($set:tt $bits:tt $row:tt $line:tt $i:tt to $to:tt) => {
        concat!(
            line!($set mov as_is [rax] [pointer $bits $row $i]),
            line!($set vmovdqu64 as_is $to [text $line]),
            line!($set prefetcht1 as_is [after $bits $line]),
            line!($set vpshufb as_is $to $to [reversed]),
        )
    };
}

/// A line of four messages of one set, by quarters: each becomes a register with that quarter of all four.
macro_rules! quarters {
    ($set:tt $bits:tt $row:tt $line:tt) => {
        concat!(
            line_of!($set $bits $row $line 0 to 20),
            line_of!($set $bits $row $line 1 to 21),
            line_of!($set $bits $row $line 2 to 22),
            line_of!($set $bits $row $line 3 to 23),
            line!($set vshufi32x4 as_is 16 20 21 [quarters 0x44]),
            line!($set vshufi32x4 as_is 17 22 23 [quarters 0x44]),
            line!($set vshufi32x4 as_is 20 20 21 [quarters 0xee]),
            line!($set vshufi32x4 as_is 22 22 23 [quarters 0xee]),
            line!($set vshufi32x4 as_is 18 16 17 [quarters 0x88]),
            line!($set vshufi32x4 as_is 19 16 17 [quarters 0xdd]),
            line!($set vshufi32x4 as_is 21 20 22 [quarters 0x88]),
            line!($set vshufi32x4 as_is 23 20 22 [quarters 0xdd]),
            line!($set move $bits [next $bits $row $line 0] 18),
            line!($set move $bits [next $bits $row $line 1] 19),
            line!($set move $bits [next $bits $row $line 2] 21),
            line!($set move $bits [next $bits $row $line 3] 23),
        )
    };
}

/// Four lines of one set, the first, second, third or fourth four of them.
macro_rules! fetch {
    ($set:tt 32 $row:tt) => { quarters!($set 32 $row 0) };
    ($set:tt 64 0) => { quarters!($set 64 0 0) };
    ($set:tt 64 1) => { quarters!($set 64 1 0) };
    ($set:tt 64 2) => { quarters!($set 64 0 1) };
    ($set:tt 64 3) => { quarters!($set 64 1 1) };
}

/// Four words of the next block of one set take the place of words that no round needs any more.
macro_rules! put {
    ($set:tt 32 $i:tt $j:tt $k:tt $l:tt) => {
        concat!(
            line!($set move 32 20 [next $i]),
            line!($set move 32 22 [next $k]),
            line!($set vpunpckldq as_is 16 20 [next $j]),
            line!($set vpunpckhdq as_is 20 20 [next $j]),
            line!($set vpunpckldq as_is 17 22 [next $l]),
            line!($set vpunpckhdq as_is 22 22 [next $l]),
            line!($set vpunpcklqdq as_is 18 16 17),
            line!($set vpunpckhqdq as_is 16 16 17),
            line!($set vpunpcklqdq as_is 19 20 22),
            line!($set vpunpckhqdq as_is 20 20 22),
            line!($set move 32 [word $i] 18),
            line!($set move 32 [word $j] 16),
            line!($set move 32 [word $k] 19),
            line!($set move 32 [word $l] 20),
        )
    };
    ($set:tt 64 $i:tt $j:tt $k:tt $l:tt) => {
        concat!(
            line!($set move 64 20 [next $i]),
            line!($set move 64 22 [next $k]),
            line!($set vpunpcklqdq as_is 16 20 [next $j]),
            line!($set vpunpckhqdq as_is 20 20 [next $j]),
            line!($set vpunpcklqdq as_is 17 22 [next $l]),
            line!($set vpunpckhqdq as_is 22 22 [next $l]),
            line!($set move 64 [word $i] 16),
            line!($set move 64 [word $j] 20),
            line!($set move 64 [word $k] 17),
            line!($set move 64 [word $l] 22),
        )
    };
}

/// What is done for the next block after round `i` of the last sixteen.
macro_rules! prepare {
    ($sets:ident $bits:tt 0) => { fetch!(1 $bits 0) };
    ($sets:ident $bits:tt 1) => { fetch!(1 $bits 1) };
    ($sets:ident $bits:tt 2) => { fetch!(1 $bits 2) };
    ($sets:ident $bits:tt 3) => { fetch!(1 $bits 3) };
    (two $bits:tt 4) => { fetch!(2 $bits 0) };
    (two $bits:tt 5) => { fetch!(2 $bits 1) };
    (two $bits:tt 6) => { fetch!(2 $bits 2) };
    (two $bits:tt 7) => { fetch!(2 $bits 3) };
    ($sets:ident $bits:tt 8) => { put!(1 $bits 0 1 2 3) };
    (two $bits:tt 9) => { put!(2 $bits 0 1 2 3) };
    ($sets:ident $bits:tt 10) => { put!(1 $bits 4 5 6 7) };
    (two $bits:tt 11) => { put!(2 $bits 4 5 6 7) };
    ($sets:ident $bits:tt 12) => { put!(1 $bits 8 9 10 11) };
    (two $bits:tt 13) => { put!(2 $bits 8 9 10 11) };
    (one $bits:tt 15) => { put!(1 $bits 12 13 14 15) };
    (two $bits:tt 15) => { concat!(put!(1 $bits 12 13 14 15), put!(2 $bits 12 13 14 15)) };
    ($sets:ident $bits:tt $i:tt) => {
        ""
    };
}

/// A round, and the word sixteen later if there is such a round.
macro_rules! one {
    (expanding $sets:ident $bits:tt [$i:tt $($before:tt)*] $($variables:tt)*) => {
        round!(
            $sets $bits [[constant $bits $i] [word $i]] [$($variables)*] expand!($sets $bits $i $($before)*)
        )
    };
    (next $sets:ident $bits:tt [$i:tt $($before:tt)*] $($variables:tt)*) => {
        concat!(
            round!($sets $bits [[constant $bits $i] [word $i]] [$($variables)*] ""),
            prepare!($sets $bits $i),
        )
    };
    (last $sets:ident $bits:tt [$i:tt $($before:tt)*] $($variables:tt)*) => {
        concat!(
            round!($sets $bits [[constant $bits $i] [word $i]] [$($variables)*] ""),
            wipe!($sets $bits $i),
        )
    };
    (alike $sets:ident $bits:tt [$i:tt $($before:tt)*] $($variables:tt)*) => {
        round!($sets $bits [[constant $bits $i]] [$($variables)*] "")
    };
}

/// Sixteen rounds.
macro_rules! sixteen {
    ($sets:ident $bits:tt $kind:ident) => {
        concat!(
            one!($kind $sets $bits [0 1 9 14] 0 1 2 3 4 5 6 7),
            one!($kind $sets $bits [1 2 10 15] 7 0 1 2 3 4 5 6),
            one!($kind $sets $bits [2 3 11 0] 6 7 0 1 2 3 4 5),
            one!($kind $sets $bits [3 4 12 1] 5 6 7 0 1 2 3 4),
            one!($kind $sets $bits [4 5 13 2] 4 5 6 7 0 1 2 3),
            one!($kind $sets $bits [5 6 14 3] 3 4 5 6 7 0 1 2),
            one!($kind $sets $bits [6 7 15 4] 2 3 4 5 6 7 0 1),
            one!($kind $sets $bits [7 8 0 5] 1 2 3 4 5 6 7 0),
            one!($kind $sets $bits [8 9 1 6] 0 1 2 3 4 5 6 7),
            one!($kind $sets $bits [9 10 2 7] 7 0 1 2 3 4 5 6),
            one!($kind $sets $bits [10 11 3 8] 6 7 0 1 2 3 4 5),
            one!($kind $sets $bits [11 12 4 9] 5 6 7 0 1 2 3 4),
            one!($kind $sets $bits [12 13 5 10] 4 5 6 7 0 1 2 3),
            one!($kind $sets $bits [13 14 6 11] 3 4 5 6 7 0 1 2),
            one!($kind $sets $bits [14 15 7 12] 2 3 4 5 6 7 0 1),
            one!($kind $sets $bits [15 0 8 13] 1 2 3 4 5 6 7 0),
        )
    };
}

/// The working variables become the states.
macro_rules! load {
    ($sets:ident $($i:tt)*) => { concat!($(v!($sets move 64 $i [state $i]),)*) };
}

/// Adds the working variables to the states (step 4).
macro_rules! add_and_store {
    ($sets:ident $bits:tt $($i:tt)*) => {
        concat!($(v!($sets vpadd $bits $i $i [state $i]), v!($sets move $bits [state $i] $i),)*)
    };
}
