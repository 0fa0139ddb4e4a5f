//! Batches that lie on the device: brought once, or bound to where they lie already, and run any number of times.

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cipherlane_core::{Batch, BatchError, DeviceError, DeviceTexts, Operation, Output, Plan, Spans};
use cipherlane_kernels::manifest::When;

use crate::backend::{Backend, Commands, Fault};
use crate::bound::Bound;
use crate::buffers::{Buffers, Stagings};
use crate::columns::Columns;
use crate::cut::{Cutter, Group, stretches};
use crate::job::Job;
use crate::key::KeyNumber;
use crate::lane::{Results, size, time, zero, zero_text};
use crate::launch::{Scene, Schedule, Steps};
use crate::loaded::{Chosen, Loaded};
use crate::part::{Part, ResidentParts, Sum};
use crate::programs::Programs;
use crate::session::OffloadSession;
use crate::sizes::Sizes;
use crate::sum;

/// A batch on the device, on one queue.
#[derive(Debug)]
pub(crate) struct Resident<B: Backend> {
    backend: Arc<B>,
    queue: B::Queue,
    programs: Programs<B>,
    buffers: Buffers<B>,
    stagings: Stagings<B>,
    schedule: Schedule<B>,
    /// The number of the key that the batch has, if its messages share one.
    key: KeyNumber,
    loaded: Option<Scenery<B>>,
    chunk: u64,
    /// Whether all that comes out is compared with what is right, beside which a known answer says nothing.
    pub(crate) is_compared: bool,
}

/// What was loaded or bound.
#[derive(Debug)]
struct Scenery<B: Backend> {
    sizes: Sizes,
    /// Where the texts lie, if not in buffers of the resident.
    bound: Option<Bound<B>>,
    program: usize,
    in_place: bool,
    columns: Columns,
    group: Group,
    part: Option<Part>,
    /// Whether all of it has run since, and the last time without an error: what lies there before is whatever was there.
    has_run: bool,
}

impl<B: Backend> Scenery<B> {
    fn scene<'a>(&'a self, buffers: &'a Buffers<B>) -> Result<Scene<'a, B>, Fault> {
        let views = match &self.bound {
            Some(bound) => buffers.views_beside(bound.input(), bound.output(), self.in_place),
            None => buffers.views(self.in_place),
        };
        Ok(Scene { views: views?, columns: &self.columns })
    }
}

impl<B: Backend> Resident<B> {
    pub(crate) fn new(backend: Arc<B>, programs: Programs<B>, chunk: usize) -> Result<Self, Fault> {
        Ok(Self {
            queue: backend.queue()?,
            programs,
            buffers: Buffers::default(),
            stagings: Stagings::default(),
            schedule: Schedule::new(&*backend)?,
            key: KeyNumber::fresh(),
            loaded: None,
            chunk: chunk.max(1 << 20) as u64,
            is_compared: false,
            backend,
        })
    }

    /// Brings what `job` has, its texts unless they are `bound`.
    fn load_job(&mut self, job: &Job<'_>, bound: Option<Bound<B>>) -> Result<Duration, Fault> {
        self.loaded = None;
        let (index, known) = self.programs.find(&self.backend, &job.shape, job.part)?;
        if !known && !self.is_compared {
            // Here a batch would have to be brought for it.
            let (backend, shared) = (Arc::clone(&self.backend), job.shape.shared_key);
            OffloadSession::answer_for(backend, &mut self.programs, index, shared)?;
        }
        Arc::clone(&self.backend).held(|| self.bring(job, bound, index))
    }

    /// Brings it for the program of number `index`.
    fn bring(&mut self, job: &Job<'_>, bound: Option<Bound<B>>, index: usize) -> Result<Duration, Fault> {
        let backend = &*self.backend;
        let Loaded { program, .. } = &*self.programs.get(index);
        let group = Cutter {
            offsets: job.batch.messages.offsets,
            chunk: self.chunk,
            row_bytes: 0,
            tiling: program.tiling,
            uniform: job.shape.is_uniform(),
        }
        .whole();
        let scenery = Scenery {
            sizes: Sizes::of(job.batch, job.shape),
            bound,
            program: index,
            in_place: job.runs_in_place(),
            columns: Columns::new(job, group.messages.clone(), program, backend.limits().alignment),
            group,
            part: job.part,
            has_run: false,
        };
        let text = if job.on_device { None } else { Some(size(job.shape.bytes)?) };
        let commands = Commands { backend, queue: &self.queue };
        self.buffers.reserve(commands, scenery.columns.needs(text, scenery.in_place)?)?;
        let scene = scenery.scene(&self.buffers)?;
        let mut steps = Steps::default();
        let Stagings { input, rows, .. } = &mut self.stagings;
        let rows = rows.reserved(scene.columns.bytes.max(16), |bytes| backend.staging(bytes))?;
        let on = scene.on(commands);
        on.upload_rows(job, &scenery.group, rows, &mut steps)?;
        wait(commands, &steps)?;
        let mut load = time(backend, &steps)?;
        for piece in stretches(job.texts(), self.chunk) {
            let mut steps = Steps::default();
            on.upload_text(input, job, &piece, &mut steps)?;
            wait(commands, &steps)?;
            load += time(backend, &steps)?;
        }
        self.loaded = Some(scenery);
        Ok(load)
    }

    /// Runs what was loaded or bound by `run`, and notes whether all of it has. Where it had not before, another key has come,
    /// or nobody knows what became of it: the run expands it.
    fn note_run(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Duration, Fault>,
    ) -> Result<Duration, Fault> {
        let scenery = self.loaded.as_mut().ok_or_else(nothing)?;
        if !std::mem::take(&mut scenery.has_run) {
            self.key = KeyNumber::fresh();
        }
        let ran = run(self);
        if let Some(scenery) = &mut self.loaded {
            scenery.has_run = ran.is_ok();
        }
        ran
    }

    /// Runs what was loaded or bound, and says whether a launch was begun that writes texts.
    fn execute_loaded(&mut self, writes_texts: &mut bool) -> Result<Duration, Fault> {
        let scenery = self.loaded.as_ref().ok_or_else(nothing)?;
        let (backend, index) = (&*self.backend, scenery.program);
        let mut chosen = Chosen { index, loaded: self.programs.get(index), key: self.key };
        let is_keyed = self.buffers.key_by(chosen.expansion());
        let scene = scenery.scene(&self.buffers)?;
        let commands = Commands { backend, queue: &self.queue };
        let on = scene.on(commands);
        let (mut steps, schedule) = (Steps::default(), &mut self.schedule);
        let begin = || {
            on.start(&mut chosen, schedule, is_keyed, &mut steps)?;
            *writes_texts = true;
            let all = scene.all();
            let stages = [When::Tiles, When::End, When::TilesAfter];
            // A part has its message's end only when all parts are summed up.
            let mut stages = stages.into_iter().take(if scenery.part.is_some() { 1 } else { 3 });
            stages.try_for_each(|when| on.stages(chosen.loaded, schedule, when, &all, &mut steps))
        };
        let begun = catch_unwind(AssertUnwindSafe(begin));
        // Where not all could be begun, or there was a panic, what was is waited for as well: it writes the caller's memory.
        let done = wait(commands, &steps);
        if !matches!(begun, Ok(Ok(()))) {
            self.schedule.abandon(backend);
        }
        let begun = begun.unwrap_or_else(|defect| resume_unwind(defect));
        done.and(begun)?;
        time(backend, &steps)
    }

    /// Takes back what `job` has, if it is the one that was loaded or bound, and has run.
    fn store_job(&mut self, job: &mut Job<'_>) -> Result<Duration, Fault> {
        let scenery = self.loaded.as_ref().ok_or_else(nothing)?;
        scenery.sizes.check(job.batch, job.shape)?;
        if !scenery.has_run {
            return Err(not_run());
        }
        let backend = &*self.backend;
        let scene = scenery.scene(&self.buffers)?;
        let commands = Commands { backend, queue: &self.queue };
        let on = scene.on(commands);
        let Stagings { output, rows, .. } = &mut self.stagings;
        let mut store = Duration::ZERO;
        for piece in stretches(job.texts(), self.chunk) {
            let mut steps = Steps::default();
            let staged = on.download_text(output, job, &piece, &mut steps)?;
            wait(commands, &steps)?;
            store += time(backend, &steps)?;
            if let (Some(range), Some(staging)) = (staged, output.get()) {
                job.write_output(&range, staging, backend.node());
            }
        }
        let rows = rows.reserved(scenery.columns.bytes.max(16), |bytes| backend.staging(bytes))?;
        let mut steps = Steps::default();
        let results = on.download_results(&scenery.group, rows, &mut steps)?;
        wait(commands, &steps)?;
        if let Some(Results { messages, place }) = results {
            job.write_results(&messages, &rows[place], backend.node());
        }
        Ok(store + time(backend, &steps)?)
    }

    /// Zeroes what runs have made in memory of its own, but for texts in place.
    fn clear_made(&mut self) -> Result<(), Fault> {
        let scenery = self.loaded.as_ref().ok_or_else(nothing)?;
        let scene = scenery.scene(&self.buffers)?;
        let commands = Commands { backend: &*self.backend, queue: &self.queue };
        if scenery.bound.is_none() && !scenery.in_place {
            commands.wipe(scene.views.output)?;
        }
        let results = scenery.columns.results.clone();
        if results.is_empty() {
            return Ok(());
        }
        zero(commands, &mut self.stagings.input, scene.views.rows, results)
    }

    fn take_sum(&mut self) -> Result<Sum, Fault> {
        let scenery = self.loaded.as_ref().ok_or_else(nothing)?;
        let (backend, place) = (&*self.backend, sum::place(&scenery.columns));
        let rows = self.stagings.rows.reserved(place.end, |bytes| backend.staging(bytes))?;
        let commands = Commands { backend, queue: &self.queue };
        backend.wait(&sum::download(scenery.scene(&self.buffers)?.on(commands), rows)?)?;
        let mut sum = Sum::default();
        sum.0.copy_from_slice(&rows[place]);
        Ok(sum)
    }

    /// Launches what comes after the text of the message whose parts add up to `sum`.
    fn end_with(&mut self, sum: &Sum) -> Result<Duration, Fault> {
        let scenery = self.loaded.as_ref().ok_or_else(nothing)?;
        let (backend, scene) = (&*self.backend, scenery.scene(&self.buffers)?);
        let bytes = sum::place(&scenery.columns).end;
        let rows = self.stagings.rows.reserved(bytes, |bytes| backend.staging(bytes))?;
        let on = scene.on(Commands { backend, queue: &self.queue });
        // The launches come after it in the queue; its own time counts for nothing.
        let brought = sum::upload(on, rows, sum)?;
        let (loaded, mut steps) = (self.programs.get(scenery.program), Steps::default());
        let begun = on.stages(loaded, &self.schedule, When::End, &scene.all(), &mut steps);
        backend.wait(steps.last().unwrap_or(&brought)).and(begun)?;
        time(backend, &steps)
    }

    /// Zeroes the texts that a run which failed was to open in memory of the caller: there may be some that no tag vouches
    /// for.
    fn forget_bound(&mut self) -> Result<(), Fault> {
        let Some(Scenery { bound: Some(bound), group, .. }) = &self.loaded else { return Ok(()) };
        if self.programs.plan().operation != Operation::Open {
            return Ok(());
        }
        let commands = Commands { backend: &*self.backend, queue: &self.queue };
        let mut texts = group.pieces.iter().flat_map(|all| stretches(all.text.clone(), self.chunk));
        texts.try_for_each(|text| zero_text(commands, &mut self.stagings.input, bound.output(), &text))
    }

    fn check_operation(&self, batch: &Batch<'_>) -> Result<(), BatchError> {
        let Plan { algorithm, operation, .. } = *self.programs.plan();
        batch.check_operation(algorithm, operation)
    }
}

impl<B: Backend> cipherlane_core::Resident for Resident<B> {
    fn load(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.check_operation(batch)?;
        let job = Job::new(batch, output)?;
        let load = self.load_job(&job, None).map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { load, wall: start.elapsed(), ..Spans::default() })
    }

    fn bind(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        texts: &DeviceTexts,
    ) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.check_operation(batch)?;
        let job = Job::of_texts(batch, output, texts)?;
        let bound = Bound::new(&*self.backend, texts)?;
        let load = self.load_job(&job, Some(bound)).map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { load, wall: start.elapsed(), ..Spans::default() })
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        let (backend, mut writes_texts) = (Arc::clone(&self.backend), false);
        let run = || backend.held(|| self.note_run(|resident| resident.execute_loaded(&mut writes_texts)));
        let run = catch_unwind(AssertUnwindSafe(run));
        if !matches!(run, Ok(Ok(_))) && writes_texts {
            // What the run failed by is told. Where this fails, too, the device does nothing any more.
            drop(self.forget_bound());
        }
        let run = run.unwrap_or_else(|defect| resume_unwind(defect));
        let execute = run.map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { execute, wall: start.elapsed(), ..Spans::default() })
    }

    fn store(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.check_operation(batch)?;
        let mut job = match self.loaded.as_ref().and_then(|scenery| scenery.bound.as_ref()) {
            Some(bound) => Job::of_texts(batch, output, &bound.texts)?,
            None => Job::new(batch, output)?,
        };
        let backend = Arc::clone(&self.backend);
        let stored = catch_unwind(AssertUnwindSafe(|| backend.held(|| self.store_job(&mut job))));
        if !matches!(stored, Ok(Ok(_))) {
            // Text of a message that is opened may be there before its verdict.
            job.forget();
        }
        let stored = stored.unwrap_or_else(|defect| resume_unwind(defect));
        let store = stored.map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { store, wall: start.elapsed(), ..Spans::default() })
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        self.clear_made().map_err(|fault| fault.of(self.backend.id()))
    }

    fn unload(&mut self) {
        self.loaded = None;
    }
}

pub(crate) fn nothing() -> Fault {
    Fault("nothing was loaded: call `load` first, or `bind`".to_owned())
}

/// What lies where results are made vouches for nothing.
pub(crate) fn not_run() -> Fault {
    let reason = "nothing that was loaded or bound has run since without an error: call `execute` first";
    Fault(reason.to_owned())
}

fn wait<B: Backend>(commands: Commands<'_, B>, steps: &Steps<B::Step>) -> Result<(), Fault> {
    steps.last().map_or(Ok(()), |last| commands.backend.wait(last))
}

impl<B: Backend> ResidentParts for Resident<B> {
    fn load_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        part: Part,
    ) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.check_operation(batch)?;
        let job = Job::of_part(batch, output, part)?;
        let load = self.load_job(&job, None).map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { load, wall: start.elapsed(), ..Spans::default() })
    }

    fn sum(&mut self) -> Result<Sum, DeviceError> {
        self.take_sum().map_err(|fault| fault.of(self.backend.id()))
    }

    fn end_parts(&mut self, sum: &Sum) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        let execute =
            self.note_run(|resident| resident.end_with(sum)).map_err(|fault| fault.of(self.backend.id()))?;
        Ok(Spans { execute, wall: start.elapsed(), ..Spans::default() })
    }
}

impl<B: Backend> Drop for Resident<B> {
    fn drop(&mut self) {
        self.stagings.wipe();
        let commands = Commands { backend: &*self.backend, queue: &self.queue };
        // A device that is lost has nothing to wipe, and nobody can be told here.
        drop(self.buffers.wipe(commands));
        drop(commands.wipe(&self.schedule.memory));
    }
}
