//! What the source files of a crate may say in its layer.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::Package;

use super::tokens::Facts;

/// Crates that must do without `unsafe` altogether.
const SAFE: [&str; 3] = ["cipherlane-core", "cipherlane-reference", "cipherlane-record"];
/// The crate that is types alone.
const PURE: &str = "cipherlane-core";

/// One file of a crate.
pub(super) struct Source {
    /// Relative to the crate's folder.
    path: PathBuf,
    pub(super) facts: Facts,
}

/// Every Rust file of `package`: sources, tests, examples and the build script.
pub(super) fn read(package: &Package) -> Result<Vec<Source>> {
    let root = package.manifest_path.parent().context("a manifest lies in a folder")?.as_std_path();
    let mut sources = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                let facts = Facts::of(&text).with_context(|| path.display().to_string())?;
                sources.push(Source { path: path.strip_prefix(root)?.to_owned(), facts });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// A place where `unsafe` is allowed: a module and the modules below it.
struct Allowance {
    /// `src/lanes` for `src/lanes.rs`, `src/lanes/mod.rs` and all of `src/lanes/`.
    module: PathBuf,
    /// The file that says so.
    said_in: PathBuf,
}

impl Allowance {
    fn covers(&self, source: &Source) -> bool {
        module(&source.path).starts_with(&self.module)
    }
}

/// The path of the module that `file` is: without `.rs`, and without `mod`, `lib` or `main`.
fn module(file: &Path) -> PathBuf {
    let module = file.with_extension("");
    match module.file_name().and_then(|name| name.to_str()) {
        Some("mod" | "lib" | "main") => module.parent().map_or_else(PathBuf::new, Path::to_owned),
        _ => module,
    }
}

fn is_root(file: &Path) -> bool {
    file == Path::new("src/lib.rs") || file == Path::new("src/main.rs")
}

/// Everything that is wrong with the files of the crate called `name`.
pub(super) fn breaches(name: &str, sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut allowances = Vec::new();
    for Source { path, facts } in sources {
        let allow = |module| Allowance { module, said_in: path.clone() };
        if facts.allows_unsafe && is_root(path) {
            breaches.push(format!(
                "{name}: {} allows unsafe in the whole crate; name the modules",
                path.display()
            ));
        } else if facts.allows_unsafe {
            allowances.push(allow(module(path)));
        }
        allowances.extend(facts.opens.iter().map(|opened| allow(module(path).join(opened))));
        if name == PURE {
            let impure = facts.impure.iter();
            breaches.extend(
                impure.map(|what| format!("{name}: {} uses {what}; this crate is types", path.display())),
            );
        }
    }
    for source in sources.iter().filter(|source| source.facts.has_unsafe) {
        let path = source.path.display();
        if SAFE.contains(&name) {
            breaches.push(format!("{name}: {path} has unsafe; this crate does without"));
        } else if !allowances.iter().any(|allowance| allowance.covers(source)) {
            breaches
                .push(format!("{name}: {path} has unsafe, and its module does not say allow(unsafe_code)"));
        }
    }
    let idle = |allowance: &&Allowance| !sources.iter().any(|s| s.facts.has_unsafe && allowance.covers(s));
    breaches.extend(allowances.iter().filter(idle).map(|Allowance { module, said_in }| {
        format!("{name}: {} allows unsafe in {}, which has none", said_in.display(), module.display())
    }));
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSAFE: &str = "fn f(p: *const u8) -> u8 { unsafe { *p } }";

    fn check(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |&(path, text): &(&str, &str)| Source { path: path.into(), facts: Facts::of(text).unwrap() };
        breaches(name, &files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn unsafe_needs_an_allowance() {
        let inner = format!("#![allow(unsafe_code)] {UNSAFE}");
        assert_eq!(check("cipherlane-cpu", &[("src/job.rs", UNSAFE)]).len(), 1);
        assert!(check("cipherlane-cpu", &[("src/job.rs", &inner)]).is_empty());
        assert_eq!(
            check("cipherlane-cpu", &[("src/lib.rs", &inner)]).len(),
            2,
            "the root opens the whole crate"
        );
        assert_eq!(check("cipherlane-core", &[("src/job.rs", &inner)]).len(), 1);
    }

    #[test]
    fn an_allowance_reaches_the_modules_below() {
        let root = ("src/lib.rs", "#[allow(unsafe_code)] mod lanes; mod tier;");
        let files = [root, ("src/lanes/mod.rs", ""), ("src/lanes/sse.rs", UNSAFE)];
        assert!(check("cipherlane-cpu", &files).is_empty());
        let found = check("cipherlane-cpu", &[root, ("src/lanes.rs", UNSAFE), ("src/tier.rs", UNSAFE)]);
        assert!(found.len() == 1 && found[0].contains("src/tier.rs"), "{found:?}");
    }

    #[test]
    fn an_idle_allowance_is_noticed() {
        let found =
            check("cipherlane-cpu", &[("src/lib.rs", "#[allow(unsafe_code)] mod job;"), ("src/job.rs", "")]);
        assert!(found.len() == 1 && found[0].contains("src/job"), "{found:?}");
    }

    #[test]
    fn the_types_do_not_touch_the_world() {
        let text = "fn f() { std::fs::read(\"\"); }";
        assert_eq!(check("cipherlane-core", &[("src/batch.rs", text)]).len(), 1);
        assert!(check("cipherlane-lab", &[("src/input.rs", text)]).is_empty());
    }
}
