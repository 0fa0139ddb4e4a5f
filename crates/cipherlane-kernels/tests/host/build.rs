//! Compiles programs with the system's C compiler, under sanitizers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::Program;

/// The system's C compiler: `$CC`, else `cc`.
pub(crate) struct Compiler {
    name: String,
}

impl Compiler {
    /// `None` if there is no compiler that can build and run a sanitized program here, after a line that says so.
    /// With `CIPHERLANE_CI` set that is a failure.
    pub(crate) fn find() -> Option<Self> {
        let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let compiler = Self { name };
        let folder = tempfile_folder("probe");
        // Each thread has a file of its own: tests run side by side.
        let file = folder.join(format!("{:?}", std::thread::current().id()));
        match compiler.compile("int main(void) { return 0; }\n", &file) {
            Ok(()) => Some(compiler),
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
    pub(crate) fn build(&self, program: &Program) -> PathBuf {
        let mut text = flatten::text(program);
        let entries: Vec<String> = program.stages.iter().map(|stage| program.entry(stage)).collect();
        text.push_str(&format!("#define CL_STAGES {}\n", entries.join(", ")));
        text.push_str(include_str!("grid.c"));
        let path = tempfile_folder("programs").join(flatten::key(&text));
        self.compile(&text, &path).unwrap_or_else(|reason| panic!("{}: {reason}", program.kernel));
        path
    }
}

/// What `path` writes when it reads `job`.
pub(crate) fn run(path: &Path, job: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    stdin.write_all(job).map_err(|error| error.to_string())?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn tempfile_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder can be written to");
    folder
}
