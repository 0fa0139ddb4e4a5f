//! A batch that is being drawn up: everything but the results.

use cipherlane_core::{Algorithm, BLOCK, Mode, TagLengths, limits};

use crate::random::Random;
use crate::rows::Rows;

/// A batch that is being drawn up. Starts with one random key, a nonce each and no AAD, out of place.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) algorithm: Algorithm,
    /// Bytes of each message.
    pub(super) lengths: Vec<usize>,
    pub(super) keys: Rows,
    pub(super) nonces: Rows,
    pub(super) aad: Rows,
    pub(super) tag_lengths: Tags,
    pub(super) in_place: bool,
    /// Bytes before the first message.
    pub(super) lead: usize,
    /// Messages to damage before they are opened.
    pub(super) damaged: Vec<(usize, Damage)>,
}

/// [`TagLengths`] that own their numbers.
#[derive(Clone, Debug)]
pub(super) enum Tags {
    Same(usize),
    Each(Vec<u8>),
}

impl Tags {
    pub(super) fn lengths(&self) -> TagLengths<'_> {
        match self {
            Self::Same(length) => TagLengths::Same(*length),
            Self::Each(lengths) => TagLengths::Each(lengths),
        }
    }
}

/// What to flip a bit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Key,
    Nonce,
    Aad,
    Text,
    Tag,
}

impl Damage {
    pub(super) const ALL: [Self; 5] = [Self::Key, Self::Nonce, Self::Aad, Self::Text, Self::Tag];
}

/// How the rows of a column relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Shared,
    Each,
    Ragged,
}

impl Layout {
    pub(super) const ALL: [Self; 3] = [Self::Shared, Self::Each, Self::Ragged];

    /// Random rows of a length that `length` draws: drawn once, or for each row if they are ragged.
    fn rows(self, count: usize, length: impl Fn(&mut Random) -> usize, random: &mut Random) -> Rows {
        match self {
            Self::Shared => {
                let length = length(random);
                Rows::Shared(random.bytes(length))
            }
            Self::Each => {
                let length = length(random);
                Rows::each(count, length, random)
            }
            Self::Ragged => {
                let lengths: Vec<usize> = (0..count).map(|_| length(random)).collect();
                Rows::ragged(lengths, random)
            }
        }
    }
}

/// Nonces of GCM: the 96-bit fast path and its neighbours, block edges, the lengths of NIST's vectors.
const NONCES: [usize; 12] = [12, 12, 12, 1, 8, 11, 13, 16, 17, 60, 64, 128];
/// AAD: none, one byte, TLS, DLMS, block edges, more than a wide kernel hashes at once.
const AAD: [usize; 11] = [0, 0, 1, 13, 15, 16, 17, 20, 33, 90, 300];

impl Draft {
    pub(super) fn new(algorithm: Algorithm, lengths: Vec<usize>, random: &mut Random) -> Self {
        let nonce = algorithm.nonce_bytes().unwrap_or(12);
        Self {
            algorithm,
            keys: Rows::Shared(random.bytes(algorithm.key_bytes())),
            nonces: Rows::each(lengths.len(), nonce, random),
            aad: Rows::NONE,
            tag_lengths: Tags::Same(if algorithm.is_aead() { BLOCK } else { 0 }),
            in_place: false,
            lead: random.below(40),
            damaged: Vec::new(),
            lengths,
        }
    }

    /// With random keys laid out so.
    pub(super) fn keys(mut self, layout: Layout, random: &mut Random) -> Self {
        let bytes = self.algorithm.key_bytes();
        self.keys = layout.rows(self.lengths.len(), |_| bytes, random);
        self
    }

    /// With random nonces laid out so.
    pub(super) fn nonces(mut self, layout: Layout, random: &mut Random) -> Self {
        let bytes = self.algorithm.nonce_bytes();
        let length = |random: &mut Random| bytes.unwrap_or_else(|| random.pick(&NONCES));
        self.nonces = layout.rows(self.lengths.len(), length, random);
        self
    }

    /// With random AAD laid out so, where the algorithm takes any.
    pub(super) fn aad(mut self, layout: Layout, random: &mut Random) -> Self {
        if self.algorithm.is_aead() {
            self.aad = layout.rows(self.lengths.len(), |random| random.pick(&AAD), random);
        }
        self
    }

    /// With tags of every length, mixed.
    pub(super) fn mixed_tags(mut self, random: &mut Random) -> Self {
        if self.algorithm.is_aead() {
            let draw = |_| u8::try_from(random.pick(&limits::GCM_TAG_BYTES)).unwrap_or_default();
            self.tag_lengths = Tags::Each((0..self.lengths.len()).map(draw).collect());
        }
        self
    }

    pub(super) fn in_place(mut self, in_place: bool) -> Self {
        self.in_place = in_place;
        self
    }
}

/// `length`, or the nearest shorter one that the algorithm takes; `None` if there is none.
pub(super) fn legal(algorithm: Algorithm, length: usize) -> Option<usize> {
    match algorithm {
        Algorithm::Cipher(_, Mode::Ecb | Mode::Cbc) => Some(length / BLOCK * BLOCK),
        Algorithm::Cipher(_, Mode::Ctr | Mode::Gcm) | Algorithm::Hash(_) => Some(length),
        Algorithm::Cipher(_, Mode::Xts) => (length >= BLOCK).then_some(length),
    }
}

/// Those lengths of `lengths` that the algorithm takes, cut to whole blocks where it must be.
pub(super) fn legal_lengths(algorithm: Algorithm, lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut legal: Vec<usize> = lengths.into_iter().filter_map(|length| legal(algorithm, length)).collect();
    legal.dedup();
    legal
}
