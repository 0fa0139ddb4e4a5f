//! Files that results go to, `-` for stdout.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::exit::Usage;

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file, which is replaced.
    File(PathBuf),
}

impl FromStr for Sink {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(if name == "-" { Self::Stdout } else { Self::File(name.into()) })
    }
}

/// A file by its name, where [`Sink::Stdout`] does not serve.
///
/// # Errors
/// If standard output was asked for.
pub(crate) fn file(name: &str) -> Result<PathBuf, String> {
    if name == "-" {
        return Err("this is no result for stdout; name a file, ./- for one of this name".to_owned());
    }
    Ok(name.into())
}

impl Sink {
    /// Opens it for writing; a file that is there is replaced.
    pub(crate) fn open(&self) -> Result<Box<dyn Write>> {
        match self {
            Self::Stdout => Ok(Box::new(io::stdout())),
            Self::File(path) => Ok(Box::new(create(path)?)),
        }
    }

    /// Opens it for results: what an earlier experiment of this command wrote to it stays.
    pub(crate) fn open_for_results(&self) -> Result<Box<dyn Write>> {
        match self {
            Self::Stdout => self.open(),
            Self::File(path) => Ok(Box::new(create_for_results(path)?)),
        }
    }

    /// Writes one JSON value and a newline.
    pub(crate) fn write_json(&self, value: &impl serde::Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value).context("a result cannot be written as JSON")?;
        line.push(b'\n');
        let mut sink = self.open()?;
        sink.write_all(&line)?;
        Ok(sink.flush()?)
    }
}

/// Files that this command reads, by their canonical paths.
static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Says that this command reads the file at `path`, which no result may replace from then on.
pub(crate) fn protect(path: &Path) {
    // What is not there can neither be read nor lost.
    if let Ok(path) = path.canonicalize() {
        READ.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }
}

/// Makes the file at `path`, in place of one that is there.
///
/// # Errors
/// [`Usage`] if this command reads it, by whatever name.
pub(crate) fn create(path: &Path) -> Result<File> {
    let is_read = path
        .canonicalize()
        .is_ok_and(|path| READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&path));
    if is_read {
        let path = path.display();
        return Err(
            Usage(format!("{path} is read by this command, and would be lost; name another file")).into()
        );
    }
    File::create(path).with_context(|| {
        format!("cannot write {}; give the path of a file in a folder that you may write to", path.display())
    })
}

/// Files that this command has put results in.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Makes the file at `path`, in place of one that is there; but one that this command has made is gone on with.
pub(crate) fn create_for_results(path: &Path) -> Result<File> {
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    if !begun.contains(path) {
        let file = create(path)?;
        begun.insert(path.to_owned());
        return Ok(file);
    }
    let file = File::options().create(true).append(true).open(path);
    file.with_context(|| format!("cannot go on with {}", path.display()))
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
        let Some(Sink::File(path)) = sink else { continue };
        if let Some((other, _)) = sinks[..index].iter().find(|(_, other)| other == sink) {
            let path = path.display();
            return Err(Usage(format!("{other} and {name} would both write {path}; give each its own file")));
        }
    }
    Ok(names.len() == 1)
}
