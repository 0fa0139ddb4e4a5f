//! The tests: every crate once, then the CPU's with its tiers switched off one by one.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Message;

use crate::shell::{self, Workspace};
use crate::{chromium, offload, python, rivals, vectors};

/// Each set of variables leaves the next tier of an x86-64 CPU as the best one; the last leaves `portable`. Between
/// them stands the tier `avx2` as CPUs from before VAES run it.
const SWITCHED_OFF: [&[&str]; 4] = [
    &["CIPHERLANE_NO_AVX512"],
    &["CIPHERLANE_NO_AVX512", NO_VAES],
    &["CIPHERLANE_NO_AVX512", "CIPHERLANE_NO_AVX2"],
    &["CIPHERLANE_NO_AVX512", "CIPHERLANE_NO_AVX2", "CIPHERLANE_NO_SSE"],
];

/// The switch without which the kernels of a tier are the same whatever else is switched off.
const NO_VAES: &str = "CIPHERLANE_NO_VAES";

/// The tests of kernels that take the best tier there is.
const HASHER: &str = "hasher";

/// Variables of the tests, which tell where what they need lies.
pub(crate) type Environment = Vec<(&'static str, OsString)>;

/// Brings what the tests need that is no crate: vectors, compilers, libraries.
pub(crate) fn needs(workspace: &Workspace) -> Result<Environment> {
    vectors::fetch(workspace)?;
    let mut environment = offload::environment(workspace)?;
    environment.extend(python::environment(workspace)?);
    environment.extend(chromium::environment().map(|(name, value)| (name, value.to_owned())));
    let environment = environment.into_iter().map(|(name, value)| (name, value.into()));
    Ok(environment.chain(rivals::loader_path(workspace)).collect())
}

/// Runs everything.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    run_with(workspace, needs(workspace)?)
}

/// Runs everything in `environment`. Ends with the test harness's own result lines.
pub(crate) fn run_with(workspace: &Workspace, environment: Environment) -> Result<()> {
    let features = features()?;
    let arguments = ["test", "--workspace", "--locked", "--features", &features];
    shell::run(workspace.cargo(&arguments).envs(environment))?;
    if !cfg!(target_arch = "x86_64") {
        eprintln!("this CPU has one tier, so there is none to switch off");
        return Ok(());
    }
    let programs = cpu_tests(workspace, &arguments)?;
    for variables in SWITCHED_OFF {
        for (program, folder) in &programs {
            let environment = variables.iter().map(|name| (name, "1"));
            let mut command = Command::new(program);
            command.current_dir(folder).envs(environment);
            // Its tests name the tier: what they find in this one they have found before. A hasher takes the best.
            if is_of_kernels(program) && !variables.contains(&NO_VAES) {
                ensure!(has_tests(program, HASHER)?, "no test of {} is called {HASHER}", program.display());
                command.arg(HASHER);
            }
            shell::run(&mut command)?;
        }
    }
    Ok(())
}

/// The features under which everything is built, so that clippy, docs and tests share their C builds.
///
/// OpenSSL builds with make and perl. Without them the tests go on with the other rivals, and say so; where
/// `CIPHERLANE_CI` is set, nothing may be left out.
pub(crate) fn features() -> Result<String> {
    let mut features = vec!["cipherlane-rivals/crates"];
    let missing: Vec<_> =
        ["make", "perl"].into_iter().filter(|tool| shell::version(tool.as_ref()).is_none()).collect();
    if missing.is_empty() {
        features.push("cipherlane-rivals/openssl");
    } else if env::var_os("CIPHERLANE_CI").is_some() {
        bail!("the tests compare with OpenSSL, which needs {}; install it", missing.join(" and "));
    } else {
        let missing = missing.join(" and ");
        eprintln!("NOT TESTED: the OpenSSL rival. Building it needs {missing}; install it and rerun.");
    }
    Ok(features.join(","))
}

/// Whether a program has the tests of every kernel.
fn is_of_kernels(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("kernels-"))
}

fn has_tests(program: &Path, name: &str) -> Result<bool> {
    Ok(shell::capture(Command::new(program).args(["--list", name]))?.contains(": test"))
}

/// The integration tests of the CPU crate that `arguments` build, each with the folder that cargo runs it in. Unit tests
/// make their kernels by hand, whatever is switched off.
///
/// They are started directly: narrowing `cargo test` to one package would unify features anew, and build anew.
fn cpu_tests(workspace: &Workspace, arguments: &[&str]) -> Result<Vec<(PathBuf, PathBuf)>> {
    let mut cargo = workspace.cargo(arguments);
    cargo.args(["--quiet", "--no-run", "--message-format=json-render-diagnostics"]).stderr(Stdio::inherit());
    let messages = shell::capture(&mut cargo)?;
    let mut programs = Vec::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        let Message::CompilerArtifact(artifact) = message.context("cargo's messages")? else { continue };
        let package = workspace.metadata.packages.iter().find(|package| package.id == artifact.package_id);
        if let (true, Some(program), Some(package)) = (artifact.profile.test, artifact.executable, package)
            && package.name == "cipherlane-cpu"
            && artifact.target.is_test()
        {
            let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
            programs.push((program.into(), folder.into()));
        }
    }
    ensure!(!programs.is_empty(), "cargo built no test of cipherlane-cpu");
    Ok(programs)
}
