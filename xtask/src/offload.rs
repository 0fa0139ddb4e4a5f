//! What kernels for GPUs are tested with where there is no GPU: NVIDIA's compiler, and OpenCL on the CPU.
//!
//! The compiler is a wheel, unpacked below the target folder. PoCL is a system package that finds its parts by fixed
//! paths, so it can only be installed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::apt;
use crate::shell::{self, Workspace};

/// The compiler of CUDA 13.0: it knows every architecture that is tested, and the drivers in use load what it makes.
const NVRTC: &str = "nvidia-cuda-nvrtc==13.0.88";
/// Where the wheel has it.
const LIBRARY: &str = "nvidia/cu13/lib/libnvrtc.so.13";
/// Debian's packages of OpenCL's loader and of PoCL.
const POCL: [&str; 2] = ["ocl-icd-libopencl1", "pocl-opencl-icd"];
/// Where the loader looks for implementations.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// Variables that let the tests use these, and make them fail where they then cannot. What cannot be had is said, and
/// left untested. None of them picks kernels: what the tests' lists do not know to be right is checked.
///
/// # Errors
/// If something cannot be had and nothing may be left out.
pub(crate) fn environment(workspace: &Workspace) -> Result<Vec<(&'static str, String)>> {
    let mut variables = Vec::new();
    match shell::left_out(nvrtc(workspace), "kernels by NVRTC, which is not here")? {
        Some(Some(library)) => {
            variables.push(("CIPHERLANE_NVRTC", library.display().to_string()));
            variables.push(("CIPHERLANE_REQUIRE_NVRTC", "1".to_owned()));
            // What NVRTC has in its own cache it does not compile, and then says nothing of registers.
            variables.push(("CUDA_CACHE_DISABLE", "1".to_owned()));
        }
        Some(None) => variables.push(("CIPHERLANE_REQUIRE_NVRTC", "1".to_owned())),
        None => {}
    }
    if shell::left_out(opencl(), "kernels by OpenCL, of which there is no device")?.is_some() {
        variables.push(("CIPHERLANE_REQUIRE_OPENCL", "1".to_owned()));
        // Tests have caches of their own, and would have it compile the same kernels again and again.
        variables.push(("POCL_CACHE_DIR", workspace.target.join("pocl").display().to_string()));
        // A program's binary holds its kernels for any number of threads. They do for the launches as well: PoCL would compile
        // each kernel a second time for the number that it is launched with.
        variables.push(("POCL_WORK_GROUP_SPECIALIZATION", "0".to_owned()));
    }
    Ok(variables)
}

/// The compiler below the target folder, or `None` where the caller names one.
fn nvrtc(workspace: &Workspace) -> Result<Option<PathBuf>> {
    if env::var_os("CIPHERLANE_NVRTC").is_some() {
        return Ok(None);
    }
    ensure!(cfg!(all(target_os = "linux", target_arch = "x86_64")), "the wheel is one for Linux on x86-64");
    let home = workspace.target.join("nvrtc");
    let library = home.join(LIBRARY);
    if !library.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"])
            .arg(&home)
            .arg(NVRTC);
        shell::run(&mut pip)?;
    }
    ensure!(library.exists(), "{NVRTC} has no {LIBRARY}");
    Ok(Some(library))
}

/// Installs PoCL where there is no OpenCL and the user may install.
fn opencl() -> Result<()> {
    if has_vendor() {
        return Ok(());
    }
    apt::install(&POCL)?;
    let names = POCL.join(" ");
    ensure!(has_vendor(), "{names} brought no file to {VENDORS}");
    Ok(())
}

fn has_vendor() -> bool {
    let entries = std::fs::read_dir(Path::new(VENDORS));
    entries.is_ok_and(|mut entries| entries.any(|entry| entry.is_ok()))
}
