//! Memory in which an access beyond a buffer ends the tests at once.
//!
//! Kernels read and write parts of registers by overlapping accesses and by masks. One that reads too far computes the same
//! as one that does not, until a message lies at the end of what its process has mapped. So every allocation of bytes has
//! pages of its own, between two that nobody may touch: one allocation ends where they end, the next one begins where they
//! begin.
#![allow(unsafe_code)] // an allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An allocator with fences around texts, keys, nonces, AAD and tags: all that is aligned to a byte.
pub(super) struct Fenced;

fn is_fenced(layout: Layout) -> bool {
    layout.align() == 1
}

// SAFETY: what is fenced has pages of its own, as many as it needs, until it is given back.
unsafe impl GlobalAlloc for Fenced {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_fenced(layout) {
            // SAFETY: the caller's.
            return unsafe { System.alloc(layout) };
        }
        let inside = layout.size().next_multiple_of(page());
        let lent = if inside == page() { pens().take() } else { None };
        let Some(first) = lent.or_else(|| map(inside)) else { return null_mut() };
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let ends_at_fence = COUNT.fetch_add(1, Relaxed).is_multiple_of(2);
        let at = if ends_at_fence { first + inside - layout.size() } else { first };
        with_exposed_provenance_mut(at)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if !is_fenced(layout) {
            // SAFETY: the caller's.
            return unsafe { System.dealloc(at, layout) };
        }
        // The page of the first byte is the one behind the fence.
        let first = at.addr() / page() * page();
        if !pens().put_back(first) {
            unmap(first, layout.size().next_multiple_of(page()));
        }
    }
}

/// Bytes of a page.
fn page() -> usize {
    // SAFETY: a question without pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(usize::MAX)
}

/// The address of `bytes` bytes, which are whole pages, between two fences.
fn map(bytes: usize) -> Option<usize> {
    let first = reserve(bytes + 2 * page())? + page();
    open(first, bytes).then_some(first)
}

/// The address of `bytes` bytes that nobody may touch.
fn reserve(bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping, of which nobody knows yet.
    let at = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    (at != libc::MAP_FAILED).then(|| at.expose_provenance())
}

/// Lets the `bytes` bytes at `first` be touched.
fn open(first: usize, bytes: usize) -> bool {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: pages of a mapping of ours that nobody uses yet.
    unsafe { libc::mprotect(with_exposed_provenance_mut(first), bytes, rights) == 0 }
}

/// Gives back what [`map`] has mapped.
fn unmap(first: usize, bytes: usize) {
    // SAFETY: it was mapped so, and its owner has given it back.
    unsafe { libc::munmap(with_exposed_provenance_mut(first - page()), bytes + 2 * page()) };
}

/// Pages between fences that are lent again and again: hashes alone ask for millions, and each mapping takes microseconds.
struct Pens {
    /// Where the first page is; 0 before anybody has asked.
    first: usize,
    /// Numbers of the pages that nobody has, `left` of them.
    free: [u16; PENS],
    left: usize,
}

const PENS: usize = 4096;

fn pens() -> MutexGuard<'static, Pens> {
    static ALL: Mutex<Pens> = Mutex::new(Pens { first: 0, free: [0; PENS], left: 0 });
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pens {
    /// The address of a page, if one is left.
    fn take(&mut self) -> Option<usize> {
        if self.first == 0 {
            self.build();
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.first + 2 * page() * usize::from(self.free[self.left]))
    }

    /// Opens every other page of what it reserves.
    fn build(&mut self) {
        let Some(fence) = reserve((2 * PENS + 1) * page()) else { return };
        self.first = fence + page();
        for number in 0..PENS {
            if open(self.first + 2 * page() * number, page()) {
                self.free[self.left] = number as u16;
                self.left += 1;
            }
        }
    }

    /// Takes back the page at `first`, if it is one of these.
    fn put_back(&mut self, first: usize) -> bool {
        let number = first.wrapping_sub(self.first) / (2 * page());
        let is_ours = self.first > 0 && number < PENS;
        if is_ours {
            self.free[self.left] = number as u16;
            self.left += 1;
        }
        is_ours
    }
}

#[test]
fn an_access_beyond_a_buffer_ends_the_process() {
    for place in ["fence::reads_behind", "fence::reads_before"] {
        let program = std::env::current_exe().unwrap();
        let ended = Command::new(program).args([place, "--exact", "--ignored"]).output().unwrap();
        let signal = ended.status.signal();
        assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{place}: {ended:?}");
    }
}

#[test]
#[ignore = "ends the process"]
fn reads_behind() {
    read_of_some(|bytes| bytes.as_ptr().wrapping_add(bytes.len()));
}

#[test]
#[ignore = "ends the process"]
fn reads_before() {
    read_of_some(|bytes| bytes.as_ptr().wrapping_sub(1));
}

/// Reads at a place of each of some buffers, half of which end at a fence; the others begin there.
fn read_of_some(place: impl Fn(&[u8]) -> *const u8) {
    let buffers = [(); 8].map(|()| vec![0_u8; 100]);
    for bytes in &buffers {
        // SAFETY: none. The place may lie behind a fence, and the test is that the process ends there.
        std::hint::black_box(unsafe { place(bytes).read_volatile() });
    }
}
