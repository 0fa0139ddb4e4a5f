//! Keeps the arrows of ARCHITECTURE.md true: who may depend on whom, and who may write `unsafe`.

mod edges;
mod source;
mod tokens;

use anyhow::{Result, bail};

use crate::shell::Workspace;

/// Prints every breach and fails if there is one.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let packages = &workspace.metadata.packages;
    let edges = edges::all(packages);
    let mut breaches: Vec<String> = edges.iter().filter_map(edges::Edge::breach).collect();
    breaches.extend(packages.iter().filter_map(|package| edges::unknown(&package.name)));
    let mut files = 0;
    let mut with_unsafe = 0;
    for package in packages {
        let sources = source::read(package)?;
        breaches.extend(source::breaches(&package.name, &sources));
        files += sources.len();
        with_unsafe += sources.iter().filter(|source| source.facts.has_unsafe).count();
    }
    if breaches.is_empty() {
        eprintln!(
            "{} crates, {} edges, {files} files ({with_unsafe} with unsafe)",
            packages.len(),
            edges.len()
        );
        return Ok(());
    }
    for breach in &breaches {
        eprintln!("{breach}");
    }
    bail!("{} breaches of the layers that ARCHITECTURE.md draws", breaches.len())
}
