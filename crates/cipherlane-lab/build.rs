//! Tells the crate which commit it is built from.

use std::path::Path;
use std::process::Command;

fn main() {
    let hash = git(&["rev-parse", "HEAD"]);
    // The record's own files do not count: measuring must not make the tool that measures look changed.
    let dirty = hash.as_ref().and_then(|_| {
        git(&["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)records"])
    });
    println!("cargo:rustc-env=CIPHERLANE_GIT_HASH={}", hash.as_deref().unwrap_or("unknown"));
    let dirty = dirty.map_or("", |changes| if changes.is_empty() { "false" } else { "true" });
    println!("cargo:rustc-env=CIPHERLANE_GIT_DIRTY={dirty}");
    // A commit appends to the log of HEAD; an edit touches a source file.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
    for path in ["../../crates", "../../Cargo.toml", "../../Cargo.lock", "build.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
}

/// What git prints, or `None` without git or outside a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
