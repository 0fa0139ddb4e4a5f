//! A library that does one message per call, as a [`Device`] that runs batches.

use std::io;
use std::sync::{Arc, OnceLock};

use cipherlane_core::{
    Algorithm, BLOCK, Device, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported, Wish,
};
use cipherlane_threads::{Pools, Topology};

use crate::limits::Limits;
use crate::message::{Context, Fault};
use crate::session::{EachSession, Worker, failed};

/// The tier of every rival: the library chooses its own instructions.
const TIER: &str = "library";

/// Another library: what it offers, and how its contexts are made.
pub(crate) trait Library: Send + Sync + 'static {
    /// The ways in which it can run `shape`, best first, each with its limits. None where it cannot.
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)>;

    /// A context of one of its `ways`; its key comes with the first message.
    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        way: &str,
    ) -> Result<Box<dyn Context>, Fault>;

    /// Whether its timing of `algorithm` on this machine is independent of keys and data.
    fn constant_time(&self, algorithm: Algorithm) -> bool;
}

/// Whether `algorithm` is one that libraries run in constant time where they have instructions for AES-GCM: AES, and
/// hashes anyway. Camellia and SM4 they look up in tables.
pub(crate) fn aes_or_hash(algorithm: Algorithm) -> bool {
    algorithm.cipher().is_none_or(|cipher| cipher.family() == "aes")
}

/// Whether the CPU has the instructions with which libraries do AES-GCM in constant time.
pub(crate) fn aes_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    let found = std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    let found =
        std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let found = false;
    found
}

/// The CPUs of this process, as the first rival found them: reading them takes many files.
pub(crate) fn topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    TOPOLOGY.get_or_init(Topology::detect)
}

/// A [`Library`] as a device. Its threads are of the kind that our own engine has, so that these are not compared.
pub(crate) struct Each<L> {
    library: Arc<L>,
    info: Info,
    pools: Pools,
}

impl<L: Library> Each<L> {
    /// The device `id`, called `name`, with `details` to show.
    pub(crate) fn new(id: &str, name: String, mut details: Vec<(String, String)>, library: L) -> Self {
        let threads = topology().cpus().len();
        details.push((
            "threads".to_owned(),
            "a batch is split between messages, since the library cannot split one".to_owned(),
        ));
        let info = Info { id: id.to_owned(), name, tiers: vec![TIER.to_owned()], threads, details };
        Self { library: Arc::new(library), info, pools: Pools::default() }
    }

    fn kernel(shape: &Shape, way: &str, constant_time: bool) -> Kernel {
        let name = format!("{}/{TIER}/{way}", shape.algorithm.family());
        // Libraries do not say how many blocks they have in flight; they are called for one message at a time.
        Kernel { name, tier: TIER.to_owned(), lanes: 1, constant_time }
    }

    fn refuse(&self, what: String, known: Vec<String>) -> Unsupported {
        Unsupported::Kernel { device: self.info.id.clone(), what, known }
    }

    /// The first kernel that the wish allows; that the shape is within its limits is checked here, too.
    fn choose(&self, shape: &Shape, wish: &Wish) -> Result<Kernel, Unsupported> {
        let kernels = self.kernels(shape);
        let known: Vec<_> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
        if let Some(tier) = wish.tier.as_ref().filter(|tier| *tier != TIER) {
            return Err(self.refuse(format!("tier {tier}"), vec![TIER.to_owned()]));
        }
        let wanted = wish.kernel.as_ref();
        let limits = self.library.ways(shape).into_iter().map(|(_, limits)| limits);
        let allowed = |kernel: &Kernel| wanted.is_none_or(|name| *name == kernel.name);
        let (kernel, limits) =
            kernels.into_iter().zip(limits).find(|(kernel, _)| allowed(kernel)).ok_or_else(|| {
                let what = format!("{} {}", shape.algorithm, shape.operation);
                self.refuse(wanted.map_or(what, Clone::clone), known)
            })?;
        limits.check_longest(shape.longest).map(|()| kernel)
    }
}

/// A wish that must be at least 1.
fn positive(what: &'static str, wish: Option<usize>, otherwise: usize) -> Result<usize, Unsupported> {
    match wish {
        Some(0) => Err(Unsupported::Range { what, wanted: "at least 1".to_owned(), found: 0 }),
        Some(count) => Ok(count),
        None => Ok(otherwise.max(1)),
    }
}

impl<L: Library> Device for Each<L> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        let constant_time = self.library.constant_time(shape.algorithm);
        let ways = self.library.ways(shape);
        ways.iter().map(|(way, _)| Self::kernel(shape, way, constant_time)).collect()
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        wish.check_no_geometry(&self.info.id)?;
        let kernel = self.choose(shape, wish)?;
        let threads = positive("threads", wish.threads, 1)?.min(shape.messages.max(1));
        let bytes = usize::try_from(shape.bytes).unwrap_or(usize::MAX);
        // Empty messages are work, too (see `Cuts`): they would be a part each.
        let work = bytes.max(shape.messages.saturating_mul(BLOCK));
        // Four parts for each thread let the quick ones help the slow ones.
        let share = if threads == 1 { bytes } else { work.div_ceil(4 * threads) };
        Ok(Plan {
            device: self.info.id.clone(),
            algorithm: shape.algorithm,
            operation: shape.operation,
            kernel: kernel.name,
            tier: kernel.tier,
            lanes: kernel.lanes,
            threads,
            chunk: positive("chunk in bytes", wish.chunk, share)?,
            geometry: None,
            constant_time: kernel.constant_time,
        })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let shape = Shape::uniform(plan.algorithm, plan.operation, 1, 16, true);
        let ways = self.library.ways(&shape);
        let known = || ways.iter().map(|(way, _)| Self::kernel(&shape, way, true).name).collect();
        let Some((way, limits)) =
            ways.iter().find(|(way, _)| Self::kernel(&shape, way, true).name == plan.kernel)
        else {
            return Err(self.refuse(plan.kernel.clone(), known()).into());
        };
        if plan.device != self.info.id {
            return Err(self
                .refuse(format!("the plans of {}", plan.device), vec![self.info.id.clone()])
                .into());
        }
        let fault = |reason: String| DeviceError::Failed { device: self.info.id.clone(), reason };
        let threads = positive("threads", Some(plan.threads), 1)?;
        let workers = (0..threads)
            .map(|_| {
                let context = self.library.context(plan.algorithm, plan.operation, way);
                context.map(Worker::new).map_err(|function| fault(failed(function)))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let pool = self.pools.of(threads, topology()).map_err(|error| fault(too_many(threads, &error)))?;
        Ok(Box::new(EachSession::new(plan.clone(), limits.clone(), workers, pool)))
    }
}

fn too_many(threads: usize, error: &io::Error) -> String {
    format!("no {threads} threads: {error}; ask for fewer")
}
