//! What there is, by name.

use std::collections::BTreeMap;

use cipherlane::Algorithm;
use pyo3::types::{PyAnyMethods, PyType};
use pyo3::{Bound, PyResult, Python, pyclass, pyfunction, pymethods};

use crate::errors;

/// Lengths of an algorithm's parts, in bytes. May be pickled.
#[pyclass(frozen, get_all, module = "cipherlane")]
pub(crate) struct Sizes {
    key: usize,
    nonce: usize,
    tag: usize,
}

#[pymethods]
impl Sizes {
    #[new]
    const fn new(key: usize, nonce: usize, tag: usize) -> Self {
        Self { key, nonce, tag }
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, (usize, usize, usize)) {
        let &Self { key, nonce, tag } = this.get();
        (this.get_type(), (key, nonce, tag))
    }

    fn __repr__(&self) -> String {
        let Self { key, nonce, tag } = self;
        format!("Sizes(key={key}, nonce={nonce}, tag={tag})")
    }
}

/// The lengths of `algorithm`'s key, nonce and tag or digest.
#[pyfunction]
pub(crate) fn sizes(algorithm: &str) -> PyResult<Sizes> {
    let algorithm: Algorithm = algorithm.parse().map_err(errors::of_name)?;
    let cipherlane_lent::Sizes { key, nonce, tag } = cipherlane_lent::Sizes::of(algorithm);
    Ok(Sizes { key, nonce, tag })
}

/// The names of all algorithms.
#[pyfunction]
pub(crate) fn algorithms() -> Vec<String> {
    Algorithm::all().map(|algorithm| algorithm.to_string()).collect()
}

/// The devices of this machine, and why there are none of a kind: (`["cpu"]`, `{"cuda": "..."}`).
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> (Vec<String>, BTreeMap<&'static str, String>) {
    py.detach(|| {
        let (found, absent) = cipherlane::devices::find();
        let ids = found.iter().map(|device| device.info().id.clone()).collect();
        (ids, absent.into_iter().map(|kind| (kind.kind, kind.reason)).collect())
    })
}
