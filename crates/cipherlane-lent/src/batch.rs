//! A batch as C writes it, made into the engine's.

#![allow(unsafe_code)] // slices are made of what the caller lends

use std::ffi::c_char;
use std::ops::Range;
use std::ptr;

use cipherlane::{DeviceTexts, Messages, Operation, Ragged, Source, TagLengths};

use crate::gpu;
use crate::lent::{self, Buffer, Bytes, addresses};
use crate::status::Failure;

/// One byte string for each message, or one for all of them: keys, nonces or additional data.
///
/// With neither `width` nor `offsets`, `bytes` are one row for all messages; of length 0, there is none. With a `width`,
/// message i has the bytes from `i * width` on. With `offsets`, one more than there are messages, it has those from
/// `offsets[i]` to `offsets[i + 1]`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// All rows, one after the other.
    pub bytes: Bytes,
    /// Bytes of a row, where all rows are as long; else 0.
    pub width: usize,
    /// Where rows begin, where they are not; else NULL.
    pub offsets: *const u64,
}

/// Messages that are run together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// "aes-128-gcm", "camellia-256-xts", "sha3-256": one of `cipherlane_algorithms`.
    pub algorithm: *const c_char,
    /// "seal" and "open" of GCM, "encrypt" and "decrypt" of other modes, "hash" of hash functions.
    pub operation: *const c_char,
    /// How many messages.
    pub messages: usize,
    /// `messages` + 1 of them, which must not decrease: message i has the bytes from `offsets[i]` to `offsets[i + 1]`, in
    /// `source` and in the text of the output alike. Between messages there is no gap: their tags lie elsewhere.
    pub offsets: *const u64,
    /// The texts to read, which the output does not overlap; with NULL for `data` they lie in the text of the output, and
    /// are overwritten.
    pub source: Bytes,
    /// Whether `source` and the text of the output are device addresses, aligned to 16 bytes, in the primary context (that
    /// of CUDA's runtime) of the NVIDIA GPU that the engine is on; nothing of them is copied. All else lies in memory of the
    /// host as ever. The call waits for what the process has begun in that context. Where all texts are empty, both may be
    /// NULL.
    pub on_gpu: bool,
    /// Keys; `cipherlane_sizes_of` tells how long they are. Empty for a hash function.
    pub keys: Column,
    /// Nonces, IVs, initial counter blocks or tweaks. Empty for ECB and for a hash function. That no nonce serves twice
    /// under a key is the caller's to see to, but that "seal", and "encrypt" in CTR, refuse one for all messages unless it has 12
    /// bytes (GCM) or 16 (CTR) and no key comes twice; and "open" refuses one for all that has not 12 bytes, which may be the
    /// nonces of all without their width.
    pub nonces: Column,
    /// Additional authenticated data of GCM; else empty.
    pub aad: Column,
    /// Bytes of every tag (4, 8, 12 to 16) or digest; 0 of algorithms that have neither, or with `tag_lengths`. How long the
    /// tags of a key are is for you to know, and not to be learnt from a message: short ones can be forged by guessing.
    pub tag_bytes: usize,
    /// Bytes of each tag, each at the front of a row of 16; NULL where all are as long.
    pub tag_lengths: *const u8,
    /// The tags to check, a row for each message: for "open", else empty.
    pub tags: Bytes,
}

/// Where results go.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The texts. A hash function reads them here without a `source`, and writes none.
    pub text: Buffer,
    /// The tags that "seal" makes, or digests, a row for each message; of other operations it is left as it was.
    pub tags: Buffer,
    /// Whether each tag was right: 1, or 0 and the text of the message is zeros. For "open" a byte for each message; of other
    /// operations zeros.
    pub accepted: Buffer,
}

/// A batch and its output as the engine takes them.
pub(crate) struct Work<'a> {
    pub(crate) batch: cipherlane::Batch<'a>,
    pub(crate) output: cipherlane::Output<'a>,
    /// Where texts lie, if on a GPU.
    pub(crate) texts: Option<DeviceTexts>,
}

impl Column {
    /// # Safety
    /// What it points to is there, and nobody writes it for `'a`.
    unsafe fn column<'a>(self, messages: usize, what: &str) -> Result<cipherlane::Column<'a>, Failure> {
        // SAFETY: promised by the caller.
        let bytes = unsafe { self.bytes.slice(what)? };
        match (self.width, self.offsets.is_null()) {
            (0, true) => Ok(cipherlane::Column::Shared(bytes)),
            (width, true) => Ok(cipherlane::Column::Each { bytes, width }),
            // SAFETY: promised by the caller.
            (0, false) => unsafe { offsets(self.offsets, messages, what) }
                .map(|offsets| cipherlane::Column::Ragged(Ragged { bytes, offsets })),
            (_, false) => {
                Err(Failure::batch(format!("the {what} have a width and offsets; give one of them")))
            }
        }
    }

    fn addresses(self) -> Range<usize> {
        self.bytes.addresses()
    }
}

/// # Safety
/// Where `first` is not NULL, one offset more than there are messages lies there, which nobody writes for `'a`.
unsafe fn offsets<'a>(first: *const u64, messages: usize, what: &str) -> Result<&'a [u64], Failure> {
    if first.is_null() && messages == 0 {
        return Ok(&[0]);
    }
    // SAFETY: promised by the caller.
    unsafe { lent::items(first, messages.saturating_add(1), &format!("the array of offsets of the {what}")) }
}

impl Batch {
    /// What the two of C name, as the engine takes it.
    ///
    /// # Safety
    /// What they point to is there, nobody writes it for `'a`, and nobody else reads what `output` points to.
    pub(crate) unsafe fn with_output<'a>(&self, output: &Output) -> Result<Work<'a>, Failure> {
        // Before anything is there to be written. Where the offsets end follows from how many messages there are.
        // SAFETY: promised by the caller, as below.
        unsafe { offsets(self.offsets, self.messages, "messages")? };
        self.check_apart(output)?;
        // Verdicts of before are gone, whatever is wrong with the rest.
        // SAFETY: as above.
        verdicts(unsafe { output.accepted.slice("`accepted`")? });
        // SAFETY: as above.
        let mut batch = unsafe { self.batch()? };
        let nothing = Output { text: Buffer { data: ptr::null_mut(), length: 0 }, ..*output };
        if self.on_gpu {
            let hashes = batch.operation == Operation::Hash;
            // SAFETY: as above.
            let made = unsafe { nothing.output()? };
            if batch.messages.offsets.last() == Some(&0) {
                // There is no text that could lie anywhere: what is empty often has no address there.
                batch.messages.source = Source::Apart(&[]);
                return Ok(Work { batch, output: made, texts: None });
            }
            // SAFETY: as above.
            let texts = unsafe { gpu::texts(self.source, output.text, hashes)? };
            return Ok(Work { batch, output: made, texts: Some(texts) });
        }
        if batch.operation == Operation::Hash {
            // Nothing is written there: it is read, if the texts are there.
            if let Source::InPlace = batch.messages.source {
                // SAFETY: as above.
                batch.messages.source =
                    Source::Apart(unsafe { output.text.bytes().slice("the text of the output")? });
            }
            // SAFETY: as above.
            return Ok(Work { batch, output: unsafe { nothing.output()? }, texts: None });
        }
        // SAFETY: as above.
        Ok(Work { batch, output: unsafe { output.output()? }, texts: None })
    }

    /// # Safety
    /// What it points to is there, and nobody writes it for `'a`.
    unsafe fn batch<'a>(&self) -> Result<cipherlane::Batch<'a>, Failure> {
        // SAFETY: promised by the caller, as below.
        let lengths = unsafe { lent::items(self.tag_lengths, self.tag_lengths_here(), "tag lengths")? };
        let tag_lengths = match (self.tag_lengths.is_null(), self.tag_bytes) {
            (true, bytes) => TagLengths::Same(bytes),
            (false, 0) => TagLengths::Each(lengths),
            (false, _) => {
                let reason = "tags have one length and lengths of their own; give one of them, 0 or NULL for the other";
                return Err(Failure::batch(reason));
            }
        };
        // SAFETY: as above.
        unsafe {
            Ok(cipherlane::Batch {
                algorithm: lent::name(self.algorithm, "the algorithm")?.parse()?,
                operation: lent::name(self.operation, "the operation")?.parse()?,
                keys: self.keys.column(self.messages, "keys")?,
                nonces: self.nonces.column(self.messages, "nonces")?,
                aad: self.aad.column(self.messages, "additional data")?,
                messages: Messages {
                    source: match self.source.data.is_null() {
                        _ if self.on_gpu => Source::OnDevice,
                        true if self.source.length == 0 => Source::InPlace,
                        _ => Source::Apart(self.source.slice("the source")?),
                    },
                    offsets: offsets(self.offsets, self.messages, "messages")?,
                },
                tag_lengths,
                tags: self.tags.slice("the tags to check")?,
            })
        }
    }

    fn tag_lengths_here(&self) -> usize {
        if self.tag_lengths.is_null() { 0 } else { self.messages }
    }

    /// Fails where something that is written overlaps with anything else.
    fn check_apart(&self, output: &Output) -> Result<(), Failure> {
        let offsets = |first: *const u64| addresses(first, self.messages.saturating_add(1));
        let lengths = Bytes { data: self.tag_lengths, length: self.tag_lengths_here() };
        let mut taken = vec![
            ("the source", self.source.addresses()),
            ("the keys", self.keys.addresses()),
            ("the nonces", self.nonces.addresses()),
            ("the additional data", self.aad.addresses()),
            ("the tags to check", self.tags.addresses()),
            ("the tag lengths", lengths.addresses()),
            ("the batch", addresses(self, 1)),
            ("the output", addresses(output, 1)),
        ];
        let starts = [self.offsets, self.keys.offsets, self.nonces.offsets, self.aad.offsets];
        let starts = starts.into_iter().filter(|first| !first.is_null());
        taken.extend(starts.map(|first| ("an array of offsets", offsets(first))));
        for (what, buffer) in
            [("the text", output.text), ("the tags", output.tags), ("`accepted`", output.accepted)]
        {
            let wanted = buffer.addresses();
            let meets = |other: &Range<usize>| {
                !wanted.is_empty()
                    && !other.is_empty()
                    && wanted.start < other.end
                    && other.start < wanted.end
            };
            if let Some((other, _)) = taken.iter().find(|(_, other)| meets(other)) {
                // C's NULL is Python's None: both have this message.
                let in_place = "; to run in place, give no source (NULL, None)";
                let remedy = if *other == "the source" { in_place } else { "" };
                let reason = format!("{what} of the output overlaps {other}{remedy}");
                return Err(Failure::pointer(reason));
            }
            taken.push((what, wanted));
        }
        Ok(())
    }
}

impl Output {
    /// # Safety
    /// What it points to is there, and nobody else reads or writes it for `'a`.
    unsafe fn output<'a>(&self) -> Result<cipherlane::Output<'a>, Failure> {
        // SAFETY: promised by the caller.
        unsafe {
            Ok(cipherlane::Output {
                bytes: self.text.slice("the text of the output")?,
                tags: self.tags.slice("the tags of the output")?,
                accepted: verdicts(self.accepted.slice("`accepted`")?),
            })
        }
    }
}

/// Bytes for verdicts, none of which is given yet.
fn verdicts(bytes: &mut [u8]) -> &mut [bool] {
    bytes.fill(0);
    let (first, count) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: a bool is a byte, of which 0 is a value; the slice borrows what `bytes` borrowed.
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}
