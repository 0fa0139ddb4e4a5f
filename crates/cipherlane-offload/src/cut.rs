//! Where a batch is cut: into groups of messages that are on the device together, and long messages into pieces.

use std::ops::Range;

use cipherlane_kernels::manifest::Tiling;

/// Messages that are on the device together, with a workspace of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Which messages of the batch.
    pub(crate) messages: Range<usize>,
    /// What is copied and launched by itself: one piece, or several of one long message.
    pub(crate) pieces: Vec<Piece>,
}

/// A run of tiles, and the text that they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Tiles, counted from the first of the group.
    pub(crate) tiles: Range<u64>,
    /// Offsets of text, as the batch counts them.
    pub(crate) text: Range<u64>,
}

/// `text` in stretches of `bytes` bytes, which copies take one after the other. Their tiles do not matter.
pub(crate) fn stretches(text: Range<u64>, bytes: u64) -> impl Iterator<Item = Piece> {
    let count = (text.end - text.start).div_ceil(bytes);
    (0..count).map(move |index| {
        let start = text.start + index * bytes;
        Piece { tiles: 0..0, text: start..start.saturating_add(bytes).min(text.end) }
    })
}

/// How a batch is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter<'a> {
    /// Message `i` is `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: &'a [u64],
    /// Bytes of a group, beyond which it takes no further message, and a message is cut.
    pub(crate) chunk: u64,
    /// What a message counts for beside its text: its rows of the columns.
    pub(crate) row_bytes: u64,
    /// How the program cuts messages.
    pub(crate) tiling: Tiling,
    /// Whether all messages are equally long, so that not each of millions need be looked at.
    pub(crate) uniform: bool,
}

impl Cutter<'_> {
    /// The groups, in order. Every message is in one of them.
    pub(crate) fn groups(self) -> impl Iterator<Item = Group> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let group = (start < self.messages()).then(|| self.group(start))?;
            start = group.messages.end;
            Some(group)
        })
    }

    /// All messages as one group of one piece.
    pub(crate) fn whole(self) -> Group {
        self.uncut(0..self.messages())
    }

    /// The first message, in pieces however long it is.
    pub(crate) fn alone(self) -> Group {
        self.pieces(0)
    }

    const fn messages(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn group(&self, start: usize) -> Group {
        let end = last_that(start + 1..self.messages(), |end| self.cost(start..end) <= self.chunk);
        let is_long = end == start + 1 && self.offsets[end] - self.offsets[start] > self.chunk;
        if is_long && self.tiling != Tiling::None { self.pieces(start) } else { self.uncut(start..end) }
    }

    /// Bytes that `messages` count for.
    fn cost(&self, messages: Range<usize>) -> u64 {
        let text = self.offsets[messages.end] - self.offsets[messages.start];
        text.saturating_add(self.row_bytes.saturating_mul(messages.len() as u64))
    }

    fn uncut(&self, messages: Range<usize>) -> Group {
        let offsets = &self.offsets[messages.start..=messages.end];
        let text = offsets[0]..offsets[offsets.len() - 1];
        Group { messages, pieces: vec![Piece { tiles: 0..self.tiles(offsets), text }] }
    }

    /// Tiles of all messages of `offsets`, as one where they are joined.
    fn tiles(&self, offsets: &[u64]) -> u64 {
        let tiles = |start: u64, end: u64| self.tiling.tiles(end - start);
        match *offsets {
            _ if self.tiling == Tiling::None => 0,
            [start, .., end] if matches!(self.tiling, Tiling::Joined(_)) => tiles(start, end),
            [start, end, ..] if self.uniform => (offsets.len() as u64 - 1) * tiles(start, end),
            _ => offsets.windows(2).map(|pair| tiles(pair[0], pair[1])).sum(),
        }
    }

    /// One message, in pieces of whole tiles.
    fn pieces(&self, message: usize) -> Group {
        let (start, end) = (self.offsets[message], self.offsets[message + 1]);
        let tiles = self.tiling.tiles(end - start);
        if tiles == 0 {
            return self.uncut(message..message + 1);
        }
        let tile = match self.tiling {
            Tiling::None => u64::MAX,
            Tiling::Blocks(blocks) | Tiling::WholeBlocks(blocks) | Tiling::Joined(blocks) => 16 * blocks,
        };
        let mut first = 0;
        let piece = |step: u64| {
            let tiles_of_piece = first..first + step;
            first += step;
            // The last tile takes what is left, be it a part of a block that has no tile of its own.
            let text_end = if first == tiles { end } else { start + first * tile };
            Piece { text: start + tiles_of_piece.start * tile..text_end, tiles: tiles_of_piece }
        };
        let pieces = self.steps(tiles, tile).into_iter().map(piece).collect();
        Group { messages: message..message + 1, pieces }
    }

    /// Tiles of each piece of a message of `tiles` tiles of `tile` bytes: a chunk, less towards both ends, since nothing
    /// goes out while the first piece comes in, and nothing comes in while the last goes out.
    fn steps(&self, tiles: u64, tile: u64) -> Vec<u64> {
        /// Bytes of a piece below which what it takes to begin a copy shows.
        const LEAST: u64 = 2 << 20;
        let whole = (self.chunk / tile).max(1);
        let (mut front, mut back, mut left) = (Vec::new(), Vec::new(), tiles);
        for step in [whole / 16, whole / 8, whole / 4, whole / 2] {
            if step * tile >= LEAST && 2 * step <= left {
                front.push(step);
                back.push(step);
                left -= 2 * step;
            }
        }
        while left > 0 {
            front.push(left.min(whole));
            left -= left.min(whole);
        }
        front.extend(back.into_iter().rev());
        front
    }
}

/// The last number of `range`, its end included, for which `holds`, as it does for all before; the start if there is no other.
/// By halves: batches have millions of messages.
pub(crate) fn last_that(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut last, mut beyond) = (range.start, range.end + 1);
    while beyond - last > 1 {
        let middle = last + (beyond - last) / 2;
        *if holds(middle) { &mut last } else { &mut beyond } = middle;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(offsets: &[u64], chunk: u64, tiling: Tiling) -> Vec<Group> {
        let uniform = offsets.windows(3).all(|three| three[1] - three[0] == three[2] - three[1]);
        Cutter { offsets, chunk, row_bytes: 8, tiling, uniform }.groups().collect()
    }

    #[test]
    fn short_messages_share_a_group() {
        let found = groups(&[5, 15, 25, 25, 125], 40, Tiling::Blocks(1));
        let ranges: Vec<_> = found.iter().map(|group| group.messages.clone()).collect();
        assert_eq!(ranges, [0..2, 2..3, 3..4]);
        assert_eq!(found[0].pieces, [Piece { tiles: 0..2, text: 5..25 }]);
        assert_eq!(found[1].pieces, [Piece { tiles: 0..0, text: 25..25 }]);
    }

    #[test]
    fn tiles_of_joined_messages_reach_over_their_ends() {
        let found = groups(&[16, 32, 32, 80, 192, 480], 208, Tiling::Joined(4));
        assert_eq!(found[0].pieces, [Piece { tiles: 0..3, text: 16..192 }]);
        // One that is longer than a chunk is cut as others are.
        let tiles: Vec<_> = found[1].pieces.iter().map(|piece| piece.tiles.clone()).collect();
        assert_eq!((found.len(), &found[1].messages, &tiles[..]), (2, &(4..5), &[0..3, 3..5][..]));
    }

    #[test]
    fn a_long_message_is_cut_at_tiles() {
        let found = groups(&[3, 103], 40, Tiling::Blocks(1));
        let texts: Vec<_> =
            found[0].pieces.iter().map(|piece| (piece.tiles.clone(), piece.text.clone())).collect();
        assert_eq!(texts, [(0..2, 3..35), (2..4, 35..67), (4..6, 67..99), (6..7, 99..103)]);
        // 100 bytes are six whole blocks: the part behind belongs to the last.
        let found = groups(&[3, 103], 40, Tiling::WholeBlocks(1));
        assert_eq!(found[0].pieces.last(), Some(&Piece { tiles: 4..6, text: 67..103 }));
        // Where messages have no tiles, none is cut.
        let found = groups(&[3, 103], 40, Tiling::None);
        assert_eq!(found[0].pieces, [Piece { tiles: 0..0, text: 3..103 }]);
    }

    #[test]
    fn pieces_grow_and_shrink() {
        const MIB: u64 = 1 << 20;
        let sizes = |mebibytes: u64| {
            let found = groups(&[0, mebibytes * MIB], 32 * MIB, Tiling::Blocks(4096));
            found[0].pieces.iter().map(|piece| (piece.text.end - piece.text.start) / MIB).collect::<Vec<_>>()
        };
        assert_eq!(sizes(150), [2, 4, 8, 16, 32, 32, 26, 16, 8, 4, 2]);
        assert_eq!(sizes(40), [2, 4, 8, 12, 8, 4, 2]);
        // Pieces of a message that is no longer than a chunk would wait for one another.
        assert_eq!(sizes(32), [32]);
    }

    #[test]
    fn every_byte_is_in_one_piece() {
        let offsets: Vec<u64> = (0..40_u64).map(|i| i * i * 7 + 2).collect();
        for tiling in [Tiling::None, Tiling::Blocks(2), Tiling::WholeBlocks(3)] {
            for chunk in [1, 16, 100, 1000, 100_000] {
                let found = groups(&offsets, chunk, tiling);
                let pieces = found.iter().flat_map(|group| &group.pieces);
                let end = pieces.fold(offsets[0], |at, piece| {
                    assert_eq!(piece.text.start, at);
                    piece.text.end
                });
                assert_eq!(end, offsets[39]);
                let messages = found.iter().fold(0, |at, group| {
                    assert_eq!(group.messages.start, at);
                    group.messages.end
                });
                assert_eq!(messages, 39);
            }
        }
    }

    #[test]
    fn halving_finds_the_last() {
        for end in 3..9 {
            for last in 3..12 {
                assert_eq!(last_that(3..end, |number| number <= last), last.min(end));
            }
        }
        assert_eq!(last_that(3..9, |_| false), 3);
    }

    #[test]
    fn stretches_cover_a_text() {
        let texts = |bytes| stretches(3..103, bytes).map(|piece| piece.text).collect::<Vec<_>>();
        assert_eq!(texts(40), [3..43, 43..83, 83..103]);
        for whole in [texts(100), texts(u64::MAX)] {
            assert!(whole.len() == 1 && whole[0] == (3..103), "{whole:?}");
        }
        assert_eq!(stretches(7..7, 40).count(), 0);
    }

    #[test]
    fn no_messages_are_no_group() {
        assert!(groups(&[7], 10, Tiling::Blocks(1)).is_empty());
    }
}
