//! Stretches of a run once more, alone: in their own order, with what waits for what.
//!
//! Registers are as they were, and so is what lies in memory relative to a page; the stack is a page like others. What
//! is missing is the rest of the program: code that no cache of decoded instructions holds, and branches.

use std::collections::{HashMap, HashSet};

use iced_x86::{Code, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

use super::code::{Loop, PAGE, PAGES, PAGES_AT};
use super::program::Program;
use super::{free, latency, program};

/// Instructions of a stretch: some times as many as a core looks ahead, for which the turn from its end to its start is
/// another place; and few enough for the caches of decoded instructions.
const STRETCH: usize = 1000;
/// Stretches, from all over a run.
const STRETCHES: usize = 8;

/// An instruction of a run, with the address of the memory that it touches.
type Place = (Instruction, Option<u64>);

/// Clocks of one instruction in such stretches of `program`, of those instructions alone that are at `addresses`; the
/// mean, of each the fastest of `loops` timings.
///
/// # Errors
/// If a loop cannot be made.
pub(super) fn clocks(program: &Program, addresses: &HashSet<u64>, loops: usize) -> Result<f64, String> {
    let order = program.order.iter().map(|&(index, address)| (program.instructions[index as usize], address));
    let order: Vec<Place> = order.filter(|(instruction, _)| addresses.contains(&instruction.ip())).collect();
    let stretch = STRETCH.min(order.len());
    let last = order.len() - stretch;
    let mut sum = 0.0;
    for place in 0..STRETCHES {
        let body = again(&order[last * place / (STRETCHES - 1)..][..stretch]);
        sum += Loop::with_its_registers(&body)?.clocks(loops)? / stretch as f64;
    }
    Ok(sum / STRETCHES as f64)
}

/// The instructions of a stretch, with the pages that they touched in the order in which they did. One that a loop
/// cannot have stands as one that does nothing.
fn again(stretch: &[Place]) -> Vec<Instruction> {
    let mut factory = InstructionInfoFactory::new();
    let mut pages: HashMap<u64, usize> = HashMap::new();
    let again = |&(instruction, address): &Place| {
        if free::is_special(&instruction) || reaches_further(&mut factory, &instruction) {
            return Instruction::with(Code::Nopd);
        }
        if program::touches_memory(&instruction) {
            let Some(address) = address else { return Instruction::with(Code::Nopd) };
            let next = pages.len();
            let page = *pages.entry(address / PAGE as u64).or_insert(next) % PAGES;
            return placed(instruction, PAGES_AT + page * PAGE + address as usize % PAGE);
        }
        // An address that is only computed may be any.
        if instruction.is_ip_rel_memory_operand() { placed(instruction, PAGES_AT) } else { instruction }
    };
    stretch.iter().map(again).collect()
}

/// `instruction` with its operand in memory so many bytes behind the start of the code.
fn placed(mut instruction: Instruction, distance: usize) -> Instruction {
    instruction.set_memory_base(Register::RIP);
    instruction.set_memory_index(Register::None);
    instruction.set_memory_index_scale(1);
    instruction.set_memory_displ_size(8);
    instruction.set_memory_displacement64(distance as u64);
    instruction.set_segment_prefix(Register::None);
    instruction
}

/// Whether it changes the stack pointer or a mask, or touches memory besides what its operand names. Masks are of ones, as
/// in the middle of a text they are: what zeros make of them might be none, and stores of nothing are slow.
fn reaches_further(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    let by_bits =
        matches!(instruction.mnemonic(), Mnemonic::Bt | Mnemonic::Btc | Mnemonic::Btr | Mnemonic::Bts);
    let changes = factory.info(instruction).used_registers().iter().any(|used| {
        let register = used.register().full_register();
        (register == Register::RSP || register.is_k()) && latency::writes(used.access())
    });
    changes || instruction.op_kinds().any(is_by_register) || (by_bits && program::touches_memory(instruction))
}

/// Whether an operand lies where a register alone points.
const fn is_by_register(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MemorySegSI
            | OpKind::MemorySegESI
            | OpKind::MemorySegRSI
            | OpKind::MemorySegDI
            | OpKind::MemorySegEDI
            | OpKind::MemorySegRDI
            | OpKind::MemoryESDI
            | OpKind::MemoryESEDI
            | OpKind::MemoryESRDI
    )
}

#[cfg(test)]
mod tests {
    use iced_x86::MemoryOperand;

    use super::*;

    /// A run of `instructions`, each `turns` times in turn, that touch `address`.
    fn run(instructions: &[Instruction], turns: usize, address: u64) -> Program {
        let placed = instructions.iter().enumerate().map(|(place, instruction)| {
            let mut placed = *instruction;
            placed.set_ip(place as u64);
            placed
        });
        let touches = |instruction: &Instruction| program::touches_memory(instruction).then_some(address);
        let turn = instructions.iter().enumerate().map(|(place, one)| (place as u32, touches(one)));
        let order = std::iter::repeat_n(turn.collect::<Vec<_>>(), turns).flatten().collect();
        Program { instructions: placed.collect(), order }
    }

    fn clocks_of(instructions: &[Instruction], address: u64) -> f64 {
        let all = (0..instructions.len() as u64).collect();
        clocks(&run(instructions, 800, address), &all, 6).unwrap()
    }

    fn sum(to: Register, from: Register) -> Instruction {
        Instruction::with2(Code::Add_r64_rm64, to, from).unwrap()
    }

    #[test]
    fn what_waits_for_what_stays() {
        use Register::{R8, R9, R12, R13, R14, R15, RAX, RCX, RDX};
        let apart = clocks_of(&[sum(RAX, R8), sum(RCX, R8), sum(RDX, R8), sum(R9, R8)], 0);
        // Registers that other loops keep for themselves as well.
        let chain = clocks_of(&[sum(R13, R12), sum(R14, R13), sum(R15, R14), sum(R12, R15)], 0);
        assert!(chain > 0.9 && apart < 0.7 * chain, "{apart} {chain}");
    }

    #[test]
    fn what_goes_by_memory_waits_for_it() {
        let place = MemoryOperand::with_base_displ(Register::RSP, 24);
        let store = Instruction::with2(Code::Movups_xmmm128_xmm, place, Register::XMM0).unwrap();
        let load = Instruction::with2(Code::Movups_xmm_xmmm128, Register::XMM0, place).unwrap();
        let add = Instruction::with2(Code::Paddd_xmm_xmmm128, Register::XMM0, Register::XMM0).unwrap();
        let memory = clocks_of(&[load, add, store], 0x7fff_1fe8);
        let register = clocks_of(&[add, add, add], 0);
        assert!(memory > 1.5 * register, "{memory} {register}");
    }

    #[test]
    fn what_a_loop_cannot_have_does_nothing() {
        let push = Instruction::with1(Code::Push_r64, Register::RAX).unwrap();
        let grow = Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 64).unwrap();
        let jump = Instruction::with_branch(Code::Jne_rel32_64, 0x1000).unwrap();
        let bits = MemoryOperand::with_base(Register::RDI);
        let bits = Instruction::with2(Code::Bt_rm64_r64, bits, Register::RCX).unwrap();
        let mask = Instruction::with2(Code::VEX_Kmovq_kr_r64, Register::K1, Register::RAX).unwrap();
        let copy = Instruction::with_movsq(64, Register::None, iced_x86::RepPrefixKind::None).unwrap();
        let places = [push, grow, jump, bits, copy, mask].map(|instruction| (instruction, Some(64)));
        assert!(again(&places).iter().all(|made| made.code() == Code::Nopd));
    }

    #[test]
    fn pages_are_kept_apart_and_places_within_them_stay() {
        let place = MemoryOperand::with_base(Register::RDI);
        let load = Instruction::with2(Code::Mov_r64_rm64, Register::RAX, place).unwrap();
        // A table whose address is only computed lies too far away.
        let table = MemoryOperand::with_base_displ_size(Register::RIP, 1 << 40, 8);
        let table = Instruction::with2(Code::Lea_r64_m, Register::RAX, table).unwrap();
        let made = again(&[(load, Some(0x5010)), (load, Some(0x9010)), (load, Some(0x5020)), (table, None)]);
        let at: Vec<u64> = made.iter().map(|made| made.memory_displacement64() - PAGES_AT as u64).collect();
        assert_eq!(at, [0x10, 0x1010, 0x20, 0]);
        assert!(Loop::with_its_registers(&made).unwrap().clocks(1).unwrap() > 0.0);
    }
}
