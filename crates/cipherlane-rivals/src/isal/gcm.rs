//! GCM with nonces of 12 bytes.
#![allow(unsafe_code)] // the library is C

use libloading::Library as Shared;

use crate::intel_gcm::{Pre, Run, State};
use crate::message::{Fault, Message, PerMessage, Tag, is_tag};
use crate::shared::symbol;

/// Bytes of a cache line, with which texts begin that are loaded and stored past the caches.
const LINE: usize = 64;
/// Bytes of a whole tag.
const TAG: usize = 16;

/// One direction, through the caches and past them.
#[derive(Clone, Copy)]
struct Direction {
    usual: Run,
    past_caches: Run,
}

impl Direction {
    fn of(library: &'static Shared, name: &str) -> Option<Self> {
        // SAFETY: the types of aes_gcm.h.
        unsafe {
            Some(Self {
                usual: symbol(library, name).ok()?,
                past_caches: symbol(library, &format!("{name}_nt")).ok()?,
            })
        }
    }
}

/// The functions for one key length.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pre: Pre,
    seal: Direction,
    open: Direction,
}

impl Functions {
    /// Those of `library` for keys of `bits`.
    pub(super) fn of(library: &'static Shared, bits: usize) -> Option<Self> {
        let pre = format!("aes_gcm_pre_{bits}");
        // SAFETY: the type of aes_gcm.h.
        let pre = unsafe { symbol(library, &pre) }.ok()?;
        let seal = Direction::of(library, &format!("aes_gcm_enc_{bits}"))?;
        let open = Direction::of(library, &format!("aes_gcm_dec_{bits}"))?;
        Some(Self { pre, seal, open })
    }
}

/// A message at a time under a key.
pub(super) struct Gcm {
    functions: Functions,
    past_caches: bool,
    state: State,
}

impl Gcm {
    /// Without a key yet. Texts go past the caches where that is asked for and they lie as it demands.
    pub(super) fn new(functions: Functions, past_caches: bool) -> Self {
        Self { functions, past_caches, state: State::new() }
    }

    /// Whether `message` goes past the caches: not in place, which the library advises against, and not off a line.
    fn passes_caches(&self, message: &Message<'_>) -> bool {
        let begins_a_line = |text: *const u8| text.addr().is_multiple_of(LINE);
        self.past_caches
            && begins_a_line(message.out.as_ptr())
            && message.source.is_some_and(|source| begins_a_line(source.as_ptr()))
    }

    /// Runs `direction` with a tag of [`TAG`] bytes, which is written.
    fn run(&mut self, direction: Direction, message: &mut Message<'_>, tag: *mut u8) {
        let passes = self.passes_caches(message);
        let run = if passes { direction.past_caches } else { direction.usual };
        // SAFETY: there is room for the tag, and texts begin a line where that is asked for.
        unsafe { self.state.run(run, message, tag, TAG) };
        if passes {
            publish();
        }
    }
}

/// Lets other threads see what was stored past the caches, which the library leaves to its callers.
fn publish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of the architecture.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

impl PerMessage for Gcm {
    #[inline(always)]
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.state.expand(self.functions.pre, key);
        }
        // The library makes tags of 8, 12 and 16 bytes: the others are cut from those of 16.
        let mut whole = [0; TAG];
        let (direction, place) = match &mut message.tag {
            Tag::Make(tag) if tag.len() == TAG => (self.functions.seal, tag.as_mut_ptr()),
            Tag::Make(_) => (self.functions.seal, whole.as_mut_ptr()),
            Tag::Check(_) => (self.functions.open, whole.as_mut_ptr()),
            Tag::Absent => return Err("the search for a tag"),
        };
        self.run(direction, message, place);
        match &mut message.tag {
            Tag::Check(expected) => Ok(is_tag(expected, &whole)),
            Tag::Make(tag) if tag.len() < TAG => {
                tag.copy_from_slice(&whole[..tag.len()]);
                Ok(true)
            }
            Tag::Make(_) | Tag::Absent => Ok(true),
        }
    }
}
