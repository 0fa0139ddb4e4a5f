//! A checked batch with its output, as pointers that several threads may use at once.

mod tags;

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::{BLOCK, Batch, Checked, Source};

use crate::rows::Rows;

/// A [`Checked`] batch, with its output.
///
/// Threads share it: each touches only the bytes of the messages (or segments) that it was given, and offsets
/// never fall, so no two messages overlap.
pub(crate) struct Job<'a> {
    batch: &'a Batch<'a>,
    input: *const u8,
    output: *mut u8,
    tags: *mut u8,
    accepted: *mut bool,
    keys: Rows<'a>,
    nonces: Rows<'a>,
    aad: Rows<'a>,
    /// Whether all messages are equally long.
    is_uniform: bool,
    /// Bytes from which on a message is stored past the caches.
    past_caches_from: usize,
    /// Whether lines of texts are asked for before they are needed.
    prefetched: bool,
    borrowed: PhantomData<&'a mut u8>,
}

// SAFETY: threads write to disjoint messages, see above; everything else is shared and only read.
unsafe impl Sync for Job<'_> {}

/// Where one message lies. Input and output are equal in place, else they do not overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// First byte of the input.
    pub(crate) input: *const u8,
    /// First byte of the output.
    pub(crate) output: *mut u8,
    /// Bytes of both.
    pub(crate) bytes: usize,
    /// Whether registers are better stored past the caches, where they are aligned.
    pub(crate) past_caches: bool,
    /// Whether its lines are better asked for before they are needed: [`prefetch`](crate::prefetch).
    pub(crate) prefetched: bool,
}

/// A multiple of the bytes of every register: stores past the caches take no less, and a cache line at a time pays.
const ALIGNMENT: usize = 64;

/// Least bytes of a message that is stored past the caches. What lies before its first aligned register takes as long
/// as some hundred bytes of the rest.
const LONG: usize = 16 << 10;

impl Message {
    /// The message from byte `start` on.
    ///
    /// # Safety
    /// `start <= self.bytes`.
    #[inline(always)]
    pub(crate) unsafe fn skip(self, start: usize) -> Self {
        // SAFETY: the caller vouches that this stays within the message.
        unsafe {
            let (input, output) = (self.input.add(start), self.output.add(start));
            Self { input, output, bytes: self.bytes - start, ..self }
        }
    }

    /// The first `bytes` bytes.
    #[inline(always)]
    pub(crate) fn take(self, bytes: usize) -> Self {
        debug_assert!(bytes <= self.bytes);
        Self { bytes, ..self }
    }

    /// Bytes at the front before the output is aligned to [`ALIGNMENT`]: whole blocks where [`Job::is_past_caches`].
    #[inline(always)]
    pub(crate) fn unaligned(self) -> usize {
        self.output.addr().wrapping_neg() % ALIGNMENT
    }
}

impl<'a> Job<'a> {
    /// The job of running a batch of which everything is checked that the pointers rely on.
    pub(crate) fn new(checked: Checked<'a, 'a, '_>) -> Self {
        let is_uniform = checked.shape().is_uniform();
        let (batch, output) = checked.into_parts();
        let text = output.bytes.as_mut_ptr();
        let input = match batch.messages.source {
            Source::Apart(bytes) => bytes.as_ptr(),
            // What lies on a device has not passed the check.
            Source::InPlace | Source::OnDevice => text.cast_const(),
        };
        let (tags, accepted) = (output.tags.as_mut_ptr(), output.accepted.as_mut_ptr());
        let (keys, nonces, aad) = (Rows::new(&batch.keys), Rows::new(&batch.nonces), Rows::new(&batch.aad));
        let (past_caches_from, prefetched) = (usize::MAX, false);
        let (output, borrowed) = (text, PhantomData);
        Self {
            batch,
            input,
            output,
            tags,
            accepted,
            keys,
            nonces,
            aad,
            is_uniform,
            past_caches_from,
            prefetched,
            borrowed,
        }
    }

    /// The job beside a last cache of `bytes` bytes. Where what is read and written takes more than three quarters of
    /// it, nobody will find the output there: long messages are stored past the caches, which need not fetch a line
    /// first then. In place, reading has fetched it.
    pub(crate) fn beside_cache(self, bytes: usize) -> Self {
        let is_too_much = 2 * self.text_bytes() > bytes as u64 / 4 * 3;
        if self.is_apart() && is_too_much { self.past_caches_from(LONG) } else { self }
    }

    /// The job on threads with second caches of `bytes` bytes together. Where what is read and written takes twice as
    /// much or more, its lines come from farther away: they are asked for ahead. In place nobody measured it.
    pub(crate) fn beside_second_caches(self, bytes: usize) -> Self {
        Self { prefetched: self.is_apart() && self.text_bytes() >= bytes as u64, ..self }
    }

    /// Bytes of all messages.
    fn text_bytes(&self) -> u64 {
        let offsets = self.batch.messages.offsets;
        offsets[self.batch.len()] - offsets[0]
    }

    /// Whether input and output are not the same.
    fn is_apart(&self) -> bool {
        self.input != self.output.cast_const()
    }

    /// The job with messages of `bytes` bytes and more, far more than [`ALIGNMENT`], stored past the caches.
    pub(crate) fn past_caches_from(self, bytes: usize) -> Self {
        Self { past_caches_from: bytes, ..self }
    }

    /// Whether any message is stored past the caches.
    #[inline(always)]
    pub(crate) fn has_past_caches(&self) -> bool {
        self.past_caches_from < usize::MAX
    }

    /// Whether `message` is to be stored past the caches.
    #[inline(always)]
    pub(crate) fn is_past_caches(&self, message: Message) -> bool {
        message.bytes >= self.past_caches_from && message.output.addr().is_multiple_of(BLOCK)
    }

    /// The batch: keys, nonces, AAD and lengths.
    #[inline(always)]
    pub(crate) fn batch(&self) -> &Batch<'a> {
        self.batch
    }

    /// Input and output of all messages.
    #[inline(always)]
    pub(crate) fn buffers(&self) -> (*const u8, *mut u8) {
        (self.input, self.output)
    }

    /// Where message `index` begins in both buffers, and how many bytes it has.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn place(&self, index: usize) -> (usize, usize) {
        debug_assert!(index < self.batch.len());
        let offsets = self.batch.messages.offsets;
        // SAFETY: `index` is one of the messages, of which there are one less than offsets.
        let (start, end) = unsafe { (*offsets.get_unchecked(index), *offsets.get_unchecked(index + 1)) };
        (start as usize, (end - start) as usize)
    }

    /// Bytes of message `index`.
    #[inline(always)]
    pub(crate) fn bytes(&self, index: usize) -> usize {
        self.place(index).1
    }

    /// Where message `index` lies.
    #[inline(always)]
    pub(crate) fn message(&self, index: usize) -> Message {
        let (start, bytes) = self.place(index);
        // SAFETY: the check has shown that both buffers reach to the last offset.
        let (input, output) = unsafe { (self.input.add(start), self.output.add(start)) };
        Message { input, output, bytes, past_caches: false, prefetched: self.prefetched }
    }

    /// The text of message `index` of a batch to hash, which has no place in the output.
    #[inline(always)]
    pub(crate) fn text(&self, index: usize) -> &[u8] {
        debug_assert!(matches!(self.batch.messages.source, Source::Apart(_)));
        let (start, bytes) = self.place(index);
        // SAFETY: the check has shown that the input reaches to the last offset, and that it is apart from what
        // threads write.
        unsafe { std::slice::from_raw_parts(self.input.add(start), bytes) }
    }

    /// Where the messages of `range` lie: one after the other, so that they are one message to a mode that treats
    /// every block alike.
    #[inline(always)]
    pub(crate) fn consecutive(&self, range: Range<usize>) -> Message {
        if range.is_empty() {
            let (input, output) = (self.input, self.output);
            return Message { input, output, bytes: 0, past_caches: false, prefetched: false };
        }
        let (first, last) = (self.message(range.start), self.message(range.end - 1));
        let bytes = last.output as usize + last.bytes - first.output as usize;
        Message { bytes, ..first }
    }

    /// Whether the messages of `range` are whole blocks. Takes a fraction of what it takes to look at them one by one.
    #[inline(always)]
    pub(crate) fn are_whole_blocks(&self, range: Range<usize>) -> bool {
        // Of equal ones the first tells of all.
        let end = if self.is_uniform { range.end.min(range.start + 1) } else { range.end };
        let offsets = &self.batch.messages.offsets[range.start..=end];
        let mut differences = 0;
        for offset in offsets {
            differences |= offset ^ offsets[0];
        }
        differences.is_multiple_of(BLOCK as u64)
    }

    /// The 16 bytes of input before byte `start` of message `index`.
    ///
    /// # Panics
    /// If the message has fewer bytes before `start`, or ends before it.
    pub(crate) fn block_before(&self, index: usize, start: usize) -> [u8; BLOCK] {
        let message = self.message(index);
        assert!((BLOCK..=message.bytes).contains(&start));
        // SAFETY: the block lies within the message.
        unsafe { message.input.add(start - BLOCK).cast::<[u8; BLOCK]>().read() }
    }

    /// Whether all messages are equally long.
    #[inline(always)]
    pub(crate) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// The nonce of message `index` where the algorithm has 16-byte nonces.
    #[inline(always)]
    pub(crate) fn nonce_block(&self, index: usize) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        block.copy_from_slice(self.nonce(index));
        block
    }

    /// The key of message `index`.
    #[inline(always)]
    pub(crate) fn key(&self, index: usize) -> &'a [u8] {
        self.keys.get(index)
    }

    /// The nonce of message `index`.
    #[inline(always)]
    pub(crate) fn nonce(&self, index: usize) -> &'a [u8] {
        self.nonces.get(index)
    }

    /// How many messages of `indices`, one at least, are as long as the first of them, their nonces and their AAD as well.
    #[inline(always)]
    pub(crate) fn as_long_as_first(&self, indices: Range<usize>) -> usize {
        if self.is_uniform && self.widths().is_some() {
            return indices.len();
        }
        let lengths =
            |index| (self.message(index).bytes, self.nonces.get(index).len(), self.aad.get(index).len());
        let first = lengths(indices.start);
        indices.take_while(|&index| lengths(index) == first).count()
    }

    /// Where the keys from message `index` on lie, one behind the other if each has its own.
    #[inline(always)]
    pub(crate) fn keys_from(&self, index: usize) -> *const u8 {
        self.keys.place(index)
    }

    /// Where the nonces from message `index` on lie, likewise.
    #[inline(always)]
    pub(crate) fn nonces_from(&self, index: usize) -> *const u8 {
        self.nonces.place(index)
    }

    /// Where the AAD from message `index` on lies, likewise.
    #[inline(always)]
    pub(crate) fn aad_from(&self, index: usize) -> *const u8 {
        self.aad.place(index)
    }

    /// Bytes of every nonce and of all AAD of a message, if that is known without looking at each.
    #[inline(always)]
    pub(crate) fn widths(&self) -> Option<(usize, usize)> {
        self.nonces.width().zip(self.aad.width())
    }

    /// Whether all messages have one nonce.
    #[inline(always)]
    pub(crate) fn shares_nonce(&self) -> bool {
        self.nonces.shared().is_some()
    }

    /// The AAD of all messages, if they share it.
    #[inline(always)]
    pub(crate) fn shared_aad(&self) -> Option<&'a [u8]> {
        self.aad.shared()
    }

    /// The AAD of message `index`.
    #[inline(always)]
    pub(crate) fn aad(&self, index: usize) -> &'a [u8] {
        self.aad.get(index)
    }

    /// Bytes of each digest.
    #[inline(always)]
    pub(crate) fn digest_bytes(&self) -> usize {
        self.batch.tag_lengths.stride()
    }

    /// Where the digests from message `index` on go, one behind the other.
    #[inline(always)]
    pub(crate) fn digests_from(&self, index: usize) -> *mut u8 {
        debug_assert!(index < self.batch.len());
        // SAFETY: the check has shown that there is a row for each message.
        unsafe { self.tags.add(index * self.digest_bytes()) }
    }

    /// Where the digest of message `index` goes.
    ///
    /// # Safety
    /// This thread alone has the message, and no other reference to its digest.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // into a buffer that this borrows for writing
    pub(crate) unsafe fn digest(&self, index: usize) -> &mut [u8] {
        debug_assert!(index < self.batch.len());
        let bytes = self.digest_bytes();
        // SAFETY: the check has shown that there is a row of `bytes` bytes for each message; the rest is the
        // caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.tags.add(index * bytes), bytes) }
    }
}
