//! Disassemblers, found and run.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Listing;

/// NVIDIA's disassembler of cubins.
#[derive(Clone, Debug)]
pub(crate) struct Nvdisasm {
    file: PathBuf,
    /// The release that it says it is of.
    pub(crate) version: String,
}

/// What gets it.
const REMEDY: &str = "install CUDA's toolkit, or `pip install nvidia-cuda-nvdisasm`";

impl Nvdisasm {
    /// Looks in the path, in CUDA's usual folders, and in the packages of the `python3` in the path.
    ///
    /// # Errors
    /// That there is none, and what gets one.
    pub(crate) fn find() -> Result<Self, String> {
        let places = [PathBuf::from("nvdisasm")].into_iter().chain(in_toolkits()).chain(in_packages());
        for file in places {
            let asked = Command::new(&file).arg("--version").stdin(Stdio::null()).output();
            if let Ok(output) = asked
                && output.status.success()
            {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let version = text.lines().find_map(|line| line.split_once("release ")).map(|(_, rest)| rest);
                let version = version.and_then(|rest| rest.split(',').next()).unwrap_or("of unknown release");
                return Ok(Self { file, version: version.to_owned() });
            }
        }
        Err(format!("there is no nvdisasm; {REMEDY}"))
    }

    /// The functions of `cubin`.
    ///
    /// # Errors
    /// What it fails by.
    pub(crate) fn functions(&self, cubin: &[u8]) -> Result<Vec<Listing>, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.file.display());
        // It reads files only.
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("kernel.cubin");
        std::fs::write(&file, cubin).map_err(failed)?;
        let output = Command::new(&self.file).arg("-c").arg(&file).stdin(Stdio::null()).output();
        let text = printed(&self.file, output)?;
        Ok(Listing::sass(&text))
    }
}

/// The words on standard output, if all went well.
fn printed(program: &Path, output: io::Result<std::process::Output>) -> Result<String, String> {
    let program = program.display();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{program} fails: {}: {said}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `/usr/local/cuda/bin` and its like.
fn in_toolkits() -> Vec<PathBuf> {
    let roots = std::fs::read_dir("/usr/local").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_cuda =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda"));
    roots.filter(is_cuda).map(|root| root.join("bin/nvdisasm")).collect()
}

/// Wheels of NVIDIA's packages in the folders of `python3`.
fn in_packages() -> Vec<PathBuf> {
    let script = "import sys; print('\\n'.join(sys.path))";
    let Ok(output) = Command::new("python3").args(["-c", script]).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let inside = ["nvidia/cu13/bin/nvdisasm", "nvidia/cuda_nvdisasm/bin/nvdisasm"];
    let folders = text.lines().filter(|line| !line.is_empty());
    folders.flat_map(|folder| inside.map(|tool| Path::new(folder).join(tool))).collect()
}

/// The function of this program at `address` in memory, as GNU's or LLVM's `objdump` shows the file.
///
/// # Errors
/// Where the program's place in memory is not known, or there is no disassembler, with what gets one.
pub(crate) fn objdump_function(address: usize) -> Result<Listing, String> {
    /// Longer than any function that is looked at.
    const BYTES: usize = 8192;
    let file =
        std::env::current_exe().map_err(|error| format!("the program's file is not known: {error}"))?;
    let start = address - loaded_at(&file)?;
    let range = [format!("--start-address={start:#x}"), format!("--stop-address={:#x}", start + BYTES)];
    for name in ["objdump", "llvm-objdump"] {
        let mut command = Command::new(name);
        command.args(["-d", "--no-show-raw-insn", "-M", "intel"]).args(&range).arg(&file);
        match command.stdin(Stdio::null()).output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            output => return Ok(Listing::objdump(&printed(Path::new(name), output)?)),
        }
    }
    Err("there is no objdump; install the system's binutils, or LLVM".to_owned())
}

/// The address at which the first byte of `file` lies in this process, by the kernel's list of what is where.
fn loaded_at(file: &Path) -> Result<usize, String> {
    let unknown = || "where the program lies in memory is known on Linux only (/proc/self/maps)".to_owned();
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|_| unknown())?;
    let of_file = |line: &&str| line.ends_with(&*file.to_string_lossy());
    let first = maps.lines().find(of_file).ok_or_else(unknown)?;
    let mut fields = first.split_whitespace();
    let (range, offset) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
    let number = |text: &str| usize::from_str_radix(text, 16).map_err(|_| unknown());
    let start = number(range.split('-').next().unwrap_or_default())?;
    Ok(start - number(offset)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_disassembler_is_named_with_its_remedy() {
        match Nvdisasm::find() {
            Ok(found) => assert!(!found.version.is_empty()),
            Err(reason) => assert!(reason.contains("pip install"), "{reason}"),
        }
    }

    #[test]
    fn what_fails_is_said() {
        let output = Command::new("sh").args(["-c", "echo no such cubin >&2; exit 3"]).output();
        let error = printed(Path::new("nvdisasm"), output).unwrap_err();
        assert!(error.contains("no such cubin") && error.contains('3'), "{error}");
    }
}
