//! SHA-256 and SHA-512 by managers, which hash several messages in the lanes of a register.
#![allow(unsafe_code)] // the library is C

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use cipherlane_core::Hash;
use libloading::Library as Shared;
use zeroize::Zeroize;

use crate::message::{Context, Fault, Message, Part, Tag};
use crate::shared::symbol;

/// The most bytes of a message that one call takes: their number is of 32 bits.
pub(super) const LONGEST: usize = u32::MAX as usize;
/// `ISAL_SHA256_MAX_LANES`, and more than `ISAL_SHA512_MAX_LANES`: as many messages are under way at most.
const LANES: usize = 16;
/// `ISAL_HASH_ENTIRE`: the text is whole.
const ENTIRE: c_int = 3;
/// Where the digest lies in a job, aligned to 64 bytes behind a pointer and a length; a context begins with its job.
const DIGEST: usize = 64;

/// `ISAL_SHA256_HASH_CTX_MGR` and `ISAL_SHA512_HASH_CTX_MGR`, opaque: below 1024 bytes in every version so far.
#[repr(C, align(64))]
struct Manager([u8; 4096]);

/// `ISAL_SHA256_HASH_CTX` and `ISAL_SHA512_HASH_CTX`, opaque but for the digest: 320 and 512 bytes. All zeros are one that is
/// idle, with no error.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Slot([u8; 1024]);

/// Writes a digest of its words.
type Write = fn(&[u8], &mut [u8]);

/// The functions of one hash.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    init: unsafe extern "C" fn(*mut Manager),
    /// Manager, context, text, its bytes, flags. Returns a context that is done, or null.
    submit: unsafe extern "C" fn(*mut Manager, *mut Slot, *const c_void, u32, c_int) -> *mut Slot,
    /// Returns a context that is done, or null where none is under way.
    flush: unsafe extern "C" fn(*mut Manager) -> *mut Slot,
    write: Write,
}

impl Functions {
    /// Those of `library` for `hash`.
    pub(super) fn of(library: &'static Shared, hash: Hash) -> Option<Self> {
        let (name, write): (_, Write) = match hash {
            Hash::Sha256 => ("sha256", write::<{ size_of::<u32>() }>),
            Hash::Sha512 => ("sha512", write::<{ size_of::<u64>() }>),
            _ => return None,
        };
        // SAFETY: the types of sha256_mb.h and sha512_mb.h.
        unsafe {
            Some(Self {
                init: symbol(library, &format!("{name}_ctx_mgr_init")).ok()?,
                submit: symbol(library, &format!("{name}_ctx_mgr_submit")).ok()?,
                flush: symbol(library, &format!("{name}_ctx_mgr_flush")).ok()?,
                write,
            })
        }
    }
}

/// Writes words of `N` bytes, which are in the CPU's order, the most significant byte first.
fn write<const N: usize>(words: &[u8], digest: &mut [u8]) {
    for (to, from) in digest.as_chunks_mut::<N>().0.iter_mut().zip(words.as_chunks::<N>().0) {
        *to = *from;
        if cfg!(target_endian = "little") {
            to.reverse();
        }
    }
}

/// Where the digests of the messages under way go, by context.
type Rows<'p> = [Option<&'p mut [u8]>; LANES];

/// A manager, and a context for each message that it has under way.
pub(super) struct Hashes {
    functions: Functions,
    manager: Box<Manager>,
    slots: Box<[Slot; LANES]>,
    /// Contexts of no message.
    free: Vec<usize>,
}

impl Hashes {
    pub(super) fn new(functions: Functions) -> Self {
        let mut manager = Box::new(Manager([0; 4096]));
        // SAFETY: there is room for what the function writes.
        unsafe { (functions.init)(&raw mut *manager) }
        let slots = Box::new([Slot([0; 1024]); LANES]);
        Self { functions, manager, slots, free: (0..LANES).collect() }
    }

    /// Takes a message up, and lets one that is done go.
    fn submit<'p>(&mut self, message: Message<'p>, rows: &mut Rows<'p>) -> Result<(), Fault> {
        let Tag::Make(row) = message.tag else { return Err("the search for a digest") };
        let text = message.source.ok_or("the search for a text")?;
        let bytes = u32::try_from(text.len()).map_err(|_| "a text of 4 GiB")?;
        if self.free.is_empty() {
            self.flush(rows);
        }
        let slot = self.free.pop().ok_or("the search for a context")?;
        rows[slot] = Some(row);
        let slots = self.slots.as_mut_ptr();
        // SAFETY: the context is there and of no other message; the text can be read until the context comes back, which
        // `part` waits for.
        let done = unsafe {
            let text = text.as_ptr().cast();
            (self.functions.submit)(&raw mut *self.manager, slots.add(slot), text, bytes, ENTIRE)
        };
        self.take(done, rows);
        Ok(())
    }

    /// Waits for a message, and lets it go. Returns whether there was one.
    fn flush(&mut self, rows: &mut Rows<'_>) -> bool {
        // SAFETY: the manager is live.
        let done = unsafe { (self.functions.flush)(&raw mut *self.manager) };
        self.take(done, rows)
    }

    /// Writes the digest of a context that is done, unless it is null, and frees it.
    fn take(&mut self, done: *mut Slot, rows: &mut Rows<'_>) -> bool {
        let Some(done) = NonNull::new(done) else { return false };
        let slot = (done.addr().get() - self.slots.as_ptr().addr()) / size_of::<Slot>();
        if let Some(row) = rows[slot].take() {
            (self.functions.write)(&self.slots[slot].0[DIGEST..], row);
        }
        self.free.push(slot);
        true
    }
}

impl Drop for Hashes {
    fn drop(&mut self) {
        self.manager.0.zeroize();
        for slot in &mut *self.slots {
            slot.0.zeroize();
        }
    }
}

impl Context for Hashes {
    fn part(&mut self, part: &mut Part<'_>) -> Result<(), Fault> {
        let (mut messages, _) = part.messages();
        let mut rows = [const { None }; LANES];
        let submitted = messages.try_for_each(|(_, message)| self.submit(message, &mut rows));
        while self.flush(&mut rows) {}
        submitted
    }
}
