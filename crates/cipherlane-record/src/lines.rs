//! One JSON object a line: written as each row finishes, so that an interruption keeps all finished rows.

mod finite;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::measurement::Measurement;
use crate::observation::{Kind, Observation};

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

/// Appends rows, one line each, and flushes after each.
#[derive(Debug)]
pub struct Writer<W: Write> {
    sink: Sink<W>,
}

/// Where lines go.
#[derive(Debug)]
enum Sink<W> {
    /// There.
    Open(W),
    /// To what is made at this path with the first of them: who writes none leaves nothing.
    Named(PathBuf, fn(&Path) -> io::Result<W>),
}

impl<W> Sink<W> {
    fn open(&mut self) -> io::Result<&mut W> {
        if let Self::Named(path, make) = self {
            *self = Self::Open(make(path)?);
        }
        match self {
            Self::Open(sink) => Ok(sink),
            Self::Named(..) => unreachable!("it was opened"),
        }
    }
}

impl<W: Write> Writer<W> {
    /// Writes to `sink`.
    pub const fn new(sink: W) -> Self {
        Self { sink: Sink::Open(sink) }
    }

    /// Writes one measurement and flushes it.
    ///
    /// # Errors
    /// If the sink fails, or a number of the row is none, which no line can say.
    pub fn append(&mut self, row: &Measurement) -> io::Result<()> {
        self.line(row)
    }

    /// Writes one observation and flushes it.
    ///
    /// # Errors
    /// If the sink fails, or a number of the row is none, which no line can say.
    pub fn observe(&mut self, row: &Observation) -> io::Result<()> {
        self.line(row)
    }

    fn line(&mut self, row: &impl serde::Serialize) -> io::Result<()> {
        finite::check(row)?;
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        // One write, so that no half line is left where the sink is a file and the process dies.
        let sink = self.sink.open()?;
        sink.write_all(&line)?;
        sink.flush()
    }
}

impl Writer<File> {
    /// Appends to the file at `path`; its last line is ended first. Where there is none, the first row makes it.
    ///
    /// # Errors
    /// If it cannot be opened, read, made or written, which is tried at once.
    pub fn open(path: &Path) -> io::Result<Self> {
        let is_new = path.symlink_metadata().is_err();
        let mut file = appended(path)?;
        if is_new {
            drop(file);
            std::fs::remove_file(path)?;
            return Ok(Self { sink: Sink::Named(path.to_owned(), appended) });
        }
        end_last_line(&mut file)?;
        Ok(Self::new(file))
    }
}

/// The file at `path`, which is made where there is none, to be added to.
fn appended(path: &Path) -> io::Result<File> {
    File::options().create(true).read(true).append(true).open(path)
}

/// Ends the last line of `file`, which is open for reading and appending, unless it is ended: a full disk or a machine that
/// stopped may have cut it.
///
/// # Errors
/// If it cannot be read or written.
pub fn end_last_line(file: &mut File) -> io::Result<()> {
    let mut last = [b'\n'];
    // Pipes and terminals have no length.
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] { Ok(()) } else { file.write_all(b"\n") }
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
        "{}:{line}: not a measurement of schema version {}: {error}{}",
        path.display(),
        crate::SCHEMA_VERSION,
        if *is_cut { "; the line was cut short: remove it to keep the others" } else { "" }
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
        /// Whether it is cut short, as the last one is when a disk fills up or a machine stops.
        is_cut: bool,
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
}

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
    record: Option<Kind>,
}

fn parse(text: &str, path: &Path, line: usize) -> Result<Record, ReadError> {
    let wrong = |error| {
        let is_cut = is_cut(text, &error);
        ReadError::Line { path: path.to_owned(), line, error, is_cut }
    };
    let head: Head = serde_json::from_str(text).map_err(|error| {
        if line == 1 && is_table(path) && !text.starts_with('{') {
            let what = "this is a table, not records; name the file of records (.jsonl) that it was made of";
            return ReadError::NoRow { path: path.to_owned(), line, what };
        }
        wrong(error)
    })?;
    let found = head.schema_version;
    if found != crate::SCHEMA_VERSION {
        return Err(ReadError::Version { path: path.to_owned(), line, found });
    }
    match head.record {
        None => serde_json::from_str(text).map(Box::new).map(Record::Measurement),
        Some(Kind::Observation) => serde_json::from_str(text).map(Box::new).map(Record::Observation),
    }
    .map_err(wrong)
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
    fn a_file_of_no_rows_is_not_made_and_a_wrong_path_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let writer = Writer::open(&path).unwrap();
        assert!(!path.exists());
        drop(writer);
        assert!(!path.exists());
        let mut writer = Writer::open(&path).unwrap();
        writer.line(&1).unwrap();
        writer.line(&2).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
        // What is there stays, empty or not.
        let empty = folder.path().join("empty.jsonl");
        std::fs::write(&empty, "").unwrap();
        drop(Writer::open(&empty).unwrap());
        assert!(empty.exists());
        assert!(Writer::open(&folder.path().join("nowhere/rows.jsonl")).is_err());
    }

    #[test]
    fn a_table_is_no_file_of_records() {
        let table = b"experiment,workload\r\nbench,bulk\r\n";
        assert_eq!(
            error(table, "rows.CSV"),
            "rows.CSV:1: this is a table, not records; name the file of records (.jsonl) that it was made of"
        );
        assert!(error(table, "rows.jsonl").starts_with("rows.jsonl:1: not a measurement"));
        // Rows are rows, whatever their file is called.
        assert!(error(b"{}", "rows.csv").starts_with("rows.csv:1: not a measurement"));
    }
}
