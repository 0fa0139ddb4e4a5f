//! Files of messages with their digests: NIST's SHAVS (SHA-2) and SHA3VS (SHA-3, SHAKE), and the known answers of the
//! Keccak team.
//!
//! Lines `Len = bits`, `Msg = ..` and `MD = ..` (`Output = ..` for SHAKE) make a record, which ends with the digest. A
//! Monte Carlo test has one `Seed = ..` (`Msg = ..` for SHAKE), and each digest is the start of the next turn. The
//! hash function is named by the comments, by the file's name, or by a header of our own: `[sha3-256]`.

use cipherlane_core::{Algorithm, Hash, Operation};

use super::case::OutputLengths;
use super::{Case, Expectation, VectorError, hex};

/// What a file says of itself in its comments, in its name or in its first header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The hash function of the first record.
    pub hash: Hash,
    /// Whether records are turns of a Monte Carlo test.
    pub monte_carlo: bool,
    /// The collection that the file belongs to.
    pub source: &'static str,
}

impl Form {
    /// Recognises a file; `None` if it has no digests.
    ///
    /// # Errors
    /// If it has digests of a function that no device here offers.
    #[must_use]
    pub fn of(name: &str, text: &str) -> Option<Result<Self, String>> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut rest = lines.clone().skip_while(|line| line.starts_with('#'));
        let mut comments = lines.take_while(|line| line.starts_with('#'));
        if let Some(hash) = rest.next().and_then(header).and_then(hash_named) {
            return Some(Ok(Self { hash, monte_carlo: false, source: "file" }));
        }
        // #  "SHA-512/256 ShortMsg" information for "sha_values"
        let title = comments.find_map(|line| {
            line.split('"').nth(1).filter(|title| title.to_ascii_lowercase().starts_with("sha"))
        });
        if let Some(title) = title {
            let mut words = title.split_whitespace();
            let (function, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let form = hash_named(function)
                .map(|hash| Self { hash, monte_carlo: kind == "Monte", source: "NIST CAVP" })
                .ok_or_else(|| format!("it tests {function}, which no device here offers"));
            return Some(form);
        }
        // ShortMsgKAT_256.txt: the number alone stands for Keccak, SHA3-256 for the standard.
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (_, bits) = base.split_once("MsgKAT_")?;
        let hash = hash_named(&format!("keccak-{}", bits.split('.').next().unwrap_or_default()))?;
        Some(Ok(Self { hash, monte_carlo: false, source: "KeccakKAT-3" }))
    }
}

impl Form {
    /// The functions that stand in one collection: `sha-2`, `sha-3`, `shake` or `keccak`.
    #[must_use]
    pub fn family(&self) -> &'static str {
        let name = self.hash.name();
        let families = [("sha-", "sha-2"), ("sha3-", "sha-3"), ("shake", "shake")];
        families.into_iter().find(|(start, _)| name.starts_with(start)).map_or("keccak", |(_, family)| family)
    }
}

/// The hash function that goes by `name` in a file: `SHA-512/256`, `sha-512-256`.
fn hash_named(name: &str) -> Option<Hash> {
    let name = name.to_ascii_lowercase().replace('/', "-");
    Hash::ALL.into_iter().find(|hash| hash.name() == name)
}

/// What stands between the brackets of a header.
fn header(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

/// Reads the cases of a file of that form; `name` is for messages.
///
/// # Errors
/// The first line that cannot be understood, and what would help.
pub fn parse(name: &str, text: &str, form: &Form) -> Result<Vec<Case>, VectorError> {
    let mut reader = Reader { form: form.clone(), ..Reader::new(name) };
    let mut cases = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let case = reader
            .line(index + 1, line.trim())
            .map_err(|problem| VectorError::at_line(name, index + 1, problem))?;
        cases.extend(case);
    }
    Ok(cases)
}

struct Reader<'a> {
    name: &'a str,
    form: Form,
    /// Bits of the next message, where the file says so.
    bits: Option<usize>,
    /// The next message; the seed of the next turn.
    message: Option<Vec<u8>>,
    /// Bits of the digests, where the file says so.
    output_bits: Option<usize>,
    /// Bytes of the shortest and of the longest output of a Monte Carlo test.
    least: Option<usize>,
    most: Option<usize>,
    /// Whether a turn has been read.
    turned: bool,
}

impl<'a> Reader<'a> {
    fn new(name: &'a str) -> Self {
        let form = Form { hash: Hash::Sha256, monte_carlo: false, source: "" };
        Self {
            name,
            form,
            bits: None,
            message: None,
            output_bits: None,
            least: None,
            most: None,
            turned: false,
        }
    }

    fn line(&mut self, number: usize, line: &str) -> Result<Option<Case>, String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if let Some(header) = header(line) {
            return self.header(header).map(|()| None);
        }
        let (field, value) = line
            .split_once('=')
            .ok_or_else(|| format!("`{line}` is neither `Name = value` nor `[header]`"))?;
        let value = value.trim();
        match field.trim().to_ascii_lowercase().as_str() {
            // The number of a record.
            "count" => {}
            "len" => self.bits = Some(integer(value)?),
            "outputlen" => self.output_bits = Some(integer(value)?),
            "msg" | "seed" => self.message = Some(hex::decode(value)?),
            "md" | "output" => return self.case(number, hex::decode(value)?).map(Some),
            other => {
                return Err(format!("unknown field `{other}`; known: Len, Msg, MD, Seed, Outputlen, Output"));
            }
        }
        Ok(None)
    }

    fn header(&mut self, header: &str) -> Result<(), String> {
        if let Some(hash) = hash_named(header) {
            self.form.hash = hash;
            self.output_bits = None;
            return Ok(());
        }
        // Other headers repeat what the records show.
        let Some((name, value)) = header.split_once('=') else { return Ok(()) };
        match name.trim().to_ascii_lowercase().as_str() {
            "outputlen" => self.output_bits = Some(integer(value.trim())?),
            "minimum output length (bits)" => self.least = Some(integer(value.trim())?.div_ceil(8)),
            "maximum output length (bits)" => self.most = Some(integer(value.trim())? / 8),
            _ => {}
        }
        Ok(())
    }

    /// The record that ends with `digest`.
    fn case(&mut self, number: usize, digest: Vec<u8>) -> Result<Case, String> {
        let mut message =
            self.message.take().ok_or("the digest has no `Msg = ..` or `Seed = ..` before it")?;
        let mut expectation = Expectation::Output;
        if self.form.monte_carlo {
            expectation = Expectation::DigestMonteCarlo { lengths: self.lengths(&message)? };
            self.message = Some(digest.clone());
            self.turned = true;
        } else if let Some(bits) = self.bits.take() {
            if message.len() < bits / 8 {
                return Err(format!("the message is shorter than `Len = {bits}` bits"));
            }
            // An empty message is written `Msg = 00`.
            message.truncate(bits / 8);
            if !bits.is_multiple_of(8) {
                expectation = Expectation::NotApplicable("messages that end within a byte");
            }
        }
        if self.output_bits.is_some_and(|bits| !bits.is_multiple_of(8)) {
            expectation = Expectation::NotApplicable("digests that end within a byte");
        } else if self.wanted().is_some_and(|bytes| bytes != digest.len()) {
            let wanted = self.wanted().unwrap_or_default();
            return Err(format!("a digest of {} bytes, where {wanted} are expected", digest.len()));
        }
        Ok(Case {
            source: self.form.source.to_owned(),
            id: format!("{}:{number}", self.name),
            algorithm: Algorithm::Hash(self.form.hash),
            operation: Operation::Hash,
            key: Vec::new(),
            nonce: Vec::new(),
            aad: Vec::new(),
            input: message,
            output: Vec::new(),
            tag: digest,
            expectation,
        })
    }

    /// Bytes of the digest, as far as known.
    fn wanted(&self) -> Option<usize> {
        self.form.hash.digest_bytes().or(self.output_bits.map(|bits| bits / 8))
    }

    /// The lengths of the outputs of a turn that starts from `seed` (SHA3VS section 6.3.3).
    fn lengths(&self, seed: &[u8]) -> Result<Option<OutputLengths>, String> {
        if self.form.hash.digest_bytes().is_some() {
            return Ok(None);
        }
        let (Some(least), Some(most)) = (self.least, self.most) else {
            return Err("which lengths? put [Minimum Output Length (bits) = n] and Maximum before the seed"
                .to_owned());
        };
        if least == 0 || least > most {
            return Err(format!("no outputs have {least} to {most} bytes"));
        }
        let lengths = OutputLengths { first: most, least, most };
        Ok(Some(if self.turned { OutputLengths { first: lengths.after(seed), ..lengths } } else { lengths }))
    }
}

fn integer(value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("`{value}` is no number"))
}
