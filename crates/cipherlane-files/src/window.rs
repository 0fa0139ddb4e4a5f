//! Segments that are run together.

use std::io::{self, BufRead, ErrorKind, Write};

use cipherlane::{Batch, Column, Engine, Messages, Output, Source};
use zeroize::Zeroize;

use crate::error::Error;
use crate::header::{NONCE, Stream, TAG};

/// Bytes of text that are run together, about: enough to keep every core busy, few enough to wait for.
const WINDOW: usize = 32 << 20;
/// Bytes that are read at a time.
const STEP: usize = 1 << 20;

/// The next segments of a file: texts and tags apart, as batches have them.
pub(crate) struct Window {
    /// As long as the most that it ever held; room for more is not touched before.
    texts: Vec<u8>,
    offsets: Vec<u64>,
    tags: Vec<u8>,
    nonces: Vec<u8>,
    accepted: Vec<bool>,
    /// Segments that there is room for.
    most: usize,
    first: u64,
    is_last: bool,
}

impl Window {
    /// Room for segments of `stream`.
    pub(crate) fn new(stream: &Stream) -> Self {
        Self::with_room(stream, (WINDOW / stream.segment_bytes()).max(1))
    }

    /// Room for the first segment alone.
    pub(crate) fn first(stream: &Stream) -> Self {
        Self::with_room(stream, 1)
    }

    fn with_room(stream: &Stream, most: usize) -> Self {
        Self {
            // All at once: a text that is moved leaves a copy behind.
            texts: Vec::with_capacity(most * stream.segment_bytes()),
            offsets: Vec::new(),
            tags: Vec::new(),
            nonces: Vec::new(),
            accepted: Vec::new(),
            most,
            first: 0,
            is_last: false,
        }
    }

    /// Whether the file ends with it.
    pub(crate) const fn is_last(&self) -> bool {
        self.is_last
    }

    /// Segments that it holds.
    pub(crate) const fn segments(&self) -> u64 {
        (self.offsets.len() - 1) as u64
    }

    /// Reads the texts of the segments from number `first` on. A file of no text has one segment.
    pub(crate) fn read_texts(
        &mut self,
        stream: &Stream,
        first: u64,
        input: &mut impl BufRead,
    ) -> Result<(), Error> {
        self.fill(stream, first, input, |window, end, room, input| {
            let read = window.read_at(end, room, input)?;
            window.tags.resize(window.tags.len() + TAG, 0);
            Ok(read)
        })
    }

    /// The same of sealed segments.
    pub(crate) fn read_sealed(
        &mut self,
        stream: &Stream,
        first: u64,
        input: &mut impl BufRead,
    ) -> Result<(), Error> {
        self.fill(stream, first, input, |window, end, room, input| {
            let read = window.read_at(end, room + TAG, input)?;
            let segment = first + window.offsets.len() as u64 - 1;
            // The next text will lie where this tag does, once that is kept elsewhere.
            let sealed = window.texts[end..end + read].split_last_chunk::<TAG>();
            let (text, tag) = sealed.ok_or(Error::Rejected { segment })?;
            window.tags.extend_from_slice(tag);
            Ok(text.len())
        })
    }

    /// Has `read` bring segment after segment, each behind the end of the one before and with room for its text, until
    /// the window is full or the file ends.
    fn fill<R: BufRead>(
        &mut self,
        stream: &Stream,
        first: u64,
        input: &mut R,
        read: impl Fn(&mut Self, usize, usize, &mut R) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        (self.first, self.is_last) = (first, false);
        self.tags.clear();
        self.nonces.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let mut end = 0;
        for number in first..first + self.most as u64 {
            let room = stream.text_bytes(number);
            let length = read(self, end, room, input)?;
            end += length;
            self.offsets.push(end as u64);
            // A file that grows while it is read, and a terminal, may have more after its end.
            self.is_last = length < room || is_at_end(input)?;
            self.nonces.extend_from_slice(&stream.nonce(number, self.is_last)?);
            if self.is_last {
                break;
            }
        }
        Ok(())
    }

    /// Reads up to `room` bytes behind the first `end` of the texts: how many there were.
    fn read_at(&mut self, end: usize, room: usize, input: &mut impl BufRead) -> Result<usize, Error> {
        let wanted = end + room;
        let mut read = 0;
        // Step by step, so that a short file touches little of a long segment's room.
        while read < room {
            let step = (end + read + STEP).min(wanted);
            if self.texts.len() < step {
                self.texts.resize(step, 0);
            }
            let got = read_up_to(input, &mut self.texts[end + read..step])?;
            read += got;
            if end + read < step {
                break;
            }
        }
        Ok(read)
    }

    /// Encrypts the texts where they lie, and makes their tags.
    pub(crate) fn seal(&mut self, engine: &Engine, stream: &Stream) -> Result<(), Error> {
        let (batch, end) = batch(stream, &self.nonces, &self.offsets);
        engine.run_untimed(&batch, &mut Output::sealed(&mut self.texts[..end], &mut self.tags))?;
        Ok(())
    }

    /// Checks the tags and decrypts the texts where they lie.
    pub(crate) fn open(&mut self, engine: &Engine, stream: &Stream) -> Result<(), Error> {
        self.accepted.clear();
        self.accepted.resize(self.offsets.len() - 1, false);
        let (batch, end) = batch(stream, &self.nonces, &self.offsets);
        let batch = Batch { operation: cipherlane::Operation::Open, tags: &self.tags, ..batch };
        engine.run_untimed(&batch, &mut Output::opened(&mut self.texts[..end], &mut self.accepted))?;
        match self.accepted.iter().position(|&accepted| !accepted) {
            Some(rejected) => Err(Error::Rejected { segment: self.first + rejected as u64 }),
            None => Ok(()),
        }
    }

    /// Writes each text with its tag behind.
    pub(crate) fn write_sealed(&self, output: &mut impl Write) -> io::Result<()> {
        for (ends, tag) in self.offsets.windows(2).zip(self.tags.chunks_exact(TAG)) {
            output.write_all(&self.texts[ends[0] as usize..ends[1] as usize])?;
            output.write_all(tag)?;
        }
        Ok(())
    }

    /// Writes the texts.
    pub(crate) fn write_texts(&self, output: &mut impl Write) -> io::Result<()> {
        let end = self.offsets.last().map_or(0, |&end| end as usize);
        output.write_all(&self.texts[..end])
    }
}

impl Drop for Window {
    /// Wipes what was used of it.
    fn drop(&mut self) {
        self.texts[..].zeroize();
    }
}

/// The batch that seals, in place, and how many bytes it has.
fn batch<'a>(stream: &'a Stream, nonces: &'a [u8], offsets: &'a [u64]) -> (Batch<'a>, usize) {
    let batch = Batch::seal(
        stream.algorithm(),
        Column::Shared(stream.key()),
        Column::Each { bytes: nonces, width: NONCE },
        Column::EMPTY,
        Messages { source: Source::InPlace, offsets },
    );
    (batch, offsets.last().map_or(0, |&end| end as usize))
}

/// Reads until `buffer` is full or the file ends: how much there was.
fn read_up_to(input: &mut impl BufRead, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut end = 0;
    while end < buffer.len() {
        match input.read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(read) => end += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
    Ok(end)
}

fn is_at_end(input: &mut impl BufRead) -> Result<bool, Error> {
    loop {
        match input.fill_buf() {
            Ok(buffered) => return Ok(buffered.is_empty()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
}
