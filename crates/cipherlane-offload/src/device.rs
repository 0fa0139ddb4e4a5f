//! A device with memory of its own as a [`Device`]: which kernels it has, how it plans, the sessions that it opens.

use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Batch, Device, DeviceError, DeviceMemory, Geometry, HostMemory, Info, Kernel, Operation,
    Output, Plan, Session, Shape, Tuned, Unsupported, Wish,
};
use cipherlane_kernels::manifest::{self, Program, Target};

use crate::backend::{Backend, Fault, Limits, Unit};
use crate::copy;
use crate::loaded::unit;
use crate::memory::CallerMemory;
use crate::programs::{Programs, Tuning};
use crate::resident::Resident;
use crate::session::OffloadSession;
use crate::tuning::{Launch, Launches};

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

    /// Whether `unit` lies compiled on this machine.
    fn is_compiled(&self, unit: &Unit) -> bool;

    /// The device, ready to be used: the first call makes its context.
    ///
    /// # Errors
    /// If the device is taken, or fails.
    fn backend(&self) -> Result<Arc<Self::Backend>, Fault>;
}

/// A device with memory of its own.
#[derive(Debug)]
pub struct Accelerator<P: Provider> {
    provider: P,
    /// Launches that were looked up, which takes reading a file: not for every batch of another size.
    launches: Launches,
}

/// Bytes of a group where nobody wishes otherwise: long enough that a copy hides what it takes to begin one.
const CHUNK: usize = 16 << 20;
/// Least bytes of a chunk.
const MIN_CHUNK: usize = 256;
/// Most blocks of a launch: those of any device's grid, and tasks of 32 bits.
const MAX_BLOCKS: usize = 1 << 20;
/// Most queues of a session: each has memory and staging for a group.
const MAX_STREAMS: usize = 64;

impl<P: Provider> Accelerator<P> {
    /// The device that `provider` gives.
    #[must_use]
    pub fn new(provider: P) -> Self {
        copy::prepare();
        Self { provider, launches: Launches::default() }
    }

    /// What is known of the device.
    #[must_use]
    pub const fn provider(&self) -> &P {
        &self.provider
    }

    pub(crate) fn id(&self) -> &str {
        &self.provider.info().id
    }

    /// Every program that serves `shape` here.
    fn programs(&self, shape: &Shape) -> Vec<Program> {
        let limits = self.provider.limits();
        let mut programs = manifest::programs(shape, self.provider.target());
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
            for program in self.programs(&Shape { shared_key, longest, messages: 0, ..*shape }) {
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
        if let Some(program) = self.programs(shape).into_iter().find(|program| is_wanted(&program)) {
            return Ok(program);
        }
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

    /// A session that runs batches by `plan`.
    pub(crate) fn session(&self, plan: &Plan) -> Result<OffloadSession<P::Backend>, DeviceError> {
        let program = self.check_plan(plan)?;
        let backend = self.provider.backend().map_err(|fault| fault.of(self.id()))?;
        let programs =
            Programs::new(plan.clone(), *self.provider.target(), Tuning::Kept(self.provider.build()));
        OffloadSession::new(backend, plan, programs, program.shared_key).map_err(|fault| fault.of(self.id()))
    }

    /// A batch that stays on the device, to be run there by `plan`, or launched as given.
    pub(crate) fn resident_in(
        &self,
        plan: &Plan,
        launch: Option<Launch>,
    ) -> Result<Resident<P::Backend>, DeviceError> {
        self.check_plan(plan)?;
        let backend = self.provider.backend().map_err(|fault| fault.of(self.id()))?;
        let tuning = launch.map_or_else(|| Tuning::Kept(self.provider.build()), Tuning::Given);
        let programs = Programs::new(plan.clone(), *self.provider.target(), tuning);
        Resident::new(backend, programs, plan.chunk).map_err(|fault| fault.of(self.id()))
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
        self.check_geometry(plan)?;
        Ok(program)
    }

    /// Whether the plan's kernel can be launched as it says, be it with one key or with a key each.
    fn check_geometry(&self, plan: &Plan) -> Result<(), Unsupported> {
        let Some(Geometry { blocks, threads_per_block, streams }) = plan.geometry else {
            let wanted = "given in the geometry of a plan".to_owned();
            return Err(Unsupported::Range { what: "blocks", wanted, found: 0 });
        };
        check_blocks(blocks)?;
        let mut programs = self.related(&nominal(plan.algorithm, plan.operation));
        programs.retain(|program| program.kernel == plan.kernel);
        if !programs.iter().any(|program| takes(program, threads_per_block)) {
            let wanted = programs.first().map_or_else(String::new, |program| program.threads.to_string());
            return Err(Unsupported::Range { what: "threads per block", wanted, found: threads_per_block });
        }
        check_streams(streams)
    }

    /// How `program` is launched, with what is wished for in the place of what was found best.
    fn geometry(&self, program: &Program, shape: &Shape, wish: &Wish) -> Result<Geometry, Unsupported> {
        let limits = self.provider.limits();
        let known = self.launches.of(program, || Launch::known(&self.provider.build(), program, limits));
        let best = known.spread(program, shape.messages, limits.units).geometry();
        let blocks = wish.blocks.unwrap_or(best.blocks);
        let threads_per_block = wish.threads_per_block.unwrap_or(best.threads_per_block);
        check_blocks(blocks)?;
        check_streams(wish.streams)?;
        if !takes(program, threads_per_block) {
            let wanted = format!("{}, for {}", program.threads, program.kernel);
            return Err(Unsupported::Range { what: "threads per block", wanted, found: threads_per_block });
        }
        Ok(Geometry { blocks, threads_per_block, streams: wish.streams })
    }
}

/// A shape with one key: programs depend on nothing else of it.
pub(crate) const fn nominal(algorithm: Algorithm, operation: Operation) -> Shape {
    Shape::uniform(algorithm, operation, 1, 0, true)
}

impl<P: Provider> Device for Accelerator<P> {
    fn info(&self) -> &Info {
        self.provider.info()
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
        let (threads, chunk) = (wish.threads.unwrap_or(1), wish.chunk.unwrap_or(CHUNK));
        check_numbers(threads, chunk)?;
        let geometry = self.geometry(&program, shape, wish)?;
        Ok(Plan {
            device: self.id().to_owned(),
            algorithm: shape.algorithm,
            operation: shape.operation,
            kernel: program.kernel,
            tier: program.variant.to_owned(),
            lanes: program.lanes,
            threads,
            chunk,
            geometry: Some(geometry),
            constant_time: program.constant_time,
        })
    }

    /// Those that copy to stagings and back, whatever is wished for.
    fn on_threads(&self, _: &Wish, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        copy::on_idle_threads(parts, work);
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(self.session(plan)?))
    }

    fn resident(&self, plan: &Plan) -> Result<Option<Box<dyn cipherlane_core::Resident>>, DeviceError> {
        Ok(Some(Box::new(self.resident_in(plan, None)?)))
    }

    fn memory(&self, bytes: usize) -> Result<Option<Arc<dyn DeviceMemory>>, DeviceError> {
        let memory = self.provider.backend().and_then(|backend| CallerMemory::new(backend, bytes));
        Ok(Some(Arc::new(memory.map_err(|fault| fault.of(self.id()))?)))
    }

    fn host_memory(&self, bytes: usize) -> Result<Box<dyn HostMemory>, DeviceError> {
        let staging = self.provider.backend().and_then(|backend| backend.staging(bytes));
        Ok(Box::new(staging.map_err(|fault| fault.of(self.id()))?))
    }

    fn tune(
        &self,
        plan: &Plan,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        is_right: &mut dyn FnMut(&Output<'_>) -> bool,
    ) -> Result<Option<Tuned>, DeviceError> {
        let tuned = self.sweep(plan, batch, output, is_right);
        self.launches.forget();
        tuned.map(Some)
    }

    fn compiled(&self) -> Vec<(String, bool)> {
        let mut all: Vec<(String, bool)> = Vec::new();
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                for shared in [true, false] {
                    let keys = if shared { "one key" } else { "a key each" };
                    all.extend(self.compiled_for(algorithm, operation, shared).into_iter().map(
                        |(kernel, compiled)| (format!("{algorithm} {operation}, {keys}: {kernel}"), compiled),
                    ));
                }
            }
        }
        all
    }
}

impl<P: Provider> Accelerator<P> {
    /// The kernels for messages of all sizes, and whether each lies compiled, be it for one of them.
    fn compiled_for(&self, algorithm: Algorithm, operation: Operation, shared: bool) -> Vec<(String, bool)> {
        let build = self.provider.build();
        let (mut programs, mut kernels) = (Vec::new(), Vec::<(String, bool)>::new());
        for (messages, bytes) in manifest::SIZES {
            let shape = Shape::uniform(algorithm, operation, messages, bytes, shared);
            for program in self.programs(&shape) {
                if programs.contains(&program) {
                    continue;
                }
                let launch = Launch::best(&build, &program, self.provider.limits(), &shape);
                let compiled = self.provider.is_compiled(&unit(&launch.shape(program.clone())));
                match kernels.iter_mut().find(|(name, _)| *name == program.kernel) {
                    Some((_, any)) => *any |= compiled,
                    None => kernels.push((program.kernel.clone(), compiled)),
                }
                programs.push(program);
            }
        }
        kernels
    }
}

fn takes(program: &Program, threads: usize) -> bool {
    u32::try_from(threads).is_ok_and(|threads| program.threads.take(threads))
}

fn check_blocks(blocks: usize) -> Result<(), Unsupported> {
    if (1..=MAX_BLOCKS).contains(&blocks) {
        return Ok(());
    }
    Err(Unsupported::Range { what: "blocks", wanted: format!("1 to {MAX_BLOCKS}"), found: blocks })
}

fn check_streams(streams: Option<usize>) -> Result<(), Unsupported> {
    match streams {
        Some(found) if !(1..=MAX_STREAMS).contains(&found) => {
            Err(Unsupported::Range { what: "streams", wanted: format!("1 to {MAX_STREAMS}"), found })
        }
        _ => Ok(()),
    }
}

fn check_numbers(threads: usize, chunk: usize) -> Result<(), Unsupported> {
    if threads != 1 {
        let wanted =
            "1, the caller's: on this device blocks do the work, whose number is wished for apart".to_owned();
        return Err(Unsupported::Range { what: "threads", wanted, found: threads });
    }
    if chunk < MIN_CHUNK {
        let wanted = format!("{MIN_CHUNK} bytes or more");
        return Err(Unsupported::Range { what: "chunk", wanted, found: chunk });
    }
    Ok(())
}
