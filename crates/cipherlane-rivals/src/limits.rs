//! What a way of a library takes beyond what a shape tells.

use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use cipherlane_core::{BLOCK, Batch, Checked, Mode, Spread, TagLengths, Unsupported, agree};

/// Messages that a thread looks at at a time: some microseconds of work, so that handing it over costs less.
const PIECE: usize = 1 << 12;

/// What a way takes. Batches outside are refused before anything is written.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of a GCM nonce.
    pub(crate) nonce: RangeInclusive<usize>,
    /// Bytes of a GCM tag.
    pub(crate) tag: RangeInclusive<usize>,
    /// Whether XTS takes a key whose halves are equal (OpenSSL refuses, following FIPS 140 guidance C.I).
    pub(crate) equal_xts_halves: bool,
    /// The most bytes of a message.
    pub(crate) longest: usize,
    /// Whether CTR counts with the last 32 bits alone, so that no message may have them wrap.
    pub(crate) counts_32_bits: bool,
}

impl Limits {
    /// Everything that the standards allow.
    pub(crate) const NONE: Self = Self {
        nonce: 1..=usize::MAX,
        tag: 4..=16,
        equal_xts_halves: true,
        longest: usize::MAX,
        counts_32_bits: false,
    };

    /// Nonces of 12 and tags of 16 bytes only.
    #[cfg(feature = "crates")]
    pub(crate) const USUAL_GCM: Self = Self { nonce: 12..=12, tag: 16..=16, ..Self::NONE };

    /// Whether messages of up to `longest` bytes are taken.
    pub(crate) fn check_longest(&self, longest: u64) -> Result<(), Unsupported> {
        let found = usize::try_from(longest).unwrap_or(usize::MAX);
        if found <= self.longest {
            return Ok(());
        }
        Err(Unsupported::Range {
            what: "bytes of a message",
            wanted: format!("at most {}", self.longest),
            found,
        })
    }

    /// Whether a batch is taken. Where each message has to be looked at, `spread` shares them out: on one thread that
    /// would count as time of a library that runs on many.
    pub(crate) fn check(
        &self,
        checked: &Checked<'_, '_, '_>,
        spread: &Spread<'_>,
    ) -> Result<(), Unsupported> {
        self.check_longest(checked.shape().longest)?;
        let batch = checked.batch();
        let messages = self.to_look_at(batch);
        if messages <= PIECE {
            return self.check_messages(batch, 0..messages);
        }
        let outside = OnceLock::new();
        let look = |piece: usize| {
            let some = piece * PIECE..messages.min((piece + 1) * PIECE);
            if let Err(found) = self.check_messages(batch, some) {
                outside.get_or_init(|| found);
            }
        };
        spread(messages.div_ceil(PIECE), &look);
        outside.into_inner().map_or(Ok(()), Err)
    }

    /// How many messages have to be looked at: the first alone, if any, where all are alike in what is limited.
    fn to_look_at(&self, batch: &Batch<'_>) -> usize {
        let differ = match batch.algorithm.mode() {
            Some(Mode::Gcm) => {
                batch.nonces.width().is_none() || !matches!(batch.tag_lengths, TagLengths::Same(_))
            }
            Some(Mode::Ctr) => self.counts_32_bits,
            Some(Mode::Xts) => !self.equal_xts_halves && !batch.keys.is_shared(),
            Some(Mode::Ecb | Mode::Cbc) | None => false,
        };
        if differ { batch.len() } else { batch.len().min(1) }
    }

    fn check_messages(&self, batch: &Batch<'_>, messages: Range<usize>) -> Result<(), Unsupported> {
        match batch.algorithm.mode() {
            Some(Mode::Gcm) => self.check_rows(batch, messages),
            Some(Mode::Ctr) if self.counts_32_bits => check_counters(batch, messages),
            Some(Mode::Xts) if !self.equal_xts_halves => check_halves(batch, messages),
            _ => Ok(()),
        }
    }

    /// Whether nonces and tags have lengths that are taken.
    fn check_rows(&self, batch: &Batch<'_>, mut messages: Range<usize>) -> Result<(), Unsupported> {
        messages.try_for_each(|index| {
            within("bytes of a nonce", &self.nonce, batch.nonces.row(index).len())?;
            within("bytes of a tag", &self.tag, batch.tag_lengths.get(index))
        })
    }
}

fn within(what: &'static str, range: &RangeInclusive<usize>, found: usize) -> Result<(), Unsupported> {
    if range.contains(&found) {
        return Ok(());
    }
    let (low, high) = (range.start(), range.end());
    let wanted = if low == high { low.to_string() } else { format!("{low} to {high}") };
    Err(Unsupported::Range { what, wanted, found })
}

/// Whether no message has the last 32 bits of its counters wrap (SP 800-38A, appendix B, leaves their number open).
fn check_counters(batch: &Batch<'_>, mut messages: Range<usize>) -> Result<(), Unsupported> {
    let offsets = batch.messages.offsets;
    messages.try_for_each(|index| {
        let first = batch.nonces.row(index).last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
        let blocks = (offsets[index + 1] - offsets[index]).div_ceil(BLOCK as u64);
        if u64::from(first) + blocks <= 1 << 32 {
            return Ok(());
        }
        let what = "the last 32 bits of an initial counter block";
        let most = (1_u64 << 32).saturating_sub(blocks);
        let (wanted, found) = (format!("at most {most} before {blocks} blocks"), first as usize);
        Err(Unsupported::Range { what, wanted, found })
    })
}

/// Whether the halves of each key differ. The libraries that refuse such keys would do so between messages, when some
/// are written.
fn check_halves(batch: &Batch<'_>, messages: Range<usize>) -> Result<(), Unsupported> {
    // Which key it is stays untold: all are looked at.
    let equal = messages.fold(false, |equal, index| {
        let (data, tweak) = batch.keys.row(index).split_at(batch.algorithm.key_bytes() / 2);
        equal | agree(data, tweak)
    });
    if !equal {
        return Ok(());
    }
    let what = "different halves of an XTS key";
    Err(Unsupported::Range { what, wanted: "2".to_owned(), found: 1 })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use cipherlane_core::{Algorithm, Cipher, Column, Messages, Operation, Output, Source, alone};

    use super::*;

    const LIMITS: Limits = Limits { equal_xts_halves: false, ..Limits::NONE };

    /// Looks at as many messages of a block as there are keys; also how many pieces of work were shared out.
    fn check(limits: &Limits, keys: &[u8]) -> (Result<(), Unsupported>, usize) {
        let algorithm = Algorithm::new(Cipher::Aes256, Mode::Xts);
        let width = algorithm.key_bytes();
        let offsets: Vec<u64> = (0..=keys.len() / width).map(|index| (index * BLOCK) as u64).collect();
        let mut text = vec![0; keys.len() / width * BLOCK];
        let batch = Batch::cipher(
            algorithm,
            Operation::Encrypt,
            Column::Each { bytes: keys, width },
            Column::Shared(&[0; 16]),
            Messages { source: Source::InPlace, offsets: &offsets },
        );
        let mut output = Output::text(&mut text);
        let checked = Checked::new(&batch, &mut output).unwrap();
        let pieces = Cell::new(0);
        let spread = |parts: usize, work: &(dyn Fn(usize) + Sync)| {
            pieces.set(parts);
            alone(parts, work);
        };
        (limits.check(&checked, &spread), pieces.get())
    }

    #[test]
    fn a_key_with_equal_halves_is_found_wherever_it_is() {
        let messages = 2 * PIECE + 3;
        let mut keys: Vec<u8> = (0..messages).flat_map(|_| (1..=64).collect::<Vec<u8>>()).collect();
        assert_eq!(check(&LIMITS, &keys), (Ok(()), 3), "threads share the keys");
        assert_eq!(check(&LIMITS, &keys[..64]), (Ok(()), 0), "one key is worth no thread");
        for at in [0, 1, PIECE - 1, PIECE, 2 * PIECE + 2] {
            keys[64 * at..64 * at + 64].fill(7);
            let (found, _) = check(&LIMITS, &keys);
            assert!(
                matches!(found, Err(Unsupported::Range { wanted, found: 1, .. }) if wanted == "2"),
                "{at}"
            );
            assert_eq!(check(&Limits::NONE, &keys), (Ok(()), 0), "nobody asks");
            keys[64 * at + 63] = 8;
            assert_eq!(check(&LIMITS, &keys), (Ok(()), 3), "one byte differs");
        }
    }
}
