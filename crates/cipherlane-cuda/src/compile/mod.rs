//! NVRTC, NVIDIA's compiler as a library, opened at run time.
//!
//! It needs no GPU: a machine without one compiles for any. Several versions may be open at once; [`Compiler::find`]
//! takes the newest that the driver can load the work of.
#![allow(unsafe_code)] // foreign functions of NVRTC; every block says what holds

mod find;
mod usage;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use libloading::Library;

use crate::driver::innermost;
pub use find::VARIABLE;
pub use usage::KernelUsage;

/// From this version on NVRTC keeps what it compiles. The log of what comes from there has none of the assembler's counts.
const HAS_CACHE: (u32, u32) = (13, 0);

/// `nvrtcResult`: an `int` and not an enum, since other versions have other codes.
type Code = c_int;
/// `nvrtcProgram`.
type Program = *mut c_void;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> Code;
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> Code;

struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code,
    error: unsafe extern "C" fn(Code) -> *const c_char,
    count_architectures: unsafe extern "C" fn(*mut c_int) -> Code,
    architectures: unsafe extern "C" fn(*mut c_int) -> Code,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Code,
    destroy: unsafe extern "C" fn(*mut Program) -> Code,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code,
    log_size: GetSize,
    log: GetBytes,
    cubin_size: GetSize,
    cubin: GetBytes,
    ptx_size: GetSize,
    ptx: GetBytes,
}

/// An open NVRTC.
pub struct Compiler {
    functions: Functions,
    version: (u32, u32),
    file: PathBuf,
    /// Capabilities that it makes machine code for, as `90`.
    architectures: Vec<u32>,
}

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Machine code of one capability: 90 for sm_90. Runs on that capability and later minors of its major.
    Cubin(u32),
    /// The driver's intermediate language, for GPUs that are newer than the compiler.
    Ptx(u32),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubin(capability) => write!(f, "sm_{capability}"),
            Self::Ptx(capability) => write!(f, "compute_{capability}"),
        }
    }
}

/// What came of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// A cubin, or PTX with its terminating zero.
    pub image: Vec<u8>,
    /// What the compiler and the assembler said.
    pub log: String,
}

impl Compiled {
    /// Registers, stack and spills of each kernel, as the assembler counted them. Empty for PTX, which it has not
    /// seen.
    #[must_use]
    pub fn usage(&self) -> Vec<KernelUsage> {
        usage::read(&self.log)
    }
}

/// Why nothing was compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// There is no compiler.
    #[error("no NVRTC: {reason}; {}", find::REMEDY)]
    Absent {
        /// Which files were tried, and what the loader said.
        reason: String,
    },
    /// The source is refused.
    #[error(
        "NVRTC {version} refuses {name} for {target}: {reason}; this is a defect of cipherlane, or of this compiler: report it with the log below.\n{log}"
    )]
    Source {
        /// The compiler's version.
        version: String,
        /// The source.
        name: String,
        /// What it was compiled for.
        target: String,
        /// The result in NVRTC's words.
        reason: String,
        /// The compiler's log.
        log: String,
    },
    /// A call failed for another reason.
    #[error("NVRTC {version}: {call}: {reason}")]
    Call {
        /// The compiler's version.
        version: String,
        /// The function.
        call: &'static str,
        /// The result in NVRTC's words.
        reason: String,
    },
}

impl Compiler {
    /// The newest NVRTC of this machine whose major version is at most `newest`: a driver refuses what a newer major
    /// has made. The places are the file that [`VARIABLE`] names (then it alone), the loader's own, CUDA's usual
    /// folders, and the packages of the `python3` in the path.
    ///
    /// # Errors
    /// What was tried, and what helps.
    pub fn find(newest: Option<u32>) -> Result<Self, CompileError> {
        find::find(newest)
    }

    /// Opens the library at `file`.
    ///
    /// # Errors
    /// If it cannot be opened, or lacks a function.
    pub fn open(file: &Path) -> Result<Self, String> {
        find::open_companion(file);
        // SAFETY: NVRTC's initialisers are meant to run in any process.
        let library = unsafe { Library::new(file) }
            .map_err(|error| format!("{}: {}", file.display(), innermost(&error)))?;
        // Never closed: NVRTC keeps threads and state of its own.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the library is NVRTC.
        let functions = unsafe { Functions::load(library) }
            .map_err(|symbol| format!("{} has no {symbol}: it is older than CUDA 11.2", file.display()))?;
        let version = functions.version();
        let architectures = functions.architectures();
        Ok(Self { functions, version, file: file.to_owned(), architectures })
    }

    /// Major and minor version: that of the CUDA toolkit.
    #[must_use]
    pub const fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The library's file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The capabilities that it makes machine code for, rising.
    #[must_use]
    pub fn architectures(&self) -> &[u32] {
        &self.architectures
    }

    /// What to compile for, to run on a GPU of `capability`: its machine code, or PTX where this compiler is older
    /// than the GPU. `None` if the GPU is older than what this compiler knows.
    #[must_use]
    pub fn target(&self, capability: u32) -> Option<Target> {
        let best = self.architectures.iter().copied().filter(|&known| known <= capability).max()?;
        // Machine code runs on later minors of its major.
        Some(if best / 10 == capability / 10 { Target::Cubin(best) } else { Target::Ptx(best) })
    }

    /// Compiles `source`. `options` are added to the target; the log has the assembler's counts.
    ///
    /// # Errors
    /// The compiler's log, if it refuses the source.
    pub fn compile(
        &self,
        name: &str,
        source: &str,
        target: Target,
        options: &[String],
    ) -> Result<Compiled, CompileError> {
        let program = self.program(name, source)?;
        let mut all = vec![format!("-arch={target}"), "-default-device".into(), "--ptxas-options=-v".into()];
        if self.version >= HAS_CACHE {
            all.push("--no-cache".into());
        }
        let options: Vec<CString> = all.iter().chain(options).map(|option| c_string(option)).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program lives; so do the options, C strings as many as counted.
        let code = unsafe { (self.functions.compile)(program.handle, count, pointers.as_ptr()) };
        let log = program.text("nvrtcGetProgramLog", self.functions.log_size, self.functions.log)?;
        if code != 0 {
            let (version, reason) = (self.version_text(), self.functions.describe(code));
            return Err(CompileError::Source {
                version,
                name: name.to_owned(),
                target: target.to_string(),
                reason,
                log,
            });
        }
        let image = match target {
            Target::Cubin(_) => {
                program.bytes("nvrtcGetCUBIN", self.functions.cubin_size, self.functions.cubin)?
            }
            Target::Ptx(_) => program.bytes("nvrtcGetPTX", self.functions.ptx_size, self.functions.ptx)?,
        };
        Ok(Compiled { image, log })
    }

    fn program(&self, name: &str, source: &str) -> Result<OwnedProgram<'_>, CompileError> {
        let (name, source) = (c_string(name), c_string(source));
        let mut handle = null_mut();
        // SAFETY: two C strings, which NVRTC copies; no headers; it writes one handle.
        let code = unsafe {
            (self.functions.create)(&raw mut handle, source.as_ptr(), name.as_ptr(), 0, null(), null())
        };
        self.check("nvrtcCreateProgram", code)?;
        Ok(OwnedProgram { compiler: self, handle })
    }

    fn version_text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    fn check(&self, call: &'static str, code: Code) -> Result<(), CompileError> {
        if code == 0 {
            return Ok(());
        }
        Err(CompileError::Call { version: self.version_text(), call, reason: self.functions.describe(code) })
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiler")
            .field("version", &self.version)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// A program that is destroyed when it is dropped.
struct OwnedProgram<'a> {
    compiler: &'a Compiler,
    handle: Program,
}

impl OwnedProgram<'_> {
    fn bytes(&self, call: &'static str, size: GetSize, get: GetBytes) -> Result<Vec<u8>, CompileError> {
        let mut length = 0;
        // SAFETY: the program lives; NVRTC writes one size.
        self.compiler.check(call, unsafe { size(self.handle, &raw mut length) })?;
        let mut bytes = vec![0; length];
        // SAFETY: the program lives; NVRTC writes as many bytes as it has just said.
        self.compiler.check(call, unsafe { get(self.handle, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn text(&self, call: &'static str, size: GetSize, get: GetBytes) -> Result<String, CompileError> {
        let bytes = self.bytes(call, size, get)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned())
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `nvrtcCreateProgram`, destroyed once.
        unsafe { (self.compiler.functions.destroy)(&raw mut self.handle) };
    }
}

impl Functions {
    /// Looks up every function, or says which is missing.
    ///
    /// # Safety
    /// `library` is NVRTC.
    unsafe fn load(library: &'static Library) -> Result<Self, &'static str> {
        // SAFETY: each symbol is given the type that it has in nvrtc.h.
        unsafe {
            Ok(Self {
                version: symbol(library, "nvrtcVersion")?,
                error: symbol(library, "nvrtcGetErrorString")?,
                count_architectures: symbol(library, "nvrtcGetNumSupportedArchs")?,
                architectures: symbol(library, "nvrtcGetSupportedArchs")?,
                create: symbol(library, "nvrtcCreateProgram")?,
                destroy: symbol(library, "nvrtcDestroyProgram")?,
                compile: symbol(library, "nvrtcCompileProgram")?,
                log_size: symbol(library, "nvrtcGetProgramLogSize")?,
                log: symbol(library, "nvrtcGetProgramLog")?,
                cubin_size: symbol(library, "nvrtcGetCUBINSize")?,
                cubin: symbol(library, "nvrtcGetCUBIN")?,
                ptx_size: symbol(library, "nvrtcGetPTXSize")?,
                ptx: symbol(library, "nvrtcGetPTX")?,
            })
        }
    }

    fn version(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: NVRTC writes two ints.
        unsafe { (self.version)(&raw mut major, &raw mut minor) };
        (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0))
    }

    fn architectures(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: NVRTC writes one int.
        unsafe { (self.count_architectures)(&raw mut count) };
        let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: NVRTC writes as many ints as it has just said.
        unsafe { (self.architectures)(numbers.as_mut_ptr()) };
        numbers.into_iter().filter_map(|number| u32::try_from(number).ok()).collect()
    }

    fn describe(&self, code: Code) -> String {
        // SAFETY: NVRTC returns a static string for any code.
        let text = unsafe { (self.error)(code) };
        if text.is_null() {
            return code.to_string();
        }
        // SAFETY: see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// The symbol `name`, or its name.
///
/// # Safety
/// `T` is the symbol's type.
unsafe fn symbol<T: Copy>(library: &'static Library, name: &'static str) -> Result<T, &'static str> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get::<T>(name) }.map(|symbol| *symbol).map_err(|_| name)
}

/// Sources and options have no zero byte; one that had would be cut.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
