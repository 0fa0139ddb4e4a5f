//! Debian's packages.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// Installs `packages`, where the user and CI may.
///
/// # Errors
/// What to do, where they may not; or that apt failed.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    let user = shell::capture(Command::new("id").arg("-u")).context("who runs this?")?;
    ensure!(user.trim() == "0", "install it: apt-get install {names}");
    ensure!(
        env::var_os("CIPHERLANE_CI").is_some(),
        "install it: apt-get install {names}; CI does so by itself"
    );
    let mut command = Command::new("apt-get");
    command.args(["install", "--quiet", "--yes", "--no-install-recommends"]).args(packages);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    with_lists(|| shell::run(&mut command), update)
}

/// Brings the file of `package` into `folder`, for which nobody need be root where there are lists of packages.
pub(crate) fn download(package: &str, folder: &Path) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["download", "--quiet", package]).current_dir(folder);
    with_lists(|| shell::run(&mut command), update)
}

/// Does what needs lists of packages, once more with fresh ones if it fails: images of Debian have none, and those of a
/// machine may name what the mirrors no longer have.
fn with_lists(mut run: impl FnMut() -> Result<()>, update: impl FnOnce() -> Result<()>) -> Result<()> {
    let Err(error) = run() else { return Ok(()) };
    match update() {
        Ok(()) => run(),
        Err(stale) => {
            Err(error.context(format!("there may be no lists of packages, and no new ones: {stale:#}")))
        }
    }
}

/// Fetches the lists, the first time that it is called.
fn update() -> Result<()> {
    static FETCHED: OnceLock<bool> = OnceLock::new();
    let fetch = || shell::run(Command::new("apt-get").args(["update", "--quiet"])).is_ok();
    if !FETCHED.get_or_init(fetch) {
        bail!("`apt-get update` failed; run it as root");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How often something was run that works with lists alone, whether it worked in the end, and what it said.
    fn runs(has_lists: bool, can_update: bool) -> (u32, bool, String) {
        let (lists, count) = (Cell::new(has_lists), Cell::new(0));
        let run = || {
            count.set(count.get() + 1);
            ensure!(lists.get(), "unable to locate package");
            Ok(())
        };
        let update = || {
            ensure!(can_update, "not root");
            lists.set(true);
            Ok(())
        };
        let result = with_lists(run, update);
        (count.get(), result.is_ok(), result.err().map_or_else(String::new, |error| format!("{error:#}")))
    }

    #[test]
    fn lists_are_fetched_where_there_are_none() {
        assert_eq!(runs(true, false), (1, true, String::new()), "they are not fetched for nothing");
        assert_eq!(runs(false, true), (2, true, String::new()));
        let (count, works, words) = runs(false, false);
        assert_eq!((count, works), (1, false));
        assert!(words.contains("unable to locate package") && words.contains("not root"), "{words}");
    }
}
