//! What is open for plans: it is opened once, and kept from batch to batch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cipherlane_core::{Algorithm, DeviceError, Operation, Plan, Shape, Unsupported};

/// How many are kept per algorithm and operation, those that were used last. Plans differ with the shape (threads, chunk); a
/// caller whose shapes vary more than this pays for opening again, never for what is open piling up.
const MOST: usize = 4;

/// Sessions, or residents.
pub(crate) struct Kept<T>(Mutex<All<T>>);

type All<T> = HashMap<(Algorithm, Operation), Vec<Open<T>>>;

/// One of them, with the plan that it carries out.
struct Open<T> {
    /// The last shape that was planned so: a batch like the one before is not planned again.
    shape: Shape,
    plan: Plan,
    what: Slot<T>,
}

/// Nothing until whoever asked first has opened it. A GPU may have to compile for that, and others of the same plan wait;
/// those of other plans do not.
type Slot<T> = Arc<Mutex<Option<T>>>;

impl<T> Kept<T> {
    /// Runs `run` with what is open for batches of `shape`, or by a plan that `serves` them, or else is opened for them by
    /// the plan that `plan` makes.
    pub(crate) fn with<R>(
        &self,
        shape: Shape,
        serves: impl Fn(&Plan) -> bool,
        plan: impl FnOnce(&Shape) -> Result<Plan, Unsupported>,
        open: impl FnOnce(&Plan) -> Result<T, DeviceError>,
        run: impl FnOnce(&mut T) -> Result<R, DeviceError>,
    ) -> Result<R, DeviceError> {
        if let Some(slot) = self.of_shape(&shape, serves)
            && let Some(what) = &mut *lock(&slot)
        {
            return run(what);
        }
        // A GPU's plan reads a file, which other threads need not wait for.
        let plan = plan(&shape)?;
        let slot = self.of_plan(shape, &plan);
        let mut what = lock(&slot);
        if what.is_none() {
            *what = Some(open(&plan).inspect_err(|_| self.forget(&plan))?);
        }
        match &mut *what {
            Some(what) => run(what),
            None => unreachable!("it has been opened"),
        }
    }

    fn of_shape(&self, shape: &Shape, serves: impl Fn(&Plan) -> bool) -> Option<Slot<T>> {
        let mut all = lock(&self.0);
        let kept = all.get_mut(&(shape.algorithm, shape.operation))?;
        let place = kept.iter().position(|open| open.shape == *shape || serves(&open.plan))?;
        Some(used(kept, place))
    }

    fn of_plan(&self, shape: Shape, plan: &Plan) -> Slot<T> {
        let mut all = lock(&self.0);
        let kept = all.entry((shape.algorithm, shape.operation)).or_default();
        if let Some(place) = kept.iter().position(|open| open.plan == *plan) {
            kept[place].shape = shape;
            return used(kept, place);
        }
        let what = Slot::default();
        kept.push(Open { shape, plan: plan.clone(), what: Arc::clone(&what) });
        let goes = (kept.len() > MOST).then(|| kept.remove(0));
        // Its memory is given back while nobody waits for the lock.
        drop(all);
        drop(goes);
        what
    }

    /// Keeps nothing for `plan`, which could not be opened.
    fn forget(&self, plan: &Plan) {
        if let Some(kept) = lock(&self.0).get_mut(&(plan.algorithm, plan.operation)) {
            kept.retain(|open| open.plan != *plan);
        }
    }

    /// Closes all of them, those that run a batch when they have run it.
    pub(crate) fn close(&self) {
        // Dropped when the lock is free again: closing takes time.
        let all = std::mem::take(&mut *lock(&self.0));
        drop(all);
    }
}

/// The one at `place`, which is then the last of `kept`: the first is the next to go.
fn used<T>(kept: &mut [Open<T>], place: usize) -> Slot<T> {
    kept[place..].rotate_left(1);
    kept.last().map(|open| Arc::clone(&open.what)).unwrap_or_default()
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A session whose last run panicked holds no half-made state that a later run would read: each run starts from
/// its batch. So poison is no reason to refuse.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use cipherlane_core::{Device, Wish};
    use cipherlane_cpu::Cpu;

    use super::*;

    fn shape(messages: usize) -> Shape {
        Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, messages, 16, true)
    }

    /// A plan of as many threads as there are messages.
    fn plan(shape: &Shape) -> Result<Plan, Unsupported> {
        Cpu::new().plan(shape, &Wish { threads: Some(shape.messages), ..Wish::default() })
    }

    /// What is open for `messages` messages, or else `new`.
    fn find(kept: &Kept<u32>, messages: usize, new: u32) -> u32 {
        kept.with(shape(messages), |_| false, plan, |_| Ok(new), |what| Ok(*what)).unwrap()
    }

    #[test]
    fn the_one_that_was_used_least_lately_goes() {
        let kept = Kept::default();
        for messages in 1..=MOST {
            assert_eq!(find(&kept, messages, 10), 10);
        }
        assert_eq!(find(&kept, 1, 11), 10);
        assert_eq!(find(&kept, MOST + 1, 11), 11);
        assert_eq!((find(&kept, 1, 12), find(&kept, 2, 12)), (10, 12));
        kept.close();
        assert_eq!(find(&kept, 1, 13), 13);
    }

    #[test]
    fn what_serves_a_shape_is_not_planned_anew_for_it() {
        let kept = Kept::default();
        assert_eq!(find(&kept, 2, 2), 2);
        let planned = |shape: &Shape| {
            Err(Unsupported::Kernel {
                device: "cpu".to_owned(),
                what: format!("{} messages", shape.messages),
                known: Vec::new(),
            })
        };
        let serving = |plan: &Plan| plan.threads == 2;
        assert_eq!(kept.with(shape(3), serving, planned, |_| Ok(3), |what| Ok(*what)).unwrap(), 2);
        assert!(kept.with(shape(3), |_| false, planned, |_| Ok(3), |what| Ok(*what)).is_err(), "not told so");
    }

    #[test]
    fn one_that_is_being_opened_holds_up_nobody_with_another_plan() {
        let (kept, opening) = (Kept::default(), Barrier::new(2));
        thread::scope(|scope| {
            let slow = scope.spawn(|| {
                let open = |_: &Plan| {
                    opening.wait();
                    opening.wait();
                    Ok(1)
                };
                kept.with(shape(1), |_| false, plan, open, |what| Ok(*what)).unwrap()
            });
            opening.wait();
            assert_eq!(find(&kept, 2, 2), 2);
            opening.wait();
            assert_eq!(slow.join().unwrap(), 1);
        });
        assert_eq!(find(&kept, 1, 3), 1);
    }

    #[test]
    fn what_did_not_open_is_tried_again() {
        let kept = Kept::default();
        let failed = DeviceError::Failed { device: "cpu".to_owned(), reason: "no more memory".to_owned() };
        let result =
            kept.with(shape(1), |_| false, plan, |_| Err(failed.clone()), |what: &mut u32| Ok(*what));
        assert_eq!(result.unwrap_err(), failed);
        assert!(lock(&kept.0).values().all(Vec::is_empty));
        assert_eq!(find(&kept, 1, 2), 2);
    }
}
