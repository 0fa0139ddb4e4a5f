//! Libraries to measure against that come as packages of the system: unpacked below the target folder, so that the
//! system stays as it is, and found through the loader's path.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::apt;
use crate::shell::{self, Workspace};

/// Debian's package, and the library in it.
const PACKAGES: [(&str, &str); 2] =
    [("libgcrypt20", "libgcrypt.so.20"), ("libipsec-mb1", "libIPSec_MB.so.1")];

/// A library that Debian has no package of.
const NO_PACKAGE: &str = "libisal_crypto.so.2";

/// What lists the libraries that the loader finds. Debian has no `/sbin` in the path of users who are not root.
const LDCONFIG: [&str; 2] = ["ldconfig", "/sbin/ldconfig"];

/// The loader's path with which the tests find the libraries that the system lacks; none where it lacks none.
///
/// Where they cannot be had (no Debian, no network), the tests go on without them, and say so.
pub(crate) fn loader_path(workspace: &Workspace) -> Option<(&'static str, OsString)> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let home = workspace.target.join("rivals");
    let known = listed(&LDCONFIG);
    let given = env::var_os("LD_LIBRARY_PATH");
    let is_here = |library: &str| {
        known.contains(library)
            || given.iter().flat_map(env::split_paths).any(|folder| folder.join(library).exists())
    };
    let mut folders = Vec::new();
    for (package, library) in PACKAGES {
        if is_here(library) {
            continue;
        }
        match unpacked(&home, package, library) {
            Ok(folder) => folders.push(folder),
            Err(error) => eprintln!("NOT TESTED: the rival {package}, which is not here: {error:#}"),
        }
    }
    if !is_here(NO_PACKAGE) {
        eprintln!("NOT TESTED: the rival {NO_PACKAGE}, which is not here and no package of Debian's");
    }
    if folders.is_empty() {
        return None;
    }
    folders.extend(given.iter().flat_map(env::split_paths));
    env::join_paths(folders).ok().map(|path| ("LD_LIBRARY_PATH", path))
}

/// The loader's libraries by the first of `programs` that lists them.
fn listed(programs: &[&str]) -> String {
    let list = |program: &&str| shell::capture(Command::new(program).arg("-p")).ok();
    programs.iter().find_map(list).unwrap_or_default()
}

/// The folder of `library`, for which `package` is downloaded and unpacked once.
fn unpacked(home: &Path, package: &str, library: &str) -> Result<PathBuf> {
    let root = home.join(package);
    if let Some(folder) = find(&root, library) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&root).with_context(|| root.display().to_string())?;
    apt::download(package, &root)?;
    let deb = std::fs::read_dir(&root)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .context("apt-get brought no package")?;
    shell::run(Command::new("dpkg").arg("-x").args([&deb, &root]))?;
    find(&root, library).with_context(|| format!("{package} has no {library}"))
}

/// The folder below `root` that has a file called `library`.
fn find(root: &Path, library: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(root).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    if entries.iter().any(|path| path.file_name().is_some_and(|name| name == library)) {
        return Some(root.to_owned());
    }
    entries.iter().filter(|path| path.is_dir()).find_map(|folder| find(folder, library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_program_is_asked_where_one_is_not_in_the_path() {
        assert_eq!(listed(&["no-ldconfig-of-this-name", "echo"]), "-p\n");
        assert_eq!(listed(&["no-ldconfig-of-this-name"]), "");
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn the_loader_is_found_by_its_whole_name() {
        assert!(listed(&LDCONFIG[1..]).contains("libc.so"));
    }
}
