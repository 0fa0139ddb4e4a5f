//! The engine: the devices of this machine, and the sessions that are open on them.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use cipherlane_core::{
    Algorithm, Batch, BatchError, Checked, Column, Device, DeviceError, DeviceTexts, Mode, Operation, Output,
    Plan, Resident, Session, Shape, Spans, UnknownName, Unsupported, Wish,
};
use cipherlane_cpu::Cpu;

use crate::devices::{self, NoDevice};
use crate::kept::Kept;
use crate::repeats::has_equal_rows;

/// SP 800-38D section 5.2.1.1 recommends it.
const GCM_NONCE_BYTES: usize = 12;

/// Knows devices of this machine and runs batches on the first of them.
///
/// Sessions stay open from batch to batch. They keep the memory that they have come to need, on a GPU as much as their
/// longest message took, and the last key that messages shared, as it is and expanded, until another comes.
/// [`Engine::release`] gives all of it back, wiped, as dropping the engine does.
///
/// An engine may be shared between threads; batches of one plan then take turns, because each of them uses all threads of
/// its plan. The first batch that wants threads starts them, each pinned to one of the CPUs that the thread which made the
/// engine might use then. Engines of one process that use fewer threads than there are CPUs take different CPUs, as far as
/// there are any.
/// `CIPHERLANE_NO_PINNING=1` in the environment leaves it to the system where they run, and a [`Wish`] of one thread starts
/// none: batches run on the caller. After a `fork` the new process makes an engine of its own: one on the CPU that it
/// has inherited runs batches on the caller, and waits for ever if another thread was in a call of it meanwhile. With GPUs it has
/// to be forked before this one looks for any, as all of [`Engine::on`] but `cpu` does, or to be started by `exec`: CUDA serves
/// no process that was forked after its parent had begun to use it.
pub struct Engine {
    devices: Vec<Arc<dyn Device>>,
    wish: Wish,
    sessions: Kept<Box<dyn Session>>,
    residents: Kept<Box<dyn Resident>>,
}

impl Engine {
    /// An engine on this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::with_devices(Arc::new(Cpu::new()), [])
    }

    /// An engine that knows every device of this machine and runs on the CPU.
    #[must_use]
    pub fn discover() -> Self {
        Self::of(devices::find().0)
    }

    /// An engine on the device with this identifier: `cpu`, `cuda:0`, `opencl:0`. It knows the CPU and devices of that kind:
    /// drivers of others are not started, which [`Engine::discover`] starts.
    ///
    /// # Errors
    /// Lists the identifiers that there are of that kind, or of all where it is none; or says why this machine has no device
    /// of it.
    ///
    /// ```
    /// let engine = cipherlane::Engine::on("cpu")?;
    /// assert!(cipherlane::Engine::on("cuda:99").is_err());
    /// # Ok::<(), cipherlane::devices::NoDevice>(())
    /// ```
    pub fn on(id: &str) -> Result<Self, NoDevice> {
        if id == "cpu" {
            return Ok(Self::new());
        }
        let (devices, absent) = devices::find_for(id);
        let mut engine = Self::of(devices);
        let place = engine.place(id).map_err(|unknown| NoDevice::new(id, unknown.known, &absent))?;
        engine.devices.swap(0, place);
        Ok(engine)
    }

    /// An engine whose default device is `default`, and which knows `others` by their identifiers.
    #[must_use]
    pub fn with_devices(default: Arc<dyn Device>, others: impl IntoIterator<Item = Arc<dyn Device>>) -> Self {
        Self::of(std::iter::once(default).chain(others).collect())
    }

    fn of(devices: Vec<Arc<dyn Device>>) -> Self {
        Self { devices, wish: Wish::default(), sessions: Kept::default(), residents: Kept::default() }
    }

    /// The same engine, planning as `wish` insists.
    ///
    /// ```
    /// # use cipherlane::{Engine, Wish};
    /// let engine = Engine::new().with_wish(Wish { threads: Some(1), ..Wish::default() });
    /// # let shape = cipherlane::Shape::uniform("aes-128-gcm".parse().unwrap(), cipherlane::Operation::Seal, 9, 99, true);
    /// # assert_eq!(engine.plan(&shape).unwrap().threads, 1);
    /// ```
    #[must_use]
    pub fn with_wish(self, wish: Wish) -> Self {
        Self { wish, ..Self::of(self.devices) }
    }

    /// Closes all sessions, those that run a batch when they have run it: their keys are wiped and their memory is given
    /// back. The next batch opens one again.
    ///
    /// ```
    /// # use cipherlane::{Engine, Hash};
    /// let engine = Engine::new();
    /// let before = engine.hash(Hash::Sha256, &["abc"])?;
    /// engine.release();
    /// assert_eq!(engine.hash(Hash::Sha256, &["abc"])?.get(0), before.get(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn release(&self) {
        self.sessions.close();
        self.residents.close();
    }

    /// The devices, the default one first.
    #[must_use]
    pub fn devices(&self) -> &[Arc<dyn Device>] {
        &self.devices
    }

    /// The device with this identifier.
    ///
    /// # Errors
    /// [`UnknownName`] lists the identifiers that there are.
    ///
    /// ```
    /// let engine = cipherlane::Engine::new();
    /// assert_eq!(engine.device("cpu")?.info().id, "cpu");
    /// let error = engine.device("abacus").err().unwrap();
    /// assert_eq!(error.to_string(), "unknown device `abacus`; known: cpu");
    /// # Ok::<(), cipherlane::UnknownName>(())
    /// ```
    pub fn device(&self, id: &str) -> Result<&Arc<dyn Device>, UnknownName> {
        Ok(&self.devices[self.place(id)?])
    }

    fn place(&self, id: &str) -> Result<usize, UnknownName> {
        self.devices.iter().position(|device| device.info().id == id).ok_or_else(|| {
            UnknownName::new("device", id, self.devices.iter().map(|device| device.info().id.clone()))
        })
    }

    /// How the default device would run batches of `shape`.
    ///
    /// # Errors
    /// If it cannot, or not as the engine's wish insists.
    pub fn plan(&self, shape: &Shape) -> Result<Plan, Unsupported> {
        self.devices[0].plan(shape, &self.wish)
    }

    /// Runs `batch` into `output` on the default device.
    ///
    /// The first batch of an algorithm and operation opens a session, later ones of the same plan find it open. A batch
    /// of the shape of one before, or that is known to be planned so, runs as that was planned: what [`Device::tune`] finds in
    /// between serves new engines.
    ///
    /// # Errors
    /// If the batch is not well formed ([`BatchError`]), or the device cannot run it, or fails. In GCM and CTR, where several
    /// messages share a nonce ([`Column::Shared`]):
    ///
    /// - [`BatchError::SharedNonce`] if two of them would be sealed, or encrypted, under the same key as well;
    /// - [`BatchError::Rows`], in GCM, to seal and to open, if that nonce has not 12 bytes: it may be the nonces of all
    ///   messages, of which nobody has said how long each is.
    ///
    /// Rows of nonces are not compared with one another: that they differ is the caller's to see to. A wrong tag is no error:
    /// see [`Output::accepted`].
    pub fn run(&self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let checked = Checked::by(batch, output, &|parts, work| self.on_threads(parts, work))?;
        self.run_checked(checked, |session, checked| session.run_checked(checked))
    }

    /// [`Engine::run`] for who does not ask how long it takes: two looks at the clock take nearly half of the time of a
    /// short message by itself on a CPU.
    ///
    /// # Errors
    /// As [`Engine::run`].
    ///
    /// ```
    /// # use cipherlane::{Batch, Engine, Hash, Messages, Output, Source};
    /// let messages = Messages { source: Source::Apart(b"abc"), offsets: &[0, 3] };
    /// let mut digest = [0; 32];
    /// Engine::new().run_untimed(&Batch::hash(Hash::Sha256, messages, 32), &mut Output::digests(&mut digest))?;
    /// assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    /// # Ok::<(), cipherlane::DeviceError>(())
    /// ```
    pub fn run_untimed(&self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), DeviceError> {
        let checked = Checked::untimed(batch, output, &|parts, work| self.on_threads(parts, work))?;
        self.run_checked(checked, |session, checked| session.run_checked_untimed(checked))
    }

    /// Runs a batch that has been checked on the default device as `run` says.
    fn run_checked<'c, 'b, 'o, T>(
        &self,
        mut checked: Checked<'c, 'b, 'o>,
        run: impl FnOnce(&mut dyn Session, Checked<'c, 'b, 'o>) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let device = &self.devices[0];
        self.check_nonce_not_shared(checked.batch())?;
        checked.reject_all();
        let shape = checked.shape();
        let serves = |plan: &Plan| device.serves(plan, &shape, &self.wish);
        let (plan, open) = (|shape: &Shape| self.plan(shape), |plan: &Plan| device.open(plan));
        self.sessions.with(shape, serves, plan, open, |session| run(&mut **session, checked))
    }

    /// Runs `batch` on the default device where its `texts` lie in the memory of that device: no text is copied, only keys,
    /// nonces, additional data, offsets, tags and verdicts are. `output` has no bytes of text. It does not wait for what others do
    /// on the device ([`Resident::execute`]); when it returns, it is done, and nothing of the texts is kept.
    ///
    /// # Errors
    /// As [`Engine::run`], and if the texts lie elsewhere, or overlap. If the device fails, no message is accepted, and texts
    /// that came out are worth nothing.
    pub fn run_on_device(
        &self,
        batch: &Batch<'_>,
        texts: &DeviceTexts,
        output: &mut Output<'_>,
    ) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        let shape = batch.check_on_device(texts, output)?;
        self.check_nonce_not_shared(batch)?;
        output.accepted.fill(false);
        let device = &self.devices[0];
        let open =
            |plan: &Plan| device.resident(plan)?.ok_or_else(|| lies_elsewhere(&device.info().id, texts));
        let spans = self.residents.with(
            shape,
            |plan| device.serves(plan, &shape, &self.wish),
            |shape| self.plan(shape),
            open,
            |resident| run_bound(&mut Unloaded(&mut **resident), batch, texts, output),
        )?;
        Ok(Spans { wall: start.elapsed(), ..spans })
    }
    /// A [`Spread`](cipherlane_core::Spread) over the threads of the default device.
    fn on_threads(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.devices[0].on_threads(&self.wish, parts, work);
    }

    /// GCM and CTR are modes in which two messages under one key and one nonce have one key stream.
    fn check_nonce_not_shared(&self, batch: &Batch<'_>) -> Result<(), BatchError> {
        let Batch { algorithm, operation, keys, nonces, .. } = batch;
        let streams = matches!(algorithm.mode(), Some(Mode::Gcm | Mode::Ctr));
        if !(streams && nonces.is_shared() && batch.len() > 1) {
            return Ok(());
        }
        // GCM takes a nonce of any length, and so the nonces of all messages for one that they share: no message would open,
        // and such as lie in place would be gone.
        if nonces.width() != Some(usual_nonce_bytes(*algorithm)) {
            return Err(BatchError::Rows { what: "nonces", messages: batch.len() });
        }
        if matches!(operation, Operation::Open | Operation::Decrypt) {
            return Ok(());
        }
        let shared = |messages| Err(BatchError::SharedNonce { algorithm: *algorithm, messages });
        match keys {
            Column::Shared(_) => shared(batch.len()),
            _ if has_equal_rows(keys, batch.len(), &|parts, work| self.on_threads(parts, work)) => shared(2),
            _ => Ok(()),
        }
    }
}

/// A resident that lets go of the caller's memory in the end, of a panic as well.
struct Unloaded<'a>(&'a mut dyn Resident);

impl Drop for Unloaded<'_> {
    fn drop(&mut self) {
        self.0.unload();
    }
}

/// What [`Engine::run_on_device`] does with what is open; its wall is left to the caller.
fn run_bound(
    Unloaded(resident): &mut Unloaded<'_>,
    batch: &Batch<'_>,
    texts: &DeviceTexts,
    output: &mut Output<'_>,
) -> Result<Spans, DeviceError> {
    let Spans { load, .. } = resident.bind(batch, output, texts)?;
    let Spans { execute, .. } = resident.execute()?;
    let Spans { store, .. } = resident.store(batch, output)?;
    Ok(Spans { load, execute, store, ..Spans::default() })
}

/// Of a device whose sessions run batches in the memory of the host.
fn lies_elsewhere(id: &str, texts: &DeviceTexts) -> DeviceError {
    let lie = texts.input().device();
    let reason = format!(
        "the texts lie in memory of {lie}, and {id} has none of its own: run them by an engine on {lie}"
    );
    DeviceError::Memory { device: id.to_owned(), reason }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.devices.iter().map(|device| device.info().id.as_str()).collect();
        f.debug_struct("Engine").field("devices", &ids).field("wish", &self.wish).finish_non_exhaustive()
    }
}

/// Bytes of the nonces that an algorithm usually has.
fn usual_nonce_bytes(algorithm: Algorithm) -> usize {
    algorithm.nonce_bytes().unwrap_or(GCM_NONCE_BYTES)
}
