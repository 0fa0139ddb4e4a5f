//! One queue with its buffers, and the group that is under way on it.
#![allow(unsafe_code)] // copies that the device makes while the host goes on

use std::ops::Range;
use std::time::Duration;

use cipherlane_core::{Operation, StreamSpans};
use cipherlane_kernels::manifest::When;

use crate::backend::{Backend, Commands, Fault};
use crate::buffers::{Buffers, Growing, Stagings};
use crate::calls;
use crate::columns::Columns;
use crate::cut::{Group, Piece, stretches};
use crate::job::Job;
use crate::launch::{OnQueue, Scene, Schedule, Steps};
use crate::loaded::Chosen;

/// A queue with its buffers.
#[derive(Debug)]
pub(crate) struct Lane<B: Backend> {
    pub(crate) queue: B::Queue,
    pub(crate) buffers: Buffers<B>,
    pub(crate) stagings: Stagings<B>,
    /// What is under way.
    pub(crate) flight: Option<Flight<B>>,
    /// What has landed since a run began.
    pub(crate) spans: StreamSpans,
}

/// Work that was enqueued, and what is to be done when it is done.
#[derive(Debug)]
pub(crate) struct Flight<B: Backend> {
    /// Text that lies in the output staging when the flight has landed.
    pub(crate) text: Option<Range<u64>>,
    /// Text that is still on the device then.
    pub(crate) left: Option<Left>,
    /// Results that lie in the staging of rows then.
    pub(crate) results: Option<Results>,
    /// Groups, or pieces of one, that go through the lane.
    pub(crate) chunks: usize,
    pub(crate) loads: Steps<B::Step>,
    pub(crate) launches: Steps<B::Step>,
    pub(crate) stores: Steps<B::Step>,
}

/// Text that is too long for one staging.
#[derive(Debug)]
pub(crate) struct Left {
    text: Range<u64>,
    in_place: bool,
    /// Most bytes of a copy.
    chunk: u64,
}

/// Tags, digests or verdicts.
#[derive(Debug)]
pub(crate) struct Results {
    /// Whose they are.
    pub(crate) messages: Range<usize>,
    /// Where they lie in the staging of rows.
    pub(crate) place: Range<usize>,
}

impl<B: Backend> Default for Flight<B> {
    fn default() -> Self {
        Self {
            text: None,
            left: None,
            results: None,
            chunks: 0,
            loads: Steps::default(),
            launches: Steps::default(),
            stores: Steps::default(),
        }
    }
}

impl<B: Backend> Flight<B> {
    /// The step after which all is done.
    fn last(&self) -> Option<&B::Step> {
        self.stores.last().or(self.launches.last()).or(self.loads.last())
    }

    /// Has copies and launches that come next be timed apart from those so far.
    pub(crate) fn pause(&mut self) {
        self.loads.pause();
        self.launches.pause();
        self.stores.pause();
    }
}

impl<B: Backend> Lane<B> {
    /// Lane `number` of a session.
    pub(crate) fn new(backend: &B, number: usize) -> Result<Self, Fault> {
        Ok(Self {
            queue: backend.queue()?,
            buffers: Buffers::default(),
            stagings: Stagings::default(),
            flight: None,
            spans: StreamSpans::idle(backend.id(), number),
        })
    }

    /// Enqueues all that `group`, of one piece, takes. The lane has landed. No staging of texts is longer than `chunk`: one
    /// message may be, and a host cannot pin as much as a device has room for.
    pub(crate) fn fly(
        &mut self,
        backend: &B,
        mut chosen: Chosen<'_, B>,
        schedule: &mut Schedule<B>,
        job: &Job<'_>,
        group: &Group,
        chunk: u64,
    ) -> Result<(), Fault> {
        let program = &chosen.loaded.program;
        let Some(piece) = group.pieces.first() else { return Ok(()) };
        let columns = Columns::new(job, group.messages.clone(), program, backend.limits().alignment);
        let in_place = job.runs_in_place();
        let bytes = size(piece.text.end - piece.text.start)?;
        let commands = Commands { backend, queue: &self.queue };
        self.buffers.reserve(commands, columns.needs(Some(bytes), in_place)?)?;
        // From here on something is under way: an error must not keep it from being waited for.
        let flight = self.flight.insert(Flight { chunks: 1, ..Flight::default() });
        let Stagings { input, output, rows } = &mut self.stagings;
        let rows = rows.reserved(columns.bytes.max(16), |bytes| backend.staging(bytes))?;
        let is_keyed = self.buffers.key_by(chosen.expansion());
        let scene = Scene { views: self.buffers.views(in_place)?, columns: &columns };
        let on = scene.on(commands);
        on.upload_rows(job, group, rows, &mut flight.loads)?;
        let is_long = |at: *const u8| bytes as u64 > chunk && !backend.reaches(at, bytes);
        let most = if is_long(job.input(piece.text.start)) { chunk } else { u64::MAX };
        for stretch in stretches(piece.text.clone(), most) {
            if let Some(before) = flight.loads.last().filter(|_| stretch.text.start > piece.text.start) {
                // The staging is free when what lies there has been copied.
                backend.wait(before)?;
                flight.loads.pause();
            }
            on.upload_text(input, job, &stretch, &mut flight.loads)?;
        }
        on.start(&mut chosen, schedule, is_keyed, &mut flight.launches)?;
        for when in [When::Tiles, When::End, When::TilesAfter] {
            on.stages(chosen.loaded, schedule, when, piece, &mut flight.launches)?;
        }
        if job.batch.operation != Operation::Hash && is_long(job.output(piece.text.start)) {
            flight.left = Some(Left { text: piece.text.clone(), in_place, chunk });
        } else {
            flight.text = on.download_text(output, job, piece, &mut flight.stores)?;
        }
        flight.results = on.download_results(group, rows, &mut flight.stores)?;
        Ok(())
    }

    /// Waits for what is under way, hands its results on, and counts its times.
    pub(crate) fn land(&mut self, backend: &B, job: &mut Job<'_>) -> Result<(), Fault> {
        let Some(mut flight) = self.flight.take() else { return Ok(()) };
        if let Some(last) = flight.last() {
            backend.wait(last)?;
        }
        if let Some(left) = flight.left.take() {
            self.take_back(backend, job, &left, &mut flight.stores)?;
        }
        if let (Some(range), Some(staging)) = (&flight.text, self.stagings.output.get()) {
            job.write_output(range, staging, backend.node());
        }
        if let (Some(Results { messages, place }), Some(staging)) =
            (&flight.results, self.stagings.rows.get())
        {
            job.write_results(messages, &staging[place.clone()], backend.node());
        }
        self.spans.chunks += flight.chunks;
        self.spans.load += time(backend, &flight.loads)?;
        self.spans.execute += time(backend, &flight.launches)?;
        self.spans.store += time(backend, &flight.stores)?;
        calls::note(backend, &flight)
    }

    /// Takes back what was left on the device, stretch by stretch.
    fn take_back(
        &mut self,
        backend: &B,
        job: &mut Job<'_>,
        left: &Left,
        stores: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        let memory = self.buffers.views(left.in_place)?.output;
        for Piece { text, .. } in stretches(left.text.clone(), left.chunk) {
            let (at, bytes) = (size(text.start - left.text.start)?, size(text.end - text.start)?);
            let staging = self.stagings.output.reserved(bytes, |bytes| backend.staging(bytes))?;
            stores.pause();
            job.note_text_out();
            // SAFETY: the staging is the lane's, which does not touch it before the copy is done.
            let step = unsafe { backend.download(&self.queue, memory, at, staging.as_mut_ptr(), bytes) }?;
            backend.wait(&step)?;
            stores.push(step);
            job.write_output(&text, staging, backend.node());
        }
        Ok(())
    }

    /// Waits for what is under way, whatever it came to: after it nothing uses the caller's memory.
    pub(crate) fn abandon(&mut self, backend: &B) {
        let Some(Flight { loads, launches, stores, .. }) = self.flight.take() else { return };
        // Which of them was enqueued last depends on where it ended.
        for last in [loads, launches, stores].iter().filter_map(Steps::last) {
            // It has failed already, or its results are not wanted.
            drop(backend.wait(last));
        }
    }
}

/// From the start of the first to the end of the last step of each stretch.
pub(crate) fn time<B: Backend>(backend: &B, steps: &Steps<B::Step>) -> Result<Duration, Fault> {
    let times = steps.stretches().map(|stretch| match stretch {
        [] => Ok(Duration::ZERO),
        [first, .., last] => backend.time(first, last),
        [only] => backend.time(only, only),
    });
    times.sum()
}

/// A size of memory, which no machine has where it is not a `usize`.
pub(crate) fn size(bytes: u64) -> Result<usize, Fault> {
    usize::try_from(bytes).map_err(|_| Fault(format!("{bytes} bytes are more than this machine can address")))
}

impl<B: Backend> OnQueue<'_, B> {
    /// Writes the columns to `staging` and enqueues their copy.
    pub(crate) fn upload_rows(
        self,
        job: &Job<'_>,
        group: &Group,
        staging: &mut B::Staging,
        steps: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let bytes = scene.columns.uploaded;
        scene.columns.write(job.batch, &group.messages, &mut staging[..bytes], backend.node());
        if bytes > 0 {
            // SAFETY: the staging belongs to the lane, which does not touch it before it has landed.
            steps.push(unsafe { backend.upload(queue, scene.views.rows, 0, staging.as_ptr(), bytes) }?);
        }
        Ok(())
    }

    /// Enqueues the copy of a piece's input to where the group has it, by the staging where the device does not reach the
    /// caller's memory.
    pub(crate) fn upload_text(
        self,
        staging: &mut Growing<B::Staging>,
        job: &Job<'_>,
        piece: &Piece,
        steps: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let (bytes, at) = self.place(piece)?;
        if bytes == 0 {
            return Ok(());
        }
        let direct = job.input(piece.text.start);
        let source = if backend.reaches(direct, bytes) {
            direct
        } else {
            let staging = staging.reserved(bytes, |bytes| backend.staging(bytes))?;
            job.read_input(&piece.text, staging, backend.node());
            staging.as_ptr()
        };
        // SAFETY: the caller's memory is borrowed until the run has landed, and nothing writes there before; the staging
        // is the lane's.
        steps.push(unsafe { backend.upload(queue, scene.views.input, at, source, bytes) }?);
        Ok(())
    }

    /// Enqueues the copy of a piece's output back. Says which text will lie in the staging, if any.
    pub(crate) fn download_text(
        self,
        staging: &mut Growing<B::Staging>,
        job: &Job<'_>,
        piece: &Piece,
        steps: &mut Steps<B::Step>,
    ) -> Result<Option<Range<u64>>, Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let (bytes, at) = self.place(piece)?;
        if bytes == 0 || job.batch.algorithm.hash().is_some() {
            return Ok(None);
        }
        let direct = job.output(piece.text.start);
        let (target, staged) = if backend.reaches(direct, bytes) {
            (direct, None)
        } else {
            let staging = staging.reserved(bytes, |bytes| backend.staging(bytes))?;
            (staging.as_mut_ptr(), Some(piece.text.clone()))
        };
        job.note_text_out();
        // SAFETY: as for the upload; the text of a piece is copied back once its kernels are done with it.
        steps.push(unsafe { backend.download(queue, scene.views.output, at, target, bytes) }?);
        Ok(staged)
    }

    /// Enqueues the copy of tags, digests or verdicts to the staging of rows. Says whose they are and where.
    pub(crate) fn download_results(
        self,
        group: &Group,
        staging: &mut B::Staging,
        steps: &mut Steps<B::Step>,
    ) -> Result<Option<Results>, Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let place = scene.columns.results.clone();
        if place.is_empty() {
            return Ok(None);
        }
        let target = staging[place.clone()].as_mut_ptr();
        // SAFETY: the staging is the lane's, and reaches to the end of the columns.
        steps.push(unsafe { backend.download(queue, scene.views.rows, place.start, target, place.len()) }?);
        Ok(Some(Results { messages: group.messages.clone(), place }))
    }

    /// Bytes of a piece, and where in the group's text it begins.
    fn place(self, piece: &Piece) -> Result<(usize, usize), Fault> {
        let bytes = size(piece.text.end - piece.text.start)?;
        Ok((bytes, size(piece.text.start - self.scene.columns.text_start)?))
    }
}

/// Zeroes the text of `piece` in `memory` of a caller, which has it where the batch says, and waits for that.
pub(crate) fn zero_text<B: Backend>(
    commands: Commands<'_, B>,
    staging: &mut Growing<B::Staging>,
    memory: &B::Memory,
    piece: &Piece,
) -> Result<(), Fault> {
    zero(commands, staging, memory, size(piece.text.start)?..size(piece.text.end)?)
}

/// Zeroes `place` of `memory`, which has so much, and waits for that.
pub(crate) fn zero<B: Backend>(
    commands: Commands<'_, B>,
    staging: &mut Growing<B::Staging>,
    memory: &B::Memory,
    place: Range<usize>,
) -> Result<(), Fault> {
    let bytes = place.len();
    let zeros = staging.reserved(bytes, |bytes| commands.backend.staging(bytes))?;
    zeros[..bytes].fill(0);
    // SAFETY: the place lies within the memory. The staging is the queue's, and the copy is waited for.
    let step =
        unsafe { commands.backend.upload(commands.queue, memory, place.start, zeros.as_ptr(), bytes) }?;
    commands.backend.wait(&step)
}
