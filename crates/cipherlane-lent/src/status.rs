//! Why a call fails.

use std::error::Error;
use std::fmt;

use cipherlane::devices::NoDevice;
use cipherlane::{DeviceError, UnknownName, Unsupported};

/// How a call ended. Where a batch did not run, `accepted` has zeros, and nothing else was written, unless something else is
/// said here.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what was asked. A message whose tag was wrong is no failure: see `accepted`.
    Ok = 0,
    /// No algorithm, operation or device has this name, or it is no UTF-8; the message lists those that there are, or says why
    /// there is no device of that kind.
    UnknownName = 1,
    /// The parts of the batch do not fit together.
    Batch = 2,
    /// The device has no kernel for this, or not as the wish insists.
    Unsupported = 3,
    /// The device failed, or gave an output that is known to be wrong. No message was accepted. In memory of the host, text that
    /// may have come out is zeroed, and with it what was to be opened in place; where none can have, as where no threads could
    /// be started, that is as it was. In memory of a GPU, text may be left, and is worth nothing: such as no tag vouches for is
    /// zeroed only if the GPU still does as it is told. All else that is to be written is worth nothing.
    Device = 4,
    /// A pointer is NULL that must not be, or not aligned, or its length is one that no memory has; buffers overlap; or memory
    /// of a GPU is not such as the device can use. `accepted` may be as it was.
    Pointer = 5,
    /// A fault of this library: please report it. Outputs hold anything.
    Internal = 6,
}

/// Why a call fails.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    reason: String,
}

impl Failure {
    /// The kind of failure.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// A fault of ours.
    pub fn internal(reason: impl Into<String>) -> Self {
        Self { status: Status::Internal, reason: reason.into() }
    }

    /// About a pointer of the caller's.
    pub fn pointer(reason: impl Into<String>) -> Self {
        Self { status: Status::Pointer, reason: reason.into() }
    }

    /// About parts of a batch that do not fit together.
    pub(crate) fn batch(reason: impl Into<String>) -> Self {
        Self { status: Status::Batch, reason: reason.into() }
    }

    /// About a name that nothing can have.
    pub(crate) fn name(reason: impl Into<String>) -> Self {
        Self { status: Status::UnknownName, reason: reason.into() }
    }

    /// The same, of what it is about.
    pub(crate) fn of(mut self, what: &str) -> Self {
        self.reason.insert_str(0, &format!("{what}: "));
        self
    }
}

/// What happened, and what helps.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Error for Failure {}

impl From<UnknownName> for Failure {
    fn from(error: UnknownName) -> Self {
        Self { status: Status::UnknownName, reason: error.to_string() }
    }
}

impl From<NoDevice> for Failure {
    fn from(error: NoDevice) -> Self {
        Self { status: Status::UnknownName, reason: error.to_string() }
    }
}

impl From<Unsupported> for Failure {
    fn from(error: Unsupported) -> Self {
        Self { status: Status::Unsupported, reason: error.to_string() }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let status = match &error {
            DeviceError::Batch(_) => Status::Batch,
            DeviceError::Unsupported(_) => Status::Unsupported,
            DeviceError::Memory { .. } => Status::Pointer,
            DeviceError::Failed { .. } | DeviceError::WrongOutput { .. } => Status::Device,
        };
        Self { status, reason: error.to_string() }
    }
}
