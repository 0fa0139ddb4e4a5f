//! A load on a device: hashing in turns with resting, in a loop that is closed over the device's own times.

use std::time::{Duration, Instant};

use cipherlane::{
    Algorithm, Batch, Device, DeviceError, Hash, Messages, Operation, Output, Plan, Resident, Session, Shape,
    Source, Wish,
};

use super::workers::{Desk, Since, Workers};
use super::{Debt, LoadError, check};

/// What makes the load: of all algorithms here one of the dearest per byte moved, and its digests are short.
const HASH: Hash = Hash::Sha3_512;
const DIGEST_BYTES: usize = 64;
/// Bytes of one message, and of a batch at most.
const MESSAGE_BYTES: usize = 4 << 10;
const MOST_MESSAGES: usize = (64 << 20) / MESSAGE_BYTES;
/// Threads of a block, however large the batch: a kernel is compiled for each number of them.
const BLOCK_THREADS: usize = 64;
/// Batches grow until one keeps the device busy for so long: several times the cost of launching it, and short by
/// the side of a period of any measured job that wants its turn.
const BUSY: Duration = Duration::from_millis(2);
/// Batches that are timed to see how busy they keep the device.
const TRIES: u32 = 4;
/// More sessions than this do not make more load: their threads would only wait for each other.
const MOST_SESSIONS: usize = 8;

/// Keeps a device busy for a part of the time.
///
/// Its share is of the time in which kernels of the load ran, by the device's events. Their texts stay on the device: a load
/// that brings them would take the link and the host's CPUs as well. Where one session alone does not fill the device, as
/// many run as the share needs.
#[derive(Debug)]
pub struct GpuLoad {
    workers: Workers,
    requested: f64,
}

/// A session with the batch that it hashes.
struct Hasher {
    way: Way,
    texts: Texts,
}

/// Where the batch lies.
enum Way {
    /// In the memory of the device.
    There(Box<dyn Resident>),
    /// In the host's, which is the device's.
    Here(Box<dyn Session>),
}

/// The batch, and what comes out.
struct Texts {
    text: Vec<u8>,
    offsets: Vec<u64>,
    digests: Vec<u8>,
}

impl GpuLoad {
    /// Starts to keep `device` busy for `share` of the time.
    ///
    /// # Errors
    /// If `share` is no part of 1, the device cannot hash, or no threads can be had.
    pub fn start(device: &dyn Device, share: f64) -> Result<Self, LoadError> {
        check(share)?;
        let mut workers = Workers::default();
        if share > 0.0 {
            let (mut hasher, alone) = Hasher::grown(device)?;
            let sessions = sessions(share, alone);
            let messages = hasher.texts.offsets.len() - 1;
            for _ in 1..sessions {
                let mut other = Hasher::open(device, messages)?;
                workers.add("device load", move |desk| work(desk, share / sessions as f64, &mut other))?;
            }
            workers.add("device load", move |desk| work(desk, share / sessions as f64, &mut hasher))?;
        }
        Ok(Self { workers, requested: share })
    }

    /// The share that was asked for.
    #[must_use]
    pub const fn requested(&self) -> f64 {
        self.requested
    }

    /// Now, to ask later what was reached since.
    #[must_use]
    pub fn now(&self) -> Since {
        self.workers.now()
    }

    /// The part of the time in which the load's kernels ran since then.
    #[must_use]
    pub fn achieved(&self, since: Since) -> f64 {
        self.workers.rate(since)
    }
}

/// Sessions for `share` of a device that one alone keeps busy for `alone` of the time.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small positive number
fn sessions(share: f64, alone: f64) -> usize {
    // A tenth more, for sessions get into each other's way.
    ((1.1 * share / alone.max(0.01)).ceil() as usize).clamp(1, MOST_SESSIONS)
}

impl Hasher {
    fn open(device: &dyn Device, messages: usize) -> Result<Self, DeviceError> {
        let plan = plan(device, messages)?;
        let mut texts = Texts::new(messages);
        let way = match device.resident(&plan)? {
            Some(mut resident) => {
                texts.with(|batch, output| resident.load(batch, output))?;
                Way::There(resident)
            }
            None => Way::Here(device.open(&plan)?),
        };
        Ok(Self { way, texts })
    }

    /// A session whose batch keeps the device busy for long enough, and the part of the time for which it does when it
    /// never rests.
    fn grown(device: &dyn Device) -> Result<(Self, f64), DeviceError> {
        let mut messages = 64;
        loop {
            let mut hasher = Self::open(device, messages)?;
            hasher.run()?;
            let (start, mut busy) = (Instant::now(), Duration::ZERO);
            for _ in 0..TRIES {
                busy += hasher.run()?;
            }
            if busy / TRIES >= BUSY || messages >= MOST_MESSAGES {
                return Ok((hasher, busy.as_secs_f64() / start.elapsed().as_secs_f64()));
            }
            messages *= 4;
        }
    }

    /// Hashes the batch once; how long the device's kernels ran.
    fn run(&mut self) -> Result<Duration, DeviceError> {
        let spans = match &mut self.way {
            Way::There(resident) => resident.execute()?,
            Way::Here(session) => self.texts.with(|batch, output| session.run(batch, output))?,
        };
        Ok(spans.execute)
    }
}

impl Texts {
    fn new(messages: usize) -> Self {
        Self {
            text: vec![0x5a; messages * MESSAGE_BYTES],
            offsets: (0..=messages).map(|message| (message * MESSAGE_BYTES) as u64).collect(),
            digests: vec![0; messages * DIGEST_BYTES],
        }
    }

    /// Has `take` take them.
    fn with<T>(&mut self, take: impl FnOnce(&Batch<'_>, &mut Output<'_>) -> T) -> T {
        let messages = Messages { source: Source::Apart(&self.text), offsets: &self.offsets };
        take(&Batch::hash(HASH, messages, DIGEST_BYTES), &mut Output::digests(&mut self.digests))
    }
}

/// How `device` hashes so many messages.
fn plan(device: &dyn Device, messages: usize) -> Result<Plan, DeviceError> {
    let algorithm = Algorithm::Hash(HASH);
    let shape = Shape::uniform(algorithm, Operation::Hash, messages, MESSAGE_BYTES as u64, true);
    let plan = device.plan(&shape, &Wish::default())?;
    if plan.geometry.is_none() {
        return Ok(plan);
    }
    Ok(device.plan(&shape, &Wish { threads_per_block: Some(BLOCK_THREADS), ..Wish::default() })?)
}

fn work(desk: &Desk, share: f64, hasher: &mut Hasher) {
    let mut done = Duration::ZERO;
    let mut debt = Debt::new(share, 20 * BUSY);
    while !desk.stopped() {
        let owed = debt.owed(desk.start.elapsed(), done);
        if owed.is_zero() {
            // Half of what one batch takes: the next is due soon.
            desk.rest_until(Instant::now() + BUSY / 2);
            continue;
        }
        // A device that fails makes no load, which shows in what was reached.
        let Ok(busy) = hasher.run() else { return };
        done += busy;
        desk.tell(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cipherlane::Cpu;
    use std::thread;

    #[test]
    fn as_many_sessions_run_as_the_share_needs() {
        assert_eq!(sessions(0.25, 0.9), 1);
        assert_eq!(sessions(0.75, 0.25), 4);
        assert_eq!(sessions(1.0, 0.0), MOST_SESSIONS);
    }

    /// On the CPU as the device, which every machine that runs tests has.
    #[test]
    fn a_device_is_kept_busy_and_no_more_than_asked_for() {
        let cpu = Cpu::new();
        let load = GpuLoad::start(&cpu, 0.3).unwrap();
        let start = load.now();
        let pause = Duration::from_millis(200);
        let window = |_| {
            let since = load.now();
            thread::sleep(pause);
            load.achieved(since)
        };
        // Other programs steal time from the batches, which then count as longer than they are; not in every window.
        let lowest = (0..5).map(window).fold(f64::INFINITY, f64::min);
        assert!(lowest < 0.6, "{lowest}");
        assert!((0..100).any(|_| {
            thread::sleep(pause);
            load.achieved(start) > 0.0
        }));
    }

    #[test]
    fn a_device_that_cannot_hash_is_an_error() {
        struct Unable(cipherlane::Info);
        impl Device for Unable {
            fn info(&self) -> &cipherlane::Info {
                &self.0
            }
            fn kernels(&self, _: &Shape) -> Vec<cipherlane::Kernel> {
                Vec::new()
            }
            fn plan(&self, shape: &Shape, _: &Wish) -> Result<Plan, cipherlane::Unsupported> {
                let (device, what) = (self.0.id.clone(), shape.algorithm.to_string());
                Err(cipherlane::Unsupported::Kernel { device, what, known: Vec::new() })
            }
            fn open(&self, _: &Plan) -> Result<Box<dyn Session>, DeviceError> {
                unreachable!("nothing was planned")
            }
        }
        let info = cipherlane::Info {
            id: "unable".to_owned(),
            name: "Unable".to_owned(),
            tiers: Vec::new(),
            threads: 1,
            details: Vec::new(),
        };
        assert!(matches!(GpuLoad::start(&Unable(info), 0.5), Err(LoadError::Device(_))));
    }
}
