//! Messages that wait for others of as many blocks.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::schedules::MAX_SETS;
use crate::job::Job;
use crate::lanes::MAX_LANES;

/// Most messages that are run together.
const MAX_TOGETHER: usize = MAX_SETS * MAX_LANES;
/// Most blocks of a message that waits for others to share registers with: beyond, it fills registers by itself.
pub(super) const MAX_TEXT_BLOCKS: usize = 64;
/// Most blocks of messages that share registers where they follow one another: of more, groups of one message are faster,
/// measured on Emerald Rapids.
const MOST_ALIKE: usize = 384;

/// What messages that are run together have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    /// Blocks of text.
    pub(super) text: usize,
    /// Blocks of AAD.
    pub(super) aad: usize,
    /// Blocks of a nonce that is hashed; 0 where it is 96 bits long, which are not.
    pub(super) nonce: usize,
}

impl Class {
    /// That of messages without text, with so many bytes of nonce and AAD.
    #[inline(always)]
    pub(super) fn without_text((nonce, aad): (usize, usize)) -> Self {
        let nonce = if nonce == 12 { 0 } else { nonce.div_ceil(BLOCK) };
        Self { text: 0, aad: aad.div_ceil(BLOCK), nonce }
    }

    /// That of message `index`, where all are `alike` but for their text, or it is not known.
    #[inline(always)]
    pub(super) fn of(job: &Job<'_>, index: usize, alike: Option<Self>) -> Self {
        let each = || Self::without_text((job.nonce(index).len(), job.aad(index).len()));
        Self { text: job.message(index).bytes.div_ceil(BLOCK), ..alike.unwrap_or_else(each) }
    }

    /// Whether messages of so many blocks wait for company.
    #[inline(always)]
    pub(super) const fn waits(self) -> bool {
        self.text <= MAX_TEXT_BLOCKS
    }

    /// Whether messages of so many blocks share registers where they follow one another.
    #[inline(always)]
    pub(super) const fn has_company(self) -> bool {
        self.waits() || (self.text <= MOST_ALIKE && self.nonce == 0)
    }
}

/// Messages of one class that wait for company.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// The first `count` are written.
    pub(super) indices: [MaybeUninit<usize>; MAX_TOGETHER],
    pub(super) count: usize,
    pub(super) class: Class,
}

impl Waiting {
    pub(super) const fn nobody() -> Self {
        let class = Class { text: 0, aad: 0, nonce: 0 };
        Self { indices: [const { MaybeUninit::uninit() }; MAX_TOGETHER], count: 0, class }
    }

    pub(super) fn indices(&self) -> &[usize] {
        // SAFETY: the first `count` are written.
        unsafe { self.indices[..self.count].assume_init_ref() }
    }
}

/// All messages that wait, by their blocks of text.
pub(super) struct Company {
    /// Written where `used` has a bit: who asks for one message is not to wait until all of this is.
    waiting: [MaybeUninit<Waiting>; MAX_TEXT_BLOCKS + 1],
    used: u128,
}

// `used` has a bit for each.
const _: () = assert!(MAX_TEXT_BLOCKS < u128::BITS as usize);

impl Company {
    pub(super) const fn nobody() -> Self {
        Self { waiting: [const { MaybeUninit::uninit() }; MAX_TEXT_BLOCKS + 1], used: 0 }
    }

    /// Those of `blocks` blocks.
    #[inline(always)]
    pub(super) fn of(&mut self, blocks: usize) -> &mut Waiting {
        let waiting = &mut self.waiting[blocks];
        if self.used & (1 << blocks) == 0 {
            self.used |= 1 << blocks;
            waiting.write(Waiting::nobody());
        }
        // SAFETY: it is written, now or before.
        unsafe { waiting.assume_init_mut() }
    }

    /// Some that have ever waited, each once.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<&mut Waiting> {
        if self.used == 0 {
            return None;
        }
        let blocks = self.used.trailing_zeros() as usize;
        self.used &= self.used - 1;
        // SAFETY: it had a bit.
        Some(unsafe { self.waiting[blocks].assume_init_mut() })
    }
}
