//! Batches that a fleet shares out.

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Operation, Output, Plan, Ragged, Shape, Source, TagLengths,
    Wish,
};
use cipherlane_reference::Reference;

/// A batch with a key, a nonce and additional data for each message.
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) operation: Operation,
    pub(crate) offsets: Vec<u64>,
    text: Vec<u8>,
    rows: Vec<u8>,
    aad_offsets: Vec<u64>,
    tags: Vec<u8>,
    tag_lengths: Vec<u8>,
    shared_key: bool,
}

/// What comes out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) text: Vec<u8>,
    pub(crate) tags: Vec<u8>,
    pub(crate) accepted: Vec<bool>,
}

impl Case {
    pub(crate) fn new(name: &str, operation: Operation, lengths: &[usize], shared_key: bool) -> Self {
        let mut offsets = vec![3];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + *length as u64);
        }
        let bytes = |count: usize, seed: u32| -> Vec<u8> {
            (0..count as u32).map(|i| ((i ^ seed).wrapping_mul(0x9e37_79b1) >> 23) as u8).collect()
        };
        let count = lengths.len();
        Self {
            algorithm: name.parse().unwrap(),
            operation,
            text: bytes(usize::try_from(offsets[count]).unwrap() + 2, 1),
            offsets,
            rows: bytes(64 * count, 2),
            aad_offsets: (0..=count as u64)
                .map(|index| index * (index % 7))
                .scan(0, |most, at| {
                    *most = at.max(*most);
                    Some(*most)
                })
                .collect(),
            tags: Vec::new(),
            tag_lengths: [16, 4, 12, 8, 15, 13, 14].into_iter().cycle().take(count).collect(),
            shared_key,
        }
    }

    /// The texts and tags of sealed messages; the tag of each whose number `is_wrong` is damaged in its last byte.
    pub(crate) fn sealed(
        name: &str,
        lengths: &[usize],
        shared_key: bool,
        is_wrong: fn(usize) -> bool,
    ) -> Self {
        let seal = Self::new(name, Operation::Seal, lengths, shared_key);
        let Results { text, mut tags, .. } = seal.run(&Reference::new(), false);
        for (index, length) in seal.tag_lengths.iter().enumerate().filter(|(index, _)| is_wrong(*index)) {
            tags[16 * index + usize::from(*length) - 1] ^= 0x80;
        }
        Self { operation: Operation::Open, text, tags, ..seal }
    }

    /// What a session of `device` makes of the batch.
    pub(crate) fn run(&self, device: &dyn Device, in_place: bool) -> Results {
        let mut session = device.open(&self.plan(device)).unwrap();
        self.with(in_place, |batch, output| {
            session.run(batch, output).unwrap();
        })
    }

    pub(crate) fn plan(&self, device: &dyn Device) -> Plan {
        let count = self.offsets.len() - 1;
        let shape = Shape::uniform(self.algorithm, self.operation, count, 1 << 20, self.shared_key);
        device.plan(&shape, &Wish::default()).unwrap()
    }

    /// What `run` makes of the batch.
    pub(crate) fn with(&self, in_place: bool, run: impl FnOnce(&Batch<'_>, &mut Output<'_>)) -> Results {
        let count = self.offsets.len() - 1;
        let (key_bytes, nonce_bytes) =
            (self.algorithm.key_bytes(), self.algorithm.nonce_bytes().unwrap_or(12));
        let is_hash = self.algorithm.hash().is_some();
        let aad = vec![7; usize::try_from(self.aad_offsets[count]).unwrap()];
        let source = if in_place { Source::InPlace } else { Source::Apart(&self.text) };
        let stride = if is_hash { 32 } else { 16 };
        let makes = is_hash || self.operation == Operation::Seal;
        let mut results = Results {
            text: if in_place { self.text.clone() } else { vec![0; self.text.len()] },
            tags: vec![0; if makes { count * stride } else { 0 }],
            accepted: vec![false; if self.operation == Operation::Open { count } else { 0 }],
        };
        let messages = Messages { source, offsets: &self.offsets };
        let keys = if self.shared_key {
            Column::Shared(&self.rows[..key_bytes])
        } else {
            Column::Each { bytes: &self.rows[..key_bytes * count], width: key_bytes }
        };
        let nonces = Column::Each { bytes: &self.rows[..nonce_bytes * count], width: nonce_bytes };
        let mut batch = match self.algorithm.hash() {
            Some(hash) => Batch::hash(hash, messages, 32),
            None => Batch::cipher(self.algorithm, self.operation, keys, nonces, messages),
        };
        if self.algorithm.is_aead() {
            batch.aad = Column::Ragged(Ragged { bytes: &aad, offsets: &self.aad_offsets });
            (batch.tag_lengths, batch.tags) = (TagLengths::Each(&self.tag_lengths), &self.tags);
        }
        let Results { text, tags, accepted } = &mut results;
        run(&batch, &mut Output { bytes: text, tags, accepted });
        // A tag fills the front of its row, whatever lies behind it.
        if self.algorithm.is_aead() {
            for (row, &length) in results.tags.chunks_mut(stride).zip(&self.tag_lengths) {
                row[usize::from(length)..].fill(0);
            }
        }
        results
    }
}
