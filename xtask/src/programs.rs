//! The programs of tests that cargo builds, and running them two at a time.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{panic, thread};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Artifact, Message};

use crate::shell::{self, Workspace};

/// How many run beside each other. A program's tests have threads of their own, but its last tests, those that wait, and
/// those that it has only one of leave CPUs idle.
const AT_ONCE: usize = 2;

/// A program of tests.
pub(crate) struct Program {
    /// The crate that it tests.
    pub(crate) package: String,
    /// The target's name: that of a file in `tests/`, or of the crate with its unit tests.
    pub(crate) target: String,
    /// Whether it is a file in `tests/`.
    pub(crate) is_integration: bool,
    executable: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// Something to run, and what to call it.
pub(crate) struct Job {
    pub(crate) name: String,
    /// The crate that it tests.
    pub(crate) package: String,
    pub(crate) command: Command,
}

impl Program {
    /// Whether a test's name contains `name`.
    pub(crate) fn has_tests(&self, name: &str) -> Result<bool> {
        Ok(shell::capture(Command::new(&self.executable).args(["--list", name]))?.contains(": test"))
    }

    /// All its tests. `CARGO` and the variables of a package are not set; none here reads them while it runs.
    pub(crate) fn job(&self) -> Job {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder);
        let name = format!("{} of {}", self.target, self.package);
        Job { name, package: self.package.clone(), command }
    }
}

/// Builds the programs of tests of the workspace, as `cargo test` with `arguments` would; in the order in which they were
/// finished, so that those of the program itself, which take longest to build, come last.
pub(crate) fn build(workspace: &Workspace, arguments: &[&str]) -> Result<Vec<Program>> {
    let mut cargo = workspace.cargo(&["test"]);
    cargo.args(arguments).args(["--no-run", "--message-format=json-render-diagnostics"]);
    let messages = shell::capture(&mut cargo)?;
    let mut programs = Vec::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message.context("cargo's messages")?
            && artifact.profile.test
        {
            programs.extend(program(workspace, artifact)?);
        }
    }
    ensure!(!programs.is_empty(), "cargo built no tests");
    Ok(programs)
}

/// What cargo says that it built, if that can be run.
fn program(workspace: &Workspace, artifact: Artifact) -> Result<Option<Program>> {
    let Some(executable) = artifact.executable else { return Ok(None) };
    let package = workspace.metadata.packages.iter().find(|package| package.id == artifact.package_id);
    let package = package.context("cargo built tests of another workspace")?;
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    Ok(Some(Program {
        package: package.name.to_string(),
        is_integration: artifact.target.is_test(),
        target: artifact.target.name,
        executable: executable.into(),
        folder: folder.into(),
    }))
}

/// Runs `jobs`, and shows what each has written when it ends. After one that fails, no other begins. Two of one crate run
/// one after the other as long as there are others: they have the same kernels compiled, which the second finds in a cache.
///
/// # Errors
/// If one fails.
pub(crate) fn run(jobs: Vec<Job>) -> Result<()> {
    let left = Left(Mutex::new((jobs, Vec::new())));
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| one_by_one(&left))).collect();
        // Each ends before the first error is returned.
        let ended: Vec<_> = lanes.into_iter().map(thread::ScopedJoinHandle::join).collect();
        ended.into_iter().try_for_each(|ended| ended.unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}

/// The jobs that nobody has begun, in order, and the crates of those that run.
struct Left(Mutex<(Vec<Job>, Vec<String>)>);

impl Left {
    fn all(&self) -> MutexGuard<'_, (Vec<Job>, Vec<String>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first whose crate has none that runs, or else the first.
    fn next(&self) -> Option<Job> {
        let (jobs, running) = &mut *self.all();
        let place = jobs.iter().position(|job| !running.contains(&job.package)).unwrap_or(0);
        let job = (place < jobs.len()).then(|| jobs.remove(place))?;
        running.push(job.package.clone());
        Some(job)
    }

    /// Notes that one of `package` has ended.
    fn end(&self, package: &str) {
        let (_, running) = &mut *self.all();
        if let Some(place) = running.iter().position(|running| running == package) {
            running.swap_remove(place);
        }
    }

    fn forget(&self) {
        self.all().0.clear();
    }
}

/// Takes jobs from those that are left until there are none.
fn one_by_one(left: &Left) -> Result<()> {
    while let Some(job) = left.next() {
        let package = job.package.clone();
        let ran = run_one(job);
        left.end(&package);
        ran.inspect_err(|_| left.forget())?;
    }
    Ok(())
}

fn run_one(Job { name, mut command, .. }: Job) -> Result<()> {
    println!("--- {name}: started");
    let start = Instant::now();
    let (status, written) = output(&mut command).with_context(|| format!("cannot run {name}"))?;
    let time = start.elapsed().as_secs_f64();
    let outcome = if status.success() { "passed" } else { "FAILED" };
    // In one piece: what another says does not come between.
    println!("--- {name}: {outcome} in {time:.1} s\n{}\n", written.trim());
    let program = command.get_program().display();
    ensure!(status.success(), "{name} failed ({status}); its own words stand above, and it is {program}");
    Ok(())
}

/// Runs it with its output going into a file: a pipe would be open as long as anything that it leaves behind.
fn output(command: &mut Command) -> Result<(ExitStatus, String)> {
    let mut file = tempfile::tempfile()?;
    let to_file = |file: &File| file.try_clone().map(Stdio::from);
    let status = command.stdin(Stdio::null()).stdout(to_file(&file)?).stderr(to_file(&file)?).status()?;
    let mut written = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut written)?;
    Ok((status, String::from_utf8_lossy(&written).into_owned()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), package: name.to_owned(), command }
    }

    #[test]
    fn two_of_one_crate_run_one_after_the_other() {
        let jobs = ["a", "a", "b", "a"].into_iter().zip(["1", "2", "3", "4"]);
        let jobs = jobs.map(|(package, name)| Job { package: package.to_owned(), ..job(name, "") }).collect();
        let left = Left(Mutex::new((jobs, Vec::new())));
        let next = || left.next().map(|job| job.name);
        assert_eq!([next(), next()].map(Option::unwrap), ["1", "3"]);
        // There are no others.
        assert_eq!(next().unwrap(), "2");
        left.end("a");
        left.end("a");
        left.end("b");
        assert_eq!((next().unwrap(), next()), ("4".to_owned(), None));
    }

    #[test]
    fn after_one_that_fails_no_other_begins() {
        let folder = tempfile::tempdir().unwrap();
        let begun = folder.path().join("begun");
        let other = format!("touch '{}'", begun.display());
        // Each lane meets one, whichever comes first.
        let jobs = vec![job("one", "exit 3"), job("two", "exit 3"), job("another", &other)];
        let error = run(jobs).unwrap_err().to_string();
        assert!(error.contains("failed") && error.contains('3'), "{error}");
        assert!(!begun.exists());
        run(vec![job("another", &other)]).unwrap();
        assert!(begun.exists());
    }

    #[test]
    fn both_streams_are_kept_and_nobody_is_waited_for() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo out; echo err >&2"]);
        let start = Instant::now();
        let (status, written) = output(&mut command).unwrap();
        assert!(status.success());
        assert_eq!(written, "out\nerr\n");
        assert!(start.elapsed().as_secs() < 30);
    }
}
