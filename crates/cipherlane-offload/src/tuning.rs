//! How a kernel is launched: measured on the device, and kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cipherlane_core::{
    BLOCK, Batch, DeviceError, Geometry, Output, Plan, Resident as _, Shape, Tried, Tuned,
};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Items, Program, Stage, Tiling, When};

use crate::backend::{Fault, Limits};
use crate::cache::{Cache, Key};
use crate::device::{Accelerator, Provider};
use crate::fleet::STEP;
use crate::programs;

/// How a program is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Most blocks.
    pub(crate) blocks: usize,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Blocks of text of a tile; 0 where there are no tiles.
    pub(crate) tile: u64,
}

/// Groups that are under way at once unless a plan says otherwise, each on a queue. One that comes in, one that is
/// computed and one that goes out would do if the link never paused; with twice as many it is busy both ways (43 to 48
/// GB/s each way on an H200).
pub(crate) const STREAMS: usize = 6;
/// The same where texts are copied to stagings and back, so that these stay in the host's caches.
pub(crate) const STAGED: usize = 4;

const KIND: &str = "tuning";

/// Runs that count, of which the median is taken.
const RUNS: usize = 7;

impl Launch {
    /// Blocks where nobody wishes otherwise and nothing was tuned: as many as a device of these sizes seems to hold at
    /// once.
    pub(crate) fn of(program: &Program, limits: &Limits) -> Self {
        let tiles = program.stages.iter().filter(|stage| stage.when == When::Tiles);
        // XTS has a small one before that of the texts.
        let text = tiles.max_by_key(|stage| stage.shared_bytes);
        let held = text.map_or(1, |stage| {
            let by_threads = 2048 / stage.threads.max(1) as usize;
            let by_shared = limits.shared_per_block / (stage.shared_bytes as usize + 1024);
            by_threads.min(by_shared).max(1)
        });
        Self {
            blocks: held * limits.units.max(1),
            threads: text.map_or(program.threads.most, |stage| stage.threads),
            tile: tile(program),
        }
    }

    /// As tuning has found it for `program` on a device of this `build`; where it has not, as above.
    pub(crate) fn known(build: &str, program: &Program, limits: &Limits) -> Self {
        find(build, program).unwrap_or_else(|| Self::of(program, limits))
    }

    /// The same for batches of `shape`.
    pub(crate) fn best(build: &str, program: &Program, limits: &Limits, shape: &Shape) -> Self {
        Self::known(build, program, limits).spread(program, shape.messages, limits.units)
    }

    /// Where a thread takes a message, or a few do, and there are too few for all units of the device: in blocks of fewer
    /// threads, a block for each unit.
    pub(crate) fn spread(self, program: &Program, messages: usize, units: usize) -> Self {
        let by_message = |stage: &&Stage| stage.when == When::Tiles && stage.items == Items::Messages;
        let Some(stage) = program.stages.iter().find(by_message) else { return self };
        let wanted = messages.saturating_mul(stage.threads_per_item as usize);
        // Powers of two, since a kernel is compiled for each.
        let share = wanted.div_ceil(units.max(1)).next_power_of_two().max(32);
        match u32::try_from(share) {
            Ok(threads) if threads < self.threads && program.threads.take(threads) => {
                Self { threads, ..self }
            }
            _ => self,
        }
    }

    /// `program` with the threads and tiles of this launch.
    pub(crate) fn shape(&self, program: Program) -> Program {
        let program = if program.threads.take(self.threads) && !has_threads(&program, self.threads) {
            program.with_threads(self.threads)
        } else {
            program
        };
        if self.tile == 0 { program } else { program.with_tile(self.tile) }
    }

    /// As plans say it.
    pub(crate) fn geometry(&self) -> Geometry {
        Geometry { blocks: self.blocks, threads_per_block: self.threads as usize, streams: None }
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

    /// Whether `program` can have its tiles: whole groups of every kernel, and such that a tile begins wherever a message is
    /// cut.
    fn has_tile_of(&self, program: &Program) -> bool {
        let most = program.most_tile().min(STEP / BLOCK as u64);
        self.tile == tile(program) || (256..=most).contains(&self.tile) && self.tile.is_power_of_two()
    }

    /// This launch with one thing changed, as far as `program` can be changed so.
    fn neighbours(self, what: What, program: &Program, units: usize) -> Vec<Self> {
        match what {
            What::Blocks => {
                let factors = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
                factors.map(|factor| Self { blocks: factor * units, ..self }).to_vec()
            }
            // As many threads at once, in more and smaller blocks or in fewer and larger ones.
            What::Threads => [64, 128, 192, 256, 384, 512, 768, 1024]
                .into_iter()
                .filter(|&threads| program.threads.take(threads))
                .map(|threads| {
                    let blocks = (self.blocks * self.threads as usize).div_ceil(threads as usize);
                    Self { threads, blocks: blocks.next_multiple_of(units), ..self }
                })
                .collect(),
            What::Tiles if self.tile == 0 => Vec::new(),
            What::Tiles => [self.tile / 4, self.tile / 2, self.tile * 2, self.tile * 4]
                .map(|tile| Self { tile, ..self })
                .into_iter()
                .filter(|launch| launch.has_tile_of(program))
                .collect(),
        }
    }
}

/// Launches of programs that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Launches(Mutex<Vec<(Program, Launch)>>);

impl Launches {
    /// The launch of `program`, which `look` looks up if nobody has yet.
    pub(crate) fn of(&self, program: &Program, look: impl FnOnce() -> Launch) -> Launch {
        let known = self.all().iter().find(|(known, _)| known == program).map(|(_, launch)| *launch);
        // Others need not wait while a file is read.
        known.unwrap_or_else(|| {
            let launch = look();
            self.all().push((program.clone(), launch));
            launch
        })
    }

    /// Has all of them be looked up again: tuning may have found others.
    pub(crate) fn forget(&self) {
        self.all().clear();
    }

    fn all(&self) -> MutexGuard<'_, Vec<(Program, Launch)>> {
        // What is in it is whole, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks of a tile as `program` is, 0 where there are none.
fn tile(program: &Program) -> u64 {
    match program.tiling {
        Tiling::None => 0,
        Tiling::Blocks(blocks) | Tiling::WholeBlocks(blocks) | Tiling::Joined(blocks) => blocks,
    }
}

fn has_threads(program: &Program, threads: u32) -> bool {
    program.stages.iter().any(|stage| stage.when == When::Tiles && stage.threads == threads)
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
fn find(build: &str, program: &Program) -> Option<Launch> {
    let contents = Cache::of_user()?.get(KIND, &key(build, program))?;
    let launch = Launch::from_text(&String::from_utf8(contents).ok()?)?;
    // Files can be edited: what the kernel cannot be launched by is as good as none.
    let is_possible = program.threads.take(launch.threads) && launch.has_tile_of(program);
    (launch.blocks > 0 && is_possible).then_some(launch)
}

/// What is tried on: a batch with its plan, and who knows its right output.
struct Trial<'a, 'b> {
    plan: &'a Plan,
    batch: &'a Batch<'a>,
    output: &'a mut Output<'b>,
    is_right: &'a mut dyn FnMut(&Output<'_>) -> bool,
}

/// A launch, and the median of its times, or why it cannot be had.
type Timed = (Launch, Result<f64, String>);

impl<P: Provider> Accelerator<P> {
    /// The sweep of [`cipherlane_core::Device::tune`]: blocks, then threads, tiles and blocks again, each from the best
    /// so far. Each launch is warmed up by a run that does not count.
    pub(crate) fn sweep(
        &self,
        plan: &Plan,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        is_right: &mut dyn FnMut(&Output<'_>) -> bool,
    ) -> Result<Tuned, DeviceError> {
        self.check_plan(plan)?;
        let shape = batch.check(output)?;
        let program =
            programs::choose(plan, self.provider().target(), &shape).map_err(|fault| fault.of(self.id()))?;
        let (build, limits) = (self.provider().build(), self.provider().limits());
        let before = Launch::best(&build, &program, limits, &shape);
        let mut trial = Trial { plan, batch, output, is_right };
        let mut tried: Vec<Timed> = Vec::new();
        let mut best = before;
        for what in [What::Blocks, What::Threads, What::Tiles, What::Blocks] {
            for launch in std::iter::once(best).chain(best.neighbours(what, &program, limits.units.max(1))) {
                if tried.iter().all(|(known, _)| *known != launch) {
                    let is_first = tried.is_empty();
                    tried.push((launch, self.time(launch, is_first, &mut trial)?));
                }
            }
            best = fastest(&tried).map_or(best, |(launch, _)| launch);
        }
        let (best, _) = fastest(&tried).ok_or_else(|| nothing_ran(&tried).of(self.id()))?;
        if let Some(cache) = Cache::of_user() {
            let kept = cache.put(KIND, &key(&build, &program), best.to_text().as_bytes());
            kept.map_err(|error| {
                Fault(format!("{best:?} is best, and could not be kept: {error}")).of(self.id())
            })?;
        }
        Ok(told(plan, before, best, tried))
    }

    /// Seconds of the kernels, the median of several runs; or why the device does not take the launch. The first is asked
    /// for the known answer, which finds a device that is wrong before a large batch waits for it.
    fn time(
        &self,
        launch: Launch,
        is_first: bool,
        trial: &mut Trial<'_, '_>,
    ) -> Result<Result<f64, String>, DeviceError> {
        let mut resident = match self.resident_in(trial.plan, Some(launch)) {
            Ok(resident) => resident,
            Err(error) => return Ok(Err(error.to_string())),
        };
        resident.is_compared = !is_first;
        resident.load(trial.batch, trial.output)?;
        // Not counted: the program is compiled, the key is expanded, the clock rises.
        if let Err(error) = resident.execute() {
            return Ok(Err(error.to_string()));
        }
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            times.push(resident.execute()?.execute.as_secs_f64());
        }
        resident.store(trial.batch, trial.output)?;
        if !(trial.is_right)(trial.output) {
            let Launch { blocks, threads, tile } = launch;
            let what =
                format!("{} in {blocks} blocks of {threads} threads, tiles of {tile}", trial.plan.kernel);
            return Err(DeviceError::WrongOutput { device: trial.plan.device.clone(), what });
        }
        times.sort_by(f64::total_cmp);
        Ok(Ok(times[RUNS / 2]))
    }
}

fn fastest(tried: &[Timed]) -> Option<(Launch, f64)> {
    tried
        .iter()
        .filter_map(|(launch, seconds)| Some((*launch, *seconds.as_ref().ok()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

fn nothing_ran(tried: &[Timed]) -> Fault {
    let reason = tried.iter().find_map(|(_, seconds)| seconds.as_ref().err());
    Fault(format!("no launch runs: {}", reason.map_or("none was tried", String::as_str)))
}

fn told(plan: &Plan, before: Launch, best: Launch, tried: Vec<Timed>) -> Tuned {
    let seconds = |wanted: Launch| {
        let found = tried.iter().find(|(launch, _)| *launch == wanted);
        found.and_then(|(_, seconds)| seconds.as_ref().ok().copied())
    };
    let before_seconds = seconds(before);
    let tell =
        |(launch, seconds): Timed| Tried { geometry: launch.geometry(), tile_blocks: launch.tile, seconds };
    let best = tell((best, seconds(best).ok_or_else(String::new)));
    Tuned { kernel: plan.kernel.clone(), best, before_seconds, tried: tried.into_iter().map(tell).collect() }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use cipherlane_core::{Algorithm, Shape};
    use cipherlane_kernels::manifest::{self, Target};

    use super::*;

    /// The program that one GPU of compute capability 9.0 has of this name.
    pub(crate) fn program(kernel: &str) -> Program {
        program_of("aes-128-gcm", kernel)
    }

    fn program_of(algorithm: &str, kernel: &str) -> Program {
        let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let shape = Shape::uniform(algorithm, algorithm.forward(), 1, 1 << 30, true);
        let mut programs = manifest::programs(&shape, &target);
        let index = programs.iter().position(|program| program.kernel == kernel).unwrap();
        programs.swap_remove(index)
    }

    #[test]
    fn there_are_as_many_blocks_as_tables_have_room() {
        let limits = Limits {
            units: 132,
            lanes: 32,
            threads_per_block: 1024,
            shared_per_block: 227 << 10,
            memory_bytes: 1 << 37,
            allocation_bytes: 1 << 37,
            alignment: 256,
            clock_hertz: 1,
        };
        for (algorithm, kernel) in [
            ("aes-128-gcm", "aes-gcm/banked4/x1"),
            ("aes-128-xts", "aes-xts/banked4/x2"),
            ("aes-128-ecb", "aes-ecb/banked4/x4"),
        ] {
            assert_eq!(Launch::of(&program_of(algorithm, kernel), &limits).blocks, 132, "{kernel}");
        }
    }

    #[test]
    fn a_launch_is_looked_up_once_and_after_tuning_again() {
        let (launches, looks) = (Launches::default(), Cell::new(0));
        let programs = ["aes-gcm/banked4-mma/x2", "aes-gcm/banked1/x1"].map(program);
        let look = || {
            looks.set(looks.get() + 1);
            Launch { blocks: looks.get(), threads: 32, tile: 0 }
        };
        let blocks = || [0, 1, 0].map(|index: usize| launches.of(&programs[index], look).blocks);
        assert_eq!(blocks(), [1, 2, 1]);
        assert_eq!(blocks(), [1, 2, 1]);
        launches.forget();
        assert_eq!(blocks(), [3, 4, 3]);
    }

    #[test]
    fn a_launch_reads_back() {
        let launch = Launch { blocks: 264, threads: 512, tile: 1024 };
        assert_eq!(Launch::from_text(&launch.to_text()), Some(launch));
        assert_eq!(Launch::from_text("264 512"), None);
    }

    #[test]
    fn neighbours_are_launches_that_kernels_allow() {
        let launch = Launch { blocks: 132, threads: 512, tile: 512 };
        let threads = |kernel| {
            let around = launch.neighbours(What::Threads, &program(kernel), 132);
            around.into_iter().map(|launch| (launch.threads, launch.blocks)).collect::<Vec<_>>()
        };
        // Whose lanes are numbered for 256 threads take no other number.
        assert_eq!(threads("aes-gcm/banked4-mma/x2"), [(256, 264), (512, 132), (768, 132)]);
        let by_tiles = [(64, 1056), (128, 528), (192, 396), (256, 264), (384, 264), (512, 132)];
        assert_eq!(threads("aes-gcm/banked4/x1"), by_tiles);
        let gcm = program("aes-gcm/banked4/x1");
        let tiles: Vec<u64> =
            launch.neighbours(What::Tiles, &gcm, 132).iter().map(|launch| launch.tile).collect();
        assert_eq!(tiles, [256, 1024, 2048]);
        assert!(Launch { tile: 0, ..launch }.neighbours(What::Tiles, &gcm, 132).is_empty());
        // Messages are cut where tiles begin.
        let largest = Launch { tile: 8192, ..launch };
        assert!(largest.neighbours(What::Tiles, &gcm, 132).iter().all(|launch| launch.tile < 8192));
        let possible = |tile| Launch { tile, ..launch }.has_tile_of(&gcm);
        assert_eq!(
            [128, 256, 1000, 1536, 8192, 16384, 1 << 40].map(possible),
            [false, true, false, false, true, false, false]
        );
        // Whose counters have tables take no tile beyond them.
        let records = program("aes-gcm/banked4-mma-records/x2");
        let largest = Launch { tile: records.most_tile(), ..launch }.neighbours(What::Tiles, &records, 132);
        assert_eq!(largest.iter().map(|launch| launch.tile).collect::<Vec<_>>(), [2048, 4096]);
        assert_eq!(records.clone().with_tile(1 << 20), records.with_tile(8192));
    }

    #[test]
    fn programs_take_the_shape_of_a_launch() {
        let shaped = Launch { blocks: 9, threads: 256, tile: 2048 }.shape(program("aes-gcm/banked4-mma/x2"));
        assert!(has_threads(&shaped, 256) && shaped.tiling == Tiling::Blocks(2048), "{shaped:?}");
        // One that the kernel does not take changes nothing.
        let other = Launch { blocks: 9, threads: 1024, tile: 0 }.shape(program("aes-gcm/banked4-mma/x2"));
        assert_eq!(other, program("aes-gcm/banked4-mma/x2"));
    }

    #[test]
    fn few_messages_are_spread_over_all_units() {
        let launch = Launch { blocks: 132, threads: 512, tile: 0 };
        let by_message = program("aes-gcm/banked4-message/x1");
        let threads = |messages| launch.spread(&by_message, messages, 132).threads;
        assert_eq!([1, 4096, 5000, 132 * 512, 1 << 30].map(threads), [32, 32, 64, 512, 512]);
        // Where tiles are taken, one message may be all that there is.
        assert_eq!(launch.spread(&program("aes-gcm/banked4/x1"), 1, 132), launch);
    }

    #[test]
    fn the_fastest_is_one_that_ran() {
        let launch = |blocks| Launch { blocks, threads: 64, tile: 0 };
        let tried = [(launch(1), Ok(2.0)), (launch(2), Err("no registers".to_owned())), (launch(3), Ok(1.5))];
        assert_eq!(fastest(&tried), Some((launch(3), 1.5)));
        assert!(nothing_ran(&tried[1..2]).0.contains("no registers"));
    }
}
