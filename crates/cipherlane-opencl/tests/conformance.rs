//! Kernels through OpenCL sit the exam, on whatever devices the machine has: PoCL makes one of the CPU.
//!
//! PoCL takes a minute or more for a kernel, and hours for all. So `known.txt` names those that passed through it, by their
//! texts and its version, and what it does not name sits here: a kernel that was changed always does. For what does not
//! get its turn in `TIME` the test fails: `KNOWN=write`, which has no such limit, takes down what passes, and keeps what
//! the list has and still holds. Through another version those sit that are defaults where no GPU is of NVIDIA, one for
//! each cipher in its mode; the others are named. `OPENCL_KERNELS=aes-128-gcm` picks kernels by a part of their name, such
//! as `sm4-ctr sm4-ctr/banked1/x1`, `EVERY=1` takes what is known as well. Where there is no device, the test says
//! `NOT CHECKED`; with `CIPHERLANE_REQUIRE_OPENCL` set it fails.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
#[allow(dead_code)] // the examples use all of it
mod exam;
mod found;
#[path = "../../cipherlane-kernels/tests/known/mod.rs"]
mod known;
#[path = "../../cipherlane-offload/tests/exam/streams.rs"]
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cipherlane_core::{Algorithm, Device, Geometry, Operation, Shape, Wish};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::programs;
use cipherlane_kernels::probe::{Kernel, LANES, Steps};
use cipherlane_offload::{Member, Provider};
use cipherlane_opencl::OpenClDevice;
use found::devices;
use known::{Known, Reader, Task};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/known.txt");
const ABOUT: &str = "\
# Made by `KNOWN=write cargo test -p cipherlane-opencl --test conformance every_kernel`: kernels that passed the exam in an
# algorithm on a device of this platform, and a hash of all its programs.
";

/// Examined even where they are known, so that every run sees the driver at work.
const ALWAYS: [&str; 2] = ["sha3-256 ", "aes-128-ctr aes-ctr/bitsliced"];

/// Most that this test adds to CI's time, but for kernels that are under way then.
const TIME: Duration = Duration::from_secs(10 * 60);

/// Parts of names of what sits last: kernels with tables, which are the default on no device but NVIDIA's, and ciphers with
/// longer keys, which are further rounds of the same lines.
const LAST: [&str; 7] =
    ["/banked", "aes-192", "aes-256", "camellia-192", "camellia-256", "sc2000-192", "sc2000-256"];

/// Whether a kernel sits last.
fn is_last<T>(task: &Task<T>) -> bool {
    LAST.iter().any(|part| task.name.contains(part))
}

/// A kernel, and the algorithm that it is to be examined in.
struct Candidate {
    algorithm: Algorithm,
    kernel: String,
}

/// All kernels of `algorithm`, for one long message, records, and short messages.
fn kernels(device: &OpenClDevice, algorithm: Algorithm) -> Vec<Task<Candidate>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for &operation in algorithm.operations() {
        for shared_key in [true, false] {
            for (messages, bytes) in [(1, 1 << 30), (1 << 16, 16 << 10), (1 << 20, 128)] {
                let shape = Shape::uniform(algorithm, operation, messages, bytes, shared_key);
                let offered = device.kernels(&shape);
                for program in programs(&shape, device.provider().target()) {
                    if offered.iter().any(|kernel| kernel.name == program.kernel) {
                        // How it is launched is no part of its text.
                        let text = format!("{program:?}\n{}", Reader::POCL.read(&flatten::text(&program)));
                        all.entry(program.kernel).or_default().insert(text);
                    }
                }
            }
        }
    }
    let task = |(kernel, texts): (String, BTreeSet<String>)| Task {
        name: format!("{algorithm} {kernel}"),
        key: flatten::key(texts.into_iter().collect::<String>()),
        what: Candidate { algorithm, kernel },
    };
    all.into_iter().map(task).collect()
}

/// What is wrong with the kernel.
fn examine(device: &OpenClDevice, candidate: &Candidate) -> Vec<String> {
    let Candidate { algorithm, kernel } = candidate;
    let outcome = exam::examine(device, *algorithm, kernel);
    let seconds = outcome.time.as_secs_f64();
    match outcome.result {
        None => vec![format!("{algorithm}: there is no {kernel}")],
        Some(Err(failure)) => vec![format!("{algorithm} by {kernel}: {failure}")],
        Some(Ok((checks, kernels))) if checks < least(device, candidate) || !kernels.contains(kernel) => {
            vec![format!("{algorithm}: no more than {checks} batches by {kernels:?}")]
        }
        Some(Ok((checks, _))) => {
            known::say(&format!("{algorithm} by {kernel}: {checks} batches right in {seconds:.0} s"));
            Vec::new()
        }
    }
}

/// Fewer batches than the exam has: two each way for a kernel that takes no messages but long ones.
fn least(device: &OpenClDevice, Candidate { algorithm, kernel }: &Candidate) -> u64 {
    let shape = Shape::uniform(*algorithm, algorithm.forward(), 1, 1 << 10, true);
    if device.kernels(&shape).iter().any(|offered| offered.name == *kernel) { 21 } else { 4 }
}

/// Leaves those that matter most, where the list was made through another version; says which, and what to do.
fn leave(tasks: &mut Vec<Task<Candidate>>, here: &str, elsewhere: &str) {
    let left_out: Vec<String> = tasks.extract_if(.., |task| is_last(task)).map(|task| task.name).collect();
    known::say(&format!(
        "NOT CHECKED through {here}, and right through {elsewhere} if their texts are in the list: {} kernels, which take \
         hours. `KNOWN=write cargo test -p cipherlane-opencl --test conformance every_kernel` makes the list anew: {}",
        left_out.len(),
        left_out.join("; ")
    ));
}

#[test]
fn every_kernel_passes_the_exam() {
    let filter = std::env::var("OPENCL_KERNELS").unwrap_or_default();
    for device in devices() {
        let detail = |name| device.info().detail(name).unwrap_or_default();
        let here = format!("{} {}", detail("platform"), detail("driver"));
        let time = if known::is_writing() || known::is_every() { Duration::MAX } else { TIME };
        let mut known = Known::read(LIST, ABOUT, here.clone()).within(time);
        let mut tasks: Vec<_> = Algorithm::all().flat_map(|algorithm| kernels(&device, algorithm)).collect();
        tasks.retain(|task| task.name.contains(&filter));
        assert!(!tasks.is_empty(), "no kernel was asked for: OPENCL_KERNELS={filter} names none");
        tasks.sort_by_key(is_last);
        if let Some(elsewhere) = known.elsewhere.clone().filter(|_| !known::is_writing()) {
            leave(&mut tasks, &here, &elsewhere);
        }
        let faults = known.check(&tasks, &ALWAYS, |candidate| examine(&device, candidate));
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

#[test]
fn defaults_are_constant_time() {
    for device in devices() {
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                let shape = Shape::uniform(algorithm, operation, 1000, 1024, true);
                // What has no kernel yet is told by `check`.
                if device.kernels(&shape).is_empty() {
                    continue;
                }
                let plan = device.plan(&shape, &Wish::default()).unwrap();
                let any = device.kernels(&shape).iter().any(|kernel| kernel.constant_time);
                assert_eq!(plan.constant_time, any, "{plan:?}");
            }
        }
        let gcm = Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 1000, 1024, true);
        let plan = device.plan(&gcm, &Wish::default()).unwrap();
        assert!(plan.constant_time, "{plan:?}");
        let error = device.plan(&gcm, &Wish { kernel: Some("x".to_owned()), ..Wish::default() }).unwrap_err();
        assert!(error.to_string().contains(&plan.kernel), "{error}");
        for (blocks, threads_per_block, streams) in
            [(0, 32, 3), (1 << 40, 32, 3), (1, 33, 3), (1, 1 << 20, 3), (1, 32, 0), (1, 32, 1 << 20)]
        {
            let edited = Geometry { blocks, threads_per_block, streams: Some(streams) };
            let edited = cipherlane_core::Plan { geometry: Some(edited), ..plan.clone() };
            assert!(device.open(&edited).is_err(), "{edited:?}");
        }
    }
}

/// A kernel that always sits the exam, so that it is compiled anyway.
#[test]
fn streams_agree_with_the_whole() {
    for device in devices() {
        let device: Arc<dyn Member> = Arc::new(device);
        streams::check(&device, "aes-ctr/bitsliced");
    }
}

/// Probes give what they must, in several groups that start alike; with one chain or several in turns. A few of each kind,
/// for each takes a while to compile.
#[test]
fn probes_give_their_answers() {
    const FEW: [Steps; 10] = [
        Steps::Add,
        Steps::Wide,
        Steps::Lop3,
        Steps::Funnel,
        Steps::Prmt,
        Steps::F32Fma,
        Steps::F64Mul,
        Steps::LocalOneBank,
        Steps::ConstantApart,
        Steps::OperandsOdd,
    ];
    for device in devices() {
        let mut prober = device.prober().unwrap();
        for (index, steps) in FEW.into_iter().enumerate() {
            let kernel = Kernel::new(steps, index % 2 == 0, 64);
            assert!(prober.load(kernel).unwrap() > 0);
            for turns in [0, 3] {
                let launched = prober.launch(2, turns).unwrap();
                let answer = kernel.answer(turns);
                let wrong = launched.words.chunks(LANES).position(|group| group != answer);
                assert_eq!(wrong, None, "{steps:?}, {turns} turns: a group differs");
                assert_eq!((launched.words.len(), launched.clocks.len()), (128, 2));
            }
        }
        let refused = prober.load(Kernel::new(Steps::MatrixBits, false, 64)).unwrap_err();
        assert!(refused.to_string().contains("matrices"), "{refused}");
        assert!(prober.launch(1, 1).is_err(), "nothing is loaded");
    }
}
