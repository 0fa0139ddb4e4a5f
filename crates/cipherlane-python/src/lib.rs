//! The engine for Python: the module `cipherlane._native`, which the package in `python/` shows to users.
//!
//! Lists of `bytes` go the short way of [`cipherlane::Engine`]. Buffers (NumPy's arrays, memory maps, `bytearray`) and texts
//! in the memory of a GPU (tensors) are run where they lie, through [`cipherlane_lent`] as C's are. Python's other threads run meanwhile.

mod buffers;
mod engine;
mod errors;
mod key;
mod messages;
mod names;
mod offsets;
mod texts;

use pyo3::pymodule;

/// The compiled part of the package `cipherlane`.
// Python without its lock takes it again for this module: while buffers are looked at and copied, it keeps others from them.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::engine::{Engine, Spans};
    #[pymodule_export]
    use crate::errors::DeviceError;
    #[pymodule_export]
    use crate::names::{Sizes, algorithms, devices, sizes};
    use pyo3::types::{PyModule, PyModuleMethods};
    use pyo3::{Bound, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
