//! Packages that the tests of the package in `python/` need, unpacked below the target folder.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::shell::{self, Workspace};

/// Ray brings what its datasets need, NumPy among it.
const PACKAGES: [&str; 2] = ["ray[data]==2.60.0", "pyarrow==26.0.1"];

/// The variable that names their folder to the tests. What cannot be had is said, and left untested.
///
/// # Errors
/// If they cannot be had and nothing may be left out.
pub(crate) fn environment(workspace: &Workspace) -> Result<Option<(&'static str, String)>> {
    let found = shell::left_out(install(workspace), "columns of Arrow's and datasets of Ray's, from Python")?;
    Ok(found.map(|home| ("CIPHERLANE_PYTHON_PACKAGES", home.display().to_string())))
}

/// The folder with the packages.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let home = workspace.target.join("python");
    // Written when all is there.
    let python = shell::capture(Command::new("python3").arg("--version"))?;
    let (note, wanted) = (home.join("installed"), format!("{python}{}", PACKAGES.join("\n")));
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(home);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(&home).args(PACKAGES);
    shell::run(&mut pip)?;
    fs::write(note, wanted)?;
    Ok(home)
}
