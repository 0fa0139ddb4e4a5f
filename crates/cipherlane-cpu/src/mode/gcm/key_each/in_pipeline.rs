//! Which messages with a key each a [`pipeline`] takes: equal ones that follow one another, and others by lists.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::company::Class;
use super::in_lanes::InLanes;
use super::pipeline::{self, Equal, InRow, Lacking, List, Members, Pipeline, Texts, Whole};
use super::schedules::Schedules;
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::ending::MAX_AAD_BLOCKS;
use crate::mode::gcm::equal::Row;

/// Blocks of messages that are few: half of a pass, which takes less time than a whole one.
const FEW: usize = pipeline::IN_PASS / 2;

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    InLanes<P, D, N, POWERS, KARATSUBA>
{
    /// Whether registers have four lanes, and so are 32.
    pub(super) const IS_WIDE: bool = V::<P>::LANES == MAX_LANES;
    /// Blocks of a message that go through the cipher in a pass, and find registers.
    const IN_PASS: usize = if Self::IS_WIDE { pipeline::IN_PASS } else { FEW };

    /// Whether a pipeline may take messages of `class`, but for their texts.
    #[inline(always)]
    fn may_take(class: Class) -> bool {
        P::EXPANDS_MEANWHILE && class.nonce == 0 && class.aad <= MAX_AAD_BLOCKS
    }

    /// Messages from the first of `indices` on, which is in `class`, that fill two sets of lanes or more, where a pipeline
    /// takes them.
    #[inline(always)]
    pub(super) fn row(job: &Job<'_>, class: Class, indices: Range<usize>) -> Option<Row> {
        let bytes = job.message(indices.start).bytes;
        let is_whole = bytes.is_multiple_of(Self::IN_PASS * BLOCK);
        let text = match is_whole {
            true => pipeline::MAX_PASSES * pipeline::IN_PASS,
            // Bytes of a register that lacks some would go by memory there.
            false if !Self::IS_WIDE => 0,
            false => Self::IN_PASS,
        };
        let fits = (1..=text).contains(&class.text) && Self::may_take(class);
        if !fits || !Row::may_begin(job, &indices) {
            return None;
        }
        Some(Row::of(job, indices)).filter(|row| row.fours > 1)
    }

    /// Runs equal messages of few blocks.
    #[inline(always)]
    pub(super) fn run_row(&self, job: &Job<'_>, row: Row, schedules: &mut Schedules<P>) {
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

    /// Whether messages of `class`, of `most` blocks at most, may be listed for a pipeline: where registers have fewer lanes,
    /// bytes of a register that lacks some would go by memory there. Those of several passes that follow one another are
    /// faster in sets.
    #[inline(always)]
    pub(super) fn fits_a_list(class: Class, alike: Option<Class>, most: usize) -> bool {
        Self::IS_WIDE && alike.is_some() && Self::may_take(class) && (1..=most).contains(&class.text)
    }

    /// Lists messages from the first of `indices` on by their passes, up to one that may have a better place, and runs a list
    /// whenever it is full. Returns which is the next message.
    #[inline(always)]
    pub(super) fn list_from(
        &self,
        job: &Job<'_>,
        indices: Range<usize>,
        lists: &mut [List; pipeline::MAX_PASSES],
        schedules: &mut Schedules<P>,
    ) -> usize {
        let mut before = 0;
        for index in indices.clone() {
            let (start, bytes) = job.place(index);
            let pass = bytes.wrapping_sub(1) / (pipeline::IN_PASS * BLOCK);
            // Where lengths differ it is a surprise if two are alike, which they have to be first.
            if bytes == before || pass >= lists.len() {
                return index;
            }
            before = bytes;
            let list = &mut lists[pass];
            list.push(job, index, (start, bytes), pass + 1);
            if list.is_full() {
                self.run_listed(job, list, schedules);
                list.clear();
            }
        }
        indices.end
    }

    /// Runs the messages of a list that fill sets, if they are enough.
    #[inline(always)]
    pub(super) fn run_listed(&self, job: &Job<'_>, list: &List, schedules: &mut Schedules<P>) {
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
}
