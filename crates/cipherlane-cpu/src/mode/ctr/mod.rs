//! Counter mode (SP 800-38A section 6.5): the whole counter block is one 128-bit big-endian number.

mod in_company;
mod in_groups;

use std::ops::Range;

use cipherlane_core::BLOCK;

use self::in_company::InCompany;
use super::blocks::{self, Pass, add};
use super::body::{Body, Vectorized, part};
use super::counters::{Count, Counters, before_wrap};
use super::first_round::FirstRound;
use super::key_each::{self, Steps, Stepwise, block_of, counted};
use super::keys::Keys;
use super::last_byte::LastByte;
use super::listed;
use crate::cipher::{KeyEach, Nothing, Permutation, SMALL, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::worker::{Kernel, Segment, Worker};

/// CTR with N registers in flight, either direction.
pub(crate) struct Ctr<P: Permutation, const N: usize> {
    source: P::Source,
}

impl<P: Permutation, const N: usize> Ctr<P, N> {
    /// The kernel of `source`; P encrypts.
    pub(crate) fn new(source: P::Source) -> Self {
        Self { source }
    }
}

impl<P: KeyEach, const N: usize> Kernel for Ctr<P, N> {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        let keys = Keys::new(self.source, key);
        let first_round = keys.shared().and_then(FirstRound::of);
        Box::new(Vectorized(CtrBody::<P, N> { keys, first_round }))
    }
}

struct CtrBody<P: Permutation, const N: usize> {
    keys: Keys<P>,
    first_round: Option<FirstRound>,
}

impl<P: KeyEach, const N: usize> Body for CtrBody<P, N> {
    type Isa = P::Isa;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.keys.isa()
    }

    #[inline(always)]
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        match self.keys.shared() {
            Some(cipher) if listed::pays(job, &range, Self::MOST_IN_COMPANY) => {
                self.isa().vectorize(InCompany { body: self, cipher, job, range });
            }
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            Some(cipher) if P::WHOLE_GROUPS => unsafe { in_groups::run::<P, N>(cipher, job, range) },
            // SAFETY: as above.
            None if P::WHOLE_GROUPS => unsafe { key_each::run::<Counted, P, N>(&self.keys, job, range) },
            _ => self.isa().vectorize(OneByOne { body: self, job, range }),
        }
    }

    #[inline(always)]
    fn segment(&self, job: &Job<'_>, segment: &Segment) {
        let mut own = None;
        let cipher = self.keys.of(job.key(segment.message), &mut own);
        let first = advanced(job.nonce_block(segment.message), segment.bytes.start / BLOCK);
        // SAFETY: the job's pointers are good, and this thread alone has this segment.
        unsafe { run::<P, N>(cipher, self.first_round.as_ref(), first, part(job, segment)) }
    }
}

impl<P: Permutation, const N: usize> CtrBody<P, N> {
    /// Bytes of messages on average below which they run in company. Where registers have four lanes and the cipher is quick, a
    /// message of two registers takes as long alone as with a list.
    const MOST_IN_COMPANY: usize =
        if P::WHOLE_GROUPS || V::<P>::LANES < 4 { N * V::<P>::BYTES } else { 2 * V::<P>::BYTES };
}

/// Messages one by one, as work of its own, so that it is compiled once and not wherever it is wanted.
struct OneByOne<'a, P: Permutation, const N: usize> {
    body: &'a CtrBody<P, N>,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<P: Permutation, const N: usize> Work for OneByOne<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, job, range } = self;
        let mut own = None;
        for index in range {
            let cipher = body.keys.of(job.key(index), &mut own);
            // SAFETY: the job's pointers are good, and this thread alone has this message.
            unsafe {
                run::<P, N>(cipher, body.first_round.as_ref(), job.nonce_block(index), job.message(index));
            }
        }
    }
}

/// Each block is that of a counter, to which text is added.
struct Counted;

impl Steps for Counted {
    #[inline(always)]
    fn next<T: Lanes>(counter: &mut T, text: T) -> [T; 2] {
        [counted(counter), text]
    }
}

impl Stepwise for Counted {
    #[inline(always)]
    fn begin(counter: &[u8]) -> u128 {
        block_of(counter).swap_bytes()
    }

    /// Registers count in words of 32 bits.
    #[inline(always)]
    fn fits(counter: u128, blocks: usize) -> bool {
        until_wrap(&counter.to_be_bytes()) >= blocks as u64
    }

    #[inline(always)]
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, counter: u128, message: Message) {
        // SAFETY: the caller's promise. Such ciphers begin no counters beforehand.
        unsafe { run::<P, N>(cipher, None, counter.to_be_bytes(), message) }
    }
}

/// The counter block `blocks` blocks after `counter`, modulo 2^128 (SP 800-38A appendix B.1).
#[inline(always)]
fn advanced(counter: [u8; BLOCK], blocks: usize) -> [u8; BLOCK] {
    u128::from_be_bytes(counter).wrapping_add(blocks as u128).to_be_bytes()
}

/// Blocks from `counter` on until its last 32 bits are zero again: 1 to 2^32.
#[inline(always)]
fn until_wrap(counter: &[u8; BLOCK]) -> u64 {
    let [.., a, b, c, d] = *counter;
    (1 << 32) - u64::from(u32::from_be_bytes([a, b, c, d]))
}

/// Bytes of a message from which on a table pays: of first rounds where there is one to save, else of last bytes.
const PAYS: usize = 1024;

/// Encrypts or decrypts `message`, whose first counter block is `counter`. Short messages have code of their own, which
/// is a third faster for one register.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
unsafe fn run<P: Permutation, const N: usize>(
    cipher: &P,
    first_round: Option<&FirstRound>,
    mut counter: [u8; BLOCK],
    mut message: Message,
) {
    if P::WHOLE_GROUPS {
        // SAFETY: the caller's promise.
        unsafe { (counter, message) = whole_groups(cipher, counter, message) };
    }
    let pays = !P::WHOLE_GROUPS && message.bytes >= PAYS;
    // SAFETY: the caller's promise.
    unsafe {
        match first_round {
            Some(first_round) if P::BEGINS && pays => {
                stream::<_, N>(counter, message, |first| {
                    Counters::of_public(cipher, Some(first_round), first)
                });
            }
            _ if pays && !P::BEGINS => {
                stream::<_, N>(counter, message, |first| LastByte::new(cipher, first));
            }
            _ => stream::<_, N>(counter, message, |first| Soon {
                cipher,
                counters: Little::new(cipher.isa(), first),
            }),
        }
    }
}

/// Encrypts or decrypts groups of `message` by a cipher that makes counters of its own, as long as the last 16 bits of these do
/// not wrap, and one as usual where they do, or where it is left over. Returns the counter of what is left, and that.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn whole_groups<P: Permutation>(
    cipher: &P,
    mut counter: [u8; BLOCK],
    mut message: Message,
) -> ([u8; BLOCK], Message) {
    let group = SMALL * V::<P>::LANES;
    while message.bytes >= group * BLOCK && cipher.counts(message.bytes / (group * BLOCK)) > 0 {
        // SAFETY: the caller's promise, for parts of the message; no counters are asked for that wrap.
        unsafe {
            let bytes = message.bytes.min(before_wrap(&counter, group) * group * BLOCK);
            let left = blocks::whole_groups(
                cipher.isa(),
                message.take(bytes),
                |groups| cipher.counts(groups),
                |text| {
                    cipher.count(counter, text);
                    counter = advanced(counter, text.count * group);
                },
            );
            message = message.skip(bytes - left.bytes);
            if message.bytes >= group * BLOCK {
                stream::<_, SMALL>(counter, message.take(group * BLOCK), |first| Soon {
                    cipher,
                    counters: Little::new(cipher.isa(), first),
                });
                message = message.skip(group * BLOCK);
                counter = advanced(counter, group);
            }
        }
    }
    (counter, message)
}

/// Runs `message` through what `pass` makes of each counter block after which the last 32 bits wrap, the first included.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // no more blocks than the message has
unsafe fn stream<T: Pass, const N: usize>(
    mut counter: [u8; BLOCK],
    mut message: Message,
    pass: impl Fn(&[u8; BLOCK]) -> T,
) {
    // Registers count in 32-bit words. Where those wrap, once in 2^32 blocks, the carry is made here.
    while message.bytes > 0 {
        let blocks = until_wrap(&counter).min(message.bytes.div_ceil(BLOCK) as u64) as usize;
        let bytes = message.bytes.min(blocks * BLOCK);
        // SAFETY: the caller's promise, for a part of the message.
        unsafe {
            blocks::all::<_, N>(&mut pass(&counter), message.take(bytes));
            message = message.skip(bytes);
        }
        counter = advanced(counter, blocks);
    }
}

impl<P: Permutation> Pass for Counters<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, text: &mut [V<P>; M]) {
        let begun = self.take();
        add(text, &self.cipher.finish_while(begun, &mut Nothing));
    }
}

/// The number of each lane, little-endian.
const LANE_NUMBERS: [[u8; BLOCK]; MAX_LANES] =
    [0_u128.to_le_bytes(), 1_u128.to_le_bytes(), 2_u128.to_le_bytes(), 3_u128.to_le_bytes()];

/// Consecutive counter blocks, a register at a time.
struct Little<V> {
    /// The next ones, little-endian.
    next: V,
    /// The number of lanes, in each lane.
    step: V,
}

impl<V: Lanes> Little<V> {
    #[inline(always)]
    fn new<I: Isa<V = V>>(isa: I, first: &[u8; BLOCK]) -> Self {
        let next = isa.splat(first).reverse_bytes().add32(isa.lanes(&LANE_NUMBERS));
        Self { next, step: isa.splat(&(V::LANES as u128).to_le_bytes()) }
    }

    #[inline(always)]
    fn next(&mut self) -> V {
        let counters = self.next.reverse_bytes();
        self.next = self.next.add32(self.step);
        counters
    }
}

/// Counter blocks that are soon ready for few of them.
struct Soon<'a, P: Permutation> {
    cipher: &'a P,
    counters: Little<V<P>>,
}

impl<P: Permutation> Pass for Soon<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, text: &mut [V<P>; M]) {
        let mut blocks = *text;
        for block in &mut blocks {
            *block = self.counters.next();
        }
        self.cipher.apply_first::<M>(&mut blocks);
        add(text, &blocks);
    }
}
