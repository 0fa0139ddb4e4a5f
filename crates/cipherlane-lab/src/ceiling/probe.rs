//! Loops of one instruction, timed: how many a core starts in a clock, and how long one waits for the one before.
//!
//! Twelve independent chains hide the latency of every instruction here (the longest, 7 clocks, at up to two a
//! clock); one chain shows it. Four copies of the chains make the loop's own two instructions disappear.

#![allow(unsafe_code)] // inline assembly: a compiler would fold chains that lead nowhere

use std::time::{Duration, Instant};

/// Turns of one timed loop: 30 microseconds or so, long against the clock's resolution and short against the time
/// between interrupts.
const TURNS: u32 = 2000;
/// Copies of the chains in a turn.
const COPIES: u32 = 4;

/// Whether this CPU has an instruction.
type Has = fn() -> bool;

/// An instruction to time.
pub(super) struct Probe {
    /// What it does, in words.
    pub(super) name: &'static str,
    /// Its mnemonic.
    pub(super) mnemonic: &'static str,
    /// Bits of its registers.
    pub(super) bits: u32,
    /// Whether this CPU has it.
    pub(super) present: Has,
    many: fn(u32) -> Duration,
    chains: u32,
    one: fn(u32) -> Duration,
}

impl Probe {
    /// Seconds from one start to the next, with independent operands: of the fastest of `loops` loops.
    pub(super) fn seconds_between(&self, loops: usize) -> f64 {
        best(self.many, loops) / f64::from(TURNS * COPIES * self.chains)
    }

    /// Seconds from operand to result, of the same.
    pub(super) fn seconds_of_one(&self, loops: usize) -> f64 {
        best(self.one, loops) / f64::from(TURNS * COPIES)
    }

    /// Where in memory the loop with independent operands lies, and how many of the instruction it has.
    pub(super) fn code(&self) -> (usize, u32) {
        (self.many as *const () as usize, COPIES * self.chains)
    }
}

fn best(time: fn(u32) -> Duration, loops: usize) -> f64 {
    (0..loops).map(|_| time(TURNS)).min().unwrap_or_default().as_secs_f64()
}

/// A function that times a loop over the lines `$line` on vector registers.
macro_rules! vector_loop {
    ($($line:expr),+) => {{
        fn time(turns: u32) -> Duration {
            let start = Instant::now();
            // SAFETY: registers only, all of them declared; only run where the CPU has the instruction.
            unsafe {
                std::arch::asm!(
                    "2:",
                    ".rept 4",
                    $($line,)+
                    ".endr",
                    "sub {turns:e}, 1",
                    "jnz 2b",
                    "vzeroupper",
                    turns = inout(reg) turns => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nomem, nostack),
                );
            }
            start.elapsed()
        }
        time
    }};
}

/// `$op d, d, s` and what follows, for the register `$d` of width `$w`.
macro_rules! line {
    ($op:literal, $w:literal, $d:literal, three, $tail:literal) => {
        concat!($op, " ", $w, $d, ", ", $w, $d, ", ", $w, "12", $tail)
    };
    ($op:literal, $w:literal, $d:literal, two, $tail:literal) => {
        concat!($op, " ", $w, $d, ", ", $w, $d, $tail)
    };
    ($op:literal, $w:literal, $d:literal, legacy, $tail:literal) => {
        concat!($op, " ", $w, $d, ", ", $w, "12", $tail)
    };
}

/// The probe of a vector instruction.
macro_rules! vector {
    ($name:literal, $op:literal, $bits:literal, $w:literal, $form:ident, $tail:literal, $present:expr) => {
        Probe {
            name: $name,
            mnemonic: $op,
            bits: $bits,
            present: $present,
            many: vector_loop!(
                line!($op, $w, "0", $form, $tail),
                line!($op, $w, "1", $form, $tail),
                line!($op, $w, "2", $form, $tail),
                line!($op, $w, "3", $form, $tail),
                line!($op, $w, "4", $form, $tail),
                line!($op, $w, "5", $form, $tail),
                line!($op, $w, "6", $form, $tail),
                line!($op, $w, "7", $form, $tail),
                line!($op, $w, "8", $form, $tail),
                line!($op, $w, "9", $form, $tail),
                line!($op, $w, "10", $form, $tail),
                line!($op, $w, "11", $form, $tail)
            ),
            chains: 12,
            one: vector_loop!(line!($op, $w, "1", $form, $tail)),
        }
    };
}

/// A function that times a loop over the lines `$line` on integer registers.
macro_rules! integer_loop {
    ($($line:expr),+) => {{
        fn time(turns: u32) -> Duration {
            let start = Instant::now();
            // SAFETY: registers only, all of them declared; only run where the CPU has the instruction.
            unsafe {
                std::arch::asm!(
                    "2:",
                    ".rept 4",
                    $($line,)+
                    ".endr",
                    "sub r13d, 1",
                    "jnz 2b",
                    inout("r13") u64::from(turns) => _,
                    in("r12") 0x9e37_79b9_7f4a_7c15_u64,
                    inout("rax") 1_u64 => _, inout("rcx") 2_u64 => _, inout("rdx") 3_u64 => _,
                    inout("rsi") 4_u64 => _, inout("rdi") 5_u64 => _, inout("r8") 6_u64 => _,
                    inout("r9") 7_u64 => _, inout("r10") 8_u64 => _, inout("r11") 9_u64 => _,
                    options(nomem, nostack),
                );
            }
            start.elapsed()
        }
        time
    }};
}

/// The probe of an instruction on 64-bit integers, `$op d<between>d<tail>`.
macro_rules! integer {
    ($name:literal, $op:literal, $form:ident, $tail:literal, $present:expr) => {
        Probe {
            name: $name,
            mnemonic: $op,
            bits: 64,
            present: $present,
            many: integer_loop!(
                integer_line!($op, "rax", $form, $tail),
                integer_line!($op, "rcx", $form, $tail),
                integer_line!($op, "rdx", $form, $tail),
                integer_line!($op, "rsi", $form, $tail),
                integer_line!($op, "rdi", $form, $tail),
                integer_line!($op, "r8", $form, $tail),
                integer_line!($op, "r9", $form, $tail),
                integer_line!($op, "r10", $form, $tail),
                integer_line!($op, "r11", $form, $tail)
            ),
            chains: 9,
            one: integer_loop!(integer_line!($op, "rax", $form, $tail)),
        }
    };
}

macro_rules! integer_line {
    ($op:literal, $d:literal, one, $tail:literal) => {
        concat!($op, " ", $d, $tail)
    };
    ($op:literal, $d:literal, two, $tail:literal) => {
        concat!($op, " ", $d, ", ", $d, $tail)
    };
}

macro_rules! has {
    ($($feature:tt),+) => {
        || true $(&& std::is_x86_feature_detected!($feature))+
    };
}

/// One instruction at 128, 256 and 512 bits.
macro_rules! widths {
    ($name:literal, $op:literal, $form:ident, $tail:literal, $x:expr, $y:expr, $z:expr) => {
        [
            vector!($name, $op, 128, "xmm", $form, $tail, $x),
            vector!($name, $op, 256, "ymm", $form, $tail, $y),
            vector!($name, $op, 512, "zmm", $form, $tail, $z),
        ]
    };
}

/// Every probe, in the order in which tables list them.
pub(super) fn all() -> Vec<Probe> {
    let mut all = Vec::new();
    all.extend(crypto());
    all.extend(bytes());
    all.extend(logic());
    all.extend(hashing());
    all.extend(integers());
    all
}

fn crypto() -> impl Iterator<Item = Probe> {
    let aes: Has = has!("avx", "aes");
    let clmul: Has = has!("avx", "pclmulqdq");
    widths!("AES round", "vaesenc", three, "", aes, has!("avx2", "vaes"), has!("avx512f", "vaes"))
        .into_iter()
        .chain(widths!(
            "carry-less product",
            "vpclmulqdq",
            three,
            ", 0",
            clmul,
            has!("avx2", "vpclmulqdq"),
            has!("avx512f", "vpclmulqdq")
        ))
        .chain(widths!(
            "affine map",
            "vgf2p8affineqb",
            three,
            ", 0",
            has!("avx", "gfni"),
            has!("avx2", "gfni"),
            has!("avx512bw", "gfni")
        ))
        .chain(widths!(
            "inverse and affine map",
            "vgf2p8affineinvqb",
            three,
            ", 0",
            has!("avx", "gfni"),
            has!("avx2", "gfni"),
            has!("avx512bw", "gfni")
        ))
}

fn bytes() -> impl Iterator<Item = Probe> {
    let (x, y, z): (Has, Has, Has) = (has!("avx"), has!("avx2"), has!("avx512bw"));
    widths!("permute bytes in 128 bits", "vpshufb", three, "", x, y, z)
        .into_iter()
        .chain(widths!("interleave bytes", "vpunpcklbw", three, "", x, y, z))
        .chain([
            vector!("permute bytes", "vpermb", 512, "zmm", three, "", has!("avx512vbmi")),
            vector!("permute bytes of two", "vpermi2b", 512, "zmm", three, "", has!("avx512vbmi")),
            vector!("select unaligned bytes", "vpmultishiftqb", 512, "zmm", three, "", has!("avx512vbmi")),
        ])
}

fn logic() -> impl Iterator<Item = Probe> {
    let (x, y, z): (Has, Has, Has) = (has!("avx"), has!("avx2"), has!("avx512bw"));
    let (vx, vy): (Has, Has) = (has!("avx512vl"), has!("avx512vl"));
    widths!("xor", "vpxord", three, "", vx, vy, z)
        .into_iter()
        .chain([
            vector!("xor", "vpxor", 128, "xmm", three, "", x),
            vector!("xor", "vpxor", 256, "ymm", three, "", y),
        ])
        .chain(widths!("ternary logic", "vpternlogd", three, ", 0x96", vx, vy, z))
        .chain(widths!("add 32-bit words", "vpaddd", three, "", x, y, z))
        .chain(widths!("rotate 32-bit words", "vprold", two, ", 7", vx, vy, z))
        .chain(widths!("rotate 64-bit words", "vprolq", two, ", 7", vx, vy, z))
        .chain(widths!("shift 32-bit words", "vpsrld", two, ", 7", x, y, z))
}

fn hashing() -> impl Iterator<Item = Probe> {
    let sha: Has = has!("avx", "sha");
    [
        vector!("two rounds of SHA-256", "sha256rnds2", 128, "xmm", legacy, "", sha),
        vector!("schedule of SHA-256, first half", "sha256msg1", 128, "xmm", legacy, "", sha),
        vector!("schedule of SHA-256, second half", "sha256msg2", 128, "xmm", legacy, "", sha),
    ]
    .into_iter()
}

fn integers() -> impl Iterator<Item = Probe> {
    let always: Has = || true;
    [
        integer!("integer add", "add", one, ", r12", always),
        integer!("integer xor", "xor", one, ", r12", always),
        integer!("integer and with complement", "andn", two, ", r12", has!("bmi1")),
        integer!("integer rotate", "rorx", two, ", 13", has!("bmi2")),
        integer!("integer product", "imul", one, ", r12", always),
    ]
    .into_iter()
}
