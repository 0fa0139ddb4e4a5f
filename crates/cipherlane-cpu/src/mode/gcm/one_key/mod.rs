//! Messages that share a key.
//!
//! [`row`] runs equal messages that follow one another, four side by side, up to a length, and [`train`] longer ones,
//! coupled. Of others that have as many registers, [`fours`] runs four of few, and [`series`] those of more, or too few for
//! fours, one after the other. [`short`] finishes LANES others together, and [`long`] runs long ones by [`groups`] of registers.
//! Where the cipher runs in groups, a [`bunch`] has as many messages as fill some.

mod ahead;
mod bunch;
mod fours;
mod groups;
mod in_company;
mod in_fours;
mod in_rows;
mod in_series;
mod lacking;
mod long;
mod past_caches;
mod row;
mod segments;
mod series;
mod short;
mod train;
mod waiting;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

pub(super) use self::ahead::Ahead;
pub(super) use self::bunch::Bunch;
use self::bunch::Bunched;
use self::groups::Text;
use self::long::Long;
use self::series::Ends;
use self::short::Group;
use self::waiting::Waiting;
use super::Direction;
use super::ending::LongEnds;
use super::equal::FOUR;
use super::ghash::{Ghash, MAX_POWERS, Powers, Spread, lengths};
use crate::cipher::{Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::counters::Counters;
use crate::mode::first_round::FirstRound;
use crate::worker::{Segments, Worker};

/// What is made of a key before its first message runs.
#[derive(Clone, Copy)]
pub(super) struct Prepared {
    /// The highest power of H.
    pub(super) powers: usize,
    /// Whether first rounds of counters are known, if the cipher has any to save.
    pub(super) first_round: bool,
}

/// An expanded key with its powers of H.
pub(super) struct OneKey<P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    cipher: P,
    powers: Powers<P::Isa>,
    /// That of this key, if `knows_first_round`, or what one before has left.
    first_round: Option<FirstRound>,
    knows_first_round: bool,
    /// Powers of H for rows of short messages, from the first row on.
    spread: OnceLock<Spread<P::Isa>>,
    direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// Expands `key` and computes powers of H up to `highest`.
    #[inline(always)]
    pub(super) fn new(source: P::Source, key: &[u8], highest: usize) -> Self {
        let cipher = P::new(source, key);
        let mut one = Self::of(cipher);
        one.expand_hash_key(highest);
        one
    }

    /// Puts `key` in `place`, over one that was there and was not [`OneKey::shared`], with what `prepared` says. It is
    /// made where it stays: its powers are kilobytes, and copying them takes as long as a short message.
    #[inline(always)]
    pub(super) fn put<'p>(
        place: &'p mut Option<Self>,
        source: P::Source,
        key: &[u8],
        prepared: Prepared,
    ) -> &'p Self {
        let one = match place {
            Some(one) => {
                one.cipher.rekey(key);
                one
            }
            None => place.insert(Self::of(P::new(source, key))),
        };
        debug_assert!(one.spread.get().is_none());
        one.expand_hash_key(prepared.powers);
        one.prepare_first_round(prepared);
        one
    }

    #[inline(always)]
    fn prepare_first_round(&mut self, prepared: Prepared) {
        self.knows_first_round = prepared.first_round;
        if prepared.first_round {
            FirstRound::put(&mut self.first_round, &self.cipher);
        }
    }

    #[inline(always)]
    fn expand_hash_key(&mut self, highest: usize) {
        let Self { cipher, powers, .. } = self;
        cipher.isa().vectorize(HashKey { cipher, powers, highest });
    }

    /// As [`OneKey::new`], for a key of many messages: with first rounds, and, where messages of more registers are run in
    /// series, with powers for as many as can be.
    pub(super) fn shared(source: P::Source, key: &[u8], highest: usize) -> Self {
        let highest = if P::BEGINS { MAX_POWERS } else { highest };
        let key = Self::new(source, key, highest);
        Self { first_round: FirstRound::of(&key.cipher), knows_first_round: true, ..key }
    }

    /// An expanded key, before anything is prepared.
    #[inline(always)]
    fn of(cipher: P) -> Self {
        Self {
            powers: Powers::none(cipher.isa()),
            cipher,
            first_round: None,
            knows_first_round: false,
            spread: OnceLock::new(),
            direction: PhantomData,
        }
    }

    /// What is known of first rounds.
    #[inline(always)]
    fn first_round(&self) -> Option<&FirstRound> {
        self.first_round.as_ref().filter(|_| self.knows_first_round)
    }

    /// The block cipher.
    #[inline(always)]
    const fn cipher(&self) -> &P {
        &self.cipher
    }

    /// The powers of H.
    #[inline(always)]
    const fn powers(&self) -> &Powers<P::Isa> {
        &self.powers
    }

    /// The counters of message `index` from `first` on. Nonces of other lengths than 12 bytes are hashed under a key, and
    /// such counters are no longer public.
    #[inline(always)]
    fn counters(&self, job: &Job<'_>, index: usize, first: u128) -> Counters<'_, P> {
        let first = first.to_le_bytes();
        if job.nonce(index).len() == 12 {
            Counters::of_public(&self.cipher, self.first_round(), &first)
        } else {
            Counters::of_secret(&self.cipher, &first)
        }
    }

    /// Room for a bunch, of a cipher that runs whole groups.
    #[inline(always)]
    pub(super) fn no_bunch(isa: P::Isa) -> Option<Bunch<V<P>, N>> {
        P::WHOLE_GROUPS.then(|| Bunch::new(isa))
    }

    /// Runs the messages of `range` with a bunch that is empty before and afterwards, of a cipher that runs whole groups.
    #[inline(always)]
    pub(super) fn run_in(&self, job: &Job<'_>, range: Range<usize>, bunch: &mut Option<Bunch<V<P>, N>>) {
        self.cipher.isa().vectorize(Messages { key: self, job, range, bunch: bunch.as_mut() });
    }

    /// Runs the messages of `range`: equal ones that are not long in rows and trains, others with as many registers in fours
    /// or in series, or both in the bunch; other short ones LANES at a time, and long ones one by one.
    #[inline(always)]
    fn run(&self, job: &Job<'_>, mut range: Range<usize>, mut bunch: Option<&mut Bunch<V<P>, N>>) {
        let mut group = Group::new();
        let (mut of_long, mut of_series) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let mut long = Long::none(LongEnds::nobody(&mut of_long));
        let mut waiting = self.nobody_waits(job, Ends::nobody(&mut of_series));
        let are_few = range.len() < FOUR;
        while let Some(index) = self.next_single(job, are_few, &mut range, &mut waiting, &mut bunch) {
            match group.offer::<P::Isa, N, KARATSUBA>(job, &self.powers, index) {
                ControlFlow::Break(pre_counter) => self.run_long(job, &mut long, index, pre_counter),
                ControlFlow::Continue(()) if group.is_full::<P::Isa>() => self.run_group(job, &mut group),
                ControlFlow::Continue(()) => {}
            }
        }
        if !group.is_empty() {
            self.run_group(job, &mut group);
        }
        self.end_long(job, &mut long);
    }

    /// The next message of `range` that goes by itself. Those before it that have company run, and in the end, when there is
    /// none, all that wait.
    #[inline(always)]
    fn next_single(
        &self,
        job: &Job<'_>,
        are_few: bool,
        range: &mut Range<usize>,
        waiting: &mut Waiting<'_, V<P>>,
        bunch: &mut Option<&mut Bunch<V<P>, N>>,
    ) -> Option<usize> {
        match bunch {
            // For the compiler: others have none.
            Some(bunch) if P::WHOLE_GROUPS => self.run_bunches_until_single(job, range, bunch),
            // So few find no company.
            _ if are_few => range.next(),
            _ => self.run_company_until_single(job, range, waiting),
        }
    }

    /// Runs bunches of the messages of `range` up to one that is too long, and returns that; in the end those that wait.
    #[inline(always)]
    fn run_bunches_until_single(
        &self,
        job: &Job<'_>,
        range: &mut Range<usize>,
        bunch: &mut Bunch<V<P>, N>,
    ) -> Option<usize> {
        for index in range.by_ref() {
            if !Bunch::<V<P>, N>::takes(job, &self.powers, index) {
                return Some(index);
            }
            if !bunch.has_room(job, index) {
                self.run_bunch(job, bunch);
            }
            bunch.push::<KARATSUBA>(job, &self.powers, index);
        }
        if !bunch.is_empty() {
            self.run_bunch(job, bunch);
        }
        None
    }

    #[inline(always)]
    fn run_bunch(&self, job: &Job<'_>, bunch: &mut Bunch<V<P>, N>) {
        self.cipher.isa().vectorize(Bunched::<P, D, N, KARATSUBA> {
            cipher: &self.cipher,
            powers: &self.powers,
            job,
            bunch,
            direction: PhantomData,
        });
    }

    #[inline(always)]
    fn run_group(&self, job: &Job<'_>, group: &mut Group) {
        self.cipher.isa().vectorize(Short::<'_, P, D, N, KARATSUBA> { key: self, job, group });
    }

    /// Encrypts or decrypts and hashes `text`: work of its own, so that it is compiled once.
    #[inline(always)]
    fn run_text<'s>(
        &'s self,
        hash: Ghash<'s, P::Isa, KARATSUBA>,
        text: Message,
        counters: Counters<'s, P>,
    ) -> Ghash<'s, P::Isa, KARATSUBA> {
        self.cipher.isa().vectorize(self.text(hash, text, counters))
    }

    /// The same, to be done.
    #[inline(always)]
    fn text<'s>(
        &'s self,
        hash: Ghash<'s, P::Isa, KARATSUBA>,
        text: Message,
        counters: Counters<'s, P>,
    ) -> Text<'s, P, D, N, KARATSUBA> {
        Text::new(&self.cipher, hash, text, counters)
    }

    #[inline(always)]
    fn hash_aad(&self, job: &Job<'_>, index: usize) -> Ghash<'_, P::Isa, KARATSUBA> {
        Ghash::of(&self.powers, job.aad(index))
    }

    /// The tag (SP 800-38D section 7.1 steps 5 and 6).
    #[inline(always)]
    fn conclude(&self, job: &Job<'_>, index: usize, pre_counter: u128, hash: &Ghash<'_, P::Isa, KARATSUBA>) {
        let ends = lengths(job.aad(index).len(), job.message(index).bytes);
        let mask = self.cipher.apply([self.cipher.isa().splat_word(pre_counter)])[0].to_words()[0];
        D::conclude(job, index, hash.finish(ends) ^ mask);
    }
}

/// A group of short messages, as work.
struct Short<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    key: &'a OneKey<P, D, N, KARATSUBA>,
    job: &'a Job<'a>,
    group: &'a mut Group,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Short<'_, P, D, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.group.run(self.job, self.key);
    }
}

/// The hash key and its powers, as work.
struct HashKey<'a, P: Permutation> {
    cipher: &'a P,
    powers: &'a mut Powers<P::Isa>,
    highest: usize,
}

impl<P: Permutation> Work for HashKey<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let h = self.cipher.apply([self.cipher.isa().zero()])[0];
        self.powers.rekey(h, self.highest);
    }
}

/// Whole messages, as work, and the bunch that they use, if there is one already.
struct Messages<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    key: &'a OneKey<P, D, N, KARATSUBA>,
    job: &'a Job<'a>,
    range: Range<usize>,
    bunch: Option<&'a mut Bunch<V<P>, N>>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Messages<'_, P, D, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { key, job, range, bunch } = self;
        let mut own =
            if bunch.is_none() { OneKey::<P, D, N, KARATSUBA>::no_bunch(key.cipher.isa()) } else { None };
        key.run(job, range, bunch.or(own.as_mut()));
    }
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Worker
    for OneKey<P, D, N, KARATSUBA>
{
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        if !self.run_few(job, range.clone()) {
            self.cipher.isa().vectorize(Messages { key: self, job, range, bunch: None });
        }
    }

    fn segments(&self) -> Option<&dyn Segments> {
        Some(self)
    }
}
