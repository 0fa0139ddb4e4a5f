//! A message that is run piece by piece: longer than a chunk, or a part of one that several devices share.

use cipherlane_core::Mode;
use cipherlane_kernels::manifest::When;

use crate::backend::{Backend, Commands, Fault};
use crate::buffers::Stagings;
use crate::cut::Group;
use crate::job::Job;
use crate::lane::{Flight, Lane};
use crate::launch::{Scene, Schedule};
use crate::loaded::Chosen;
use crate::part::Sum;
use crate::sum;

/// What comes after the text of a message that is run piece by piece.
pub(crate) enum Ending<'a> {
    /// Its tag or verdict, if it has one.
    Result,
    /// Nothing but its sum: it is a part.
    Sum(&'a mut Sum),
    /// The tag or verdict of the message whose parts add up to this.
    Of(&'a Sum),
}

/// A long message under way. The first lane starts and ends it.
pub(crate) struct Long<'a, B: Backend> {
    pub(crate) backend: &'a B,
    pub(crate) chosen: Chosen<'a, B>,
    pub(crate) scene: Scene<'a, B>,
    pub(crate) group: &'a Group,
    pub(crate) lanes: &'a mut [Lane<B>],
}

impl<B: Backend> Long<'_, B> {
    /// Brings the columns and launches what comes before the text.
    pub(crate) fn start(
        &mut self,
        job: &Job<'_>,
        schedule: &mut Schedule<B>,
        is_keyed: bool,
    ) -> Result<(), Fault> {
        let lane = &mut self.lanes[0];
        let flight = lane.flight.insert(Flight::default());
        let commands = Commands { backend: self.backend, queue: &lane.queue };
        let bytes = sum::place(self.scene.columns).end;
        let rows = lane.stagings.rows.reserved(bytes, |bytes| commands.backend.staging(bytes))?;
        let on = self.scene.on(commands);
        on.upload_rows(job, self.group, rows, &mut flight.loads)?;
        on.start(&mut self.chosen, schedule, is_keyed, &mut flight.launches)?;
        flight.pause();
        // What the other lanes are given comes after all of that.
        for here in 1..self.lanes.len() {
            self.after(here, 0, |flight| flight.launches.last().or(flight.loads.last()))?;
            if let Some(step) = self.chosen.expansion().and_then(|expansion| schedule.step(expansion)) {
                self.backend.after(&self.lanes[here].queue, step)?;
            }
        }
        Ok(())
    }

    /// Brings and launches piece by piece; takes the texts back at once where nothing changes them later.
    pub(crate) fn tiles(
        &mut self,
        job: &mut Job<'_>,
        schedule: &Schedule<B>,
        take_back: bool,
    ) -> Result<(), Fault> {
        // CBC reads the block before a piece. Other pieces may come in at the same time, and keep the link busy between
        // two copies.
        let reads_before = job.batch.algorithm.mode() == Some(Mode::Cbc);
        let streams = self.lanes.len();
        for (index, piece) in self.group.pieces.iter().enumerate() {
            let (here, before) = (index % streams, (index + streams - 1) % streams);
            if index > 0 {
                if reads_before {
                    self.after(here, before, |flight| flight.loads.last())?;
                }
                self.lanes[here].land(self.backend, job)?;
            }
            let Lane { queue, stagings: Stagings { input, output, .. }, flight, .. } = &mut self.lanes[here];
            let flight = flight.get_or_insert_default();
            // The end of a message whose parts were run elsewhere has no text of its own.
            flight.chunks += usize::from(!piece.tiles.is_empty());
            let on = self.scene.on(Commands { backend: self.backend, queue });
            on.upload_text(input, job, piece, &mut flight.loads)?;
            on.stages(self.chosen.loaded, schedule, When::Tiles, piece, &mut flight.launches)?;
            if take_back {
                flight.text = on.download_text(output, job, piece, &mut flight.stores)?;
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
    pub(crate) fn end(&mut self, schedule: &Schedule<B>, ending: &Ending<'_>) -> Result<(), Fault> {
        for there in 1..self.lanes.len() {
            self.after(0, there, |flight| flight.launches.last())?;
        }
        let lane = &mut self.lanes[0];
        let flight = lane.flight.get_or_insert_default();
        flight.pause();
        let commands = Commands { backend: self.backend, queue: &lane.queue };
        let bytes = sum::place(self.scene.columns).end;
        let rows = lane.stagings.rows.reserved(bytes, |bytes| commands.backend.staging(bytes))?;
        let on = self.scene.on(commands);
        match ending {
            Ending::Sum(_) => {
                flight.stores.push(sum::download(on, rows)?);
                return Ok(());
            }
            Ending::Of(sum) => flight.loads.push(sum::upload(on, rows, sum)?),
            Ending::Result => {}
        }
        let all = self.scene.all();
        on.stages(self.chosen.loaded, schedule, When::End, &all, &mut flight.launches)?;
        flight.results = on.download_results(self.group, rows, &mut flight.stores)?;
        Ok(())
    }

    /// Launches what waits for the verdict, and takes the texts back.
    pub(crate) fn tiles_after(&mut self, job: &mut Job<'_>, schedule: &Schedule<B>) -> Result<(), Fault> {
        let streams = self.lanes.len();
        // The first lane lands first, with the end: all that other lanes are given comes after it.
        for (index, piece) in self.group.pieces.iter().enumerate() {
            let lane = &mut self.lanes[index % streams];
            lane.land(self.backend, job)?;
            let Lane { queue, stagings: Stagings { output, .. }, flight, .. } = lane;
            let flight = flight.insert(Flight::default());
            let on = self.scene.on(Commands { backend: self.backend, queue });
            on.stages(self.chosen.loaded, schedule, When::TilesAfter, piece, &mut flight.launches)?;
            flight.text = on.download_text(output, job, piece, &mut flight.stores)?;
        }
        Ok(())
    }
}
