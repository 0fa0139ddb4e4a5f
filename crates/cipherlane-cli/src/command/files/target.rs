//! Where a file's ciphertext or text goes: under its own name when all of it is there, and not before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::unistd::{Uid, User};
use tempfile::{NamedTempFile, PersistError};

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

/// What becomes of a finished file whose name somebody else has given to another meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) enum IfTaken {
    /// It stays, under the name that it has: what it was made of may be gone.
    Leave,
    /// It goes: text is not left where nobody looks for it.
    Remove,
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
        match there {
            // A disk as well: no file may take its place in /dev.
            Some(there) if !there.is_file() => open_device(path, &there, force).map(Self::Device),
            // Said before the work, and looked at again when it is done.
            _ if !force && fs::symlink_metadata(path).is_ok() => Err(is_there(path).into()),
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
    pub(super) fn keep(self, if_taken: IfTaken) -> Result<()> {
        match self {
            Self::Stdout(_) => Ok(()),
            // Pipes have nothing to be synchronised.
            Self::Device(device) => match device.sync_all() {
                Err(error) if error.kind() != ErrorKind::InvalidInput => Err(error).context("the device"),
                _ => Ok(()),
            },
            Self::File(unfinished) => unfinished.keep(if_taken),
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

    fn keep(self, if_taken: IfTaken) -> Result<()> {
        let Self { file, path, access, force } = self;
        let name = || path.display().to_string();
        // All of it is there, and right.
        access.give(file.as_file()).with_context(name)?;
        file.as_file().sync_all().with_context(name)?;
        let mut place = unfinished();
        let kept = if force { replace(file, &path) } else { name_new(file, &path) };
        // No signal removes it any more.
        *place = None;
        drop(place);
        kept.map_err(|refused| refusal(refused, &path, force, if_taken))?;
        let not_for_good = || format!("{} is complete, but may be lost if the machine stops now", name());
        sync_folder(&path).with_context(not_for_good)
    }
}

/// Why `file` did not get the name `path`, after what becomes of it then.
fn refusal(refused: PersistError, path: &Path, force: bool, if_taken: IfTaken) -> anyhow::Error {
    let name = path.display();
    if force || refused.error.kind() != ErrorKind::AlreadyExists {
        return anyhow::Error::from(refused.error).context(name.to_string());
    }
    let left = match if_taken {
        IfTaken::Remove => None,
        IfTaken::Leave => refused.file.keep().ok(),
    };
    let left = left.map(|(_, left)| format!(", or rename {}, which has all of it", left.display()));
    let left = left.unwrap_or_default();
    Usage(format!("{name}: somebody made it meanwhile; --force replaces it{left}")).into()
}

/// Gives `file` the name `path`, whoever has it.
fn replace(file: NamedTempFile, path: &Path) -> Result<(), PersistError> {
    file.persist(path).map(drop)
}

/// Gives `file` the name `path`, which no other may have.
fn name_new(file: NamedTempFile, path: &Path) -> Result<(), PersistError> {
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => Err(refused),
        Err(refused) => name_reserved(refused.file, path),
    }
}

/// The same where the file system neither renames without replacing nor links, either of which would be one step: an empty
/// file has the name for an instant.
fn name_reserved(file: NamedTempFile, path: &Path) -> Result<(), PersistError> {
    if let Err(error) = File::create_new(path) {
        return Err(PersistError { error, file });
    }
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

/// Opens what is no file to be written to; `there` is what had the name when it was looked at.
fn open_device(path: &Path, there: &fs::Metadata, force: bool) -> Result<File> {
    // Said before it is opened, since that waits until somebody reads a pipe.
    check_device(path, there, force)?;
    let name = || path.display().to_string();
    let device = OpenOptions::new().write(true).open(path).with_context(name)?;
    // Another may have the name by now: what is opened decides.
    check_device(path, &device.metadata().with_context(name)?, force)?;
    Ok(device)
}

/// Fails where it may not be written to. Whoever makes a pipe where a file is to be reads what is meant for the file.
fn check_device(path: &Path, device: &fs::Metadata, force: bool) -> Result<(), Usage> {
    let name = path.display();
    if device.is_file() {
        return Err(Usage(format!("{name}: somebody made it a file meanwhile; run this again")));
    }
    if force {
        return Ok(());
    }
    let kind = kind_without_content(device).ok_or_else(|| is_there(path))?;
    let owner = Uid::from_raw(device.uid());
    if owner.is_root() || owner == Uid::effective() {
        return Ok(());
    }
    let owner =
        User::from_uid(owner).ok().flatten().map_or_else(|| format!("user {owner}"), |user| user.name);
    Err(Usage(format!(
        "{name} is a {kind} that belongs to {owner}, who can read what is written; --force writes to it"
    )))
}

fn is_there(path: &Path) -> Usage {
    Usage(format!("{} is there already; --force replaces it", path.display()))
}

/// What those are called that hold nothing: pipes, terminals and the like. A disk does.
fn kind_without_content(there: &fs::Metadata) -> Option<&'static str> {
    let kind = there.file_type();
    let kinds = [(kind.is_fifo(), "pipe"), (kind.is_char_device(), "device"), (kind.is_socket(), "socket")];
    kinds.into_iter().find(|(is_it, _)| *is_it).map(|(_, name)| name)
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
        target.keep(IfTaken::Remove).unwrap();
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
        assert_eq!(name_reserved(gone, &path).unwrap_err().error.kind(), ErrorKind::NotFound);
        assert!(!path.exists());
        let mut whole = file();
        whole.write_all(b"text").unwrap();
        name_reserved(whole, &path).unwrap();
        assert_eq!(name_reserved(file(), &path).unwrap_err().error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    /// Whatever had the name before.
    #[test]
    #[cfg(target_os = "linux")] // where pipes are made
    fn what_was_opened_tells_whose_it_is() {
        use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _reader = open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        let null = fs::metadata("/dev/null").unwrap();
        drop(open_device(&path, &null, false).unwrap());
        let file = folder.path().join("text");
        fs::write(&file, "mine").unwrap();
        let refused = open_device(&file, &null, true).unwrap_err().to_string();
        assert!(refused.ends_with("somebody made it a file meanwhile; run this again"), "{refused}");
        // Root alone can give it away.
        if let Err(error) = std::os::unix::fs::chown(&path, Some(12345), None) {
            return eprintln!("NOT CHECKED: pipes of others: {error}");
        }
        let refused = open_device(&path, &null, false).unwrap_err().to_string();
        assert!(refused.contains("is a pipe that belongs to user 12345"), "{refused}");
        open_device(&path, &null, true).unwrap();
    }
}
