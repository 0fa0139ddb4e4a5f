//! Messages that are a team, or wait until they are enough to be one.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use crate::cipher::SMALL;
use crate::job::Message;
use crate::lanes::MAX_LANES;

/// Most members of a team.
pub(in crate::mode) const MAX_MEMBERS: usize = SMALL * MAX_LANES;

/// A message of a team.
#[derive(Clone, Copy)]
pub(in crate::mode) struct Member<'a> {
    /// Which message of the job it is.
    pub(in crate::mode) index: usize,
    pub(in crate::mode) key: &'a [u8],
    /// What the mode knows before the first block.
    pub(in crate::mode) state: u128,
    pub(in crate::mode) message: Message,
}

impl Member<'_> {
    /// Blocks of its text, the last of which may be a part.
    #[inline(always)]
    pub(super) fn blocks(&self) -> usize {
        self.message.bytes.div_ceil(BLOCK)
    }
}

/// Blocks of the longest of `members`: the first, unless they are of two windows of the order.
#[inline(always)]
pub(super) fn blocks_of(members: &[Member<'_>]) -> usize {
    members.iter().map(Member::blocks).max().unwrap_or(0)
}

/// Messages that have company or wait for it.
pub(in crate::mode) struct Members<'a> {
    /// The first `count` are written.
    each: [MaybeUninit<Member<'a>>; MAX_MEMBERS],
    count: usize,
}

impl<'a> Members<'a> {
    /// Nobody yet.
    #[inline(always)]
    pub(in crate::mode) const fn new() -> Self {
        Self { each: [const { MaybeUninit::uninit() }; MAX_MEMBERS], count: 0 }
    }

    /// How many there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// One more.
    #[inline(always)]
    pub(in crate::mode) fn push(&mut self, member: Member<'a>) {
        self.each[self.count].write(member);
        self.count += 1;
    }

    /// All of them.
    #[inline(always)]
    pub(in crate::mode) fn as_mut_slice(&mut self) -> &mut [Member<'a>] {
        // SAFETY: the first `count` are written.
        unsafe { self.each[..self.count].assume_init_mut() }
    }
}
