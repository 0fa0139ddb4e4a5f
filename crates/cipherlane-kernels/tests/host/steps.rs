//! Which steps a program takes: a sum over the basic blocks that its threads run, as `steps.c` makes it. Where two jobs differ
//! in secrets alone, their sums are the same.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cipherlane_kernels::manifest::Program;
use tempfile::TempDir;

use crate::build::text;

/// A program that was built to tell its steps; removed when it is dropped.
pub(crate) struct Traced(TempDir);

/// Name of what is built.
const PROGRAM: &str = "program";

fn ran(output: std::io::Result<Output>) -> Result<Output, String> {
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// Runs the system's C compiler in `folder`.
fn compile(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    ran(Command::new(name).current_dir(folder).args(arguments).output()).map(drop)
}

impl Traced {
    pub(crate) fn build(program: &Program) -> Result<Self, String> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())
        };
        write("kernel.c", &text(program))?;
        write("steps.c", include_str!("steps.c"))?;
        let options = ["-std=gnu11", "-O1", "-w", "-fno-strict-aliasing", "-fno-pie"];
        let traced = [&options[..], &["-fsanitize-coverage=trace-pc", "-c", "kernel.c"]].concat();
        compile(folder.path(), &traced)?;
        // At the same place in every run.
        let linked = ["-no-pie", "-pthread", "steps.c", "kernel.o", "-o", PROGRAM];
        compile(folder.path(), &[&options[..], &linked].concat())?;
        Ok(Self(folder))
    }

    /// The sum of the steps that it takes when it reads `job`.
    pub(crate) fn steps(&self, job: &[u8]) -> Result<String, String> {
        let mut child = Command::new(self.0.path().join(PROGRAM))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        stdin.write_all(job).map_err(|error| error.to_string())?;
        drop(stdin);
        ran(child.wait_with_output()).map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
