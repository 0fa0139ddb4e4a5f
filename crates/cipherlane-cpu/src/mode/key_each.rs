//! Messages with a key each, of ciphers that run in groups: as many messages as a group has lanes are a team, whose
//! keys are expanded together, and whose blocks go through the cipher together, one of each message at a time.

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

/// 16 bytes as a block, little-endian.
#[inline(always)]
pub(super) fn block_of(bytes: &[u8]) -> u128 {
    let mut block = [0; BLOCK];
    block.copy_from_slice(bytes);
    u128::from_le_bytes(block)
}

/// Members of a team, longest first.
pub(super) struct Members<'a> {
    count: usize,
    keys: [&'a [u8]; MAX_MEMBERS],
    /// What the mode knows before the next block.
    states: [u128; MAX_MEMBERS],
    messages: [Message; MAX_MEMBERS],
}

impl<'a> Members<'a> {
    /// Nobody yet.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { count: 0, keys: [&[]; MAX_MEMBERS], states: [0; MAX_MEMBERS], messages: [Message::NONE; MAX_MEMBERS] }
    }

    /// One more, no longer than those before.
    #[inline(always)]
    pub(super) fn push(&mut self, key: &'a [u8], state: u128, message: Message) {
        (self.keys[self.count], self.states[self.count], self.messages[self.count]) = (key, state, message);
        self.count += 1;
    }

    /// Blocks of the longest.
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.messages[0].bytes.div_ceil(BLOCK)
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
    let mut team = Team::<P>::new(keys.source());
    let mut order = Order::new(job, range);
    let mut own = None;
    loop {
        let mut members = Members::new();
        while members.count < Team::<P>::MEMBERS
            && let Some(index) = order.next()
        {
            let (key, message) = (job.key(index), job.message(index));
            let state = S::begin(job.nonce(index));
            if Team::<P>::takes::<S>(message.bytes) && S::fits(state, message.bytes.div_ceil(BLOCK)) {
                members.push(key, state, message);
            } else {
                // SAFETY: the caller's promise.
                unsafe { S::alone::<P, N>(keys.of(key, &mut own), state, message) }
            }
        }
        if members.count == 0 {
            break;
        }
        // SAFETY: the caller's promise.
        unsafe {
            if Team::<P>::pays::<S>(members.count, members.messages[0].bytes) {
                team.run::<S>(&mut members);
            } else {
                for i in 0..members.count {
                    let cipher = keys.of(members.keys[i], &mut own);
                    S::alone::<P, N>(cipher, members.states[i], members.messages[i]);
                }
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

    /// No keys, and no blocks.
    #[inline(always)]
    pub(super) fn new(source: P::Source) -> Self {
        let none = [source.isa().zero(); SETS];
        Self { source, keys: P::no_keys(source), blocks: none, sums: none, states: none, texts: [none; MAX_LANES] }
    }

    /// Whether a message of `bytes` bytes is faster in a team.
    #[inline(always)]
    pub(super) const fn takes<S: Steps>(bytes: usize) -> bool {
        S::CHAINS || bytes <= LONG * SETS * V::<P>::BYTES
    }

    /// Whether `count` messages, the longest of `bytes` bytes, are faster in a team than one after the other: expanding the keys of a team takes as long as two
    /// groups, and those of a message as long as one; then a team runs a group for each block, and a message alone one for
    /// as many blocks as there are lanes, or for each if it chains.
    #[inline(always)]
    pub(super) const fn pays<S: Steps>(count: usize, bytes: usize) -> bool {
        let (lanes, blocks) = (Self::MEMBERS, bytes.div_ceil(BLOCK));
        if S::CHAINS { count > 3 } else { count * (lanes + blocks) >= lanes * (2 + blocks) }
    }

    /// Runs `members`.
    ///
    /// # Safety
    /// Their pointers are good, and nobody else touches their output.
    #[inline(always)]
    pub(super) unsafe fn run<S: Steps>(&mut self, members: &mut Members<'_>) {
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
    pub(super) fn rekey(&mut self, members: &mut Members<'_>) {
        // Lanes without a member have the key of the first.
        let first = members.keys[0];
        members.keys[members.count..].fill(first);
        P::expand_keys(&mut self.keys, &members.keys[..Self::MEMBERS]);
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
    pub(super) unsafe fn crypt<S: Steps>(&mut self, members: &Members<'_>) {
        let (lanes, blocks) = (V::<P>::LANES, members.blocks());
        for (state, states) in self.states.iter_mut().zip(members.states.chunks_exact(lanes)) {
            let mut words = [0; MAX_LANES];
            words[..lanes].copy_from_slice(states);
            *state = self.source.isa().words(&words);
        }
        let sets = members.count.div_ceil(lanes);
        for first in (0..blocks).step_by(lanes) {
            for set in 0..sets {
                // SAFETY: the caller's promise.
                unsafe { self.enter(&members.messages[set * lanes..], set, first * BLOCK) }
            }
            for i in 0..lanes.min(blocks - first) {
                self.step::<S>(i, sets);
            }
            for set in 0..sets {
                // SAFETY: the caller's promise.
                unsafe { self.leave(&members.messages[set * lanes..], set, first * BLOCK) }
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

    /// Brings LANES blocks of the messages of `set`, or what is left of them from byte `at` on.
    ///
    /// # Safety
    /// The pointers of the first LANES of `messages` are good.
    #[inline(always)]
    unsafe fn enter(&mut self, messages: &[Message], set: usize, at: usize) {
        let isa = self.source.isa();
        let mut texts = [isa.zero(); MAX_LANES];
        for (text, message) in texts.iter_mut().zip(messages).take(V::<P>::LANES) {
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
    /// The pointers of the first LANES of `messages` are good, and nobody else touches their output.
    #[inline(always)]
    unsafe fn leave(&self, messages: &[Message], set: usize, at: usize) {
        let mut texts = [self.texts[0][set]; MAX_LANES];
        for (text, blocks) in texts.iter_mut().zip(&self.texts).take(V::<P>::LANES) {
            *text = blocks[set];
        }
        for (text, message) in V::<P>::transpose(&texts).iter().zip(messages).take(V::<P>::LANES) {
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
