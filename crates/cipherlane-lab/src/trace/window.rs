//! How long a program's instructions wait for each other, on a core that looks so many instructions ahead.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use iced_x86::{Code, IcedError, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register};

use super::code::Loop;
use super::latency::{self, Latencies};
use super::program::{self, Program};

/// A core, as far as it makes instructions wait.
pub(super) struct Core<'a> {
    pub(super) latencies: &'a Latencies,
    /// Instructions of the program that it starts in a clock, if none waits.
    pub(super) per_clock: f64,
    /// How far it looks ahead.
    pub(super) window: Window,
}

/// How far a core looks ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Results in vector registers that are under way at a time.
    pub(super) results: usize,
    /// Vector instructions that wait for their operands at a time.
    pub(super) waiting: usize,
}

/// What an instruction needs and gives.
struct Links {
    /// Registers that its address is made of, and those that it computes with.
    address: Vec<usize>,
    operands: Vec<usize>,
    results: Vec<usize>,
    reads_memory: bool,
    writes_memory: bool,
    takes_register: bool,
    bytes: u64,
    latency: f64,
}

/// Flags count as one register more.
const FLAGS: usize = 255;

impl Core<'_> {
    /// Clocks that `program` takes: instructions start in their order and at the core's rate, none before its operands
    /// are there, and none before the one that is a window older has ended.
    pub(super) fn clocks(&self, program: &Program) -> f64 {
        let mut factory = InstructionInfoFactory::new();
        let links: Vec<Links> =
            program.instructions.iter().map(|instruction| self.links(&mut factory, instruction)).collect();
        let mut registers = [0.0_f64; 256];
        let mut stored: HashMap<u64, f64> = HashMap::new();
        // When the holders of vector registers ended, each with all that came before.
        let mut ended: Vec<f64> = Vec::with_capacity(program.order.len());
        // When those that wait will begin, the earliest first; bits of positive numbers are in their order.
        let mut waiting: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        let (mut next, mut last) = (0.0_f64, 0.0_f64);
        for &(index, address) in &program.order {
            let links = &links[index as usize];
            let room = ended.len().checked_sub(self.window.results).filter(|_| links.takes_register);
            let mut begin = next.max(room.map_or(0.0, |oldest| ended[oldest]));
            while links.takes_register
                && let Some(&Reverse(first)) = waiting.peek()
                && (f64::from_bits(first) <= begin || waiting.len() >= self.window.waiting)
            {
                begin = begin.max(f64::from_bits(first));
                waiting.pop();
            }
            next = begin + 1.0 / self.per_clock;
            let latest = |of: &[usize]| of.iter().map(|&register| registers[register]).fold(begin, f64::max);
            let mut ready = latest(&links.operands);
            let words = address.into_iter().flat_map(|at| at / 8..(at + links.bytes).div_ceil(8));
            if links.reads_memory {
                ready = ready.max(latest(&links.address) + self.latencies.load);
                for word in words.clone() {
                    let there = stored.get(&word).map_or(0.0, |stored| stored + self.latencies.forward);
                    ready = ready.max(there);
                }
            }
            let end = ready + links.latency;
            links.results.iter().for_each(|&register| registers[register] = end);
            if links.writes_memory {
                stored.extend(words.map(|word| (word, end)));
            }
            last = last.max(end);
            if links.takes_register {
                ended.push(last);
                waiting.extend((ready > begin).then_some(Reverse(ready.to_bits())));
            }
        }
        last
    }

    fn links(&self, factory: &mut InstructionInfoFactory, instruction: &Instruction) -> Links {
        let info = factory.info(instruction);
        let touches_memory = program::touches_memory(instruction);
        let at = [instruction.memory_base(), instruction.memory_index()];
        let is_address = |register: Register| {
            let is_operand = (0..instruction.op_count()).any(|operand| {
                instruction.op_kind(operand) == OpKind::Register
                    && instruction.op_register(operand) == register
            });
            touches_memory && at.contains(&register) && !is_operand
        };
        let registers = |wanted: &dyn Fn(OpAccess, Register) -> bool| {
            let used = info.used_registers().iter();
            used.filter(|used| wanted(used.access(), used.register()))
                .map(|used| used.register().full_register() as usize)
                .collect::<Vec<_>>()
        };
        let mut operands = registers(&|access, register| latency::reads(access) && !is_address(register));
        let moves = operands.is_empty();
        let mut results = registers(&|access, _| latency::writes(access));
        if instruction.rflags_read() != 0 {
            operands.push(FLAGS);
        }
        if instruction.rflags_modified() != 0 {
            results.push(FLAGS);
        }
        // What is known without its operands waits for none.
        let reads_memory = touches(instruction, latency::reads);
        let is_move = moves && reads_memory;
        let takes_register = info
            .used_registers()
            .iter()
            .any(|used| used.register().is_vector_register() && latency::writes(used.access()));
        Links {
            takes_register,
            address: registers(&|access, register| latency::reads(access) && is_address(register)),
            operands,
            results,
            reads_memory,
            writes_memory: touches(instruction, latency::writes),
            bytes: instruction.memory_size().size() as u64,
            latency: if is_move { 0.0 } else { self.latencies.of(instruction) },
        }
    }
}

/// Whether `instruction` has memory that it uses as `wanted`.
pub(super) fn touches(instruction: &Instruction, wanted: fn(OpAccess) -> bool) -> bool {
    let mut factory = InstructionInfoFactory::new();
    program::touches_memory(instruction)
        && factory.info(instruction).used_memory().iter().any(|memory| wanted(memory.access()))
}

/// Most results that are looked for.
const MOST: usize = 600;
/// How exactly.
const STEP: usize = 10;
/// Products in a chain: as many clocks as others take in which the window fills, and no more than wait at a time.
const PRODUCTS: usize = 20;

/// How far this core looks ahead: two chains of products run side by side while few instructions stand between them, and
/// one after the other when the second is not seen in time. Those between are sums that start at once, and hold registers
/// until the first chain has ended; or sums of what it ends in, which wait. A core that looks further than these is taken for
/// one that looks as far.
///
/// # Errors
/// If a loop cannot be made.
pub(super) fn measure(loops: usize) -> Result<Window, String> {
    let results = measured(|count| chains(count, Register::XMM14), loops)?;
    // No more wait than are under way.
    let waiting = measured(|count| chains(count, Register::XMM15), loops)?.min(results);
    Ok(Window { results, waiting })
}

/// The number of instructions between two chains at which the second begins to come late, or [`MOST`].
fn measured(
    body: impl Fn(usize) -> Result<Vec<Instruction>, IcedError>,
    loops: usize,
) -> Result<usize, String> {
    let clocks = |count| {
        let body = body(count).map_err(|error| error.to_string())?;
        Loop::new(&body)?.clocks(loops)
    };
    let mut before = clocks(STEP)?;
    for count in (2 * STEP..=MOST).step_by(STEP) {
        let now = clocks(count)?;
        // A third of a chain: what stands between costs a quarter of a clock each.
        if now - before > PRODUCTS as f64 {
            return Ok(count - STEP);
        }
        before = now;
    }
    Ok(MOST)
}

/// Two chains of products and `count` sums of `operand` between them; what the first chain ends in goes to `XMM15`.
fn chains(count: usize, operand: Register) -> Result<Vec<Instruction>, IcedError> {
    let chain =
        |register| Instruction::with2(Code::Imul_r64_rm64, register, register).map(|one| vec![one; PRODUCTS]);
    let sum = |place: usize| {
        let result = Register::XMM0 + (place % 12) as u32;
        if std::is_x86_feature_detected!("avx") {
            Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, result, operand, operand)
        } else {
            Instruction::with2(Code::Paddd_xmm_xmmm128, result, operand)
        }
    };
    let mut body = chain(Register::RBP)?;
    body.push(Instruction::with2(Code::Movq_xmm_rm64, Register::XMM15, Register::RBP)?);
    body.extend((0..count).map(sum).collect::<Result<Vec<_>, _>>()?);
    body.extend(chain(Register::RBX)?);
    body.push(Instruction::with(Code::Lfence));
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` rounds: each waits for the one before, or each for itself.
    fn rounds(count: usize, waits: bool) -> Program {
        let round = |register: Register| {
            let key = Register::XMM15;
            Instruction::with3(Code::VEX_Vaesenc_xmm_xmm_xmmm128, register, register, key).unwrap()
        };
        let registers = if waits { 1 } else { 8 };
        Program {
            instructions: (0..registers).map(|place| round(Register::XMM0 + place)).collect(),
            order: (0..count as u32).map(|place| (place % registers, None)).collect(),
        }
    }

    fn clocks(program: &Program, results: usize) -> f64 {
        within(program, Window { results, waiting: 1000 })
    }

    fn within(program: &Program, window: Window) -> f64 {
        let latencies = Latencies::of_four(&program.instructions);
        Core { latencies: &latencies, per_clock: 2.0, window }.clocks(program)
    }

    #[test]
    fn chains_take_their_latencies_and_others_the_ports() {
        assert!((clocks(&rounds(100, true), 1000) - 400.0).abs() < 1e-9);
        // Two start in a clock; the last one's result comes four later.
        assert!((clocks(&rounds(100, false), 1000) - (99.0 / 2.0 + 4.0)).abs() < 1e-9);
    }

    #[test]
    fn a_small_window_makes_them_wait() {
        // One at a time: each begins when the one before has ended.
        assert!((clocks(&rounds(100, false), 1) - 400.0).abs() < 1e-9);
        let (two, four) = (clocks(&rounds(100, false), 2), clocks(&rounds(100, false), 4));
        assert!(four < two && two < 400.0, "{two} {four}");
    }

    /// Chains that take turns run side by side only while those that wait find room.
    #[test]
    fn those_that_wait_take_room() {
        let mut program = rounds(8, false);
        // Ten of each chain in turn.
        program.order = (0..80).map(|place| (place / 10, None)).collect();
        let of = |waiting| within(&program, Window { results: 1000, waiting });
        assert!(of(100) < of(10) && of(10) < of(1), "{} {} {}", of(100), of(10), of(1));
    }

    #[test]
    fn what_was_stored_is_waited_for() {
        let store = Instruction::with2(
            Code::VEX_Vmovdqu_xmmm128_xmm,
            iced_x86::MemoryOperand::with_base(Register::RSP),
            Register::XMM0,
        );
        let load = Instruction::with2(
            Code::VEX_Vmovdqu_xmm_xmmm128,
            Register::XMM0,
            iced_x86::MemoryOperand::with_base(Register::RSP),
        );
        let instructions = vec![store.unwrap(), load.unwrap()];
        let same = Program { instructions: instructions.clone(), order: vec![(0, Some(64)), (1, Some(64))] };
        let apart = Program { instructions, order: vec![(0, Some(64)), (1, Some(128))] };
        assert!(clocks(&same, 100) > clocks(&apart, 100) + 3.0);
    }
}
