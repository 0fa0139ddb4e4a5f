//! The engine: the devices of this machine, and the sessions that are open on them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cipherlane_core::{
    Algorithm, Batch, BatchError, Device, DeviceError, Mode, Operation, Output, Plan, Session, Shape, Spans,
    UnknownName, Unsupported, Wish,
};
use cipherlane_cpu::Cpu;

use crate::devices;

/// Finds the devices of this machine and runs batches on the first of them.
///
/// Sessions stay open from batch to batch, and keep the memory that they have come to need: on a GPU as much as their
/// longest message took ([`Engine::release`] gives it back). An engine may be shared between threads; batches of one plan
/// then take turns, because each of them uses all threads of its plan.
pub struct Engine {
    devices: Vec<Arc<dyn Device>>,
    wish: Wish,
    sessions: Mutex<HashMap<(Algorithm, Operation), Vec<Open>>>,
}

/// A session with the plan that it carries out.
struct Open {
    /// The last shape that was planned so: a batch like the one before is not planned again.
    shape: Shape,
    plan: Plan,
    session: Arc<Mutex<Box<dyn Session>>>,
}

/// Sessions kept per algorithm and operation. Plans differ with the shape (threads, chunk); a caller whose shapes
/// vary more than this pays for opening a session again, never for sessions piling up.
const KEPT: usize = 4;

impl Engine {
    /// An engine on this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::with_devices(Arc::new(Cpu::new()), [])
    }

    /// An engine that knows every device of this machine and runs on the CPU.
    #[must_use]
    pub fn discover() -> Self {
        Self { devices: devices::find().0, wish: Wish::default(), sessions: Mutex::default() }
    }

    /// An engine on the device with this identifier: `cpu`, `cuda:0`, `opencl:0`.
    ///
    /// # Errors
    /// [`UnknownName`] lists the identifiers that there are.
    ///
    /// ```
    /// let engine = cipherlane::Engine::on("cpu")?;
    /// assert!(cipherlane::Engine::on("cuda:99").is_err());
    /// # Ok::<(), cipherlane::UnknownName>(())
    /// ```
    pub fn on(id: &str) -> Result<Self, UnknownName> {
        let mut engine = if id == "cpu" { Self::new() } else { Self::discover() };
        let place = engine.place(id)?;
        engine.devices.swap(0, place);
        Ok(engine)
    }

    /// An engine whose default device is `default`, and which knows `others` by their identifiers.
    #[must_use]
    pub fn with_devices(default: Arc<dyn Device>, others: impl IntoIterator<Item = Arc<dyn Device>>) -> Self {
        let devices = std::iter::once(default).chain(others).collect();
        Self { devices, wish: Wish::default(), sessions: Mutex::default() }
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
        Self { wish, sessions: Mutex::default(), ..self }
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
        // Their memory is given back while nobody waits for the lock.
        let sessions = std::mem::take(&mut *lock(&self.sessions));
        drop(sessions);
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
    /// of the shape of one before runs as that was planned: what [`Device::tune`] finds in between serves new engines.
    ///
    /// # Errors
    /// If the batch is not well formed, or the device cannot run it. [`BatchError::SharedNonce`] if it would seal, or
    /// encrypt in CTR, several messages under one key and one nonce; that rows of nonces differ is the caller's to see
    /// to. A wrong tag is no error: see [`Output::accepted`].
    pub fn run(&self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let shape = batch.check(output)?;
        check_nonce_not_shared(batch)?;
        let session = self.session(shape)?;
        lock(&session).run(batch, output)
    }

    /// The open session for batches of `shape`, or a new one.
    fn session(&self, shape: Shape) -> Result<Arc<Mutex<Box<dyn Session>>>, DeviceError> {
        let key = (shape.algorithm, shape.operation);
        let is_alike = |open: &&Open| open.shape == shape;
        if let Some(open) = lock(&self.sessions).get(&key).and_then(|kept| kept.iter().find(is_alike)) {
            return Ok(Arc::clone(&open.session));
        }
        // A GPU's plan reads a file, which other threads need not wait for.
        let plan = self.plan(&shape)?;
        let mut sessions = lock(&self.sessions);
        let kept = sessions.entry(key).or_default();
        if let Some(open) = kept.iter_mut().find(|open| open.plan == plan) {
            open.shape = shape;
            return Ok(Arc::clone(&open.session));
        }
        let session = Arc::new(Mutex::new(self.devices[0].open(&plan)?));
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Open { shape, plan, session: Arc::clone(&session) });
        Ok(session)
    }
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

/// Modes in which two messages under one key and one nonce have one key stream.
fn check_nonce_not_shared(batch: &Batch<'_>) -> Result<(), BatchError> {
    let Batch { algorithm, operation, keys, nonces, .. } = batch;
    let encrypts = matches!(operation, Operation::Seal | Operation::Encrypt);
    let streams = matches!(algorithm.mode(), Some(Mode::Gcm | Mode::Ctr));
    if encrypts && streams && keys.is_shared() && nonces.is_shared() && batch.len() > 1 {
        return Err(BatchError::SharedNonce { algorithm: *algorithm, messages: batch.len() });
    }
    Ok(())
}

/// A session whose last run panicked holds no half-made state that a later run would read: each run starts from
/// its batch. So poison is no reason to refuse.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
