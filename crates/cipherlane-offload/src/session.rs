//! Sessions: a plan put into effect.

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use cipherlane_core::{
    Batch, Checked, Column, DeviceError, Operation, Output, Plan, Session, Shape, Spans, StreamSpans,
};
use cipherlane_kernels::manifest::When;

use crate::answers;
use crate::backend::{Backend, Commands, Fault};
use crate::buffers::Buffers;
use crate::columns::Columns;
use crate::cut::{Cutter, Group};
use crate::device;
use crate::job::Job;
use crate::key::SharedKey;
use crate::lane::{Lane, size};
use crate::launch::{Scene, Schedule};
use crate::loaded::Chosen;
use crate::long::{Ending, Long};
use crate::part::{Part, Parts, Sum};
use crate::programs::Programs;
use crate::sum;
use crate::tuning::{STAGED, STREAMS};

/// A session on a device with memory of its own.
///
/// The batch goes through in groups of about a chunk, on queues of their own, so that copies in both directions and
/// kernels overlap. Memory that the device reaches by itself is copied from and to directly; other memory by staging.
#[derive(Debug)]
pub struct OffloadSession<B: Backend> {
    backend: Arc<B>,
    plan: Plan,
    programs: Programs<B>,
    lanes: Vec<Lane<B>>,
    /// How many lanes the plan insists on.
    insisted: Option<usize>,
    /// How many took turns in the last run.
    turns: usize,
    /// For a message that is cut into pieces: all of it is on the device.
    whole: Buffers<B>,
    schedule: Schedule<B>,
    /// The program that is giving its known answer, whatever the shape of the question.
    answering: Option<usize>,
    key: SharedKey,
    /// Whether text may have come out in the last run.
    has_text_out: bool,
}

impl<B: Backend> OffloadSession<B> {
    /// A session that carries out `plan`, which has been checked. Its program is compiled now.
    ///
    /// # Errors
    /// If it cannot be compiled, or the device refuses its resources.
    pub(crate) fn new(
        backend: Arc<B>,
        plan: &Plan,
        programs: Programs<B>,
        shared: bool,
    ) -> Result<Self, Fault> {
        let shape = Shape { shared_key: shared, ..device::nominal(plan.algorithm, plan.operation) };
        let mut session = Self::idle(backend, plan, programs)?;
        session.program(&shape, None)?;
        Ok(session)
    }

    /// A session of which no program is asked yet.
    fn idle(backend: Arc<B>, plan: &Plan, programs: Programs<B>) -> Result<Self, Fault> {
        let insisted = plan.geometry.and_then(|geometry| geometry.streams);
        let streams = insisted.unwrap_or(STREAMS);
        Ok(Self {
            lanes: (0..streams).map(|number| Lane::new(&*backend, number)).collect::<Result<_, Fault>>()?,
            schedule: Schedule::new(&*backend)?,
            whole: Buffers::default(),
            plan: plan.clone(),
            programs,
            insisted,
            turns: streams,
            answering: None,
            key: SharedKey::none(),
            has_text_out: false,
            backend,
        })
    }

    /// The number of the program for batches of `shape`, or for `part` of a message. One that is new has to give a known
    /// answer first.
    pub(crate) fn program(&mut self, shape: &Shape, part: Option<Part>) -> Result<usize, Fault> {
        let (index, known) = self.programs.find(&self.backend, shape, part)?;
        if !known {
            self.answer(index, shape.shared_key)?;
        }
        Ok(index)
    }

    /// Has program `index`, the last that was loaded, give its known answer, by many blocks and by one. One that does not is
    /// unloaded, so that whoever needs it next has to check it again.
    fn answer(&mut self, index: usize, shared: bool) -> Result<(), Fault> {
        let Plan { algorithm, operation, .. } = self.plan;
        self.answering = Some(index);
        let answer = [false, true].into_iter().try_for_each(|in_one_block| {
            self.programs.get(index).in_one_block = in_one_block;
            answers::check(self, algorithm, operation, shared)
        });
        self.answering = None;
        self.clear_spans();
        if let Err(reason) = answer {
            self.programs.forget_last();
            // The next program has the same number, and nothing that follows from this one's key.
            self.key.forget();
            return Err(Fault(reason));
        }
        self.programs.get(index).in_one_block = false;
        Ok(())
    }

    /// Has program `index` of `programs` give its known answer, in a session that is opened for that alone: for those who
    /// run none.
    pub(crate) fn answer_for(
        backend: Arc<B>,
        programs: &mut Programs<B>,
        index: usize,
        shared: bool,
    ) -> Result<(), Fault> {
        let session = Self::idle(backend, programs.plan(), programs.afresh());
        let mut session = session.inspect_err(|_| programs.forget_last())?;
        std::mem::swap(&mut session.programs, programs);
        let answer = session.answer(index, shared);
        std::mem::swap(&mut session.programs, programs);
        answer
    }

    /// Goes on with the batch's shared key, if it has one. Nothing is under way.
    fn take_key(&mut self, batch: &Batch<'_>) {
        if let Column::Shared(key) = batch.keys
            && self.key.take(key)
        {
            self.lanes.iter_mut().for_each(|lane| lane.stagings.forget_key(key.len()));
        }
    }

    /// Wipes what is left of a former shared key. Nothing is under way. Mostly nothing is left: what a run takes is
    /// overwritten by it.
    fn forget_old_key(&mut self) -> Result<(), Fault> {
        let mut steps = Vec::new();
        let begun = self.begin_to_forget(&mut steps);
        // All of them, whatever one failed by.
        steps.iter().fold(begun, |done, step| done.and(self.backend.wait(step)))
    }

    /// Enqueues all of that.
    fn begin_to_forget(&mut self, steps: &mut Vec<B::Step>) -> Result<(), Fault> {
        let (backend, key) = (&*self.backend, self.key.number());
        for lane in &mut self.lanes {
            lane.buffers.forget_old_key(Commands { backend, queue: &lane.queue }, key, steps)?;
        }
        let commands = Commands { backend, queue: &self.lanes[0].queue };
        self.whole.forget_old_key(commands, key, steps)?;
        self.programs.forget_old_key(commands, key, &mut self.schedule, steps)
    }

    /// Runs a batch of whole messages, or a part of one with `ending`.
    fn run_job(&mut self, job: &mut Job<'_>, program: usize, ending: &mut Ending<'_>) -> Result<(), Fault> {
        self.take_turns(job)?;
        let tiling = self.programs.get(program).program.tiling;
        let cutter = Cutter {
            offsets: job.batch.messages.offsets,
            chunk: self.plan.chunk as u64,
            row_bytes: row_bytes(job.batch),
            tiling,
            uniform: job.shape.is_uniform(),
        };
        if job.part.is_some() {
            return self.run_long(job, &cutter.alone(), program, ending);
        }
        for (index, group) in cutter.groups().enumerate() {
            if group.pieces.len() > 1 {
                self.land_all(job)?;
                self.run_long(job, &group, program, ending)?;
            } else {
                let lane = &mut self.lanes[index % self.turns];
                lane.land(&*self.backend, job)?;
                let (loaded, key) = (self.programs.get(program), self.key.number());
                let chosen = Chosen { index: program, loaded, key };
                lane.fly(&*self.backend, chosen, &mut self.schedule, job, &group, cutter.chunk)?;
            }
        }
        self.land_all(job)
    }

    /// Says how many lanes take turns: all of them, or fewer, unless the plan insists, where texts go by their stagings:
    /// these would otherwise fall out of the caches between the host and the device.
    fn take_turns(&mut self, job: &Job<'_>) -> Result<(), Fault> {
        let texts = job.texts();
        let bytes = size(texts.end - texts.start)?;
        let reaches = |at| self.backend.reaches(at, bytes);
        let direct = reaches(job.input(texts.start))
            && (job.batch.operation == Operation::Hash || reaches(job.output(texts.start)));
        self.turns = self.insisted.unwrap_or(if direct { STREAMS } else { STAGED });
        Ok(())
    }

    fn land_all(&mut self, job: &mut Job<'_>) -> Result<(), Fault> {
        self.lanes.iter_mut().try_for_each(|lane| lane.land(&*self.backend, job))
    }

    /// Runs a message that is longer than a chunk: all of it comes to lie on the device, piece by piece, each launched
    /// when it has arrived.
    fn run_long(
        &mut self,
        job: &mut Job<'_>,
        group: &Group,
        program: usize,
        ending: &mut Ending<'_>,
    ) -> Result<(), Fault> {
        let backend = &*self.backend;
        let loaded = self.programs.get(program);
        let alignment = backend.limits().alignment;
        let columns = Columns::new(job, group.messages.clone(), &loaded.program, alignment);
        let (Some(first), Some(last)) = (group.pieces.first(), group.pieces.last()) else { return Ok(()) };
        // Apart on the device even where it is in place on the host: a piece may need the input of the one before.
        let text = Some(size(last.text.end - first.text.start)?);
        let needs = columns.needs(text, false)?;
        let reserved = self.whole.reserve(Commands { backend, queue: &self.lanes[0].queue }, needs);
        // What helps against a lack of memory for groups is a smaller chunk, and here it is none.
        reserved.map_err(|Fault(reason)| {
            let bytes = last.text.end - first.text.start;
            Fault(format!("{reason}; of a message of {bytes} bytes all has to lie there, what goes in and what comes out"))
        })?;
        let chosen = Chosen { index: program, loaded, key: self.key.number() };
        let is_keyed = self.whole.key_by(chosen.expansion());
        let scene = Scene { views: self.whole.views(false)?, columns: &columns };
        let mut long = Long { backend, chosen, scene, group, lanes: &mut self.lanes[..self.turns] };
        long.start(job, &mut self.schedule, is_keyed)?;
        let stages = &long.chosen.loaded.program.stages;
        // The verdict on a part is that on its message, which the caller has.
        let waits = job.part.is_none() && stages.iter().any(|stage| stage.when == When::TilesAfter);
        long.tiles(job, &self.schedule, !waits)?;
        long.end(&self.schedule, ending)?;
        if waits {
            long.tiles_after(job, &self.schedule)?;
        }
        let place = sum::place(&columns);
        self.land_all(job)?;
        if let (Ending::Sum(sum), Some(staging)) = (ending, self.lanes[0].stagings.rows.get()) {
            sum.0.copy_from_slice(&staging[place]);
        }
        Ok(())
    }

    /// All of a run, from choosing its program to wiping the key of the one before.
    fn begin_and_end(&mut self, job: &mut Job<'_>, ending: &mut Ending<'_>) -> Result<(), Fault> {
        let program = self.answering.map_or_else(|| self.program(&job.shape, job.part), Ok)?;
        self.take_key(job.batch);
        // Compiling, before this, may call the program's log.
        Arc::clone(&self.backend).held(|| {
            self.run_job(job, program, ending)?;
            self.forget_old_key()
        })
    }

    /// Waits for what a run that failed has under way, zeroes what may have come out, and accepts nothing.
    fn abandon(&mut self, job: &mut Job<'_>) {
        self.lanes.iter_mut().for_each(|lane| lane.abandon(&*self.backend));
        self.schedule.abandon(&*self.backend);
        // What workspaces hold is not known any more.
        self.key.forget();
        job.forget();
    }

    fn clear_spans(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.spans.clear());
    }

    fn run_as(
        &mut self,
        mut job: Job<'_>,
        ending: &mut Ending<'_>,
        start: Instant,
    ) -> Result<Spans, DeviceError> {
        self.clear_spans();
        if !job.batch.is_empty() {
            // A panic, too, must leave nothing under way that uses the caller's memory.
            let run = catch_unwind(AssertUnwindSafe(|| self.begin_and_end(&mut job, ending)));
            if !matches!(run, Ok(Ok(()))) {
                self.abandon(&mut job);
            }
            self.has_text_out = job.has_text_out();
            let run = run.unwrap_or_else(|defect| {
                // A program that has not come to its answer is not known to be right.
                if self.answering.take().is_some() {
                    self.programs.forget_last();
                }
                resume_unwind(defect)
            });
            run.map_err(|fault| fault.of(self.backend.id()))?;
        }
        let spans = self.lanes.iter().map(|lane| &lane.spans);
        Ok(Spans {
            load: spans.clone().map(|spans| spans.load).sum(),
            execute: spans.clone().map(|spans| spans.execute).sum(),
            store: spans.map(|spans| spans.store).sum(),
            wall: start.elapsed(),
        })
    }
}

impl<B: Backend> Session for OffloadSession<B> {
    /// Runs one batch. An error of the device leaves an output that lies apart zeroed, and so one that was to be opened in
    /// place, which is left as it was if nothing had come out; other texts in place are undefined. No message is accepted then.
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        self.run_as(Job::new(batch, output)?, &mut Ending::Result, start)
    }

    fn run_checked(&mut self, checked: Checked<'_, '_, '_>) -> Result<Spans, DeviceError> {
        let begun = checked.begun();
        checked.batch().check_operation(self.plan.algorithm, self.plan.operation)?;
        self.run_as(Job::of(checked), &mut Ending::Result, begun)
    }

    fn streams(&self) -> Vec<StreamSpans> {
        self.lanes[..self.turns].iter().map(|lane| lane.spans.clone()).collect()
    }
}

impl<B: Backend> Parts for OffloadSession<B> {
    fn run_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        part: Part,
    ) -> Result<(Spans, Sum), DeviceError> {
        let start = Instant::now();
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        let mut sum = Sum::default();
        let job = Job::of_part(batch, output, part)?;
        let spans = self.run_as(job, &mut Ending::Sum(&mut sum), start)?;
        Ok((spans, sum))
    }

    fn end_parts(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        message_bytes: u64,
        sum: &Sum,
    ) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        let job = Job::of_part(batch, output, Part { start: 0, message_bytes })?;
        self.run_as(job, &mut Ending::Of(sum), start)
    }

    fn has_text_out(&self) -> bool {
        self.has_text_out
    }
}

impl<B: Backend> Drop for OffloadSession<B> {
    fn drop(&mut self) {
        for lane in &mut self.lanes {
            lane.abandon(&*self.backend);
            lane.stagings.wipe();
            let commands = Commands { backend: &*self.backend, queue: &lane.queue };
            // A device that is lost has nothing to wipe, and nobody can be told here.
            drop(lane.buffers.wipe(commands));
        }
        if let Some(lane) = self.lanes.first() {
            let commands = Commands { backend: &*self.backend, queue: &lane.queue };
            drop(self.whole.wipe(commands));
            drop(commands.wipe(&self.schedule.memory));
        }
    }
}

/// Bytes that a message takes beside its text.
fn row_bytes(batch: &Batch<'_>) -> u64 {
    let width = |column: &Column<'_>| match column {
        Column::Shared(_) => 0,
        Column::Each { width, .. } => *width,
        // Rows of different lengths are not looked at one by one: short ones are the rule.
        Column::Ragged(ragged) => 8 + ragged.bytes.len() / ragged.items().max(1),
    };
    let columns = width(&batch.keys) + width(&batch.nonces) + width(&batch.aad);
    (columns + batch.tag_lengths.stride() + 32) as u64
}
