//! The exam of `cipherlane-reference`, algorithm by algorithm on several threads: compilers take the most time.
//! The examples `check` of the backends include this file.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cipherlane_core::{
    Algorithm, Device, DeviceError, Info, Kernel, Plan, Session, Shape, Unsupported, Wish,
};
use cipherlane_reference::conformance;

/// A device of which only one algorithm is examined, by the kernels that a name is part of.
struct Part<'a> {
    device: &'a dyn Device,
    algorithm: Algorithm,
    kernels: &'a str,
}

impl Device for Part<'_> {
    fn info(&self) -> &Info {
        self.device.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        if shape.algorithm != self.algorithm {
            return Vec::new();
        }
        let mut kernels = self.device.kernels(shape);
        kernels.retain(|kernel| kernel.name.contains(self.kernels));
        kernels
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.device.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.device.open(plan)
    }
}

/// What came of an algorithm.
pub(crate) struct Outcome {
    pub(crate) algorithm: Algorithm,
    /// Batches that came out right and the kernels that ran them, or what went wrong; `None` where the device has no
    /// kernel.
    pub(crate) result: Option<Result<(u64, Vec<String>), String>>,
    pub(crate) time: Duration,
}

/// Examines `device` in every algorithm whose name contains one of `names` (all, if there are none), by the kernels
/// whose name contains `kernels`. Calls `tell` with each outcome as it comes.
pub(crate) fn sit(
    device: &dyn Device,
    names: &[String],
    kernels: &str,
    threads: usize,
    tell: impl Fn(&Outcome) + Sync,
) -> Vec<Outcome> {
    let is_wanted = |algorithm: &Algorithm| {
        names.is_empty() || names.iter().any(|name| algorithm.to_string().contains(name.as_str()))
    };
    let algorithms: Vec<Algorithm> = Algorithm::all().filter(is_wanted).collect();
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(&algorithm) = algorithms.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = examine(device, algorithm, kernels);
                    tell(&outcome);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap()
}

fn examine(device: &dyn Device, algorithm: Algorithm, kernels: &str) -> Outcome {
    let start = Instant::now();
    let part = Part { device, algorithm, kernels };
    let offers = algorithm.operations().iter().any(|&operation| {
        [true, false]
            .iter()
            .any(|&shared| !part.kernels(&Shape::uniform(algorithm, operation, 1, 16, shared)).is_empty())
    });
    let check = || match conformance::check(&part) {
        Ok(report) => Ok((report.checks.values().sum(), report.kernels)),
        Err(failure) => Err(failure.to_string()),
    };
    Outcome { algorithm, result: offers.then(check), time: start.elapsed() }
}
