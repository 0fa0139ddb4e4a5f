//! The response files of NIST's Cryptographic Algorithm Validation Program (`.rsp`).
//!
//! A file is comments (`# ..`), headers that hold until changed (`[ENCRYPT]`, `[Taglen = 96]`) and records: from
//! one `COUNT = n` to the next, lines `NAME = value`, and `FAIL` where a tag is wrong. The formats are those of
//! AESVS (ECB, CBC), GCMVS and XTSVS. Vectors of other documents and of other ciphers are published in the same form:
//! a comment such as `# SM4 CBC` names cipher and mode.

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, BLOCK, Cipher, Mode};

use super::{Case, Expectation, Start, VectorError, hex};

/// Families of ciphers besides AES, which is meant where none is named.
const FAMILIES: [&str; 3] = ["camellia", "sc2000", "sm4"];

/// Words of the comments that give away the collection, and its name.
const SOURCES: [(&str, &str); 4] = [
    ("rfc 3686", "RFC 3686"),
    ("rfc8998", "RFC 8998"),
    ("draft-ribose-cfrg-sm4", "draft-ribose-cfrg-sm4"),
    ("openssl", "OpenSSL"),
];

/// What a file says of itself in its comments, or in its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The family of the cipher; the length of a key says which of it.
    pub family: &'static str,
    /// The mode of all records.
    pub mode: Mode,
    /// Whether records are turns of a Monte Carlo test.
    pub monte_carlo: bool,
    /// The direction, where the file and not a header says it (GCM).
    pub forward: Option<bool>,
    /// The collection that the file belongs to.
    pub source: &'static str,
}

impl Form {
    /// Recognises a file by its comments, then by its name.
    ///
    /// # Errors
    /// What the file seems to be instead, or what to add to it.
    pub fn of(name: &str, text: &str) -> Result<Self, String> {
        let comments: Vec<&str> =
            text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with('#')).collect();
        let comments = comments.join("\n").to_ascii_lowercase();
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let says = |word: &str| comments.contains(word) || base.contains(word);
        let other = FAMILIES.into_iter().find(|family| says(family));
        let mode = if other.is_some() {
            mode_named(&comments).or_else(|| mode_named(&base))
        } else {
            mode_in_comments(&comments)?.or_else(|| mode_in_name(&base))
        };
        let mode = mode.ok_or(
            "neither its comments nor its name say which mode it tests; add a comment line such as \
             `# AESVS MMT test data for CBC`, `# AES Counter test vectors`, `# GCM Decrypt test information`, \
             `# XTSGen information` or `# Camellia CBC`",
        )?;
        // NIST has files to seal and files to open. Others print examples of sealing.
        let told = says("encrypt") || says("decrypt") || other.is_some();
        let forward = (mode == Mode::Gcm && told).then(|| !says("decrypt"));
        let known = SOURCES.into_iter().find(|(words, _)| comments.contains(words));
        let source = known.map_or(if other.is_some() { "file" } else { "NIST CAVP" }, |(_, source)| source);
        Ok(Self { family: other.unwrap_or("aes"), mode, monte_carlo: says("mct"), forward, source })
    }
}

/// The mode whose name is one of the words.
fn mode_named(words: &str) -> Option<Mode> {
    words
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .find_map(|word| Mode::ALL.into_iter().find(|mode| mode.name() == word))
}

fn mode_in_comments(comments: &str) -> Result<Option<Mode>, String> {
    if let Some((_, after)) = comments.split_once("test data for ") {
        let word = after.split_whitespace().next().unwrap_or_default();
        if !comments.contains("aes") {
            return Err("it does not name AES".to_owned());
        }
        return match word {
            "ecb" => Ok(Some(Mode::Ecb)),
            "cbc" => Ok(Some(Mode::Cbc)),
            "ctr" => Ok(Some(Mode::Ctr)),
            other => Err(format!("it tests the mode {other}, which no device here offers")),
        };
    }
    let by_words = [
        ("aes counter", Mode::Ctr),
        ("gcm encrypt", Mode::Gcm),
        ("gcm decrypt", Mode::Gcm),
        ("xtsgen", Mode::Xts),
    ];
    Ok(by_words.into_iter().find(|(words, _)| comments.contains(words)).map(|(_, mode)| mode))
}

fn mode_in_name(base: &str) -> Option<Mode> {
    let starts = |prefix| base.starts_with(prefix);
    match () {
        () if starts("gcmencrypt") || starts("gcmdecrypt") => Some(Mode::Gcm),
        () if starts("xtsgen") => Some(Mode::Xts),
        () if base.contains("aes") => Mode::ALL.into_iter().find(|mode| base.contains(mode.name())),
        () => None,
    }
}

/// Reads the cases of a file; `name` is for messages and for recognising it.
///
/// # Errors
/// The first line that cannot be understood, and what would help.
pub fn parse(name: &str, text: &str) -> Result<Vec<Case>, VectorError> {
    let form = Form::of(name, text).map_err(|problem| VectorError::at_line(name, 1, problem))?;
    let mut reader = Reader { name, form, forward: None, record: None, cases: Vec::new() };
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim())?;
    }
    reader.flush()?;
    if reader.form.monte_carlo {
        link(&mut reader.cases);
    }
    Ok(reader.cases)
}

/// One record as it stands in the file.
struct Record {
    line: usize,
    /// Lower-case name to value and line.
    fields: BTreeMap<String, (String, usize)>,
    fails: bool,
}

struct Reader<'a> {
    name: &'a str,
    form: Form,
    /// What the last `[ENCRYPT]` or `[DECRYPT]` said.
    forward: Option<bool>,
    record: Option<Record>,
    cases: Vec<Case>,
}

impl Reader<'_> {
    fn error(&self, line: usize, problem: impl Into<String>) -> VectorError {
        VectorError::at_line(self.name, line, problem)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), VectorError> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with('[') {
            self.flush()?;
            match line.trim_matches(['[', ']', ' ']).to_ascii_uppercase().as_str() {
                "ENCRYPT" => self.forward = Some(true),
                "DECRYPT" => self.forward = Some(false),
                // Lengths: the records show them.
                header if header.contains('=') => {}
                _ => {
                    return Err(
                        self.error(number, "an unknown header; known: [ENCRYPT], [DECRYPT], [Name = n]")
                    );
                }
            }
            return Ok(());
        }
        if let Some((name, value)) = line.split_once('=') {
            return self.field(number, &name.trim().to_ascii_lowercase(), value.trim());
        }
        match (&mut self.record, line) {
            (Some(record), "FAIL") => record.fails = true,
            _ => {
                let problem = format!("`{line}` is neither `NAME = value`, `[HEADER]`, `# comment` nor FAIL");
                return Err(self.error(number, problem));
            }
        }
        Ok(())
    }

    fn field(&mut self, number: usize, name: &str, value: &str) -> Result<(), VectorError> {
        if name == "count" {
            self.flush()?;
            self.record = Some(Record { line: number, fields: BTreeMap::new(), fails: false });
            return Ok(());
        }
        let repeated = match &mut self.record {
            None => {
                return Err(self.error(number, "a record starts with `COUNT = n`; put that line before it"));
            }
            Some(record) => record.fields.insert(name.to_owned(), (value.to_owned(), number)).is_some(),
        };
        if repeated {
            return Err(self.error(
                number,
                format!("the record has a second {name}; start the next record with `COUNT = n`"),
            ));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), VectorError> {
        if let Some(record) = self.record.take() {
            let case = self.case(&record)?;
            self.cases.push(case);
        }
        Ok(())
    }

    fn case(&self, record: &Record) -> Result<Case, VectorError> {
        let mode = self.form.mode;
        let forward = self.forward.or(self.form.forward).ok_or_else(|| {
            self.error(
                record.line,
                "whether to encrypt or to decrypt? put [ENCRYPT] or [DECRYPT] before the record",
            )
        })?;
        let key = self.bytes(record, &["key"])?;
        let cipher_key = if mode == Mode::Xts { key.len() / 2 } else { key.len() };
        let family = self.form.family;
        let fits = |cipher: &Cipher| cipher.family() == family && cipher.key_bytes() == cipher_key;
        let cipher = Cipher::ALL.into_iter().find(fits).ok_or_else(|| {
            let name = format!("{family}-{}", mode.name()).to_uppercase();
            self.error(record.line, format!("no {name} has a key of {} bytes", key.len()))
        })?;
        let (plain, coded): (&[&str], &[&str]) = (&["pt", "plaintext"], &["ct", "ciphertext"]);
        let (from, to) = if forward { (plain, coded) } else { (coded, plain) };
        let algorithm = Algorithm::new(cipher, mode);
        Ok(Case {
            source: self.form.source.to_owned(),
            id: format!("{}:{}", self.name, record.line),
            algorithm,
            operation: algorithm.operations()[usize::from(!forward)],
            key,
            nonce: self.nonce(record)?,
            aad: if algorithm.is_aead() { self.bytes(record, &["aad"])? } else { Vec::new() },
            input: self.bytes(record, from)?,
            output: if record.fails { Vec::new() } else { self.bytes(record, to)? },
            tag: if algorithm.is_aead() { self.bytes(record, &["tag"])? } else { Vec::new() },
            expectation: self.expectation(record)?,
        })
    }

    fn nonce(&self, record: &Record) -> Result<Vec<u8>, VectorError> {
        match self.form.mode {
            Mode::Ecb => Ok(Vec::new()),
            Mode::Cbc | Mode::Ctr | Mode::Gcm => self.bytes(record, &["iv"]),
            Mode::Xts => match record.fields.get("dataunitseqnumber") {
                // The data unit's number, little-endian (IEEE 1619 section 5.1).
                Some((number, line)) => number
                    .parse::<u128>()
                    .map(|number| number.to_le_bytes().to_vec())
                    .map_err(|_| self.error(*line, format!("`{number}` is no number of a data unit"))),
                None => self.bytes(record, &["i"]),
            },
        }
    }

    fn expectation(&self, record: &Record) -> Result<Expectation, VectorError> {
        if record.fails {
            return Ok(Expectation::Reject);
        }
        if self.form.monte_carlo {
            return Ok(Expectation::MonteCarlo { next: None });
        }
        match record.fields.get("dataunitlen") {
            None => Ok(Expectation::Output),
            Some((bits, line)) => match bits.parse::<u64>() {
                Ok(bits) if bits.is_multiple_of(8) => Ok(Expectation::Output),
                Ok(_) => Ok(Expectation::NotApplicable("XTS data units that end within a byte")),
                Err(_) => Err(self.error(*line, format!("`{bits}` is no number of bits"))),
            },
        }
    }

    /// The field that goes by one of `names`.
    fn bytes(&self, record: &Record, names: &[&str]) -> Result<Vec<u8>, VectorError> {
        let found = names.iter().find_map(|name| record.fields.get(*name));
        let (value, line) = found.ok_or_else(|| {
            self.error(record.line, format!("the record lacks `{} = ..`", names[0].to_ascii_uppercase()))
        })?;
        hex::decode(value).map_err(|problem| self.error(*line, problem))
    }
}

/// Tells each turn of a Monte Carlo test where the next one starts (the tests of both directions stand apart).
fn link(cases: &mut [Case]) {
    for index in 1..cases.len() {
        let (before, after) = cases.split_at_mut(index);
        let (turn, next) = (&mut before[index - 1], &after[0]);
        if turn.operation == next.operation && next.input.len() == BLOCK {
            turn.expectation = Expectation::MonteCarlo {
                next: Some(Box::new(Start {
                    key: next.key.clone(),
                    nonce: next.nonce.clone(),
                    input: next.input.clone(),
                })),
            };
        }
    }
}
