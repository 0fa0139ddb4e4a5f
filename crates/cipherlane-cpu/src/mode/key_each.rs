//! Messages with a key each, of ciphers that run in groups: as many messages as a group has lanes are a team, whose
//! keys are expanded together, and whose blocks go through the cipher together, one of each message at a time.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::keys::Keys;
use super::order::Order;
use crate::cipher::{KeyEach, Permutation, SMALL, Source, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};

/// Sets of lanes: a register of each is a group.
const SETS: usize = SMALL;

/// Most members of a team.
pub(super) const MAX_MEMBERS: usize = SETS * MAX_LANES;

/// Groups that a message fills alone from which on a team gains nothing.
const LONG: usize = 2;

/// How a mode runs one block of a message after the other.
pub(super) trait Steps {
    /// Whether a block waits for the one before.
    const CHAINS: bool = false;

    /// Whether a message takes more than a group where it is alone, because it has blocks that are not text.
    const ALONE_IS_DEAR: bool = false;

    /// Of the next block of each lane, what goes through the cipher, and what is added to it behind that.
    fn next<T: Lanes>(state: &mut T, text: T) -> [T; 2];

    /// Takes down what has become of that block.
    #[inline(always)]
    fn end<T: Lanes>(_state: &mut T, _output: T) {}
}

/// A mode whose messages are nothing but such steps.
pub(super) trait Stepwise: Steps {
    /// What it knows before the first block of a message with this nonce: as a block, little-endian.
    fn begin(nonce: &[u8]) -> u128;

    /// Whether [`Steps::next`] is right for `blocks` blocks from there on.
    #[inline(always)]
    fn fits(_state: u128, _blocks: usize) -> bool {
        true
    }

    /// Runs `message`, before which the mode knows `state`, by itself.
    ///
    /// # Safety
    /// Its pointers are good, and nobody else touches its output.
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, state: u128, message: Message);
}

/// The block of `counter`, which is little-endian and goes on by one in its word of 32 bits.
#[inline(always)]
pub(super) fn counted<T: Lanes>(counter: &mut T) -> T {
    let block = counter.reverse_bytes();
    *counter = counter.add32(counter.isa().splat_word(1));
    block
}

/// 16 bytes as a block, little-endian.
#[inline(always)]
pub(super) fn block_of(bytes: &[u8]) -> u128 {
    let mut block = [0; BLOCK];
    block.copy_from_slice(bytes);
    u128::from_le_bytes(block)
}

/// A message of a team.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) key: &'a [u8],
    /// What the mode knows before the first block.
    pub(super) state: u128,
    pub(super) message: Message,
}

/// Blocks of the longest of `members`: the first, unless they are of two windows of the order.
#[inline(always)]
pub(super) fn blocks_of(members: &[Member<'_>]) -> usize {
    let mut bytes = 0;
    for member in members {
        bytes = bytes.max(member.message.bytes);
    }
    bytes.div_ceil(BLOCK)
}

/// Messages that have company or wait for it.
pub(super) struct Members<T> {
    /// The first `count` are written.
    each: [MaybeUninit<T>; MAX_MEMBERS],
    count: usize,
}

impl<T> Members<T> {
    /// Nobody yet.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { each: [const { MaybeUninit::uninit() }; MAX_MEMBERS], count: 0 }
    }

    /// One more.
    #[inline(always)]
    pub(super) fn push(&mut self, member: T) {
        self.each[self.count].write(member);
        self.count += 1;
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[T] {
        // SAFETY: the first `count` are written.
        unsafe { self.each[..self.count].assume_init_ref() }
    }
}

/// Runs messages that have a key each: in teams, but for those that are faster alone.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(super) unsafe fn run<S: Stepwise, P: KeyEach, const N: usize>(
    keys: &Keys<P>,
    job: &Job<'_>,
    range: Range<usize>,
) {
    let mut team = None;
    let mut order = Order::new(job, range);
    let mut own = None;
    loop {
        let mut members = Members::new();
        while members.count < Team::<P>::MEMBERS
            && let Some(index) = order.next()
        {
            let (key, message) = (job.key(index), job.message(index));
            let state = S::begin(job.nonce(index));
            let blocks = message.bytes.div_ceil(BLOCK);
            if Team::<P>::takes::<S>(keys.source(), blocks) && S::fits(state, blocks) {
                members.push(Member { key, state, message });
            } else {
                // SAFETY: the caller's promise.
                unsafe { S::alone::<P, N>(keys.of(key, &mut own), state, message) }
            }
        }
        let members = members.as_slice();
        if members.is_empty() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            if Team::<P>::pays::<S>(members.len(), blocks_of(members)) {
                Team::<P>::made(&mut team, keys.source()).run::<S>(members);
                continue;
            }
            for &Member { key, state, message } in members {
                S::alone::<P, N>(keys.of(key, &mut own), state, message);
            }
        }
    }
}

/// The keys of a team, and the blocks that go through the cipher.
pub(super) struct Team<P: KeyEach> {
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

impl<P: KeyEach> Team<P> {
    /// Most members.
    pub(super) const MEMBERS: usize = SETS * V::<P>::LANES;

    /// That of `place`, where there was none a new one.
    #[inline(always)]
    pub(super) fn made(place: &mut Option<Self>, source: P::Source) -> &mut Self {
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
    pub(super) fn takes<S: Steps>(source: P::Source, blocks: usize) -> bool {
        let most = P::most_blocks(source).saturating_mul(if S::ALONE_IS_DEAR { 4 } else { 1 });
        S::CHAINS || blocks <= most.min(LONG * Self::MEMBERS)
    }

    /// Whether `count` messages, the longest of `blocks` blocks, are faster in a team than one after the other. A message
    /// alone takes as long as a group and as much of another as it has blocks; a team runs a group for each block, in which
    /// every key is another, and takes as long as seven before and behind that.
    #[inline(always)]
    pub(super) const fn pays<S: Steps>(count: usize, blocks: usize) -> bool {
        let lanes = Self::MEMBERS;
        if S::CHAINS { count > 7 } else { count * (lanes + blocks) >= lanes * (7 + blocks + blocks / 4) }
    }

    /// Runs `members`.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    pub(super) unsafe fn run<S: Steps>(&mut self, members: &[Member<'_>]) {
        self.rekey(members);
        // SAFETY: the caller's promise.
        unsafe { self.crypt::<S>(members) }
    }

    /// The instruction set.
    #[inline(always)]
    pub(super) fn isa(&self) -> P::Isa {
        self.source.isa()
    }

    /// Expands the keys of `members`.
    #[inline(always)]
    pub(super) fn rekey(&mut self, members: &[Member<'_>]) {
        // Lanes without a member have the key of the first.
        let mut keys = [members[0].key; MAX_MEMBERS];
        for (key, member) in keys.iter_mut().zip(members) {
            *key = member.key;
        }
        P::expand_keys(&mut self.keys, &keys[..Self::MEMBERS]);
    }

    /// A block of each member through the cipher.
    #[inline(always)]
    pub(super) fn apply(&self, blocks: &mut [V<P>; SETS]) {
        P::apply_keys(&self.keys, blocks);
    }

    /// Runs the texts of `members`, whose keys are expanded.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    pub(super) unsafe fn crypt<S: Steps>(&mut self, members: &[Member<'_>]) {
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

/// What is left may be key stream.
impl<P: KeyEach> Drop for Team<P> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(&mut self.blocks);
    }
}
