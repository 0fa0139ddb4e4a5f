//! The workspace that the task runs in, and the programs that it starts there.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace as cargo describes it, without the crates from outside.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// Asks cargo for the workspace around the current directory.
    pub(crate) fn find() -> Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let target = metadata.target_directory.clone().into_std_path_buf();
        Ok(Self { root, target, metadata })
    }

    /// A command that will run in the workspace's root.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// The cargo that started this task, with `arguments`.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut command = self.command(&program);
        command.args(arguments);
        command
    }
}

/// What was found; or `None`, which is said, but with `CIPHERLANE_CI` set is an error.
pub(crate) fn left_out<T>(found: Result<T>, what: &str) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if env::var_os("CIPHERLANE_CI").is_some() => {
            Err(error.context(format!("nothing may be left out, and this would be: {what}")))
        }
        Err(error) => {
            eprintln!("NOT TESTED: {what}: {error:#}");
            Ok(None)
        }
    }
}

/// Runs `command` with its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status}); its own words stand above");
    }
    Ok(())
}

/// Runs `command` and returns what it wrote to stdout; stderr goes where ours goes.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({}); its own words stand above", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` wrote something that is not UTF-8"))
}

/// Whether `program --version` can be run, and its first line of output.
pub(crate) fn version(program: &std::ffi::OsStr) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().find(|line| !line.is_empty()).unwrap_or_default().to_owned())
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    variables.chain([name]).chain(arguments).collect::<Vec<_>>().join(" ")
}
