//! The cost of a kernel, from two runs by single steps.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use iced_x86::{Code, Instruction, Register};

use super::code::Loop;
use super::free;
use super::latency::Latencies;
use super::program::{self, Program};
use super::replay;
use super::window::{self, Core, Window};
use super::{Cost, Work, step};
use crate::statistics;

/// Instructions of a probe: enough for the rare ones, and few enough for the caches of decoded instructions.
const BODY: usize = 1000;
/// Stretches of a run that are timed in its own order.
const STRETCHES: usize = 8;
/// Bodies of the evenly mixed probe: processors take some arrangements badly, and what they can do is the fastest.
const BODIES: [usize; 3] = [BODY, BODY * 4 / 5, BODY * 3 / 5];
/// Timings of each probe; the fastest counts.
const LOOPS: usize = 12;
/// Kinds of instructions that are left out in turn.
const KINDS: usize = 8;
/// Instructions that do nothing, for each other one, by which the start of instructions is told from the rest.
const IDLE: f64 = 0.1;

/// A kernel's instructions with nothing to wait for, to be timed again beside the kernel.
pub(crate) struct Probe {
    mix: Loop,
    /// Clocks of one turn, undisturbed.
    clocks: f64,
}

impl Probe {
    /// How many times longer than undisturbed it takes now, in the median.
    ///
    /// # Errors
    /// Where the core's clock is not known.
    pub(crate) fn disturbed(&mut self) -> Result<f64, String> {
        let clocks: Result<Vec<f64>, String> = (0..LOOPS).map(|_| self.mix.clocks(1)).collect();
        Ok(statistics::median(&clocks?) / self.clocks)
    }
}

/// What one kernel costs that runs less and more text, by at most `most` instructions each.
///
/// # Errors
/// If a run takes more instructions, if what was run cannot be read, or if no probe can be made of it.
pub(crate) fn cost(works: [Work<'_>; 2], most: usize) -> Result<(Cost, Probe), String> {
    let bytes = [works[0].bytes, works[1].bytes];
    let mut programs = Vec::new();
    for work in works {
        programs.push(Program::of(&step::steps(most, work.run)?)?);
    }
    let (less, more) = (&programs[0], &programs[1]);
    let (weights, start) = parted(less, more, bytes[0] / (bytes[1] - bytes[0]));
    let instructions: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let (mix, turn, even) = fastest(&weights)?;
    let text: HashSet<u64> = weights.iter().map(|(instruction, _)| instruction.ip()).collect();
    let replayed = replay::clocks(more, &text, LOOPS / 2)?;
    // With more to wait for they are faster only where the other registers are badly chosen.
    let ordered = in_order(more, &text)?.min(replayed);
    // Loads and stores of SSE that take turns one by one can be slower than the run's own order, which has them in groups.
    let free = even.min(ordered);
    let latencies = Latencies::measure(&more.instructions, LOOPS / 2)?;
    let window = look_ahead()?;
    let core = Core { latencies: &latencies, per_clock: 1.0 / ordered, window };
    let [short, long] = [core.clocks(less), core.clocks(more)];
    let clocks = (long - short).max(ordered * instructions);
    let count = |wanted: &dyn Fn(&Instruction) -> bool| {
        weights.iter().filter(|(instruction, _)| wanted(instruction)).map(|(_, weight)| weight).sum::<f64>()
    };
    let cost = Cost {
        bytes: bytes[1] - bytes[0],
        code_bytes: weights.iter().map(|(instruction, _)| instruction.len() as f64).sum(),
        instructions,
        loads: count(&|instruction| window::touches(instruction, super::latency::reads)),
        stores: count(&|instruction| window::touches(instruction, super::latency::writes)),
        on_stack: count(&is_on_stack),
        free_clocks: free * instructions,
        ordered_clocks: ordered * instructions,
        clocks,
        replayed_clocks: replayed * instructions,
        start_clocks: clocks_of_one(&start)? * start.iter().map(|(_, weight)| weight).sum::<f64>(),
        busiest: busiest(&weights, even)?,
    };
    Ok((cost, Probe { mix, clocks: turn }))
}

/// The evenly mixed probe that is fastest, its clocks for a turn, and those of an instruction.
fn fastest(weights: &[(Instruction, f64)]) -> Result<(Loop, f64, f64), String> {
    let mut best: Option<(Loop, f64, f64)> = None;
    for body in BODIES {
        let mut mix = Loop::new(&free::mixed(weights, body))?;
        let turn = mix.clocks(LOOPS)?;
        let one = turn / body as f64;
        if best.as_ref().is_none_or(|(.., best)| one < *best) {
            best = Some((mix, turn, one));
        }
    }
    best.ok_or_else(|| "no probe was made".to_owned())
}

/// Clocks of one instruction in the run's own order, still with nothing to wait for: ports that all have work at once in an
/// even mix are busy by turns there. The mean of stretches from all over what the run has of `text`, each the faster of two
/// arrangements.
fn in_order(program: &Program, text: &HashSet<u64>) -> Result<f64, String> {
    let order = program.order.iter().map(|&(index, _)| program.instructions[index as usize]);
    let order: Vec<Instruction> = order.filter(|instruction| text.contains(&instruction.ip())).collect();
    let stretch = BODY.min(order.len());
    let last = order.len() - stretch;
    let mut sum = 0.0;
    for place in 0..STRETCHES {
        let body = &order[last * place / (STRETCHES - 1)..][..stretch];
        let (front, back) = body.split_at(stretch / 2);
        let turned = [back, front].concat();
        let clocks = |body: &[Instruction]| Loop::new(&free::renamed(body))?.clocks(LOOPS / 2);
        sum += clocks(body)?.min(clocks(&turned)?) / stretch as f64;
    }
    Ok(sum / STRETCHES as f64)
}

/// Each instruction with how often more text has it more; and with how often a run has it besides, of which `less` has
/// `times` as much text as is more.
fn parted(less: &Program, more: &Program, times: f64) -> (Mix, Mix) {
    let before: HashMap<u64, u64> =
        less.instructions.iter().map(Instruction::ip).zip(less.counts()).collect();
    let (mut text, mut start) = (Mix::new(), Mix::new());
    for (instruction, count) in more.instructions.iter().zip(more.counts()) {
        let before = before.get(&instruction.ip()).map_or(0.0, |count| *count as f64);
        let grown = (count as f64 - before).max(0.0);
        text.extend((grown > 0.0).then_some((*instruction, grown)));
        let rest = before - times * grown;
        start.extend((rest > 0.0).then_some((*instruction, rest)));
    }
    (text, start)
}

/// Instructions with how often they come.
type Mix = Vec<(Instruction, f64)>;

/// Whether it touches the stack: what registers have no room for, as a rule.
fn is_on_stack(instruction: &Instruction) -> bool {
    program::touches_memory(instruction) && matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}

/// Clocks of one instruction of the mix, with nothing to wait for.
fn clocks_of_one(weights: &[(Instruction, f64)]) -> Result<f64, String> {
    Ok(Loop::new(&free::mixed(weights, BODY))?.clocks(LOOPS)? / BODY as f64)
}

/// What takes most of the time of a mix: the kind of instruction without which it is shortest, or the start of
/// instructions of any kind, where some that do nothing make it longer.
fn busiest(weights: &[(Instruction, f64)], free: f64) -> Result<(String, f64), String> {
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut with_idle = weights.to_vec();
    with_idle.push((Instruction::with(Code::Nopd), IDLE * all));
    let longer = clocks_of_one(&with_idle)? * (1.0 + IDLE) / free - 1.0;
    if longer > 0.7 * IDLE {
        return Ok((format!("the start of instructions, {:.1} in a clock", 1.0 / free), 1.0));
    }
    let mut kinds: BTreeMap<String, f64> = BTreeMap::new();
    for (instruction, weight) in weights {
        *kinds.entry(kind(instruction)).or_default() += weight;
    }
    let mut kinds: Vec<(String, f64)> = kinds.into_iter().collect();
    kinds.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    // Where nothing is saved without any of them, as under a neighbour's load, the most frequent one stands.
    let mut best = (kinds.first().map_or_else(String::new, |(name, _)| name.clone()), 0.0);
    for (name, _) in kinds.into_iter().take(KINDS) {
        let rest: Vec<_> =
            weights.iter().filter(|(instruction, _)| kind(instruction) != name).copied().collect();
        let count: f64 = rest.iter().map(|(_, weight)| weight).sum();
        let saved = if rest.is_empty() { 1.0 } else { 1.0 - clocks_of_one(&rest)? * count / (free * all) };
        if saved > best.1 {
            best = (name, saved);
        }
    }
    Ok(best)
}

/// The kind by which an instruction is told: moves by their way, others by their mnemonic.
fn kind(instruction: &Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    match () {
        () if !(name.starts_with("mov") || name.starts_with("vmov")) => name,
        () if window::touches(instruction, super::latency::writes) => "stores".to_owned(),
        () if program::touches_memory(instruction) => "loads".to_owned(),
        () => name,
    }
}

/// How far this core looks ahead, measured once.
fn look_ahead() -> Result<Window, String> {
    static FOUND: OnceLock<Result<Window, String>> = OnceLock::new();
    FOUND.get_or_init(|| window::measure(LOOPS / 2)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes each word where it lies.
    fn walk(words: &mut [u64]) {
        for word in words {
            *std::hint::black_box(word) += 1;
        }
    }

    #[test]
    fn more_text_costs_more_of_the_same() {
        let (mut short, mut long) = (vec![0_u64; 100], vec![0_u64; 300]);
        let (cost, mut probe) = {
            let (short, long) = (&mut short, &mut long);
            let works = [
                Work { bytes: 800.0, run: &mut || walk(short) },
                Work { bytes: 2400.0, run: &mut || walk(long) },
            ];
            cost(works, 50_000).unwrap()
        };
        assert!(short.iter().chain(&long).all(|word| *word == 1));
        assert!((cost.bytes - 1600.0).abs() < 1e-9);
        // A turn of the loop reads and writes its word at least.
        assert!(cost.loads >= 200.0 && cost.stores >= 200.0 && cost.instructions >= 400.0, "{cost:?}");
        assert!(cost.clocks >= cost.ordered_clocks && cost.ordered_clocks >= cost.free_clocks);
        assert!(cost.replayed_clocks >= cost.ordered_clocks);
        assert!(cost.free_clocks > 0.0 && !cost.busiest.0.is_empty());
        assert!(cost.of_run(3200.0) > cost.of_run(1600.0));
        assert!(probe.disturbed().unwrap() > 0.0);
    }
}
