//! The error of names that nothing has.

use thiserror::Error;

/// A name that nothing here has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown {kind} `{name}`; known: {}", known.join(", "))]
pub struct UnknownName {
    /// What was named: `algorithm`, `tier`.
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

impl UnknownName {
    /// An error that lists the known names.
    #[must_use]
    pub fn new(kind: &'static str, name: &str, known: impl IntoIterator<Item = String>) -> Self {
        Self { kind, name: name.to_owned(), known: known.into_iter().collect() }
    }
}
