//! Sessions: a plan put into effect.

use std::sync::Arc;
use std::time::Instant;

use cipherlane_core::{Batch, BatchError, Column, DeviceError, Output, Plan, Session, Shape, Spans};
use cipherlane_kernels::manifest::When;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::answers;
use crate::backend::{Backend, Fault};
use crate::buffers::{Buffers, Link, Needs, Stagings};
use crate::columns::Columns;
use crate::cut::{Cutter, Group};
use crate::device;
use crate::job::Job;
use crate::lane::{Flight, Lane, download_results, download_text, size, upload_rows, upload_text};
use crate::launch::{Scene, Schedule};
use crate::loaded::Chosen;
use crate::programs::Programs;
use crate::tuning::STREAMS;

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
    /// For a message that is cut into pieces: all of it is on the device.
    whole: Buffers<B>,
    schedule: Schedule<B>,
    /// The program that is giving its known answer, whatever the shape of the question.
    answering: Option<usize>,
    /// The shared key that workspaces hold the expansion of.
    key: Option<Zeroizing<Vec<u8>>>,
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
        let streams = plan.geometry.map_or(STREAMS, |geometry| geometry.streams);
        let mut session = Self {
            lanes: (0..streams).map(|_| Lane::new(&*backend)).collect::<Result<_, Fault>>()?,
            schedule: Schedule::new(&*backend)?,
            whole: Buffers::default(),
            plan: plan.clone(),
            programs,
            answering: None,
            key: None,
            backend,
        };
        session.program(&shape)?;
        Ok(session)
    }

    /// The number of the program for batches of `shape`. One that is new has to give a known answer first.
    fn program(&mut self, shape: &Shape) -> Result<usize, Fault> {
        let (index, known) = self.programs.find(&self.backend, shape)?;
        if !known {
            let Plan { algorithm, operation, .. } = self.plan;
            self.answering = Some(index);
            let answer = answers::check(self, algorithm, operation, shape.shared_key);
            self.answering = None;
            answer.map_err(Fault)?;
        }
        Ok(index)
    }

    fn failed(&self, Fault(reason): Fault) -> DeviceError {
        DeviceError::Failed { device: self.backend.id().to_owned(), reason }
    }

    fn check_operation(&self, batch: &Batch<'_>) -> Result<(), BatchError> {
        let Plan { algorithm, operation, .. } = self.plan;
        if (batch.algorithm, batch.operation) == (algorithm, operation) {
            return Ok(());
        }
        Err(BatchError::OtherSession {
            session: format!("{algorithm} {operation}"),
            batch: format!("{} {}", batch.algorithm, batch.operation),
        })
    }

    /// Forgets what follows from the last shared key, unless the batch has the same.
    fn take_key(&mut self, batch: &Batch<'_>) {
        let Column::Shared(key) = batch.keys else { return };
        // In constant time: how much of two keys agrees is nobody's business.
        if self.key.as_ref().is_some_and(|known| bool::from(known.as_slice().ct_eq(key))) {
            return;
        }
        self.key = Some(Zeroizing::new(key.to_vec()));
        self.schedule.set = None;
        self.whole.keyed = None;
        for lane in &mut self.lanes {
            lane.buffers.keyed = None;
        }
    }

    fn run_job(&mut self, job: &mut Job<'_>, program: usize, spans: &mut Spans) -> Result<(), Fault> {
        let tiling = self.programs.get(program).program.tiling;
        let cutter = Cutter {
            offsets: job.batch.messages.offsets,
            chunk: self.plan.chunk as u64,
            row_bytes: row_bytes(job.batch),
            tiling,
        };
        for (index, group) in cutter.groups().enumerate() {
            if group.pieces.len() > 1 {
                self.land_all(job, spans)?;
                self.run_long(job, &group, program, spans)?;
            } else {
                let streams = self.lanes.len();
                let lane = &mut self.lanes[index % streams];
                lane.land(&*self.backend, job, spans)?;
                let loaded = self.programs.get(program);
                lane.fly(&*self.backend, Chosen { index: program, loaded }, &mut self.schedule, job, &group)?;
            }
        }
        self.land_all(job, spans)
    }

    fn land_all(&mut self, job: &mut Job<'_>, spans: &mut Spans) -> Result<(), Fault> {
        self.lanes.iter_mut().try_for_each(|lane| lane.land(&*self.backend, job, spans))
    }

    /// Runs a message that is longer than a chunk: all of it comes to lie on the device, piece by piece, each launched
    /// when it has arrived.
    fn run_long(
        &mut self,
        job: &mut Job<'_>,
        group: &Group,
        program: usize,
        spans: &mut Spans,
    ) -> Result<(), Fault> {
        let backend = &*self.backend;
        let loaded = self.programs.get(program);
        let columns =
            Columns::new(job.batch, group.messages.clone(), &loaded.program, backend.limits().alignment);
        let layout = loaded.program.workspace.layout(1, 1, columns.tiles);
        let (Some(first), Some(last)) = (group.pieces.first(), group.pieces.last()) else { return Ok(()) };
        // Apart on the device even where it is in place on the host: a piece may need the input of the one before.
        let text = size(last.text.end - first.text.start)?;
        let needs = Needs { text, in_place: false, rows: columns.bytes, work: size(layout.bytes)? };
        self.whole.reserve(backend, needs)?;
        let is_keyed = self.whole.keyed == Some(program);
        self.whole.keyed = loaded.program.shared_key.then_some(program);
        let scene = Scene { views: self.whole.views(false)?, columns: &columns, layout, keys: 1 };
        let mut long =
            Long { backend, chosen: Chosen { index: program, loaded }, scene, group, lanes: &mut self.lanes };
        long.start(job, &mut self.schedule, is_keyed)?;
        let waits = long.chosen.loaded.program.stages.iter().any(|stage| stage.when == When::TilesAfter);
        long.tiles(job, &self.schedule, spans, !waits)?;
        long.end(&self.schedule)?;
        if waits {
            long.tiles_after(job, &self.schedule, spans)?;
        }
        self.land_all(job, spans)
    }
}

/// A long message under way. The first lane starts and ends it.
struct Long<'a, B: Backend> {
    backend: &'a B,
    chosen: Chosen<'a, B>,
    scene: Scene<'a, B>,
    group: &'a Group,
    lanes: &'a mut [Lane<B>],
}

impl<B: Backend> Long<'_, B> {
    /// Brings the columns and launches what comes before the text.
    fn start(&mut self, job: &Job<'_>, schedule: &mut Schedule<B>, is_keyed: bool) -> Result<(), Fault> {
        let lane = &mut self.lanes[0];
        let flight = lane.flight.insert(Flight::default());
        let link = Link { backend: self.backend, queue: &lane.queue };
        let bytes = self.scene.columns.bytes.max(16);
        let rows = lane.stagings.rows.reserved(bytes, |bytes| link.backend.staging(bytes))?;
        upload_rows(link, &self.scene, job, self.group, rows, &mut flight.loads)?;
        self.scene.start(link, &mut self.chosen, schedule, is_keyed, &mut flight.launches)?;
        // What the other lanes are given comes after all of that.
        for here in 1..self.lanes.len() {
            self.after(here, 0, |flight| flight.launches.last().or(flight.loads.last()))?;
            if let Some((_, set)) = &schedule.set {
                self.backend.after(&self.lanes[here].queue, set)?;
            }
        }
        Ok(())
    }

    /// Brings and launches piece by piece; takes the texts back at once where nothing changes them later.
    fn tiles(
        &mut self,
        job: &mut Job<'_>,
        schedule: &Schedule<B>,
        spans: &mut Spans,
        take_back: bool,
    ) -> Result<(), Fault> {
        let streams = self.lanes.len();
        for (index, piece) in self.group.pieces.iter().enumerate() {
            let (here, before) = (index % streams, (index + streams - 1) % streams);
            if index > 0 {
                // CBC reads the block before a piece.
                self.after(here, before, |flight| flight.loads.last())?;
                self.lanes[here].land(self.backend, job, spans)?;
            }
            let Lane { queue, stagings: Stagings { input, output, .. }, flight, .. } = &mut self.lanes[here];
            let flight = flight.get_or_insert_default();
            let link = Link { backend: self.backend, queue };
            upload_text(link, input, &self.scene, job, piece, &mut flight.loads)?;
            self.scene.stages(
                link,
                self.chosen.loaded,
                schedule,
                When::Tiles,
                piece,
                &mut flight.launches,
            )?;
            if take_back {
                flight.text = download_text(link, output, &self.scene, job, piece, &mut flight.stores)?;
            }
        }
        Ok(())
    }

    /// Has lane `here` wait for a step of the flight of lane `there`. Where that has landed, there is nothing to wait
    /// for.
    fn after(
        &self,
        here: usize,
        there: usize,
        step: impl Fn(&Flight<B>) -> Option<&B::Step>,
    ) -> Result<(), Fault> {
        match self.lanes[there].flight.as_ref().and_then(step) {
            Some(step) if here != there => self.backend.after(&self.lanes[here].queue, step),
            _ => Ok(()),
        }
    }

    /// Launches what comes after the texts, on the first lane, and takes back what it makes.
    fn end(&mut self, schedule: &Schedule<B>) -> Result<(), Fault> {
        for there in 1..self.lanes.len() {
            self.after(0, there, |flight| flight.launches.last())?;
        }
        let lane = &mut self.lanes[0];
        let flight = lane.flight.get_or_insert_default();
        let link = Link { backend: self.backend, queue: &lane.queue };
        let all = self.scene.all();
        self.scene.stages(link, self.chosen.loaded, schedule, When::End, &all, &mut flight.launches)?;
        let bytes = self.scene.columns.bytes.max(16);
        let rows = lane.stagings.rows.reserved(bytes, |bytes| link.backend.staging(bytes))?;
        flight.results = download_results(link, &self.scene, self.group, rows, &mut flight.stores)?;
        Ok(())
    }

    /// Launches what waits for the verdict, and takes the texts back.
    fn tiles_after(
        &mut self,
        job: &mut Job<'_>,
        schedule: &Schedule<B>,
        spans: &mut Spans,
    ) -> Result<(), Fault> {
        // All other lanes wait for the end, which is on the first.
        for here in 1..self.lanes.len() {
            self.after(here, 0, |flight| flight.launches.last())?;
        }
        let streams = self.lanes.len();
        for (index, piece) in self.group.pieces.iter().enumerate() {
            let lane = &mut self.lanes[index % streams];
            lane.land(self.backend, job, spans)?;
            let Lane { queue, stagings: Stagings { output, .. }, flight, .. } = lane;
            let flight = flight.insert(Flight::default());
            let link = Link { backend: self.backend, queue };
            self.scene.stages(
                link,
                self.chosen.loaded,
                schedule,
                When::TilesAfter,
                piece,
                &mut flight.launches,
            )?;
            flight.text = download_text(link, output, &self.scene, job, piece, &mut flight.stores)?;
        }
        Ok(())
    }
}

impl<B: Backend> Session for OffloadSession<B> {
    /// Runs one batch. An error of the device leaves an output that lies apart zeroed, and one in place undefined.
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.check_operation(batch)?;
        let mut job = Job::new(batch, output)?;
        let mut spans = Spans::default();
        if !batch.is_empty() {
            let program = self.answering.map_or_else(|| self.program(&job.shape), Ok);
            let program = program.map_err(|fault| self.failed(fault))?;
            self.take_key(batch);
            let run = self.run_job(&mut job, program, &mut spans);
            if let Err(fault) = run {
                for lane in &mut self.lanes {
                    lane.abandon(&*self.backend);
                }
                // What workspaces hold is not known any more.
                self.key = None;
                if !job.runs_in_place() {
                    job.zero_output(&job.texts());
                }
                return Err(self.failed(fault));
            }
        }
        spans.wall = start.elapsed();
        Ok(spans)
    }
}

impl<B: Backend> Drop for OffloadSession<B> {
    fn drop(&mut self) {
        for lane in &mut self.lanes {
            lane.abandon(&*self.backend);
            lane.stagings.wipe();
            let link = Link { backend: &*self.backend, queue: &lane.queue };
            // A device that is lost has nothing to wipe, and nobody can be told here.
            drop(lane.buffers.wipe(link));
        }
        if let Some(lane) = self.lanes.first() {
            let link = Link { backend: &*self.backend, queue: &lane.queue };
            drop(self.whole.wipe(link));
            drop(self.schedule.wipe(link));
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
