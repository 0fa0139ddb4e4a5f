//! Files that results go to, `-` for stdout.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use clap::builder::{OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory};

use super::stdout::stdout;
use crate::exit::Usage;

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file, which is replaced.
    File(PathBuf),
}

/// Names of files need not be UTF-8.
impl TryFrom<OsString> for Sink {
    type Error = &'static str;

    fn try_from(name: OsString) -> Result<Self, Self::Error> {
        if name.is_empty() {
            // What a script gives of a variable that was not set.
            return Err(
                "no file has an empty name; give its path, or leave the option and its variable unset",
            );
        }
        Ok(if name == "-" { Self::Stdout } else { Self::File(name.into()) })
    }
}

/// How clap comes to a `T` from an argument.
pub(crate) type Parser<T> = TryMapValueParser<OsStringValueParser, fn(OsString) -> Result<T, &'static str>>;

impl ValueParserFactory for Sink {
    type Parser = Parser<Self>;

    fn value_parser() -> Self::Parser {
        let parse: fn(OsString) -> Result<Self, &'static str> = Self::try_from;
        OsStringValueParser::new().try_map(parse)
    }
}

/// Takes a file by its name, where [`Sink::Stdout`] does not serve: an error if it has no name, or standard output was
/// asked for.
pub(crate) fn file() -> Parser<PathBuf> {
    let parse: fn(OsString) -> Result<PathBuf, &'static str> = |name| match Sink::try_from(name)? {
        Sink::Stdout => Err("this is no result for stdout; name a file, ./- for one of this name"),
        Sink::File(path) => Ok(path),
    };
    OsStringValueParser::new().try_map(parse)
}

/// Takes a file that is read by its name: an error if it has none, or if it is the sign that elsewhere stands for standard
/// input.
pub(crate) fn file_to_read() -> Parser<PathBuf> {
    let parse: fn(OsString) -> Result<PathBuf, &'static str> = |name| match name.to_str() {
        Some("") => Err("no file has an empty name; give its path"),
        Some("-") => {
            Err("a file is read here; name it, /dev/stdin for standard input, ./- for one of this name")
        }
        _ => Ok(name.into()),
    };
    OsStringValueParser::new().try_map(parse)
}

/// That the file at `path` cannot be written, and what helps.
pub(crate) fn cannot_write(path: &Path) -> String {
    format!("cannot write {}; give the path of a file in a folder that you may write to", path.display())
}

impl Sink {
    /// Opens it for writing; a file that is there is replaced.
    pub(crate) fn open(&self) -> Result<Box<dyn Write>> {
        match self {
            Self::Stdout => Ok(Box::new(stdout())),
            Self::File(path) => Ok(Box::new(create(path)?)),
        }
    }

    /// Opens it for results: a file that is there is replaced with the first of them, and what an earlier experiment of
    /// this command wrote to it stays.
    pub(crate) fn open_for_results(&self) -> Result<Box<dyn Write>> {
        match self {
            Self::Stdout => self.open(),
            Self::File(path) => Ok(Box::new(ResultFile::open(path)?)),
        }
    }

    /// Whether it can be written, asked before what takes time; a file that is there stays as it is.
    pub(crate) fn check(&self) -> Result<()> {
        self.open_for_results().map(drop)
    }

    /// Has `write` fill it, in place of a file that is there.
    ///
    /// # Errors
    /// If it cannot be opened, or not be written to its end, with its name.
    pub(crate) fn fill(&self, write: impl FnOnce(Box<dyn Write>) -> io::Result<()>) -> Result<()> {
        write(self.open()?).with_context(|| self.cut_short())
    }

    /// The same of results, as [`Sink::open_for_results`] opens it.
    pub(crate) fn fill_with_results(
        &self,
        write: impl FnOnce(Box<dyn Write>) -> io::Result<()>,
    ) -> Result<()> {
        write(self.open_for_results()?).with_context(|| self.cut_short())
    }

    /// Has it hold `text`.
    ///
    /// # Errors
    /// Those of [`Sink::fill`].
    pub(crate) fn fill_with_text(&self, text: &str) -> Result<()> {
        self.fill(|mut target| {
            target.write_all(text.as_bytes())?;
            target.flush()
        })
    }

    fn cut_short(&self) -> String {
        format!("{self} cannot be written to its end")
    }

    /// Writes one JSON value and a newline.
    pub(crate) fn write_json(&self, value: &impl serde::Serialize) -> Result<()> {
        self.write_json_lines(std::slice::from_ref(value))
    }

    /// Writes JSON values, each with a newline.
    pub(crate) fn write_json_lines(&self, values: &[impl serde::Serialize]) -> Result<()> {
        let mut lines = String::new();
        for value in values {
            lines += &serde_json::to_string(value).context("a result cannot be written as JSON")?;
            lines.push('\n');
        }
        self.fill_with_text(&lines)
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// What tells a file from all others, by whatever name it goes: its device and its number there.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    // What is not there can neither be read nor lost.
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

/// Whether the two are names of one file, which need not be there.
fn is_one_file(one: &Path, other: &Path) -> bool {
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        _ => std::path::absolute(one).ok() == std::path::absolute(other).ok(),
    }
}

/// Files that this command reads.
static READ: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Says that this command reads the file at `path`, which no result may replace from then on.
pub(crate) fn protect(path: &Path) {
    if let Some(identity) = identity(path) {
        READ.lock().unwrap_or_else(PoisonError::into_inner).insert(identity);
    }
}

/// Whether this command reads the file at `path`, by whatever name.
pub(crate) fn is_read(path: &Path) -> bool {
    let read = |identity| READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&identity);
    identity(path).is_some_and(read)
}

/// Makes the file at `path`, in place of one that is there.
///
/// # Errors
/// [`Usage`] if this command reads it, by whatever name.
pub(crate) fn create(path: &Path) -> Result<File> {
    open(path, File::options().write(true).create(true).truncate(true))
}

/// Opens the file at `path` as `options` say.
///
/// # Errors
/// [`Usage`] if this command reads it, by whatever name.
fn open(path: &Path, options: &OpenOptions) -> Result<File> {
    if is_read(path) {
        let path = path.display();
        return Err(
            Usage(format!("{path} is read by this command, and would be lost; name another file")).into()
        );
    }
    options.open(path).with_context(|| cannot_write(path))
}

/// Files that this command has put results in.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether this command has put results in the file at `path`.
pub(crate) fn has_begun(path: &Path) -> bool {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
}

/// A file for results. What was in it is lost to the first of them and not before, so that a command which comes to
/// none costs nobody those of another, and leaves no file that was not there; one that this command has put results in is
/// gone on with.
#[derive(Debug)]
pub(crate) struct ResultFile {
    file: File,
    /// The path of a file that this command has put nothing in.
    untouched: Option<PathBuf>,
    /// It was not there before.
    is_new: bool,
}

impl ResultFile {
    /// Opens the file at `path`, or makes it.
    ///
    /// # Errors
    /// [`Usage`] if this command reads it, by whatever name.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let has_begun = has_begun(path);
        let is_new = fs::symlink_metadata(path).is_err();
        let file = if has_begun {
            // Adding to it loses nothing, even where a report was made of it meanwhile.
            let file = File::options().create(true).append(true).open(path);
            file.with_context(|| format!("cannot go on with {}", path.display()))?
        } else {
            open(path, File::options().write(true).create(true).truncate(false))?
        };
        Ok(Self { file, untouched: (!has_begun).then(|| path.to_owned()), is_new })
    }
}

impl Drop for ResultFile {
    fn drop(&mut self) {
        let Some(path) = self.untouched.as_ref().filter(|_| self.is_new) else { return };
        // Whoever else has put something in it meanwhile keeps that.
        if self.file.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
            // It is empty, and in nobody's way if it stays.
            drop(fs::remove_file(path));
        }
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(path) = self.untouched.take() {
            // Pipes and terminals have no length.
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            BEGUN.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether one of `sinks` is stdout.
///
/// # Errors
/// If several are: they would be mixed. If several are one file: the last would replace the others.
pub(crate) fn takes_stdout<const N: usize>(sinks: [(&str, Option<&Sink>); N]) -> Result<bool, Usage> {
    let names: Vec<&str> =
        sinks.iter().filter(|(_, sink)| *sink == Some(&Sink::Stdout)).map(|(name, _)| *name).collect();
    if names.len() > 1 {
        return Err(Usage(format!(
            "{} would mix on stdout; give a file to all but one of them",
            names.join(" and ")
        )));
    }
    for (index, (name, sink)) in sinks.iter().enumerate() {
        if let Some(Sink::File(path)) = sink {
            check_apart((name, path), &sinks[..index])?;
        }
    }
    Ok(names.len() == 1)
}

/// Whether the file that the option `name` gives for a result is no other's of `sinks`.
///
/// # Errors
/// If it is one of theirs: the last would replace the others.
pub(crate) fn check_apart((name, path): (&str, &Path), sinks: &[(&str, Option<&Sink>)]) -> Result<(), Usage> {
    let same =
        sinks.iter().find(|(_, sink)| matches!(sink, Some(Sink::File(other)) if is_one_file(other, path)));
    same.map_or(Ok(()), |(other, _)| {
        let path = path.display();
        Err(Usage(format!("{other} and {name} would both write {path}; give each its own file")))
    })
}
