//! How long one waits for the result of an instruction.

use std::collections::HashMap;

use iced_x86::{Code, Instruction, MemoryOperand, OpAccess, Register};

use super::code::{LOADS, Loop, STORES};
use super::free::Renaming;
use super::program;

/// Copies of an instruction in a chain.
const COPIES: usize = 64;

/// Latencies of a program's instructions, in clocks of the core.
pub(super) struct Latencies {
    by_code: HashMap<(Code, bool), f64>,
    /// From an address to what lies there.
    pub(super) load: f64,
    /// From a store to the load of the same.
    pub(super) forward: f64,
}

impl Latencies {
    /// Measures those of `instructions`, each timing the fastest of `loops`.
    ///
    /// # Errors
    /// If a loop cannot be made.
    pub(super) fn measure(instructions: &[Instruction], loops: usize) -> Result<Self, String> {
        let (load, forward) = (load(loops)?, forward(loops)?);
        let mut found = Self { by_code: HashMap::new(), load, forward };
        let mut renaming = Renaming::new();
        for instruction in instructions {
            let key = key(instruction);
            if found.by_code.contains_key(&key) {
                continue;
            }
            let clocks = match renaming.chained(instruction) {
                Some(chained) => Loop::new(&vec![chained; COPIES])?.clocks(loops)? / COPIES as f64,
                None => UNKNOWN,
            };
            found.by_code.insert(key, clocks);
        }
        Ok(found)
    }

    /// Four clocks for all of them, three for a load and eight from a store to a load.
    #[cfg(test)]
    pub(super) fn of_four(instructions: &[Instruction]) -> Self {
        let by_code = instructions.iter().map(|instruction| (key(instruction), 4.0)).collect();
        Self { by_code, load: 3.0, forward: 8.0 }
    }

    /// From a register to the result.
    pub(super) fn of(&self, instruction: &Instruction) -> f64 {
        self.by_code.get(&key(instruction)).copied().unwrap_or(UNKNOWN)
    }
}

/// What stands for moves from one kind of register to another, whose chains would have to come back.
const UNKNOWN: f64 = 1.0;

fn key(instruction: &Instruction) -> (Code, bool) {
    (instruction.code(), program::touches_memory(instruction))
}

/// A word that holds zero is read again and again, at an address to which the word before is added.
fn load(loops: usize) -> Result<f64, String> {
    let failed = |error: iced_x86::IcedError| error.to_string();
    let place = MemoryOperand::with_base_index(LOADS, Register::RAX);
    let chase = Instruction::with2(Code::Mov_r64_rm64, Register::RAX, place).map_err(failed)?;
    // What the register holds at first would lead anywhere. This zero waits for the register, as no other way to make
    // one does, so that the turns make one chain.
    let zero = Instruction::with2(Code::And_rm64_imm8, Register::RAX, 0).map_err(failed)?;
    let mut body = vec![chase; COPIES];
    body.insert(0, zero);
    Ok((Loop::new(&body)?.clocks(loops)? - 1.0) / COPIES as f64)
}

/// A vector goes to memory and back.
fn forward(loops: usize) -> Result<f64, String> {
    let place = MemoryOperand::with_base(STORES);
    let failed = |error: iced_x86::IcedError| error.to_string();
    let pair = [
        Instruction::with2(Code::Movups_xmmm128_xmm, place, Register::XMM0).map_err(failed)?,
        Instruction::with2(Code::Movups_xmm_xmmm128, Register::XMM0, place).map_err(failed)?,
    ];
    Ok(Loop::new(&pair.repeat(COPIES / 2))?.clocks(loops)? / (COPIES / 2) as f64)
}

/// Whether a result is read, or read and changed.
pub(super) const fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Whether it is written.
pub(super) const fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}
