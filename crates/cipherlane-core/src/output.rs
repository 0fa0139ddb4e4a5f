//! Where results go.

/// The buffers that a session fills. The caller owns them, so a million small results cost no allocation.
pub struct Output<'a> {
    /// The texts: message `i` goes to the same offsets that it has in the batch. At least as long as the last
    /// offset; a hash leaves it alone. For a batch [in place](crate::Source::InPlace) this buffer holds the input, too.
    pub bytes: &'a mut [u8],
    /// `seal`: the tags that were made, one row of [`crate::TagLengths::stride`] bytes per message; a shorter tag
    /// fills the front of its row, and zeros the rest. `hash`: the digests, one row of that many bytes per message. Empty otherwise.
    pub tags: &'a mut [u8],
    /// `open`: whether each tag was right. The text of a rejected message is zeroed. Empty otherwise.
    pub accepted: &'a mut [bool],
}

// What was opened is a secret, and so is what shall be sealed in place: neither reaches a log.
impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, tags, accepted } = self;
        let (bytes, tags, accepted) = (bytes.len(), tags.len(), accepted.len());
        write!(f, "Output({bytes} bytes of text, {tags} of tags, {accepted} verdicts)")
    }
}

impl<'a> Output<'a> {
    /// An output for algorithms without a tag.
    #[must_use]
    pub fn text(bytes: &'a mut [u8]) -> Self {
        Self { bytes, tags: &mut [], accepted: &mut [] }
    }

    /// An output of `seal`.
    #[must_use]
    pub fn sealed(bytes: &'a mut [u8], tags: &'a mut [u8]) -> Self {
        Self { bytes, tags, accepted: &mut [] }
    }

    /// An output of `open`.
    #[must_use]
    pub fn opened(bytes: &'a mut [u8], accepted: &'a mut [bool]) -> Self {
        Self { bytes, tags: &mut [], accepted }
    }

    /// An output of `hash`.
    #[must_use]
    pub fn digests(digests: &'a mut [u8]) -> Self {
        Self { bytes: &mut [], tags: digests, accepted: &mut [] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_contents() {
        let text = format!("{:?}", Output::opened(&mut [0xab; 16], &mut [true]));
        assert_eq!(text, "Output(16 bytes of text, 0 of tags, 1 verdicts)");
    }
}
