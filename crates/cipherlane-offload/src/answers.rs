//! A known answer for each algorithm, which a session has to give before it is handed out: a wrong compiler, driver or
//! device shows here, and not in someone's data.

use cipherlane_core::{Algorithm, BLOCK, Batch, Column, Messages, Operation, Output, Session, Source};

/// One line for each algorithm: its name, and what comes of [`Question`] forward: the texts, then the tags or digests.
const ANSWERS: &str = include_str!("../known/answers.txt");

/// The two messages that every algorithm is asked.
#[derive(Clone, Debug)]
pub struct Question {
    algorithm: Algorithm,
    key: Vec<u8>,
    nonces: Vec<u8>,
    texts: Vec<u8>,
}

/// Whole blocks, so that every mode takes them.
const OFFSETS: [u64; 3] = [0, 32, 112];
const AAD: [u8; 13] = *b"cipherlane 01";

/// Bytes that differ from their neighbours.
fn pattern(bytes: usize, factor: usize, first: usize) -> Vec<u8> {
    (0..bytes).map(|index| u8::try_from((index * factor + first) % 251).unwrap_or_default()).collect()
}

impl Question {
    /// The question for `algorithm`.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        let nonce = algorithm.nonce_bytes().unwrap_or(12);
        Self {
            algorithm,
            key: pattern(algorithm.key_bytes(), 7, 1),
            nonces: pattern(2 * nonce, 5, 2),
            texts: pattern(112, 11, 3),
        }
    }

    /// What `session` answers to the question, run forward: the texts, then the tags or digests.
    ///
    /// # Errors
    /// Those of the session.
    pub fn ask(&self, session: &mut dyn Session, shared: bool) -> Result<Vec<u8>, String> {
        let is_hash = self.algorithm.hash().is_some();
        let (mut bytes, mut tags) = (vec![0; if is_hash { 0 } else { 112 }], vec![0; 2 * self.row()]);
        let keys = self.keys(shared);
        let batch = self.batch(self.algorithm.forward(), &keys, &self.texts, &[]);
        let mut output = Output { bytes: &mut bytes, tags: &mut tags, accepted: &mut [] };
        session.run(&batch, &mut output).map_err(|error| error.to_string())?;
        bytes.extend(tags);
        Ok(bytes)
    }

    /// What `session` makes of the answer, run backward: the texts, if every tag was accepted.
    fn undo(
        &self,
        answer: &[u8],
        session: &mut dyn Session,
        shared: bool,
    ) -> Result<Option<Vec<u8>>, String> {
        let Some(operation) = self.algorithm.backward() else { return Ok(None) };
        let (texts, tags) = answer.split_at(112);
        let (mut bytes, mut accepted) = (vec![0; 112], [!self.algorithm.is_aead(); 2]);
        let keys = self.keys(shared);
        let batch = self.batch(operation, &keys, texts, tags);
        let mut output = Output { bytes: &mut bytes, tags: &mut [], accepted: &mut accepted };
        session.run(&batch, &mut output).map_err(|error| error.to_string())?;
        Ok((accepted == [true; 2]).then_some(bytes))
    }

    /// Both messages have the same key, said once or twice.
    fn keys(&self, shared: bool) -> Vec<u8> {
        if shared { self.key.clone() } else { self.key.repeat(2) }
    }

    /// Bytes of a tag or digest.
    const fn row(&self) -> usize {
        match self.algorithm.hash() {
            Some(hash) => hash.usual_digest_bytes(),
            None if self.algorithm.is_aead() => BLOCK,
            None => 0,
        }
    }

    fn batch<'a>(
        &'a self,
        operation: Operation,
        keys: &'a [u8],
        texts: &'a [u8],
        tags: &'a [u8],
    ) -> Batch<'a> {
        let messages = Messages { source: Source::Apart(texts), offsets: &OFFSETS };
        if let Some(hash) = self.algorithm.hash() {
            return Batch::hash(hash, messages, self.row());
        }
        let keys = if keys.len() > self.key.len() {
            Column::Each { bytes: keys, width: self.key.len() }
        } else {
            Column::Shared(keys)
        };
        let nonces = Column::Each { bytes: &self.nonces, width: self.nonces.len() / 2 };
        match operation {
            Operation::Seal => Batch::seal(self.algorithm, keys, nonces, Column::Shared(&AAD), messages),
            Operation::Open => {
                Batch::open(self.algorithm, keys, nonces, Column::Shared(&AAD), messages, tags)
            }
            _ => Batch::cipher(self.algorithm, operation, keys, nonces, messages),
        }
    }
}

/// Has `session` answer, and compares.
pub(crate) fn check(
    session: &mut dyn Session,
    algorithm: Algorithm,
    operation: Operation,
    shared: bool,
) -> Result<(), String> {
    let known = known(algorithm).ok_or_else(|| format!("there is no known answer for {algorithm}"))?;
    let question = Question::new(algorithm);
    let is_right = if operation == algorithm.forward() {
        question.ask(session, shared)? == known
    } else {
        question.undo(&known, session, shared)?.is_some_and(|texts| texts == question.texts)
    };
    if is_right {
        return Ok(());
    }
    Err(format!(
        "the device gives a wrong answer to {algorithm} {operation}, which is known: do not use it. Delete the folder \
         `cipherlane` in the user's cache, update the driver, and report it if that does not help"
    ))
}

/// The known answer of `algorithm`.
fn known(algorithm: Algorithm) -> Option<Vec<u8>> {
    let name = algorithm.to_string();
    let answer = ANSWERS.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '))?;
    let digit = |place: usize| u8::from_str_radix(answer.get(place..place + 2)?, 16).ok();
    (0..answer.len()).step_by(2).map(digit).collect()
}
