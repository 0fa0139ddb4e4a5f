//! The block cipher of CBC encryption, whose lanes are of different messages.

use super::streams::{MAX_STREAMS, Streams};
use crate::cipher::{CALLS, KeyPerLane, Meanwhile, Permutation, Source, V};
use crate::job::Job;
use crate::lanes::{ABREAST, Abreast, Isa, Lanes, Work};

/// The block cipher in the lanes: one key, or a key each.
pub(super) trait Ciphers {
    /// Which it is.
    type Cipher: Permutation;

    /// The instruction set.
    fn isa(&self) -> <Self::Cipher as Permutation>::Isa;

    /// Sees to it that the first M registers have the keys of their messages.
    fn rekey<const M: usize>(&mut self, streams: &Streams);

    /// Encrypts register i with the keys of register i, with other work between the rounds.
    fn apply_while<const M: usize>(
        &self,
        blocks: [V<Self::Cipher>; M],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self::Cipher>; M];

    /// Whether there is [`Ciphers::run_abreast`].
    const RUNS_ABREAST: bool = false;

    /// [`Permutation::run_abreast`].
    ///
    /// # Safety
    /// This RUNS_ABREAST, and the caller keeps what [`Abreast`] asks for.
    #[inline(always)]
    unsafe fn run_abreast(&self, _streams: Abreast<'_, V<Self::Cipher>>) -> [V<Self::Cipher>; ABREAST] {
        unreachable!("of ciphers that run streams abreast alone")
    }

    /// The cipher of the first register, which is keyed.
    fn first(&self) -> &Self::Cipher;
}

/// One key.
pub(super) struct Shared<'a, P>(pub(super) &'a P);

impl<P: Permutation> Ciphers for Shared<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.0.isa()
    }

    #[inline(always)]
    fn rekey<const M: usize>(&mut self, _streams: &Streams) {}

    #[inline(always)]
    fn apply_while<const M: usize>(&self, blocks: [V<P>; M], meanwhile: &mut impl Meanwhile) -> [V<P>; M] {
        self.0.finish_in_step(self.0.begin(blocks), &mut [], meanwhile)
    }

    const RUNS_ABREAST: bool = P::RUNS_ABREAST;

    #[inline(always)]
    unsafe fn run_abreast(&self, streams: Abreast<'_, V<P>>) -> [V<P>; ABREAST] {
        // SAFETY: the caller's.
        unsafe { self.0.run_abreast(streams) }
    }

    #[inline(always)]
    fn first(&self) -> &P {
        self.0
    }
}

/// A key each, of the messages of a job.
pub(super) struct PerLane<'a, P: Permutation, const N: usize> {
    source: P::Source,
    job: &'a Job<'a>,
    /// One for each register used so far, N at most.
    registers: Vec<P>,
    /// The message whose key each lane has.
    keyed: [usize; MAX_STREAMS],
}

impl<'a, P: Permutation, const N: usize> PerLane<'a, P, N> {
    /// Those of `job`, none of which is expanded.
    pub(super) fn new(source: P::Source, job: &'a Job<'a>) -> Self {
        Self { source, job, registers: Vec::with_capacity(N), keyed: [0; MAX_STREAMS] }
    }
}

impl<P: KeyPerLane, const N: usize> Ciphers for PerLane<'_, P, N> {
    type Cipher = P;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.source.isa()
    }

    #[inline(always)]
    fn rekey<const M: usize>(&mut self, streams: &Streams) {
        let lanes = V::<P>::LANES;
        for register in 0..M {
            let (first, known) = (register * lanes, register < self.registers.len());
            let mut same = known;
            for stream in first..first + lanes {
                same &= self.keyed[stream] == streams.message(stream);
                self.keyed[stream] = streams.message(stream);
            }
            if same {
                continue;
            }
            // All lanes again: that takes no longer than one.
            self.source.isa().vectorize(Rekey { ciphers: self, register, streams });
        }
    }

    #[inline(always)]
    fn apply_while<const M: usize>(&self, blocks: [V<P>; M], meanwhile: &mut impl Meanwhile) -> [V<P>; M] {
        for call in 0..CALLS {
            meanwhile.step(call);
        }
        match self.registers.first_chunk::<M>() {
            Some(each) => P::apply_each(each.each_ref(), blocks),
            None => unreachable!("registers are keyed before they are used"),
        }
    }

    #[inline(always)]
    fn first(&self) -> &P {
        &self.registers[0]
    }
}

/// The keys of all lanes of a register, as work of its own, so that it is compiled once.
struct Rekey<'c, 'a, P: Permutation, const N: usize> {
    ciphers: &'c mut PerLane<'a, P, N>,
    register: usize,
    streams: &'c Streams,
}

impl<P: KeyPerLane, const N: usize> Work for Rekey<'_, '_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { ciphers: PerLane { source, job, registers, .. }, register, streams } = self;
        let key = |lane| job.key(streams.message(register * V::<P>::LANES + lane));
        match registers.get_mut(register) {
            Some(cipher) => cipher.rekey_lanes(key),
            None => registers.push(P::per_lane(*source, key)),
        }
    }
}
