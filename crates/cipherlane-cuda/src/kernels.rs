//! Compiled kernels: found in the cache, or compiled and kept there.

use std::sync::OnceLock;

use cipherlane_offload::backend::{Fault, Unit};
use cipherlane_offload::cache::{Cache, Key};
use cipherlane_offload::compiling;

use crate::compile::{CompileError, Compiled, Compiler, Target};

/// The kind of entries in the cache.
const KIND: &str = "cuda";

/// C++17, which every NVRTC since 11.0 has, whatever its default.
pub const OPTIONS: [&str; 1] = ["-std=c++17"];

/// What kernels of one GPU are compiled by.
#[derive(Debug)]
pub struct Kernels {
    /// The GPU's capability: 90 for sm_90.
    capability: u32,
    /// The newest major version of CUDA whose work the driver takes.
    newest: Option<u32>,
    cache: Option<Cache>,
    /// Looked for when the first kernel is needed.
    compiler: OnceLock<Result<Compiler, CompileError>>,
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// A cubin, or PTX that ends in zero.
    pub bytes: Vec<u8>,
    /// Whether it was found in the cache.
    pub cached: bool,
}

impl Kernels {
    /// Kernels for GPUs of `capability` (90 for sm_90) and drivers of CUDA `newest` (major), kept in `cache`.
    #[must_use]
    pub const fn new(capability: u32, newest: Option<u32>, cache: Option<Cache>) -> Self {
        Self { capability, newest, cache, compiler: OnceLock::new() }
    }

    /// The compiler.
    ///
    /// # Errors
    /// If there is none; says what gets one.
    pub fn compiler(&self) -> Result<&Compiler, CompileError> {
        self.compiler.get_or_init(|| Compiler::find(self.newest)).as_ref().map_err(Clone::clone)
    }

    /// The compiled form of `unit`, from the cache if it is there.
    ///
    /// # Errors
    /// The compiler's log, or that there is no compiler and what gets one.
    pub fn image(&self, unit: &Unit) -> Result<Image, Fault> {
        let compiler = self.compiler()?;
        let key = key(compiler, unit, self.compile_for(compiler)?);
        if let Some(bytes) = self.cache.as_ref().and_then(|cache| cache.get(KIND, &key)) {
            return Ok(Image { bytes, cached: true });
        }
        Ok(Image { bytes: self.compile(unit)?.image, cached: false })
    }

    /// Compiles `unit`, whether it is in the cache or not, and keeps it there.
    ///
    /// # Errors
    /// The compiler's log, or that there is no compiler and what gets one.
    pub fn compile(&self, unit: &Unit) -> Result<Compiled, Fault> {
        let compiler = self.compiler()?;
        let target = self.compile_for(compiler)?;
        compiling::begins(&unit.name, &target.to_string(), self.cache.as_ref());
        let compiled = compiler.compile(&unit.name, &unit.text, target, &OPTIONS.map(str::to_owned))?;
        if let Some(cache) = &self.cache {
            compiling::keep(cache, KIND, &key(compiler, unit, target), &compiled.image);
        }
        Ok(compiled)
    }

    fn compile_for(&self, compiler: &Compiler) -> Result<Target, Fault> {
        compiler.target(self.capability).ok_or_else(|| self.too_old(compiler))
    }

    /// Whether the compiled form of `unit` is in the cache. Opens the compiler, whose version that form depends on, and
    /// compiles nothing: without a compiler nothing is known to be compiled.
    #[must_use]
    pub fn is_cached(&self, unit: &Unit) -> bool {
        let (Some(cache), Ok(compiler)) = (&self.cache, self.compiler()) else { return false };
        compiler.target(self.capability).is_some_and(|target| cache.has(KIND, &key(compiler, unit, target)))
    }

    fn too_old(&self, compiler: &Compiler) -> Fault {
        let (major, minor) = compiler.version();
        let oldest = compiler.architectures().first().copied().unwrap_or(0);
        Fault(format!(
            "NVRTC {major}.{minor} compiles for sm_{oldest} and newer, and this GPU is sm_{}; install an older one \
             (nvidia-cuda-nvrtc-cu12 for sm_50 and newer)",
            self.capability
        ))
    }
}

/// All that the compiled form depends on.
fn key(compiler: &Compiler, unit: &Unit, target: Target) -> Key {
    let (major, minor) = compiler.version();
    let options = OPTIONS.join(" ");
    let ingredients = [unit.text.clone(), options, format!("NVRTC {major}.{minor}"), target.to_string()];
    Key::new(&ingredients.each_ref().map(String::as_bytes))
}

impl From<CompileError> for Fault {
    fn from(error: CompileError) -> Self {
        Self(error.to_string())
    }
}
