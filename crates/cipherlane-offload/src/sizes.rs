//! All sizes of a batch: what one to store has to share with the one that was loaded.

use cipherlane_core::{Batch, Shape, TagLengths};

use crate::backend::Fault;

/// Sizes that say which byte of the device is whose.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    shape: Shape,
    /// Of messages of one length, where the first begins.
    offsets: Vec<u64>,
    /// Bytes of a row of tags.
    stride: usize,
    /// Of tags of one length, none.
    tags: Vec<u8>,
}

impl Sizes {
    /// Those of `batch`, which has passed its check as `shape`.
    pub(crate) fn of(batch: &Batch<'_>, shape: Shape) -> Self {
        let (offsets, lengths) = (batch.messages.offsets, batch.tag_lengths);
        let offsets = if shape.is_uniform() { offsets.get(..1).unwrap_or_default() } else { offsets };
        let tags = match lengths {
            TagLengths::Same(_) => &[][..],
            TagLengths::Each(each) => each,
        };
        Self { shape, offsets: offsets.to_vec(), stride: lengths.stride(), tags: tags.to_vec() }
    }

    /// Refuses a batch of `other` sizes.
    pub(crate) fn check(&self, other: &Self) -> Result<(), Fault> {
        if self == other {
            return Ok(());
        }
        let reason = "the batch to store has not the sizes of the one that was loaded or bound: give its offsets, and \
                      the lengths of its tags";
        Err(Fault(reason.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Column, Messages, Output, Source};

    use super::*;

    /// Sizes of two messages that are sealed, in 200 bytes of text.
    fn sizes(offsets: &[u64; 3], lengths: TagLengths<'_>) -> Sizes {
        let (mut text, mut tags) = ([0; 200], [0; 32]);
        let (keys, nonces) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]));
        let messages = Messages { source: Source::InPlace, offsets };
        let batch = Batch::seal("aes-128-gcm".parse().unwrap(), keys, nonces, Column::Shared(&[]), messages);
        let batch = Batch { tag_lengths: lengths, ..batch };
        let tags = &mut tags[..2 * lengths.stride()];
        Sizes::of(&batch, batch.check(&Output::sealed(&mut text, tags)).unwrap())
    }

    #[test]
    fn texts_elsewhere_and_other_tags_are_other_sizes() {
        let all = [
            sizes(&[0, 64, 128], TagLengths::Same(16)),
            sizes(&[8, 72, 136], TagLengths::Same(16)),
            sizes(&[0, 64, 128], TagLengths::Same(4)),
            sizes(&[0, 64, 128], TagLengths::Each(&[16, 16])),
            sizes(&[0, 64, 128], TagLengths::Each(&[12, 16])),
            sizes(&[0, 28, 128], TagLengths::Same(16)),
            sizes(&[0, 100, 128], TagLengths::Same(16)),
        ];
        for (index, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(index), "{one:?}");
        }
        assert_eq!(all[0], sizes(&[0, 64, 128], TagLengths::Same(16)));
        assert_eq!(all[5], sizes(&[0, 28, 128], TagLengths::Same(16)));
    }
}
