//! This CPU as a device: what it is, how it plans, and the sessions that it opens.

use cipherlane_core::{
    Algorithm, Device, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported, Wish,
};
use cipherlane_threads::{Pools, Topology};

use crate::crew;
use crate::describe::{self, ID};
use crate::session::{Bare, Caches, CpuSession};
use crate::split::{self, MIN_CHUNK};
use crate::table::{self, Entry};
use crate::tier::Tier;

/// Most threads of a session: more than machines have logical CPUs, few enough for a system to start.
const MAX_THREADS: usize = 4096;

/// The engine on this CPU.
#[derive(Clone, Debug)]
pub struct Cpu {
    info: Info,
    /// Available tiers, best first.
    tiers: Vec<Tier>,
    topology: Topology,
    caches: Caches,
    gains: Gains,
    pools: Pools,
}

/// Whether texts of an algorithm from behind the second cache gain by prefetches.
type Gains = fn(Algorithm) -> bool;

impl Cpu {
    /// The CPU as this process sees it now: its tiers, less those that the environment switches off (see
    /// [`Tier::switch`]), and the logical CPUs that the calling thread may use. Make it before pinning that thread.
    #[must_use]
    pub fn new() -> Self {
        let (tiers, topology) = (Tier::available(), Topology::detect());
        let info = Info {
            id: ID.to_owned(),
            name: describe::model_name(),
            tiers: tiers.iter().map(|tier| tier.name().to_owned()).collect(),
            threads: topology.cpus().len(),
            details: describe::details(&topology),
        };
        let caches = Caches { second: topology.second_cache(), last: topology.last_cache() };
        Self { info, tiers, topology, caches, gains: gains_by_prefetches, pools: Pools::apart() }
    }

    /// The CPU with a last cache of `bytes` bytes, whatever the system says of it: where texts overflow that, long
    /// messages are stored past the caches. Zero has them always stored so.
    #[must_use]
    pub fn with_last_cache(self, bytes: usize) -> Self {
        Self { caches: Caches { last: Some(bytes), ..self.caches }, ..self }
    }

    /// The CPU with second caches of `bytes` bytes each, whatever the system says of them: where texts are larger, their
    /// lines are asked for before they are needed. Zero has them always asked for.
    #[must_use]
    pub fn with_second_caches(self, bytes: usize) -> Self {
        Self { caches: Caches { second: Some(bytes), ..self.caches }, gains: |_| true, ..self }
    }

    /// The kernels for an algorithm and operation, best first; after them those that are not constant-time, which
    /// a wish has to name.
    fn entries(
        &self,
        algorithm: Algorithm,
        operation: Operation,
    ) -> impl Iterator<Item = (Kernel, Tier, Entry)> {
        let safe = self.tiers.iter().filter_map(move |&tier| {
            let entry = table::kernel(tier, algorithm, operation)?;
            let name = format!("{}/{tier}/x{}", algorithm.family(), entry.lanes);
            Some((described(name, tier, &entry, true), tier, entry))
        });
        let vartime = table::vartime(algorithm, operation).into_iter().map(move |(variant, entry)| {
            let name = format!("{}/{}-{variant}/x{}", algorithm.family(), Tier::Portable, entry.lanes);
            (described(name, Tier::Portable, &entry, false), Tier::Portable, entry)
        });
        safe.chain(vartime)
    }

    /// The best kernel that `wish` allows.
    fn choose(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        wish: &Wish,
    ) -> Result<(Kernel, Tier, Entry), Unsupported> {
        let (tier, name) = (wish.tier.as_deref(), wish.kernel.as_deref());
        // The tier within a kernel's name: why it is not here says more than that it is not known.
        let within = name.and_then(|name| name.split('/').nth(1)).filter(|tier| tier.parse::<Tier>().is_ok());
        for tier in [tier, within].into_iter().flatten() {
            self.check_tier(tier)?;
        }
        let is_wanted = |kernel: &Kernel| {
            tier.is_none_or(|tier| kernel.tier.eq_ignore_ascii_case(tier))
                && name.map_or(kernel.constant_time, |name| kernel.name == name)
        };
        self.entries(algorithm, operation).find(|(kernel, ..)| is_wanted(kernel)).ok_or_else(|| {
            let by = name.map_or_else(String::new, |name| format!(" by {name}"));
            let on = tier.map_or_else(String::new, |tier| format!(" on {tier}"));
            Unsupported::Kernel {
                device: ID.to_owned(),
                what: format!("{algorithm} {operation}{by}{on}"),
                known: self.entries(algorithm, operation).map(|(kernel, ..)| kernel.name).collect(),
            }
        })
    }

    /// Whether there is a tier of this name, this CPU has it, and it is not switched off.
    fn check_tier(&self, name: &str) -> Result<(), Unsupported> {
        let known = self.info.tiers.clone();
        let Ok(tier) = name.parse::<Tier>() else {
            return Err(Unsupported::Kernel { device: ID.to_owned(), what: format!("tier {name}"), known });
        };
        let missing = tier.missing();
        match tier.switch() {
            _ if self.tiers.contains(&tier) => Ok(()),
            Some(variable) if missing.is_empty() => {
                Err(Unsupported::SwitchedOff { tier: tier.to_string(), variable: variable.to_owned() })
            }
            _ => Err(Unsupported::Missing { tier: tier.to_string(), missing: missing.join(", "), known }),
        }
    }

    /// Threads for batches of `shape`: of those that are wished for, as many as find work. Whoever wishes for a chunk as
    /// well divides the work by hand, for whatever batches the session is to run.
    fn threads(&self, shape: &Shape, wish: &Wish, tier: Tier, entry: &Entry) -> usize {
        match (wish.threads, wish.chunk) {
            (None, _) => self.default_threads(shape, tier, entry),
            (Some(threads), Some(_)) => threads,
            (Some(threads), None) => with_work(threads, shape, entry),
        }
    }

    /// Threads for batches of `shape`, where nobody insists: one, or all. No number between, though no more may find work:
    /// sessions are kept by their plan. Nor more than a quota lets work at a time.
    fn default_threads(&self, shape: &Shape, tier: Tier, entry: &Entry) -> usize {
        let is_small = batch_cost(shape) <= Grain::of(tier).alone;
        if is_small || with_work(2, shape, entry) == 1 { 1 } else { self.topology.at_once() }
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Device for Cpu {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.entries(shape.algorithm, shape.operation).map(|(kernel, ..)| kernel).collect()
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        wish.check_no_geometry(ID)?;
        let (kernel, tier, entry) = self.choose(shape.algorithm, shape.operation, wish)?;
        let threads = self.threads(shape, wish, tier, &entry);
        let chunk = wish.chunk.unwrap_or_else(|| Grain::of(tier).chunk(shape, threads));
        check_numbers(wish.threads.unwrap_or(threads), chunk)?;
        Ok(Plan {
            device: ID.to_owned(),
            algorithm: shape.algorithm,
            operation: shape.operation,
            kernel: kernel.name,
            tier: kernel.tier,
            lanes: kernel.lanes,
            threads,
            chunk,
            geometry: None,
            constant_time: kernel.constant_time,
        })
    }

    /// One thread takes the same chunk, whatever the shape.
    fn serves(&self, plan: &Plan, shape: &Shape, wish: &Wish) -> bool {
        let is_small = || plan.tier.parse().is_ok_and(|tier| batch_cost(shape) <= Grain::of(tier).alone);
        plan.threads == 1 && wish.threads.map_or_else(is_small, |threads| threads == 1)
    }

    fn on_threads(&self, wish: &Wish, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        match self.pools.there(wish.threads.unwrap_or_else(|| self.topology.at_once())) {
            Some(pool) => pool.lend_idle(|threads| threads.run(parts, work)),
            None => cipherlane_core::alone(parts, work),
        }
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let entry = self.check_plan(plan)?;
        let pool = self.pools.of(plan.threads, &self.topology);
        let pool = pool.map_err(|error| crew::not_started(plan.threads, &error))?;
        let second = self.caches.second.filter(|_| (self.gains)(plan.algorithm));
        Ok(Box::new(CpuSession::new(plan, entry, pool, Caches { second, ..self.caches })))
    }
}

impl Cpu {
    /// The kernel of `plan` by itself, on the calling thread: for tests, which cut closer than a session does. It has
    /// messages in segments of `segment` bytes, any multiple of 16, or whole.
    ///
    /// # Errors
    /// Where [`Device::open`] refuses the plan.
    ///
    /// # Panics
    /// If segments are not whole blocks.
    #[doc(hidden)]
    pub fn open_bare(&self, plan: &Plan, segment: Option<usize>) -> Result<Box<dyn Session>, DeviceError> {
        let kernel = self.check_plan(plan)?.kernel;
        Ok(Box::new(Bare::new((plan.algorithm, plan.operation), kernel, segment)))
    }

    /// The kernel of `plan`, which may have been written by hand.
    fn check_plan(&self, plan: &Plan) -> Result<Entry, Unsupported> {
        if plan.device != ID {
            let what = format!("plans of device {}", plan.device);
            return Err(Unsupported::Kernel { device: ID.to_owned(), what, known: vec![ID.to_owned()] });
        }
        let (tier, kernel) = (Some(plan.tier.clone()), Some(plan.kernel.clone()));
        let wish = Wish { tier, kernel, ..Wish::default() };
        let (kernel, _, entry) = self.choose(plan.algorithm, plan.operation, &wish)?;
        if plan.lanes != kernel.lanes {
            let wanted = format!("{}, as in {}", kernel.lanes, kernel.name);
            return Err(Unsupported::Range { what: "lanes", wanted, found: plan.lanes });
        }
        if plan.constant_time != kernel.constant_time {
            let what = format!("a plan of {} with constant_time: {}", kernel.name, plan.constant_time);
            return Err(Unsupported::Kernel { device: ID.to_owned(), what, known: vec![kernel.name] });
        }
        check_numbers(plan.threads, plan.chunk)?;
        Ok(entry)
    }
}

/// [`Gains`] on this CPU, as far as somebody has measured them.
#[cfg(target_arch = "x86_64")]
fn gains_by_prefetches(algorithm: Algorithm) -> bool {
    crate::microarchitecture::Microarchitecture::of_this_cpu().gains_by_prefetches(algorithm)
}

#[cfg(not(target_arch = "x86_64"))]
fn gains_by_prefetches(_: Algorithm) -> bool {
    false
}

fn described(name: String, tier: Tier, entry: &Entry, constant_time: bool) -> Kernel {
    Kernel { name, tier: tier.name().to_owned(), lanes: entry.lanes, constant_time }
}

fn check_numbers(threads: usize, chunk: usize) -> Result<(), Unsupported> {
    if !(1..=MAX_THREADS).contains(&threads) {
        let wanted = format!("1 to {MAX_THREADS}");
        return Err(Unsupported::Range { what: "threads", wanted, found: threads });
    }
    if chunk < MIN_CHUNK {
        let wanted = format!("{MIN_CHUNK} bytes or more");
        return Err(Unsupported::Range { what: "chunk", wanted, found: chunk });
    }
    Ok(())
}

/// How much work is worth a thread.
struct Grain {
    /// What a batch may cost before a second thread is asked in.
    alone: u64,
    /// Most bytes of a chunk.
    chunk: usize,
}

impl Grain {
    /// Measured on two cores with AES-128-GCM: a thread that has to be woken makes up for it from 256 KiB on, and
    /// cutting a long message costs some microseconds a segment, which 256 KiB hide and 16 KiB do not.
    const fn of(tier: Tier) -> Self {
        match tier {
            // Takes at least sixteen times as long for a byte.
            Tier::Portable => Self { alone: 16 << 10, chunk: 16 << 10 },
            Tier::Sse | Tier::Avx2 | Tier::Avx512 => Self { alone: 256 << 10, chunk: 256 << 10 },
        }
    }

    /// The largest of four chunks that leaves each thread two, so that one that is held up has its share taken
    /// over. Four, not any number: sessions are kept by their plan.
    fn chunk(&self, shape: &Shape, threads: usize) -> usize {
        if threads == 1 {
            return self.chunk;
        }
        let parts = [1, 4, 8, 16].map(|part| (self.chunk / part).max(MIN_CHUNK));
        let leaves_two = |chunk: &usize| batch_cost(shape) / *chunk as u64 / 2 >= threads as u64;
        parts.into_iter().find(leaves_two).unwrap_or(parts[3])
    }
}

/// What a batch costs of what threads share out. The AAD of a message is hashed by one thread, and its digest is written
/// by one, however long they are: a message by itself has nothing in them for a second thread.
fn batch_cost(shape: &Shape) -> u64 {
    let messages = split::message_cost(shape.shared_key).saturating_mul(shape.messages as u64);
    let beside = if shape.messages > 1 { shape.beside } else { 0 };
    shape.bytes.saturating_add(messages).saturating_add(beside)
}

/// How many of `threads` threads find work in a batch of `shape`. A message that cannot be cut is one chain, and
/// `Split::whole` leaves each thread as many of them as the kernel has lanes, or fewer that are long.
fn with_work(threads: usize, shape: &Shape, entry: &Entry) -> usize {
    let shares = usize::try_from(batch_cost(shape) / split::SHARE).unwrap_or(usize::MAX);
    let tasks = shape.messages.div_ceil(entry.lanes).max(shares.min(shape.messages)).max(1);
    if threads <= tasks || are_cut(shape, entry) { threads } else { tasks }
}

/// Whether messages of `shape` are cut. One by itself is run under its key, be that its own or shared: what a session does
/// with it does not depend on that.
fn are_cut(shape: &Shape, entry: &Entry) -> bool {
    let key = vec![0; shape.algorithm.key_bytes()];
    let has_one_key = shape.shared_key || shape.messages == 1;
    entry.kernel.worker(has_one_key.then_some(&key)).segments().is_some()
}
