//! How a kernel is launched: measured on the device, and kept.

use cipherlane_core::{Batch, DeviceError, Output, Plan};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Program, Tiling, When};

use crate::backend::Fault;
use crate::cache::{Cache, Key};
use crate::device::{Accelerator, Provider};
use crate::programs;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Most blocks.
    pub blocks: usize,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of text of a tile; 0 where there are no tiles.
    pub tile: u64,
}

/// What tuning found.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The kernel.
    pub kernel: String,
    /// The launch with the shortest time.
    pub best: Launch,
    /// Each launch that was tried, and seconds of the kernels, the median of several runs.
    pub tried: Vec<(Launch, f64)>,
}

const KIND: &str = "tuning";

impl Launch {
    /// The launch of `program` as the manifest has it, in `blocks` blocks.
    pub(crate) fn of(program: &Program, blocks: usize) -> Self {
        let text = program.stages.iter().find(|stage| stage.when == When::Tiles);
        let tile = match program.tiling {
            Tiling::None => 0,
            Tiling::Blocks(blocks) | Tiling::WholeBlocks(blocks) => blocks,
        };
        Self { blocks, threads: text.map_or(0, |stage| stage.threads), tile }
    }

    /// `program` with the threads and tiles of this launch.
    pub(crate) fn shape(&self, program: Program) -> Program {
        let own = Self::of(&program, self.blocks);
        let program = if own.threads == self.threads { program } else { program.with_threads(self.threads) };
        if own.tile == self.tile { program } else { program.with_tile(self.tile) }
    }

    fn to_text(self) -> String {
        format!("{} {} {}\n", self.blocks, self.threads, self.tile)
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace();
        Some(Self {
            blocks: numbers.next()?.parse().ok()?,
            threads: numbers.next()?.parse().ok()?,
            tile: numbers.next()?.parse().ok()?,
        })
    }

    /// This launch with one thing changed, as far as the kernel can be changed so.
    fn neighbours(self, what: What, units: usize) -> Vec<Self> {
        match what {
            What::Blocks => {
                let factors = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
                factors.map(|factor| Self { blocks: factor * units, ..self }).to_vec()
            }
            // Blocks of half the threads leave registers for more; never more threads than registers suffice for.
            What::Threads => [2, 4]
                .map(|part| Self { threads: self.threads / part, ..self })
                .into_iter()
                .filter(|launch| launch.threads >= 64 && launch.threads % 32 == 0)
                .collect(),
            What::Tiles if self.tile == 0 => Vec::new(),
            What::Tiles => [self.tile / 4, self.tile / 2, self.tile * 2, self.tile * 4]
                .map(|tile| Self { tile, ..self })
                .into_iter()
                .filter(|launch| launch.tile >= 256 && launch.tile % 256 == 0)
                .collect(),
        }
    }
}

/// What of a launch is changed.
#[derive(Clone, Copy, Debug)]
enum What {
    Blocks,
    Threads,
    Tiles,
}

/// The name under which a launch is kept: device and driver, and the program's text.
fn key(build: &str, program: &Program) -> Key {
    Key::new(&[build.as_bytes(), flatten::text(program).as_bytes()])
}

/// The launch that tuning has found for `program`.
pub(crate) fn find(build: &str, program: &Program) -> Option<Launch> {
    let contents = Cache::of_user()?.get(KIND, &key(build, program))?;
    Launch::from_text(&String::from_utf8(contents).ok()?)
}

impl<P: Provider> Accelerator<P> {
    /// Runs `batch` on the device in different numbers of blocks, then of threads, tiles and blocks again, and keeps the
    /// fastest launch for later sessions, if there is a folder to keep it in. The batch should fill the device and lie
    /// out of place. `plan` names the kernel.
    ///
    /// Each launch is warmed up by a run that does not count.
    ///
    /// # Errors
    /// If the batch is not well formed, or the device fails, or what was found cannot be kept.
    pub fn tune(
        &self,
        plan: &Plan,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
    ) -> Result<Tuned, DeviceError> {
        self.check_plan(plan)?;
        let shape = batch.check(output)?;
        let program =
            programs::choose(plan, self.provider().target(), &shape).map_err(|fault| self.failed(fault))?;
        let units = self.provider().limits().units.max(1);
        let mut tried: Vec<(Launch, f64)> = Vec::new();
        let mut best = Launch::of(&program, plan.threads);
        for what in [What::Blocks, What::Threads, What::Tiles, What::Blocks] {
            for launch in std::iter::once(best).chain(best.neighbours(what, units)) {
                if tried.iter().all(|(known, _)| *known != launch) {
                    tried.push((launch, self.time(plan, launch, batch, output)?));
                }
            }
            best = fastest(&tried).unwrap_or(best);
        }
        if let Some(cache) = Cache::of_user() {
            let kept = cache.put(KIND, &key(&self.provider().build(), &program), best.to_text().as_bytes());
            kept.map_err(|error| {
                self.failed(Fault(format!("{best:?} is best, and could not be kept: {error}")))
            })?;
        }
        Ok(Tuned { kernel: plan.kernel.clone(), best, tried })
    }

    /// Seconds of the kernels, the median of several runs.
    fn time(
        &self,
        plan: &Plan,
        launch: Launch,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
    ) -> Result<f64, DeviceError> {
        const RUNS: usize = 7;
        let mut resident = self.resident_in(plan, Some(launch))?;
        resident.load(batch, output)?;
        // Not counted: the key is expanded, the clock rises.
        resident.execute()?;
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            times.push(resident.execute()?.execute.as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[RUNS / 2])
    }
}

fn fastest(tried: &[(Launch, f64)]) -> Option<Launch> {
    tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(launch, _)| *launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_reads_back() {
        let launch = Launch { blocks: 264, threads: 512, tile: 1024 };
        assert_eq!(Launch::from_text(&launch.to_text()), Some(launch));
        assert_eq!(Launch::from_text("264 512"), None);
    }

    #[test]
    fn neighbours_are_launches_that_kernels_allow() {
        let launch = Launch { blocks: 132, threads: 128, tile: 512 };
        assert_eq!(launch.neighbours(What::Threads, 132), [Launch { threads: 64, ..launch }]);
        let tiles: Vec<u64> = launch.neighbours(What::Tiles, 132).iter().map(|launch| launch.tile).collect();
        assert_eq!(tiles, [256, 1024, 2048]);
        assert!(Launch { tile: 0, ..launch }.neighbours(What::Tiles, 132).is_empty());
    }
}
