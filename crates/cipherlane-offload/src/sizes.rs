//! All sizes of a batch: what one to store has to share with the one that was loaded.

use cipherlane_core::{Batch, Shape, TagLengths};

use crate::backend::Fault;

/// Sizes that say which byte of the device is whose.
#[derive(Debug)]
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
        let (offsets, tags) = each(batch, shape);
        let stride = batch.tag_lengths.stride();
        Self { shape: Shape { beside: 0, ..shape }, offsets: offsets.to_vec(), stride, tags: tags.to_vec() }
    }

    /// Refuses a batch of other sizes; this one has passed its check as `shape`.
    pub(crate) fn check(&self, batch: &Batch<'_>, shape: Shape) -> Result<(), Fault> {
        let own = (self.shape, self.stride, (&self.offsets[..], &self.tags[..]));
        if own == (Shape { beside: 0, ..shape }, batch.tag_lengths.stride(), each(batch, shape)) {
            return Ok(());
        }
        let reason = "the batch to store has not the sizes of the one that was loaded or bound: give its offsets, and \
                      the lengths of its tags";
        Err(Fault(reason.to_owned()))
    }
}

/// What has to be known of each message of `batch`: where it begins, and how long its tag is.
fn each<'a>(batch: &Batch<'a>, shape: Shape) -> (&'a [u64], &'a [u8]) {
    let (offsets, lengths) = (batch.messages.offsets, batch.tag_lengths);
    let offsets = if shape.is_uniform() { offsets.get(..1).unwrap_or_default() } else { offsets };
    let tags = match lengths {
        TagLengths::Same(_) => &[][..],
        TagLengths::Each(each) => each,
    };
    (offsets, tags)
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Column, Messages, Output, Source};

    use super::*;

    /// A batch of two messages that are sealed, in 200 bytes of text, and its shape.
    fn two<'a>(offsets: &'a [u64; 3], lengths: TagLengths<'a>) -> (Batch<'a>, Shape) {
        let (mut text, mut tags) = ([0; 200], [0; 32]);
        let (keys, nonces) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]));
        let messages = Messages { source: Source::InPlace, offsets };
        let batch = Batch::seal("aes-128-gcm".parse().unwrap(), keys, nonces, Column::Shared(&[]), messages);
        let batch = Batch { tag_lengths: lengths, ..batch };
        let shape = batch.check(&Output::sealed(&mut text, &mut tags[..2 * lengths.stride()])).unwrap();
        (batch, shape)
    }

    #[test]
    fn texts_elsewhere_and_other_tags_are_other_sizes() {
        let all = [
            two(&[0, 64, 128], TagLengths::Same(16)),
            two(&[8, 72, 136], TagLengths::Same(16)),
            two(&[0, 64, 128], TagLengths::Same(4)),
            two(&[0, 64, 128], TagLengths::Each(&[16, 16])),
            two(&[0, 64, 128], TagLengths::Each(&[12, 16])),
            two(&[0, 28, 128], TagLengths::Same(16)),
            two(&[0, 100, 128], TagLengths::Same(16)),
        ];
        let sizes = all.each_ref().map(|(batch, shape)| Sizes::of(batch, *shape));
        for (index, (batch, shape)) in all.iter().enumerate() {
            let fitting: Vec<_> = sizes.iter().map(|sizes| sizes.check(batch, *shape).is_ok()).collect();
            let expected: Vec<_> = (0..sizes.len()).map(|other| other == index).collect();
            assert_eq!(fitting, expected, "{batch:?}");
        }
    }
}
