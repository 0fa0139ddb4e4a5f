//! Programs, compiled by the driver or found compiled.

use cipherlane_offload::backend::{Fault, Unit};
use cipherlane_offload::cache::{Cache, Key};
use cipherlane_offload::compiling;

use crate::driver::{ClError, Context, Facts, Kernel, Program};

/// OpenCL C 1.2, whatever else the driver could read: defaults differ from driver to driver.
const OPTIONS: &str = "-cl-std=CL1.2";

/// The kind of entries in the cache.
const KIND: &str = "opencl";

/// A compiled program with its entry points.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) kernels: Vec<Kernel>,
    /// Threads of a block, by entry point.
    pub(crate) threads: Vec<u32>,
}

/// Compiles `unit` for the device of `context`, or finds it in the cache.
pub(crate) fn load(context: &Context, facts: &Facts, unit: &Unit) -> Result<Compiled, Fault> {
    let key = key(facts, unit);
    let program = match find(context, &key) {
        Some(program) => program,
        None => compile(context, facts, unit, &key)?,
    };
    let kernel = |entry: &str| {
        program.kernel(entry).map_err(|error| Fault(format!("{}: {entry}: {error}", unit.name)))
    };
    Ok(Compiled {
        kernels: unit.entries.iter().map(|entry| kernel(&entry.name)).collect::<Result<_, _>>()?,
        threads: unit.entries.iter().map(|entry| entry.threads).collect(),
    })
}

/// All that the compiled form depends on.
fn key(facts: &Facts, unit: &Unit) -> Key {
    Key::new(&[
        unit.text.as_bytes(),
        OPTIONS.as_bytes(),
        facts.platform.as_bytes(),
        facts.name.as_bytes(),
        facts.version.as_bytes(),
        facts.driver.as_bytes(),
    ])
}

/// Whether the compiled form of `unit` is in the cache.
pub(crate) fn is_cached(facts: &Facts, unit: &Unit) -> bool {
    Cache::of_user().is_some_and(|cache| cache.has(KIND, &key(facts, unit)))
}

/// The program in the cache. One that the driver does not take any more is as good as none: it is compiled anew.
fn find(context: &Context, key: &Key) -> Option<Program> {
    let binary = Cache::of_user()?.get(KIND, key)?;
    context.load(&binary, OPTIONS).ok()
}

fn compile(context: &Context, facts: &Facts, unit: &Unit, key: &Key) -> Result<Program, Fault> {
    let refused = |(error, log): (ClError, String)| {
        Fault(format!(
            "the OpenCL compiler refuses {}: {error}; update the driver, or report it\n{log}",
            unit.name
        ))
    };
    let cache = Cache::of_user();
    compiling::begins(&unit.name, &facts.name, cache.as_ref());
    let program = context.compile(&unit.text, OPTIONS).map_err(refused)?;
    if let (Some(cache), Ok(binary)) = (cache, program.binary()) {
        compiling::keep(&cache, KIND, key, &binary);
    }
    Ok(program)
}
