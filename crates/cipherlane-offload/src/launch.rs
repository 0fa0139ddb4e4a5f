//! The launches of a group, stage by stage.
#![allow(unsafe_code)] // launches: everything that a kernel touches was laid out for it

use cipherlane_kernels::abi::{Argument, IN_PLACE, Params};
use cipherlane_kernels::manifest::{Items, KEYS, When};

use crate::backend::{Backend, Commands, Fault, Pointer};
use crate::buffers::Views;
use crate::columns::Columns;
use crate::cut::Piece;
use crate::key::Expansion;
use crate::loaded::{Chosen, Loaded};

/// Everything that the launches of a group refer to.
#[derive(Debug)]
pub(crate) struct Scene<'a, B: Backend> {
    pub(crate) views: Views<'a, B>,
    pub(crate) columns: &'a Columns,
}

/// The schedule of a session's shared key, where launches read it.
#[derive(Debug)]
pub(crate) struct Schedule<B: Backend> {
    pub(crate) memory: B::Memory,
    /// Whose it is, and the copy that gave it to its program. The schedule is the same for all groups of a key, so one of
    /// them makes the copy.
    set: Option<(Expansion, B::Step)>,
}

impl<B: Backend> Schedule<B> {
    /// The longest schedules are bitsliced: 32 words a round of each of two keys.
    const BYTES: usize = 16 << 10;

    pub(crate) fn new(backend: &B) -> Result<Self, Fault> {
        Ok(Self { memory: backend.allocate(Self::BYTES)?, set: None })
    }

    /// The copy that gave its program the schedule of `expansion`, if that is what is here.
    pub(crate) fn step(&self, expansion: Expansion) -> Option<&B::Step> {
        self.set.as_ref().filter(|(set, _)| *set == expansion).map(|(_, step)| step)
    }

    /// Waits for the last copy, whatever it came to: a run that fails after it has no other step to wait for.
    pub(crate) fn abandon(&self, backend: &B) {
        if let Some((_, step)) = &self.set {
            // The run has failed already.
            drop(backend.wait(step));
        }
    }

    /// Has the next group copy its schedule, whatever there is.
    pub(crate) fn unset(&mut self) {
        self.set = None;
    }
}

/// Some steps of a queue, in order, in stretches that other steps of the queue come between.
#[derive(Debug)]
pub(crate) struct Steps<S> {
    all: Vec<S>,
    /// How many there were at each pause.
    pauses: Vec<usize>,
}

impl<S> Default for Steps<S> {
    fn default() -> Self {
        Self { all: Vec::new(), pauses: Vec::new() }
    }
}

impl<S> Steps<S> {
    pub(crate) fn push(&mut self, step: S) {
        self.all.push(step);
    }

    /// Has what comes next be timed by itself: before it the queue does other things, or waits for other queues.
    pub(crate) fn pause(&mut self) {
        self.pauses.push(self.all.len());
    }

    /// Steps without a pause between them.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = &[S]> {
        let ends = self.pauses.iter().copied().chain([self.all.len()]);
        ends.scan(0, |start, end| Some(&self.all[std::mem::replace(start, end)..end]))
    }

    pub(crate) fn all(&self) -> &[S] {
        &self.all
    }

    pub(crate) fn last(&self) -> Option<&S> {
        self.all.last()
    }
}

/// A scene, and the queue on which something is done there.
#[derive(Debug)]
pub(crate) struct OnQueue<'a, B: Backend> {
    pub(crate) commands: Commands<'a, B>,
    pub(crate) scene: &'a Scene<'a, B>,
}

impl<B: Backend> Clone for OnQueue<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for OnQueue<'_, B> {}

impl<B: Backend> Scene<'_, B> {
    /// The scene, as `commands` are enqueued there.
    pub(crate) const fn on<'s>(&'s self, commands: Commands<'s, B>) -> OnQueue<'s, B> {
        OnQueue { commands, scene: self }
    }

    /// All tiles of the group.
    pub(crate) fn all(&self) -> Piece {
        Piece { tiles: 0..self.columns.tiles, text: 0..0 }
    }

    fn params(&self, loaded: &Loaded<B>, piece: &Piece) -> Params {
        let params = self.columns.params;
        Params {
            first_tile: self.columns.first_tile + piece.tiles.start,
            end_tile: self.columns.first_tile + piece.tiles.end,
            // Rows of tiles are counted from the first of the launch: each piece has its own.
            chain_at: params.chain_at + loaded.program.workspace.chain * piece.tiles.start,
            flags: params.flags | if self.views.in_place { IN_PLACE } else { 0 },
            ..params
        }
    }

    /// Where `argument` points to. One that the batch has no use for points to the workspace, since null cannot be
    /// passed everywhere.
    fn pointer<'a>(&'a self, argument: Argument, schedule: &'a Schedule<B>) -> Pointer<'a, B::Memory> {
        let all = |memory| Pointer { memory, at: 0, bytes: 0 };
        match argument {
            Argument::In => all(self.views.input),
            Argument::Out => all(self.views.output),
            Argument::Work => all(self.views.work),
            Argument::Schedule => all(&schedule.memory),
            column => {
                let place = self.columns.at(column);
                if place.is_empty() {
                    all(self.views.work)
                } else {
                    Pointer { memory: self.views.rows, at: place.start, bytes: place.len() }
                }
            }
        }
    }
}

impl<B: Backend> OnQueue<'_, B> {
    /// Enqueues the stages that come before the texts. Those that make something of a key are left out where the
    /// workspace already has it.
    pub(crate) fn start(
        self,
        chosen: &mut Chosen<'_, B>,
        schedule: &mut Schedule<B>,
        is_keyed: bool,
        steps: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        let all = self.scene.all();
        for index in 0..chosen.loaded.program.stages.len() {
            let stage = &chosen.loaded.program.stages[index];
            if stage.when != When::Start {
                continue;
            }
            let (makes_keys, of_keys) = (stage.entry == KEYS, stage.items == Items::Keys);
            if !(of_keys && is_keyed) {
                self.launch(chosen.loaded, schedule, index, &all, steps)?;
            }
            if makes_keys {
                self.set_schedule(chosen, schedule)?;
            }
        }
        Ok(())
    }

    /// Enqueues the stages of `when` for `piece`.
    pub(crate) fn stages(
        self,
        loaded: &mut Loaded<B>,
        schedule: &Schedule<B>,
        when: When,
        piece: &Piece,
        steps: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        for index in 0..loaded.program.stages.len() {
            let stage = loaded.program.stages[index].when;
            if stage == when
                || (when == When::Tiles && stage == When::TilesInPlace && self.scene.views.in_place)
            {
                self.launch(loaded, schedule, index, piece, steps)?;
            }
        }
        Ok(())
    }

    fn set_schedule(self, chosen: &mut Chosen<'_, B>, schedule: &mut Schedule<B>) -> Result<(), Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let bytes = 4 * chosen.loaded.program.schedule_words;
        let Some(expansion) = chosen.expansion().filter(|_| bytes > 0) else { return Ok(()) };
        if let Some(step) = schedule.step(expansion) {
            return backend.after(queue, step);
        }
        let at = usize::try_from(scene.columns.params.schedule_at).unwrap_or(usize::MAX);
        let from = Pointer { memory: scene.views.work, at, bytes };
        chosen.loaded.schedule_of = Some(chosen.key);
        let program = &mut chosen.loaded.handle;
        // SAFETY: the workspace has the schedule in its layout. A new schedule is set by the first group of a run,
        // whose launches all come after it in this queue, or wait for its step; those of earlier runs are done.
        let step = unsafe { backend.set_schedule(queue, program, from, bytes, &schedule.memory) }?;
        schedule.set = Some((expansion, step));
        Ok(())
    }

    fn launch(
        self,
        loaded: &mut Loaded<B>,
        schedule: &Schedule<B>,
        index: usize,
        piece: &Piece,
        steps: &mut Steps<B::Step>,
    ) -> Result<(), Fault> {
        let Self { commands: Commands { backend, queue }, scene } = self;
        let items = match loaded.program.stages[index].items {
            Items::Keys => scene.columns.keys,
            Items::Messages => scene.columns.params.end_message,
            Items::Tiles => piece.tiles.end - piece.tiles.start,
        };
        if items == 0 {
            return Ok(());
        }
        let blocks = loaded.blocks(index, items);
        let params = scene.params(loaded, piece).to_bytes();
        let pointers = Argument::ALL.map(|argument| scene.pointer(argument, schedule));
        // SAFETY: the pointers and the parameters are those of the ABI. The columns were laid out for the batch's
        // messages, the texts reserved with their lengths or bound where these have been checked, the workspace by
        // the program's own layout: that is all that the kernels of the manifest touch. What other queues do meanwhile is
        // ordered by who calls this.
        let step = unsafe { backend.launch(queue, &mut loaded.handle, index, blocks, &pointers, &params) }?;
        steps.push(step);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_part_steps() {
        fn stretches(steps: &Steps<u8>) -> Vec<&[u8]> {
            steps.stretches().filter(|stretch| !stretch.is_empty()).collect()
        }
        let mut steps = Steps::default();
        assert!(stretches(&steps).is_empty());
        steps.pause();
        steps.push(1);
        steps.push(2);
        steps.pause();
        steps.pause();
        steps.push(3);
        assert_eq!(stretches(&steps), [&[1, 2][..], &[3]]);
        assert_eq!((steps.all(), steps.last()), (&[1, 2, 3][..], Some(&3)));
    }
}
