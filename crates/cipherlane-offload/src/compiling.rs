//! Tells the program's log why a first call waits: it compiles kernels.

use crate::cache::{Cache, Key, VARIABLE};

/// Tells that `name` is compiled, for `target`.
pub fn begins(name: &str, target: &str, cache: Option<&Cache>) {
    let kept = match cache {
        Some(cache) => format!("once, then it lies in {}", cache.folder().display()),
        None => format!("in every process: there is no folder to keep it, set {VARIABLE} to one"),
    };
    log::info!("compiling {name} for {target}, {kept}");
}

/// Keeps what was compiled in `cache`. That it cannot be kept costs the next process the same time again, and nothing else.
pub fn keep(cache: &Cache, kind: &str, key: &Key, compiled: &[u8]) {
    if let Err(error) = cache.put(kind, key, compiled) {
        log::warn!("compiled kernels are not kept: {error}");
    }
}
