//! Parts of a GCM message, which several devices run at the same time.
//!
//! Kernels count tiles from the start of the message: counters, and the powers of H that a tile's sum takes, come from
//! its place there. So the sums of all parts add up to that of the message, whoever runs them (SP 800-38D section 6.4:
//! GHASH is a sum of products). One device takes the total, adds AAD and lengths, and makes or compares the tag.

use cipherlane_core::{Batch, Device, DeviceError, Output, Plan, Resident, Session, Spans};
use cipherlane_kernels::manifest::FINISH;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::device::{Accelerator, Provider};

/// Where a part lies in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the message before it: a multiple of 128 KiB, where tiles of all kernels begin.
    pub start: u64,
    /// Bytes of the whole message.
    pub message_bytes: u64,
}

/// What a part adds to the GHASH of its message, in the form of the kernels. Whoever knows it and the ciphertext can
/// solve for H.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub struct Sum(pub [u8; Sum::BYTES]);

impl Sum {
    /// Bytes of an element of GF(2^128).
    pub const BYTES: usize = 16;

    /// Adds what another part has.
    pub fn add(&mut self, other: &Self) {
        for (byte, more) in self.0.iter_mut().zip(&other.0) {
            *byte ^= more;
        }
    }
}

// Secrets never reach a log.
impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sum")
    }
}

/// A device that may be one of a fleet.
pub trait Member: Device {
    /// Whether the kernel of `plan` runs parts of GCM messages. Where it does not, messages stay whole.
    ///
    /// # Errors
    /// If the plan is not one of this device.
    fn takes_parts(&self, plan: &Plan) -> Result<bool, DeviceError>;

    /// A session by `plan`, as [`Device::open`] gives.
    ///
    /// # Errors
    /// Those of [`Device::open`].
    fn parts(&self, plan: &Plan) -> Result<Box<dyn Parts>, DeviceError>;

    /// A place on the device by `plan`, as [`Device::resident`] gives.
    ///
    /// # Errors
    /// Those of [`Device::resident`].
    fn resident_parts(&self, plan: &Plan) -> Result<Option<Box<dyn ResidentParts>>, DeviceError>;
}

/// A session that may run parts of GCM messages, if its device [takes](Member::takes_parts) them.
///
/// Their batches have one message, with the key, the nonce, the AAD and, to open, the tag of the whole one.
pub trait Parts: Session {
    /// Runs the part whose text the batch has: up to the end of its message, or to a multiple of 128 KiB, where tiles of
    /// all kernels end. Tags and verdicts are left alone: the text of a part is written whatever its message comes to.
    ///
    /// # Errors
    /// Those of [`Session::run`].
    fn run_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        part: Part,
    ) -> Result<(Spans, Sum), DeviceError>;

    /// Makes the tag of a message of `message_bytes` bytes whose parts add up to `sum`, or the verdict on it. The
    /// batch's message has no text.
    ///
    /// # Errors
    /// Those of [`Session::run`].
    fn end_parts(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        message_bytes: u64,
        sum: &Sum,
    ) -> Result<Spans, DeviceError>;

    /// Whether text may have come out in the last run, be it one that failed. Where none has, texts in place are as they were.
    fn has_text_out(&self) -> bool {
        true
    }
}

/// A place on a device for a batch, or for a part of a GCM message if the device [takes](Member::takes_parts) parts.
pub trait ResidentParts: Resident {
    /// Brings a part, as [`Resident::load`] does a batch. After each run of it [`ResidentParts::sum`] says what it adds.
    ///
    /// # Errors
    /// Those of [`Resident::load`].
    fn load_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        part: Part,
    ) -> Result<Spans, DeviceError>;

    /// What the last run of the part adds.
    ///
    /// # Errors
    /// If the device fails.
    fn sum(&mut self) -> Result<Sum, DeviceError>;

    /// Makes the tag of the message whose parts add up to `sum`, or the verdict on it, for [`Resident::store`] of this
    /// part.
    ///
    /// # Errors
    /// If the device fails.
    fn end_parts(&mut self, sum: &Sum) -> Result<Spans, DeviceError>;
}

impl<P: Provider> Member for Accelerator<P> {
    fn takes_parts(&self, plan: &Plan) -> Result<bool, DeviceError> {
        let program = self.check_plan(plan)?;
        Ok(program.stages.iter().any(|stage| stage.entry == FINISH))
    }

    fn parts(&self, plan: &Plan) -> Result<Box<dyn Parts>, DeviceError> {
        Ok(Box::new(self.session(plan)?))
    }

    fn resident_parts(&self, plan: &Plan) -> Result<Option<Box<dyn ResidentParts>>, DeviceError> {
        Ok(Some(Box::new(self.resident_in(plan, None)?)))
    }
}
