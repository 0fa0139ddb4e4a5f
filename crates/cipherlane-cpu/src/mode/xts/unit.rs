//! One unit, or a segment of one: blocks side by side, and in the end those that are stolen from.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::Direction;
use super::steal::steal;
use super::tweak::{self, Advance, Start};
use crate::cipher::{CALLS, Groups, Meanwhile, Nothing, Permutation, SMALL, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::blocks::{self, Pass};

/// Runs a unit, or a segment of one, whose first tweak is in every lane of `first`.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, D: Direction, const N: usize>(
    cipher: &P,
    first: V<P>,
    message: Message,
) {
    let mut pass = Tweaked::<P, N> { cipher, next: tweak::start(cipher.isa(), first) };
    // SAFETY: the caller's promise.
    unsafe {
        if message.bytes.is_multiple_of(BLOCK) {
            return blocks::all::<_, N>(&mut pass, message);
        }
        // What comes before the last whole block, first as far as the next tweaks are known to stand.
        let before = message.bytes / BLOCK * BLOCK - BLOCK;
        let aligned = before - before % if P::WHOLE_GROUPS { N * V::<P>::BYTES } else { V::<P>::BYTES };
        blocks::all::<_, N>(&mut pass, message.take(aligned));
        let (message, left) = (message.skip(aligned), before - aligned);
        let tweak = pass.tweak(left / BLOCK);
        if left > 0 && P::WHOLE_GROUPS {
            blocks::groups_of_rest::<_, N>(&mut pass, message.take(left));
        } else if left > 0 {
            blocks::padded::<_, 1>(&mut pass, message.take(left));
        }
        steal::<P, D>(cipher, tweak, message.skip(left));
    }
}

/// [`run`] as work of its own, so that it is compiled once and not wherever it is wanted.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn run_apart<P: Permutation, D: Direction, const N: usize>(
    cipher: &P,
    first: V<P>,
    message: Message,
) {
    cipher.isa().vectorize(Unit::<P, D, N> { cipher, first, message, direction: PhantomData });
}

/// A unit as work. Only where the promise of [`run`] is kept is it made.
struct Unit<'a, P: Permutation, D, const N: usize> {
    cipher: &'a P,
    first: V<P>,
    message: Message,
    direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const N: usize> Work for Unit<'_, P, D, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: that of who made it.
        unsafe { run::<P, D, N>(self.cipher, self.first, self.message) }
    }
}

/// Groups at a time of a cipher that runs them in memory: they are in the first cache.
const AT_ONCE: usize = 8;

/// Every block between two additions of its tweak.
struct Tweaked<'a, P: Permutation, const N: usize> {
    cipher: &'a P,
    /// The tweaks of the next N registers.
    next: [V<P>; N],
}

impl<P: Permutation, const N: usize> Tweaked<'_, P, N> {
    /// The tweak of the next block but `block`, which is in the first register unless whole groups are padded.
    #[inline(always)]
    fn tweak(&self, block: usize) -> [u8; BLOCK] {
        // An index known at compile time keeps the tweaks in registers.
        let register = if P::WHOLE_GROUPS { block / V::<P>::LANES } else { 0 };
        self.next[register].to_blocks()[block % V::<P>::LANES]
    }

    /// The tweaks of the next M registers, which are several times N.
    #[inline(always)]
    fn take<const M: usize>(&mut self) -> [V<P>; M] {
        let mut tweaks = [self.next[0]; M];
        for some in tweaks.as_chunks_mut().0 {
            *some = self.next;
            let mut advance = Advance::new(&mut self.next);
            for i in 0..N {
                advance.one(i);
            }
        }
        tweaks
    }
}

impl<P: Permutation, const N: usize> Pass for Tweaked<'_, P, N> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    unsafe fn whole_groups(&mut self, message: Message) -> Message {
        let groups = AT_ONCE.min(message.bytes / (SMALL * V::<P>::BYTES));
        // Lines of texts from far away would be asked for in heaps.
        let is_far = message.prefetched || message.past_caches;
        if N != SMALL || is_far || self.cipher.runs_in_memory(groups) == 0 {
            return message;
        }
        self.cipher.isa().vectorize(InMemory { pass: self, message })
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        if M == N {
            let now = self.next;
            *registers = tweaked(self.cipher, *registers, &now, &mut Advance::new(&mut self.next));
        } else if M > N {
            let now = self.take::<M>();
            *registers = tweaked(self.cipher, *registers, &now, &mut Nothing);
        } else {
            *registers = tweaked(self.cipher, *registers, &self.next, &mut Nothing);
            // Groups smaller than N end a message: together they have no more than the registers here.
            self.next.copy_within(M.., 0);
        }
    }
}

/// Groups that a cipher runs in memory: of copies of the text, to which tweaks have been added, and of lists of tweaks. As work of
/// its own: within what runs other units it would slow these down. Only where the promise of [`Pass::whole_groups`] is kept is it
/// made.
struct InMemory<'a, 'c, P: Permutation, const N: usize> {
    pass: &'a mut Tweaked<'c, P, N>,
    message: Message,
}

impl<P: Permutation, const N: usize> Work for InMemory<'_, '_, P, N> {
    type Output = Message;

    #[inline(always)]
    fn run(self) -> Message {
        let Self { pass, mut message } = self;
        let (cipher, group) = (pass.cipher, N * V::<P>::BYTES);
        let mut sums = MaybeUninit::<[[V<P>; N]; AT_ONCE]>::uninit();
        let mut tweaks = MaybeUninit::<[[V<P>; N]; AT_ONCE]>::uninit();
        let (sums, tweaks) = (sums.as_mut_ptr().cast::<[V<P>; N]>(), tweaks.as_mut_ptr().cast::<[V<P>; N]>());
        while let count = cipher.runs_in_memory(AT_ONCE.min(message.bytes / group))
            && count > 0
        {
            // SAFETY: that of who made it; there is room for so many groups.
            unsafe {
                for i in 0..count {
                    let now = pass.take::<N>();
                    let mut text = blocks::load::<_, N>(cipher.isa(), message.skip(i * group).input);
                    blocks::add(&mut text, &now);
                    sums.add(i).write(text);
                    tweaks.add(i).write(now);
                }
                let groups = Groups { from: sums.cast(), to: message.output, count, ahead: 0 };
                cipher.run_in_memory(groups, Some(tweaks.cast_const().cast()));
                message = message.skip(count * group);
            }
        }
        message
    }
}

/// The tweaks of the next group are made while the cipher runs on one: it waits for them no longer, and the multipliers
/// are idle meanwhile.
impl<V: Lanes, const N: usize> Meanwhile for Advance<'_, V, N> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        for i in in_step::<N>(call) {
            self.one_pinned(i);
        }
    }
}

/// So are those of the next unit.
impl<V: Lanes, const N: usize> Meanwhile for Start<'_, V, N> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        for i in in_step::<N>(call) {
            self.one_pinned(i);
        }
    }
}

/// Which of N registers have their tweaks made in step `call`.
#[inline(always)]
fn in_step<const N: usize>(call: usize) -> Range<usize> {
    let each = N.div_ceil(CALLS);
    call * each..N.min((call + 1) * each)
}

/// The cipher between two additions of the tweaks, of which there may be more than registers.
#[inline(always)]
pub(super) fn tweaked<P: Permutation, const M: usize>(
    cipher: &P,
    mut blocks: [V<P>; M],
    tweaks: &[V<P>],
    meanwhile: &mut impl Meanwhile,
) -> [V<P>; M] {
    for (block, tweak) in blocks.iter_mut().zip(tweaks) {
        *block = block.xor(*tweak);
    }
    // In step, where the blocks leave room for the tweaks under way.
    blocks = if <P::Isa as Isa>::REGISTERS >= 2 * M {
        cipher.finish_in_step(cipher.begin(blocks), &mut [], meanwhile)
    } else {
        cipher.apply_while(blocks, meanwhile)
    };
    for (block, tweak) in blocks.iter_mut().zip(tweaks) {
        *block = block.xor(*tweak);
    }
    blocks
}
