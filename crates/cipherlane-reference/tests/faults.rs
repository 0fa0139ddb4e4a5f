//! Devices with one fault each: the exam must find every one.

use cipherlane_core::{
    Algorithm, Batch, BatchError, Cipher, Column, Device, DeviceError, Info, Kernel, Mode, Operation, Output,
    Plan, Session, Shape, Source, Spans, Unsupported, Wish,
};
use cipherlane_reference::{Reference, conformance, exam, vectors};

/// A fault of the reference, applied to the batch before or to the results after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// None: the wrapper itself is right.
    Nothing,
    LongText,
    LastPartialBlock,
    SixteenthMessage,
    InPlace,
    SplitMessage,
    FirstNonceForAll,
    FirstKeyForAll,
    AcceptsAll,
    RejectsAll,
    LeavesRejectedText,
    ZeroesNeighbour,
    ByteBefore,
    ByteBehind,
    TagBehind,
    VerdictBehind,
    ShortTag,
    LeavesRow,
    LongAad,
    CounterOf32Bits,
    CounterOf64Bits,
    WritesBeforeCheck,
    RunsOtherOperations,
    RunsEmptyKeys,
    RefusesSeveral,
    /// Not wrong, but it says that it takes nonces of 12 bytes only.
    Picky,
}

use Fault::*;

/// Every fault with a mode and operation that shows it.
const FAULTS: [(Fault, Mode, bool); 25] = [
    (LongText, Mode::Ecb, true),
    (LongText, Mode::Xts, false),
    (LastPartialBlock, Mode::Xts, true),
    (SixteenthMessage, Mode::Cbc, true),
    (InPlace, Mode::Cbc, false),
    (SplitMessage, Mode::Cbc, false),
    (FirstNonceForAll, Mode::Gcm, true),
    (FirstKeyForAll, Mode::Ctr, true),
    (AcceptsAll, Mode::Gcm, false),
    (RejectsAll, Mode::Gcm, false),
    (LeavesRejectedText, Mode::Gcm, false),
    (ZeroesNeighbour, Mode::Gcm, false),
    (ByteBefore, Mode::Ctr, false),
    (ByteBehind, Mode::Ctr, true),
    (TagBehind, Mode::Gcm, true),
    (VerdictBehind, Mode::Gcm, false),
    (ShortTag, Mode::Gcm, true),
    (LeavesRow, Mode::Gcm, true),
    (LongAad, Mode::Gcm, true),
    (CounterOf32Bits, Mode::Ctr, true),
    (CounterOf64Bits, Mode::Ctr, false),
    (WritesBeforeCheck, Mode::Ecb, true),
    (RunsOtherOperations, Mode::Ctr, true),
    (RunsEmptyKeys, Mode::Gcm, true),
    (Nothing, Mode::Gcm, false),
];

#[test]
fn the_exam_finds_every_fault() {
    for (fault, mode, forward) in FAULTS {
        let device = Faulty::new(fault, mode, forward);
        match conformance::check(&device) {
            Ok(_) => assert_eq!(fault, Nothing, "{fault:?} went unnoticed"),
            Err(failure) => {
                assert_ne!(fault, Nothing, "{failure}");
                // Faults of the batch's form have no seed and no message of their own.
                let text = failure.to_string();
                assert!(text.contains("aes-128-") && text.contains("/reference/x1"), "{text}");
            }
        }
    }
}

#[test]
fn known_answers_find_a_wrong_device() {
    let device = Faulty::new(RejectsAll, Mode::Gcm, false);
    let tally = exam::run(&device, &Wish::default(), &vectors::known()).unwrap();
    let total = tally.total();
    assert!(total.failed > 0 && total.failed == tally.failures.len(), "{total:?}");
    assert!(tally.failures[0].to_string().contains("the right tag was rejected"), "{}", tally.failures[0]);
}

#[test]
fn what_a_device_does_not_take_hides_nothing_else() {
    let device = Faulty::new(Picky, Mode::Gcm, true);
    let cases = vectors::known();
    let shown =
        |case: &&vectors::Case| (case.algorithm, case.operation) == (device.algorithm, device.operation);
    let cases: Vec<_> = cases.iter().filter(shown).cloned().collect();
    let tally = exam::run(&device, &Wish::default(), &cases).unwrap();
    let total = tally.total();
    assert_eq!((total.passed, total.failed, total.not_applicable), (cases.len() - 2, 0, 2), "{tally:?}");
    assert_eq!(tally.reasons.len(), 1);
    assert!(conformance::check(&device).unwrap_err().to_string().contains("nonce must be 12"));
}

#[test]
fn malformed_cases_are_wrong_by_themselves() {
    let mut cases = vectors::known();
    let right = cases.len();
    let sealed = Algorithm::new(Cipher::Aes128, Mode::Gcm);
    let like = cases.iter().find(|case| (case.algorithm, case.operation) == (sealed, Operation::Seal));
    let like = like.cloned().unwrap();
    cases.push(vectors::Case { id: "no nonce".to_owned(), nonce: Vec::new(), ..like.clone() });
    cases.push(vectors::Case { id: "a tag of 2 bytes".to_owned(), tag: vec![0; 2], ..like });
    let tally = exam::run(&Reference::new(), &Wish::default(), &cases).unwrap();
    let total = tally.total();
    assert_eq!((total.passed, total.failed), (right, 2), "{tally:?}");
    let said = tally.failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(said.contains("no nonce") && said.contains("a tag of 2 bytes"), "{said}");
}

#[test]
fn malformed_turns_are_wrong_by_themselves() {
    let turn = vectors::Case {
        source: "mine".to_owned(),
        id: "a turn".to_owned(),
        algorithm: Algorithm::new(Cipher::Aes128, Mode::Ecb),
        operation: Operation::Encrypt,
        key: vec![0; 16],
        nonce: Vec::new(),
        aad: Vec::new(),
        input: vec![0; 16],
        output: vectors::hex::decode("adc883cf76c234032f31b33734aa4b51").unwrap(),
        tag: Vec::new(),
        expectation: vectors::Expectation::MonteCarlo { next: None },
    };
    let malformed = vectors::Case { input: vec![0; 32], ..turn.clone() };
    let tally = exam::run(&Reference::new(), &Wish::default(), &[turn, malformed]).unwrap();
    assert_eq!((tally.total().passed, tally.total().failed), (1, 1), "{tally:?}");
}

#[test]
fn a_device_that_refuses_what_is_well_formed_is_wrong() {
    let device = Faulty::new(RefusesSeveral, Mode::Gcm, true);
    let tally = exam::run(&device, &Wish::default(), &vectors::known()).unwrap();
    assert!(tally.total().failed > 1 && tally.total().passed == 0, "{tally:?}");
}

#[derive(Debug)]
struct Faulty {
    inner: Reference,
    fault: Fault,
    algorithm: Algorithm,
    operation: Operation,
}

impl Faulty {
    fn new(fault: Fault, mode: Mode, forward: bool) -> Self {
        let algorithm = Algorithm::new(Cipher::Aes128, mode);
        let operation = algorithm.operations()[usize::from(!forward)];
        Self { inner: Reference::new(), fault, algorithm, operation }
    }
}

impl Device for Faulty {
    fn info(&self) -> &Info {
        self.inner.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        let shown = (shape.algorithm, shape.operation) == (self.algorithm, self.operation);
        if shown { self.inner.kernels(shape) } else { Vec::new() }
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        if self.kernels(shape).is_empty() {
            let (device, what) = ("faulty".to_owned(), format!("{} {}", shape.algorithm, shape.operation));
            return Err(Unsupported::Kernel { device, what, known: Vec::new() });
        }
        self.inner.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let inner = self.inner.open(plan)?;
        let mut others = self.algorithm.operations().iter().filter(|&&other| other != plan.operation);
        let other = *others.next().expect("a cipher has two operations");
        let other = self.inner.open(&Plan { operation: other, ..plan.clone() })?;
        Ok(Box::new(FaultySession { inner, other, fault: self.fault, plan: plan.clone() }))
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    other: Box<dyn Session>,
    fault: Fault,
    plan: Plan,
}

impl Session for FaultySession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let mut batch = *batch;
        match self.fault {
            FirstNonceForAll if batch.len() > 1 => batch.nonces = Column::Shared(batch.nonces.row(0)),
            FirstKeyForAll if batch.len() > 1 => batch.keys = Column::Shared(batch.keys.row(0)),
            WritesBeforeCheck if !output.bytes.is_empty() => output.bytes[0] ^= 1,
            RunsOtherOperations if batch.operation != self.plan.operation => {
                return self.other.run(&batch, output);
            }
            RefusesSeveral if batch.len() > 1 => {
                return Err(
                    BatchError::Operation { algorithm: batch.algorithm, operation: batch.operation }.into()
                );
            }
            RunsEmptyKeys if batch.keys.width() == Some(0) => return Ok(Spans::default()),
            Picky if (0..batch.len()).any(|message| batch.nonces.row(message).len() != 12) => {
                return Err(Unsupported::Range { what: "nonce", wanted: "12".to_owned(), found: 0 }.into());
            }
            _ => {}
        }
        let before = output.bytes.to_vec();
        let spans = self.inner.run(&batch, output)?;
        if !batch.is_empty() {
            self.spoil(&batch, output, &before);
        }
        Ok(spans)
    }
}

impl FaultySession {
    /// Spoils the results of a batch with at least one message.
    fn spoil(&self, batch: &Batch<'_>, output: &mut Output<'_>, before: &[u8]) {
        let offsets: Vec<usize> = batch.messages.offsets.iter().map(|&offset| offset as usize).collect();
        let (start, end) = (offsets[0], offsets[batch.len()]);
        let in_place = matches!(batch.messages.source, Source::InPlace);
        match self.fault {
            AcceptsAll => output.accepted[..batch.len()].fill(true),
            RejectsAll => output.accepted[..batch.len()].fill(false),
            ByteBefore if start > 0 => output.bytes[start - 1] ^= 1,
            ByteBehind if output.bytes.len() > end => output.bytes[end] ^= 1,
            TagBehind => {
                let tags = batch.len() * batch.tag_lengths.stride();
                output.tags[tags..].fill(0);
            }
            VerdictBehind => output.accepted[batch.len()..].fill(false),
            _ => {}
        }
        for message in 0..batch.len() {
            let range = offsets[message]..offsets[message + 1];
            let rejected = batch.operation == Operation::Open && !output.accepted[message];
            let stride = batch.tag_lengths.stride();
            match self.fault {
                LeavesRejectedText if rejected => {
                    output.bytes[range.clone()].copy_from_slice(&before[range.clone()]);
                }
                ZeroesNeighbour if rejected && message > 0 => {
                    output.bytes[offsets[message - 1]..range.end].fill(0);
                }
                ShortTag if batch.tag_lengths.get(message) == 13 => output.tags[message * stride + 12] ^= 4,
                LeavesRow => {
                    // As it was before the batch: a device's memory has what an earlier one left there.
                    let tag = message * stride..message * stride + batch.tag_lengths.get(message);
                    output.tags[tag.end..tag.start + stride].fill(0x5a);
                }
                LongAad if batch.aad.row(message).len() > 1024 => output.tags[message * stride] ^= 1,
                _ => {}
            }
            let wraps = |bits: u32| {
                let counter = batch.nonces.row(message).try_into().map_or(0, u128::from_be_bytes);
                counter % (1 << bits) + (range.len() as u128).div_ceil(16) > 1 << bits
            };
            let spoilt = match self.fault {
                LongText => range.len() > 100 * 16,
                LastPartialBlock => range.len() > 64 && range.len() % 16 == 15,
                SixteenthMessage => message == 16,
                InPlace => in_place && batch.len() > 3,
                SplitMessage => range.len() > 2 * self.plan.chunk.min(1 << 40),
                CounterOf32Bits => wraps(32),
                CounterOf64Bits => wraps(64),
                _ => false,
            };
            if spoilt && !range.is_empty() {
                output.bytes[range.end - 1] ^= 0x80;
            }
        }
    }
}
