//! Lists of `bytes`: messages, or their nonces.

use std::ops::Deref;

use pyo3::exceptions::PyTypeError;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyAnyMethods, PyByteArray, PyBytes, PyMemoryView, PyTypeMethods};
use pyo3::{Borrowed, FromPyObject, PyAny, PyErr, PyResult, intern};

/// The bytes of each, where Python has them.
pub(crate) struct Messages(Vec<PyBackedBytes>);

impl Deref for Messages {
    type Target = Vec<PyBackedBytes>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Messages {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        check_is_no_message(object)?;
        check_gives_whole_items(object)?;
        object.extract().map(Self)
    }
}

/// A message is a list of its bytes: where it is empty, it would be a list of no messages.
fn check_is_no_message(object: Borrowed<'_, '_, PyAny>) -> PyResult<()> {
    let is_message = object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>();
    if !is_message {
        return Ok(());
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("{kind}, where a list belongs; give a list of messages: [message]")))
}

/// NumPy gives items of bytes without the zeros at their end: nonces would be shorter, and messages others.
fn check_gives_whole_items(object: Borrowed<'_, '_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let Some(dtype) = object.getattr_opt(intern!(py, "dtype"))? else { return Ok(()) };
    match dtype.getattr_opt(intern!(py, "kind"))? {
        Some(kind) if !kind.eq("O")? => Err(PyTypeError::new_err(format!(
            "an array of {dtype}, which gives items without the zeros at their end, or no bytes; give a list of bytes, or \
             arrays of numbers to `run`"
        ))),
        _ => Ok(()),
    }
}
