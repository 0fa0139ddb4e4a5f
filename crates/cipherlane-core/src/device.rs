//! The two traits that everything here stands on.

use crate::batch::Batch;
use crate::error::{DeviceError, Unsupported};
use crate::output::Output;
use crate::plan::{Plan, Wish};
use crate::shape::Shape;
use crate::spans::Spans;

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Identifier, as records and the command line spell it: `cpu`, `rival:openssl`.
    pub id: String,
    /// Name for people: a CPU model, a library with its version.
    pub name: String,
    /// Instruction tiers that can be asked for here, best first. Empty where the device chooses by itself.
    pub tiers: Vec<String>,
    /// Most threads that the device profits from.
    pub threads: usize,
    /// Further properties as (name, value), in the order in which they should be shown.
    pub details: Vec<(String, String)>,
}

/// One way in which a device can run an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Full name: cipher family and mode, tier, blocks in flight: `aes-gcm/avx512/x16`.
    pub name: String,
    /// The instruction tier.
    pub tier: String,
    /// Blocks in flight.
    pub lanes: usize,
    /// Whether its timing is independent of keys and data.
    pub constant_time: bool,
}

/// Something that runs batches: this CPU, a GPU, or another library that we measure against.
pub trait Device: Send + Sync {
    /// What the device is.
    fn info(&self) -> &Info;

    /// Every kernel that serves `shape` here, best first.
    fn kernels(&self, shape: &Shape) -> Vec<Kernel>;

    /// How the device would run batches of `shape`, given what the caller insists on.
    ///
    /// # Errors
    /// [`Unsupported`] says what does not fit together, and what would.
    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported>;

    /// Opens a session that runs batches according to `plan`.
    ///
    /// # Errors
    /// If the plan is not one of this device, or its resources cannot be had.
    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError>;
}

/// A plan put into effect: threads started, kernels chosen. Reused for any number of batches.
pub trait Session: Send {
    /// Runs one batch into `output`.
    ///
    /// The batch may have any sizes; its algorithm and operation are the plan's. A wrong tag is a value in
    /// [`Output::accepted`], never an error. If an error is returned, no text was written.
    ///
    /// # Errors
    /// If the batch is not well formed, is not of the session's algorithm and operation, or the device fails.
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError>;
}
