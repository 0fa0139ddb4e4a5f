//! CUDA's driver API, opened at run time: nothing links to CUDA, and a machine without it says so.
//!
//! Each type owns one thing of the driver and gives it back when it is dropped. All of them hold the [`Context`], and each
//! call makes it current while it lasts, or many calls do so once ([`Context::held`]), so that they may be used from any
//! thread, and leave its context alone.
#![allow(unsafe_code)] // foreign functions of the driver; every block says what holds

mod api;
mod context;
mod error;
mod gpu;
mod memory;
mod module;
mod pointer;
mod stream;

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::ptr::null;
use std::sync::OnceLock;

use libloading::Library;

use api::{Code, Functions};
pub use context::Context;
pub use error::CudaError;
pub use gpu::{Attribute, Gpu};
pub use memory::{Memory, Pinned};
pub use module::{Dimensions, Function, Module, Usage};
pub use pointer::{gpu_of, is_of_other, pinned};
pub use stream::{Event, Stream};

/// The environment variable that names the driver's library where it lies in no usual place.
pub const VARIABLE: &str = "CIPHERLANE_LIBCUDA";

#[cfg(windows)]
const NAMES: &[&str] = &["nvcuda.dll"];
/// Windows Subsystem for Linux has it in a folder of its own, which not every distribution searches.
#[cfg(not(windows))]
const NAMES: &[&str] = &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];

/// The driver: its functions, and what it says of itself.
pub struct Driver {
    functions: Functions,
    version: (u32, u32),
}

impl Driver {
    /// The driver of this machine, opened by the first call and kept until the process ends.
    ///
    /// # Errors
    /// Why there is none, with the remedy.
    pub fn get() -> Result<&'static Self, String> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// The latest CUDA version that the driver knows, major and minor.
    #[must_use]
    pub const fn version(&self) -> (u32, u32) {
        self.version
    }

    /// How many GPUs there are.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn count(&self) -> Result<usize, CudaError> {
        let mut count = 0;
        // SAFETY: the driver is initialised; it writes one int.
        let code = unsafe { (self.functions.cuDeviceGetCount)(&raw mut count) };
        self.check("cuDeviceGetCount", code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Whether `call` went well.
    fn check(&self, call: &'static str, code: Code) -> Result<(), CudaError> {
        if code == 0 { Ok(()) } else { Err(CudaError::new(call, code, self.describe(code))) }
    }

    /// Name and words of a code, as far as the driver knows it.
    fn describe(&self, code: Code) -> String {
        let say = |function: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
            let mut text = null();
            // SAFETY: the driver stores a pointer to a static string, or null for a code that it does not know.
            let known = unsafe { function(code, &raw mut text) } == 0 && !text.is_null();
            // SAFETY: see above; the string is terminated and never freed.
            known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        match (say(self.functions.cuGetErrorName), say(self.functions.cuGetErrorString)) {
            (Some(name), Some(text)) => format!("{name} ({code}): {text}"),
            (Some(name), None) => format!("{name} ({code})"),
            (None, _) => format!("error {code}, which this driver has no name for"),
        }
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("version", &self.version).finish_non_exhaustive()
    }
}

fn open() -> Result<Driver, String> {
    let library = load()?;
    // SAFETY: the library is the CUDA driver.
    let functions = unsafe { Functions::load(library) }.map_err(|symbol| {
        format!("the CUDA driver has no {symbol}; install a driver of CUDA 11.0 or newer")
    })?;
    let mut driver = Driver { functions, version: (0, 0) };
    // SAFETY: the first call; flags must be 0.
    let code = unsafe { (driver.functions.cuInit)(0) };
    driver.check("cuInit", code).map_err(|error| error.to_string())?;
    let mut version: c_int = 0;
    // SAFETY: the driver writes one int.
    let code = unsafe { (driver.functions.cuDriverGetVersion)(&raw mut version) };
    driver.check("cuDriverGetVersion", code).map_err(|error| error.to_string())?;
    // 1000 * major + 10 * minor.
    let version = u32::try_from(version).unwrap_or(0);
    driver.version = (version / 1000, version % 1000 / 10);
    Ok(driver)
}

/// Opens the library by the first name that works. It is never closed: the driver runs threads of its own.
fn load() -> Result<&'static Library, String> {
    let named = std::env::var_os(VARIABLE);
    let names: Vec<&OsStr> =
        named.as_deref().map_or_else(|| NAMES.iter().map(OsStr::new).collect(), |name| vec![name]);
    let mut reasons = Vec::new();
    for name in names {
        // SAFETY: the driver's initialisers are meant to run in any process.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => reasons.push(innermost(&error)),
        }
    }
    let remedy = "install NVIDIA's driver, or name its library by";
    Err(format!("no CUDA driver ({}); {remedy} {VARIABLE}", reasons.join("; ")))
}

/// The loader's own words, which libloading keeps as the source of its error.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}
