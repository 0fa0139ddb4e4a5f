//! The rows of a group's messages, as kernels read them: laid out in one memory, so that one copy brings them.

use std::ops::Range;

use cipherlane_core::{Batch, Column, Operation, TagLengths};
use cipherlane_kernels::abi::{self, Argument, Params};
use cipherlane_kernels::manifest::{Layout, Program, Tiling};

use crate::backend::Fault;
use crate::buffers::Needs;
use crate::copy;
use crate::job::Job;
use crate::lane::size;

/// Where each column of a group lies in the memory of rows, what kernels keep in the workspace beside it, and the parameters
/// that tell them.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    places: [Range<usize>; Argument::ALL.len()],
    /// Bytes from the start that are copied to the device.
    pub(crate) uploaded: usize,
    /// Bytes that are copied back: what kernels write.
    pub(crate) results: Range<usize>,
    /// Bytes of all columns.
    pub(crate) bytes: usize,
    /// Tiles of all messages, or of the part of one.
    pub(crate) tiles: u64,
    /// The tile of its message that a part begins with; else 0.
    pub(crate) first_tile: u64,
    /// Keys of the group: one if they share it.
    pub(crate) keys: u64,
    /// Bytes of the workspace.
    work: u64,
    /// The offset in the batch of the text that lies at the front of the device's.
    pub(crate) text_start: u64,
    /// Everything but the tiles of a launch: `chain_at` is where those of the group begin.
    pub(crate) params: Params,
    /// Tiles before each message, unless all have equally many.
    prefix: Vec<u64>,
    /// The order of messages, where it matters.
    order: Vec<u32>,
    /// Offsets of the one message that kernels are told of where these are not the group's: the whole one that the batch has
    /// a part of, or all that are joined.
    whole: Option<[u64; 2]>,
}

impl Columns {
    /// Lays out the columns of the messages `messages` of `job` for `program`, each at a multiple of `alignment`. Of
    /// a part of a message kernels are told the whole: offsets are counted from its start.
    pub(crate) fn new(job: &Job<'_>, messages: Range<usize>, program: &Program, alignment: usize) -> Self {
        let (batch, part, uniform) = (job.batch, job.part, job.shape.is_uniform());
        let own = &batch.messages.offsets[messages.start..=messages.end];
        let joined = matches!(program.tiling, Tiling::Joined(_)).then(|| [own[0], own[messages.len()]]);
        let whole = part.map(|part| [0, part.message_bytes]).or(joined);
        let offsets = whole.as_ref().map_or(own, |whole| &whole[..]);
        let (uniform_tiles, prefix) = match Tiles::of(program.tiling, offsets, uniform) {
            Tiles::Each(tiles) => (tiles, Vec::new()),
            Tiles::Prefix(prefix) => (0, prefix),
        };
        let is_mixed = program.tiling == Tiling::None && !uniform;
        let blocks = |index: usize| (offsets[index + 1] - offsets[index]).div_ceil(16);
        let order = if is_mixed { order(offsets.len() - 1, blocks) } else { Vec::new() };
        // Texts on the device lie there as the batch says.
        let text_start = if job.on_device { 0 } else { own[0] };
        let mut params = Params { uniform_tiles, text_base: text_start, ..params(batch, offsets) };
        if !order.is_empty() {
            params.flags |= abi::ORDERED;
        }
        let count = offsets.len() - 1;
        let mut tiles = prefix.last().copied().unwrap_or(uniform_tiles * count as u64);
        let mut first_tile = 0;
        if let Some(part) = part {
            params.text_base = part.start;
            (first_tile, tiles) = (program.tiling.tiles(part.start), program.tiling.tiles(own[1] - own[0]));
        }
        let keys = if program.shared_key { 1 } else { messages.len() as u64 };
        let Layout { schedule_at, hash_at, state_at, chain_at, bytes: work } =
            program.workspace.layout(keys, messages.len() as u64, tiles);
        let params = Params { schedule_at, hash_at, state_at, chain_at, ..params };
        let mut columns = Self {
            places: std::array::from_fn(|_| 0..0),
            uploaded: 0,
            results: 0..0,
            bytes: 0,
            tiles,
            first_tile,
            keys,
            work,
            text_start,
            params,
            prefix,
            order,
            whole,
        };
        columns.place(batch, &messages, count, alignment);
        columns
    }

    /// Gives each column its place. Kernels are told of `told` messages.
    fn place(&mut self, batch: &Batch<'_>, messages: &Range<usize>, told: usize, alignment: usize) {
        let count = messages.len();
        let tags = count * batch.tag_lengths.stride();
        let opens = batch.operation == Operation::Open;
        let each = matches!(batch.tag_lengths, TagLengths::Each(_));
        let read = [
            // At the front whatever else there is: a key that messages share is always in the same place, to be wiped.
            (Argument::Keys, bytes(&batch.keys, messages)),
            (Argument::Offsets, 8 * (told + 1)),
            (Argument::Tiles, 8 * self.prefix.len()),
            (Argument::Order, 4 * self.order.len()),
            (Argument::Nonces, bytes(&batch.nonces, messages)),
            (Argument::NonceOffsets, offset_bytes(&batch.nonces, count)),
            (Argument::Aad, bytes(&batch.aad, messages)),
            (Argument::AadOffsets, offset_bytes(&batch.aad, count)),
            (Argument::TagLengths, if each { count } else { 0 }),
            (Argument::Tags, if opens { tags } else { 0 }),
        ];
        let written = if opens { (Argument::Accepted, count) } else { (Argument::Tags, tags) };
        let mut at = 0_usize;
        for (argument, bytes) in read {
            if bytes > 0 {
                at = at.next_multiple_of(alignment);
                self.places[argument as usize] = at..at + bytes;
                at += bytes;
            }
        }
        self.uploaded = at;
        if written.1 > 0 {
            at = at.next_multiple_of(alignment);
            self.places[written.0 as usize] = at..at + written.1;
            self.results = at..at + written.1;
            at += written.1;
        }
        // Kernels read whole words.
        self.bytes = at.next_multiple_of(16);
    }

    /// What the group needs, with `text` bytes of text unless that lies elsewhere.
    pub(crate) fn needs(&self, text: Option<usize>, in_place: bool) -> Result<Needs, Fault> {
        Ok(Needs { text, in_place, rows: self.bytes, work: size(self.work)? })
    }

    /// Where the column of `argument` lies; empty if it has none.
    pub(crate) fn at(&self, argument: Argument) -> Range<usize> {
        self.places[argument as usize].clone()
    }

    /// Writes what the device reads to a staging on node `near`.
    ///
    /// # Panics
    /// If `target` is shorter than [`Columns::uploaded`].
    pub(crate) fn write(
        &self,
        batch: &Batch<'_>,
        messages: &Range<usize>,
        target: &mut [u8],
        near: Option<usize>,
    ) {
        let own = &batch.messages.offsets[messages.start..=messages.end];
        let offsets = self.whole.as_ref().map_or(own, |whole| &whole[..]);
        copy::words_to_staging(offsets, 0, &mut target[self.at(Argument::Offsets)], near);
        copy::words_to_staging(&self.prefix, 0, &mut target[self.at(Argument::Tiles)], near);
        for (argument, column) in
            [(Argument::NonceOffsets, &batch.nonces), (Argument::AadOffsets, &batch.aad)]
        {
            if let Column::Ragged(ragged) = column {
                let offsets = &ragged.offsets[messages.start..=messages.end];
                copy::words_to_staging(offsets, offsets[0], &mut target[self.at(argument)], near);
            }
        }
        for (place, number) in target[self.at(Argument::Order)].chunks_exact_mut(4).zip(&self.order) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let columns =
            [(Argument::Keys, &batch.keys), (Argument::Nonces, &batch.nonces), (Argument::Aad, &batch.aad)];
        for (argument, column) in columns {
            copy::to_staging(rows(column, messages), &mut target[self.at(argument)], near);
        }
        if let TagLengths::Each(lengths) = batch.tag_lengths {
            target[self.at(Argument::TagLengths)].copy_from_slice(&lengths[messages.clone()]);
        }
        if batch.operation == Operation::Open {
            let stride = batch.tag_lengths.stride();
            let tags = &batch.tags[messages.start * stride..messages.end * stride];
            copy::to_staging(tags, &mut target[self.at(Argument::Tags)], near);
        }
    }
}

/// The parameters that follow from the batch.
fn params(batch: &Batch<'_>, offsets: &[u64]) -> Params {
    let messages = offsets.len() as u64 - 1;
    // Keys have one length, be they written as rows that could differ.
    let key_stride = if batch.keys.is_shared() { 0 } else { batch.algorithm.key_bytes() as u64 };
    let (nonce_stride, nonce_bytes) = stride(&batch.nonces);
    let (aad_stride, aad_bytes) = stride(&batch.aad);
    let flag = |set: bool, bit: u32| if set { bit } else { 0 };
    let (tag_bytes, each) = match batch.tag_lengths {
        TagLengths::Same(bytes) => (bytes, false),
        TagLengths::Each(_) => (0, true),
    };
    Params {
        end_message: messages,
        key_stride,
        nonce_stride,
        nonce_bytes,
        aad_stride,
        aad_bytes,
        tag_stride: batch.tag_lengths.stride() as u64,
        tag_bytes: u32::try_from(tag_bytes).unwrap_or(u32::MAX),
        flags: flag(matches!(batch.nonces, Column::Ragged(_)), abi::NONCES_RAGGED)
            | flag(matches!(batch.aad, Column::Ragged(_)), abi::AAD_RAGGED)
            | flag(each, abi::TAGS_EACH),
        ..Params::default()
    }
}

/// Bytes from row to row, and of a row: 0 from row to row of a shared one.
fn stride(column: &Column<'_>) -> (u64, u64) {
    match *column {
        Column::Shared(bytes) => (0, bytes.len() as u64),
        Column::Each { width, .. } => (width as u64, width as u64),
        Column::Ragged(_) => (0, 0),
    }
}

/// The rows of `messages`, which lie one after the other.
#[allow(clippy::cast_possible_truncation)] // offsets of a checked batch lie within its buffers
fn rows<'a>(column: &Column<'a>, messages: &Range<usize>) -> &'a [u8] {
    match *column {
        Column::Shared(bytes) => bytes,
        Column::Each { width: 0, .. } => &[],
        Column::Each { bytes, width } => &bytes[messages.start * width..messages.end * width],
        Column::Ragged(ragged) => {
            &ragged.bytes[ragged.offsets[messages.start] as usize..ragged.offsets[messages.end] as usize]
        }
    }
}

fn bytes(column: &Column<'_>, messages: &Range<usize>) -> usize {
    rows(column, messages).len()
}

const fn offset_bytes(column: &Column<'_>, messages: usize) -> usize {
    if matches!(column, Column::Ragged(_)) { 8 * (messages + 1) } else { 0 }
}

/// How many tiles messages have.
enum Tiles {
    /// As many each, at least one.
    Each(u64),
    /// What [`Tiling::prefix`] makes; nothing where messages have no tiles at all.
    Prefix(Vec<u64>),
}

impl Tiles {
    fn of(tiling: Tiling, offsets: &[u64], uniform: bool) -> Self {
        let mut tiles = offsets.windows(2).map(|pair| tiling.tiles(pair[1] - pair[0]));
        match tiles.next() {
            _ if tiling == Tiling::None => Self::Prefix(Vec::new()),
            Some(first) if first > 0 && (uniform || tiles.all(|others| others == first)) => Self::Each(first),
            _ => Self::Prefix(tiling.prefix(offsets)),
        }
    }
}

/// From so many blocks on, messages are sorted by comparing them: there are few that are so long.
const MANY_BLOCKS: u64 = 1 << 12;

/// The `count` messages by falling number of `blocks`, so that threads side by side have as much to do. Nothing where the
/// order that they have is as good, nor where kernels have no numbers for so many: any order is right.
fn order(count: usize, blocks: impl Fn(usize) -> u64) -> Vec<u32> {
    let Ok(count) = u32::try_from(count) else { return Vec::new() };
    let blocks = |index: u32| blocks(index as usize);
    if (0..count).is_sorted_by(|&a, &b| blocks(a) >= blocks(b)) {
        return Vec::new();
    }
    // Counted, as a device would have to wait for a hundred thousand short messages to be compared.
    #[allow(clippy::cast_possible_truncation)] // it is at most MANY_BLOCKS
    let class = |index| (MANY_BLOCKS - blocks(index).min(MANY_BLOCKS)) as usize;
    let mut places = [0_u32; MANY_BLOCKS as usize + 1];
    (0..count).for_each(|index| places[class(index)] += 1);
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    let mut order = vec![0; count as usize];
    for index in 0..count {
        let place = &mut places[class(index)];
        order[*place as usize] = index;
        *place += 1;
    }
    // Where the first class ends now are all of its messages.
    order[..places[0] as usize].sort_by_key(|&index| std::cmp::Reverse(blocks(index)));
    order
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Algorithm, Messages, Output, Source};
    use cipherlane_kernels::manifest::{Target, programs};

    use super::*;

    /// The offsets that kernels are told of messages 1 to 3 of a batch, and how many tiles and keys these have.
    fn told(keys: Column<'_>) -> (Vec<u64>, u64, u64) {
        let algorithm: Algorithm = "aes-128-ecb".parse().unwrap();
        let messages = Messages { source: Source::InPlace, offsets: &[16, 32, 32, 160, 1200] };
        let batch = Batch::cipher(algorithm, Operation::Encrypt, keys, Column::Shared(&[]), messages);
        let mut text = vec![0; 1216];
        let mut output = Output::text(&mut text);
        let job = Job::new(&batch, &mut output).unwrap();
        let program = programs(&job.shape, &Target::CPU).swap_remove(0);
        let columns = Columns::new(&job, 1..4, &program, 64);
        let mut rows = vec![0; columns.uploaded];
        columns.write(&batch, &(1..4), &mut rows, None);
        let words = rows[columns.at(Argument::Offsets)].as_chunks().0.iter();
        (words.map(|word| u64::from_le_bytes(*word)).collect(), columns.tiles, columns.keys)
    }

    #[test]
    fn messages_of_ecb_under_one_key_are_one() {
        assert_eq!(told(Column::Shared(&[7; 16])), (vec![32, 1200], 1, 1));
        let each = Column::Each { bytes: &[7; 64], width: 16 };
        assert_eq!(told(each), (vec![32, 32, 160, 1200], 2, 3));
    }

    #[test]
    fn an_order_has_every_message_or_there_is_none() {
        let blocks = [3, 1, 4, 1];
        assert_eq!(order(4, |index| blocks[index]), [2, 0, 1, 3]);
        assert!(order(4, |index| 9 - index as u64).is_empty(), "it is as good as any");
        let count = u32::MAX as usize + 1;
        assert!(order(count, |index| index as u64).is_empty(), "the last has no number");
    }

    #[test]
    fn longer_messages_come_first_and_equals_in_their_order() {
        let blocks =
            |index: usize| [5, 0, MANY_BLOCKS + 9, 5, MANY_BLOCKS, 1 << 40][index % 6] + index as u64 / 60;
        let mut sorted: Vec<u32> = (0..600).collect();
        sorted.sort_by_key(|&index| std::cmp::Reverse(blocks(index as usize)));
        assert_eq!(order(600, blocks), sorted);
    }
}
