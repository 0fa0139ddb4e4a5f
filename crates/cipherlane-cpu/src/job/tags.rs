//! What becomes of tags: stored when sealing; when opening compared, and the texts of wrong ones zeroed.

use cipherlane_core::{BLOCK, TagLengths};

use super::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::rows::{first_bytes, load_block, store_block};

/// Bytes of tags that are cut as meters cut them (IEC 62056-5-3 section 5.3), and as IPsec may.
const TWELVE: usize = 12;

impl Job<'_> {
    /// Stores the tag of message `index`: as many bytes of `tag` as its length says. A longer row is filled with
    /// zeros.
    #[inline(always)]
    pub(crate) fn put_tag(&self, index: usize, tag: u128) {
        if let TagLengths::Same(BLOCK) = self.batch.tag_lengths {
            // SAFETY: the check has shown that there are so many bytes for each message, and this thread alone has this message.
            return unsafe { self.tags.add(index * BLOCK).cast::<u128>().write_unaligned(tag.to_le()) };
        }
        self.put_short_tag(index, tag);
    }

    /// [`Job::put_tag`] of any length.
    #[inline(never)] // into hundreds of kernels
    fn put_short_tag(&self, index: usize, tag: u128) {
        // SAFETY: the check has shown that there is a row of `stride` bytes for each message, and this thread
        // alone has this message.
        unsafe {
            if let TagLengths::Same(TWELVE) = self.batch.tag_lengths {
                return store_block(tag, self.tags.add(index * TWELVE), TWELVE);
            }
            let stride = self.batch.tag_lengths.stride();
            let tag = tag & first_bytes(self.batch.tag_lengths.get(index));
            store_block(tag, self.tags.add(index * stride), stride);
        }
    }

    /// [`Job::put_tag`] for a message a lane, from message `first` on.
    #[inline(always)]
    pub(crate) fn put_tags<V: Lanes>(&self, first: usize, tags: V) {
        // SAFETY: as in `put_tag`.
        unsafe {
            match self.batch.tag_lengths {
                TagLengths::Same(BLOCK) => return tags.store(self.tags.add(first * BLOCK)),
                TagLengths::Same(TWELVE) => return tags.store_rows_of_12(self.tags.add(first * TWELVE)),
                _ => {}
            }
        }
        self.put_tags_one_by_one(first..first + V::LANES, &tags.to_words());
    }

    #[inline(never)] // as above
    fn put_tags_one_by_one(&self, indices: impl Iterator<Item = usize>, tags: &[u128]) {
        for (index, &tag) in indices.zip(tags) {
            self.put_short_tag(index, tag);
        }
    }

    /// [`Job::put_tag`] of the messages `indices`, LANES at most, the tag of each in its lane.
    #[inline(always)]
    pub(crate) fn put_tags_of<V: Lanes>(&self, indices: &[usize], tags: V) {
        if let (TagLengths::Same(BLOCK), true) = (self.batch.tag_lengths, indices.len() == V::LANES) {
            let mut places = [std::ptr::null_mut(); MAX_LANES];
            for (place, &index) in places.iter_mut().zip(indices) {
                *place = self.tags.wrapping_add(index * BLOCK);
            }
            // SAFETY: as in `put_tag`.
            return unsafe { tags.scatter(&places) };
        }
        self.put_tags_one_by_one(indices.iter().copied(), &tags.to_words());
    }

    /// Where the tag of message `index` differs from `tag`.
    #[inline(always)]
    fn tag_difference(&self, index: usize, tag: u128) -> u128 {
        if let TagLengths::Same(BLOCK) = self.batch.tag_lengths {
            // SAFETY: the check has shown that there are so many bytes for each message.
            return unsafe { load_block(self.batch.tags.as_ptr().add(index * BLOCK), BLOCK) } ^ tag;
        }
        self.short_tag_difference(index, tag)
    }

    /// The same for tags of any length.
    #[inline(never)] // as above
    fn short_tag_difference(&self, index: usize, tag: u128) -> u128 {
        let tags = self.batch.tags.as_ptr();
        // SAFETY: the check has shown that there is a row of `stride` bytes for each message.
        unsafe {
            let stride = self.batch.tag_lengths.stride();
            let length = self.batch.tag_lengths.get(index);
            (load_block(tags.add(index * stride), stride) ^ tag) & first_bytes(length)
        }
    }

    /// [`Job::check_tag`] for a message a lane, from message `first` on.
    #[inline(always)]
    pub(crate) fn check_tags<V: Lanes>(&self, first: usize, tags: V) {
        let (isa, expected) = (tags.isa(), self.batch.tags.as_ptr());
        let messages = first..first + V::LANES;
        // SAFETY: the check has shown that there is a tag and a verdict for each message.
        unsafe {
            let difference = match self.batch.tag_lengths {
                TagLengths::Same(BLOCK) => isa.load(expected.add(first * BLOCK)).xor(tags),
                TagLengths::Same(TWELVE) => {
                    let difference = isa.rows_of_12(expected.add(first * TWELVE)).xor(tags);
                    difference.and(isa.splat_word(first_bytes(TWELVE)))
                }
                _ => return self.check_tags_one_by_one(messages, &tags.to_words()),
            };
            if difference.is_zero() {
                return std::slice::from_raw_parts_mut(self.accepted.add(first), V::LANES).fill(true);
            }
            self.judge(messages, &difference.to_words());
        }
    }

    /// [`Job::check_tag`] of the messages `indices`, LANES at most, the tag of each in its lane.
    #[inline(always)]
    pub(crate) fn check_tags_of<V: Lanes>(&self, indices: &[usize], tags: V) {
        let (isa, messages) = (tags.isa(), indices.iter().copied());
        let Some((places, mask)) = self.places_of_tags::<V>(indices) else {
            return self.check_tags_one_by_one(messages, &tags.to_words());
        };
        // SAFETY: the check has shown that there is a tag and a verdict for each message.
        unsafe {
            let difference = isa.gather(&places).xor(tags).and(isa.splat_word(mask));
            if difference.is_zero() {
                return indices.iter().for_each(|&index| self.accepted.add(index).write(true));
            }
            self.judge(messages, &difference.to_words());
        }
    }

    /// Where the tags of the messages `indices` are, and which of the 16 bytes there are theirs, if these messages are LANES
    /// and so many bytes are readable at each place.
    #[inline(always)]
    fn places_of_tags<V: Lanes>(&self, indices: &[usize]) -> Option<([*const u8; MAX_LANES], u128)> {
        let bytes = match self.batch.tag_lengths {
            TagLengths::Same(bytes @ (TWELVE | BLOCK)) if indices.len() == V::LANES => bytes,
            _ => return None,
        };
        let mut places = [std::ptr::null(); MAX_LANES];
        for (place, &index) in places.iter_mut().zip(indices) {
            if index * bytes + BLOCK > self.batch.tags.len() {
                return None;
            }
            *place = self.batch.tags.as_ptr().wrapping_add(index * bytes);
        }
        Some((places, first_bytes(bytes)))
    }

    #[inline(never)] // as above
    fn check_tags_one_by_one(&self, indices: impl Iterator<Item = usize>, tags: &[u128]) {
        for (index, &tag) in indices.zip(tags) {
            self.check_tag(index, tag);
        }
    }

    /// Compares the tag of message `index` with `tag` in constant time and stores the verdict. The text of a
    /// rejected message is zeroed.
    #[inline(always)]
    pub(crate) fn check_tag(&self, index: usize, tag: u128) {
        self.judge_one(index, self.tag_difference(index, tag));
    }

    /// Stores the verdicts on the messages `indices`, whose tags have these differences.
    #[inline(never)] // as above
    fn judge(&self, indices: impl Iterator<Item = usize>, differences: &[u128]) {
        for (index, &difference) in indices.zip(differences) {
            self.judge_one(index, difference);
        }
    }

    #[inline(always)]
    fn judge_one(&self, index: usize, difference: u128) {
        let accepted = difference == 0;
        if !accepted {
            self.reject(index);
        }
        // SAFETY: the check has shown that there is a verdict for each message.
        unsafe { self.accepted.add(index).write(accepted) }
    }

    /// Zeroes the text of message `index`.
    #[inline(never)] // as above
    fn reject(&self, index: usize) {
        let message = self.message(index);
        // SAFETY: this thread alone has this message.
        unsafe { std::ptr::write_bytes(message.output, 0, message.bytes) }
    }
}
