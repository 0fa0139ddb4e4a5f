//! A team: messages with a key each, whose keys are expanded together, and whose blocks go through the cipher together, one
//! of each message at a time.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::Steps;
use super::members::{MAX_MEMBERS, Member, blocks_of};
use crate::cipher::{KeyEach, SMALL, Source, V};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work, wipe};

/// Sets of lanes: a register of each is a group.
const SETS: usize = SMALL;

/// Groups that a message fills alone from which on a team gains nothing.
const LONG: usize = 2;

/// The keys of a team, and the blocks that go through the cipher.
pub(in crate::mode) struct Team<P: KeyEach> {
    source: P::Source,
    keys: P::Keys,
    blocks: [V<P>; SETS],
    /// What is added to them behind the cipher.
    sums: [V<P>; SETS],
    /// What the mode knows of each member.
    states: [V<P>; SETS],
    /// The next LANES blocks of all members, before and behind the cipher.
    texts: [[V<P>; SETS]; MAX_LANES],
}

/// [`Team::crypt`] as work of its own, so that it is compiled once and not into every mode with such steps. Only where its
/// promise is kept is it made.
struct Crypt<'a, P: KeyEach, S> {
    team: &'a mut Team<P>,
    members: &'a [Member<'a>],
    steps: PhantomData<S>,
}

impl<P: KeyEach, S: Steps> Work for Crypt<'_, P, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: that of who made it.
        unsafe { self.team.crypt_all::<S>(self.members) }
    }
}

impl<P: KeyEach> Team<P> {
    /// Most members.
    pub(in crate::mode) const MEMBERS: usize = SETS * V::<P>::LANES;

    /// That of `place`, where there was none a new one.
    #[inline(always)]
    pub(in crate::mode) fn made(place: &mut Option<Self>, source: P::Source) -> &mut Self {
        if place.is_none() {
            *place = Some(Self::new(source));
        }
        match place {
            Some(team) => team,
            None => unreachable!("just made"),
        }
    }

    /// No keys, and no blocks.
    #[inline(always)]
    fn new(source: P::Source) -> Self {
        let none = [source.isa().zero(); SETS];
        Self {
            source,
            keys: P::no_keys(source),
            blocks: none,
            sums: none,
            states: none,
            texts: [none; MAX_LANES],
        }
    }

    /// Whether a message of `blocks` blocks is faster in a team.
    #[inline(always)]
    pub(in crate::mode) fn takes<S: Steps>(source: P::Source, blocks: usize) -> bool {
        let most = P::most_blocks(source).saturating_mul(if S::ALONE_IS_DEAR { 4 } else { 1 });
        S::CHAINS || blocks <= most.min(LONG * Self::MEMBERS)
    }

    /// Whether `count` messages, the longest of `blocks` blocks, are faster in a team than one after the other. A message
    /// alone takes as long as a group and as much of another as it has blocks; a team runs a group for each block, in which
    /// every key is another, and takes as long as seven before and behind that.
    #[inline(always)]
    pub(in crate::mode) const fn pays<S: Steps>(count: usize, blocks: usize) -> bool {
        let lanes = Self::MEMBERS;
        if S::CHAINS { count > 7 } else { count * (lanes + blocks) >= lanes * (7 + blocks + blocks / 4) }
    }

    /// Runs `members`.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    pub(in crate::mode) unsafe fn run<S: Steps>(&mut self, members: &[Member<'_>]) {
        self.rekey(members);
        // SAFETY: the caller's promise.
        unsafe { self.crypt::<S>(members) }
    }

    /// The instruction set.
    #[inline(always)]
    pub(in crate::mode) fn isa(&self) -> P::Isa {
        self.source.isa()
    }

    /// Expands the keys of `members`.
    #[inline(always)]
    pub(in crate::mode) fn rekey(&mut self, members: &[Member<'_>]) {
        // Lanes without a member have the key of the first.
        let mut keys = [members[0].key; MAX_MEMBERS];
        for (key, member) in keys.iter_mut().zip(members) {
            *key = member.key;
        }
        P::expand_keys(&mut self.keys, &keys[..Self::MEMBERS]);
    }

    /// A block of each member through the cipher.
    #[inline(always)]
    pub(in crate::mode) fn apply(&self, blocks: &mut [V<P>; SETS]) {
        P::apply_keys(&self.keys, blocks);
    }

    /// Runs the texts of `members`, whose keys are expanded.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    pub(in crate::mode) unsafe fn crypt<S: Steps>(&mut self, members: &[Member<'_>]) {
        self.isa().vectorize(Crypt { team: self, members, steps: PhantomData::<S> });
    }

    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn crypt_all<S: Steps>(&mut self, members: &[Member<'_>]) {
        let (lanes, blocks) = (V::<P>::LANES, blocks_of(members));
        for (state, members) in self.states.iter_mut().zip(members.chunks(lanes)) {
            let mut words = [0; MAX_LANES];
            for (word, member) in words.iter_mut().zip(members) {
                *word = member.state;
            }
            *state = self.source.isa().words(&words);
        }
        let sets = members.len().div_ceil(lanes);
        for first in (0..blocks).step_by(lanes) {
            for (set, members) in members.chunks(lanes).enumerate() {
                // SAFETY: the caller's promise.
                unsafe { self.enter(members, set, first * BLOCK) }
            }
            for i in 0..lanes.min(blocks - first) {
                self.step::<S>(i, sets);
            }
            for (set, members) in members.chunks(lanes).enumerate() {
                // SAFETY: the caller's promise.
                unsafe { self.leave(members, set, first * BLOCK) }
            }
        }
    }

    /// Runs block `i` of those that have entered.
    #[inline(always)]
    fn step<S: Steps>(&mut self, i: usize, sets: usize) {
        let Self { keys, blocks, sums, states, texts, .. } = self;
        for set in 0..sets {
            [blocks[set], sums[set]] = S::next(&mut states[set], texts[i][set]);
        }
        P::apply_keys(keys, blocks);
        for set in 0..sets {
            let output = blocks[set].xor(sums[set]);
            S::end(&mut states[set], output);
            texts[i][set] = output;
        }
    }

    /// Brings LANES blocks of each of `members`, who are `set`, or what is left of them from byte `at` on.
    ///
    /// # Safety
    /// Their pointers are good.
    #[inline(always)]
    unsafe fn enter(&mut self, members: &[Member<'_>], set: usize, at: usize) {
        let isa = self.source.isa();
        let mut texts = [isa.zero(); MAX_LANES];
        for (text, Member { message, .. }) in texts.iter_mut().zip(members) {
            let left = message.bytes.saturating_sub(at);
            let from = message.input.wrapping_add(at);
            // SAFETY: so many bytes are left.
            *text = unsafe {
                match left {
                    0 => continue,
                    _ if left >= V::<P>::BYTES => isa.load(from),
                    _ => isa.load_partial(from, left),
                }
            };
        }
        for (blocks, block) in self.texts.iter_mut().zip(V::<P>::transpose(&texts)).take(V::<P>::LANES) {
            blocks[set] = block;
        }
    }

    /// Takes back what [`Team::enter`] brought.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    unsafe fn leave(&self, members: &[Member<'_>], set: usize, at: usize) {
        let mut texts = [self.texts[0][set]; MAX_LANES];
        for (text, blocks) in texts.iter_mut().zip(&self.texts).take(V::<P>::LANES) {
            *text = blocks[set];
        }
        for (text, Member { message, .. }) in V::<P>::transpose(&texts).iter().zip(members) {
            let left = message.bytes.saturating_sub(at);
            let to = message.output.wrapping_add(at);
            // SAFETY: so many bytes are left.
            unsafe {
                match left {
                    0 => {}
                    _ if left >= V::<P>::BYTES => text.store(to),
                    _ => text.store_partial(to, left),
                }
            }
        }
    }
}

/// What is left may be key stream, also where texts were: zeros are encrypted beside the last blocks of those that are longer.
impl<P: KeyEach> Drop for Team<P> {
    #[inline(always)]
    fn drop(&mut self) {
        let Self { blocks, sums, states, texts, .. } = self;
        for registers in [blocks, sums, states].into_iter().chain(texts) {
            wipe(registers);
        }
    }
}
