//! Every copy and every launch by itself, as profilers show them, while somebody watches.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backend::{Backend, Fault};
use crate::lane::Flight;
use crate::launch::Steps;

/// Times of single calls, by the device's own events, in the order in which their results were waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Copies to the device.
    pub to_device: Vec<Duration>,
    /// Launches of kernels.
    pub kernels: Vec<Duration>,
    /// Copies to the host.
    pub to_host: Vec<Duration>,
}

/// What was seen since somebody watches; `None` while nobody does.
static SEEN: Mutex<Option<Calls>> = Mutex::new(None);

fn seen() -> MutexGuard<'static, Option<Calls>> {
    // Times are whole whoever panicked beside them.
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Somebody who watches the calls of all sessions of this process.
#[derive(Debug)]
pub struct Watch(());

impl Watch {
    /// Begins to watch; `None` while somebody else does.
    #[must_use]
    pub fn start() -> Option<Self> {
        let mut seen = seen();
        if seen.is_some() {
            return None;
        }
        *seen = Some(Calls::default());
        Some(Self(()))
    }

    /// What was seen since the last time that this was asked.
    #[must_use]
    pub fn take(&self) -> Calls {
        seen().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *seen() = None;
    }
}

/// Notes the calls of `flight`, which has landed, if somebody watches.
pub(crate) fn note<B: Backend>(backend: &B, flight: &Flight<B>) -> Result<(), Fault> {
    if seen().is_none() {
        return Ok(());
    }
    let times = |steps: &Steps<B::Step>| {
        steps.all().iter().map(|step| backend.time(step, step)).collect::<Result<Vec<_>, Fault>>()
    };
    let (loads, launches, stores) = (times(&flight.loads)?, times(&flight.launches)?, times(&flight.stores)?);
    if let Some(seen) = &mut *seen() {
        seen.to_device.extend(loads);
        seen.kernels.extend(launches);
        seen.to_host.extend(stores);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_watches_at_a_time() {
        let watch = Watch::start().unwrap();
        assert!(Watch::start().is_none());
        seen().as_mut().unwrap().kernels.push(Duration::from_micros(1));
        assert_eq!((watch.take().kernels.len(), watch.take().kernels.len()), (1, 0));
        drop(watch);
        assert!(Watch::start().is_some());
    }
}
