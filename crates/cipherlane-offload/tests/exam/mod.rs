//! The exam of `cipherlane-reference`, algorithm by algorithm on several threads: compilers take the most time.
//! The examples `check` of the backends include this file.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, DeviceError, Info, Kernel, Messages, Mode, Operation, Output,
    Plan, Session, Shape, Source, TagLengths, Unsupported, Wish,
};
use cipherlane_reference::{Reference, conformance, side_by_side};

/// A device that is examined by the kernels that a name is part of.
struct Part<'a> {
    device: &'a dyn Device,
    kernels: &'a str,
}

impl Device for Part<'_> {
    fn info(&self) -> &Info {
        self.device.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        let mut kernels = self.device.kernels(shape);
        kernels.retain(|kernel| kernel.name.contains(self.kernels));
        kernels
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.device.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.device.open(plan)
    }
}

/// What came of an algorithm.
pub(crate) struct Outcome {
    pub(crate) algorithm: Algorithm,
    /// Batches that came out right and the kernels that ran them, or what went wrong; `None` where the device has no
    /// kernel.
    pub(crate) result: Option<Result<(u64, Vec<String>), String>>,
    pub(crate) time: Duration,
}

/// Examines `device` in every algorithm whose name contains one of `names` (all, if there are none), by the kernels
/// whose name contains `kernels`. Calls `tell` with each outcome as it comes.
pub(crate) fn sit(
    device: &dyn Device,
    names: &[String],
    kernels: &str,
    threads: usize,
    tell: impl Fn(&Outcome) + Sync,
) -> Vec<Outcome> {
    let is_wanted = |algorithm: &Algorithm| {
        names.is_empty() || names.iter().any(|name| algorithm.to_string().contains(name.as_str()))
    };
    let algorithms: Vec<Algorithm> = Algorithm::all().filter(is_wanted).collect();
    let Ok(outcomes) = side_by_side::try_map(threads, &algorithms, |&algorithm| {
        let outcome = examine(device, algorithm, kernels);
        tell(&outcome);
        Ok::<_, Infallible>(outcome)
    });
    outcomes
}

/// The same, each outcome printed. Returns how many algorithms came out wrong.
#[allow(clippy::print_stdout)] // for examples, which are tools for developers
pub(crate) fn tell(device: &dyn Device, names: &[String], kernels: &str, threads: usize) -> usize {
    let outcomes = sit(device, names, kernels, threads, |Outcome { algorithm, result, time }| {
        let seconds = time.as_secs_f64();
        match result {
            None => println!("{algorithm:18} no kernel"),
            Some(Ok((checks, kernels))) => {
                println!("{algorithm:18} {checks} batches right in {seconds:.1} s: {}", kernels.join(" "));
            }
            Some(Err(failure)) => println!("{algorithm:18} WRONG after {seconds:.1} s: {failure}"),
        }
    });
    outcomes.iter().filter(|outcome| matches!(outcome.result, Some(Err(_)))).count()
}

/// Runs messages of `bytes` bytes, longer than those of the exam, and prints what came of each. Returns how many
/// algorithms came out wrong.
#[allow(clippy::print_stdout)] // as above
pub(crate) fn tell_long(device: &dyn Device, names: &[String], kernel: &str, bytes: usize) -> usize {
    let mut wrong = 0;
    for algorithm in Algorithm::all() {
        let name = algorithm.to_string();
        if !names.is_empty() && names.iter().all(|part| !name.contains(part.as_str())) {
            continue;
        }
        match long(device, algorithm, kernel, bytes) {
            None => {}
            Some(Ok(kernels)) => println!("{algorithm:18} long messages right: {}", kernels.join(" ")),
            Some(Err(reason)) => {
                wrong += 1;
                println!("{algorithm:18} long messages WRONG: {reason}");
            }
        }
    }
    wrong
}

/// Examines `device` in `algorithm`, by the kernels whose name contains `kernels`.
pub(crate) fn examine(device: &dyn Device, algorithm: Algorithm, kernels: &str) -> Outcome {
    let start = Instant::now();
    let part = Part { device, kernels };
    let offers = algorithm.operations().iter().any(|&operation| {
        conformance::shapes(algorithm, operation).iter().any(|shape| !part.kernels(shape).is_empty())
    });
    let check = || match conformance::check_each(&part, &[Wish::default()], [algorithm]) {
        Ok(report) => Ok((report.checks.values().sum(), report.kernels)),
        Err(failure) => Err(failure.to_string()),
    };
    Outcome { algorithm, result: offers.then(check), time: start.elapsed() }
}

/// Bytes of a long message: beyond what any kernel calls long, with a part of a block at its end.
pub(crate) const LONG: usize = (17 << 20) + 5;

/// Has `device` run a message of `bytes` bytes, where the mode allows, that is longer than those of the exam, whole and
/// in pieces, and compares it with the reference: by the best kernel whose name contains `kernel`. Returns the kernels
/// that ran; `None` for hash functions, and where there is no kernel.
pub(crate) fn long(
    device: &dyn Device,
    algorithm: Algorithm,
    kernel: &str,
    bytes: usize,
) -> Option<Result<Vec<String>, String>> {
    let bytes = match algorithm.mode()? {
        // Its longest: a data unit has at most 2^20 blocks (IEEE 1619 section 5.1).
        Mode::Xts => (16 << 20) - 11,
        Mode::Ecb | Mode::Cbc => bytes / BLOCK * BLOCK,
        Mode::Ctr | Mode::Gcm => bytes,
    };
    let plain: Vec<u8> =
        (0..bytes as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let mut kernels = Vec::new();
    let compare = || -> Result<bool, String> {
        let known = Known::new(algorithm, plain)?;
        for &operation in algorithm.operations() {
            for (chunk, streams) in [(None, None), (Some(1 << 20), None), (Some(1 << 20), Some(1))] {
                let shape = Shape::uniform(algorithm, operation, 1, bytes as u64, true);
                let best = device.kernels(&shape).into_iter().find(|best| best.name.contains(kernel));
                let Some(best) = best else { return Ok(false) };
                let wish = Wish { kernel: Some(best.name), chunk, streams, ..Wish::default() };
                let plan = device.plan(&shape, &wish).map_err(|error| error.to_string())?;
                known.compare(device, &plan)?;
                if !kernels.contains(&plan.kernel) {
                    kernels.push(plan.kernel);
                }
            }
        }
        Ok(true)
    };
    match compare() {
        Ok(false) => None,
        Ok(true) => Some(Ok(kernels)),
        Err(reason) => Some(Err(reason)),
    }
}

/// A message with what the reference makes of it.
struct Known {
    algorithm: Algorithm,
    plain: Vec<u8>,
    made: Vec<u8>,
    tag: Vec<u8>,
}

impl Known {
    fn new(algorithm: Algorithm, plain: Vec<u8>) -> Result<Self, String> {
        let (forward, reference) = (algorithm.forward(), Reference::new());
        let shape = Shape::uniform(algorithm, forward, 1, plain.len() as u64, true);
        let plan = reference.plan(&shape, &Wish::default()).map_err(|error| error.to_string())?;
        let mut session = reference.open(&plan).map_err(|error| error.to_string())?;
        let (mut made, mut tag) =
            (vec![0; plain.len()], vec![0; if algorithm.is_aead() { BLOCK } else { 0 }]);
        run(&mut *session, algorithm, forward, &plain, &mut made, &mut tag)?;
        Ok(Self { algorithm, plain, made, tag })
    }

    /// Has `device` do what `plan` says, with the right tag and with a wrong one.
    fn compare(&self, device: &dyn Device, plan: &Plan) -> Result<(), String> {
        let Self { algorithm, plain, made, .. } = self;
        let operation = plan.operation;
        let mut session = device.open(plan).map_err(|error| error.to_string())?;
        let (from, to) = if operation == algorithm.forward() { (plain, made) } else { (made, plain) };
        let (mut found, mut tag) = (vec![0; plain.len()], self.tag.clone());
        if operation == Operation::Seal {
            tag.fill(0);
        }
        let accepted = run(&mut *session, *algorithm, operation, from, &mut found, &mut tag)?;
        if found != *to || tag != self.tag || !accepted {
            let (at, bytes) = (found.iter().zip(to).position(|(a, b)| a != b), plain.len());
            return Err(format!(
                "{operation} of {bytes} bytes by {plan:?}: wrong from byte {at:?}, tag {tag:02x?}"
            ));
        }
        if operation == Operation::Open {
            tag[3] ^= 1;
            if run(&mut *session, *algorithm, operation, from, &mut found, &mut tag)? {
                return Err(format!("a wrong tag was accepted by {plan:?}"));
            }
            if found.iter().any(|&byte| byte != 0) {
                return Err(format!("a rejected text was not zeroed by {plan:?}"));
            }
        }
        Ok(())
    }
}

/// Runs one message. Returns whether its tag was right.
fn run(
    session: &mut dyn Session,
    algorithm: Algorithm,
    operation: Operation,
    from: &[u8],
    to: &mut [u8],
    tag: &mut [u8],
) -> Result<bool, String> {
    let (key, nonce) = ([0x5a; 64], [0xf0; BLOCK]);
    let offsets = [0, from.len() as u64];
    let nonce = &nonce[..algorithm.nonce_bytes().unwrap_or(12)];
    let messages = Messages { source: Source::Apart(from), offsets: &offsets };
    let key = Column::Shared(&key[..algorithm.key_bytes()]);
    let mut batch = Batch::cipher(algorithm, operation, key, Column::Shared(nonce), messages);
    let mut accepted = [true];
    if algorithm.is_aead() {
        (batch.tag_lengths, batch.aad) = (TagLengths::Same(BLOCK), Column::Shared(b"header"));
    }
    let opens = operation == Operation::Open;
    let expected = tag.to_vec();
    batch.tags = if opens { &expected } else { &[] };
    let made: &mut [u8] = if opens { &mut [] } else { tag };
    let mut output = Output { bytes: to, tags: made, accepted: &mut accepted };
    session.run(&batch, &mut output).map_err(|error| error.to_string())?;
    Ok(accepted[0])
}
