//! Blocks on their way from the messages to the lanes and back.

use std::mem::MaybeUninit;

use super::ciphers::Ciphers;
use super::streams::{MAX_STEPS, MAX_STREAMS, Streams};
use crate::cipher::{CALLS, Meanwhile, Nothing, Permutation};
use crate::lanes::{ABREAST, Abreast, Lanes, MAX_LANES, Set};
use crate::mode::blocks;

/// Block s of LANES streams in a register, for MAX_STEPS blocks of each stream. Nothing at first: zeros would take a
/// twentieth of the time of 64 messages of 1 KiB.
type Texts<V, const N: usize> = [[MaybeUninit<V>; N]; MAX_STEPS];

/// Whether M registers of a stage of N run [`Stage::abreast`].
pub(super) const fn runs_abreast<C: Ciphers, const N: usize, const M: usize>() -> bool {
    C::RUNS_ABREAST && M == ABREAST && N == ABREAST
}

/// Two stages: while the blocks on one are encrypted, those before them leave the other, and the next ones enter it.
pub(super) struct Stage<V, const N: usize> {
    texts: [Texts<V, N>; 2],
}

impl<V: Lanes, const N: usize> Stage<V, N> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        const { assert!(N * V::LANES <= MAX_STREAMS, "at most 16 registers") };
        Self { texts: const { [[[MaybeUninit::uninit(); N]; MAX_STEPS]; 2] } }
    }

    /// Encrypts the next `steps` blocks of each stream, in M registers.
    #[inline(always)]
    pub(super) fn encrypt<C, const M: usize>(&mut self, ciphers: &mut C, streams: &mut Streams, steps: usize)
    where
        C: Ciphers<Cipher: Permutation<Isa = V::Isa>>,
    {
        ciphers.rekey::<M>(streams);
        let (isa, [texts, _]) = (ciphers.isa(), &mut self.texts);
        for register in 0..M {
            for first in (0..steps).step_by(V::LANES) {
                // SAFETY: every stream has `steps` blocks left.
                unsafe { enter(isa, streams, texts, (register, first), first, steps - first) }
            }
        }
        // SAFETY: MAX_STREAMS blocks hold N registers, and N >= M.
        let mut chains: [V; M] = unsafe { blocks::load(isa, streams.chains().as_ptr().cast()) };
        for texts in &mut texts[..steps] {
            // SAFETY: the blocks have entered.
            chains = unsafe { chain(ciphers, chains, texts, &mut Nothing) };
        }
        // SAFETY: as above.
        unsafe { blocks::store(&chains, streams.chains().as_mut_ptr().cast()) }
        for register in 0..M {
            for first in (0..steps).step_by(V::LANES) {
                // SAFETY: every stream has `steps` blocks left, and this thread alone has their messages.
                unsafe { leave(streams, texts, (register, first), first, steps - first) }
            }
        }
    }

    /// Encrypts the next `stages` times `steps` blocks of each stream, in M registers; `steps` is MAX_STEPS, half of it, or
    /// LANES.
    ///
    /// # Safety
    /// M registers have a lane for every stream, and each has so many blocks left. This thread alone has their messages.
    #[inline(always)]
    pub(super) unsafe fn encrypt_many<C, const M: usize>(
        &mut self,
        ciphers: &mut C,
        streams: &mut Streams,
        stages: usize,
        steps: usize,
    ) where
        C: Ciphers<Cipher: Permutation<Isa = V::Isa>>,
    {
        ciphers.rekey::<M>(streams);
        // SAFETY: the caller's.
        unsafe {
            if runs_abreast::<C, N, M>() && steps > MAX_LANES {
                self.abreast(ciphers, streams, stages, steps);
            } else {
                self.by_turns::<C, M>(ciphers, streams, stages, steps);
            }
        }
    }

    /// [`Stage::encrypt_many`], with ciphers that are keyed.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn by_turns<C, const M: usize>(
        &mut self,
        ciphers: &C,
        streams: &mut Streams,
        stages: usize,
        steps: usize,
    ) where
        C: Ciphers<Cipher: Permutation<Isa = V::Isa>>,
    {
        let (isa, [mut here, mut there]) = (ciphers.isa(), self.texts.each_mut());
        // SAFETY: MAX_STREAMS blocks hold N registers, and N >= M.
        let mut chains: [V; M] = unsafe { blocks::load(isa, streams.chains().as_ptr().cast()) };
        Exchange::<V, N, M>::new(isa, streams, &mut *here, [None, Some(0)], steps).all();
        for number in 0..stages {
            let moves = [number.checked_sub(1), (number + 1 < stages).then_some(number + 1)];
            let mut exchange = Exchange::<V, N, M>::new(isa, streams, &mut *there, moves, steps);
            for texts in &mut here[..steps] {
                // SAFETY: the blocks have entered before the first stage, or while those of the other were encrypted: a cipher
                // calls for other work as often as that takes ([`CALLS`]).
                chains = unsafe { chain(ciphers, chains, texts, &mut exchange) };
                exchange.step += 1;
            }
            (here, there) = (there, here);
        }
        Exchange::<V, N, M>::new(isa, streams, there, [stages.checked_sub(1), None], steps).all();
        // SAFETY: as above.
        unsafe { blocks::store(&chains, streams.chains().as_mut_ptr().cast()) }
    }

    /// [`Stage::by_turns`], in instructions of our own order.
    ///
    /// # Safety
    /// As there, of ABREAST registers that [run so](runs_abreast).
    #[inline(always)]
    unsafe fn abreast<C>(&mut self, ciphers: &C, streams: &mut Streams, count: usize, steps: usize)
    where
        C: Ciphers<Cipher: Permutation<Isa = V::Isa>>,
    {
        // First, since it borrows all of the streams.
        let chains = streams.chains().as_ptr();
        let (inputs, outputs) = streams.ends();
        let (inputs, outputs) = (inputs.as_ptr(), outputs.as_ptr());
        let set = Set { inputs, outputs, chains, begin: Set::ALL, first: 0, count };
        // SAFETY: the caller's; MAX_STREAMS blocks hold N registers, which are ABREAST.
        unsafe {
            let chains = self.sets_abreast(ciphers, &[set], steps);
            blocks::store(&chains, streams.chains().as_mut_ptr().cast());
        }
    }

    /// Encrypts one set behind the other, with `steps` blocks of each stream on a stage. Returns the last blocks of the last set.
    ///
    /// # Safety
    /// The ciphers [run so](runs_abreast), and the caller keeps what [`Abreast`] asks for.
    #[inline(always)]
    pub(super) unsafe fn sets_abreast<C>(&mut self, ciphers: &C, sets: &[Set], steps: usize) -> [V; ABREAST]
    where
        C: Ciphers<Cipher: Permutation<Isa = V::Isa>>,
    {
        let [here, there] = &mut self.texts;
        let stages = [here.as_mut_ptr().cast(), there.as_mut_ptr().cast()];
        debug_assert!(N >= ABREAST && steps <= MAX_STEPS);
        // SAFETY: the caller's; a stage has MAX_STEPS rows of N registers.
        unsafe { ciphers.run_abreast(Abreast { sets, stages, steps }) }
    }
}

/// A block of each stream, which becomes the block before the next one.
///
/// # Safety
/// The first M of `texts` are written.
#[inline(always)]
unsafe fn chain<C: Ciphers<Cipher: Permutation<Isa = V::Isa>>, V: Lanes, const M: usize>(
    ciphers: &C,
    mut chains: [V; M],
    texts: &mut [MaybeUninit<V>],
    meanwhile: &mut impl Meanwhile,
) -> [V; M] {
    for (chain, text) in chains.iter_mut().zip(&*texts) {
        // SAFETY: the caller's.
        *chain = chain.xor(unsafe { text.assume_init() });
    }
    chains = ciphers.apply_while(chains, meanwhile);
    for (chain, text) in chains.iter().zip(texts) {
        text.write(*chain);
    }
    chains
}

/// Brings blocks of the streams of a register on the stage: `blocks` of each from block `from` on, but no more than LANES, as
/// those of step `first` and behind it.
///
/// # Safety
/// The streams have these blocks, and the stage has these steps and this register.
#[inline(always)]
unsafe fn enter<V: Lanes, const N: usize>(
    isa: V::Isa,
    streams: &Streams,
    texts: &mut Texts<V, N>,
    (register, first): (usize, usize),
    from: usize,
    blocks: usize,
) {
    // SAFETY: the caller's.
    let texts = unsafe { texts.get_unchecked_mut(first..first + V::LANES) };
    // SAFETY: the caller's.
    let blocks = unsafe { streams.load(isa, register, from, blocks) };
    for (text, block) in texts.iter_mut().zip(blocks) {
        // SAFETY: the caller's.
        unsafe { text.get_unchecked_mut(register) }.write(block);
    }
}

/// Takes back what [`enter`] brought.
///
/// # Safety
/// As there, and this thread alone has the messages.
#[inline(always)]
unsafe fn leave<V: Lanes, const N: usize>(
    streams: &Streams,
    texts: &Texts<V, N>,
    (register, first): (usize, usize),
    from: usize,
    blocks: usize,
) {
    // SAFETY: the caller's; the blocks have entered, LANES of them from a multiple of LANES on, and stay.
    let text =
        |step: usize| unsafe { texts.get_unchecked(first + step).get_unchecked(register).assume_init() };
    let mut entered = [text(0); MAX_LANES];
    for (step, block) in entered.iter_mut().enumerate().take(V::LANES) {
        *block = text(step);
    }
    // SAFETY: the caller's.
    unsafe { streams.store(&entered, register, from, blocks) }
}

/// What happens on one stage while the blocks on the other are encrypted. Made only where every stream has the blocks
/// of the stages that leave and enter, and by the thread that has their messages.
struct Exchange<'a, V: Lanes, const N: usize, const M: usize> {
    isa: V::Isa,
    streams: &'a Streams,
    texts: &'a mut Texts<V, N>,
    /// The number of the stage that leaves.
    leaves: Option<usize>,
    /// The number of the stage that enters.
    enters: Option<usize>,
    /// Blocks of each stream on a stage.
    steps: usize,
    /// The block of the other stage that is being encrypted.
    step: usize,
}

/// Calls of the cipher in which registers are exchanged.
const MOVING: usize = CALLS - 1;

impl<'a, V: Lanes, const N: usize, const M: usize> Exchange<'a, V, N, M> {
    /// LANES blocks of the streams of a register are a part: so many belong to each block that is encrypted, or else one
    /// to every so many blocks. Parts of a register follow one another, hence the cache lines of its streams: the CPU
    /// brings the next with the one before, and messages that lie a power of two apart drive it out before long.
    const PARTS: usize = M / V::LANES;
    const BLOCKS: usize = V::LANES.div_ceil(M);

    /// The stages that leave and enter `texts`, if they do, of `steps` blocks of each stream.
    #[inline(always)]
    fn new(
        isa: V::Isa,
        streams: &'a Streams,
        texts: &'a mut Texts<V, N>,
        [leaves, enters]: [Option<usize>; 2],
        steps: usize,
    ) -> Self {
        Self { isa, streams, texts, leaves, enters, steps, step: 0 }
    }

    /// Exchanges a part: `further` parts behind part `index`, of the same register.
    #[inline(always)]
    fn part(&mut self, index: usize, further: usize) {
        // A power of two, and no division.
        let parts = (self.steps / V::LANES).trailing_zeros();
        let (register, first) = (index >> parts, ((index & ((1 << parts) - 1)) + further) * V::LANES);
        debug_assert!(register < M && first < self.steps);
        if let Some(number) = self.leaves {
            let from = number * self.steps + first;
            // SAFETY: see the type.
            unsafe { leave(self.streams, self.texts, (register, first), from, V::LANES) }
        }
        if let Some(number) = self.enters {
            let from = number * self.steps + first;
            // SAFETY: see the type.
            unsafe { enter(self.isa, self.streams, self.texts, (register, first), from, V::LANES) }
        }
    }

    #[inline(always)]
    fn all(&mut self) {
        const { assert!(M.is_multiple_of(V::LANES) || V::LANES.is_multiple_of(M), "parts are spread evenly") };
        for index in 0..self.steps * M / V::LANES {
            self.part(index, 0);
        }
    }
}

impl<V: Lanes, const N: usize, const M: usize> Meanwhile for Exchange<'_, V, N, M> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        if Self::PARTS == 0 {
            if call == 0 && self.step.is_multiple_of(Self::BLOCKS) {
                self.part(self.step / Self::BLOCKS, 0);
            }
        } else if call < MOVING {
            for part in call * Self::PARTS / MOVING..(call + 1) * Self::PARTS / MOVING {
                let first = self.step * Self::PARTS;
                // Parts of one register are found together, where it has several.
                let several = V::LANES < MAX_LANES || self.steps > MAX_LANES;
                if M <= MAX_STEPS / 2 && several {
                    self.part(first, part);
                } else {
                    self.part(first + part, 0);
                }
            }
        }
    }
}
