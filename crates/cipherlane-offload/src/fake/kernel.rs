//! What kernels touch and do, which `kernels/c` says: of a message that is cut, each launch has its own part.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use cipherlane_core::BLOCK;
use cipherlane_kernels::abi::{Argument, IN_PLACE};
use cipherlane_kernels::manifest::{FINISH, KEYS};

use super::lock;
use super::memory::Bytes;
use super::order::{How, Order, Place, Touch};
use crate::backend::{Pointer, Unit};

/// Bytes of a row of the state of messages in GCM, and of the sum at its front.
const STATE: usize = 64;
const SUM: usize = 16;
/// What tags and digests are made of.
pub(crate) const TAG: u8 = 0x77;

/// A program, with a schedule of its own as in CUDA.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(super) number: usize,
    pub(super) entries: Vec<String>,
    /// Bytes of a tile.
    tile: usize,
    pub(super) schedule: Mutex<Vec<u8>>,
    /// Where the schedule is.
    pub(super) place: Place,
    order: Arc<Order>,
}

impl Kernels {
    pub(super) fn new(unit: &Unit, number: usize, order: &Arc<Order>) -> Self {
        let tile =
            unit.text.lines().find_map(|line| line.strip_prefix("#define TILE ")?.parse::<usize>().ok());
        Self {
            number,
            entries: unit.entries.iter().map(|entry| entry.name.clone()).collect(),
            tile: BLOCK * tile.unwrap_or(0),
            schedule: Mutex::default(),
            place: order.place(),
            order: Arc::clone(order),
        }
    }

    pub(crate) fn schedule(&self) -> Vec<u8> {
        lock(&self.schedule).clone()
    }

    /// What is done to the schedule of the program: all of it.
    pub(super) fn touch(&self, how: How) -> Touch {
        Touch { how, place: self.place, bytes: 0..usize::MAX }
    }

    /// Whether kernels walk messages tile by tile, and what a message comes to has a stage of its own.
    fn ends_apart(&self) -> bool {
        self.entries.iter().any(|entry| entry.ends_with(FINISH))
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.order.check_unused(self.place, &(0..usize::MAX));
    }
}

/// A launch of a stage.
pub(super) struct Launch<'a> {
    pub(super) program: &'a Kernels,
    pub(super) entry: &'a str,
    pub(super) pointers: &'a [Pointer<'a, Bytes>],
    sizes: Sizes,
}

/// The parameters of the launch that say what it touches.
struct Sizes {
    messages: usize,
    tiles: Range<usize>,
    uniform_tiles: usize,
    text_base: usize,
    /// Where the regions of the workspace begin.
    schedule: usize,
    hash: usize,
    state: usize,
    chain: usize,
    in_place: bool,
}

impl Sizes {
    /// As `Params` lays them out.
    fn of(value: &[u8]) -> Self {
        let word = |index: usize| words(&value[8 * index..8 * index + 8])[0];
        Self {
            messages: word(1),
            tiles: word(2)..word(3),
            uniform_tiles: word(4),
            text_base: word(5),
            schedule: word(12),
            hash: word(13),
            state: word(14),
            chain: word(15),
            in_place: value[132] & IN_PLACE as u8 != 0,
        }
    }
}

fn words(bytes: &[u8]) -> Vec<usize> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word) as usize).collect()
}

impl<'a> Launch<'a> {
    pub(super) fn new(
        program: &'a Kernels,
        entry: usize,
        pointers: &'a [Pointer<'a, Bytes>],
        value: &[u8],
    ) -> Self {
        Self { program, entry: &program.entries[entry], pointers, sizes: Sizes::of(value) }
    }

    fn stage(&self) -> &str {
        self.entry.rsplit('_').next().unwrap_or_default()
    }

    fn hashes(&self) -> bool {
        self.entry.ends_with("_hash_text")
    }

    pub(super) fn of(&self, argument: Argument) -> Pointer<'a, Bytes> {
        self.pointers[argument as usize]
    }

    /// The words of a column.
    fn column(&self, argument: Argument) -> Vec<usize> {
        let Pointer { memory, at, bytes } = self.of(argument);
        words(&memory.part(at..at + bytes))
    }

    /// Where tile `tile` begins in the texts, and which of its message it is; where texts end if there are no more.
    fn tile(&self, tile: usize) -> (usize, usize) {
        let offsets = self.column(Argument::Offsets);
        let (message, index) = match self.sizes.uniform_tiles {
            0 => {
                let before = self.column(Argument::Tiles);
                let message = before.partition_point(|&tiles| tiles <= tile) - 1;
                (message, tile - before[message])
            }
            tiles => (tile / tiles, tile % tiles),
        };
        (offsets[message] + index * self.program.tile - self.sizes.text_base, index)
    }

    /// The texts of the launch's tiles; all of them where messages have none.
    pub(super) fn texts(&self) -> Range<usize> {
        if self.sizes.tiles.is_empty() {
            let offsets = self.column(Argument::Offsets);
            return offsets[0] - self.sizes.text_base..offsets[self.sizes.messages] - self.sizes.text_base;
        }
        self.tile(self.sizes.tiles.start).0..self.tile(self.sizes.tiles.end).0
    }

    /// The block before the texts, if it is of the same message.
    fn block_before(&self) -> Range<usize> {
        let (start, index) = self.tile(self.sizes.tiles.start);
        if index > 0 { start - BLOCK..start } else { 0..0 }
    }

    /// Where the stage writes tags, digests or verdicts.
    pub(super) fn results(&self) -> Option<Argument> {
        let makes = self.stage() == FINISH || (self.stage() == "text" && !self.program.ends_apart());
        let argument =
            if self.of(Argument::Accepted).bytes > 0 { Argument::Accepted } else { Argument::Tags };
        (makes && self.of(argument).bytes > 0).then_some(argument)
    }

    /// All that the launch touches.
    pub(super) fn touches(&self) -> Vec<Touch> {
        let mut touches = self.columns();
        if self.stage() != KEYS {
            touches.push(self.program.touch(How::Reads));
            touches.push(self.of(Argument::Schedule).memory.touch(How::Reads, 0..usize::MAX));
        }
        let in_work = self.in_work().into_iter();
        touches.extend(in_work.map(|(how, bytes)| self.of(Argument::Work).memory.touch(how, bytes)));
        let reads = |bytes| self.of(Argument::In).memory.touch(How::Reads, bytes);
        // In place a stage of its own keeps the block before each tile.
        let reads_before = match self.stage() {
            "chain" => self.sizes.in_place,
            "text" => !self.sizes.in_place,
            _ => false,
        };
        if reads_before && self.entry.contains("_cbc_decrypt_") {
            touches.push(reads(self.block_before()));
        }
        if self.stage() == "text" {
            touches.push(reads(self.texts()));
        }
        if matches!(self.stage(), "text" | "wipe") && !self.hashes() {
            touches.push(self.of(Argument::Out).memory.touch(How::Writes, self.texts()));
        }
        touches
    }

    /// What the launch touches of the columns. All are read but for results, which one stage makes and `wipe` reads.
    fn columns(&self) -> Vec<Touch> {
        let results = self.results();
        let touch = |argument: Argument| {
            let Pointer { memory, at, bytes } = self.of(argument);
            let how = if results == Some(argument) { How::Writes } else { How::Reads };
            memory.touch(how, at..at + bytes)
        };
        let opens = self.of(Argument::Accepted).bytes > 0;
        let is_touched = |argument: &Argument| match argument {
            Argument::In | Argument::Out | Argument::Work | Argument::Schedule => false,
            Argument::Accepted => results.is_some() || self.stage() == "wipe",
            Argument::Tags => results.is_some() || opens,
            _ => true,
        };
        let columns = Argument::ALL.into_iter().filter(|argument| self.of(*argument).bytes > 0);
        columns.filter(is_touched).map(touch).collect()
    }

    /// What the launch touches of the workspace.
    fn in_work(&self) -> Vec<(How, Range<usize>)> {
        let Sizes { messages, ref tiles, schedule, hash, state, chain, .. } = self.sizes;
        let (schedule, hash, start) = (schedule..hash, hash..state, state);
        let states = start..start + STATE * messages;
        let chain = chain..chain + BLOCK * tiles.len();
        match self.stage() {
            KEYS => vec![(How::Writes, schedule)],
            "hash" | "matrix" => vec![(How::Reads, schedule), (How::Writes, hash)],
            "start" => vec![(How::Reads, schedule), (How::Reads, hash), (How::Writes, states)],
            "chain" => vec![(How::Reads, states), (How::Writes, chain)],
            // A message that several launches are of is alone: the first row has its sum, to which they add.
            "text" if self.program.ends_apart() => vec![
                (How::Reads, schedule),
                (How::Reads, hash),
                (How::Reads, start + SUM..states.end),
                (How::Adds, start..start + SUM),
            ],
            "text" => vec![(How::Reads, schedule), (How::Reads, hash), (How::Reads, chain)],
            FINISH => vec![(How::Reads, hash), (How::Reads, states)],
            _ => Vec::new(),
        }
    }

    /// Does what the stage does here.
    pub(super) fn run(&self) {
        match self.stage() {
            KEYS => self.copy_keys(),
            "text" => self.invert(),
            _ => {}
        }
        if let Some(argument) = self.results() {
            let Pointer { memory, at, bytes } = self.of(argument);
            lock(&memory.bytes)[at..at + bytes].fill(if argument == Argument::Accepted { 0 } else { TAG });
        }
    }

    /// As the schedule, and as what else is made of a key, which each program has elsewhere.
    fn copy_keys(&self) {
        let Pointer { memory, at, bytes } = self.of(Argument::Keys);
        let keys = memory.part(at..at + bytes);
        let mut work = lock(&self.of(Argument::Work).memory.bytes);
        work[..bytes].copy_from_slice(&keys);
        work[256 * self.program.number + 128..][..bytes].copy_from_slice(&keys);
    }

    fn invert(&self) {
        if self.hashes() {
            return;
        }
        let mut texts = self.of(Argument::In).memory.part(self.texts());
        texts.iter_mut().for_each(|byte| *byte = !*byte);
        lock(&self.of(Argument::Out).memory.bytes)[self.texts()].copy_from_slice(&texts);
    }
}
