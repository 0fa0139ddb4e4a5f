//! Who knows the right answer. Expected outputs are computed once, before anything is timed, in two independent ways.

use cipherlane::verify::Reference;
use cipherlane::verify::exam::{self, FailedCase};
use cipherlane::verify::vectors::{self, Case};
use cipherlane::{Algorithm, Device, DeviceError, Session, Tier};
use thiserror::Error;

use crate::contender::Contender;
use crate::workload::part::{Part, Results};

/// Two independent ways to the right answer. Before anything is timed they must agree.
#[derive(Clone, Debug)]
pub struct Judges<'a> {
    /// Fast enough to compute every expected output: the CPU's portable tier.
    pub fast: Contender<'a>,
    /// The readable reference; it computes a sample of each workload.
    pub readable: Contender<'a>,
}

impl<'a> Judges<'a> {
    /// The portable tier of `cpu` and the reference.
    #[must_use]
    pub fn new(cpu: &'a dyn Device, reference: &'a Reference) -> Self {
        Self { fast: Contender::at_tier(cpu, Tier::Portable.name()), readable: Contender::new(reference) }
    }
}

/// The known answers of the standards for `algorithms`: read once, for all contenders.
pub fn known_answers(algorithms: impl IntoIterator<Item = Algorithm>) -> Vec<Case> {
    let measured: Vec<Algorithm> = algorithms.into_iter().collect();
    vectors::known().into_iter().filter(|case| measured.contains(&case.algorithm)).collect()
}

/// Has `contender` compute the `known` answers, and returns the first that it gets wrong.
///
/// A device that launches kernels is not asked: it would compile one for each kind of batch among the answers, and each
/// kernel that is measured gives a known answer when its session is opened.
///
/// # Errors
/// If the device fails.
pub fn first_wrong(contender: &Contender<'_>, known: &[Case]) -> Result<Option<FailedCase>, DeviceError> {
    if contender.launches {
        return Ok(None);
    }
    Ok(exam::run(contender.device, &contender.wish, known)?.failures.into_iter().next())
}

/// Why there is no right answer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JudgeError {
    /// The judges differ.
    #[error("{fast} and {readable} disagree on {what}; `cipherlane verify` shows which of them is wrong")]
    Disagree {
        /// The fast judge.
        fast: String,
        /// The readable judge, or the published answer.
        readable: String,
        /// Where they differ.
        what: String,
    },
    /// A judge failed.
    #[error("{judge} cannot compute the expected output: {error}")]
    Failed {
        /// The judge.
        judge: String,
        /// Why.
        error: Box<DeviceError>,
    },
}

/// Most bytes of text that the readable judge computes of one part, which takes it a tenth of a second.
const CONFIRMED_BYTES: usize = 1 << 20;
/// Of a message longer than that, the readable judge computes the beginning.
const PREFIX_BYTES: usize = 64 << 10;

impl Judges<'_> {
    /// The output of `part`, by the fast judge.
    ///
    /// # Errors
    /// If it cannot compute it.
    pub fn compute(&self, part: &Part) -> Result<Results, JudgeError> {
        run(&self.fast, part)
    }

    /// Checks `expected` against the readable judge: all messages of a small part, an even sample of a large one, the
    /// beginning of the text of a message that is longer than the sample. A hash has no such beginning: it is
    /// computed whole.
    ///
    /// # Errors
    /// The first message on which they differ.
    pub fn confirm(&self, part: &Part, expected: &Results) -> Result<(), JudgeError> {
        let mut readable = Bench::new(&self.readable);
        for index in sample(part) {
            let is_cipher = part.algorithm.cipher().is_some();
            let agrees = if is_cipher && part.range(index).len() > CONFIRMED_BYTES {
                confirm_prefix(&mut readable, part, expected, index)?
            } else {
                readable.run(&part.single(index))? == expected.single(part, index)
            };
            if !agrees {
                return Err(self.disagreement(&self.readable.device.info().id, part, index));
            }
        }
        Ok(())
    }

    /// That the fast judge and `other` differ on message `index` of `part`.
    pub(crate) fn disagreement(&self, other: &str, part: &Part, index: usize) -> JudgeError {
        JudgeError::Disagree {
            fast: self.fast.device.info().id.clone(),
            readable: other.to_owned(),
            what: format!("{} {} of message {index}", part.algorithm, part.operation),
        }
    }
}

/// The messages that the readable judge computes: an even sample, the first among them.
fn sample(part: &Part) -> impl Iterator<Item = usize> {
    let step = part.texts.len().div_ceil(CONFIRMED_BYTES).max(1);
    (0..part.len()).step_by(step)
}

/// Compares the beginning of a long message's ciphertext. In every mode here it depends on the beginning of the
/// plaintext alone, whatever follows; the tag, which does not, is the fast judge's and each rival's to agree on.
fn confirm_prefix(
    readable: &mut Bench<'_>,
    part: &Part,
    expected: &Results,
    index: usize,
) -> Result<bool, JudgeError> {
    let range = part.range(index);
    let range = range.start..range.start + PREFIX_BYTES;
    let (input, output) = (&part.texts[range.clone()], &expected.bytes[range]);
    let (plain, cipher) = if part.operation.is_forward() { (input, output) } else { (output, input) };
    Ok(*readable.run(&part.forward(index, plain))?.bytes == *cipher)
}

/// Runs `part` on `judge`.
fn run(judge: &Contender<'_>, part: &Part) -> Result<Results, JudgeError> {
    Bench::new(judge).run(part)
}

/// A judge with the session that it last used.
struct Bench<'a> {
    judge: &'a Contender<'a>,
    open: Option<(cipherlane::Operation, Box<dyn Session>)>,
}

impl<'a> Bench<'a> {
    const fn new(judge: &'a Contender<'a>) -> Self {
        Self { judge, open: None }
    }

    /// Runs `part`, whose algorithm is the same in every call.
    fn run(&mut self, part: &Part) -> Result<Results, JudgeError> {
        self.try_run(part).map_err(|error| JudgeError::Failed {
            judge: self.judge.device.info().id.clone(),
            error: Box::new(error),
        })
    }

    fn try_run(&mut self, part: &Part) -> Result<Results, DeviceError> {
        let session = match &mut self.open {
            Some((operation, session)) if *operation == part.operation => session,
            open => {
                let plan = self.judge.device.plan(&part.shape()?, &self.judge.wish)?;
                let session = self.judge.device.open(&plan)?;
                &mut open.insert((part.operation, session)).1
            }
        };
        let mut results = Results::for_part(part);
        session.run(&part.batch(), &mut results.output())?;
        Ok(results)
    }
}
