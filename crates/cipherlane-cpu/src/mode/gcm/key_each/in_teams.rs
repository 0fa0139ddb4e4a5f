//! Messages with a key each, of ciphers that run in groups: in teams, step by step. Their hash keys go through the cipher
//! together, then what masks their tags, then their counters. What each hashes is hashed a set of lanes at a time.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::lane_hash::{self, Powers, absorb_some};
use super::one_by_one::OneByOne;
use super::set::BLOCKS;
use crate::cipher::{KeyEach, Permutation, SMALL, Source, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work, wipe};
use crate::mode::gcm::Direction;
use crate::mode::gcm::counter::pre_counter_96;
use crate::mode::key_each::{Member, Steps, Team, Teamwork, counted};
use crate::mode::keys::KeyEachWorker;
use crate::order::Order;
use crate::rows::load_block;
use crate::worker::{Segments, Worker};

/// A worker without a key.
pub(crate) struct InTeams<P: KeyEach, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    direction: PhantomData<(fn() -> P, D)>,
}

impl<P: KeyEach, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> KeyEachWorker<P>
    for InTeams<P, D, N, POWERS, KARATSUBA>
{
    fn new(source: P::Source) -> Self {
        Self { source, direction: PhantomData }
    }
}

impl<P: KeyEach, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Worker
    for InTeams<P, D, N, POWERS, KARATSUBA>
{
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.source.isa().vectorize(Whole { worker: self, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// Whole messages, as work.
struct Whole<'a, T> {
    worker: &'a T,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<P: KeyEach, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Work
    for Whole<'_, InTeams<P, D, N, POWERS, KARATSUBA>>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { worker: &InTeams { source, .. }, job, range } = self;
        let one_by_one = OneByOne::new(job, source);
        let mut messages = Messages::<P, D, N, POWERS, KARATSUBA> { source, job, one_by_one };
        // SAFETY: the job's pointers are good, and this thread alone has these messages.
        unsafe { messages.all(Order::by_blocks_with_empty(job, range)) }
    }
}

struct Messages<'a, P: Permutation, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    job: &'a Job<'a>,
    /// Those that go alone.
    one_by_one: OneByOne<'a, P, D, N, POWERS, KARATSUBA>,
}

impl<'a, P: KeyEach, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Teamwork<'a, P>
    for Messages<'a, P, D, N, POWERS, KARATSUBA>
{
    type Steps = Counted;

    /// What makes its hash key, and what masks its tag.
    const BESIDE: usize = 2;

    #[inline(always)]
    fn source(&self) -> P::Source {
        self.source
    }

    /// A message with a nonce of 96 bits, whose state is the counter after that of the mask.
    #[inline(always)]
    fn member(&self, index: usize) -> Option<Member<'a>> {
        let (key, nonce, message) = (self.job.key(index), self.job.nonce(index), self.job.message(index));
        (nonce.len() == 12).then(|| {
            let state = pre_counter_96(nonce).swap_bytes() + 1;
            Member { index, key, state, message }
        })
    }

    #[inline(always)]
    unsafe fn alone(&mut self, index: usize) {
        self.one_by_one.run(index);
    }

    #[inline(always)]
    unsafe fn together(&mut self, team: &mut Team<P>, members: &mut [Member<'a>]) {
        // SAFETY: the caller's promise.
        unsafe { run_team::<P, D, KARATSUBA>(team, self.job, members) }
    }
}

/// Counters of 32 bits (SP 800-38D section 6.2), to which text is added.
struct Counted;

impl Steps for Counted {
    const ALONE_IS_DEAR: bool = true;

    #[inline(always)]
    fn next<T: Lanes>(counter: &mut T, text: T) -> [T; 2] {
        [counted(counter), text]
    }
}

/// Runs `members`, which have nonces of 96 bits.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
unsafe fn run_team<P: KeyEach, D: Direction, const KARATSUBA: bool>(
    team: &mut Team<P>,
    job: &Job<'_>,
    members: &[Member<'_>],
) {
    team.rekey(members);
    let isa = team.isa();
    let mut keys = [isa.zero(); SMALL];
    team.apply(&mut keys);
    let mut masks = [isa.zero(); SMALL];
    for (mask, members) in masks.iter_mut().zip(members.chunks(V::<P>::LANES)) {
        let mut words = [0; MAX_LANES];
        for (word, member) in words.iter_mut().zip(members) {
            // The counter before the first of the text.
            *word = (member.state - 1).swap_bytes();
        }
        *mask = isa.words(&words);
    }
    team.apply(&mut masks);
    if !D::OPEN {
        // SAFETY: the caller's promise.
        unsafe { team.crypt::<Counted>(members) }
    }
    let (keys, masks) = (&mut keys, &mut masks);
    isa.vectorize(Hash::<_, KARATSUBA> { job, members, keys, masks, of_input: D::OPEN });
    if D::OPEN {
        // SAFETY: the caller's promise.
        unsafe { team.crypt::<Counted>(members) }
    }
    for (tags, members) in masks.iter().zip(members.chunks(V::<P>::LANES)) {
        for (tag, member) in tags.to_words().into_iter().zip(members) {
            D::conclude(job, member.index, tag);
        }
    }
    wipe(keys);
}

/// Makes the masks of messages, set by set, their tags: their hash keys are `keys`. Texts are those of the input, if
/// `of_input`.
///
/// Work of its own, so that it is compiled once for both directions. Only where nobody writes these texts is it made.
struct Hash<'a, T, const KARATSUBA: bool> {
    job: &'a Job<'a>,
    members: &'a [Member<'a>],
    keys: &'a [T; SMALL],
    masks: &'a mut [T; SMALL],
    of_input: bool,
}

impl<T: Lanes, const KARATSUBA: bool> Work for Hash<'_, T, KARATSUBA> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { job, members, keys, masks, of_input } = self;
        for ((mask, key), members) in masks.iter_mut().zip(keys).zip(members.chunks(T::LANES)) {
            let mut hashed = [Hashed::NOTHING; MAX_LANES];
            for (hashed, member) in hashed.iter_mut().zip(members) {
                let Message { input, output, bytes, .. } = member.message;
                *hashed =
                    Hashed { aad: job.aad(member.index), text: if of_input { input } else { output }, bytes };
            }
            let powers = lane_hash::powers::<_, KARATSUBA>(*key);
            // SAFETY: the job's pointers are good, and who made this vouches for the texts.
            *mask = unsafe { hash_of::<_, KARATSUBA>(&powers, &hashed) }.reverse_bytes().xor(*mask);
        }
    }
}

/// What a message hashes (SP 800-38D section 7.1 step 5): AAD, text and lengths.
#[derive(Clone, Copy)]
struct Hashed<'a> {
    aad: &'a [u8],
    text: *const u8,
    bytes: usize,
}

impl Hashed<'_> {
    const NOTHING: Self = Self { aad: &[], text: std::ptr::null(), bytes: 0 };

    /// Blocks of AAD.
    #[inline(always)]
    fn first(&self) -> usize {
        self.aad.len().div_ceil(BLOCK)
    }

    /// All blocks.
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.first() + self.bytes.div_ceil(BLOCK) + 1
    }

    /// Where block `index` of the text lies, if so many bytes from there on are text.
    #[inline(always)]
    fn place(&self, index: usize, bytes: usize) -> Option<*const u8> {
        let at = index.checked_sub(self.first())? * BLOCK;
        (at + bytes <= self.bytes).then(|| self.text.wrapping_add(at))
    }

    /// Block `index`, little-endian.
    ///
    /// # Safety
    /// The text is readable, and there are so many blocks.
    #[inline(always)]
    unsafe fn block(&self, index: usize) -> u128 {
        if let Some(rest) = self.aad.get(index * BLOCK..)
            && !rest.is_empty()
        {
            // SAFETY: so many bytes are left.
            return unsafe { load_block(rest.as_ptr(), rest.len().min(BLOCK)) };
        }
        let at = (index - self.first()) * BLOCK;
        if at < self.bytes {
            // SAFETY: so many bytes are left.
            return unsafe { load_block(self.text.wrapping_add(at), (self.bytes - at).min(BLOCK)) };
        }
        let [aad, text] = [self.aad.len(), self.bytes].map(|bytes| u128::from(8 * bytes as u64));
        (aad << 64 | text).swap_bytes()
    }
}

/// The hashes of what a message a lane hashes. As long as zeros are all that was hashed, nothing is: what is short begins
/// with zeros, so that all end together.
///
/// # Safety
/// The texts are readable.
#[inline(always)]
unsafe fn hash_of<T: Lanes, const KARATSUBA: bool>(
    powers: &Powers<T>,
    hashed: &[Hashed<'_>; MAX_LANES],
) -> T {
    let (mut blocks, mut first) = (0, 0);
    for hashed in &hashed[..T::LANES] {
        blocks = blocks.max(hashed.blocks());
    }
    let (mut zeros, isa) = ([0; MAX_LANES], powers[0].isa());
    for (zeros, hashed) in zeros.iter_mut().zip(hashed).take(T::LANES) {
        *zeros = blocks - hashed.blocks();
        first = first.max(*zeros + hashed.first());
    }
    let (mut hash, mut at) = (isa.zero(), 0);
    while at < blocks {
        // Text by itself, in whole registers as far as it goes.
        let count = if at < first { first - at } else { blocks - at }.min(BLOCKS);
        // SAFETY: the caller's promise.
        let registers = unsafe { registers(isa, hashed, &zeros, at, count) };
        hash = absorb_some::<_, KARATSUBA>(powers, hash, &registers, count);
        at += count;
    }
    hash
}

/// `count` blocks of each lane, from block `at` on, before which a lane has so many `zeros`: their bytes reversed.
///
/// # Safety
/// The texts are readable, and every lane has so many blocks.
#[inline(always)]
unsafe fn registers<I: Isa>(
    isa: I,
    hashed: &[Hashed<'_>; MAX_LANES],
    zeros: &[usize; MAX_LANES],
    at: usize,
    count: usize,
) -> [I::V; BLOCKS] {
    let mut registers = [isa.zero(); BLOCKS];
    if count == BLOCKS {
        let mut places = [std::ptr::null(); MAX_LANES];
        let mut all = true;
        for lane in 0..I::V::LANES {
            let place =
                at.checked_sub(zeros[lane]).and_then(|index| hashed[lane].place(index, BLOCKS * BLOCK));
            all &= place.is_some();
            places[lane] = place.unwrap_or(std::ptr::null());
        }
        if all {
            for first in (0..BLOCKS).step_by(I::V::LANES) {
                let mut texts = [isa.zero(); MAX_LANES];
                for lane in 0..I::V::LANES {
                    // SAFETY: so many bytes are text.
                    texts[lane] = unsafe { isa.load(places[lane].add(first * BLOCK)) };
                }
                let texts = I::V::transpose(&texts);
                for lane in 0..I::V::LANES {
                    registers[first + lane] = texts[lane].reverse_bytes();
                }
            }
            return registers;
        }
    }
    for (i, register) in registers.iter_mut().enumerate().take(count) {
        let mut words = [0; MAX_LANES];
        for (lane, word) in words.iter_mut().enumerate().take(I::V::LANES) {
            if at + i >= zeros[lane] {
                // SAFETY: the caller's promise.
                *word = unsafe { hashed[lane].block(at + i - zeros[lane]) };
            }
        }
        *register = isa.words(&words).reverse_bytes();
    }
    registers
}
