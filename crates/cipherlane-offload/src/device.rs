//! A device with memory of its own as a [`Device`]: which kernels it has, how it plans, the sessions that it opens.

use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Device, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported, Wish,
};
use cipherlane_kernels::manifest::{self, Program, Target, When};

use crate::backend::{Backend, Fault, Limits};
use crate::programs::{Programs, Tuning};
use crate::resident::Resident;
use crate::session::OffloadSession;
use crate::tuning::{self, Launch};

/// A device before it is used: what is known of it without a context.
pub trait Provider: std::fmt::Debug + Send + Sync + 'static {
    /// What it is used by.
    type Backend: Backend;

    /// What the device is.
    fn info(&self) -> &Info;

    /// The device's sizes.
    fn limits(&self) -> &Limits;

    /// Which programs suit it.
    fn target(&self) -> &Target;

    /// What tuned launches depend on beside the program: device and driver.
    fn build(&self) -> String;

    /// The device, ready to be used: the first call makes its context.
    ///
    /// # Errors
    /// If the device is taken, or fails.
    fn backend(&self) -> Result<Arc<Self::Backend>, Fault>;
}

/// A device with memory of its own.
#[derive(Debug)]
pub struct Accelerator<P: Provider>(P);

/// Bytes of a group where nobody wishes otherwise: long enough that a copy hides what it takes to begin one.
const CHUNK: usize = 32 << 20;
/// Least bytes of a chunk.
const MIN_CHUNK: usize = 256;
/// Most blocks of a launch: those of any device's grid, and tasks of 32 bits.
const MAX_BLOCKS: usize = 1 << 20;

impl<P: Provider> Accelerator<P> {
    /// The device that `provider` gives.
    #[must_use]
    pub const fn new(provider: P) -> Self {
        Self(provider)
    }

    /// What is known of the device.
    #[must_use]
    pub const fn provider(&self) -> &P {
        &self.0
    }

    fn id(&self) -> &str {
        &self.0.info().id
    }

    /// Every program that serves `shape` here.
    fn programs(&self, shape: &Shape) -> Vec<Program> {
        let limits = self.0.limits();
        let mut programs = manifest::programs(shape, self.0.target());
        programs.retain(|program| {
            program.stages.iter().all(|stage| {
                stage.threads as usize <= limits.threads_per_block
                    && stage.shared_bytes as usize <= limits.shared_per_block
            })
        });
        programs
    }

    /// The programs that serve `shape`; then those for the other way of holding keys and for other lengths, which a
    /// plan may name, too: a session runs batches of any.
    fn related(&self, shape: &Shape) -> Vec<Program> {
        /// Longer than what any kernel calls long.
        const LONG: u64 = 1 << 40;
        let mut programs = self.programs(shape);
        for (shared_key, longest) in [(true, 0), (false, 0), (true, LONG), (false, LONG)] {
            for program in self.programs(&Shape { shared_key, longest, ..*shape }) {
                if programs.iter().all(|known| known.kernel != program.kernel) {
                    programs.push(program);
                }
            }
        }
        programs
    }

    fn choose(&self, shape: &Shape, wish: &Wish) -> Result<Program, Unsupported> {
        let (tier, name) = (wish.tier.as_deref(), wish.kernel.as_deref());
        let is_wanted = |program: &&Program| {
            tier.is_none_or(|tier| program.variant.eq_ignore_ascii_case(tier))
                && name.is_none_or(|name| program.kernel == name)
        };
        let programs = self.related(shape);
        programs.iter().find(is_wanted).cloned().ok_or_else(|| {
            let by = name.map_or_else(String::new, |name| format!(" by {name}"));
            let on = tier.map_or_else(String::new, |tier| format!(" on {tier}"));
            let mut known: Vec<String> = programs.into_iter().map(|program| program.kernel).collect();
            known.dedup();
            Unsupported::Kernel {
                device: self.id().to_owned(),
                what: format!("{} {}{by}{on}", shape.algorithm, shape.operation),
                known,
            }
        })
    }

    /// Blocks where nobody wishes otherwise: as tuning found them, else as many as the device seems to hold at once.
    fn default_blocks(&self, program: &Program) -> usize {
        if let Some(launch) = tuning::find(&self.0.build(), program) {
            return launch.blocks;
        }
        let main = program.stages.iter().find(|stage| stage.when == When::Tiles);
        let limits = self.0.limits();
        let held = main.map_or(1, |stage| {
            let by_threads = 2048 / stage.threads.max(1) as usize;
            let by_shared = limits.shared_per_block / (stage.shared_bytes as usize + 1024);
            by_threads.min(by_shared).max(1)
        });
        held * limits.units.max(1)
    }

    /// A batch that stays on the device, to be run there by `plan`.
    ///
    /// # Errors
    /// If the plan is not one of this device, or its resources cannot be had.
    pub fn resident(&self, plan: &Plan) -> Result<Resident<P::Backend>, DeviceError> {
        self.resident_in(plan, None)
    }

    /// The same, launched as given.
    pub(crate) fn resident_in(
        &self,
        plan: &Plan,
        launch: Option<Launch>,
    ) -> Result<Resident<P::Backend>, DeviceError> {
        self.check_plan(plan)?;
        let backend = self.0.backend().map_err(|fault| self.failed(fault))?;
        let tuning = launch.map_or_else(|| Tuning::Kept(self.0.build()), Tuning::Given);
        let programs = Programs::new(plan.clone(), *self.0.target(), tuning);
        Resident::new(backend, programs, plan.chunk).map_err(|fault| self.failed(fault))
    }

    /// The program of `plan`, which may have been written by hand.
    pub(crate) fn check_plan(&self, plan: &Plan) -> Result<Program, Unsupported> {
        if plan.device != self.id() {
            let what = format!("plans of device {}", plan.device);
            return Err(Unsupported::Kernel {
                device: self.id().to_owned(),
                what,
                known: vec![self.id().to_owned()],
            });
        }
        let (tier, kernel) = (Some(plan.tier.clone()), Some(plan.kernel.clone()));
        let wish = Wish { tier, kernel, ..Wish::default() };
        let program = self.choose(&nominal(plan.algorithm, plan.operation), &wish)?;
        if plan.lanes != program.lanes {
            let wanted = format!("{}, as in {}", program.lanes, program.kernel);
            return Err(Unsupported::Range { what: "lanes", wanted, found: plan.lanes });
        }
        check_numbers(plan.threads, plan.chunk)?;
        Ok(program)
    }

    pub(crate) fn failed(&self, Fault(reason): Fault) -> DeviceError {
        DeviceError::Failed { device: self.id().to_owned(), reason }
    }
}

/// A shape with one key: programs depend on nothing else of it.
pub(crate) const fn nominal(algorithm: Algorithm, operation: Operation) -> Shape {
    Shape::uniform(algorithm, operation, 1, 0, true)
}

impl<P: Provider> Device for Accelerator<P> {
    fn info(&self) -> &Info {
        self.0.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for program in self.programs(shape) {
            if kernels.iter().all(|known| known.name != program.kernel) {
                kernels.push(Kernel {
                    name: program.kernel,
                    tier: program.variant.to_owned(),
                    lanes: program.lanes,
                    constant_time: program.constant_time,
                });
            }
        }
        kernels
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let program = self.choose(shape, wish)?;
        let threads = wish.threads.unwrap_or_else(|| self.default_blocks(&program));
        let chunk = wish.chunk.unwrap_or(CHUNK);
        check_numbers(threads, chunk)?;
        Ok(Plan {
            device: self.id().to_owned(),
            algorithm: shape.algorithm,
            operation: shape.operation,
            kernel: program.kernel,
            tier: program.variant.to_owned(),
            lanes: program.lanes,
            threads,
            chunk,
            constant_time: program.constant_time,
        })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let program = self.check_plan(plan)?;
        let backend = self.0.backend().map_err(|fault| self.failed(fault))?;
        let programs = Programs::new(plan.clone(), *self.0.target(), Tuning::Kept(self.0.build()));
        let session = OffloadSession::new(backend, plan, programs, program.shared_key);
        Ok(Box::new(session.map_err(|fault| self.failed(fault))?))
    }
}

fn check_numbers(blocks: usize, chunk: usize) -> Result<(), Unsupported> {
    if !(1..=MAX_BLOCKS).contains(&blocks) {
        let wanted = format!("1 to {MAX_BLOCKS} blocks");
        return Err(Unsupported::Range { what: "threads", wanted, found: blocks });
    }
    if chunk < MIN_CHUNK {
        let wanted = format!("{MIN_CHUNK} bytes or more");
        return Err(Unsupported::Range { what: "chunk", wanted, found: chunk });
    }
    Ok(())
}
