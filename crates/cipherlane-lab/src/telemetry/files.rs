//! The files in which Linux shows its sensors, below a root.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `/proc` and `/sys` of this machine, or of a tree that looks like them.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// The files of this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self::below("/")
    }

    /// The files below `root`, which stands for `/`.
    #[must_use]
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The whole text of `path`, such as `proc/stat`.
    ///
    /// # Errors
    /// The path with what the system says.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Result<String, String> {
        let path = path.as_ref();
        fs::read_to_string(self.root.join(path)).map_err(|error| format!("/{}: {error}", path.display()))
    }

    /// The only line of `path`, without its end.
    pub(crate) fn line(&self, path: impl AsRef<Path>) -> Result<String, String> {
        Ok(self.text(path)?.trim().to_owned())
    }

    /// Writes `line` to `path`, which is there already: the settings of the kernel are such files.
    ///
    /// # Errors
    /// The path with what the system says.
    pub(crate) fn set(&self, path: &str, line: &str) -> Result<(), String> {
        let file = fs::OpenOptions::new().write(true).truncate(true).open(self.root.join(path));
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.map_err(|error| format!("/{path}: {error}"))
    }

    /// The whole number in `path`.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Result<u64, String> {
        let (path, line) = (path.as_ref(), self.line(path.as_ref())?);
        line.parse().map_err(|_| format!("/{}: `{line}` is no number", path.display()))
    }

    /// What lies in the folder `path` under a name that begins with `prefix`, by name.
    ///
    /// # Errors
    /// If there is no such folder.
    pub(super) fn list(&self, path: &str, prefix: &str) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.root.join(path)).map_err(|error| format!("/{path}: {error}"))?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        // By length first, so that `cpu10` comes after `cpu9`.
        names.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        Ok(names)
    }

    /// Whether the CPU says that a hypervisor runs it.
    pub(super) fn is_virtual(&self) -> bool {
        let info = self.text("proc/cpuinfo").unwrap_or_default();
        let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        flags.split_whitespace().any(|flag| flag == "hypervisor")
    }
}
