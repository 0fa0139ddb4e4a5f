//! Loops that are assembled while the program runs, and timed.

#![allow(unsafe_code)] // memory that is executed

use std::ptr;
use std::time::{Duration, Instant};

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

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

/// A loop in memory that may be executed, and behind it the zeros that it reads and writes.
pub(super) struct Loop {
    memory: *mut libc::c_void,
}

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;
/// Where the data of a loop begin, in bytes from its code: there is room for any body before.
const DATA: usize = 16 * PAGE;
/// Where the turns that are left lie, of a loop that has no register for them.
const TURNS_AT: usize = DATA;
/// Where [`PAGES`] pages lie for a loop that keeps its addresses.
pub(super) const PAGES_AT: usize = DATA + PAGE;
pub(super) const PAGES: usize = 64;
/// Bytes of all; what is touched at the end of the last page may go beyond it.
const BYTES: usize = PAGES_AT + (PAGES + 1) * PAGE;

impl Loop {
    /// A loop over `body`, which reads and writes by [`LOADS`] and [`STORES`] alone and does not branch.
    ///
    /// # Errors
    /// If an instruction cannot be encoded, or the system does not let memory be executed.
    pub(super) fn new(body: &[Instruction]) -> Result<Self, String> {
        Self::of(assemble(body))
    }

    /// A loop over `body`, which reads and writes the [`PAGES`] by their distance alone, does not branch, and changes no
    /// stack pointer.
    ///
    /// # Errors
    /// As [`Loop::new`].
    pub(super) fn with_its_registers(body: &[Instruction]) -> Result<Self, String> {
        Self::of(assemble_with_its_registers(body))
    }

    fn of(code: Result<Vec<u8>, IcedError>) -> Result<Self, String> {
        let code = code.map_err(|error| format!("a probe cannot be assembled: {error}"))?;
        if code.len() > DATA {
            return Err(format!("a probe of {} bytes is too long", code.len()));
        }
        // SAFETY: an anonymous mapping at an address that the system chooses, longer than the code; that part is written
        // before it is executed, and never both at a time.
        unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(ptr::null_mut(), BYTES, protection, flags, -1, 0);
            if memory == libc::MAP_FAILED {
                return Err(format!("no memory for a probe: {}", std::io::Error::last_os_error()));
            }
            let made = Self { memory };
            ptr::copy_nonoverlapping(code.as_ptr(), memory.cast::<u8>(), code.len());
            if libc::mprotect(memory, DATA, libc::PROT_READ | libc::PROT_EXEC) != 0 {
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
        // SAFETY: the code follows the convention that is named, and reads and writes the data behind it: by its
        // pointers SPAN bytes from the start of a page and from the middle of the next, or all of the pages.
        unsafe {
            let data = self.memory.cast::<u8>().add(PAGES_AT);
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
        unsafe { libc::munmap(self.memory, BYTES) };
    }
}

/// The machine code of a function of three arguments (turns, what it reads, what it writes).
fn assemble(body: &[Instruction]) -> Result<Vec<u8>, IcedError> {
    let mut code = Function::begin()?;
    for (to, from) in [(TURNS, Register::RDI), (LOADS, Register::RSI), (STORES, Register::RDX)] {
        code.put(&Instruction::with2(Code::Mov_r64_rm64, to, from)?)?;
    }
    if body.iter().any(|instruction| instruction.op_mask() != Register::None) {
        code.ones(MASK)?;
    }
    code.repeat(body, &Instruction::with2(Code::Sub_rm64_imm8, TURNS, 1)?)
}

/// The same of a body that may change any register: the turns are counted in memory.
fn assemble_with_its_registers(body: &[Instruction]) -> Result<Vec<u8>, IcedError> {
    let turns = at(TURNS_AT);
    let mut code = Function::begin()?;
    code.put(&Instruction::with2(Code::Mov_rm64_r64, turns, Register::RDI)?)?;
    if std::is_x86_feature_detected!("avx512bw") {
        for number in 1..=7 {
            code.ones(Register::K0 + number)?;
        }
    }
    code.repeat(body, &Instruction::with2(Code::Sub_rm64_imm8, turns, 1)?)
}

/// Memory so many bytes behind the start of the code.
pub(super) const fn at(distance: usize) -> MemoryOperand {
    MemoryOperand {
        base: Register::RIP,
        index: Register::None,
        scale: 1,
        // From the start, to which functions are assembled as if it were address 0.
        displacement: distance as i64,
        displ_size: 8,
        is_broadcast: false,
        segment_prefix: Register::None,
    }
}

/// A function that is being assembled.
struct Function {
    encoder: Encoder,
    bytes: usize,
}

impl Function {
    /// Saves what it must give back.
    fn begin() -> Result<Self, IcedError> {
        let mut function = Self { encoder: Encoder::new(64), bytes: 0 };
        for register in KEPT {
            function.put(&Instruction::with1(Code::Push_r64, register)?)?;
        }
        Ok(function)
    }

    fn put(&mut self, instruction: &Instruction) -> Result<(), IcedError> {
        self.bytes += self.encoder.encode(instruction, self.bytes as u64)?;
        Ok(())
    }

    /// A mask of ones: stores of nothing at all are slow.
    fn ones(&mut self, mask: Register) -> Result<(), IcedError> {
        self.put(&Instruction::with3(Code::VEX_Kxnorq_kr_kr_kr, mask, mask, mask)?)
    }

    /// Repeats `body` until `count`, which counts down, comes to zero; then ends.
    fn repeat(mut self, body: &[Instruction], count: &Instruction) -> Result<Vec<u8>, IcedError> {
        let start = self.bytes as u64;
        for instruction in body {
            self.put(instruction)?;
        }
        self.put(count)?;
        self.put(&Instruction::with_branch(Code::Jne_rel32_64, start)?)?;
        if std::is_x86_feature_detected!("avx") {
            self.put(&Instruction::with(Code::VEX_Vzeroupper))?;
        }
        for register in KEPT.into_iter().rev() {
            self.put(&Instruction::with1(Code::Pop_r64, register)?)?;
        }
        self.put(&Instruction::with(Code::Retnq))?;
        Ok(self.encoder.take_buffer())
    }
}

/// The mask of masked instructions.
pub(super) const MASK: Register = Register::K7;
