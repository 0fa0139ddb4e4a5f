//! The programs of a session, loaded when a batch first needs one.

#[cfg(test)]
mod examined;

use cipherlane_core::{BLOCK, Geometry, Plan, Shape};
use cipherlane_kernels::manifest::{self, Program, Target, Tiling};

use crate::backend::{Backend, Commands, Fault, Limits};
use crate::fleet::STEP;
use crate::key::KeyNumber;
use crate::launch::Schedule;
use crate::loaded::Loaded;
use crate::part::Part;
use crate::tuning::{Launch, Launches};

/// The programs of a session: a kernel is compiled apart for one key and for a key each, and for long messages.
#[derive(Debug)]
pub(crate) struct Programs<B: Backend> {
    plan: Plan,
    target: Target,
    tuning: Tuning,
    /// Launches that were looked up, which takes reading a file: not for every batch.
    launches: Launches,
    loaded: Vec<Loaded<B>>,
    /// What was looked for last, and the number of its program: most batches are like the one before, and making all programs
    /// that there might be takes longer than a short kernel.
    last: Option<(Shape, Option<Part>, usize)>,
}

/// How programs are launched.
#[derive(Clone, Debug)]
pub(crate) enum Tuning {
    /// The plan's kernel as the plan says; all that it leaves open, and all other programs, as tuning has found for this
    /// device and driver, or where it has not as the manifest says.
    Kept(String),
    /// All programs as this says: for tuning, which tries one launch after the other.
    Given(Launch),
}

impl<B: Backend> Programs<B> {
    pub(crate) fn new(plan: Plan, target: Target, tuning: Tuning) -> Self {
        Self { plan, target, tuning, launches: Launches::default(), loaded: Vec::new(), last: None }
    }

    /// The number of the program for batches of `shape`, or for `part` of a message, which is compiled and loaded if it
    /// is not yet; says whether it was.
    pub(crate) fn find(
        &mut self,
        backend: &B,
        shape: &Shape,
        part: Option<Part>,
    ) -> Result<(usize, bool), Fault> {
        let shape = &Shape { beside: 0, ..*shape }; // no program depends on it
        if let Some((_, _, index)) = self.last.filter(|&(last, of, _)| (last, of) == (*shape, part)) {
            return Ok((index, true));
        }
        let (index, known) = self.look(backend, shape, part)?;
        self.last = Some((*shape, part, index));
        Ok((index, known))
    }

    fn look(&mut self, backend: &B, shape: &Shape, part: Option<Part>) -> Result<(usize, bool), Fault> {
        // Kernels for a part are those for all of its message, beside which there is none that is short.
        let of_message = |part: Part| Shape { longest: part.message_bytes, messages: 0, ..*shape };
        let program = choose(&self.plan, &self.target, &part.map_or(*shape, of_message))?;
        let launch = self.launch(&program, backend.limits());
        let program = match part {
            Some(part) => for_part(program, launch, part, shape.bytes)?,
            None => launch.shape(program),
        };
        if let Some(index) = self.loaded.iter().position(|loaded| loaded.program == program) {
            return Ok((index, true));
        }
        let blocks = u32::try_from(launch.blocks).unwrap_or(u32::MAX);
        self.loaded.push(Loaded::new(backend, program, blocks)?);
        Ok((self.loaded.len() - 1, false))
    }

    fn launch(&self, program: &Program, limits: &Limits) -> Launch {
        let build = match &self.tuning {
            Tuning::Given(launch) => return *launch,
            Tuning::Kept(build) => build,
        };
        let launch = self.launches.of(program, || Launch::known(build, program, limits));
        let Some(Geometry { blocks, threads_per_block, .. }) = self.plan.geometry else { return launch };
        match u32::try_from(threads_per_block) {
            // The kernel of the same name for the other way of holding keys may take fewer threads.
            Ok(threads) if program.kernel == self.plan.kernel && program.threads.take(threads) => {
                Launch { blocks, threads, ..launch }
            }
            _ => launch,
        }
    }

    /// The plan that they carry out.
    pub(crate) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// With nothing loaded, programs that are chosen and launched as these are.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(self.plan.clone(), self.target, self.tuning.clone())
    }

    /// Enqueues wiping schedules of other keys than `key`.
    pub(crate) fn forget_old_key(
        &mut self,
        commands: Commands<'_, B>,
        key: KeyNumber,
        schedule: &mut Schedule<B>,
        steps: &mut Vec<B::Step>,
    ) -> Result<(), Fault> {
        for loaded in self.loaded.iter_mut().filter(|loaded| loaded.schedule_of.is_some_and(|of| of != key)) {
            steps.push(commands.backend.wipe_schedule(commands.queue, &loaded.handle, &schedule.memory)?);
            loaded.schedule_of = None;
            // It may have been that of another program as well.
            schedule.unset();
        }
        Ok(())
    }

    /// Unloads the program that was loaded last.
    pub(crate) fn forget_last(&mut self) {
        self.loaded.pop();
        self.last = None;
    }

    /// All that are loaded.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = &Loaded<B>> {
        self.loaded.iter()
    }

    /// Program `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn get(&mut self, index: usize) -> &mut Loaded<B> {
        &mut self.loaded[index]
    }
}

/// `program` as `launch` has it, with tiles that lie within `part`, which has `bytes` bytes: kernels know where the
/// message ends and not where the part does, and tuned tiles may be too long to begin and end with it.
fn for_part(program: Program, launch: Launch, part: Part, bytes: u64) -> Result<Program, Fault> {
    let end = part.start + bytes;
    let fits = |program: &Program| match program.tiling {
        Tiling::Blocks(blocks) | Tiling::Joined(blocks) => {
            let tile = BLOCK as u64 * blocks;
            part.start.is_multiple_of(tile) && (end.is_multiple_of(tile) || end == part.message_bytes)
        }
        Tiling::None | Tiling::WholeBlocks(_) => false,
    };
    let (tuned, own) = (launch.shape(program.clone()), Launch { tile: 0, ..launch }.shape(program));
    [tuned, own].into_iter().find(fits).ok_or_else(|| {
        Fault(format!(
            "no tiles lie within bytes {} to {end} of a message: fleets cut at multiples of {STEP}",
            part.start
        ))
    })
}

/// The program that `plan` names; where there is none of its name for the way in which this batch holds its keys, the
/// one that is nearest to it.
pub(crate) fn choose(plan: &Plan, target: &Target, shape: &Shape) -> Result<Program, Fault> {
    let mut programs = manifest::programs(shape, target);
    let index = programs
        .iter()
        .position(|program| program.kernel == plan.kernel)
        .or_else(|| programs.iter().position(|program| program.variant == plan.tier))
        .or_else(|| programs.iter().position(|program| program.constant_time || !plan.constant_time))
        .ok_or_else(|| {
            let keys = if shape.shared_key { "one key" } else { "a key each" };
            Fault(format!("there is no kernel for {} {} with {keys}", plan.algorithm, plan.operation))
        })?;
    Ok(programs.swap_remove(index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::tests::program;

    #[test]
    fn tuned_tiles_lie_within_a_part() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        let own = program("aes-gcm/banked4-mma/x2");
        let tile = |blocks, start, bytes, message_bytes| {
            let launch = Launch { blocks: 132, threads: 512, tile: blocks };
            let found = for_part(own.clone(), launch, Part { start, message_bytes }, bytes)?;
            match found.tiling {
                Tiling::Blocks(blocks) => Ok(BLOCK as u64 * blocks),
                other => panic!("{other:?}"),
            }
        };
        let Ok(manifest) = tile(0, 0, MIB, MIB) else { panic!("its own tiles fit") };
        let message = 32 * MIB + 256 * KIB;
        let half = 16 * MIB + 128 * KIB;
        // A tuned tile of 256 KiB would reach over the end of the first part, and not begin with the second.
        for (start, bytes) in [(0, half), (half, message - half)] {
            assert!(matches!(tile(16384, start, bytes, message), Ok(found) if found == manifest));
        }
        // These begin and end with its tiles, the last with the message.
        let fitting = [(0, 16 * MIB, message), (16 * MIB, 16 * MIB + 3, 32 * MIB + 3)];
        for (start, bytes, message) in fitting {
            assert!(matches!(tile(16384, start, bytes, message), Ok(found) if found == 256 * KIB));
        }
        let Err(Fault(reason)) = tile(16384, 0, 100, message) else { panic!("cut within a tile") };
        assert!(reason.contains("bytes 0 to 100"), "{reason}");
    }
}
