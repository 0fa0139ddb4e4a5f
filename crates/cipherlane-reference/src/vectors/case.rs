//! One test vector.

use cipherlane_core::{Algorithm, Operation};

/// One message with what shall become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The collection: `NIST CAVP`, `Wycheproof`, the title of a standard.
    pub source: String,
    /// Where to find it there: `gcmDecrypt128.rsp:123`.
    pub id: String,
    /// The cipher in its mode, or the hash function.
    pub algorithm: Algorithm,
    /// What is done to the message.
    pub operation: Operation,
    /// The key; both keys of XTS.
    pub key: Vec<u8>,
    /// Nonce, IV, initial counter block or tweak.
    pub nonce: Vec<u8>,
    /// Additional authenticated data.
    pub aad: Vec<u8>,
    /// The text that goes in.
    pub input: Vec<u8>,
    /// The text that shall come out. Empty where none shall, and for a hash.
    pub output: Vec<u8>,
    /// The tag that `seal` shall make or `open` shall check; the digest that `hash` shall make.
    pub tag: Vec<u8>,
    /// What shall happen.
    pub expectation: Expectation,
}

/// What shall happen to a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// [`Case::output`] comes out, with [`Case::tag`] made or accepted.
    Output,
    /// The tag is rejected and the text zeroed.
    Reject,
    /// The batch is refused before anything is computed: its lengths are not the algorithm's.
    Refused,
    /// CBC: what comes out does not end with a padding of PKCS #7.
    BadPadding,
    /// [`Case::output`] comes out of the 1000th turn of the inner loop of a Monte Carlo test (AESVS section 6.4).
    MonteCarlo {
        /// Where the outer loop goes on, unless this is its last turn.
        next: Option<Box<Start>>,
    },
    /// [`Case::tag`] comes out of the 1000th turn of the inner loop of a Monte Carlo test of a hash function (SHAVS
    /// section 6.4, SHA3VS sections 6.2.3 and 6.3.3). [`Case::input`] is the seed of the turn.
    DigestMonteCarlo {
        /// How long outputs are (SHAKE).
        lengths: Option<OutputLengths>,
    },
    /// The case lies outside what a batch can express; says why.
    NotApplicable(&'static str),
}

/// What a turn of the outer loop of a Monte Carlo test starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The key.
    pub key: Vec<u8>,
    /// The IV; empty for ECB.
    pub nonce: Vec<u8>,
    /// The first text.
    pub input: Vec<u8>,
}

/// Lengths of the outputs of SHAKE in a Monte Carlo test, in bytes (SHA3VS section 6.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLengths {
    /// The output that comes next.
    pub first: usize,
    /// The shortest output.
    pub least: usize,
    /// The longest output.
    pub most: usize,
}

impl OutputLengths {
    /// The length of the output after `output`, whose last 16 bits say it.
    pub(crate) fn after(&self, output: &[u8]) -> usize {
        let last = output.iter().rev().take(2).rev();
        let number = last.fold(0, |number, byte| number << 8 | usize::from(*byte));
        self.least + number % (self.most - self.least + 1)
    }
}

impl Case {
    /// The case the other way round, for a case that a device shall compute; a hash has none.
    #[must_use]
    pub fn reversed(&self) -> Option<Self> {
        let backward = self.algorithm.backward()?;
        let operation = if self.operation == backward { self.algorithm.forward() } else { backward };
        let mut case = Self { operation, ..self.clone() };
        std::mem::swap(&mut case.input, &mut case.output);
        Some(case)
    }
}
