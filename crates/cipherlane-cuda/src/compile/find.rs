//! Where NVRTC may lie.

use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::Library;

use super::{CompileError, Compiler};

/// The environment variable that names NVRTC's library.
pub const VARIABLE: &str = "CIPHERLANE_NVRTC";

/// What gets a compiler.
pub(super) const REMEDY: &str = "install CUDA's toolkit, or `pip install nvidia-cuda-nvrtc` (for a driver of CUDA 12: \
    nvidia-cuda-nvrtc-cu12), or name the library by CIPHERLANE_NVRTC";

/// Major versions of CUDA whose NVRTC this crate knows how to talk to, newest first.
const MAJORS: [u32; 3] = [13, 12, 11];

pub(super) fn find(newest: Option<u32>) -> Result<Compiler, CompileError> {
    let absent = |reason| CompileError::Absent { reason };
    if let Some(file) = std::env::var_os(VARIABLE) {
        return Compiler::open(Path::new(&file)).map_err(absent);
    }
    let mut reasons = Vec::new();
    // Where the loader finds one by itself, nothing else needs to be looked for.
    for places in [by_name, in_toolkits, in_packages] {
        let mut found: Vec<Compiler> = Vec::new();
        for file in places() {
            match Compiler::open(&file) {
                Ok(compiler) if newest.is_none_or(|newest| compiler.version.0 <= newest) => {
                    found.push(compiler);
                }
                Ok(compiler) => reasons.push(format!(
                    "{} is of CUDA {}.{}, newer than the driver",
                    file.display(),
                    compiler.version.0,
                    compiler.version.1
                )),
                Err(reason) => reasons.push(reason),
            }
        }
        if let Some(best) = found.into_iter().max_by_key(|compiler| compiler.version) {
            return Ok(best);
        }
    }
    Err(absent(reasons.join("; ")))
}

/// The names that the loader may know.
fn by_name() -> Vec<PathBuf> {
    let name = |major: &u32| match major {
        _ if cfg!(windows) => format!("nvrtc64_{major}0_0.dll"),
        11 => "libnvrtc.so.11.2".to_owned(),
        major => format!("libnvrtc.so.{major}"),
    };
    MAJORS.iter().map(|major| PathBuf::from(name(major))).collect()
}

/// `/usr/local/cuda`, `/usr/local/cuda-13.0` and their like.
fn in_toolkits() -> Vec<PathBuf> {
    let roots = std::fs::read_dir("/usr/local").into_iter().flatten().flatten().map(|entry| entry.path());
    let cuda =
        roots.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda")));
    cuda.flat_map(|root| libraries_in(&root.join("lib64"))).collect()
}

/// Wheels of NVIDIA's packages in the folders of `python3`.
fn in_packages() -> Vec<PathBuf> {
    let script = "import sys; print('\\n'.join(sys.path))";
    let Ok(output) = Command::new("python3").args(["-c", script]).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let folders = text.lines().filter(|line| !line.is_empty()).map(|line| Path::new(line).join("nvidia"));
    let inside = ["cu13/lib", "cuda_nvrtc/lib"];
    folders.flat_map(|folder| inside.map(|lib| folder.join(lib))).flat_map(|lib| libraries_in(&lib)).collect()
}

/// Files `libnvrtc.so.MAJOR` in `folder`. Others of the name are links to them, or parts.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    by_name().into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// NVRTC opens `libnvrtc-builtins` by its bare name when it compiles; some packages do not say where that lies. Opened
/// before, it is found. There is none to open where the loader knows the place by itself.
pub(super) fn open_companion(file: &Path) {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("libnvrtc-builtins.so.") {
            // SAFETY: a library of data; its initialisers are the C runtime's.
            if let Ok(library) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(library);
            }
        }
    }
}
