//! A library that does one message per call, as a [`Device`] that runs batches.

use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Instant;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Device, DeviceError, Info, Kernel, Mode, Operation, Output, Plan, Session,
    Shape, Spans, TagLengths, Unsupported, Wish,
};
use cipherlane_threads::{Pool, Pools, Topology};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::message::{Context, Fault, Part};

/// The tier of every rival: the library chooses its own instructions.
const TIER: &str = "library";

/// What a way of a library takes beyond what a shape tells. Batches outside are refused before anything is written.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of a GCM nonce.
    pub(crate) nonce: RangeInclusive<usize>,
    /// Bytes of a GCM tag.
    pub(crate) tag: RangeInclusive<usize>,
    /// Whether XTS takes a key whose halves are equal (OpenSSL refuses, following FIPS 140 guidance C.I).
    pub(crate) equal_xts_halves: bool,
    /// The most bytes of a message.
    pub(crate) longest: usize,
    /// Whether CTR counts with the last 32 bits alone, so that no message may have them wrap.
    pub(crate) counts_32_bits: bool,
}

impl Limits {
    /// Everything that the standards allow.
    pub(crate) const NONE: Self = Self {
        nonce: 1..=usize::MAX,
        tag: 4..=16,
        equal_xts_halves: true,
        longest: usize::MAX,
        counts_32_bits: false,
    };

    /// Nonces of 12 and tags of 16 bytes only.
    #[cfg(feature = "crates")]
    pub(crate) const USUAL_GCM: Self = Self { nonce: 12..=12, tag: 16..=16, ..Self::NONE };

    /// Whether messages of up to `longest` bytes are taken.
    fn check_longest(&self, longest: u64) -> Result<(), Unsupported> {
        let found = usize::try_from(longest).unwrap_or(usize::MAX);
        if found <= self.longest {
            return Ok(());
        }
        Err(Unsupported::Range {
            what: "bytes of a message",
            wanted: format!("at most {}", self.longest),
            found,
        })
    }

    /// Whether no message has the last 32 bits of its counters wrap (SP 800-38A, appendix B, leaves their number open).
    fn check_counters(&self, batch: &Batch<'_>) -> Result<(), Unsupported> {
        if batch.algorithm.mode() != Some(Mode::Ctr) || !self.counts_32_bits {
            return Ok(());
        }
        for (index, ends) in batch.messages.offsets.windows(2).enumerate() {
            let first = batch.nonces.row(index).last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
            let blocks = (ends[1] - ends[0]).div_ceil(BLOCK as u64);
            if u64::from(first) + blocks > 1 << 32 {
                let what = "the last 32 bits of an initial counter block";
                let most = (1_u64 << 32).saturating_sub(blocks);
                let (wanted, found) = (format!("at most {most} before {blocks} blocks"), first as usize);
                return Err(Unsupported::Range { what, wanted, found });
            }
        }
        Ok(())
    }

    fn check(&self, batch: &Batch<'_>) -> Result<(), Unsupported> {
        // Looked at where a message may be too long alone: a walk over all of them would count as the rival's time.
        if text(batch).len() > self.longest {
            let longest = batch.messages.offsets.windows(2).map(|ends| ends[1] - ends[0]).max();
            self.check_longest(longest.unwrap_or(0))?;
        }
        self.check_counters(batch)?;
        let outside = |what, range: &RangeInclusive<usize>, found| {
            let (low, high) = (range.start(), range.end());
            let wanted = if low == high { low.to_string() } else { format!("{low} to {high}") };
            Err(Unsupported::Range { what, wanted, found })
        };
        if batch.algorithm.is_aead() {
            let rows = |same: bool| if same { batch.len().min(1) } else { batch.len() };
            for index in 0..rows(batch.nonces.width().is_some()) {
                let found = batch.nonces.row(index).len();
                if !self.nonce.contains(&found) {
                    return outside("bytes of a nonce", &self.nonce, found);
                }
            }
            for index in 0..rows(matches!(batch.tag_lengths, TagLengths::Same(_))) {
                let found = batch.tag_lengths.get(index);
                if !self.tag.contains(&found) {
                    return outside("bytes of a tag", &self.tag, found);
                }
            }
        }
        if batch.algorithm.mode() == Some(Mode::Xts) && !self.equal_xts_halves {
            for index in 0..batch.keys.rows().unwrap_or(1).min(batch.len()) {
                let (data, tweak) = batch.keys.row(index).split_at(batch.algorithm.key_bytes() / 2);
                if bool::from(data.ct_eq(tweak)) {
                    let what = "different halves of an XTS key";
                    return Err(Unsupported::Range { what, wanted: "2".to_owned(), found: 1 });
                }
            }
        }
        Ok(())
    }
}

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
        // Four parts for each thread let the quick ones help the slow ones.
        let share = if threads == 1 { bytes } else { bytes.div_ceil(4 * threads) };
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
                context
                    .map(|context| Mutex::new(Worker::new(context)))
                    .map_err(|function| fault(failed(function)))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let pool = self.pools.of(threads, topology()).map_err(|error| fault(too_many(threads, &error)))?;
        Ok(Box::new(EachSession {
            plan: plan.clone(),
            limits: limits.clone(),
            workers: Workers(workers),
            pool,
        }))
    }
}

fn too_many(threads: usize, error: &io::Error) -> String {
    format!("no {threads} threads: {error}; ask for fewer")
}

fn failed(function: Fault) -> String {
    format!("{function} failed; the library is out of memory or not built for this")
}

/// Where the texts of a checked batch lie.
fn text(batch: &Batch<'_>) -> Range<usize> {
    let offsets = batch.messages.offsets;
    let place =
        |offset: Option<&u64>| offset.map_or(0, |&offset| usize::try_from(offset).unwrap_or_default());
    place(offsets.first())..place(offsets.last())
}

/// A context with the key that it was last given.
struct Worker {
    context: Box<dyn Context>,
    key: Zeroizing<Vec<u8>>,
}

impl Worker {
    fn new(context: Box<dyn Context>) -> Self {
        Self { context, key: Zeroizing::new(Vec::new()) }
    }

    /// Runs `part`; the shared key, if any, is set up only where the context does not have it yet.
    fn run(&mut self, part: &mut Part<'_>, shared: Option<&[u8]>) -> Result<(), Fault> {
        part.new_key = shared.is_some_and(|key| !bool::from(key.ct_eq(&self.key)));
        let fresh = part.new_key || shared.is_none();
        let result = self.context.part(part);
        if fresh || result.is_err() {
            let kept = shared.filter(|_| result.is_ok()).unwrap_or_default();
            self.key = Zeroizing::new(kept.to_vec());
        }
        result
    }
}

/// A worker for each thread.
struct Workers(Vec<Mutex<Worker>>);

impl Workers {
    /// The worker whose number is `home`, or another while a thread that helps has it: there are as many as threads.
    fn free(&self, home: usize) -> MutexGuard<'_, Worker> {
        let turns = (home..self.0.len()).chain(0..home).cycle();
        let mut found = turns.filter_map(|index| match self.0[index].try_lock() {
            Ok(worker) => Some(worker),
            // No worker is left half-made: a context that failed gets its key anew.
            Err(TryLockError::Poisoned(worker)) => Some(worker.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        found.next().expect("an endless cycle")
    }
}

struct EachSession {
    plan: Plan,
    limits: Limits,
    workers: Workers,
    pool: Arc<Pool>,
}

impl EachSession {
    fn check(&self, batch: &Batch<'_>, output: &Output<'_>) -> Result<(), DeviceError> {
        batch.check(output)?;
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        Ok(self.limits.check(batch)?)
    }

    fn execute(&self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<(), String> {
        let shared = batch.keys.is_shared().then(|| batch.keys.row(0));
        let threads = self.pool.threads();
        let chunk = if threads > 1 { self.plan.chunk } else { usize::MAX };
        let parts: Vec<_> = Part::cut(batch, output, chunk).into_iter().map(Mutex::new).collect();
        let fault = Mutex::new(Ok(()));
        let run = |index: usize| {
            // Threads begin with parts in a row, the same in each run, so that these stay in their caches.
            let mut worker = self.workers.free(index * threads / parts.len());
            if let Err(function) = worker.run(&mut lock(&parts[index]), shared) {
                *lock(&fault) = Err(failed(function));
            }
        };
        self.pool.lend(|pool| pool.run(parts.len(), run));
        fault.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session for EachSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let called = Instant::now();
        self.check(batch, output)?;
        let started = Instant::now();
        if let Err(reason) = self.execute(batch, output) {
            // Half a batch is no result, and its texts may be secrets.
            if batch.operation != Operation::Hash {
                output.bytes[text(batch)].fill(0);
            }
            output.accepted.iter_mut().take(batch.len()).for_each(|accepted| *accepted = false);
            return Err(DeviceError::Failed { device: self.plan.device.clone(), reason });
        }
        let execute = started.elapsed();
        Ok(Spans { execute, wall: called.elapsed(), ..Spans::default() })
    }
}
