//! One JSON object a line: written as each row finishes, so that an interruption keeps all finished rows.

mod finite;
mod write;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use write::{Writer, end_last_line};

use crate::measurement::Measurement;
use crate::observation::Observation;

/// A line of a file of records.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A cipher on a workload.
    Measurement(Box<Measurement>),
    /// Something else.
    Observation(Box<Observation>),
}

impl Record {
    /// The experiment that the row belongs to.
    #[must_use]
    pub fn experiment(&self) -> &str {
        match self {
            Self::Measurement(row) => &row.experiment,
            Self::Observation(row) => &row.experiment,
        }
    }

    /// Where it was measured.
    #[must_use]
    pub fn host(&self) -> &crate::host::Host {
        match self {
            Self::Measurement(row) => &row.host,
            Self::Observation(row) => &row.host,
        }
    }
}

/// The measurements among `records`, in their order.
#[must_use]
pub fn measurements(records: Vec<Record>) -> Vec<Measurement> {
    let measurement = |record| match record {
        Record::Measurement(row) => Some(*row),
        Record::Observation(_) => None,
    };
    records.into_iter().filter_map(measurement).collect()
}

/// Why rows could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A line is not a row.
    #[error(
        "{}:{line}: not {kind} of schema version {}: {error}; {remedy}",
        path.display(),
        crate::SCHEMA_VERSION
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What it begins as: `a measurement`, `an observation`, or `a record` where it does not say.
        kind: &'static str,
        /// What is wrong with it.
        error: serde_json::Error,
        /// What helps.
        remedy: &'static str,
    },
    /// A line that is nothing which could be a row.
    #[error("{}:{line}: {what}", path.display())]
    NoRow {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What it is, and what helps.
        what: &'static str,
    },
    /// A line of a version that this program does not know.
    #[error(
        "{}:{line}: schema version {found}, this program reads {}; use the program that wrote it",
        path.display(),
        crate::SCHEMA_VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// Its version.
        found: u32,
    },
    /// A record of a kind that this program does not know.
    #[error(
        "{}:{line}: a record of the kind {found:?}, which this program does not know; use the program that wrote it, or \
         remove the line to keep the others",
        path.display()
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// Its kind.
        found: String,
    },
}

/// What helps against `error`, which a parser found in `text`.
fn remedy(text: &str, error: &serde_json::Error) -> &'static str {
    if text.rfind(BEGINNING_OF_ROW).is_some_and(|place| place > 0) {
        "another row begins within the line, which was cut short: remove what stands before the last {\"schema_version\" \
         to keep that row"
    } else if is_cut(text, error) {
        "the line was cut short: remove it to keep the others"
    } else if error.is_data() {
        "if a newer program wrote it, use that; else remove the line to keep the others"
    } else {
        "name a file of records, or remove the line to keep the others"
    }
}

/// What every row begins with. Within strings of a row quotation marks stand behind a backslash.
const BEGINNING_OF_ROW: &str = "{\"schema_version\":";

/// Whether `text` ends where it may not. Within a number, behind its point or in its exponent, the parser calls that a wrong
/// number, at the last column.
fn is_cut(text: &str, error: &serde_json::Error) -> bool {
    let is_in_number = text.ends_with(['.', 'e', '+', '-']) && error.column() == text.len();
    error.is_eof() || (error.is_syntax() && is_in_number)
}

/// Reads all rows of the file at `path`. Empty lines are passed over.
///
/// # Errors
/// The first line that is not a row, by its number.
pub fn read(path: &Path) -> Result<Vec<Record>, ReadError> {
    let file = File::open(path).map_err(|error| ReadError::File { path: path.to_owned(), error })?;
    read_from(BufReader::new(file), path)
}

/// Reads all rows of `source`; `path` names it in errors.
///
/// # Errors
/// The first line that is not a row, by its number.
pub fn read_from(mut source: impl BufRead, path: &Path) -> Result<Vec<Record>, ReadError> {
    let (mut rows, mut bytes) = (Vec::new(), Vec::new());
    for line in 1.. {
        bytes.clear();
        let read = source.by_ref().take(MOST_OF_LINE + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|error| ReadError::File { path: path.to_owned(), error })? == 0 {
            break;
        }
        let text =
            text(&bytes, line).map_err(|what| ReadError::NoRow { path: path.to_owned(), line, what })?;
        if !text.trim().is_empty() {
            rows.push(parse(text.trim_end(), path, line)?);
        }
    }
    Ok(rows)
}

/// Bytes of a line at most. A row with all its samples has some hundred thousand.
const MOST_OF_LINE: u64 = 64 << 20;

/// What files that are no text begin with, what that makes of them, and what helps.
const BEGINNINGS: [(&[u8], &str); 6] = [
    (b"\xEF\xBB\xBF", "it begins with a byte-order mark; save it as UTF-8 without one"),
    (b"\xFF\xFE", "it is UTF-16; save it as UTF-8 without a byte-order mark"),
    (b"\xFE\xFF", "it is UTF-16; save it as UTF-8 without a byte-order mark"),
    (b"\x1F\x8B", "it is compressed by gzip; decompress it first"),
    (b"\x28\xB5\x2F\xFD", "it is compressed by zstd; decompress it first"),
    (b"\xFD7zXZ", "it is compressed by xz; decompress it first"),
];

/// The text of line number `line`.
///
/// # Errors
/// What it is instead, and what helps.
fn text(bytes: &[u8], line: usize) -> Result<&str, &'static str> {
    let of_file = BEGINNINGS.iter().find(|(begin, _)| line == 1 && bytes.starts_with(begin));
    if let Some((_, what)) = of_file {
        return Err(what);
    }
    if bytes.len() as u64 > MOST_OF_LINE {
        return Err("it goes on for more than 64 MiB, as no row does; name a file of records");
    }
    if bytes.contains(&0) {
        return Err(
            "it has zeros in it, as a machine that stopped may leave them; remove the line to keep the others",
        );
    }
    std::str::from_utf8(bytes).map_err(
        |_| "it has bytes that are no UTF-8; name a file of records, or remove the line to keep the others",
    )
}

/// Whether `path` names a table that was made of records.
fn is_table(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["csv", "md"].iter().any(|table| ending.eq_ignore_ascii_case(table)))
}

/// What is read first: a row of another version may have any other fields, and an observation has others than a
/// measurement.
#[derive(serde::Deserialize)]
struct Head {
    schema_version: u32,
    record: Option<String>,
}

/// Fields that it does not know are passed over: later writers of the same version have more of them.
fn parse(text: &str, path: &Path, line: usize) -> Result<Record, ReadError> {
    let wrong = |kind, error| {
        let remedy = remedy(text, &error);
        ReadError::Line { path: path.to_owned(), line, kind, error, remedy }
    };
    let head: Head = serde_json::from_str(text).map_err(|error| {
        if line == 1 && is_table(path) && !text.starts_with('{') {
            let what = "this is a table, not records; name the file of records (.jsonl) that it was made of";
            return ReadError::NoRow { path: path.to_owned(), line, what };
        }
        wrong("a record", error)
    })?;
    let found = head.schema_version;
    if found != crate::SCHEMA_VERSION {
        return Err(ReadError::Version { path: path.to_owned(), line, found });
    }
    match head.record.as_deref() {
        None => serde_json::from_str(text)
            .map(|row| Record::Measurement(Box::new(row)))
            .map_err(|error| wrong("a measurement", error)),
        Some("observation") => serde_json::from_str(text)
            .map(|row| Record::Observation(Box::new(row)))
            .map_err(|error| wrong("an observation", error)),
        Some(kind) => Err(ReadError::Kind { path: path.to_owned(), line, found: kind.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8], name: &str) -> String {
        read_from(bytes, Path::new(name)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line_and_what_helps() {
        for (bytes, said) in [
            (&b"\xEF\xBB\xBF{}\n"[..], "a:1: it begins with a byte-order mark; save it as UTF-8 without one"),
            (b"\xFF\xFE{\0}\0\n\0", "a:1: it is UTF-16; save it as UTF-8"),
            (b"\x1F\x8B\x08\0\0\n", "a:1: it is compressed by gzip; decompress it first"),
            (b"\n\r\n\0\0\0\n", "a:3: it has zeros in it"),
            (
                b"\n{\"a\": \"\xFF\"}\n",
                "a:2: it has bytes that are no UTF-8; name a file of records, or remove the line",
            ),
        ] {
            let error = error(bytes, "a");
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn a_table_is_no_file_of_records() {
        let table = b"experiment,workload\r\nbench,bulk\r\n";
        assert_eq!(
            error(table, "rows.CSV"),
            "rows.CSV:1: this is a table, not records; name the file of records (.jsonl) that it was made of"
        );
        assert!(error(table, "rows.jsonl").starts_with("rows.jsonl:1: not a record"));
        // Rows are rows, whatever their file is called.
        assert!(error(b"{}", "rows.csv").starts_with("rows.csv:1: not a record"));
    }
}
