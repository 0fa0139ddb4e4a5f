//! What the tests of the command line share.

#![allow(dead_code)] // each test file takes what it needs
#![allow(clippy::print_stderr)] // what cannot be checked is said

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

    /// Runs it for a reader of standard output who leaves at once, as `true` and `head -0` do; its exit code, and standard
    /// error.
    pub(crate) fn unread(&self, arguments: &[&str]) -> (Option<i32>, String) {
        use std::process::Stdio;
        let mut command = self.bare();
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// Runs it by a shell that does `before` and redirects as `redirected` says; its exit code, and standard error.
    pub(crate) fn by_shell(&self, before: &str, arguments: &str, redirected: &str) -> (Option<i32>, String) {
        let program = self.bare();
        let line = format!("{before}; exec \"$0\" {arguments} {redirected}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).arg(program.get_program()).current_dir(self.folder.path());
        let output = shell.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// The program on a file system that can do less: the variable, of those that `lesser_files.c` names, says what. `None`,
    /// with a line that says so, where no C compiler makes it.
    #[cfg(target_os = "linux")]
    pub(crate) fn on_lesser_files(
        &self,
        variable: (&str, &str),
        arguments: &[&str],
    ) -> Option<std::process::Output> {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let library = tempfile::tempdir().unwrap();
        let path = library.path().join("lesser.so");
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/lesser_files.c");
        let made = std::process::Command::new(&compiler)
            .args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
            .args([&path, &source])
            .status();
        if !made.as_ref().is_ok_and(std::process::ExitStatus::success) {
            assert!(std::env::var_os("CIPHERLANE_CI").is_none(), "{compiler} makes no library: {made:?}");
            eprintln!("NOT CHECKED: file systems that can do less: {compiler}: {made:?}");
            return None;
        }
        let mut program = self.bare();
        program.args(arguments).env("LD_PRELOAD", &path).env(variable.0, variable.1);
        let output = program.output().unwrap();
        // It says so where the system lets nothing be refused.
        if output.status.code() == Some(77) {
            eprintln!("NOT CHECKED: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(output)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// A browser that writes down what it is shown.
    pub(crate) fn browser(&self) -> std::path::PathBuf {
        // Written by a process of its own: one that another test starts meanwhile would inherit a file open for writing,
        // and such a file cannot be executed.
        let write = r##"printf '%s\n' '#!/bin/sh' 'printf %s "$*" > "$(dirname "$0")/shown"' > browser && chmod 755 browser"##;
        let written =
            std::process::Command::new("sh").args(["-c", write]).current_dir(self.folder.path()).status();
        assert!(written.unwrap().success());
        self.folder.path().join("browser")
    }

    /// What the browser was shown; nothing if it was not started. It runs by itself, so that it may take a moment.
    pub(crate) fn shown(&self) -> String {
        let path = self.folder.path().join("shown");
        for _ in 0..100 {
            match std::fs::read_to_string(&path) {
                Ok(text) if !text.is_empty() => return text,
                _ => std::thread::sleep(std::time::Duration::from_millis(100)),
            }
        }
        String::new()
    }
}

/// Whether these tests ignore `signal`, and with them what they start.
#[cfg(unix)]
pub(crate) fn is_ignored(signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bit = 1 << (signal.as_raw() - 1);
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & bit != 0)
}

/// Standard output of a command that succeeds.
pub(crate) fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}
