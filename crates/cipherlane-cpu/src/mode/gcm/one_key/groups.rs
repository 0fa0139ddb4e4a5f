//! One long message, or a segment of one: groups of N registers, encrypted and hashed in one pass.
//!
//! While the cipher works on one group, the multipliers hash another: the one that was stored last when sealing,
//! the same one when opening. The state stays spread over the lanes (see [`super::ghash`]): lane i hashes every
//! LANES-th block by powers of H^LANES, so nothing is folded before the end.

use std::marker::PhantomData;

use super::lacking::Lacking;
use crate::cipher::{CALLS, Groups, MIDDLE, Meanwhile, Nothing, Permutation, SMALL, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes, WOVEN, Work, Woven};
use crate::mode::counters::{Count, Counters, Room, before_wrap};
use crate::mode::gcm::ghash::{Ghash, Powers, Products};
use crate::mode::gcm::{Direction, text};
use crate::prefetch::{DISTANCE, prefetch};

/// The text of one message, or of a segment of one, as work.
pub(super) struct Text<'p, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    pub(super) cipher: &'p P,
    pub(super) hash: Ghash<'p, P::Isa, KARATSUBA>,
    pub(super) text: Message,
    pub(super) counters: Counters<'p, P>,
    direction: PhantomData<D>,
}

impl<'p, P: Permutation, D, const N: usize, const KARATSUBA: bool> Text<'p, P, D, N, KARATSUBA> {
    /// `text` under `counters`, hashed into `hash`.
    #[inline(always)]
    pub(super) fn new(
        cipher: &'p P,
        hash: Ghash<'p, P::Isa, KARATSUBA>,
        text: Message,
        counters: Counters<'p, P>,
    ) -> Self {
        Self { cipher, hash, text, counters, direction: PhantomData }
    }
}

impl<'p, P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Text<'p, P, D, N, KARATSUBA>
{
    type Output = Ghash<'p, P::Isa, KARATSUBA>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { cipher, hash, text, mut counters, .. } = self;
        // SAFETY: the pointers are those of a job's message.
        unsafe {
            let (lacking, rest) = run::<P, N, KARATSUBA, D>(cipher, hash, text, &mut counters, None);
            lacking.finish::<P, N, D>(cipher, rest, &mut counters)
        }
    }
}

/// Encrypts or decrypts the groups of `message` with `counters` and hashes their ciphertext into `hash`, but for the last
/// one when sealing: that can be hashed while what is left of the message, which is returned as well, or the next message is
/// encrypted. Completes `before`, the hash of the last one, in this way.
///
/// # Safety
/// The message's pointers are good for its bytes, and equal or apart; those of the last one still are.
#[inline(always)]
pub(super) unsafe fn run<'p, P: Permutation, const N: usize, const KARATSUBA: bool, D: Direction>(
    cipher: &P,
    mut hash: Ghash<'p, P::Isa, KARATSUBA>,
    mut message: Message,
    counters: &mut impl Count<P>,
    mut before: Option<&mut Lacking<'p, P::Isa, KARATSUBA>>,
) -> (Lacking<'p, P::Isa, KARATSUBA>, Message) {
    let group = N * V::<P>::BYTES;
    let several = P::WHOLE_GROUPS && N == SMALL && message.bytes >= 2 * group;
    let counts = several && cipher.counts(message.bytes / group) > 0 && counters.next_public().is_some();
    if counts || several && cipher.runs_pairs() {
        if let Some(before) = before.take() {
            before.complete_group::<N>();
        }
        if counts {
            let counted =
                Counted::<P, _, D, N, KARATSUBA> { cipher, hash, message, counters, direction: PhantomData };
            (hash, message) = cipher.isa().vectorize(counted);
        }
        // SAFETY: the caller's.
        message = unsafe { run_pairs::<P, N, KARATSUBA, D>(cipher, &mut hash, message, counters) };
    }
    let mut done = 0;
    // SAFETY: `done` grows by groups that fit into the message; what is hashed is readable, and already written
    // when sealing.
    unsafe {
        if !D::OPEN && message.bytes >= group {
            if let Some(before) = before
                && let Some(last) = before.group.take()
            {
                let first = message.take(group);
                crypt_and_hash::<P, N, KARATSUBA>(cipher, counters, first, &mut before.hash, last);
            } else {
                text::crypt::<P, N>(cipher, counters.take(), message, &mut Nothing);
            }
            done = group;
        }
        while message.bytes - done >= group {
            let here = message.skip(done);
            let hashed = if D::OPEN { here.input } else { here.output.cast_const().sub(group) };
            done += crypt_and_hash::<P, N, KARATSUBA>(cipher, counters, here, &mut hash, hashed);
        }
        let last = (!D::OPEN && done > 0).then(|| message.output.cast_const().wrapping_add(done - group));
        (Lacking { hash, group: last }, message.skip(done))
    }
}

/// Groups at a time of a cipher that makes counters of its own: they are in the first cache when they are hashed.
const AT_ONCE: usize = 16;

/// [`run_counted`] as work of its own: within what runs short messages it would slow these down. Only where the promise of that is
/// kept is it made.
struct Counted<'a, 'p, P: Permutation, C, D, const N: usize, const KARATSUBA: bool> {
    cipher: &'a P,
    hash: Ghash<'p, P::Isa, KARATSUBA>,
    message: Message,
    counters: &'a mut C,
    direction: PhantomData<D>,
}

impl<'p, P: Permutation, C: Count<P>, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Counted<'_, 'p, P, C, D, N, KARATSUBA>
{
    type Output = (Ghash<'p, P::Isa, KARATSUBA>, Message);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { cipher, mut hash, message, counters, .. } = self;
        // SAFETY: that of who made it.
        let rest = unsafe { run_counted::<P, N, KARATSUBA, D>(cipher, &mut hash, message, counters) };
        (hash, rest)
    }
}

/// Encrypts or decrypts groups of `message` and hashes them, by a cipher that makes counters of its own. Returns what is left.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn run_counted<P: Permutation, const N: usize, const KARATSUBA: bool, D: Direction>(
    cipher: &P,
    hash: &mut Ghash<'_, P::Isa, KARATSUBA>,
    mut message: Message,
    counters: &mut impl Count<P>,
) -> Message {
    let (group, blocks) = (N * V::<P>::BYTES, N * V::<P>::LANES);
    let ahead = if message.prefetched { DISTANCE } else { 0 };
    while let most = cipher.counts(AT_ONCE.min(message.bytes / group))
        && most > 0
        && let Some(counter) = counters.next_public()
    {
        let count = cipher.counts(most.min(before_wrap(&counter, blocks)));
        // SAFETY: the message has so many groups left, before the last 16 bits wrap; what is hashed is readable, and already
        // written when sealing.
        unsafe {
            if count == 0 {
                // The last 16 bits wrap soon.
                if message.bytes < 2 * group {
                    break;
                }
                run_pairs::<P, N, KARATSUBA, D>(cipher, hash, message.take(2 * group), counters);
                message = message.skip(2 * group);
                continue;
            }
            if D::OPEN {
                hash_groups::<_, N, KARATSUBA>(hash, message.input, count);
            }
            cipher.count(counter, Groups { from: message.input, to: message.output, count, ahead });
            if !D::OPEN {
                hash_groups::<_, N, KARATSUBA>(hash, message.output, count);
            }
            counters.skip(count * blocks);
            message = message.skip(count * group);
        }
    }
    message
}

/// Encrypts or decrypts the groups of `message` two by two and hashes them, for a cipher that is quicker so and leaves the
/// hash nothing to be done meanwhile. Returns what is left, less than two groups.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn run_pairs<P: Permutation, const N: usize, const KARATSUBA: bool, D: Direction>(
    cipher: &P,
    hash: &mut Ghash<'_, P::Isa, KARATSUBA>,
    mut message: Message,
    counters: &mut impl Count<P>,
) -> Message {
    let group = N * V::<P>::BYTES;
    // SAFETY: the message has two groups left; what is hashed is readable, and already written when sealing.
    unsafe {
        while message.bytes >= 2 * group {
            if message.prefetched {
                prefetch::<true>(message, 2 * group);
            }
            if D::OPEN {
                hash_groups::<_, N, KARATSUBA>(hash, message.input, 2);
            }
            // Counters come a group at a time.
            let halves: [[V<P>; SMALL]; 2] = [counters.take(), counters.take()];
            let mut begun = [halves[0][0]; MIDDLE];
            for (begun, counter) in begun.iter_mut().zip(halves.as_flattened()) {
                *begun = *counter;
            }
            text::crypt::<P, MIDDLE>(cipher, begun, message, &mut Nothing);
            if !D::OPEN {
                hash_groups::<_, N, KARATSUBA>(hash, message.output, 2);
            }
            message = message.skip(2 * group);
        }
    }
    message
}

/// Encrypts or decrypts groups of N registers from the start of `message` on, one at least, and continues `hash` with as
/// many from `hashed` on; each register is hashed before it is written. Returns the bytes.
///
/// # Safety
/// `message` has a group, and there are as many to be hashed.
#[inline(always)]
pub(super) unsafe fn crypt_and_hash<P: Permutation, const N: usize, const KARATSUBA: bool>(
    cipher: &P,
    counters: &mut impl Count<P>,
    message: Message,
    hash: &mut Ghash<'_, P::Isa, KARATSUBA>,
    hashed: *const u8,
) -> usize {
    let group = N * V::<P>::BYTES;
    // SAFETY: the caller's; the table has powers for a group.
    unsafe {
        if P::WEAVES && KARATSUBA && N == WOVEN {
            let mut room = Room::<V<P>, N>::new();
            let counters = counters.take_some(message.bytes / group, &mut room);
            let [powers, sums] = hash.powers().woven();
            let Message { input, output, .. } = message;
            hash.state =
                cipher.weave(Woven { counters, input, output, hashed, state: hash.state, powers, sums });
            return counters.groups * group;
        }
        if message.prefetched {
            prefetch::<true>(message, group);
        }
        // Without this the compiler hoists round keys and powers out of the loop, and spills.
        let cipher = std::hint::black_box(cipher);
        let mut step = GroupHash::<P::Isa, _, N, KARATSUBA>::new(hash, InMemory(hashed));
        text::crypt::<P, N>(cipher, counters.take(), message, &mut step);
        hash.state = step.finish();
    }
    group
}

/// Continues `hash` with groups of N registers.
///
/// # Safety
/// They are readable from `hashed` on.
#[inline(always)]
unsafe fn hash_groups<I: Isa, const N: usize, const KARATSUBA: bool>(
    hash: &mut Ghash<'_, I, KARATSUBA>,
    hashed: *const u8,
    groups: usize,
) {
    for group in 0..groups {
        // SAFETY: the caller's.
        let group = unsafe { hashed.add(group * N * I::V::BYTES) };
        *hash = Lacking::group(*hash, group).complete::<N>();
    }
}

/// A group of ciphertext.
pub(super) trait Group<I: Isa> {
    /// Its register `register`.
    fn register(&self, isa: I, register: usize) -> I::V;
}

/// One that is readable for as long as it is hashed.
pub(super) struct InMemory(pub(super) *const u8);

impl<I: Isa> Group<I> for InMemory {
    #[inline(always)]
    fn register(&self, isa: I, register: usize) -> I::V {
        // SAFETY: this is made of whole groups of readable ciphertext only.
        unsafe { isa.load(self.0.add(register * I::V::BYTES)) }
    }
}

/// One that is kept in registers.
impl<I: Isa, const N: usize> Group<I> for [I::V; N] {
    #[inline(always)]
    fn register(&self, _: I, register: usize) -> I::V {
        self[register]
    }
}

/// The hash of one group: two multiplications of registers every other call, or every call where there are many, or one
/// each call.
///
/// The state and all registers but the last are multiplied by H^(LANES * what follows); the last is pending.
pub(super) struct GroupHash<'a, I: Isa, G, const N: usize, const KARATSUBA: bool> {
    powers: &'a Powers<I>,
    group: G,
    state: I::V,
    products: Products<I::V>,
    last: I::V,
}

impl<'a, I: Isa, G: Group<I>, const N: usize, const KARATSUBA: bool> GroupHash<'a, I, G, N, KARATSUBA> {
    /// Calls from one pair of registers to the next.
    const STRIDE: usize = if N <= CALLS { 2 } else { 1 };
    const ENOUGH_CALLS: () = assert!(N / 2 * Self::STRIDE <= CALLS && N.is_multiple_of(2));
    /// Whether products are added in their step. The compiler likes to gather those of the low and of the high halves
    /// behind the last step, where they keep one port busy and the rounds waiting (on Intel's CPUs; on Zen 4 it was not
    /// measured). The three multiplications of KARATSUBA in 32 registers it leaves where they are.
    const PINNED: bool = !KARATSUBA || I::REGISTERS < 32;
    /// Whether registers are multiplied one by one: where there are 16, two of them and N of a cipher do not find room, and one
    /// would go by memory each time. Pairs of registers go there anyway.
    const ONE_BY_ONE: bool = I::REGISTERS == 16 && N <= CALLS;

    /// The hash that continues `hash` with `group`.
    #[inline(always)]
    pub(super) fn new(hash: &Ghash<'a, I, KARATSUBA>, group: G) -> Self {
        let () = Self::ENOUGH_CALLS;
        let powers = std::hint::black_box(hash.powers());
        let zero = powers.isa().zero();
        Self { powers, group, state: hash.state, products: Products::zero(powers.isa()), last: zero }
    }

    #[inline(always)]
    fn load(&self, register: usize) -> I::V {
        self.group.register(self.powers.isa(), register).reverse_bytes()
    }

    /// Register `call`.
    #[inline(always)]
    fn step_by_one(&mut self, call: usize) {
        if call >= N {
            return;
        }
        let x = if call == 0 { self.state } else { self.load(call - 1) };
        self.products.add::<KARATSUBA>(x, self.powers.splat::<KARATSUBA>((N - call) * I::V::LANES));
        self.products = self.products.pin();
        if call + 1 == N {
            self.last = self.load(call);
        }
    }

    /// The state after all steps, one after the other.
    #[inline(always)]
    pub(super) fn all(mut self) -> I::V {
        for call in 0..CALLS.max(N) {
            self.step(call);
        }
        self.finish()
    }

    /// The state after all steps.
    #[inline(always)]
    pub(super) fn finish(self) -> I::V {
        self.products.settle::<KARATSUBA>().reduce(self.powers.isa()).xor(self.last)
    }
}

impl<I: Isa, G: Group<I>, const N: usize, const KARATSUBA: bool> Meanwhile
    for GroupHash<'_, I, G, N, KARATSUBA>
{
    /// The registers two by two, the state first. Calls beyond the last pair do nothing.
    #[inline(always)]
    fn step(&mut self, call: usize) {
        if Self::ONE_BY_ONE {
            return self.step_by_one(call);
        }
        let register = call / Self::STRIDE * 2;
        if register >= N || !call.is_multiple_of(Self::STRIDE) {
            return;
        }
        let first = if register == 0 { self.state } else { self.load(register - 1) };
        let power = (N - register) * I::V::LANES;
        let (powers, next) = (self.powers, power - I::V::LANES);
        let factors = [powers.splat::<KARATSUBA>(power), powers.splat::<KARATSUBA>(next)];
        self.products.add_two::<KARATSUBA>([first, self.load(register)], factors);
        if Self::PINNED {
            self.products = self.products.pin();
        }
        if register == N - 2 {
            self.last = self.load(N - 1);
        }
    }
}
