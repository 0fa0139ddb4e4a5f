//! Loops that are assembled while the program runs, and timed.

#![allow(unsafe_code)] // memory that is executed

use std::ptr;
use std::time::{Duration, Instant};

use iced_x86::{Code, Encoder, IcedError, Instruction, Register};

use crate::measure::clock;

/// Bytes that a loop may read, and may write: less than a page, so that neither passes the other's addresses modulo
/// 4096, which processors would take for a load of what was stored.
pub(super) const SPAN: usize = 2048;

/// Where a loop finds what it may read (`LOADS`) and what it may write; it changes neither.
pub(super) const LOADS: Register = Register::R14;
pub(super) const STORES: Register = Register::R15;
/// The turns that are left.
const TURNS: Register = Register::R13;
/// Registers that a function gives back as it found them.
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// Seconds that one timing lasts, about: long against the clock's resolution, short against the time between
/// interrupts.
const SECONDS: f64 = 30e-6;

/// A loop in memory that may be executed.
pub(super) struct Loop {
    memory: *mut libc::c_void,
    bytes: usize,
    data: Vec<Page>,
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// A page of zeros.
#[derive(Clone, Copy)]
#[repr(align(4096))]
struct Page {
    _bytes: [u8; PAGE],
}

impl Loop {
    /// A loop over `body`, which reads and writes by [`LOADS`] and [`STORES`] alone and does not branch.
    ///
    /// # Errors
    /// If an instruction cannot be encoded, or the system does not let memory be executed.
    pub(super) fn new(body: &[Instruction]) -> Result<Self, String> {
        let code = assemble(body).map_err(|error| format!("a probe cannot be assembled: {error}"))?;
        // SAFETY: an anonymous mapping at an address that the system chooses; it is written before it is executed, and
        // never both at a time.
        unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(ptr::null_mut(), code.len(), protection, flags, -1, 0);
            if memory == libc::MAP_FAILED {
                return Err(format!("no memory for a probe: {}", std::io::Error::last_os_error()));
            }
            let made = Self { memory, bytes: code.len(), data: vec![Page { _bytes: [0; PAGE] }; 2] };
            ptr::copy_nonoverlapping(code.as_ptr(), memory.cast::<u8>(), code.len());
            if libc::mprotect(memory, code.len(), libc::PROT_READ | libc::PROT_EXEC) != 0 {
                let error = std::io::Error::last_os_error();
                return Err(format!("the system does not let a probe be executed: {error}"));
            }
            Ok(made)
        }
    }

    /// Clocks of the core for one turn: of the fastest of `loops` timings.
    ///
    /// # Errors
    /// Where the core's clock is not known.
    pub(super) fn clocks(&mut self, loops: usize) -> Result<f64, String> {
        const FIRST: u64 = 20;
        let first = self.time(FIRST).min(self.time(FIRST)).as_secs_f64().max(1e-9);
        let turns = (SECONDS / first * FIRST as f64).clamp(FIRST as f64, 1e6) as u64;
        // Each timing counts by the clock around it: boost comes and goes. What disturbs a chain makes the clock too slow,
        // so that the faster of the two looks counts.
        let mut best = f64::INFINITY;
        let mut before = clock::fastest_of(CHAINS)?;
        for _ in 0..loops.max(1) {
            let seconds = self.time(turns).as_secs_f64();
            let after = clock::fastest_of(CHAINS)?;
            best = best.min(seconds * before.max(after));
            before = after;
        }
        Ok(best / turns as f64)
    }

    fn time(&mut self, turns: u64) -> Duration {
        let data = self.data.as_mut_ptr().cast::<u8>();
        // SAFETY: the code follows the convention that is named, and reads and writes the bytes behind its pointers:
        // SPAN from the start of the first page, and SPAN from the middle of the second.
        unsafe {
            let run: extern "sysv64" fn(u64, *const u8, *mut u8) =
                std::mem::transmute::<*mut libc::c_void, _>(self.memory);
            let start = Instant::now();
            run(turns, data, data.add(PAGE + SPAN));
            start.elapsed()
        }
    }
}

/// Chains of additions by which the clock is taken beside each timing.
const CHAINS: usize = 3;

impl Drop for Loop {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, which nothing else knows.
        unsafe { libc::munmap(self.memory, self.bytes) };
    }
}

/// The machine code of a function of three arguments (turns, what it reads, what it writes).
fn assemble(body: &[Instruction]) -> Result<Vec<u8>, IcedError> {
    let mut encoder = Encoder::new(64);
    let mut at = 0;
    let mut put = |instruction: &Instruction| {
        at += encoder.encode(instruction, at as u64)?;
        Ok::<_, IcedError>(at)
    };
    for register in KEPT {
        put(&Instruction::with1(Code::Push_r64, register)?)?;
    }
    let mut start = 0;
    for (to, from) in [(TURNS, Register::RDI), (LOADS, Register::RSI), (STORES, Register::RDX)] {
        start = put(&Instruction::with2(Code::Mov_r64_rm64, to, from)?)?;
    }
    if body.iter().any(|instruction| instruction.op_mask() != Register::None) {
        // Masks of ones: stores of nothing at all are slow.
        start = put(&Instruction::with3(Code::VEX_Kxnorq_kr_kr_kr, MASK, MASK, MASK)?)?;
    }
    for instruction in body {
        put(instruction)?;
    }
    put(&Instruction::with2(Code::Sub_rm64_imm8, TURNS, 1)?)?;
    put(&Instruction::with_branch(Code::Jne_rel32_64, start as u64)?)?;
    if std::is_x86_feature_detected!("avx") {
        put(&Instruction::with(Code::VEX_Vzeroupper))?;
    }
    for register in KEPT.into_iter().rev() {
        put(&Instruction::with1(Code::Pop_r64, register)?)?;
    }
    put(&Instruction::with(Code::Retnq))?;
    Ok(encoder.take_buffer())
}

/// The mask of masked instructions.
pub(super) const MASK: Register = Register::K7;
