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
use std::ops::Range;

use super::company::{Class, Company, Waiting};
use super::one_by_one::OneByOne;
use super::pipeline::{self, List};
use super::schedules::{MAX_SETS, Schedules};
use super::together::{Run, Together};
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::FOUR;
use crate::mode::gcm::one_key::Ahead;
use crate::mode::keys::KeyEachWorker;
use crate::worker::{Segments, Worker};

/// Most blocks of a message that shares registers with itself where nobody else has as many: of more, it fills registers
/// sooner, measured on Emerald Rapids.
const MOST_ALONE: usize = 32;

/// A worker without a key.
pub(crate) struct InLanes<P: KeyPerLane, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    pub(super) source: P::Source,
    direction: PhantomData<(fn() -> P, D)>,
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
        let (key_bytes, widths) = (job.batch().algorithm.key_bytes(), job.widths());
        let (alike, aad_bytes) = (widths.map(Class::without_text), widths.map_or(0, |(_, aad)| aad));
        let mut lists: [List; pipeline::MAX_PASSES] =
            std::array::from_fn(|i| List::new(i + 1, key_bytes, aad_bytes));
        let mut index = range.start;
        while index < range.end {
            let class = Class::of(job, index, alike);
            if let Some(row) = Self::row(job, class, index..range.end) {
                self.run_row(job, row, schedules);
                index += row.fours * FOUR;
            } else if !Self::fits_a_list(class, alike, pipeline::IN_PASS)
                && class.has_company()
                && Self::are_in(class, job, alike, index + 1..range.end)
            {
                self.run_alike(job, index, schedules);
                index += Self::TOGETHER;
            } else if Self::fits_a_list(class, alike, pipeline::MAX_PASSES * pipeline::IN_PASS) {
                index = self.list_from(job, index..range.end, &mut lists, schedules);
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
