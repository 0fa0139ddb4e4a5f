//! The tests: every crate once, then the CPU's with its tiers switched off one by one.

use std::env;
use std::ffi::OsString;

use anyhow::{Result, bail, ensure};

use crate::programs::{self, Job, Program};
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

/// The crate whose tiers are switched off.
const CPU: &str = "cipherlane-cpu";

/// Its tests of every kernel.
const KERNELS: &str = "kernels";

/// Those among them that take the best tier there is.
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
    run_with(workspace, &needs(workspace)?)
}

/// Runs everything in `environment`.
pub(crate) fn run_with(workspace: &Workspace, environment: &Environment) -> Result<()> {
    let features = features()?;
    let arguments = ["--workspace", "--locked", "--features", &features];
    let programs = programs::build(workspace, &arguments)?;
    let mut documentation = workspace.cargo(&["test", "--doc"]);
    documentation.args(arguments);
    let mut jobs = vec![Job {
        name: "examples in the documentation".to_owned(),
        package: String::new(),
        command: documentation,
    }];
    jobs.extend(programs.iter().map(Program::job));
    if cfg!(target_arch = "x86_64") {
        jobs.extend(switched_off(&programs)?);
    } else {
        eprintln!("this CPU has one tier, so there is none to switch off");
    }
    for job in &mut jobs {
        job.command.envs(environment.iter().map(|(name, value)| (name, value)));
    }
    programs::run(jobs)
}

/// The integration tests of the CPU crate, with tiers switched off. Unit tests make their kernels by hand, whatever is
/// switched off.
fn switched_off(programs: &[Program]) -> Result<Vec<Job>> {
    let of_cpu: Vec<_> =
        programs.iter().filter(|program| program.package == CPU && program.is_integration).collect();
    ensure!(!of_cpu.is_empty(), "cargo built no test of {CPU}");
    let mut jobs = Vec::new();
    for variables in SWITCHED_OFF {
        for program in &of_cpu {
            let mut job = program.job();
            job.command.envs(variables.iter().map(|name| (name, "1")));
            // Its tests name the tier: what they find in this one they have found before. A hasher takes the best.
            if program.target == KERNELS && !variables.contains(&NO_VAES) {
                ensure!(program.has_tests(HASHER)?, "no test of {KERNELS} is called {HASHER}");
                job.command.arg(HASHER);
            }
            job.name += &format!(" with {}", variables.join(", "));
            jobs.push(job);
        }
    }
    Ok(jobs)
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
