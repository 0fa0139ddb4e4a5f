//! One Rust version in three places: the promise of every crate, the toolchain file, and the compiler that runs.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{Workspace, capture};

/// Fails unless the three agree.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let file =
        fs::read_to_string(workspace.root.join("rust-toolchain.toml")).context("rust-toolchain.toml")?;
    let channel = channel(&file)?;
    for package in &workspace.metadata.packages {
        let Some(promised) = &package.rust_version else {
            bail!("{} promises no Rust version; add `rust-version.workspace = true`", package.name);
        };
        ensure!(
            promised.to_string() == channel,
            "{} promises Rust {promised}, but rust-toolchain.toml tests {channel}; make them equal",
            package.name
        );
    }
    let compiler = capture(workspace.command("rustc").arg("--version"))?;
    ensure!(
        compiler.split_whitespace().nth(1) == Some(channel),
        "this is {}, but the promise to keep is Rust {channel}; unset RUSTUP_TOOLCHAIN, or install it with \
         `rustup toolchain install {channel}`",
        compiler.trim()
    );
    eprintln!("{} crates promise Rust {channel}, and it is what runs", workspace.metadata.packages.len());
    Ok(())
}

/// The value of the one line `channel = "1.2.3"`.
fn channel(toolchain: &str) -> Result<&str> {
    toolchain
        .lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "channel")
        .map(|(_, value)| value.trim().trim_matches('"'))
        .context("rust-toolchain.toml names no channel")
}

#[cfg(test)]
mod tests {
    use super::channel;

    #[test]
    fn the_channel_is_read() {
        assert_eq!(channel("[toolchain]\nchannel = \"1.95.0\"\ncomponents = []\n").unwrap(), "1.95.0");
        assert!(channel("[toolchain]\n").is_err());
    }
}
