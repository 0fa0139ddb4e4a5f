//! What compilers made of probes and kernels: counted in PTX, in NVIDIA's machine code, and in this program (study 001).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Shape};
use cipherlane_cuda::compile::{Compiler, Target};
use cipherlane_cuda::kernels::OPTIONS;
use cipherlane_kernels::manifest::{self, Program};
use cipherlane_kernels::probe::{ENTRY, Kernel, STEPS_OF_A_TURN, Steps};
use cipherlane_offload::backend::Unit;
use cipherlane_offload::{probe, unit};
use cipherlane_record::{Axis, Observation, Value};
use serde::Deserialize;

use super::instructions::operations;
use crate::ceiling::{self, Loop};
use crate::disassembly::{Counts, Listing, Nest, Nvdisasm, objdump_function};
use crate::experiment::setting::{Row, Run, Setting, beside, known, value};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Disassembly {
    /// The capability to compile for: 90 for sm_90.
    capability: u32,
    /// KiB of shared memory that a block has there, on which the choice of kernels depends.
    shared_kib: u32,
    /// Probes by name, or `all`.
    #[serde(deserialize_with = "operations")]
    probes: Vec<Steps>,
    /// Algorithms whose default kernels are looked into.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Whether the timed loops of the CPU are looked up in this program.
    cpu: bool,
}

/// The PTX instructions that a step becomes, and how many of them.
const fn ptx(steps: Steps) -> (&'static [&'static str], usize) {
    match steps {
        Steps::Add => (&["add", "sub"], 1),
        // The sum of three words is an instruction of the machine's own.
        Steps::Add3 => (&["add"], 2),
        Steps::Mul => (&["mul.lo"], 1),
        Steps::Mad => (&["mad.lo"], 1),
        Steps::Wide => (&["mul.wide"], 1),
        Steps::Xor => (&["xor"], 1),
        Steps::AndOr => (&["and", "or"], 1),
        Steps::Lop3 => (&["lop3"], 1),
        Steps::Shift => (&["shl", "shr"], 1),
        Steps::Funnel => (&["shf"], 1),
        Steps::Prmt => (&["prmt"], 1),
        Steps::F32Add | Steps::F64Add => (&["add.f", "sub.f"], 1),
        Steps::F32Mul | Steps::F64Mul => (&["mul.f"], 1),
        Steps::LocalFree | Steps::LocalOneBank => (&["ld.shared"], 1),
        Steps::ConstantSame | Steps::ConstantApart => (&["ld.const"], 1),
        Steps::MatrixBits | Steps::MatrixBitsLocal | Steps::MatrixBytes => (&["mma"], 1),
        _ => (&["fma"], 1),
    }
}

/// Instructions of NVIDIA GPUs that kernels consist of, by the column that they are counted in.
const COLUMNS: [(&str, &[&str]); 11] = [
    ("LDS", &["LDS"]),
    ("LOP3", &["LOP3"]),
    ("PRMT", &["PRMT"]),
    ("SHF", &["SHF"]),
    ("IADD", &["IADD", "VIADD"]),
    ("IMAD", &["IMAD"]),
    ("LDG", &["LDG"]),
    ("STG", &["STG"]),
    ("STS", &["STS"]),
    ("MMA", &["BMMA", "IMMA"]),
    ("BRA", &["BRA"]),
];

/// Look-ups, and all operations, that the study counts in a block of SC2000: 72 look-ups, 56 of round keys, 506 others.
const STUDY: &str = "001.12";
const SC2000: [(&str, f64); 2] = [("LDS", 72.0), ("all", 72.0 + 56.0 + 506.0)];

/// Compilers and disassemblers.
struct Tools {
    compiler: Compiler,
    nvdisasm: Result<Nvdisasm, String>,
}

impl Tools {
    fn compile(&self, unit: &Unit, target: Target) -> Result<Vec<u8>, String> {
        let options = OPTIONS.map(str::to_owned);
        let compiled = self.compiler.compile(&unit.name, &unit.text, target, &options);
        compiled.map(|compiled| compiled.image).map_err(|error| error.to_string())
    }

    /// The main loop of the entry point `name` in PTX.
    fn ptx(&self, unit: &Unit, capability: u32, name: &str) -> Result<Counts, String> {
        let ptx = self.compile(unit, Target::Ptx(capability))?;
        main_loop(&function(&Listing::ptx(&String::from_utf8_lossy(&ptx)), name)?)
    }

    /// The same in machine code.
    fn machine(&self, unit: &Unit, capability: u32, name: &str) -> Result<Counts, String> {
        main_loop(&self.disassembled(unit, capability, name)?)
    }

    /// The entry point `name` in machine code.
    fn disassembled(&self, unit: &Unit, capability: u32, name: &str) -> Result<Listing, String> {
        let tool = self.nvdisasm.as_ref().map_err(Clone::clone)?;
        function(&tool.functions(&self.compile(unit, Target::Cubin(capability))?)?, name)
    }

    fn name(&self) -> String {
        let (major, minor) = self.compiler.version();
        let disassembler = self
            .nvdisasm
            .as_ref()
            .map_or("no nvdisasm".to_owned(), |tool| format!("nvdisasm {}", tool.version));
        format!("NVRTC {major}.{minor}, {disassembler}")
    }
}

/// The entry point `name`.
fn function(functions: &[Listing], name: &str) -> Result<Listing, String> {
    let function = functions.iter().find(|function| function.name == name);
    function.cloned().ok_or_else(|| format!("there is no entry point {name}"))
}

fn main_loop(function: &Listing) -> Result<Counts, String> {
    function.main_loop().ok_or_else(|| format!("{} has no loop", function.name))
}

/// The stage that walks the text, by its entry point.
const TEXT: &str = "text";
/// Where ciphers look up.
const LOOK_UPS: [&str; 1] = ["LDS"];

/// Blocks that a thread is done with after a turn of the loop of the text, and how often the loop within it went round.
fn turn(program: &Program) -> (usize, usize) {
    match program.source {
        // A unit of eight blocks, and a matrix of eight groups of columns for each half (c/primitive/ghash_mma.h).
        "entry/gcm_long.c" => (8, 8),
        // Three blocks one by one, then two side by side.
        "entry/ctr_long.c" if program.variant == "banked4-split" => (5, 3),
        _ => (program.lanes, 1),
    }
}

impl Disassembly {
    fn subject(&self) -> String {
        format!("sm_{}", self.capability)
    }

    fn target(&self) -> manifest::Target {
        let compute = Some((self.capability / 10, self.capability % 10));
        manifest::Target { compute, shared_bytes: self.shared_kib << 10, threads: 1024, banked: true }
    }

    /// A probe: as many instructions as the source has steps.
    fn probe(&self, tools: &Tools, steps: Steps) -> Result<Row, String> {
        let unit = probe::unit(&Kernel::new(steps, false, 1024));
        let (names, times) = ptx(steps);
        let wanted = STEPS_OF_A_TURN as usize;
        let in_ptx = tools.ptx(&unit, self.capability, ENTRY)?.of(names);
        let machine = tools.machine(&unit, self.capability, ENTRY);
        let in_machine = machine.as_ref().map(|counts| counts.of(steps.instructions())).map_err(Clone::clone);
        // The loop counts its turns by a sum of its own.
        let counter = usize::from(matches!(steps, Steps::Add | Steps::Add3));
        let is_whole = |count: usize, wanted: usize| (wanted..=wanted + counter).contains(&count);
        let is_right = is_whole(in_ptx, times * wanted)
            && in_machine.as_ref().is_ok_and(|&count| is_whole(count, wanted));
        let count = |found: Result<usize, String>| found.map(|count| count as f64);
        let rest = machine.map(|counts| counts.all() - counts.of(steps.instructions()));
        Ok(Row {
            axes: axes(&[("probe", steps.name())]),
            values: vec![
                known("machine code", "1", count(in_machine.clone())),
                value("source", "1", wanted as f64),
                value("PTX", "1", (in_ptx / times) as f64),
                known("others in the loop", "1", count(rest)),
            ],
            verified: in_machine.is_ok().then_some(is_right),
            notes: vec![format!(
                "machine code: {} of the main loop, of which a sum may be its own counter",
                steps.instructions().join(", ")
            )],
            ..Row::default()
        })
    }

    /// The default kernel of an algorithm: what stands in its main loop, by block of the cipher.
    fn kernel(&self, tools: &Tools, algorithm: Algorithm) -> Result<Row, String> {
        let shape = Shape::uniform(algorithm, algorithm.forward(), 1, 1 << 30, true);
        let program = manifest::programs(&shape, &self.target()).into_iter().next();
        let program = program.ok_or("no kernel serves it")?;
        let stage = program.stages.iter().find(|stage| stage.entry == TEXT);
        let entry = program.entry(stage.ok_or("no stage walks the text")?);
        let listing = tools.disassembled(&unit(&program), self.capability, &entry)?;
        let nest: Nest = listing.working_loop(&LOOK_UPS).ok_or_else(|| format!("{entry} has no loop"))?;
        let (blocks, turns) = turn(&program);
        let of = |name: &str, count: &dyn Fn(&Counts) -> usize| {
            let value = value(name, "1", nest.turn(turns, count) as f64 / blocks as f64);
            let figure = SC2000.iter().find(|(known, _)| *known == name);
            match figure.filter(|_| algorithm.to_string().starts_with("sc2000")) {
                Some(&(_, figure)) => beside(value, STUDY, &[(figure, "SC2000 as the study counts it")]),
                None => value,
            }
        };
        let columns = COLUMNS.iter().map(|&(name, names)| of(name, &|counts| counts.of(names)));
        let values: Vec<Value> = [of("all", &Counts::all)]
            .into_iter()
            .chain(columns)
            .chain([value("blocks", "1", blocks as f64), value("turns within", "1", turns as f64)])
            .collect();
        Ok(Row {
            axes: axes(&[("algorithm", &algorithm.to_string()), ("kernel", &program.kernel)]),
            values,
            notes: how(&program),
            ..Row::default()
        })
    }

    fn gpu(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let compiler = match Compiler::find(None) {
            Ok(compiler) => compiler,
            Err(error) => {
                setting.skip(observer, setting.cpu, None, error.to_string());
                return Ok(());
            }
        };
        let tools = Tools { compiler, nvdisasm: Nvdisasm::find() };
        let probes = self.probes.iter().map(|steps| (steps.name().to_owned(), self.probe(&tools, *steps)));
        let kernels =
            self.algorithms.iter().map(|algorithm| (algorithm.to_string(), self.kernel(&tools, *algorithm)));
        for (what, row) in probes.chain(kernels) {
            if setting.stopped() {
                return Ok(());
            }
            match row {
                Ok(row) => observer.observed(&Observation {
                    subject: self.subject(),
                    subject_name: tools.name(),
                    ..setting.observation(setting.cpu, row)
                })?,
                Err(reason) => {
                    setting.skip(
                        observer,
                        setting.cpu,
                        None,
                        format!("{what}, {}: {reason}", self.subject()),
                    );
                }
            }
        }
        Ok(())
    }
}

/// How a kernel's counts are to be read.
fn how(program: &Program) -> Vec<String> {
    let unit = if program.algorithm.hash().is_some() {
        "of a hash function, one turn of the longest loop in which there is no other: a round where rounds are a loop"
    } else {
        "divided by the blocks that a thread is done with after a turn; a loop within it counts as often as it goes round \
         then (last columns)"
    };
    vec![
        "the loop of the text that has most look-ups (LDS) outside of loops within it, as it stands; paths for ends of \
         messages and for texts that are not aligned are in it and seldom run, so a block costs at most as much"
            .to_owned(),
        unit.to_owned(),
    ]
}

fn axes(names: &[(&str, &str)]) -> BTreeMap<String, Axis> {
    names.iter().map(|&(axis, name)| (axis.to_owned(), Axis::from(name))).collect()
}

/// A loop of the CPU's probes, in this program.
fn cpu_loop(one: Loop) -> Result<Row, String> {
    let counts = objdump_function(one.address)?.main_loop().ok_or("there is no loop at its address")?;
    // GNU's disassembler has a name of its own for the product of both lower halves.
    let found =
        counts.of(&[one.mnemonic, if one.mnemonic == "vpclmulqdq" { "vpclmullqlqdq" } else { one.mnemonic }]);
    let mut axes = axes(&[("instruction", one.mnemonic)]);
    axes.insert("bits".to_owned(), Axis::Number(one.bits.into()));
    Ok(Row {
        axes,
        values: vec![
            value("machine code", "1", found as f64),
            value("source", "1", one.instructions.into()),
            value("others in the loop", "1", (counts.all() - found) as f64),
        ],
        verified: Some(found == one.instructions as usize),
        ..Row::default()
    })
}

impl Run for Disassembly {
    fn plan(&self, _: &Setting<'_>) -> Vec<(String, Duration)> {
        /// Compiling a program twice, and reading what came of it.
        const EACH: Duration = Duration::from_secs(2);
        /// Reading all loops of the CPU.
        const CPU: Duration = Duration::from_secs(5);
        let on = self.subject();
        let probes = self.probes.iter().map(|steps| (format!("probe of {} for {on}", steps.name()), EACH));
        let kernels = self.algorithms.iter().map(|algorithm| (format!("{algorithm} for {on}"), EACH));
        let cpu = self.cpu.then(|| ("the CPU's timed loops in this program".to_owned(), CPU));
        probes.chain(kernels).chain(cpu).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        self.gpu(setting, observer)?;
        let loops = if self.cpu { ceiling::loops() } else { Vec::new() };
        for one in loops {
            if setting.stopped() {
                return Ok(());
            }
            match cpu_loop(one) {
                Ok(row) => observer.observed(&setting.observation(setting.cpu, row))?,
                Err(reason) => {
                    setting.skip(observer, setting.cpu, None, reason);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn the_cpus_loops_are_what_they_were_written() {
        let one = ceiling::loops().into_iter().find(|one| one.mnemonic == "vpclmulqdq").unwrap();
        match cpu_loop(one) {
            Ok(row) => assert_eq!(row.verified, Some(true), "{:?}", row.values),
            Err(reason) => assert!(reason.contains("objdump"), "{reason}"),
        }
    }
}
