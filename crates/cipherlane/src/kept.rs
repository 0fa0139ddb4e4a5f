//! What is open for plans: it is opened once, and kept from batch to batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cipherlane_core::{Algorithm, DeviceError, Operation, Plan, Shape, Unsupported};

/// How many are kept per algorithm and operation. Plans differ with the shape (threads, chunk); a caller whose shapes
/// vary more than this pays for opening again, never for what is open piling up.
const MOST: usize = 4;

/// Sessions, or residents.
pub(crate) struct Kept<T>(Mutex<All<T>>);

type All<T> = HashMap<(Algorithm, Operation), Vec<Open<T>>>;

/// One of them, with the plan that it carries out.
struct Open<T> {
    /// The last shape that was planned so: a batch like the one before is not planned again.
    shape: Shape,
    plan: Plan,
    what: Arc<Mutex<T>>,
}

impl<T> Kept<T> {
    /// What is open for batches of `shape`, or else is opened for them by the plan that `plan` makes.
    pub(crate) fn find(
        &self,
        shape: Shape,
        plan: impl FnOnce(&Shape) -> Result<Plan, Unsupported>,
        open: impl FnOnce(&Plan) -> Result<T, DeviceError>,
    ) -> Result<Arc<Mutex<T>>, DeviceError> {
        let key = (shape.algorithm, shape.operation);
        let is_alike = |open: &&Open<T>| open.shape == shape;
        if let Some(open) = lock(&self.0).get(&key).and_then(|kept| kept.iter().find(is_alike)) {
            return Ok(Arc::clone(&open.what));
        }
        // A GPU's plan reads a file, which other threads need not wait for.
        let plan = plan(&shape)?;
        let mut all = lock(&self.0);
        let kept = all.entry(key).or_default();
        if let Some(open) = kept.iter_mut().find(|open| open.plan == plan) {
            open.shape = shape;
            return Ok(Arc::clone(&open.what));
        }
        let what = Arc::new(Mutex::new(open(&plan)?));
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push(Open { shape, plan, what: Arc::clone(&what) });
        Ok(what)
    }

    /// Closes all of them, those that run a batch when they have run it.
    pub(crate) fn close(&self) {
        // Their memory is given back while nobody waits for the lock.
        let all = std::mem::take(&mut *lock(&self.0));
        drop(all);
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A session whose last run panicked holds no half-made state that a later run would read: each run starts from
/// its batch. So poison is no reason to refuse.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
