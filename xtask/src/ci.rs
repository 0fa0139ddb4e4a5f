//! Every check, cheapest first, then the tests.

use std::path::Path;
use std::time::Instant;
use std::{panic, thread};

use anyhow::{Context, Result};

use crate::shell::{self, Workspace};
use crate::{layers, msrv, test, tools};

type Step = fn(&Workspace) -> Result<()>;

/// The names are those of the tasks, so that a failed step can be repeated alone.
const CHECKS: [(&str, Step); 7] = [
    ("fmt", fmt),
    ("msrv", msrv::run),
    ("layers", layers::run),
    ("typos", tools::typos),
    ("deny", tools::deny),
    ("clippy", clippy),
    ("docs", docs),
];

/// Runs each step; the first that fails ends the run.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    thread::scope(|scope| {
        // What the tests need comes over the network, while the checks keep the CPUs busy.
        let needs = scope.spawn(|| test::needs(workspace));
        let checks = CHECKS.into_iter().try_for_each(|(name, check)| step(name, || check(workspace)));
        // What the checks found comes first.
        let needs = needs.join();
        checks?;
        let needs = needs.unwrap_or_else(|panic| panic::resume_unwind(panic));
        step("test", || test::run_with(workspace, &needs?))
    })
}

fn step(name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("\n=== {name}");
    let start = Instant::now();
    run().with_context(|| format!("step {name} (to repeat it alone: `cargo xtask {name}`)"))?;
    eprintln!("=== {name}: passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Fails where a file is not formatted.
pub(crate) fn fmt(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
}

/// Lints everything; a warning fails. Then, without tests, what users build: the features that crates have by themselves,
/// and none.
///
/// The test profile makes AWS-LC build once, for clippy and for the tests.
pub(crate) fn clippy(workspace: &Workspace) -> Result<()> {
    let features = test::features()?;
    for set in [&["--all-targets", "--features", &features][..], &[], &["--no-default-features"]] {
        let mut cargo = workspace.cargo(&["clippy", "--workspace", "--locked", "--profile", "test"]);
        shell::run(cargo.args(set).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Builds the documentation; a warning fails.
///
/// That of examples as well: asked for them, cargo takes dependencies with the features that tests give them, as clippy
/// has checked them. It does so where they are to be checked by clippy's compiler, as `cargo clippy -- -D warnings` calls it.
pub(crate) fn docs(workspace: &Workspace) -> Result<()> {
    let features = test::features()?;
    let targets = ["--lib", "--bins", "--examples"];
    let mut cargo = workspace.cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    cargo.args(targets).args(["--profile", "test", "--features", &features]);
    let toolchain = shell::capture(workspace.command("rustc").args(["--print", "sysroot"]))?;
    cargo.env("RUSTC_WORKSPACE_WRAPPER", Path::new(toolchain.trim()).join("bin/clippy-driver"));
    cargo.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    shell::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}
