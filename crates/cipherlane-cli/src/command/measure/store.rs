//! Where rows are kept.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use cipherlane_record::{Measurement, Observation, Writer, date, end_last_line};

use super::records::Records;
use super::{How, stop_unread};
use crate::render::complain;
use crate::render::sink::{self, Sink};
use crate::render::stdout::reader_has_left;

/// Records, written as rows finish.
pub(super) struct Store {
    writer: Option<Writer<Box<dyn Write>>>,
    path: Option<PathBuf>,
    /// Its file has rows of before.
    adds: bool,
}

impl Store {
    /// Opens what `--json` names, or a new file of this run, called `name`, in the user's data folder. Opens every other result file
    /// as well, so that a wrong path is known before the run and not after it.
    pub(super) fn open(how: &How, name: &str) -> Result<Self> {
        if let Some(path) = how.records.resumed() {
            sink::protect(path);
        }
        for sink in [&how.csv, &how.md].into_iter().flatten() {
            sink.check()?;
        }
        match &how.records {
            Records::GoOn(path) => {
                let file =
                    open_to_go_on(path).with_context(|| format!("cannot go on with {}", path.display()))?;
                Ok(Self { writer: Some(Writer::new(Box::new(file))), path: Some(path.clone()), adds: true })
            }
            Records::To(sink @ Sink::Stdout) => {
                Ok(Self { writer: Some(Writer::new(sink.open()?)), path: None, adds: false })
            }
            Records::To(Sink::File(path)) => Self::at(path.clone()),
            Records::New => Ok(new_path(name).and_then(Self::at).unwrap_or_else(|reason| {
                complain(
                    "warning",
                    &format!("records are not kept: {reason:#}; name a file with --json FILE"),
                );
                Self { writer: None, path: None, adds: false }
            })),
        }
    }

    fn at(path: PathBuf) -> Result<Self> {
        // Another experiment of this command may have put its rows there.
        let adds = sink::has_begun(&path);
        let file = Sink::File(path.clone()).open_for_results()?;
        Ok(Self { writer: Some(Writer::new(file)), path: Some(path), adds })
    }

    /// Writes a row at once.
    pub(super) fn append(&mut self, row: &Measurement) -> io::Result<()> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.append(row));
        self.ended(written)
    }

    /// Writes an observation at once.
    pub(super) fn observe(&mut self, row: &Observation) -> io::Result<()> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.observe(row));
        self.ended(written)
    }

    /// What came of writing a row. Once nobody reads the rows on stdout, no more are measured.
    fn ended(&self, written: io::Result<()>) -> io::Result<()> {
        if self.writer.is_some() && self.path.is_none() && reader_has_left() {
            stop_unread();
        }
        written.map_err(|error| self.named(&error))
    }

    /// The error with the name of where the records go.
    fn named(&self, error: &io::Error) -> io::Error {
        let name =
            self.path.as_ref().map_or_else(|| Sink::Stdout.to_string(), |path| path.display().to_string());
        named(&name, error)
    }

    /// Where `count` rows went, in words, with what `of` says of them; nothing where they went to no file.
    pub(super) fn told(&self, count: usize, of: &str) -> Option<String> {
        let path = self.path()?.display();
        Some(match (count, self.adds) {
            (0, true) => format!("records: nothing was added to {path}"),
            (0, false) => format!("records: none; nothing was written to {path}"),
            (_, true) => format!("records: {path} ({count} rows added{of})"),
            (_, false) => format!("records: {path} ({count} rows{of})"),
        })
    }

    /// The file of records, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

/// An error of writing to what is called `name`, of the same kind.
pub(super) fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

/// The file of records at `path`, to be added to: its last line is ended first, if that was left out.
fn open_to_go_on(path: &Path) -> io::Result<fs::File> {
    let mut file = fs::File::options().read(true).append(true).open(path)?;
    end_last_line(&mut file)?;
    Ok(file)
}

/// A file that is not there yet, for the records of a run called `name`, in the user's data folder.
pub(crate) fn new_path(name: &str) -> Result<PathBuf> {
    let folder = folder()?;
    fs::create_dir_all(&folder)
        .map_err(|error| anyhow::anyhow!("cannot make {}: {error}", folder.display()))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    // The process number keeps two runs of one second apart.
    Ok(folder.join(format!("{name}-{}-{}.jsonl", date::timestamp(now), std::process::id())))
}

/// `cipherlane/records` in the user's data folder (XDG Base Directory Specification, `XDG_DATA_HOME`).
fn folder() -> Result<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    Ok(data
        .ok_or_else(|| anyhow::anyhow!("neither XDG_DATA_HOME nor HOME names a folder"))?
        .join("cipherlane/records"))
}
