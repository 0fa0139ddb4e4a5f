//! The edges between crates that are allowed, and the check that there is no other.

use cargo_metadata::{DependencyKind, Package};

/// A crate and the crates that it may depend on.
struct Layer {
    name: &'static str,
    always: &'static [&'static str],
    /// Only as an optional dependency: a feature switches it off.
    by_feature: &'static [&'static str],
    /// Only for its own tests.
    in_tests: &'static [&'static str],
}

impl Layer {
    const fn new(name: &'static str, always: &'static [&'static str]) -> Self {
        Self { name, always, by_feature: &[], in_tests: &[] }
    }

    const fn by_feature(mut self, names: &'static [&'static str]) -> Self {
        self.by_feature = names;
        self
    }

    const fn in_tests(mut self, names: &'static [&'static str]) -> Self {
        self.in_tests = names;
        self
    }
}

/// ARCHITECTURE.md draws the same. A new crate gets a line in both.
const LAYERS: [Layer; 20] = [
    Layer::new("cipherlane-core", &[]),
    Layer::new("cipherlane-reference", &["cipherlane-core"]),
    Layer::new("cipherlane-threads", &[]),
    Layer::new("cipherlane-cpu", &["cipherlane-core", "cipherlane-threads"])
        .in_tests(&["cipherlane-reference"]),
    Layer::new("cipherlane-kernels", &["cipherlane-core"]).in_tests(&["cipherlane-reference"]),
    Layer::new("cipherlane-offload", &["cipherlane-core", "cipherlane-kernels", "cipherlane-threads"])
        .in_tests(&["cipherlane-reference"]),
    Layer::new("cipherlane-cuda", &["cipherlane-core", "cipherlane-kernels", "cipherlane-offload"])
        .in_tests(&["cipherlane-reference", "cipherlane-cpu"]),
    Layer::new("cipherlane-opencl", &["cipherlane-core", "cipherlane-kernels", "cipherlane-offload"])
        .in_tests(&["cipherlane-reference", "cipherlane-cpu"]),
    Layer::new("cipherlane-rivals", &["cipherlane-core", "cipherlane-threads"])
        .in_tests(&["cipherlane-reference"]),
    Layer::new("cipherlane-record", &["cipherlane-core"]),
    Layer::new("cipherlane-report", &["cipherlane-record"]),
    Layer::new("cipherlane", &["cipherlane-core", "cipherlane-reference", "cipherlane-cpu"])
        .by_feature(&["cipherlane-cuda", "cipherlane-opencl"]),
    Layer::new(
        "cipherlane-lab",
        &[
            "cipherlane",
            "cipherlane-record",
            "cipherlane-threads",
            "cipherlane-kernels",
            "cipherlane-offload",
            "cipherlane-cuda",
            "cipherlane-opencl",
        ],
    )
    .by_feature(&["cipherlane-rivals"]),
    Layer::new(
        "cipherlane-dashboard",
        &["cipherlane", "cipherlane-lab", "cipherlane-record", "cipherlane-report"],
    ),
    Layer::new("cipherlane-files", &["cipherlane"]),
    Layer::new("cipherlane-lent", &["cipherlane"]),
    Layer::new("cipherlane-capi", &["cipherlane", "cipherlane-lent"]),
    Layer::new("cipherlane-python", &["cipherlane", "cipherlane-lent"]),
    Layer::new(
        "cipherlane-cli",
        &[
            "cipherlane",
            "cipherlane-lab",
            "cipherlane-record",
            "cipherlane-report",
            "cipherlane-dashboard",
            "cipherlane-files",
        ],
    ),
    Layer::new("xtask", &[]),
];

/// One crate of the workspace depends on another.
#[derive(Debug)]
pub(super) struct Edge {
    from: String,
    to: String,
    kind: DependencyKind,
    optional: bool,
}

/// Every edge within the workspace.
pub(super) fn all(packages: &[Package]) -> Vec<Edge> {
    let edges = packages.iter().flat_map(|package| package.dependencies.iter().map(move |to| (package, to)));
    edges
        .filter(|(_, to)| packages.iter().any(|package| package.name == to.name))
        .map(|(from, to)| Edge {
            from: from.name.to_string(),
            to: to.name.clone(),
            kind: to.kind,
            optional: to.optional,
        })
        .collect()
}

/// What is wrong with a crate that no layer names.
pub(super) fn unknown(package: &str) -> Option<String> {
    let known = LAYERS.iter().any(|layer| layer.name == package);
    (!known)
        .then(|| format!("{package} has no layer; draw it in ARCHITECTURE.md and xtask/src/layers/edges.rs"))
}

impl Edge {
    /// What is wrong with the edge, if anything.
    pub(super) fn breach(&self) -> Option<String> {
        let Self { from, to, .. } = self;
        let layer = LAYERS.iter().find(|layer| layer.name == from)?;
        let names = |list: &[&str]| list.contains(&to.as_str());
        let dev = self.kind == DependencyKind::Development;
        if names(layer.always) || (names(layer.by_feature) && self.optional) || (names(layer.in_tests) && dev)
        {
            return None;
        }
        if names(layer.by_feature) {
            return Some(format!("{from} -> {to}: must be optional, behind a feature"));
        }
        if names(layer.in_tests) {
            return Some(format!("{from} -> {to}: only as a dev-dependency"));
        }
        let kind = if dev { " (dev-dependency)" } else { "" };
        Some(format!("{from} -> {to}{kind}: not an edge; allowed: {}", layer.always.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, kind: DependencyKind, optional: bool) -> Option<String> {
        Edge { from: from.to_owned(), to: to.to_owned(), kind, optional }.breach()
    }

    #[test]
    fn an_edge_against_the_flow_is_a_breach() {
        let found = edge("cipherlane-core", "cipherlane-cpu", DependencyKind::Normal, false).unwrap();
        assert!(found.starts_with("cipherlane-core -> cipherlane-cpu"), "{found}");
        assert!(edge("cipherlane-cpu", "cipherlane-lab", DependencyKind::Build, false).is_some());
        assert!(edge("cipherlane-record", "cipherlane-rivals", DependencyKind::Development, false).is_some());
        assert_eq!(edge("cipherlane-cpu", "cipherlane-core", DependencyKind::Normal, false), None);
    }

    #[test]
    fn the_reference_serves_tests_of_a_backend_only() {
        let found = edge("cipherlane-cpu", "cipherlane-reference", DependencyKind::Normal, false).unwrap();
        assert!(found.contains("dev-dependency"), "{found}");
        assert_eq!(edge("cipherlane-cpu", "cipherlane-reference", DependencyKind::Development, false), None);
    }

    #[test]
    fn the_laboratory_can_do_without_rivals() {
        let found = edge("cipherlane-lab", "cipherlane-rivals", DependencyKind::Normal, false).unwrap();
        assert!(found.contains("optional"), "{found}");
        assert_eq!(edge("cipherlane-lab", "cipherlane-rivals", DependencyKind::Normal, true), None);
    }

    #[test]
    fn a_crate_without_a_layer_is_noticed() {
        assert!(unknown("cipherlane-metal").is_some());
        assert_eq!(unknown("cipherlane"), None);
    }

    #[test]
    fn no_layer_depends_on_a_later_one() {
        for (place, layer) in LAYERS.iter().enumerate() {
            for name in layer.always.iter().chain(layer.by_feature).chain(layer.in_tests) {
                assert!(
                    LAYERS[..place].iter().any(|earlier| earlier.name == *name),
                    "{} -> {name}",
                    layer.name
                );
            }
        }
    }
}
