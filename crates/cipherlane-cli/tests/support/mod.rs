//! What the tests of the command line share.

#![allow(dead_code)] // each test file takes what it needs

use assert_cmd::Command;
use tempfile::TempDir;

/// The program in an empty folder of its own, with no variable of ours and no vectors that were fetched elsewhere.
pub(crate) struct Sandbox {
    pub(crate) folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The program, ready for its arguments.
    pub(crate) fn cipherlane(&self, arguments: &[&str]) -> Command {
        let mut command = Command::from_std(self.bare());
        command.args(arguments);
        command
    }

    /// The same without the harness around it, to be started and stopped by hand.
    pub(crate) fn bare(&self) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("cipherlane"));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CIPHERLANE_")) {
                command.env_remove(name);
            }
        }
        let folder = self.folder.path();
        command.current_dir(folder);
        command.env("XDG_DATA_HOME", folder.join("data")).env("XDG_CACHE_HOME", folder.join("cache"));
        command
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

/// Standard output of a command that succeeds.
pub(crate) fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}
