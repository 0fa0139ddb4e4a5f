//! A batch as the bytes that `grid.c` reads.

use cipherlane_core::{Batch, Column, Output, Source, TagLengths};
use cipherlane_kernels::abi::{self, Params};
use cipherlane_kernels::manifest::{Items, KEYS, Program, Tiling, When};

/// A batch's launches and buffers.
pub(crate) struct Job {
    bytes: Vec<u8>,
    sizes: [usize; 3],
}

/// How a job is cut up and laid out, beyond what the batch says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Blocks of every launch.
    pub(crate) blocks: u64,
    /// Launches that the tiles are spread over.
    pub(crate) cuts: u64,
    /// Whether a thread per message takes them from the longest to the shortest.
    pub(crate) ordered: bool,
}

fn put(bytes: &mut Vec<u8>, buffer: &[u8]) {
    bytes.extend((buffer.len() as u64).to_le_bytes());
    bytes.extend(buffer);
}

fn words(offsets: &[u64]) -> Vec<u8> {
    offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect()
}

/// Bytes, offsets where ragged, and stride and width where not.
fn column(column: &Column<'_>) -> (Vec<u8>, Vec<u8>, u64, u64) {
    match *column {
        Column::Shared(bytes) => (bytes.to_vec(), Vec::new(), 0, bytes.len() as u64),
        Column::Each { bytes, width } => (bytes.to_vec(), Vec::new(), width as u64, width as u64),
        Column::Ragged(ragged) => (ragged.bytes.to_vec(), words(ragged.offsets), 0, 0),
    }
}

impl Job {
    pub(crate) fn new(program: &Program, batch: &Batch<'_>, output: &Output<'_>, layout: Layout) -> Self {
        let offsets = batch.messages.offsets;
        let messages = batch.len();
        let tiles = program.tiling.prefix(offsets);
        let (keys, _, key_stride, _) = column(&batch.keys);
        let (nonces, nonce_offsets, nonce_stride, nonce_bytes) = column(&batch.nonces);
        let (aad, aad_offsets, aad_stride, aad_bytes) = column(&batch.aad);
        let tags: &[u8] = if output.tags.is_empty() { batch.tags } else { output.tags };
        let (tag_lengths, tag_bytes) = match batch.tag_lengths {
            TagLengths::Same(length) => (&[][..], u32::try_from(length).unwrap()),
            TagLengths::Each(lengths) => (lengths, 0),
        };
        let mut order: Vec<usize> = (0..messages).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(offsets[i + 1] - offsets[i]));
        let order: Vec<u8> = order.iter().flat_map(|&i| u32::try_from(i).unwrap().to_le_bytes()).collect();
        let key_rows = if program.shared_key { 1 } else { messages as u64 };
        let all_tiles = tiles.last().copied().unwrap_or(0);
        let work = program.workspace.layout(key_rows, messages as u64, all_tiles);
        let (input, in_place) = match batch.messages.source {
            Source::Apart(input) => (input, false),
            Source::InPlace | Source::OnDevice => (&*output.bytes, true),
        };
        let mut bytes = Vec::new();
        put(&mut bytes, input);
        if in_place {
            bytes.extend(u64::MAX.to_le_bytes());
        } else {
            put(&mut bytes, output.bytes);
        }
        for buffer in [&words(offsets), &words(&tiles), &order, &keys, &nonces, &nonce_offsets, &aad] {
            put(&mut bytes, buffer);
        }
        for buffer in [&aad_offsets[..], tags, tag_lengths, &vec![7; output.accepted.len()]] {
            put(&mut bytes, buffer);
        }
        put(&mut bytes, &vec![0xee; usize::try_from(work.bytes).unwrap()]);
        put(&mut bytes, &vec![0; 4 * program.schedule_words]);
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let params = Params {
            end_message: messages as u64,
            end_tile: all_tiles,
            key_stride,
            nonce_stride,
            nonce_bytes,
            aad_stride,
            aad_bytes,
            tag_stride: batch.tag_lengths.stride() as u64,
            schedule_at: work.schedule_at,
            hash_at: work.hash_at,
            state_at: work.state_at,
            chain_at: work.chain_at,
            tag_bytes,
            flags: flag(in_place, abi::IN_PLACE)
                | flag(!nonce_offsets.is_empty(), abi::NONCES_RAGGED)
                | flag(!aad_offsets.is_empty(), abi::AAD_RAGGED)
                | flag(layout.ordered, abi::ORDERED)
                | flag(matches!(batch.tag_lengths, TagLengths::Each(_)), abi::TAGS_EACH),
            ..Params::default()
        };
        launches(&mut bytes, program, params, layout, in_place);
        Self {
            bytes,
            sizes: [
                output.bytes.len().max(if in_place { input.len() } else { 0 }),
                tags.len(),
                output.accepted.len(),
            ],
        }
    }

    /// What the program reads.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the program wrote, put into `output`; `false` if it is not as long as it should be.
    pub(crate) fn finish(&self, written: &[u8], output: &mut Output<'_>) -> bool {
        let [texts, tags, accepted] = self.sizes;
        if written.len() != texts + tags + accepted {
            return false;
        }
        let (text, rest) = written.split_at(texts);
        output.bytes.copy_from_slice(text);
        if !output.tags.is_empty() {
            output.tags.copy_from_slice(&rest[..tags]);
        }
        for (verdict, byte) in output.accepted.iter_mut().zip(&rest[tags..]) {
            *verdict = *byte == 1;
        }
        rest[tags..].iter().all(|byte| *byte < 2)
    }
}

/// The launches in the order that the manifest asks for: once, by ranges of tiles, once, by ranges again.
fn launches(bytes: &mut Vec<u8>, program: &Program, params: Params, layout: Layout, in_place: bool) {
    let mut list = Vec::new();
    let stages = || program.stages.iter().enumerate();
    let cuts = if program.tiling == Tiling::None { 1 } else { layout.cuts };
    let ranges: Vec<(u64, u64)> =
        (0..cuts).map(|cut| (params.end_tile * cut / cuts, params.end_tile * (cut + 1) / cuts)).collect();
    for phase in [&[When::Start][..], &[When::Tiles, When::TilesInPlace], &[When::End], &[When::TilesAfter]] {
        let by_tiles = phase.contains(&When::Tiles) || phase.contains(&When::TilesAfter);
        let whole = [(0, params.end_tile)];
        for &(first_tile, end_tile) in if by_tiles { &ranges[..] } else { &whole } {
            for (index, stage) in stages().filter(|(_, stage)| phase.contains(&stage.when)) {
                if stage.when == When::TilesInPlace && !in_place {
                    continue;
                }
                assert!(stage.items != Items::Tiles || by_tiles, "tiles outside of a range of them");
                let words = if stage.entry == KEYS { program.schedule_words } else { 0 };
                list.push((index, words, Params { first_tile, end_tile, ..params }));
            }
        }
    }
    bytes.extend((list.len() as u64).to_le_bytes());
    for (index, words, params) in list {
        for number in [index as u64, layout.blocks, words as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(params.to_bytes());
    }
}
