//! Keys of calls that take lists.

use std::ops::Deref;

use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3::{Borrowed, FromPyObject, PyAny, PyErr, PyResult};
use zeroize::Zeroizing;

use crate::buffers::Lent;

/// The bytes of a key.
pub(crate) enum Key {
    /// Where Python has them: nobody changes `bytes`.
    Bytes(PyBackedBytes),
    /// Those of anything else, as they were when the call began. They are wiped: whoever keeps a key in a `bytearray` may do so
    /// to wipe it.
    Copy(Zeroizing<Vec<u8>>),
}

impl Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Copy(copy) => copy,
        }
    }
}

impl FromPyObject<'_, '_> for Key {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.to_owned().into()));
        }
        Ok(Self::Copy(Lent::read(&object, "key")?.wiped_copy()))
    }
}
