//! Devices that hash with one fault each: the exam must find every one.

use cipherlane_core::{
    Algorithm, Batch, Column, Device, DeviceError, Hash, Info, Kernel, Operation, Output, Plan, Session,
    Shape, Source, Spans, TagLengths, Unsupported, Wish,
};
use cipherlane_reference::{Reference, conformance, exam, vectors};

/// A fault of the reference, applied to the batch before or to the results after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// None: the wrapper itself is right.
    Nothing,
    /// The padding just fits behind the message.
    FullPadding,
    EmptyMessages,
    LongMessages,
    LongDigests,
    SixteenthMessage,
    /// Side by side with a longer one.
    ShortNeighbour,
    SplitMessage,
    BehindTheDigests,
    WritesText,
    WritesBeforeCheck,
    RunsInPlace,
    RunsWithKeys,
    RunsWithAad,
    RunsOtherLengths,
    RunsOtherFunctions,
}

use Fault::*;

/// Every fault with a hash function that shows it.
const FAULTS: [(Fault, Hash); 20] = [
    (FullPadding, Hash::Sha256),
    (FullPadding, Hash::Sha512),
    (FullPadding, Hash::Sha3_256),
    (FullPadding, Hash::Shake128),
    (EmptyMessages, Hash::Sha224),
    (LongMessages, Hash::Keccak512),
    (LongDigests, Hash::Shake256),
    (SixteenthMessage, Hash::Sha384),
    (ShortNeighbour, Hash::Sha512_256),
    (SplitMessage, Hash::Keccak256),
    (BehindTheDigests, Hash::Sha3_224),
    (BehindTheDigests, Hash::Shake128),
    (WritesText, Hash::Sha256),
    (WritesBeforeCheck, Hash::Sha3_384),
    (RunsInPlace, Hash::Sha256),
    (RunsWithKeys, Hash::Keccak224),
    (RunsWithAad, Hash::Sha3_512),
    (RunsOtherLengths, Hash::Sha512),
    (RunsOtherFunctions, Hash::Keccak384),
    (Nothing, Hash::Shake256),
];

#[test]
fn the_exam_finds_every_fault() {
    for (fault, hash) in FAULTS {
        let device = Faulty { inner: Reference::new(), fault, hash };
        match conformance::check(&device) {
            Ok(report) => {
                assert_eq!(fault, Nothing, "{fault:?} of {} went unnoticed", hash.name());
                assert_eq!(report.kernels, [format!("{}/reference/x1", hash.name())]);
            }
            Err(failure) => {
                assert_ne!(fault, Nothing, "{failure}");
                let text = failure.to_string();
                assert!(text.starts_with(&format!("{} hash on {0}/reference/x1", hash.name())), "{text}");
            }
        }
    }
}

#[test]
fn known_answers_find_a_wrong_device() {
    let device = Faulty { inner: Reference::new(), fault: EmptyMessages, hash: Hash::Sha3_256 };
    let tally = exam::run(&device, &Wish::default(), &vectors::known()).unwrap();
    let total = tally.total();
    assert_eq!((total.passed, total.failed), (1, 1), "{:?}", tally.failures);
    assert!(tally.failures[0].reason.contains("digest differs from byte 0"), "{}", tally.failures[0]);
}

#[derive(Debug)]
struct Faulty {
    inner: Reference,
    fault: Fault,
    hash: Hash,
}

impl Device for Faulty {
    fn info(&self) -> &Info {
        self.inner.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        if shape.algorithm == Algorithm::Hash(self.hash) { self.inner.kernels(shape) } else { Vec::new() }
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        if self.kernels(shape).is_empty() {
            let (device, what) = ("faulty".to_owned(), format!("{} {}", shape.algorithm, shape.operation));
            return Err(Unsupported::Kernel { device, what, known: Vec::new() });
        }
        self.inner.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(FaultySession { inner: self.inner.open(plan)?, fault: self.fault, plan: plan.clone() }))
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    fault: Fault,
    plan: Plan,
}

impl Session for FaultySession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let runs = match self.fault {
            WritesBeforeCheck => {
                output.tags.iter_mut().for_each(|byte| *byte ^= 1);
                false
            }
            RunsInPlace => matches!(batch.messages.source, Source::InPlace),
            RunsWithKeys => batch.keys.width() != Some(0),
            RunsWithAad => batch.aad.width() != Some(0),
            RunsOtherLengths => matches!(batch.tag_lengths, TagLengths::Same(bytes) if bytes == 1),
            RunsOtherFunctions => {
                batch.algorithm != self.plan.algorithm && batch.operation == Operation::Hash
            }
            _ => false,
        };
        if runs {
            return Ok(Spans::default());
        }
        let spans = self.inner.run(batch, output)?;
        if !batch.is_empty() {
            self.spoil(batch, output);
        }
        Ok(spans)
    }
}

impl FaultySession {
    /// Spoils the results of a batch with at least one message.
    fn spoil(&self, batch: &Batch<'_>, output: &mut Output<'_>) {
        let bytes = batch.tag_lengths.stride();
        match self.fault {
            BehindTheDigests => output.tags[batch.len() * bytes..].fill(0),
            WritesText => output.bytes.fill(0),
            _ => {}
        }
        let block = batch.algorithm.hash().map_or(1, Hash::block_bytes);
        // SHA-2 appends a bit and an eighth of a block at least, Keccak a byte.
        let padding = if block.is_power_of_two() { 1 + block / 8 } else { 1 };
        let lengths: Vec<usize> =
            batch.messages.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize).collect();
        for (message, &length) in lengths.iter().enumerate() {
            let spoilt = match self.fault {
                FullPadding => length % block == block - padding,
                EmptyMessages => length == 0,
                LongMessages => length > 40 * block,
                LongDigests => bytes > block,
                SixteenthMessage => message == 16,
                ShortNeighbour => message > 0 && length < block - padding && lengths[message - 1] > 2 * block,
                SplitMessage => length > 2 * self.plan.chunk.min(1 << 40),
                _ => false,
            };
            if spoilt {
                output.tags[message * bytes] ^= 0x80;
            }
        }
    }
}

/// Columns of no bytes are what a hash takes: the wrapper's tests of keys and AAD rest on it.
#[test]
fn empty_columns_have_no_width() {
    assert_eq!(Column::EMPTY.width(), Some(0));
}
