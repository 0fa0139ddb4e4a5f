//! Messages with a key each, one to a lane: key schedules, counters, hash keys, hashes and tags all lie side by
//! side in the lanes of a register.
//!
//! Each step waits for the one before (a key expansion, a hash). Where equal messages of few blocks follow one another and
//! registers have several lanes, a [`pipeline`] has three sets of lanes at different steps; where registers are wide, so it has
//! of messages of any lengths that need as many passes. Others are collected by their numbers of blocks; a set has messages
//! of one class, whatever their order in the batch. Several registers of messages are run together, phase by phase, and one
//! fills the latency of another; where registers are wide, the CPU itself finds what to do in the next set, and one at a time
//! stays in registers.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::one_by_one::OneByOne;
use super::pipeline::{self, Equal, InRow, Lacking, List, Members, Pipeline, Texts, Whole};
use super::schedules::{MAX_SETS, Schedules};
use super::together::{Run, Together};
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::ending::MAX_AAD_BLOCKS;
use crate::mode::gcm::equal::{FOUR, Row};
use crate::mode::gcm::one_key::Ahead;
use crate::mode::keys::KeyEachWorker;
use crate::worker::{Segments, Worker};

/// Blocks of messages that are few: half of a pass, which takes less time than a whole one.
const FEW: usize = pipeline::IN_PASS / 2;
/// Most messages that are run together.
const MAX_TOGETHER: usize = MAX_SETS * MAX_LANES;
/// Most blocks of a message that waits for others to share registers with: beyond, it fills registers by itself.
pub(super) const MAX_TEXT_BLOCKS: usize = 64;
/// Most blocks of a message that shares registers with itself where nobody else has as many: of more, it fills registers
/// sooner, measured on Emerald Rapids.
const MOST_ALONE: usize = 32;
/// Most blocks of messages that share registers where they follow one another: of more, groups of one message are faster,
/// measured on Emerald Rapids.
const MOST_ALIKE: usize = 384;

/// A worker without a key.
pub(crate) struct InLanes<P: KeyPerLane, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    direction: PhantomData<(fn() -> P, D)>,
}

/// What messages that are run together have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Class {
    /// Blocks of text.
    text: usize,
    /// Blocks of AAD.
    aad: usize,
    /// Blocks of a nonce that is hashed; 0 where it is 96 bits long, which are not.
    nonce: usize,
}

impl Class {
    /// That of messages without text, with so many bytes of nonce and AAD.
    #[inline(always)]
    fn without_text((nonce, aad): (usize, usize)) -> Self {
        let nonce = if nonce == 12 { 0 } else { nonce.div_ceil(BLOCK) };
        Self { text: 0, aad: aad.div_ceil(BLOCK), nonce }
    }

    /// That of message `index`, where all are `alike` but for their text, or it is not known.
    #[inline(always)]
    fn of(job: &Job<'_>, index: usize, alike: Option<Self>) -> Self {
        let each = || Self::without_text((job.nonce(index).len(), job.aad(index).len()));
        Self { text: job.message(index).bytes.div_ceil(BLOCK), ..alike.unwrap_or_else(each) }
    }

    /// Whether messages of so many blocks wait for company.
    #[inline(always)]
    const fn waits(self) -> bool {
        self.text <= MAX_TEXT_BLOCKS
    }

    /// Whether messages of so many blocks share registers where they follow one another.
    #[inline(always)]
    const fn has_company(self) -> bool {
        self.waits() || (self.text <= MOST_ALIKE && self.nonce == 0)
    }
}

/// Messages of one class that wait for company.
#[derive(Clone, Copy)]
struct Waiting {
    /// The first `count` are written.
    indices: [MaybeUninit<usize>; MAX_TOGETHER],
    count: usize,
    class: Class,
}

impl Waiting {
    const fn nobody() -> Self {
        let class = Class { text: 0, aad: 0, nonce: 0 };
        Self { indices: [const { MaybeUninit::uninit() }; MAX_TOGETHER], count: 0, class }
    }

    fn indices(&self) -> &[usize] {
        // SAFETY: the first `count` are written.
        unsafe { self.indices[..self.count].assume_init_ref() }
    }
}

/// All messages that wait, by their blocks of text.
struct Company {
    /// Written where `used` has a bit: who asks for one message is not to wait until all of this is.
    waiting: [MaybeUninit<Waiting>; MAX_TEXT_BLOCKS + 1],
    used: u128,
}

// `used` has a bit for each.
const _: () = assert!(MAX_TEXT_BLOCKS < u128::BITS as usize);

impl Company {
    const fn nobody() -> Self {
        Self { waiting: [const { MaybeUninit::uninit() }; MAX_TEXT_BLOCKS + 1], used: 0 }
    }

    /// Those of `blocks` blocks.
    #[inline(always)]
    fn of(&mut self, blocks: usize) -> &mut Waiting {
        let waiting = &mut self.waiting[blocks];
        if self.used & (1 << blocks) == 0 {
            self.used |= 1 << blocks;
            waiting.write(Waiting::nobody());
        }
        // SAFETY: it is written, now or before.
        unsafe { waiting.assume_init_mut() }
    }

    /// Some that have ever waited, each once.
    #[inline(always)]
    fn next(&mut self) -> Option<&mut Waiting> {
        if self.used == 0 {
            return None;
        }
        let blocks = self.used.trailing_zeros() as usize;
        self.used &= self.used - 1;
        // SAFETY: it had a bit.
        Some(unsafe { self.waiting[blocks].assume_init_mut() })
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> KeyEachWorker<P>
    for InLanes<P, D, N, POWERS, KARATSUBA>
{
    fn new(source: P::Source) -> Self {
        Self { source, direction: PhantomData }
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    InLanes<P, D, N, POWERS, KARATSUBA>
{
    /// Sets of lanes that are run together: of four lanes, one is faster than two on Zen 4 and on Emerald Rapids; of
    /// fewer, two are.
    const SETS: usize = if Self::IS_WIDE { 1 } else { MAX_SETS };
    const TOGETHER: usize = Self::SETS * V::<P>::LANES;

    #[inline(always)]
    fn run(&self, job: &Job<'_>, range: Range<usize>) {
        let (schedules, mut ahead) = (&mut Schedules::new(), Ahead::none());
        let mut one_by_one = OneByOne::<P, D, N, POWERS, KARATSUBA>::new(job, self.source);
        let mut company = Company::nobody();
        let alike = job.widths().map(Class::without_text);
        let key_bytes = job.batch().algorithm.key_bytes();
        let aad_bytes = job.widths().map_or(0, |(_, aad)| aad);
        let mut lists: [List; pipeline::MAX_PASSES] =
            std::array::from_fn(|i| List::new(i + 1, key_bytes, aad_bytes));
        let mut index = range.start;
        while index < range.end {
            let class = Class::of(job, index, alike);
            if let Some(row) = Self::row(job, class, index..range.end) {
                self.run_row(job, row, schedules);
                index += row.fours * FOUR;
            } else if Self::may_be_listed(class, alike) {
                let list = &mut lists[(class.text - 1) / pipeline::IN_PASS];
                index = self.list_from(job, index..range.end, list, schedules);
            } else if class.has_company() && Self::are_in(class, job, alike, index + 1..range.end) {
                self.run_alike(job, index, schedules);
                index += Self::TOGETHER;
            } else if !class.waits() {
                // Too long for company.
                if ahead.lane(index).is_none() && Self::are_long(job, alike, index + 1..range.end) {
                    one_by_one.expand_ahead(index, &mut ahead);
                }
                one_by_one.run_from(index, &ahead);
                index += 1;
            } else {
                self.wait(job, company.of(class.text), (class, index), schedules);
                index += 1;
            }
        }
        for list in &lists {
            self.run_listed(job, list, schedules);
            for index in list.rest() {
                let class = Class::of(job, index, alike);
                self.wait(job, company.of(class.text), (class, index), schedules);
            }
        }
        while let Some(waiting) = company.next() {
            if let &[index] = waiting.indices()
                && waiting.class.text > MOST_ALONE
            {
                one_by_one.run(index);
            } else {
                self.run_waiting(job, waiting, schedules);
            }
        }
    }

    /// Whether registers have four lanes, and so are 32.
    const IS_WIDE: bool = V::<P>::LANES == MAX_LANES;
    /// Blocks of a message that go through the cipher in a pass, and find registers.
    const IN_PASS: usize = if Self::IS_WIDE { pipeline::IN_PASS } else { FEW };

    /// Messages from the first of `indices` on, which is in `class`, that fill two sets of lanes or more, where a pipeline
    /// takes them.
    #[inline(always)]
    fn row(job: &Job<'_>, class: Class, indices: Range<usize>) -> Option<Row> {
        let bytes = job.message(indices.start).bytes;
        let is_whole = bytes.is_multiple_of(Self::IN_PASS * BLOCK);
        let text = match is_whole {
            true => pipeline::MAX_PASSES * pipeline::IN_PASS,
            // Bytes of a register that lacks some would go by memory there.
            false if !Self::IS_WIDE => 0,
            false => Self::IN_PASS,
        };
        let fits = (1..=text).contains(&class.text);
        let has_place = class.nonce == 0 && class.aad <= MAX_AAD_BLOCKS;
        if !P::EXPANDS_MEANWHILE || !fits || !has_place || !Row::may_begin(job, &indices) {
            return None;
        }
        Some(Row::of(job, indices)).filter(|row| row.fours > 1)
    }

    /// Runs equal messages of few blocks.
    #[inline(always)]
    fn run_row(&self, job: &Job<'_>, row: Row, schedules: &mut Schedules<P>) {
        // For the compiler, which need not make code that is never called.
        if !P::EXPANDS_MEANWHILE {
            return;
        }
        const MOST: usize = pipeline::IN_PASS;
        let bytes = job.message(row.first).bytes;
        if bytes == FEW * BLOCK {
            self.run_equal::<Whole<FEW>, FEW, 6, true>(job, row, schedules);
        } else if !Self::IS_WIDE {
            self.run_equal::<Whole<FEW>, FEW, 6, false>(job, row, schedules);
        } else if bytes > MOST * BLOCK {
            self.run_equal::<Whole<MOST>, MOST, 10, false>(job, row, schedules);
        } else if bytes == MOST * BLOCK {
            self.run_equal::<Whole<MOST>, MOST, 10, true>(job, row, schedules);
        } else if bytes > FEW * BLOCK {
            self.run_equal::<Lacking<MOST>, MOST, 10, true>(job, row, schedules);
        } else {
            self.run_equal::<Lacking<FEW>, FEW, 6, true>(job, row, schedules);
        }
    }

    #[inline(always)]
    fn run_equal<X: InRow + Texts<V<P>>, const R: usize, const M: usize, const ONE: bool>(
        &self,
        job: &Job<'_>,
        row: Row,
        schedules: &mut Schedules<P>,
    ) {
        self.pipeline::<R, M, ONE>(Equal::<X>::of::<V<P>>(job, row), schedules);
    }

    #[inline(always)]
    fn pipeline<const R: usize, const M: usize, const ONE: bool>(
        &self,
        members: impl Members<V<P>>,
        schedules: &mut Schedules<P>,
    ) {
        let (source, direction) = (self.source, PhantomData);
        let pipeline = Pipeline::<P, D, _, R, M, ONE, KARATSUBA> { source, members, schedules, direction };
        source.isa().vectorize(pipeline);
    }

    /// Whether messages of `class` are listed for a pipeline: where registers have fewer lanes, bytes of a register that lacks
    /// some would go by memory there.
    #[inline(always)]
    fn may_be_listed(class: Class, alike: Option<Class>) -> bool {
        let has_place = alike.is_some() && class.nonce == 0 && class.aad <= MAX_AAD_BLOCKS;
        let most = pipeline::MAX_PASSES * pipeline::IN_PASS;
        P::EXPANDS_MEANWHILE && Self::IS_WIDE && has_place && (1..=most).contains(&class.text)
    }

    /// Lists messages from the first of `indices` on, up to one that may have a better place, and runs the list whenever it
    /// is full. Returns which is the next message.
    #[inline(always)]
    fn list_from(
        &self,
        job: &Job<'_>,
        indices: Range<usize>,
        list: &mut List,
        schedules: &mut Schedules<P>,
    ) -> usize {
        let (mut index, mut before) = (indices.start, 0);
        loop {
            list.push(job, index);
            if list.is_full() {
                self.run_listed(job, list, schedules);
                list.clear();
            }
            index += 1;
            if index == indices.end {
                return index;
            }
            let bytes = job.bytes(index);
            // Where lengths differ it is a surprise if two are alike, which they have to be first.
            if bytes == before || !list.takes(bytes) {
                return index;
            }
            before = bytes;
        }
    }

    /// Runs the messages of a list that fill sets, if they are enough.
    #[inline(always)]
    fn run_listed(&self, job: &Job<'_>, list: &List, schedules: &mut Schedules<P>) {
        // For the compiler, as above.
        if !P::EXPANDS_MEANWHILE || !Self::IS_WIDE {
            return;
        }
        const MOST: usize = pipeline::IN_PASS;
        if list.is_of_one() {
            if let Some(members) = list.members::<true>(job) {
                self.pipeline::<MOST, 10, true>(members, schedules);
            }
        } else if let Some(members) = list.members::<false>(job) {
            self.pipeline::<MOST, 10, false>(members, schedules);
        }
    }

    /// Whether the first of `indices`, one fewer than are run together, are there and in `class`.
    #[inline(always)]
    fn are_in(class: Class, job: &Job<'_>, alike: Option<Class>, mut indices: Range<usize>) -> bool {
        let others = Self::TOGETHER - 1;
        indices.len() >= others
            && indices.by_ref().take(others).all(|index| Class::of(job, index, alike) == class)
    }

    /// Whether the first of `indices`, one fewer than there are lanes, are there and too long for company.
    #[inline(always)]
    fn are_long(job: &Job<'_>, alike: Option<Class>, mut indices: Range<usize>) -> bool {
        let others = V::<P>::LANES - 1;
        others > 0
            && indices.len() >= others
            && indices.by_ref().take(others).all(|index| !Class::of(job, index, alike).waits())
    }

    /// Messages of a class one after the other: they need not wait.
    #[inline(always)]
    fn run_alike(&self, job: &Job<'_>, first: usize, schedules: &mut Schedules<P>) {
        let mut lanes = [[0; MAX_LANES]; MAX_SETS];
        for (g, set) in lanes.iter_mut().enumerate() {
            for (lane, index) in set.iter_mut().enumerate() {
                // Beyond the lanes that there are, nobody looks.
                *index = first + g * V::<P>::LANES + lane % V::<P>::LANES;
            }
        }
        self.run_full(job, lanes, schedules);
    }

    /// Runs as many sets of `lanes` as are run together, each lane with a message.
    #[inline(always)]
    fn run_full(&self, job: &Job<'_>, lanes: [[usize; MAX_LANES]; MAX_SETS], schedules: &mut Schedules<P>) {
        if Self::SETS == 1 {
            self.run_sets(job, [lanes[0]], V::<P>::LANES, schedules);
        } else {
            self.run_sets(job, lanes, V::<P>::LANES, schedules);
        }
    }

    /// Runs `lanes`, of which the first `used` of each set count.
    #[inline(always)]
    fn run_sets<const G: usize>(
        &self,
        job: &Job<'_>,
        lanes: [[usize; MAX_LANES]; G],
        used: usize,
        schedules: &mut Schedules<P>,
    ) {
        let (source, direction) = (self.source, PhantomData);
        let together = Together::<P, D, G, KARATSUBA> { source, job, lanes, used, direction };
        source.isa().vectorize(Run { together, schedules });
    }

    /// Has message `index` wait, and runs those that have waited if they are enough, or of another class.
    #[inline(always)]
    fn wait(
        &self,
        job: &Job<'_>,
        waiting: &mut Waiting,
        (class, index): (Class, usize),
        schedules: &mut Schedules<P>,
    ) {
        if waiting.count > 0 && waiting.class != class {
            self.run_waiting(job, waiting, schedules);
        }
        waiting.class = class;
        waiting.indices[waiting.count].write(index);
        waiting.count += 1;
        if waiting.count == Self::TOGETHER {
            self.run_waiting(job, waiting, schedules);
        }
    }

    #[inline(always)]
    fn run_waiting(&self, job: &Job<'_>, waiting: &mut Waiting, schedules: &mut Schedules<P>) {
        if waiting.count == Self::TOGETHER {
            let mut lanes = [[0; MAX_LANES]; MAX_SETS];
            for (set, indices) in lanes.iter_mut().zip(waiting.indices().chunks_exact(V::<P>::LANES)) {
                // Not by `copy_from_slice`, which calls a function.
                for (lane, index) in set.iter_mut().zip(indices) {
                    *lane = *index;
                }
            }
            self.run_full(job, lanes, schedules);
        } else {
            for indices in waiting.indices().chunks(V::<P>::LANES) {
                // Lanes without a message repeat the first one: the same bytes go to the same places.
                let mut lanes = [[indices[0]; MAX_LANES]];
                for (lane, index) in lanes[0].iter_mut().zip(indices) {
                    *lane = *index;
                }
                self.run_sets(job, lanes, indices.len(), schedules);
            }
        }
        waiting.count = 0;
    }
}

impl<P, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> Worker
    for InLanes<P, D, N, POWERS, KARATSUBA>
where
    P: KeyPerLane,
    D: Direction,
{
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.run(job, range);
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}
