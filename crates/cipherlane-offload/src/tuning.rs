//! How many blocks a kernel is launched in: measured on the device, and kept.

use cipherlane_core::{Batch, DeviceError, Output, Plan};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::Program;

use crate::cache::{Cache, Key};
use crate::device::{Accelerator, Provider};

/// What tuning found.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The kernel.
    pub kernel: String,
    /// The number of blocks with the shortest time.
    pub blocks: usize,
    /// Each number of blocks that was tried, and seconds of the kernels, the median of several runs.
    pub tried: Vec<(usize, f64)>,
}

const KIND: &str = "tuning";

/// The name under which blocks are kept: device and driver, and the program's text.
fn key(build: &str, program: &Program) -> Key {
    Key::new(&[build.as_bytes(), flatten::text(program).as_bytes()])
}

/// The blocks that tuning has found for `program`.
pub(crate) fn find(build: &str, program: &Program) -> Option<usize> {
    let contents = Cache::of_user()?.get(KIND, &key(build, program))?;
    String::from_utf8(contents).ok()?.strip_prefix("blocks ")?.trim().parse().ok()
}

impl<P: Provider> Accelerator<P> {
    /// Runs `batch` on the device in different numbers of blocks and keeps the fastest for later plans, if there is a
    /// folder to keep it in. The batch should fill the device and lie out of place. `plan` names the kernel.
    ///
    /// The device is warmed up first, and the order of trials reversed every other round, so that a drift of the clock
    /// favours none.
    ///
    /// # Errors
    /// If the batch is not well formed, or the device fails.
    pub fn tune(
        &self,
        plan: &Plan,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
    ) -> Result<Tuned, DeviceError> {
        const ROUNDS: usize = 6;
        let program = self.check_plan(plan)?;
        let units = self.provider().limits().units.max(1);
        // Part of a unit's share, its whole share, and several blocks a unit.
        let counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32].map(|factor| factor * units);
        let mut trials = Vec::new();
        for blocks in counts {
            let mut resident = self.resident(&Plan { threads: blocks, ..plan.clone() })?;
            resident.load(batch, output)?;
            let mut times = Vec::new();
            // Not counted: the key is expanded, the clock rises.
            resident.execute()?;
            for _ in 0..ROUNDS {
                times.push(resident.execute()?.execute.as_secs_f64());
            }
            trials.push((blocks, median(times)));
        }
        let best =
            trials.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(units, |(blocks, _)| blocks);
        if let Some(cache) = Cache::of_user() {
            let key = key(&self.provider().build(), &program);
            cache.put(KIND, &key, format!("blocks {best}\n").as_bytes()).map_err(|error| {
                DeviceError::Failed {
                    device: plan.device.clone(),
                    reason: format!("{best} blocks are best, and could not be kept: {error}"),
                }
            })?;
        }
        Ok(Tuned { kernel: plan.kernel.clone(), blocks: best, tried: trials })
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
