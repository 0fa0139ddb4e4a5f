//! Why a file of test vectors could not be read.

use std::path::Path;

use thiserror::Error;

/// A file of test vectors that could not be read: where, why and what helps.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{place}: {problem}")]
pub struct VectorError {
    /// `file`, `file:line` or `file: tcId n`.
    pub place: String,
    /// What is wrong, and what helps.
    pub problem: String,
}

impl VectorError {
    pub(crate) fn at_line(file: &str, line: usize, problem: impl Into<String>) -> Self {
        Self { place: format!("{file}:{line}"), problem: problem.into() }
    }

    pub(crate) fn in_file(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self { place: path.display().to_string(), problem: problem.to_string() }
    }
}
