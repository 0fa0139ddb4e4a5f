//! Where a file's ciphertext or text goes: under its own name when all of it is there, and not before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use nix::errno::Errno;
use tempfile::NamedTempFile;

use super::access_list;
use crate::exit::{Exit, Usage};
use crate::render::sink::{self, Sink};
use crate::signals;

/// A file that is written under another name until it is complete, or what takes bytes at once.
pub(super) enum Target {
    /// Standard output.
    Stdout(io::Stdout),
    /// A pipe, a terminal, a disk: what is written is gone.
    Device(File),
    /// A file.
    File(Unfinished),
}

/// What the names of files begin with that have not got their own yet.
const PREFIX: &str = ".cipherlane-";

/// A file that has not got its name yet. Dropped so, it is removed. Until then it is for its owner alone: what is in it may
/// turn out to be wrong, and stays where the program is killed.
pub(super) struct Unfinished {
    file: NamedTempFile,
    path: PathBuf,
    /// For whom it is under its name.
    access: Access,
    force: bool,
}

/// Who may do what with a file.
#[derive(Debug)]
struct Access {
    /// What its owner, its group and others may: nine bits, and none by which it would run as somebody else.
    mode: u32,
    /// What else is known, if it is that of a file that it replaces.
    replaced: Option<Replaced>,
}

/// Of a file that is replaced.
#[derive(Debug)]
struct Replaced {
    owner: u32,
    group: u32,
    /// Its access list, if it has one, as far as that can be read.
    list: io::Result<Option<Vec<u8>>>,
}

/// Where the unfinished file lies, for the handler of signals. Whoever makes it or gives it its name holds the lock. Who drops
/// it instead removes it without, and its place stays: the handler finds nothing there any more.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has Ctrl-C, SIGTERM and SIGHUP remove the unfinished file.
pub(super) fn remove_on_signals() -> Result<()> {
    signals::on_request(|| {
        // Held to the end, so that nobody names the file meanwhile.
        let mut place = unfinished();
        if let Some(path) = place.take() {
            // There is nobody left to tell.
            drop(fs::remove_file(path));
        }
        std::process::exit(Exit::Interrupted as i32);
    })
}

impl Target {
    /// Makes it. What is there stays as it is, until it is replaced where `force` says so.
    pub(super) fn create(sink: &Sink, force: bool) -> Result<Self> {
        let Sink::File(path) = sink else { return Ok(Self::Stdout(io::stdout())) };
        let name = path.display();
        if sink::is_read(path) {
            let reason = format!("{name} is read by this command, and would be lost; name another file");
            return Err(Usage(reason).into());
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(Usage(format!("{name} is a folder; name a file")).into());
        }
        let there = fs::metadata(path).ok();
        if there.is_none() && path.is_symlink() {
            return Err(Usage(format!("{name} is a link to nothing; name its target")).into());
        }
        let holds_nothing = there.as_ref().is_some_and(holds_nothing);
        // Said before the work, and looked at again when it is done.
        if !force && !holds_nothing && fs::symlink_metadata(path).is_ok() {
            return Err(Usage(format!("{name} is there already; --force replaces it")).into());
        }
        match there {
            // A disk as well: no file may take its place in /dev.
            Some(there) if !there.is_file() => {
                let device = OpenOptions::new().write(true).open(path);
                Ok(Self::Device(device.with_context(|| name.to_string())?))
            }
            there => {
                let access = there.map(|there| Access::of(path, &there));
                Unfinished::create(path, access, force).map(Self::File)
            }
        }
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

    /// Fails where it is standard output, and that was closed when the program began, or looks as if.
    pub(super) fn check_not_closed(sink: &Sink) -> Result<(), Usage> {
        if *sink == Sink::Stdout && may_be_closed(STDOUT) {
            return Err(Usage(
                "standard output is closed, or the null device, and what is written would be lost; name a file, \
                 or /dev/null if it is to be lost"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Gives a file its name.
    pub(super) fn keep(self) -> Result<()> {
        match self {
            Self::Stdout(_) => Ok(()),
            // Pipes have nothing to be synchronised.
            Self::Device(device) => match device.sync_all() {
                Err(error) if error.kind() != ErrorKind::InvalidInput => Err(error).context("the device"),
                _ => Ok(()),
            },
            Self::File(unfinished) => unfinished.keep(),
        }
    }
}

impl Unfinished {
    /// One that is to be `path`, for those who have access to the file that it replaces, or else to a new one.
    fn create(path: &Path, replaced: Option<Access>, force: bool) -> Result<Self> {
        let cannot_write = || sink::cannot_write(path);
        // The file itself is replaced, not a link to it.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = folder_of(&path);
        let mut place = unfinished();
        let access = replaced.map_or_else(|| Access::of_new_files(folder), Ok).with_context(cannot_write)?;
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder);
        let file = file.map_err(|error| without_place(&error)).with_context(cannot_write)?;
        *place = Some(file.path().to_owned());
        drop(place);
        Ok(Self { file, path, access, force })
    }

    fn keep(self) -> Result<()> {
        let Self { file, path, access, force } = self;
        let name = || path.display().to_string();
        // All of it is there, and right.
        access.give(file.as_file()).with_context(name)?;
        file.as_file().sync_all().with_context(name)?;
        let mut place = unfinished();
        // Where it is not kept, it is removed here.
        let kept = if force { replace(file, &path) } else { name_new(file, &path) };
        *place = None;
        drop(place);
        kept.with_context(name)?;
        let not_for_good = || format!("{} is complete, but may be lost if the machine stops now", name());
        sync_folder(&path).with_context(not_for_good)
    }
}

/// Gives `file` the name `path`, whoever has it.
fn replace(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map(drop).map_err(|refused| refused.error)
}

/// Gives `file` the name `path`, which no other may have.
fn name_new(file: NamedTempFile, path: &Path) -> io::Result<()> {
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => Err(refused.error),
        Err(refused) => name_reserved(refused.file, path),
    }
}

/// The same where the file system neither renames without replacing nor links, either of which would be one step: an empty
/// file has the name for an instant.
fn name_reserved(file: NamedTempFile, path: &Path) -> io::Result<()> {
    File::create_new(path)?;
    let named = replace(file, path);
    if named.is_err() {
        // It is empty, and in nobody's way if it stays.
        drop(fs::remove_file(path));
    }
    named
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Has the file at `path` keep this name if the machine stops. Some file systems do that for no folder and say so, and a
/// folder that may be written to need not be one that may be read.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let refuses = |error: &io::Error| {
        use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
        matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
            || error.raw_os_error() == Some(Errno::EBADF as i32)
    };
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        Err(error) if !refuses(&error) => Err(error),
        _ => Ok(()),
    }
}

impl Access {
    /// What owner, group and others may.
    const BITS: u32 = 0o777;
    const OF_GROUP: u32 = 0o070;
    /// Those by which it runs as somebody else among them.
    const ALL_BITS: u32 = 0o7777;

    /// That to the file at `path`, which is there.
    fn of(path: &Path, there: &fs::Metadata) -> Self {
        let replaced = Replaced { owner: there.uid(), group: there.gid(), list: access_list::of(path) };
        Self { mode: there.mode() & Self::BITS, replaced: Some(replaced) }
    }

    /// That to new files in `folder`: what the umask leaves, or the folder's default access list, is seen in an empty file,
    /// which goes at once.
    fn of_new_files(folder: &Path) -> io::Result<Self> {
        let for_all = Permissions::from_mode(0o666);
        let empty = tempfile::Builder::new().prefix(PREFIX).permissions(for_all).tempfile_in(folder);
        let empty = empty.map_err(|error| without_place(&error))?;
        Ok(Self { mode: empty.as_file().metadata()?.mode() & Self::BITS, replaced: None })
    }

    /// Gives it to `file`. File systems without owners and permissions of their own, which refuse to change them, show the
    /// same of all files. Where the group cannot be that of the file which is replaced, it gets nothing: it would be another;
    /// nor does anybody who is not its owner, beside what others may, where the access list cannot be the same.
    fn give(self, file: &File) -> io::Result<()> {
        let mut mode = self.mode;
        if let Some(Replaced { owner, group, list }) = self.replaced {
            // Root alone can give a file away; who cannot is its owner, as of any new file.
            let kept = fchown(file, Some(owner), Some(group)).or_else(|_| fchown(file, None, Some(group)));
            let is_of_group = kept.is_ok() || file.metadata()?.gid() == group;
            // With a list these bits bound what all of its names may.
            let has_list = list.and_then(|list| access_list::give(file, list.as_deref())).is_ok();
            if !(is_of_group && has_list) {
                mode &= !Self::OF_GROUP;
            }
        }
        let has_it = file.metadata()?.permissions().mode() & Self::ALL_BITS == mode;
        if has_it { Ok(()) } else { file.set_permissions(Permissions::from_mode(mode)) }
    }
}

/// What the system said, without the name of the file that was not made, which nobody has given: tempfile puts it behind.
fn without_place(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

const STDIN: u32 = 0;
const STDOUT: u32 = 1;

/// Fails where standard input was closed when the program began, or looks as if: what is read would be empty, whoever meant
/// what.
pub(super) fn check_stdin_not_closed() -> Result<(), Usage> {
    if may_be_closed(STDIN) {
        return Err(Usage(
            "standard input is closed, or the null device, and there is nothing to read; name a file, or /dev/null \
             for an empty one"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Whether the standard stream of this number may have been closed when the program began, where the system tells: Rust then
/// has the null device there, to read and to write. No shell does that which is told to read or to write it, but programs
/// that start others do, as Python by `subprocess.DEVNULL`: the two cannot be told apart.
fn may_be_closed(stream: u32) -> bool {
    const ACCESS: u32 = 0o3;
    const READ_WRITE: u32 = 0o2;
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{stream}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    let device = |path: &str| fs::metadata(path).ok().map(|there| there.rdev());
    let is_null =
        || device("/dev/null").is_some_and(|null| device(&format!("/proc/self/fd/{stream}")) == Some(null));
    flags.is_some_and(|flags| flags & ACCESS == READ_WRITE) && is_null()
}

/// Pipes, terminals and the like, which hold nothing. A disk does.
fn holds_nothing(there: &fs::Metadata) -> bool {
    let kind = there.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_socket()
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Device(device) => device.write(bytes),
            Self::File(unfinished) => unfinished.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Device(device) => device.flush(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// Writes to the file at `path`, which nobody else may read meanwhile.
    fn fill(path: &Path, force: bool) {
        let mut target = Target::create(&Sink::File(path.to_owned()), force).unwrap();
        target.write_all(b"text").unwrap();
        let Target::File(unfinished) = &target else { panic!("a file") };
        assert_eq!(mode(unfinished.file.path()), 0o600);
        target.keep().unwrap();
        assert_eq!(fs::read(path).unwrap(), b"text");
    }

    #[test]
    fn what_may_be_wrong_yet_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fill(&path, false);
        let new = folder.path().join("new");
        fs::write(&new, "").unwrap();
        assert_eq!(mode(&path), mode(&new));
        fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        fill(&path, true);
        assert_eq!(mode(&path), 0o664);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_reserved_name_is_taken_once_and_left_where_nothing_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let file = || NamedTempFile::new_in(folder.path()).unwrap();
        let gone = file();
        fs::remove_file(gone.path()).unwrap();
        assert_eq!(name_reserved(gone, &path).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!path.exists());
        let mut whole = file();
        whole.write_all(b"text").unwrap();
        name_reserved(whole, &path).unwrap();
        assert_eq!(name_reserved(file(), &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
