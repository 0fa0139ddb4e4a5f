//! Which message is in which lane, and what of it is absorbed next.

mod in_step;
mod whole;

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{Absorb, Iterated, MAX_BLOCK, MAX_END, MAX_STREAMS, PaddedEnd, Shared, wipe};
use crate::job::Job;
use crate::order::Order;

/// What a lane absorbs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The whole blocks of a message, where they lie.
    Body,
    /// The end of a message, padded, in the lane's buffer.
    End,
    /// A block of zeros, for the next block of output.
    Squeeze,
}

/// A block of zeros.
static ZEROS: [u8; MAX_BLOCK] = [0; MAX_BLOCK];

/// No padding yet.
static NO_PADDING: PaddedEnd = PaddedEnd([0; MAX_END]);

/// One lane's message.
#[derive(Clone, Copy)]
struct Stream {
    message: usize,
    /// Bytes of the message.
    bytes: usize,
    part: Part,
    /// Blocks left of the part.
    left: usize,
    /// Bytes of output that have been stored.
    stored: usize,
    /// The buffer for the end of the message.
    buffer: usize,
}

/// Where messages of some length are cut.
#[derive(Clone, Copy)]
struct Cut {
    /// Whole blocks of a message.
    blocks: usize,
    /// The bytes behind them.
    rest: usize,
}

/// The padded end of a message. Where there is no text in it, messages of one length share it.
#[derive(Clone, Copy)]
struct Padding {
    /// Bytes of the message.
    bytes: usize,
    blocks: usize,
    from: *const u8,
}

/// The messages in the lanes: those that run come first.
pub(super) struct Streams<'a, H: Iterated, E: Absorb<H>> {
    hash: H,
    engine: E,
    job: &'a Job<'a>,
    order: Order<'a>,
    states: E::States,
    /// Whether every lane has the initial value.
    is_fresh: bool,
    active: usize,
    streams: [Stream; MAX_STREAMS],
    /// Where the blocks lie that each lane absorbs next.
    from: [*const u8; MAX_STREAMS],
    /// Copies of chaining values.
    chains: [MaybeUninit<H::Chain>; MAX_STREAMS],
    ends: [MaybeUninit<PaddedEnd>; MAX_STREAMS],
    /// Buffers that have been written to: the first ones.
    used: usize,
    /// Where the last message was cut.
    cut: Cut,
    /// The last end without text that was padded since blocks were absorbed.
    padding: Option<Padding>,
    /// The last block that all lanes shared.
    shared: Option<Shared>,
}

impl<'a, H: Iterated, E: Absorb<H>> Streams<'a, H, E> {
    /// No streams yet, for the messages of `order`, which are of `job`.
    #[inline(always)]
    pub(super) fn new(hash: H, engine: E, job: &'a Job<'a>, order: Order<'a>) -> Self {
        const { assert!(E::LANES <= MAX_STREAMS && H::END <= MAX_END) };
        let nobody = Stream { message: 0, bytes: 0, part: Part::Body, left: 0, stored: 0, buffer: 0 };
        let mut streams = [nobody; MAX_STREAMS];
        for (buffer, stream) in streams.iter_mut().enumerate() {
            stream.buffer = buffer;
        }
        Self {
            hash,
            engine,
            job,
            order,
            states: engine.fresh(hash),
            is_fresh: true,
            active: 0,
            streams,
            from: [std::ptr::null(); MAX_STREAMS],
            chains: [const { MaybeUninit::uninit() }; MAX_STREAMS],
            ends: [const { MaybeUninit::uninit() }; MAX_STREAMS],
            used: 0,
            cut: Cut { blocks: 0, rest: 0 },
            padding: None,
            shared: None,
        }
    }

    /// Runs all messages from first to last byte.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        while !self.order.is_empty() {
            if E::LEAST <= E::LANES && self.hash_whole() {
                continue;
            }
            self.begin();
            match self.order.next_alike(E::LANES) {
                Some(messages) => self.run_alike(messages),
                None if E::LANES > 1 && self.run_near() => {}
                None => self.run_mixed(),
            }
        }
        self.wipe();
    }

    /// Lets all lanes start anew.
    #[inline(always)]
    fn begin(&mut self) {
        if !self.is_fresh {
            self.states = self.engine.fresh(self.hash);
            self.is_fresh = true;
        }
    }

    /// Runs messages, each lane at a pace of its own, until all lanes are done at once.
    #[inline(always)]
    fn run_mixed(&mut self) {
        self.fill();
        while self.active > 0 {
            let running = &self.streams[..self.active];
            let blocks = running.iter().fold(usize::MAX, |blocks, stream| blocks.min(stream.left));
            self.absorb(blocks);
            // Its buffer may belong to a lane that is done with it.
            self.padding = None;
            self.advance(blocks);
        }
    }

    /// Whether the chaining values of `count` lanes take less work all at once than one by one.
    const fn all_at_once(count: usize) -> bool {
        count > E::LANES / 4
    }

    /// Copies the chaining values of `lanes`.
    #[inline(always)]
    fn take_chains(&mut self, lanes: Range<usize>) {
        if Self::all_at_once(lanes.len()) {
            return self.engine.get_all(&self.states, &mut self.chains);
        }
        for lane in lanes {
            self.chains[lane].write(E::get(&self.states, lane));
        }
    }

    /// Absorbs `blocks` blocks in each lane; no running lane has fewer left.
    #[inline(always)]
    fn absorb(&mut self, blocks: usize) {
        let Self { hash, engine, active, .. } = *self;
        self.is_fresh = false;
        let first = self.from[0];
        if blocks == 1 && self.is_shared() {
            // SAFETY: every running lane has that block left.
            let block = unsafe { std::slice::from_raw_parts(first, hash.block_bytes()) };
            if !self.shared.as_ref().is_some_and(|shared| shared.is(block)) {
                engine.prepare(self.shared.insert(Shared::new(block)));
            }
            if let Some(shared) = &self.shared {
                engine.absorb_alike(hash, &mut self.states, shared, active);
            }
            return;
        }
        // Idle lanes absorb what the first one does.
        self.from[active..E::LANES].fill(first);
        // SAFETY: every running lane has that many blocks left, within its message or its buffer.
        unsafe { engine.absorb(hash, &mut self.states, &self.from, active, blocks) }
    }

    /// Whether all lanes absorb from one place. Messages do not overlap: it is padding without text, or zeros.
    #[inline(always)]
    fn is_shared(&self) -> bool {
        let first = self.from[0].addr();
        let mut others = 0;
        for from in &self.from[..self.active] {
            others |= from.addr() ^ first;
        }
        self.active > 1 && others == 0
    }

    /// Lets messages enter as long as there are lanes.
    #[inline(always)]
    fn fill(&mut self) {
        while self.active < E::LANES
            && let Some(message) = self.order.next()
        {
            self.enter(self.active, message);
            self.active += 1;
        }
    }

    /// Puts a message into a lane.
    #[inline(always)]
    fn enter(&mut self, lane: usize, message: usize) {
        if !self.is_fresh {
            E::put(&mut self.states, lane, &self.hash.initial());
        }
        let text = self.job.text(message);
        let buffer = self.streams[lane].buffer;
        let bytes = text.len();
        let Cut { blocks, .. } = self.cut(bytes);
        self.streams[lane] = Stream { message, bytes, part: Part::Body, left: blocks, stored: 0, buffer };
        self.from[lane] = text.as_ptr();
        if blocks == 0 {
            self.begin_end(lane);
        }
    }

    /// Where a message of `bytes` bytes is cut. Neighbours often have as many blocks, and a division takes as long as all the
    /// rest.
    #[inline(always)]
    fn cut(&mut self, bytes: usize) -> Cut {
        let block = self.hash.block_bytes();
        let start = self.cut.blocks * block;
        if bytes.wrapping_sub(start) >= block {
            self.cut.blocks = bytes / block;
        }
        self.cut.rest = bytes - self.cut.blocks * block;
        self.cut
    }

    /// Moves all lanes by `blocks` blocks, and those where that ends something on to what follows.
    #[inline(always)]
    fn advance(&mut self, blocks: usize) {
        let bytes = blocks * self.hash.block_bytes();
        let (mut ended, mut with_output) = (0, 0);
        for (stream, from) in self.streams[..self.active].iter_mut().zip(&mut self.from) {
            *from = from.wrapping_add(bytes);
            stream.left -= blocks;
            let has_ended = stream.left == 0;
            ended += usize::from(has_ended);
            with_output += usize::from(has_ended && stream.part != Part::Body);
        }
        if ended > 0 {
            self.move_on(with_output);
        }
    }

    /// Moves lanes on to what follows, `with_output` of them with output. The place of a message that is done goes to
    /// the next one, or else to the last lane that runs; where all are done at once, none of them runs.
    #[inline(always)]
    fn move_on(&mut self, with_output: usize) {
        let all = Self::all_at_once(with_output);
        if all {
            self.engine.get_all(&self.states, &mut self.chains);
        }
        let mut done = [0; MAX_STREAMS];
        let mut count = 0;
        for lane in 0..self.active {
            if self.streams[lane].left == 0 && !self.continue_message(lane, all) {
                done[count] = lane;
                count += 1;
            }
        }
        if count == self.active {
            self.active = 0;
            return;
        }
        // From the last one on: no lane behind it is done.
        for &lane in done[..count].iter().rev() {
            if let Some(message) = self.order.next() {
                self.enter(lane, message);
            } else {
                self.active -= 1;
                self.replace(lane, self.active);
            }
        }
    }

    /// Lets what runs in lane `from` run in lane `to`.
    #[inline(always)]
    fn replace(&mut self, to: usize, from: usize) {
        if to != from {
            let chain = self.chains[to].write(E::get(&self.states, from));
            E::put(&mut self.states, to, chain);
            self.streams.swap(to, from);
            self.from[to] = self.from[from];
        }
    }

    /// What follows in a lane whose part is absorbed; false if its message is done.
    #[inline(always)]
    fn continue_message(&mut self, lane: usize, has_chains: bool) -> bool {
        match self.streams[lane].part {
            Part::Body => {
                self.begin_end(lane);
                true
            }
            Part::End | Part::Squeeze => {
                if !has_chains {
                    self.chains[lane].write(E::get(&self.states, lane));
                }
                self.store_output(lane);
                let is_longer = self.streams[lane].stored < self.job.digest_bytes();
                if is_longer {
                    self.streams[lane].part = Part::Squeeze;
                    self.streams[lane].left = 1;
                    self.from[lane] = ZEROS.as_ptr();
                }
                is_longer
            }
        }
    }

    /// Pads the end of a lane's message.
    #[inline(always)]
    fn begin_end(&mut self, lane: usize) {
        let Stream { bytes, message, .. } = self.streams[lane];
        let Cut { rest, .. } = self.cut(bytes);
        let end = match self.padding {
            Some(padding) if rest == 0 && padding.bytes == bytes => padding,
            _ => {
                let text = self.job.text(message);
                let padding = self.pad(lane, bytes, &text[bytes - rest..]);
                if rest == 0 {
                    self.padding = Some(padding);
                }
                padding
            }
        };
        self.from[lane] = end.from;
        self.streams[lane].left = end.blocks;
        self.streams[lane].part = Part::End;
    }

    /// The padded end of a message of `bytes` bytes, `rest` of them after the last whole block, in a lane's buffer.
    #[inline(always)]
    fn pad(&mut self, lane: usize, bytes: usize, rest: &[u8]) -> Padding {
        let buffer = self.streams[lane].buffer;
        self.used = self.used.max(buffer + 1);
        let end = &mut self.ends[buffer];
        // SAFETY: the text is so long, less than a block, and an end has room for END.
        let end = unsafe {
            self.engine.lay_end(end, (rest.as_ptr(), rest.len()), &NO_PADDING, H::END);
            std::slice::from_raw_parts_mut(end.as_mut_ptr().cast::<u8>(), H::END)
        };
        Padding { bytes, blocks: self.hash.pad(end, rest.len(), bytes as u64), from: end.as_ptr() }
    }

    /// Stores as much of a lane's output as its chaining value, which is in `chains`, gives.
    #[inline(always)]
    fn store_output(&mut self, lane: usize) {
        let stream = &mut self.streams[lane];
        // SAFETY: this thread alone has the message.
        let row = unsafe { self.job.digest(stream.message) };
        let (start, end) = (stream.stored, row.len().min(stream.stored + self.hash.output_bytes()));
        // SAFETY: the caller has written it.
        self.hash.output(unsafe { self.chains[lane].assume_init_ref() }, &mut row[start..end]);
        stream.stored = end;
    }

    /// Overwrites what may be secret: chaining values and the ends of messages.
    #[inline(always)]
    fn wipe(&mut self) {
        wipe(&mut self.states);
        for chain in &mut self.chains[..E::LANES] {
            wipe(chain);
        }
        for end in &mut self.ends[..self.used] {
            wipe(end);
        }
    }
}
