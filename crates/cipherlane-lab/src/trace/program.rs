//! What was executed: instructions by their address, and the order in which they came.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::step::Step;

/// Longest instruction of the architecture.
const LONGEST: usize = 15;

/// A run of a program.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Each instruction once.
    pub(super) instructions: Vec<Instruction>,
    /// What was executed, by index, with the address of the memory that it touched.
    pub(super) order: Vec<(u32, Option<u64>)>,
}

impl Program {
    /// The program of `steps`, read where it lies in this process.
    ///
    /// # Errors
    /// If the process cannot read itself.
    pub(super) fn of(steps: &[Step]) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("/proc/self/mem: {error}");
        let memory = File::open("/proc/self/mem").map_err(failed)?;
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut program = Self::default();
        for step in steps {
            let index = match known.get(&step.address) {
                Some(&index) => index,
                None => {
                    let mut bytes = [0; LONGEST];
                    let count = memory.read_at(&mut bytes, step.address).map_err(failed)?;
                    let mut decoder =
                        Decoder::with_ip(64, &bytes[..count], step.address, DecoderOptions::NONE);
                    let index = program.instructions.len() as u32;
                    program.instructions.push(decoder.decode());
                    known.insert(step.address, index);
                    index
                }
            };
            let instruction = &program.instructions[index as usize];
            program.order.push((index, address(instruction, step)));
        }
        Ok(program)
    }

    /// How often each instruction was executed.
    pub(super) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.instructions.len()];
        for &(index, _) in &self.order {
            counts[index as usize] += 1;
        }
        counts
    }
}

/// The address of the memory that `instruction` touches, by the registers before it.
fn address(instruction: &Instruction, step: &Step) -> Option<u64> {
    if !touches_memory(instruction) || instruction.is_vsib() {
        return None;
    }
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    let of = |register: Register| match register {
        Register::None => 0,
        _ => step.registers[register.full_register().number()],
    };
    let index = of(instruction.memory_index()).wrapping_mul(instruction.memory_index_scale().into());
    Some(of(instruction.memory_base()).wrapping_add(index).wrapping_add(instruction.memory_displacement64()))
}

/// Whether an operand lies in memory; an address that is only computed, or fills up a `nop`, does not count.
pub(super) fn touches_memory(instruction: &Instruction) -> bool {
    !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop)
        && instruction.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Whether the next instruction is the one that follows.
pub(super) fn goes_on(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::Next
}
