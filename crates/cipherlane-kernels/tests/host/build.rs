//! Compiles programs with the system's C compiler, under sanitizers.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::Program;
use tempfile::TempDir;

/// The system's C compiler: `$CC`, else `cc`.
pub(crate) struct Compiler {
    name: String,
}

/// Words that OpenCL C keeps to itself, and C does not: a kernel that has one is no kernel for OpenCL, whose own compiler
/// takes minutes on a CPU to say so.
const RESERVED: [&str; 9] =
    ["half", "kernel", "global", "local", "constant", "private", "event_t", "sampler_t", "image2d_t"];

impl Compiler {
    /// `None` if there is no compiler that can build and run a sanitized program here, after a line that says so.
    /// With `CIPHERLANE_CI` set that is a failure.
    pub(crate) fn find() -> Option<Self> {
        let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let compiler = Self { name };
        match compiler.build_text("int main(void) { return 0; }\n") {
            Ok(_) => Some(compiler),
            Err(reason) => {
                assert!(std::env::var_os("CIPHERLANE_CI").is_none(), "no C compiler for host C: {reason}");
                println!("NOT CHECKED: kernels as host C: {reason}");
                None
            }
        }
    }

    fn compile(&self, text: &str, to: &Path) -> Result<(), String> {
        let source = to.with_extension("c");
        std::fs::write(&source, text).map_err(|error| error.to_string())?;
        let output = Command::new(&self.name)
            .args(RESERVED.map(|word| format!("-D{word}=is_reserved_in_OpenCL_C")))
            .args(["-std=gnu11", "-O1", "-g0", "-w", "-fno-strict-aliasing", "-pthread"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o"])
            .args([to, &source])
            .output()
            .map_err(|error| format!("{}: {error}", self.name))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// The program as something to run.
    pub(crate) fn build(&self, program: &Program) -> Result<Built, String> {
        self.build_text(&text(program))
    }

    pub(crate) fn build_text(&self, text: &str) -> Result<Built, String> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
        self.compile(text, &folder.path().join(PROGRAM))?;
        Ok(Built(folder))
    }
}

/// Name of what is built, in a folder of its own.
const PROGRAM: &str = "program";

/// The whole text that is compiled for the program.
pub(crate) fn text(program: &Program) -> String {
    let entries: Vec<String> = program.stages.iter().map(|stage| program.entry(stage)).collect();
    let stages = format!("#define CL_STAGES {}\n", entries.join(", "));
    [&flatten::text(program), &stages, include_str!("grid.c")].concat()
}

/// A program that was built; removed when it is dropped.
pub(crate) struct Built(TempDir);

impl Built {
    /// What it writes when it reads `job`.
    pub(crate) fn run(&self, job: &[u8]) -> Result<Vec<u8>, String> {
        let mut child = Command::new(self.0.path().join(PROGRAM))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        // What the program says of itself tells more than that it did not read on.
        let sent = stdin.write_all(job);
        drop(stdin);
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        sent.map_err(|error| error.to_string())?;
        Ok(output.stdout)
    }
}
