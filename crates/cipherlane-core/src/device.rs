//! The three traits that everything here stands on: devices, their sessions, and what stays on a device.

use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::batch::{Batch, Checked, DeviceTexts};
use crate::error::{DeviceError, Unsupported};
use crate::memory::{DeviceMemory, HostMemory};
use crate::output::Output;
use crate::plan::{Plan, Wish};
use crate::shape::Shape;
use crate::spans::{Spans, StreamSpans};
use crate::survey::alone;
use crate::tuning::Tuned;

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

impl Info {
    /// The value of the first detail of this name.
    #[must_use]
    pub fn detail(&self, name: &str) -> Option<&str> {
        self.details.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
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

    /// Whether [`Device::plan`] would make `plan`, which it made for `wish` and another shape of that algorithm and operation,
    /// for `shape` as well, where that can be told at once: planning takes longer than a few short messages do. `false`
    /// where one has to plan to know.
    fn serves(&self, _plan: &Plan, _shape: &Shape, _wish: &Wish) -> bool {
        false
    }

    /// Whether the device launches kernels, so that blocks do the work and not threads of the CPU: whether plans of any
    /// algorithm that it has say how they are launched.
    fn launches(&self) -> bool {
        let mut shapes =
            Algorithm::all().map(|algorithm| Shape::uniform(algorithm, algorithm.forward(), 1, 0, true));
        let plan = shapes.find_map(|shape| self.plan(&shape, &Wish::default()).ok());
        plan.is_some_and(|plan| plan.geometry.is_some())
    }

    /// Calls `work(i)` once for each `i` below `parts`, on the threads of the CPU that there are for batches run as `wish` has
    /// it, or on the calling one: none is started for it. A [`Spread`](crate::Spread).
    fn on_threads(&self, _wish: &Wish, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        alone(parts, work);
    }

    /// Opens a session that runs batches according to `plan`.
    ///
    /// # Errors
    /// If the plan is not one of this device, or its resources cannot be had.
    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError>;

    /// A place for a batch in the memory of the device, to be run there by `plan` any number of times. `None` where the
    /// device has no memory of its own: there a session already runs batches where they lie.
    ///
    /// # Errors
    /// If the plan is not one of this device, or its resources cannot be had.
    fn resident(&self, _plan: &Plan) -> Result<Option<Box<dyn Resident>>, DeviceError> {
        Ok(None)
    }

    /// `bytes` zeros in the memory of the device, for texts that a [`Resident`] is to be [bound](Resident::bind) to. Zeroed
    /// again before it is given back. `None` where the device has no memory of its own, or is several devices: then each of
    /// them has.
    ///
    /// # Errors
    /// If there are not so many left, or the device fails.
    fn memory(&self, _bytes: usize) -> Result<Option<Arc<dyn DeviceMemory>>, DeviceError> {
        Ok(None)
    }

    /// `bytes` zeros of host memory from where texts go to the device, and to where they come back, at the full speed of
    /// the link: pinned, for CUDA. Ordinary memory where the device has none of its own. What is pinned cannot be swapped
    /// out, so that a machine has not much of it to give.
    ///
    /// # Errors
    /// If the system cannot give so many, or the device fails.
    fn host_memory(&self, bytes: usize) -> Result<Box<dyn HostMemory>, DeviceError> {
        let mut memory = Vec::new();
        let reserved = memory.try_reserve_exact(bytes);
        reserved.map_err(|error| DeviceError::Failed {
            device: self.info().id.clone(),
            reason: format!("{bytes} bytes of the host's memory: {error}; ask for fewer"),
        })?;
        memory.resize(bytes, 0);
        Ok(Box::new(memory))
    }

    /// Runs `batch` in different geometries and keeps the fastest for later plans on this machine. `None` where kernels
    /// are not launched. `batch` lies out of place and fills the device; `plan` names the kernel. After each geometry
    /// `is_right` is asked about the output: a wrong one ends it all.
    ///
    /// # Errors
    /// If the batch is not well formed, an output is wrong, the device fails, or what was found cannot be kept.
    fn tune(
        &self,
        _plan: &Plan,
        _batch: &Batch<'_>,
        _output: &mut Output<'_>,
        _is_right: &mut dyn FnMut(&Output<'_>) -> bool,
    ) -> Result<Option<Tuned>, DeviceError> {
        Ok(None)
    }

    /// Every kernel of the device by its name and what it serves, with whether it lies compiled on this machine. Empty
    /// where nothing is compiled at run time.
    fn compiled(&self) -> Vec<(String, bool)> {
        Vec::new()
    }
}

/// A plan put into effect: threads started, kernels chosen. Reused for any number of batches.
pub trait Session: Send {
    /// Runs one batch into `output`.
    ///
    /// The batch may have any sizes; its algorithm and operation are the plan's. A wrong tag is a value in
    /// [`Output::accepted`], never an error. A batch that is refused is not begun. If the device fails, texts that were
    /// to come out apart are zeros, and so are those that were to be opened in place, unless none can have come out yet, when
    /// they are as they were; others in place are undefined. No message is accepted then.
    ///
    /// # Errors
    /// If the batch is not well formed, is not of the session's algorithm and operation, or the device fails.
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError>;

    /// The same for a batch that has been checked, which is not looked at again where a session can do without.
    /// [`Spans::wall`] begins with that check.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn run_checked(&mut self, checked: Checked<'_, '_, '_>) -> Result<Spans, DeviceError> {
        let begun = checked.begun();
        let (batch, output) = checked.into_parts();
        let spans = self.run(batch, output)?;
        Ok(Spans { wall: begun.elapsed(), ..spans })
    }

    /// [`Session::run`] for who does not ask how long it takes: on a CPU two looks at the clock take nearly half of the
    /// time of a short message by itself.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn run_untimed(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), DeviceError> {
        self.run(batch, output).map(drop)
    }

    /// [`Session::run_checked`] likewise.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn run_checked_untimed(&mut self, checked: Checked<'_, '_, '_>) -> Result<(), DeviceError> {
        self.run_checked(checked).map(drop)
    }

    /// Times of the last run, stream by stream, those included that had nothing to do; of several devices, device by
    /// device. After an error they are of what had been waited for. Empty where sessions have no streams, as on a CPU.
    fn streams(&self) -> Vec<StreamSpans> {
        Vec::new()
    }
}

/// A batch in the memory of a device: brought once, or lying there already, and run any number of times.
pub trait Resident: Send {
    /// Brings `batch` to the device. `output` is what [`Resident::store`] will be given: it is looked at, and read in
    /// place, but not written.
    ///
    /// # Errors
    /// If the batch is not well formed, or the device has no room for all of it.
    fn load(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError>;

    /// Takes `batch`, whose [texts lie on the device](crate::Source::OnDevice), to be run there: brings keys, nonces, AAD,
    /// tags and offsets, and leaves `texts` to [`Resident::execute`]. `output` has no bytes of text; it is looked at, but
    /// not written.
    ///
    /// Until another batch is loaded or bound the memory is kept alive. It is never wiped here, but for the texts of
    /// rejected messages, which a run zeroes; no byte outside of the messages is written.
    ///
    /// # Errors
    /// If the batch is not well formed, or the device has no room for what is brought. [`DeviceError::Memory`] if the texts
    /// lie on another device, or overlap where they lie apart, and on several devices as one, which cannot share them out.
    fn bind(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        texts: &DeviceTexts,
    ) -> Result<Spans, DeviceError>;

    /// Runs the kernels where the batch lies, and copies nothing. A shared key is expanded by the first run after
    /// [`Resident::load`] or [`Resident::bind`]. Out of place it does the same each time; in place it goes on from its last
    /// result.
    ///
    /// It does not wait for what others do on the device: what makes a bound text has to be done before (in CUDA, its
    /// stream synchronised), and nobody may change it meanwhile, as a tag would vouch for other bytes than come out. When
    /// it returns, it is done: whoever goes on with the text need not wait. After an error, bound texts that came out are
    /// worth nothing, and may be such as no tag vouches for.
    ///
    /// # Errors
    /// If nothing was loaded or bound, or the device fails.
    fn execute(&mut self) -> Result<Spans, DeviceError>;

    /// Takes back what the last [`Resident::execute`] made: texts, and tags, digests or verdicts; of a batch that was bound
    /// the latter alone. `batch` and `output` have the sizes of those that were loaded or bound, offsets and lengths of tags
    /// included; what keys, nonces, AAD and input hold is not looked at. It may be called again, and leaves what lies on the
    /// device as it is.
    ///
    /// # Errors
    /// If the batch is not well formed, or not of the plan's algorithm and operation. If it has other sizes, if nothing was
    /// loaded or bound or has run since without an error, or if the device fails: then, as after [`Session::run`], an output
    /// that lies apart is zeros, and so are texts that were to be opened in place, unless none can have come out yet, and no
    /// message is accepted.
    fn store(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError>;

    /// Zeroes on the device what runs have made of what was loaded: texts that lie apart, and tags, digests or verdicts.
    /// What [`Resident::store`] takes back after another run was made by it, then, and by none before: a measurement that
    /// checks what it timed has need of that. Texts in place, and of a batch that was bound, stay as they are.
    ///
    /// # Errors
    /// If nothing was loaded or bound, or the device fails.
    fn clear(&mut self) -> Result<(), DeviceError>;

    /// Lets go of what was loaded or bound, so that memory of the caller's is not kept alive any longer. What it has for the
    /// next batch it keeps, as a session does: its kernels, and rows and texts that it brought to buffers of its own, which
    /// are wiped when it is dropped.
    fn unload(&mut self);
}
