//! All sizes of a batch: what one to store has to share with the one that was loaded.

use cipherlane_core::{Shape, TagLengths};

use crate::job::Job;

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
    /// Those of `job`.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        let (offsets, lengths) = (job.batch.messages.offsets, job.batch.tag_lengths);
        let offsets = if job.shape.is_uniform() { offsets.get(..1).unwrap_or_default() } else { offsets };
        let tags = match lengths {
            TagLengths::Same(_) => &[][..],
            TagLengths::Each(each) => each,
        };
        Self { shape: job.shape, offsets: offsets.to_vec(), stride: lengths.stride(), tags: tags.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Batch, Column, Messages, Output, Source};

    use super::*;

    /// Sizes of two messages that are sealed, in 200 bytes of text.
    fn sizes(offsets: &[u64; 3], lengths: TagLengths<'_>) -> Sizes {
        let (mut text, mut tags) = ([0; 200], [0; 32]);
        let (keys, nonces) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]));
        let messages = Messages { source: Source::InPlace, offsets };
        let batch = Batch::seal("aes-128-gcm".parse().unwrap(), keys, nonces, Column::Shared(&[]), messages);
        let batch = Batch { tag_lengths: lengths, ..batch };
        let tags = &mut tags[..2 * lengths.stride()];
        Sizes::of(&Job::new(&batch, &mut Output::sealed(&mut text, tags)).unwrap())
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
