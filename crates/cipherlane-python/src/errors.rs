//! Which exception is raised when.

use std::fmt::Display;

use cipherlane::UnknownName;
use cipherlane_lent::{Failure, Status};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    cipherlane,
    DeviceError,
    PyRuntimeError,
    "A device failed, or gave an output that is known to be wrong."
);

/// What was given is at fault.
pub(crate) fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The exception for a name that nothing has.
pub(crate) fn of_name(error: UnknownName) -> PyErr {
    value(error)
}

/// The exception for `failure`.
pub(crate) fn of(failure: &Failure) -> PyErr {
    match failure.status() {
        Status::Device | Status::Internal => DeviceError::new_err(failure.to_string()),
        Status::Ok | Status::UnknownName | Status::Batch | Status::Unsupported | Status::Pointer => {
            value(failure)
        }
    }
}

/// The exception for an error of the short way.
pub(crate) fn of_engine(error: cipherlane::Error) -> PyErr {
    match error {
        cipherlane::Error::Device(error) => of(&Failure::from(error)),
        cipherlane::Error::Unknown(_)
        | cipherlane::Error::NoDevice(_)
        | cipherlane::Error::RepeatedNonce { .. } => value(error),
    }
}
