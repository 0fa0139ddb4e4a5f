//! The programs of a session, loaded when a batch first needs one.

use cipherlane_core::{Plan, Shape};
use cipherlane_kernels::manifest::{self, Program, Target};

use crate::backend::{Backend, Fault};
use crate::loaded::Loaded;
use crate::tuning::{self, Launch};

/// The programs of a session: a kernel is compiled apart for one key and for a key each, and for long messages.
#[derive(Debug)]
pub(crate) struct Programs<B: Backend> {
    plan: Plan,
    target: Target,
    tuning: Tuning,
    loaded: Vec<Loaded<B>>,
}

/// How programs are launched.
#[derive(Clone, Debug)]
pub(crate) enum Tuning {
    /// As tuning has found for this device and driver; where it has not, as the manifest says. The number of blocks is
    /// the plan's.
    Kept(String),
    /// So.
    Given(Launch),
}

impl<B: Backend> Programs<B> {
    pub(crate) const fn new(plan: Plan, target: Target, tuning: Tuning) -> Self {
        Self { plan, target, tuning, loaded: Vec::new() }
    }

    /// The number of the program for batches of `shape`, which is compiled and loaded if it is not yet; says whether it
    /// was.
    pub(crate) fn find(&mut self, backend: &B, shape: &Shape) -> Result<(usize, bool), Fault> {
        let program = choose(&self.plan, &self.target, shape)?;
        let launch = match &self.tuning {
            Tuning::Given(launch) => Some(*launch),
            Tuning::Kept(build) => {
                tuning::find(build, &program).map(|launch| Launch { blocks: self.plan.threads, ..launch })
            }
        };
        let launch = launch.unwrap_or_else(|| Launch::of(&program, self.plan.threads));
        let program = launch.shape(program);
        if let Some(index) = self.loaded.iter().position(|loaded| loaded.program == program) {
            return Ok((index, true));
        }
        let blocks = u32::try_from(launch.blocks).unwrap_or(u32::MAX);
        self.loaded.push(Loaded::new(backend, program, blocks)?);
        Ok((self.loaded.len() - 1, false))
    }

    /// Program `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn get(&mut self, index: usize) -> &mut Loaded<B> {
        &mut self.loaded[index]
    }
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
