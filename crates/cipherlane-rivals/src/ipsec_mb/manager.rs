//! The library's manager, which runs jobs: `IMB_MGR` and `IMB_JOB` as far as ciphers and hashes need them.
//!
//! Both are structures of C whose members callers reach by macros. What is named here lies where it lay in version 1.3,
//! up to and with 3.0 in development; what has moved is found by the version.
#![allow(unsafe_code)] // the library is C

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null_mut};

use libloading::Library as Shared;

use crate::intel_gcm::{Pre, Run};
use crate::message::Fault;
use crate::shared::symbol;

/// `IMB_JOB`, whose later members concern other algorithms.
#[repr(C)]
pub(super) struct Job {
    pub(super) encryption_keys: *const c_void,
    pub(super) decryption_keys: *const c_void,
    pub(super) key_bytes: u64,
    pub(super) source: *const u8,
    pub(super) destination: *mut u8,
    pub(super) cipher_start: u64,
    pub(super) cipher_bytes: u64,
    pub(super) hash_start: u64,
    pub(super) hash_bytes: u64,
    pub(super) iv: *const u8,
    pub(super) iv_bytes: u64,
    pub(super) tag: *mut u8,
    pub(super) tag_bytes: u64,
    of_the_hash: [u64; 3],
    pub(super) status: c_int,
    pub(super) cipher: c_int,
    pub(super) direction: c_int,
    pub(super) hash: c_int,
    pub(super) order: c_int,
}

/// `IMB_STATUS_COMPLETED`.
pub(super) const COMPLETED: c_int = 3;

type NextJob = unsafe extern "C" fn(*mut State) -> *mut Job;
/// `aes_keyexp_*`: key, round keys of encryption, round keys of decryption.
type ExpandKey = unsafe extern "C" fn(*const u8, *mut c_void, *mut c_void);
/// `get_next_burst`, `submit_burst`, `flush_burst`: a number of jobs, and where pointers to them are or go. Each returns
/// how many it has put there.
type QueueBurst = unsafe extern "C" fn(*mut State, u32, *mut *mut Job) -> u32;
/// `submit_cipher_burst_nocheck`: jobs, their number, cipher, direction, bytes of a key. Returns how many are done.
type CipherBurst = unsafe extern "C" fn(*mut State, *mut c_void, u32, c_int, c_int, c_int) -> u32;
/// `submit_hash_burst_nocheck`: jobs, their number, hash.
type HashBurst = unsafe extern "C" fn(*mut State, *mut c_void, u32, c_int) -> u32;

/// `IMB_MGR`. Its header says that pointers to functions are only added at its end.
#[repr(C)]
struct State {
    flags: u64,
    features: u64,
    reserved: [u64; 5],
    architecture: u32,
    error: c_int,
    next_job: NextJob,
    submit_job: NextJob,
    submit_job_nocheck: NextJob,
    completed_job: NextJob,
    flush_job: NextJob,
    queue_size: unsafe extern "C" fn(*mut State) -> u32,
    /// For keys of 16, 24 and 32 bytes.
    expand_key: [ExpandKey; 3],
}

/// The functions of `IMB_MGR` for bursts: first those for its queue, which take jobs of any kind, then those for arrays.
#[repr(C)]
#[derive(Clone, Copy)]
struct BurstFunctions {
    next: QueueBurst,
    submit: QueueBurst,
    submit_nocheck: QueueBurst,
    flush: QueueBurst,
    cipher: CipherBurst,
    cipher_nocheck: CipherBurst,
    hash: HashBurst,
    hash_nocheck: HashBurst,
}

/// The functions of `IMB_MGR` for GCM, each for keys of 16, 24 and 32 bytes.
#[repr(C)]
struct GcmFunctions {
    seal: [Option<Run>; 3],
    open: [Option<Run>; 3],
    /// For texts that come in pieces, and other forms of a key.
    others: [*const c_void; 18],
    pre: [Option<Pre>; 3],
}

/// What differs between versions, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Of an `IMB_JOB`.
    job: usize,
    /// From the start of an `IMB_MGR` to its functions for GCM; `None` where all of these are exported, or it is not
    /// known.
    gcm: Option<usize>,
    /// `None` where it is not known.
    bursts: Option<Bursts>,
}

/// Where the functions for bursts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bursts {
    /// From the start of an `IMB_MGR` to its functions for bursts.
    start: usize,
    /// Whether arrays may be of ECB and plain hashes, too.
    take_all: bool,
}

impl Layout {
    /// That of a version, `v1.3.0` or `2.0.1` for example. One in development has the same name for months, in which what
    /// follows the functions for jobs moves.
    fn of(version: &str) -> Option<Self> {
        let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let (job, gcm, start, take_all) = match (major, minor) {
            (1, 3) => (200, Some(256), 952, false),
            (1, 4 | 5) => (240, Some(256), 952, false),
            (2, 0) => (216, Some(256), 952, true),
            (3, 0) => (200, None, 928, true),
            _ => return None,
        };
        let is_fixed = !version.ends_with("-dev");
        let bursts = is_fixed.then_some(Bursts { start, take_all });
        Some(Self { job, gcm: gcm.filter(|_| is_fixed), bursts })
    }
}

/// What makes managers.
pub(super) struct Managers {
    alloc: unsafe extern "C" fn(u64) -> *mut State,
    init: unsafe extern "C" fn(*mut State, *mut c_int),
    free: unsafe extern "C" fn(*mut State),
    layout: Layout,
}

/// The library's version in its own words.
pub(super) fn version(library: &'static Shared) -> Result<String, &'static str> {
    // SAFETY: takes nothing and returns a static C string.
    unsafe {
        let get: unsafe extern "C" fn() -> *const c_char = symbol(library, "imb_get_version_str")?;
        Ok(CStr::from_ptr(get()).to_string_lossy().into_owned())
    }
}

impl Managers {
    /// Those of `library`, where its version is one whose layout is known.
    pub(super) fn of(library: &'static Shared, version: &str) -> Option<Self> {
        let layout = Layout::of(version)?;
        // SAFETY: the types of intel-ipsec-mb.h since version 1.0.
        unsafe {
            Some(Self {
                alloc: symbol(library, "alloc_mb_mgr").ok()?,
                init: symbol(library, "init_mb_mgr_auto").ok()?,
                free: symbol(library, "free_mb_mgr").ok()?,
                layout,
            })
        }
    }

    /// Whether there are bursts, which take jobs of all kinds in one way or the other.
    pub(super) fn have_bursts(&self) -> bool {
        self.layout.bursts.is_some()
    }

    /// The functions for GCM that a manager takes on this CPU, where their place is known: some are not exported. By
    /// length of key: what expands it, what seals, what opens.
    pub(super) fn gcm(&self) -> Option<[(Pre, Run, Run); 3]> {
        let at = self.layout.gcm?;
        let state = self.state().ok()?;
        // SAFETY: the version's layout has these functions there, or null; they are the library's, which stays loaded.
        let functions = unsafe {
            let functions = state.as_ptr().cast::<u8>().add(at).cast::<GcmFunctions>().read();
            (self.free)(state.as_ptr());
            functions
        };
        let of =
            |length: usize| Some((functions.pre[length]?, functions.seal[length]?, functions.open[length]?));
        Some([of(0)?, of(1)?, of(2)?])
    }

    /// A manager for the best instructions of this CPU.
    pub(super) fn start(&'static self) -> Result<Manager, Fault> {
        Ok(Manager { managers: self, state: self.state()? })
    }

    /// The state of a manager, to be freed.
    fn state(&self) -> Result<NonNull<State>, Fault> {
        // SAFETY: memory that `alloc` has made is what `init` takes; null means that there is none.
        unsafe {
            let state = NonNull::new((self.alloc)(0)).ok_or("alloc_mb_mgr")?;
            (self.init)(state.as_ptr(), null_mut());
            // One that was not initialised has no functions, and is not to be looked at as if it had.
            if (&raw const (*state.as_ptr()).error).read() != 0 {
                (self.free)(state.as_ptr());
                return Err("init_mb_mgr_auto");
            }
            Ok(state)
        }
    }
}

/// A manager: jobs are its own, and those that it is lent for a burst.
pub(super) struct Manager {
    managers: &'static Managers,
    state: NonNull<State>,
}

// SAFETY: a manager is used by one thread at a time, through `&mut self`.
unsafe impl Send for Manager {}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the manager is live and not used afterwards; no job is in it.
        unsafe { (self.managers.free)(self.state.as_ptr()) }
    }
}

impl Manager {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(super) fn expand_key(&mut self, key: &[u8], encryption: &mut [u8; 256], decryption: &mut [u8; 256]) {
        let (encryption, decryption) = (encryption.as_mut_ptr().cast(), decryption.as_mut_ptr().cast());
        // SAFETY: the manager is live; 15 round keys at most are written.
        unsafe { (self.state.as_ref().expand_key[key.len() / 8 - 2])(key.as_ptr(), encryption, decryption) }
    }

    /// Has `fill` fill the library's next job, and submits it. Returns a job that is done meanwhile, by its status.
    pub(super) fn submit(&mut self, fill: impl FnOnce(&mut Job)) -> Option<c_int> {
        let state = self.state.as_ptr();
        // SAFETY: the manager is live, and its next job, which is always there, is nobody else's until it is submitted.
        unsafe {
            fill(&mut *((*state).next_job)(state));
            status(((*state).submit_job_nocheck)(state))
        }
    }

    /// Ends a job that was submitted, if one is left, and returns its status.
    pub(super) fn flush(&mut self) -> Option<c_int> {
        let state = self.state.as_ptr();
        // SAFETY: the manager is live.
        unsafe { status(((*state).flush_job)(state)) }
    }

    /// Whether bursts in arrays take jobs of this kind: AES-CBC and AES-CTR, or whatever jobs do.
    pub(super) fn takes_arrays(&self, kind: &Kind) -> bool {
        self.managers.layout.bursts.is_some_and(|bursts| bursts.take_all || matches!(kind.cipher, 1 | 2))
    }

    /// Bytes of an `IMB_JOB` in an array.
    pub(super) fn job_bytes(&self) -> usize {
        self.managers.layout.job
    }

    /// The functions for bursts.
    ///
    /// # Panics
    /// If it is not known where this version has them.
    fn bursts(&self) -> BurstFunctions {
        let bursts = self.managers.layout.bursts.expect("a way by bursts is one of versions that have them");
        // SAFETY: the manager is live, and the version's layout has these functions there.
        unsafe { self.state.as_ptr().cast::<u8>().add(bursts.start).cast::<BurstFunctions>().read() }
    }

    /// Runs `count` jobs of an array, all of `job`'s kind, and returns how many were done.
    ///
    /// # Panics
    /// If the library has no burst for this kind.
    ///
    /// # Safety
    /// There are as many jobs, and what they point to can be read and written.
    pub(super) unsafe fn burst(&mut self, jobs: *mut c_void, count: u32, job: &Kind) -> u32 {
        let (state, bursts) = (self.state.as_ptr(), self.bursts());
        // SAFETY: the functions take jobs of this kind; the rest is the caller's promise.
        unsafe {
            if job.cipher == NO_CIPHER {
                (bursts.hash_nocheck)(state, jobs, count, job.hash)
            } else {
                (bursts.cipher_nocheck)(state, jobs, count, job.cipher, job.direction, job.key_bytes)
            }
        }
    }

    /// Puts the next jobs of the queue, which nobody else has until they are submitted, into `jobs`; returns how many.
    pub(super) fn next_jobs(&mut self, jobs: &mut [*mut Job]) -> usize {
        let (state, next) = (self.state.as_ptr(), self.bursts().next);
        // SAFETY: the manager is live, and there is room for as many pointers.
        unsafe { next(state, length(jobs), jobs.as_mut_ptr()) as usize }
    }

    /// Submits `jobs`, in whose place those come that are done meanwhile; returns how many.
    ///
    /// # Safety
    /// They are the first of [`Manager::next_jobs`], were filled, and what they point to can be read and written until
    /// they come back.
    pub(super) unsafe fn submit_jobs(&mut self, jobs: &mut [*mut Job]) -> usize {
        let (state, submit) = (self.state.as_ptr(), self.bursts().submit_nocheck);
        // SAFETY: the caller's promise.
        unsafe { submit(state, length(jobs), jobs.as_mut_ptr()) as usize }
    }

    /// Ends jobs that were submitted, as many as `jobs` has room for, and puts them there; returns how many.
    pub(super) fn flush_jobs(&mut self, jobs: &mut [*mut Job]) -> usize {
        let (state, flush) = (self.state.as_ptr(), self.bursts().flush);
        // SAFETY: the manager is live, and there is room for as many pointers.
        unsafe { flush(state, length(jobs), jobs.as_mut_ptr()) as usize }
    }
}

/// Of a list that is no longer than a burst.
fn length(jobs: &[*mut Job]) -> u32 {
    u32::try_from(jobs.len()).unwrap_or_default()
}

/// The status of a job that was returned.
///
/// # Safety
/// `job` is null or one that the library has returned.
pub(super) unsafe fn status(job: *const Job) -> Option<c_int> {
    // SAFETY: the caller's promise.
    unsafe { job.as_ref() }.map(|job| job.status)
}

/// `IMB_CIPHER_NULL`: a job that is a hash alone.
pub(super) const NO_CIPHER: c_int = 3;

/// What a job does, by the numbers of intel-ipsec-mb.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// `IMB_CIPHER_MODE`.
    pub(super) cipher: c_int,
    /// `IMB_CIPHER_DIRECTION`.
    pub(super) direction: c_int,
    /// `IMB_HASH_ALG`.
    pub(super) hash: c_int,
    /// Of a key; 0 for a hash.
    pub(super) key_bytes: c_int,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_known_by_version() {
        let of = |version| {
            let layout = Layout::of(version)?;
            Some((layout.job, layout.gcm, layout.bursts.map(|bursts| (bursts.start, bursts.take_all))))
        };
        assert_eq!(of("v1.3.0"), Some((200, Some(256), Some((952, false)))));
        assert_eq!(of("1.5"), Some((240, Some(256), Some((952, false)))));
        assert_eq!(of("v2.0.1"), Some((216, Some(256), Some((952, true)))));
        assert_eq!(of("3.0.0"), Some((200, None, Some((928, true)))));
        assert_eq!(of("3.0.0-dev"), Some((200, None, None)));
        assert_eq!([of("v1.2.0"), of("v4.0.0"), of("unknown"), of("")], [None; 4]);
    }

    #[test]
    fn members_lie_where_the_header_has_them() {
        use std::mem::offset_of;
        let job =
            [offset_of!(Job, iv), offset_of!(Job, tag), offset_of!(Job, status), offset_of!(Job, order)];
        assert_eq!(job, [72, 88, 128, 144]);
        let state =
            [offset_of!(State, next_job), offset_of!(State, flush_job), offset_of!(State, expand_key)];
        assert_eq!(state, [64, 96, 112]);
        // From 952, 992 and 1008 in versions 1.3 to 2.0, and from 256, 280 and 448.
        let bursts = [offset_of!(BurstFunctions, cipher_nocheck), offset_of!(BurstFunctions, hash_nocheck)];
        assert_eq!(bursts, [992 - 952, 1008 - 952]);
        let gcm = [offset_of!(GcmFunctions, open), offset_of!(GcmFunctions, pre)];
        assert_eq!(gcm, [280 - 256, 448 - 256]);
    }
}
