//! The programs of a session, loaded when a batch first needs one.

use cipherlane_core::{Geometry, Plan, Shape};
use cipherlane_kernels::manifest::{self, Program, Target};

use crate::backend::{Backend, Fault, Limits};
use crate::loaded::Loaded;
use crate::tuning::Launch;

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
    /// The plan's kernel as the plan says; all that it leaves open, and all other programs, as tuning has found for this
    /// device and driver, or where it has not as the manifest says.
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
            Tuning::Given(launch) => *launch,
            Tuning::Kept(build) => self.launch(build, &program, backend.limits()),
        };
        let program = launch.shape(program);
        if let Some(index) = self.loaded.iter().position(|loaded| loaded.program == program) {
            return Ok((index, true));
        }
        let blocks = u32::try_from(launch.blocks).unwrap_or(u32::MAX);
        self.loaded.push(Loaded::new(backend, program, blocks)?);
        Ok((self.loaded.len() - 1, false))
    }

    fn launch(&self, build: &str, program: &Program, limits: &Limits) -> Launch {
        let launch = Launch::known(build, program, limits);
        let Some(Geometry { blocks, threads_per_block, .. }) = self.plan.geometry else { return launch };
        match u32::try_from(threads_per_block) {
            // The kernel of the same name for the other way of holding keys may take fewer threads.
            Ok(threads) if program.kernel == self.plan.kernel && program.threads.take(threads) => {
                Launch { blocks, threads, ..launch }
            }
            _ => launch,
        }
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
