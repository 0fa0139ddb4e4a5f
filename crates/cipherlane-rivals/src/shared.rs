//! Shared libraries that are opened at run time.
#![allow(unsafe_code)] // symbols of C libraries

use libloading::Library;

/// Opens the first of `names` for which `resolve` finds its symbols, and never unloads it.
///
/// # Errors
/// For each name, why not.
pub(crate) fn open<T>(
    names: &'static [&'static str],
    resolve: impl Fn(&'static Library) -> Result<T, &'static str>,
) -> Result<(T, &'static str), String> {
    let mut reasons = Vec::new();
    for &file in names {
        // SAFETY: the initialisers of the libraries named here are meant to run in any process.
        match unsafe { Library::new(file) } {
            // Never unloaded: libraries register handlers that run when threads and the process end.
            Ok(library) => match resolve(Box::leak(Box::new(library))) {
                Ok(resolved) => return Ok((resolved, file)),
                Err(missing) => reasons.push(format!("{file} has no {missing}")),
            },
            Err(error) => reasons.push(with_name(file, &innermost(&error))),
        }
    }
    Err(reasons.join("; "))
}

/// What the loader says of `file`, by its name, which most loaders begin with.
fn with_name(file: &str, words: &str) -> String {
    if words.starts_with(file) { words.to_owned() } else { format!("{file}: {words}") }
}

/// The loader's own words, which libloading keeps as the source of its error.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

/// The symbol `name`, or its name.
///
/// # Safety
/// `T` is the symbol's type.
pub(crate) unsafe fn symbol<'n, T: Copy>(library: &'static Library, name: &'n str) -> Result<T, &'n str> {
    // SAFETY: the caller's promise.
    unsafe { library.get::<T>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| name)
}
