//! A known answer for each algorithm and direction, which a session has to give before it is handed out: a wrong compiler,
//! driver or device shows here, and not in someone's data.
//!
//! The messages are such that every way through a kernel is gone: some blocks and thousands of them, whole and partial ends,
//! texts that begin at a vector's multiple and such that do not. What the readable reference makes of them is in
//! `known/answers.txt` as a digest, with the tags by which an AEAD opens them.

mod known;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Hash, Messages, Mode, Operation, Output, Session, Source,
};

pub use known::Known;

const AAD: [u8; 13] = *b"cipherlane 01";

/// Bytes of the messages but the last. The second begins where the first vector ends, the fourth at an odd place, the last at
/// a multiple of 16. Of 2080 bytes, 130 blocks, the tiles' threads have several each.
const LENGTHS: [u64; 5] = [32, 80, 21, 2085, 22];
/// The same where messages are whole blocks.
const WHOLE: [u64; 5] = [32, 80, 16, 2080, 16];
/// Bytes of the last message: some tiles of 256 blocks, the last of them not full.
const LONG: u64 = 3 * (256 << 4) + (9 << 4);
/// The same where kernels go by tiles of 4096 blocks and halves of these: GHASH on tensor cores, tables by the counter.
const LONGER: u64 = 2 * (4096 << 4) + (5 << 4);
/// The message whose tag is forged.
const FORGED: usize = 3;

/// The messages that an algorithm is asked.
#[derive(Clone, Debug)]
pub struct Question {
    algorithm: Algorithm,
    key: Vec<u8>,
    nonces: Vec<u8>,
    offsets: Vec<u64>,
    texts: Vec<u8>,
}

/// What a session makes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The texts; none of a hash function.
    pub texts: Vec<u8>,
    /// Tags or digests; none where they are read.
    pub tags: Vec<u8>,
    /// Of each message whether its tag is right; none where there are no tags to check.
    pub accepted: Vec<bool>,
}

/// Bytes that differ from their neighbours.
fn pattern(bytes: usize, factor: usize, first: usize) -> Vec<u8> {
    (0..bytes).map(|index| u8::try_from((index * factor + first) % 251).unwrap_or_default()).collect()
}

/// Bytes of each message.
fn lengths(algorithm: Algorithm) -> impl Iterator<Item = u64> {
    let mode = algorithm.mode();
    let first = if matches!(mode, Some(Mode::Ecb | Mode::Cbc)) { WHOLE } else { LENGTHS };
    let last = if matches!(mode, Some(Mode::Gcm | Mode::Ctr)) { LONGER } else { LONG };
    first.into_iter().chain([last])
}

impl Question {
    /// The question for `algorithm`.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        let mut offsets = vec![0];
        offsets.extend(lengths(algorithm).scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let nonce = algorithm.nonce_bytes().unwrap_or(12);
        let bytes = offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or_default());
        Self {
            algorithm,
            key: pattern(algorithm.key_bytes(), 7, 1),
            nonces: pattern((offsets.len() - 1) * nonce, 5, 2),
            texts: pattern(bytes, 11, 3),
            offsets,
        }
    }

    /// The texts that it asks about, in either direction.
    #[must_use]
    pub fn texts(&self) -> &[u8] {
        &self.texts
    }

    /// What `session` makes of `texts`, which are as long as those of the question: one that seals or hashes makes tags or
    /// digests, one that opens compares `tags`. All messages have the same key, said once (`shared`) or once for each.
    ///
    /// # Errors
    /// Those of the session.
    pub fn ask(
        &self,
        session: &mut dyn Session,
        operation: Operation,
        shared: bool,
        texts: &[u8],
        tags: &[u8],
    ) -> Result<Answer, String> {
        let messages = self.offsets.len() - 1;
        let mut answer = Answer::default();
        if operation != Operation::Hash {
            answer.texts = vec![0; texts.len()];
        }
        match operation {
            Operation::Open => answer.accepted = vec![false; messages],
            Operation::Seal | Operation::Hash => answer.tags = vec![0; messages * self.row()],
            Operation::Encrypt | Operation::Decrypt => {}
        }
        let keys = if shared { self.key.clone() } else { self.key.repeat(messages) };
        let batch = self.batch(operation, &keys, texts, tags);
        let mut output =
            Output { bytes: &mut answer.texts, tags: &mut answer.tags, accepted: &mut answer.accepted };
        session.run(&batch, &mut output).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Bytes of a tag or digest.
    fn row(&self) -> usize {
        self.algorithm.hash().map_or(BLOCK, Hash::usual_digest_bytes)
    }

    fn batch<'a>(
        &'a self,
        operation: Operation,
        keys: &'a [u8],
        texts: &'a [u8],
        tags: &'a [u8],
    ) -> Batch<'a> {
        let messages = Messages { source: Source::Apart(texts), offsets: &self.offsets };
        if let Some(hash) = self.algorithm.hash() {
            return Batch::hash(hash, messages, self.row());
        }
        let keys = if keys.len() > self.key.len() {
            Column::Each { bytes: keys, width: self.key.len() }
        } else {
            Column::Shared(keys)
        };
        let width = self.nonces.len() / (self.offsets.len() - 1);
        let nonces = Column::Each { bytes: &self.nonces, width };
        let aad = Column::Shared(&AAD);
        match operation {
            Operation::Seal => Batch::seal(self.algorithm, keys, nonces, aad, messages),
            Operation::Open => Batch::open(self.algorithm, keys, nonces, aad, messages, tags),
            _ => Batch::cipher(self.algorithm, operation, keys, nonces, messages),
        }
    }

    /// `answer`, to texts that were opened, as it is where the tag of message [`FORGED`] is wrong.
    fn with_forged(&self, mut answer: Answer) -> Answer {
        let [from, to] = [self.offsets[FORGED], self.offsets[FORGED + 1]]
            .map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
        answer.texts[from..to].fill(0);
        answer.accepted[FORGED] = false;
        answer
    }
}

/// Has `session` answer, and compares.
pub(crate) fn check(
    session: &mut dyn Session,
    algorithm: Algorithm,
    operation: Operation,
    shared: bool,
) -> Result<(), String> {
    let known = Known::of(algorithm, operation)
        .ok_or_else(|| format!("there is no known answer for {algorithm} {operation}"))?;
    let question = Question::new(algorithm);
    let answer = question.ask(session, operation, shared, question.texts(), &known.tags)?;
    if !known.is(&answer) {
        return Err(wrong(&format!("a wrong answer to {algorithm} {operation}, which is known")));
    }
    if operation == Operation::Open {
        let mut forged = known.tags;
        forged[FORGED * BLOCK] ^= 1;
        let found = question.ask(session, operation, shared, question.texts(), &forged)?;
        if found != question.with_forged(answer) {
            return Err(wrong(&format!("text whose tag is forged, by {algorithm}")));
        }
    }
    Ok(())
}

fn wrong(what: &str) -> String {
    format!(
        "the device gives {what}: do not use it. Delete the folder `cipherlane` in the user's cache, update the driver, and \
         report it if that does not help"
    )
}
