//! Where a file's ciphertext or text goes: under its own name when all of it is there, and not before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::exit::{Exit, Usage};
use crate::render::sink::{self, Sink};

/// A file that is written under another name until it is complete, or what takes bytes at once.
pub(super) enum Target {
    /// Stdout, a pipe or a device: what is written is gone.
    Stream(Box<dyn Write + Send>),
    /// A file.
    File(Unfinished),
}

/// A file that has not got its name yet. Dropped so, it is removed.
pub(super) struct Unfinished {
    file: NamedTempFile,
    path: PathBuf,
    force: bool,
}

/// Where the unfinished file lies, for the handler of signals.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

fn unfinished(path: Option<PathBuf>) -> Option<PathBuf> {
    std::mem::replace(&mut *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner), path)
}

/// Has Ctrl-C and its like remove the unfinished file.
pub(super) fn remove_on_signals() -> Result<()> {
    let remove = || {
        if let Some(path) = unfinished(None) {
            // There is nobody left to tell.
            drop(fs::remove_file(path));
        }
        std::process::exit(Exit::Interrupted as i32);
    };
    ctrlc::set_handler(remove).context("Ctrl-C cannot be caught")
}

impl Target {
    /// Makes it. What is there stays as it is, until it is replaced where `force` says so.
    pub(super) fn create(sink: &Sink, force: bool) -> Result<Self> {
        let Sink::File(path) = sink else { return Ok(Self::Stream(Box::new(io::stdout()))) };
        let name = path.display();
        if sink::is_read(path) {
            return Err(Usage(format!(
                "{name} is read by this command, and would be lost; name another file"
            ))
            .into());
        }
        let there = fs::metadata(path).ok();
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(Usage(format!("{name} is a folder; name a file")).into());
        }
        if there.as_ref().is_some_and(is_stream) {
            let stream = OpenOptions::new().write(true).open(path).with_context(|| name.to_string())?;
            return Ok(Self::Stream(Box::new(stream)));
        }
        // Said before the work, and looked at again when it is done.
        if !force && fs::symlink_metadata(path).is_ok() {
            return Err(Usage(format!("{name} is there already; --force replaces it")).into());
        }
        Unfinished::create(path, there.map(|there| there.permissions()), force).map(Self::File)
    }

    /// Fails where it is a terminal.
    pub(super) fn check_no_terminal(sink: &Sink) -> Result<(), Usage> {
        if *sink == Sink::Stdout && io::stdout().is_terminal() {
            return Err(Usage(
                "what is encrypted is no text for a terminal; name a file, or a pipe".to_owned(),
            ));
        }
        Ok(())
    }

    /// Gives a file its name.
    pub(super) fn keep(self) -> Result<()> {
        match self {
            Self::Stream(_) => Ok(()),
            Self::File(unfinished) => unfinished.keep(),
        }
    }
}

impl Unfinished {
    fn create(path: &Path, permissions: Option<Permissions>, force: bool) -> Result<Self> {
        let name = || path.display().to_string();
        // The file itself is replaced, not a link to it.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".cipherlane-");
        #[cfg(unix)]
        builder.permissions(permissions.unwrap_or(std::os::unix::fs::PermissionsExt::from_mode(0o666)));
        let file = builder.tempfile_in(folder).with_context(name)?;
        unfinished(Some(file.path().to_owned()));
        Ok(Self { file, path, force })
    }

    fn keep(self) -> Result<()> {
        let name = || self.path.display().to_string();
        self.file.as_file().sync_all().with_context(name)?;
        let kept =
            if self.force { self.file.persist(&self.path) } else { self.file.persist_noclobber(&self.path) };
        unfinished(None);
        kept.map(drop).map_err(|error| error.error).with_context(|| self.path.display().to_string())
    }
}

/// Pipes, terminals and the like, which hold nothing. A disk does.
fn is_stream(there: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = there.file_type();
        kind.is_fifo() || kind.is_char_device() || kind.is_socket()
    }
    #[cfg(not(unix))]
    {
        !there.is_file()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File(unfinished) => unfinished.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(unfinished) => unfinished.file.flush(),
        }
    }
}

/// The file at `path`, which no result may replace from then on.
pub(super) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    sink::protect(path);
    Ok(file)
}
