//! The library's manager, which runs jobs: `IMB_MGR` and `IMB_JOB` as far as ciphers and hashes need them.
//!
//! Both are structures of C whose members callers reach by macros. What is named here lies where it lay in version 1.3,
//! up to and with 3.0 in development; what has moved is found by the version.
#![allow(unsafe_code)] // the library is C

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null_mut};

use libloading::Library as Shared;

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

/// What differs between versions, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Of an `IMB_JOB`.
    job: usize,
    /// `None` where it is not known.
    bursts: Option<Bursts>,
}

/// Where the functions for bursts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bursts {
    /// From the start of an `IMB_MGR` to `submit_cipher_burst_nocheck` and to `submit_hash_burst_nocheck`.
    cipher: usize,
    hash: usize,
    /// Whether they take ECB and plain hashes, too.
    take_all: bool,
}

impl Layout {
    /// That of a version, `v1.3.0` or `2.0.1` for example. One in development has the same name for months, in which what
    /// follows the functions for jobs moves.
    fn of(version: &str) -> Option<Self> {
        let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let (job, cipher, take_all) = match (major, minor) {
            (1, 3) => (200, 992, false),
            (1, 4 | 5) => (240, 992, false),
            (2, 0) => (216, 992, true),
            (3, 0) => (200, 968, true),
            _ => return None,
        };
        let is_fixed = !version.ends_with("-dev");
        Some(Self { job, bursts: is_fixed.then_some(Bursts { cipher, hash: cipher + 16, take_all }) })
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

    /// Whether bursts take jobs of this kind: AES-CBC and AES-CTR, or whatever jobs do.
    pub(super) fn have_burst(&self, kind: &Kind) -> bool {
        self.layout.bursts.is_some_and(|bursts| bursts.take_all || matches!(kind.cipher, 1 | 2))
    }

    /// A manager for the best instructions of this CPU.
    pub(super) fn start(&'static self) -> Result<Manager, Fault> {
        // SAFETY: memory that `alloc` has made is what `init` takes; null means that there is none.
        unsafe {
            let state = NonNull::new((self.alloc)(0)).ok_or("alloc_mb_mgr")?;
            (self.init)(state.as_ptr(), null_mut());
            // One that was not initialised has no functions, and is not to be looked at as if it had.
            if (&raw const (*state.as_ptr()).error).read() != 0 {
                (self.free)(state.as_ptr());
                return Err("init_mb_mgr_auto");
            }
            Ok(Manager { managers: self, state })
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

    /// Bytes of an `IMB_JOB` in an array.
    pub(super) fn job_bytes(&self) -> usize {
        self.managers.layout.job
    }

    /// Runs `count` jobs of an array, all of `job`'s kind, and returns how many were done.
    ///
    /// # Panics
    /// If the library has no burst for this kind.
    ///
    /// # Safety
    /// There are as many jobs, and what they point to can be read and written.
    pub(super) unsafe fn burst(&mut self, jobs: *mut c_void, count: u32, job: &Kind) -> u32 {
        let state = self.state.as_ptr();
        let bursts = self.managers.layout.bursts.expect("a way by bursts is one of versions that have them");
        let start = state.cast::<u8>();
        // SAFETY: the version's layout has these functions there, for jobs of this kind.
        unsafe {
            if job.cipher == NO_CIPHER {
                let burst: HashBurst = start.add(bursts.hash).cast::<HashBurst>().read();
                burst(state, jobs, count, job.hash)
            } else {
                let burst: CipherBurst = start.add(bursts.cipher).cast::<CipherBurst>().read();
                burst(state, jobs, count, job.cipher, job.direction, job.key_bytes)
            }
        }
    }
}

/// The status of a job that was returned.
///
/// # Safety
/// `job` is null or one that the library has returned.
unsafe fn status(job: *const Job) -> Option<c_int> {
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
            Layout::of(version).map(|layout| (layout.job, layout.bursts.map(|at| (at.hash, at.take_all))))
        };
        assert_eq!(of("v1.3.0"), Some((200, Some((1008, false)))));
        assert_eq!(of("1.5"), Some((240, Some((1008, false)))));
        assert_eq!(of("v2.0.1"), Some((216, Some((1008, true)))));
        assert_eq!(of("3.0.0"), Some((200, Some((984, true)))));
        assert_eq!(of("3.0.0-dev"), Some((200, None)));
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
    }
}
