//! Compiled kernels on disk, found again by what they were made from.
//!
//! An entry's name is a digest of everything that its contents depend on, so that nothing has to be invalidated: a
//! new source, option, compiler or GPU has a new name. The entry itself says its length and digest; one that does not
//! agree with them is as good as none. What is here runs with the user's keys: a folder that others may write to is not
//! used, nor is a file there, which may be left from when they could write to the folder.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

/// The environment variable that names the folder of compiled kernels and tuned launches.
pub const VARIABLE: &str = "CIPHERLANE_CACHE";

/// The first bytes of an entry; the number changes with the form.
const MAGIC: &[u8; 16] = b"cipherlane 0001\n";
const DIGEST: usize = 32;

/// The name of an entry: a digest of its ingredients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key of `ingredients`, in their order. Each goes in with its length: two that run into each other differ
    /// from the same bytes cut elsewhere.
    #[must_use]
    pub fn new(ingredients: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for ingredient in ingredients {
            digest.update((ingredient.len() as u64).to_le_bytes());
            digest.update(ingredient);
        }
        Self(hex(&digest.finalize()))
    }

    /// The digest in hexadecimal.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// In hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A folder of entries. Any number of processes may share it.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in `folder`, which is made when the first entry is stored.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder that [`VARIABLE`] names, or `cipherlane` in the user's cache. `None` where the user has none (no
    /// `XDG_CACHE_HOME`, `HOME` or `LOCALAPPDATA`): then every process compiles for itself.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        absolute(VARIABLE)
            .or_else(|| {
                let cache = absolute("XDG_CACHE_HOME")
                    .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
                    .or_else(|| absolute("LOCALAPPDATA"))?;
                Some(cache.join("cipherlane"))
            })
            .map(Self::at)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of an entry of this kind: `cubin`, `tuning`.
    #[must_use]
    pub fn path(&self, kind: &str, key: &Key) -> PathBuf {
        self.folder.join(kind).join(key.as_str())
    }

    /// The contents of an entry, or `None` where there is none, it is damaged, it cannot be read, or others could have
    /// written it: all of them are remedied by making it anew. Of a file that others could have written the log is told.
    #[must_use]
    pub fn get(&self, kind: &str, key: &Key) -> Option<Vec<u8>> {
        self.check_owner(kind).ok()?;
        let path = self.path(kind, key);
        let mut file = open(&path).ok()?;
        // What is looked at is what is read then, whoever renames what meanwhile.
        let found = file.metadata().ok()?;
        if !found.is_file() || !is_trusted(&found) {
            log::warn!("{} is not used: {}", path.display(), self.distrust(&path));
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let (magic, rest) = bytes.split_at_checked(MAGIC.len())?;
        let (digest, contents) = rest.split_at_checked(DIGEST)?;
        (magic == MAGIC && digest == Sha256::digest(contents).as_slice()).then(|| contents.to_vec())
    }

    /// Whether [`Cache::get`] has an entry.
    #[must_use]
    pub fn has(&self, kind: &str, key: &Key) -> bool {
        self.get(kind, key).is_some()
    }

    /// Stores an entry under its name in one step: a reader finds all of it or nothing.
    ///
    /// # Errors
    /// If the folder cannot be written to, or others may write to it; names the file.
    pub fn put(&self, kind: &str, key: &Key, contents: &[u8]) -> io::Result<()> {
        let path = self.path(kind, key);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        make_folder(&self.folder.join(kind)).and_then(|()| self.check_owner(kind)).map_err(named)?;
        let (draft, file) = draft(&path).map_err(named)?;
        let stored = write(file, contents).and_then(|()| fs::rename(&draft, &path));
        if stored.is_err() {
            // What is left of it would only lie about; that it could not be stored is what gets reported.
            drop(fs::remove_file(&draft));
        }
        stored.map_err(named)
    }
}

impl Cache {
    /// Whether nobody but the user and root may write to folder and subfolder.
    fn check_owner(&self, kind: &str) -> io::Result<()> {
        for folder in [self.folder.clone(), self.folder.join(kind)] {
            if !is_trusted(&fs::metadata(&folder)?) {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, self.distrust(&folder)));
            }
        }
        Ok(())
    }

    /// Why `path` is not used, with the remedy: what others have left in a folder stays there when they are shut out.
    fn distrust(&self, path: &Path) -> String {
        format!(
            "others may write to {}; delete what is in {}, then chown and chmod go-w it, or set {VARIABLE} to a folder of \
             your own",
            path.display(),
            self.folder.display()
        )
    }
}

/// Opens an entry to read it, without waiting for whoever might write to a pipe of that name.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.open(path)
}

/// Whether it is the user's or root's, and nobody else may write to it.
#[cfg(unix)]
fn is_trusted(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    /// Group or others may write.
    const OTHERS: u32 = 0o022;
    [0, rustix::process::geteuid().as_raw()].contains(&found.uid()) && found.mode() & OTHERS == 0
}

/// There are no owners to be told apart.
#[cfg(not(unix))]
const fn is_trusted(_: &Metadata) -> bool {
    true
}

/// Makes a folder and those above it, for the user alone where the system has users.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// A new file beside `path`, for the user alone, by a name that no other writer has: neither another process nor another
/// thread of this one. Processes of two containers may have the same number, and one that was killed has left its drafts.
fn draft(path: &Path) -> io::Result<(PathBuf, File)> {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let count = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_extension(format!("{}-{count}.draft", std::process::id()));
        match options.open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((draft, opened?)),
        }
    }
}

fn write(mut file: File, contents: &[u8]) -> io::Result<()> {
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(contents))?;
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("not yet made"));
        (folder, cache)
    }

    #[test]
    fn an_entry_comes_back_under_its_key_alone() {
        let (_folder, cache) = cache();
        let (one, other) = (Key::new(&[b"source", b"sm_90"]), Key::new(&[b"source", b"sm_80"]));
        assert_eq!(cache.get("cubin", &one), None);
        cache.put("cubin", &one, b"code").unwrap();
        assert_eq!(cache.get("cubin", &one).as_deref(), Some(&b"code"[..]));
        assert_eq!((cache.get("cubin", &other), cache.get("tuning", &one)), (None, None));
        let drafts = fs::read_dir(cache.folder().join("cubin")).unwrap().count();
        assert_eq!(drafts, 1, "a draft was left behind");
    }

    #[test]
    fn where_ingredients_end_counts() {
        assert_ne!(Key::new(&[b"ab", b"c"]), Key::new(&[b"a", b"bc"]));
        assert_ne!(Key::new(&[b"ab"]), Key::new(&[b"ab", b""]));
        assert_eq!(Key::new(&[b"ab"]), Key::new(&[b"ab"]));
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let (_folder, cache) = cache();
        let key = Key::new(&[b"x"]);
        cache.put("cubin", &key, b"contents").unwrap();
        let path = cache.path("cubin", &key);
        let whole = fs::read(&path).unwrap();
        for damage in 0..4 {
            let mut bytes = whole.clone();
            match damage {
                0 => bytes.truncate(10),
                1 => bytes.truncate(whole.len() - 1),
                2 => *bytes.last_mut().unwrap() ^= 1,
                _ => bytes[0] ^= 1,
            }
            fs::write(&path, bytes).unwrap();
            assert_eq!(cache.get("cubin", &key), None, "damage {damage} went unnoticed");
            cache.put("cubin", &key, b"contents").unwrap();
            assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_that_others_may_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, cache) = cache();
        let key = Key::new(&[b"x"]);
        cache.put("cubin", &key, b"contents").unwrap();
        let folder = cache.folder().join("cubin");
        let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        mode(0o777);
        assert_eq!(cache.get("cubin", &key), None);
        let error = cache.put("cubin", &key, b"contents").unwrap_err().to_string();
        assert!(error.contains("delete what is in") && error.contains("chmod go-w"), "{error}");
        mode(0o755);
        assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_others_could_have_written_is_made_anew() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, cache) = cache();
        let key = Key::new(&[b"x"]);
        cache.put("cubin", &key, b"contents").unwrap();
        let path = cache.path("cubin", &key);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        for planted in [0o602, 0o620, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(planted)).unwrap();
            assert_eq!(cache.get("cubin", &key), None, "{planted:o}");
        }
        cache.put("cubin", &key, b"contents").unwrap();
        assert_eq!(mode(), 0o600);
        assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_that_was_planted_keeps_nobody_waiting() {
        let (_folder, cache) = cache();
        let key = Key::new(&[b"x"]);
        cache.put("cubin", &key, b"contents").unwrap();
        assert!(cache.has("cubin", &key));
        let path = cache.path("cubin", &key);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status();
        assert!(made.unwrap().success());
        assert!(!cache.has("cubin", &key));
        cache.put("cubin", &key, b"contents").unwrap();
        assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
    }

    #[test]
    #[cfg(unix)]
    fn a_file_of_somebody_else_is_not_used() {
        let (_folder, cache) = cache();
        let key = Key::new(&[b"x"]);
        cache.put("cubin", &key, b"contents").unwrap();
        // Root alone can give a file away.
        match std::os::unix::fs::chown(cache.path("cubin", &key), Some(12345), None) {
            Ok(()) => assert_eq!(cache.get("cubin", &key), None),
            Err(error) => eprintln!("NOT CHECKED: files of others: {error}"),
        }
    }

    #[test]
    fn drafts_of_others_are_left_alone() {
        let (_folder, cache) = cache();
        let (key, other) = (Key::new(&[b"x"]), Key::new(&[b"y"]));
        cache.put("cubin", &other, b"contents").unwrap();
        let path = cache.path("cubin", &key);
        let left: Vec<PathBuf> = (0..100)
            .map(|count| path.with_extension(format!("{}-{count}.draft", std::process::id())))
            .collect();
        left.iter().for_each(|draft| fs::write(draft, "of another").unwrap());
        cache.put("cubin", &key, b"contents").unwrap();
        assert_eq!(cache.get("cubin", &key).as_deref(), Some(&b"contents"[..]));
        assert!(left.iter().all(|draft| fs::read(draft).unwrap() == b"of another"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::at(&file);
        let error = cache.put("cubin", &Key::new(&[]), b"contents").unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
        assert_eq!(cache.get("cubin", &Key::new(&[])), None);
    }
}
