//! The same instructions with other registers: as many of each, and nothing to wait for, or one after the other.

use std::collections::HashMap;

use iced_x86::{
    Code, Encoder, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedRegister,
};

use super::code::{LOADS, MASK, SPAN, STORES};
use super::program;

/// Registers that results go to in turn, and those that are only read.
struct Bank {
    results: &'static [Register],
    read: &'static [Register],
}

use Register::{
    K1, K2, K3, K4, K5, K6, R8, R9, R10, R11, R12, RAX, RBP, RBX, RCX, RDI, RDX, RSI, ZMM0, ZMM1, ZMM2, ZMM3,
    ZMM4, ZMM5, ZMM6, ZMM7, ZMM8, ZMM9, ZMM10, ZMM11, ZMM12, ZMM13, ZMM14, ZMM15, ZMM16, ZMM17, ZMM18, ZMM19,
    ZMM20, ZMM21, ZMM22, ZMM23, ZMM24, ZMM25, ZMM26, ZMM27,
};

const INTEGERS: Bank = Bank { results: &[RAX, RCX, RDX, RSI, RDI, R8, R9, R10], read: &[R11, R12, RBX, RBP] };
const MASKS: Bank = Bank { results: &[K1, K2, K3, K4], read: &[K5, K6, MASK] };
/// The sixteen vector registers that every encoding has.
const VECTORS: Bank = Bank {
    results: &[ZMM0, ZMM1, ZMM2, ZMM3, ZMM4, ZMM5, ZMM6, ZMM7, ZMM8, ZMM9, ZMM10, ZMM11],
    read: &[ZMM12, ZMM13, ZMM14, ZMM15],
};
/// Those of AVX-512.
const MORE_VECTORS: Bank = Bank {
    results: &[
        ZMM0, ZMM1, ZMM2, ZMM3, ZMM4, ZMM5, ZMM6, ZMM7, ZMM8, ZMM9, ZMM10, ZMM11, ZMM16, ZMM17, ZMM18, ZMM19,
        ZMM20, ZMM21, ZMM22, ZMM23, ZMM24, ZMM25, ZMM26, ZMM27,
    ],
    read: VECTORS.read,
};

/// Bytes that displacements of one byte reach.
const SHORT: usize = 128;

/// Takes instructions and gives them other registers.
pub(super) struct Renaming {
    factory: InstructionInfoFactory,
    turn: usize,
    at: usize,
}

impl Renaming {
    pub(super) fn new() -> Self {
        Self { factory: InstructionInfoFactory::new(), turn: 0, at: 0 }
    }

    /// `instruction` with a result of its own, which only itself waits for if it changes a register in place. One
    /// that branches, moves the stack or is made for systems stands as one that does nothing.
    pub(super) fn free(&mut self, instruction: &Instruction) -> Instruction {
        self.turn += 1;
        let turn = self.turn;
        self.renamed(instruction, |bank| bank.results[turn % bank.results.len()], |_, result| result)
    }

    /// `instruction` so that it waits for the one before of its kind, or `None` where it takes no register of the kind
    /// that it makes.
    pub(super) fn chained(&mut self, instruction: &Instruction) -> Option<Instruction> {
        if is_special(instruction) || instruction.op_count() == 0 {
            return None;
        }
        let result = instruction.op0_register();
        let kind = |register: Register| register.full_register().size();
        let accesses = self.accesses(instruction);
        let place = (0..instruction.op_count()).find(|&operand| {
            let is_read = matches!(accesses[operand as usize], OpAccess::Read | OpAccess::ReadWrite);
            let register = instruction.op_register(operand);
            is_read && register != Register::None && kind(register) == kind(result)
        })?;
        let first = |bank: &Bank| bank.results[0];
        let chain = |operand: u32, other: Register| if operand == place { Register::None } else { other };
        let made = self.renamed(instruction, first, chain);
        (made.code() == instruction.code()).then_some(made)
    }

    fn accesses(&mut self, instruction: &Instruction) -> [OpAccess; 5] {
        let info = self.factory.info(instruction);
        std::array::from_fn(|operand| info.op_access(operand as u32))
    }

    /// Gives results the register that `result` names, and what is read only the one that `read` makes of the usual
    /// one: none stands for that of the result.
    fn renamed(
        &mut self,
        instruction: &Instruction,
        result: impl Fn(&Bank) -> Register,
        read: impl Fn(u32, Register) -> Register,
    ) -> Instruction {
        if is_special(instruction) || self.writes_more(instruction) {
            return Instruction::with(Code::Nopd);
        }
        let accesses = self.accesses(instruction);
        let mut made = *instruction;
        for operand in 0..instruction.op_count() {
            let access = accesses[operand as usize];
            match instruction.op_kind(operand) {
                OpKind::Register => {
                    let old = instruction.op_register(operand);
                    let Some(bank) = bank(instruction, old) else { return Instruction::with(Code::Nopd) };
                    let new = if access == OpAccess::Read || access == OpAccess::CondRead {
                        // Two that were the same stay so: the processor knows some of these results beforehand.
                        let twin = (0..operand).rev().find(|&other| {
                            instruction.op_register(other) == old && accesses[other as usize] == access
                        });
                        let usual = bank.read[twin.unwrap_or(operand) as usize % bank.read.len()];
                        match read(operand, usual) {
                            Register::None => result(bank),
                            other => other,
                        }
                    } else {
                        result(bank)
                    };
                    made.set_op_register(operand, sized(new, old));
                }
                OpKind::Memory => self.moved(&mut made, access),
                _ => {}
            }
        }
        if instruction.op_mask() != Register::None {
            made.set_op_mask(MASK);
        }
        // Some encodings have one register only.
        let can_be = Encoder::new(64).encode(&made, 0).is_ok();
        if can_be { made } else { Instruction::with(Code::Nopd) }
    }

    /// Has the operand in memory lie in what loops may read or write.
    fn moved(&mut self, made: &mut Instruction, access: OpAccess) {
        let bytes = made.memory_size().size().next_power_of_two();
        // As long an instruction as it was: long ones take more room in the caches of instructions.
        let span = if made.memory_displ_size() > 1 { SPAN } else { SHORT };
        self.at = (self.at + bytes) % SPAN;
        let at = (self.at - self.at % bytes) % span;
        let is_read = matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
        made.set_memory_base(if is_read { LOADS } else { STORES });
        made.set_memory_index(Register::None);
        made.set_memory_index_scale(1);
        made.set_memory_displ_size(1);
        made.set_memory_displacement64(at.min(SPAN - 64) as u64);
        made.set_segment_prefix(Register::None);
    }

    /// Whether it writes registers besides its operands that a loop must keep.
    fn writes_more(&mut self, instruction: &Instruction) -> bool {
        let kept = |used: &UsedRegister| {
            let register = used.register().full_register();
            let written = !matches!(used.access(), OpAccess::Read | OpAccess::CondRead);
            let is_operand = (0..instruction.op_count())
                .any(|operand| instruction.op_register(operand).full_register() == register);
            let is_free = INTEGERS.results.contains(&register) || !register.is_gpr();
            written && !is_operand && !is_free
        };
        self.factory.info(instruction).used_registers().iter().any(kept)
    }
}

/// Whether a loop cannot have it: it branches, moves the stack, repeats, may fail, or is made for systems.
pub(super) fn is_special(instruction: &Instruction) -> bool {
    !program::goes_on(instruction)
        || instruction.is_stack_instruction()
        || instruction.is_vsib()
        || instruction.is_privileged()
        || instruction.has_rep_prefix()
        || instruction.has_repne_prefix()
        || instruction.is_string_instruction()
        || matches!(
            instruction.mnemonic(),
            Mnemonic::Div
                | Mnemonic::Idiv
                | Mnemonic::Cpuid
                | Mnemonic::Rdtsc
                | Mnemonic::Rdtscp
                | Mnemonic::Xgetbv
                | Mnemonic::Emms
                | Mnemonic::Vzeroall
                | Mnemonic::Vzeroupper
        )
}

/// The registers that may stand for `register` in `instruction`.
fn bank(instruction: &Instruction, register: Register) -> Option<&'static Bank> {
    if register.is_gpr() {
        return Some(&INTEGERS);
    }
    if register.is_k() {
        return Some(&MASKS);
    }
    let is_vector = register.is_xmm() || register.is_ymm() || register.is_zmm();
    let has_more = instruction.encoding() == iced_x86::EncodingKind::EVEX;
    is_vector.then_some(if has_more { &MORE_VECTORS } else { &VECTORS })
}

/// `register` in the size of `like`.
fn sized(register: Register, like: Register) -> Register {
    let number = register.number() as u32;
    let base = match like {
        _ if like.is_xmm() => Register::XMM0,
        _ if like.is_ymm() => Register::YMM0,
        _ if like.is_gpr32() => Register::EAX,
        _ if like.is_gpr16() => Register::AX,
        // Not the second byte of a register, which encodings with more registers lack.
        _ if like.is_gpr8() => return low_byte(number),
        _ => return register,
    };
    base + number
}

/// The lowest byte of an integer register; those of 4 to 7 are named after the second bytes of others.
fn low_byte(number: u32) -> Register {
    if number < 4 { Register::AL + number } else { Register::SPL + (number - 4) }
}

/// The instructions of `body` in their order, each with a result of its own.
pub(super) fn renamed(body: &[Instruction]) -> Vec<Instruction> {
    let mut renaming = Renaming::new();
    body.iter().map(|instruction| renaming.free(instruction)).collect()
}

/// `count` instructions in the proportions of `weights`, evenly mixed.
pub(super) fn mixed(weights: &[(Instruction, f64)], count: usize) -> Vec<Instruction> {
    let kinds = kinds(weights);
    let all: f64 = kinds.iter().map(|(_, weight)| weight).sum();
    let mut renaming = Renaming::new();
    let mut due: Vec<f64> = vec![0.0; kinds.len()];
    let mut body = Vec::with_capacity(count);
    while body.len() < count && all > 0.0 {
        for (due, (_, weight)) in due.iter_mut().zip(&kinds) {
            *due += weight / all;
        }
        let most = (0..due.len()).max_by(|&one, &other| due[one].total_cmp(&due[other]));
        let Some(most) = most else { break };
        due[most] -= 1.0;
        body.push(renaming.free(&kinds[most].0));
    }
    body
}

/// Instructions that other registers make no different, taken together.
fn kinds(weights: &[(Instruction, f64)]) -> Vec<(Instruction, f64)> {
    let mut kinds: Vec<(Instruction, f64)> = Vec::new();
    let mut places = HashMap::new();
    for (instruction, weight) in weights {
        let twins = instruction.op_count() > 1
            && instruction.op_register(instruction.op_count() - 1)
                == instruction.op_register(instruction.op_count() - 2);
        let key = (instruction.code(), instruction.memory_displ_size() > 1, twins);
        let place = *places.entry(key).or_insert_with(|| {
            kinds.push((*instruction, 0.0));
            kinds.len() - 1
        });
        kinds[place].1 += weight;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use iced_x86::MemoryOperand;

    use super::*;

    fn sum(result: Register, one: Register, other: Register) -> Instruction {
        Instruction::with3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, result, one, other).unwrap()
    }

    #[test]
    fn results_go_to_other_registers_than_what_is_read() {
        let mut renaming = Renaming::new();
        let made: Vec<_> =
            (0..12).map(|_| renaming.free(&sum(Register::YMM0, Register::YMM0, Register::YMM9))).collect();
        for (place, one) in made.iter().enumerate() {
            assert!(made.iter().all(|other| other.op1_register() != one.op0_register()), "{one:?}");
            assert!(made[place + 1..].iter().all(|other| other.op0_register() != one.op0_register()));
            assert_ne!(one.op1_register(), one.op2_register(), "a sum of two registers stays one");
        }
    }

    #[test]
    fn chains_read_what_they_made() {
        let made = Renaming::new().chained(&sum(Register::YMM3, Register::YMM4, Register::YMM5)).unwrap();
        assert_eq!(made.op0_register(), made.op1_register());
        assert_ne!(made.op0_register(), made.op2_register());
        let load = MemoryOperand::with_base(RCX);
        let load = Instruction::with2(Code::VEX_Vmovdqu_ymm_ymmm256, Register::YMM0, load).unwrap();
        assert_eq!(Renaming::new().chained(&load), None, "it waits for an address");
    }

    #[test]
    fn memory_lies_where_loops_may_touch_it() {
        let place = MemoryOperand::with_base_index_scale_displ_size(Register::RSP, RDI, 8, 0x1234, 8);
        let store = Instruction::with2(Code::Mov_rm64_r64, place, RAX).unwrap();
        let load = Instruction::with2(Code::Mov_r64_rm64, RAX, place).unwrap();
        let mut renaming = Renaming::new();
        for _ in 0..2 * SPAN / 8 {
            let (store, load) = (renaming.free(&store), renaming.free(&load));
            assert_eq!((store.memory_base(), store.memory_index()), (STORES, Register::None));
            assert_eq!((load.memory_base(), load.memory_index()), (LOADS, Register::None));
            assert!(store.memory_displacement64().max(load.memory_displacement64()) <= (SPAN - 64) as u64);
        }
    }

    #[test]
    fn what_a_loop_cannot_have_does_nothing() {
        let mut renaming = Renaming::new();
        let jump = Instruction::with_branch(Code::Jne_rel32_64, 0x1000).unwrap();
        let push = Instruction::with1(Code::Push_r64, RAX).unwrap();
        for special in [jump, push, Instruction::with(Code::Cpuid)] {
            assert_eq!(renaming.free(&special).code(), Code::Nopd, "{special:?}");
        }
    }

    #[test]
    fn mixes_keep_their_proportions() {
        let one = sum(Register::YMM0, Register::YMM1, Register::YMM2);
        let other = Instruction::with(Code::Nopd);
        let body = mixed(&[(one, 30.0), (other, 10.0)], 100);
        assert_eq!(body.iter().filter(|instruction| instruction.code() == one.code()).count(), 75);
        // Evenly: never four of one kind without the other.
        assert!(
            body.windows(5).all(|some| some.iter().any(|instruction| instruction.code() == other.code()))
        );
    }
}
