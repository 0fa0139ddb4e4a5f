//! Messages that wait for company, by their registers.

use std::mem::MaybeUninit;

use super::series::Ends;
use crate::lanes::{Lanes, MAX_LANES};
use crate::mode::gcm::equal::FOUR;
use crate::mode::gcm::ghash::MAX_POWERS;

/// Classes of messages, by their registers less one: as many as there are powers for where registers are widest.
pub(super) const CLASSES: usize = MAX_POWERS / MAX_LANES;
/// Most messages of a class.
const MOST: usize = 64;

// `used` has a bit for each class, and full classes leave nobody when fours have gone.
const _: () = assert!(CLASSES <= u32::BITS as usize && MOST.is_multiple_of(FOUR));

/// Indices of messages, class by class, and what is left of those that went.
pub(super) struct Waiting<'e, V> {
    /// As many of each class as `counts` says. Who asks for one message is not to wait until all of this is written.
    indices: [[MaybeUninit<usize>; MOST]; CLASSES],
    counts: [usize; CLASSES],
    /// A bit for each class that somebody was added to.
    used: u32,
    /// [`OneKey::most_bytes`](super::OneKey) of all messages, if it is the same for all.
    pub(super) most: Option<usize>,
    /// Borrowed, as the room for them would be copied otherwise.
    pub(super) ends: &'e mut Ends<V>,
}

impl<'e, V: Lanes> Waiting<'e, V> {
    /// No messages, whose ends those of series will be.
    #[inline(always)]
    pub(super) fn nobody(most: Option<usize>, ends: &'e mut Ends<V>) -> Self {
        Self {
            indices: const { [[MaybeUninit::uninit(); MOST]; CLASSES] },
            counts: [0; CLASSES],
            used: 0,
            most,
            ends,
        }
    }

    /// Adds message `index` to a class that has room. Whether it has none then: it is to be [emptied](Waiting::keep).
    #[inline(always)]
    pub(super) fn push(&mut self, class: usize, index: usize) -> bool {
        let count = &mut self.counts[class];
        self.indices[class][*count].write(index);
        if *count == 0 {
            self.used |= 1 << class;
        }
        *count += 1;
        *count == MOST
    }

    /// Those of a class, and the ends.
    #[inline(always)]
    pub(super) fn of(&mut self, class: usize) -> (&[usize], &mut Ends<V>) {
        let indices = &self.indices[class][..self.counts[class]];
        // SAFETY: so many have been pushed.
        (unsafe { &*(std::ptr::from_ref(indices) as *const [usize]) }, self.ends)
    }

    /// A class that has somebody, if any does.
    #[inline(always)]
    pub(super) fn next_class(&self) -> Option<usize> {
        (self.used > 0).then(|| self.used.trailing_zeros() as usize)
    }

    /// Keeps the last `count` of a class.
    #[inline(always)]
    pub(super) fn keep(&mut self, class: usize, count: usize) {
        let all = self.counts[class];
        self.indices[class].copy_within(all - count..all, 0);
        self.counts[class] = count;
    }

    /// Takes one of a class, if it has any.
    #[inline(always)]
    pub(super) fn pop(&mut self, class: usize) -> Option<usize> {
        let last = self.of(class).0.last().copied();
        match last {
            Some(_) => self.counts[class] -= 1,
            None => self.used &= !(1 << class),
        }
        last
    }
}
