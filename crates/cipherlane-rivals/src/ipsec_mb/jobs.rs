//! Messages as jobs of a manager.
#![allow(unsafe_code)] // jobs point to what they read and write

use std::ffi::{c_int, c_void};
use std::ptr::null;

use cipherlane_core::{Algorithm, Cipher, Hash, Mode, Operation};
use zeroize::Zeroize;

use super::manager::{COMPLETED, Job, Kind, Manager, Managers, NO_CIPHER};
use crate::each::Limits;
use crate::message::{Context, Fault, Message, Part, Tag};

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

    /// Whether bursts of `managers` take it.
    pub(super) fn has_burst(&self, managers: &Managers) -> bool {
        managers.bursts_all() || matches!(self.kind.cipher, 1 | 2)
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
    /// Jobs for a burst; none where each is submitted by itself.
    burst: Option<Vec<u64>>,
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
        let burst = in_bursts.then(|| vec![0; BURST * manager.job_bytes() / size_of::<u64>()]);
        let schedules = std::iter::repeat_with(empty).take(schedules).collect();
        Self { manager, suite, schedules, current: 0, burst }
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

    /// Runs messages that fill no more than one burst.
    fn run<'p>(
        &mut self,
        messages: impl Iterator<Item = (Option<&'p [u8]>, Message<'p>)>,
    ) -> Result<(), Fault> {
        let (mut submitted, mut done) = (0, 0);
        for (place, (key, mut message)) in messages.enumerate() {
            if let Some(key) = key {
                self.expand(key, place);
            }
            if is_nothing(&message) {
                continue;
            }
            let (keys, kind) = (self.keys(), self.suite.kind);
            let mut fill = |job: &mut Job| fill(job, &kind, keys, &mut message);
            if let Some(burst) = &mut self.burst {
                let start = submitted * self.manager.job_bytes() / size_of::<u64>();
                // SAFETY: there is room for as many jobs as a burst has, of the library's size, which is a job's and more;
                // every pattern of bits is a job.
                fill(unsafe { &mut *burst.as_mut_ptr().add(start).cast() });
            } else if let Some(status) = self.manager.submit(&mut fill) {
                succeed(status)?;
                done += 1;
            }
            submitted += 1;
        }
        self.end(submitted, done)
    }

    /// Waits for the rest of `submitted` jobs, of which some are `done`.
    fn end(&mut self, submitted: usize, mut done: usize) -> Result<(), Fault> {
        if let Some(burst) = self.burst.as_mut().filter(|_| submitted > 0) {
            let count = u32::try_from(submitted).unwrap_or_default();
            // SAFETY: as many jobs were filled, with what messages of the part have that is being run.
            done = unsafe { self.manager.burst(burst.as_mut_ptr().cast(), count, &self.suite.kind) } as usize;
        } else {
            while let Some(status) = self.manager.flush() {
                succeed(status)?;
                done += 1;
            }
        }
        if done == submitted { Ok(()) } else { Err("a burst of jobs") }
    }
}

/// A message of no bytes: jobs are of one and more, but for hashes.
fn is_nothing(message: &Message<'_>) -> bool {
    message.out.is_empty() && !matches!(message.tag, Tag::Make(_))
}

fn succeed(status: c_int) -> Result<(), Fault> {
    if status == COMPLETED { Ok(()) } else { Err("submit_job") }
}

fn fill(job: &mut Job, kind: &Kind, keys: (*const c_void, *const c_void), message: &mut Message<'_>) {
    let text = message.source.map_or(message.out.len(), <[u8]>::len) as u64;
    job.source = message.source.map_or(message.out.as_ptr(), <[u8]>::as_ptr);
    job.destination = message.out.as_mut_ptr();
    (job.encryption_keys, job.decryption_keys) = keys;
    job.key_bytes = u64::try_from(kind.key_bytes).unwrap_or_default();
    (job.cipher, job.direction, job.hash) = (kind.cipher, kind.direction, kind.hash);
    (job.cipher_start, job.hash_start) = (0, 0);
    (job.iv, job.iv_bytes) = (message.nonce.as_ptr(), message.nonce.len() as u64);
    if let Tag::Make(digest) = &mut message.tag {
        (job.tag, job.tag_bytes) = (digest.as_mut_ptr(), digest.len() as u64);
        (job.hash_bytes, job.cipher_bytes, job.order) = (text, 0, HASH_FIRST);
    } else {
        (job.hash_bytes, job.cipher_bytes, job.order) = (0, text, CIPHER_FIRST);
    }
}

impl Context for Jobs {
    fn part(&mut self, part: &mut Part<'_>) -> Result<(), Fault> {
        let (mut messages, _) = part.messages();
        while messages.len() > 0 {
            self.run(messages.by_ref().take(BURST))?;
        }
        Ok(())
    }
}
