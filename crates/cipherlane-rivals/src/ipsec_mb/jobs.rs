//! Messages as jobs of a manager.
#![allow(unsafe_code)] // jobs point to what they read and write

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use cipherlane_core::{Algorithm, Cipher, Hash, Mode, Operation};
use zeroize::Zeroize;

use super::manager::{COMPLETED, Job, Kind, Manager, NO_CIPHER, status};
use crate::limits::Limits;
use crate::message::{Context, Fault, Message, Part, PartMessages, Tag};

/// `IMB_MAX_BURST_SIZE`: jobs that are submitted before their results are asked for.
const BURST: usize = 128;
/// `MB_MAX_LEN16` of the library: the most bytes of texts whose lengths it keeps in lanes of 16 bits.
const LONGEST: usize = (1 << 16) - 2;
/// `IMB_AUTH_NULL`: a job that is a cipher alone.
const NO_HASH: c_int = 8;
/// `IMB_ORDER_CIPHER_HASH` and `IMB_ORDER_HASH_CIPHER`.
const CIPHER_FIRST: c_int = 1;
const HASH_FIRST: c_int = 2;

/// An algorithm and an operation as the library numbers them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suite {
    kind: Kind,
    /// Texts of any length are taken.
    any_length: bool,
    counts: bool,
}

impl Suite {
    /// AES in ECB, CBC and CTR, and SHA-2; `None` for what the library does otherwise or not at all.
    pub(super) fn of(algorithm: Algorithm, operation: Operation) -> Option<Self> {
        let direction = if operation.is_forward() { 1 } else { 2 };
        let (cipher, hash, any_length) = match algorithm {
            Algorithm::Cipher(cipher, mode) if Cipher::AES.contains(&cipher) => match mode {
                Mode::Cbc => (1, NO_HASH, !operation.is_forward()),
                Mode::Ctr => (2, NO_HASH, true),
                Mode::Ecb => (12, NO_HASH, false),
                Mode::Gcm | Mode::Xts => return None,
            },
            Algorithm::Cipher(..) => return None,
            Algorithm::Hash(hash) => (NO_CIPHER, hash_number(hash)?, false),
        };
        let key_bytes = if cipher == NO_CIPHER { 0 } else { c_int::try_from(algorithm.key_bytes()).ok()? };
        let counts = algorithm.mode() == Some(Mode::Ctr);
        Some(Self { kind: Kind { cipher, direction, hash, key_bytes }, any_length, counts })
    }

    /// What the library's checks of jobs let through.
    pub(super) fn limits(&self) -> Limits {
        let longest = if self.any_length { usize::MAX } else { LONGEST };
        Limits { longest, counts_32_bits: self.counts, ..Limits::NONE }
    }
}

/// `IMB_HASH_ALG`.
const fn hash_number(hash: Hash) -> Option<c_int> {
    match hash {
        Hash::Sha224 => Some(14),
        Hash::Sha256 => Some(15),
        Hash::Sha384 => Some(16),
        Hash::Sha512 => Some(17),
        _ => None,
    }
}

/// The round keys of a message.
#[repr(C, align(64))]
struct Schedule {
    encryption: [u8; 256],
    decryption: [u8; 256],
}

/// A manager, with the round keys of the jobs that are under way.
pub(super) struct Jobs {
    manager: Manager,
    suite: Suite,
    schedules: Vec<Schedule>,
    /// Whose round keys messages take.
    current: usize,
    way: Way,
}

/// How jobs come to the manager.
enum Way {
    /// Each by itself, when it is filled.
    One,
    /// In an array of ours, all of a kind.
    Array(Burst),
    /// By the manager's queue, several at once.
    Queue(Box<Queue>),
}

/// Jobs of the manager's queue, while messages are run.
struct Queue([*mut Job; BURST]);

// SAFETY: they are looked at only where their manager is lent, by the one thread that it is lent to.
unsafe impl Send for Queue {}

impl Queue {
    /// Runs the first `submitted` jobs, and says what has become of them.
    ///
    /// # Safety
    /// They are what `manager` has handed out last, were filled, and what they point to can be read and written.
    unsafe fn run(&mut self, manager: &mut Manager, submitted: usize) -> Done {
        let (mut done, jobs) = (Done::default(), &mut self.0[..submitted]);
        // SAFETY: the caller's promise; all come back before this returns, unless the library says that none is left.
        let mut back = unsafe { manager.submit_jobs(jobs) };
        loop {
            for &job in &jobs[..back] {
                // SAFETY: the library has just returned it.
                done.count(unsafe { status(job) });
            }
            if done.jobs >= submitted {
                return done;
            }
            back = manager.flush_jobs(&mut jobs[..submitted - done.jobs]);
            if back == 0 {
                return done;
            }
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        for schedule in &mut self.schedules {
            schedule.encryption.zeroize();
            schedule.decryption.zeroize();
        }
    }
}

impl Jobs {
    pub(super) fn new(manager: Manager, suite: Suite, in_bursts: bool) -> Self {
        let schedules = if suite.kind.cipher == NO_CIPHER { 0 } else { BURST };
        let empty = || Schedule { encryption: [0; 256], decryption: [0; 256] };
        let words = manager.job_bytes() / size_of::<u64>();
        let way = if in_bursts && manager.takes_arrays(&suite.kind) {
            Way::Array(Burst::new(words, &suite.kind))
        } else if in_bursts {
            Way::Queue(Box::new(Queue([null_mut(); BURST])))
        } else {
            Way::One
        };
        let schedules = std::iter::repeat_with(empty).take(schedules).collect();
        Self { manager, suite, schedules, current: 0, way }
    }

    /// Expands `key` for the message that is number `place` of those under way.
    fn expand(&mut self, key: &[u8], place: usize) {
        if let Some(schedule) = self.schedules.get_mut(place) {
            self.manager.expand_key(key, &mut schedule.encryption, &mut schedule.decryption);
            self.current = place;
        }
    }

    /// The round keys for the next message, those of encryption first.
    fn keys(&self) -> (*const c_void, *const c_void) {
        self.schedules.get(self.current).map_or((null(), null()), |schedule| {
            (schedule.encryption.as_ptr().cast(), schedule.decryption.as_ptr().cast())
        })
    }

    /// Runs the next messages, no more than fill a burst.
    #[inline(always)] // messages are not handed over in memory then
    fn run(&mut self, messages: &mut PartMessages<'_>) -> Result<(), Fault> {
        let (mut submitted, mut done) = (0, Done::default());
        let room = match &mut self.way {
            Way::Queue(queue) => self.manager.next_jobs(&mut queue.0[..BURST.min(messages.len())]),
            Way::One | Way::Array(_) => BURST,
        };
        if room == 0 {
            return Err("get_next_burst");
        }
        for place in 0..room {
            let Some((key, mut message)) = messages.next() else { break };
            if let Some(key) = key {
                self.expand(key, place);
            }
            if is_nothing(&message) {
                continue;
            }
            let (keys, kind) = (self.keys(), &self.suite.kind);
            let mut job = |job: &mut Job| {
                fill_kind(job, kind);
                fill(job, keys, &mut message);
            };
            match &mut self.way {
                Way::One => _ = done.count(self.manager.submit(job)),
                // SAFETY: the library has just handed it out, and it is nobody else's until it is submitted.
                Way::Queue(queue) => job(unsafe { &mut *queue.0[submitted] }),
                Way::Array(burst) => fill(burst.job(submitted), keys, &mut message),
            }
            submitted += 1;
        }
        self.end(submitted, done)
    }

    /// Waits for the rest of `submitted` jobs, of which some are `done`. None is left in the manager, whatever has failed.
    fn end(&mut self, submitted: usize, mut done: Done) -> Result<(), Fault> {
        match &mut self.way {
            _ if submitted == 0 => {}
            Way::Array(burst) => {
                let count = u32::try_from(submitted).unwrap_or_default();
                // SAFETY: as many jobs were filled, with what messages of the part have that is being run.
                done.jobs = unsafe { self.manager.burst(burst.start(), count, &self.suite.kind) } as usize;
            }
            // SAFETY: as above.
            Way::Queue(queue) => done = unsafe { queue.run(&mut self.manager, submitted) },
            Way::One => while done.count(self.manager.flush()) {},
        }
        match done {
            Done { have_failed: true, .. } => Err("submit_job"),
            Done { jobs, .. } if jobs != submitted => Err("a burst of jobs"),
            Done { .. } => Ok(()),
        }
    }
}

/// A message of no bytes: jobs are of one and more, but for hashes.
fn is_nothing(message: &Message<'_>) -> bool {
    message.out.is_empty() && !matches!(message.tag, Tag::Make(_))
}

/// Jobs that have come back.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    jobs: usize,
    /// Whether one of them is not completed.
    have_failed: bool,
}

impl Done {
    /// Counts a job that came back, if one has, by its status. Whether one has.
    fn count(&mut self, status: Option<c_int>) -> bool {
        if let Some(status) = status {
            self.jobs += 1;
            self.have_failed |= status != COMPLETED;
        }
        status.is_some()
    }
}

/// Jobs of the library's size, in a row.
struct Burst {
    words: Vec<u64>,
    /// Of a job.
    job_words: usize,
}

impl Burst {
    /// As many as a burst has, of one kind.
    fn new(job_words: usize, kind: &Kind) -> Self {
        let mut burst = Self { words: vec![0; BURST * job_words], job_words };
        (0..BURST).for_each(|place| fill_kind(burst.job(place), kind));
        burst
    }

    /// Job `place` of [`BURST`].
    #[inline(always)]
    fn job(&mut self, place: usize) -> &mut Job {
        let words = &mut self.words[place * self.job_words..][..self.job_words];
        // SAFETY: a job of the library is a `Job` and more, of words, and every pattern of bits is one.
        unsafe { &mut *words.as_mut_ptr().cast() }
    }

    fn start(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }
}

/// Fills in what all jobs of a kind have: the library leaves it as it is.
fn fill_kind(job: &mut Job, kind: &Kind) {
    job.key_bytes = u64::try_from(kind.key_bytes).unwrap_or_default();
    (job.cipher, job.direction, job.hash) = (kind.cipher, kind.direction, kind.hash);
    (job.cipher_start, job.hash_start) = (0, 0);
    (job.hash_bytes, job.cipher_bytes) = (0, 0);
    job.order = if kind.cipher == NO_CIPHER { HASH_FIRST } else { CIPHER_FIRST };
}

/// Fills in what is a message's own.
#[inline(always)]
fn fill(job: &mut Job, keys: (*const c_void, *const c_void), message: &mut Message<'_>) {
    let text = message.source.map_or(message.out.len(), <[u8]>::len) as u64;
    job.source = message.source.map_or(message.out.as_ptr(), <[u8]>::as_ptr);
    job.destination = message.out.as_mut_ptr();
    if let Tag::Make(digest) = &mut message.tag {
        (job.tag, job.tag_bytes) = (digest.as_mut_ptr(), digest.len() as u64);
        job.hash_bytes = text;
    } else {
        (job.encryption_keys, job.decryption_keys) = keys;
        (job.iv, job.iv_bytes) = (message.nonce.as_ptr(), message.nonce.len() as u64);
        job.cipher_bytes = text;
    }
}

impl Context for Jobs {
    fn part(&mut self, part: &mut Part<'_>) -> Result<(), Fault> {
        let (mut messages, _) = part.messages();
        while messages.len() > 0 {
            self.run(&mut messages)?;
        }
        Ok(())
    }
}
