//! A round, as text for the assembler.
//!
//! Registers: rax, rbx, rcx, rdx and rbp have what theta adds to columns 0 to 4, until the last row takes its words into
//! them; r15 points to round constants; the others have words.

/// Word I of the state at byte FROM of the frame.
macro_rules! word {
    ($from:literal, $i:literal) => {
        concat!("qword ptr [rsp + ", $from, " + 8 * ", $i, "]")
    };
}

macro_rules! load {
    ($register:ident = $i:literal of $from:literal) => {
        concat!("mov ", stringify!($register), ", ", word!($from, $i), "\n")
    };
}

macro_rules! store {
    ($i:literal of $to:literal = $register:ident) => {
        concat!("mov ", word!($to, $i), ", ", stringify!($register), "\n")
    };
}

/// An instruction of two registers, or of a register and a number.
macro_rules! op {
    ($name:ident $to:ident $from:tt) => {
        concat!(stringify!($name), " ", stringify!($to), ", ", stringify!($from), "\n")
    };
}

/// Adds to a column's sum its words in other rows.
macro_rules! sum {
    ($sum:ident, [$($i:literal)*] of $from:literal, [$($held:ident)*]) => {
        concat!(
            $("xor ", stringify!($sum), ", ", word!($from, $i), "\n",)*
            $(op!(xor $sum $held),)*
        )
    };
}

/// `to`, a column's sum that nothing else needs any more, becomes what theta adds to the column ahead of it.
macro_rules! added {
    ($to:ident, $other:ident) => {
        concat!(rotate!($to 1), op!(xor $to $other))
    };
}

/// Rho: towards the high bit, or by nothing.
///
/// By one is two operations on CPUs of Intel, since it has to set the overflow flag. By 63 the other way is one, which
/// saves 3 % of the time.
macro_rules! rotate {
    ($register:ident 1) => {
        op!(ror $register 63)
    };
    ($register:ident $by:literal) => {
        op!(rol $register $by)
    };
    ($register:ident) => {
        ""
    };
}

/// Theta and rho of one word: of one in memory into a register or into what is added, whose last use that is, or of one
/// that is in a register already.
macro_rules! take {
    ($to:ident = $i:literal of $from:literal xor $added:ident $(rol $by:tt)?) => {
        concat!(load!($to = $i of $from), op!(xor $to $added), rotate!($to $($by)?))
    };
    ($added:ident xor $i:literal of $from:literal rol $by:tt) => {
        concat!("xor ", stringify!($added), ", ", word!($from, $i), "\n", rotate!($added $by))
    };
    ($word:ident xor $added:ident rol $by:tt) => {
        concat!(op!(xor $word $added), rotate!($word $by))
    };
}

/// A word after chi: in another register, in that of its first operand, or in that of `other`.
macro_rules! chi {
    ($to:ident = not $a:ident $op:ident $b:ident xor $other:ident) => {
        concat!(op!(mov $to $a), "not ", stringify!($to), "\n", op!($op $to $b), op!(xor $to $other))
    };
    ($to:ident = $a:ident $op:ident $b:ident xor $other:ident) => {
        concat!(op!(mov $to $a), op!($op $to $b), op!(xor $to $other))
    };
    ($a:ident $op:ident $b:ident xor $other:ident) => {
        concat!(op!($op $a $b), op!(xor $a $other))
    };
    ($other:ident xor ($a:ident $op:ident $b:ident)) => {
        concat!(op!($op $a $b), op!(xor $other $a))
    };
}

/// What theta adds to columns 0 to 4: to rax, rbx, rcx, rdx and rbp.
///
/// Words of the row that came last are sums to begin with. Each sum is needed as it is and rotated; in this order only
/// one has to be copied for that.
macro_rules! theta {
    ($from:literal) => {
        concat!(
            load!(r11 = 19 of $from),
            load!(rcx = 18 of $from),
            sum!(rbx, [12 7 2] of $from, [rdi]),
            sum!(rax, [16 11 6] of $from, [r10]),
            sum!(r11, [14 9] of $from, [r9 r12]),
            sum!(rcx, [13 8] of $from, [rsi r13]),
            sum!(rbp, [15 10 0] of $from, [r8]),
            op!(mov rdx r11),
            added!(rdx, rbx),
            added!(rbx, rbp),
            added!(rbp, rcx),
            added!(rcx, rax),
            added!(rax, r11),
        )
    };
}

/// Leaves word 17 in rdi.
macro_rules! row_3 {
    ($from:literal, $to:literal) => {
        concat!(
            take!(r9 xor rbp rol 27),
            take!(r8 xor rax rol 36),
            take!(r14 = 11 of $from xor rbx rol 10),
            take!(rdi xor rcx rol 15),
            take!(r13 xor rdx rol 56),
            chi!(r11 = r14 or rdi xor r8),
            store!(16 of $to = r11),
            "not rdi\n",
            chi!(r11 = r8 and r14 xor r9),
            store!(15 of $to = r11),
            chi!(r8 or r9 xor r13),
            store!(19 of $to = r8),
            chi!(r9 and r13 xor rdi),
            store!(18 of $to = r9),
            chi!(rdi or r13 xor r14),
        )
    };
}

/// Leaves no word.
macro_rules! row_2 {
    ($from:literal, $to:literal) => {
        concat!(
            take!(r10 xor rbx rol 1),
            take!(r11 = 7 of $from xor rcx rol 6),
            take!(r13 = 13 of $from xor rdx rol 25),
            take!(r8 = 19 of $from xor rbp rol 8),
            take!(r9 = 20 of $from xor rax rol 18),
            chi!(r14 = r13 and r8 xor r11),
            store!(11 of $to = r14),
            "not r8\n",
            chi!(r14 = r11 or r13 xor r10),
            store!(10 of $to = r14),
            chi!(r11 and r10 xor r9),
            store!(14 of $to = r11),
            chi!(r10 or r9 xor r8),
            store!(13 of $to = r10),
            chi!(r13 xor (r9 and r8)),
            store!(12 of $to = r13),
        )
    };
}

/// Leaves word 5 in r8.
macro_rules! row_1 {
    ($from:literal, $to:literal) => {
        concat!(
            take!(rsi xor rdx rol 28),
            take!(r10 = 9 of $from xor rbp rol 20),
            take!(r8 = 10 of $from xor rax rol 3),
            take!(r13 = 16 of $from xor rbx rol 45),
            take!(r11 = 22 of $from xor rcx rol 61),
            chi!(r9 = not r11 or r13 xor r8),
            store!(7 of $to = r9),
            chi!(r9 = r8 and r13 xor r10),
            store!(6 of $to = r9),
            chi!(r8 or r10 xor rsi),
            chi!(r10 and rsi xor r11),
            store!(9 of $to = r10),
            chi!(r11 or rsi xor r13),
            store!(8 of $to = r11),
        )
    };
}

/// Leaves words 1, 3 and 4 in r10, rsi and r9.
macro_rules! row_0 {
    ($from:literal, $to:literal, $constant:literal) => {
        concat!(
            take!(rsi = 0 of $from xor rax),
            take!(r9 = 6 of $from xor rbx rol 44),
            take!(r11 = 12 of $from xor rcx rol 43),
            take!(r14 = 18 of $from xor rdx rol 21),
            take!(r12 xor rbp rol 14),
            chi!(r10 = not r11 or r14 xor r9),
            chi!(r13 = r9 or r11 xor rsi),
            // Iota (section 3.2.5).
            "xor r13, [r15 + 8 * ", $constant, "]\n",
            store!(0 of $to = r13),
            chi!(r9 and rsi xor r12),
            chi!(rsi or r12 xor r14),
            chi!(r11 xor (r12 and r14)),
            store!(2 of $to = r11),
        )
    };
}

/// Leaves all its words, 20 to 24 in rbp, rax, rbx, r13 and r12: the sums of the next round begin with them.
macro_rules! row_4 {
    ($from:literal, $to:literal) => {
        concat!(
            take!(rcx xor 2 of $from rol 62),
            take!(rdx xor 8 of $from rol 55),
            take!(rbp xor 14 of $from rol 39),
            take!(rax xor 15 of $from rol 41),
            take!(rbx xor 21 of $from rol 2),
            chi!(r12 = rcx and rdx xor rbx),
            "not rdx\n",
            chi!(r13 = rbx or rcx xor rax),
            chi!(rbx and rax xor rbp),
            store!(22 of $to = rbx),
            chi!(rax or rbp xor rdx),
            store!(21 of $to = rax),
            chi!(rbp and rdx xor rcx),
            store!(20 of $to = rbp),
        )
    };
}

/// Rnd (section 3.3) with the constant so many behind r15.
macro_rules! round {
    ($from:literal, $to:literal, $constant:literal) => {
        concat!(
            theta!($from),
            row_3!($from, $to),
            row_2!($from, $to),
            row_1!($from, $to),
            row_0!($from, $to, $constant),
            row_4!($from, $to),
        )
    };
}
