//! A file from its beginning to its end.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};

use cipherlane::Engine;

use crate::error::Error;
use crate::header::Stream;
use crate::keyset::Keyset;
use crate::pipeline;
use crate::window::Window;

/// Small segments go through buffers of this size, larger ones past them.
const BUFFER: usize = 256 << 10;

/// Seals all of `input` under the primary key of `keyset`, and writes it to `output`. Whoever opens it has to give the
/// same `aad`, which is not in the file.
///
/// # Errors
/// What cannot be read or written, and failures of the device. Where `input` has more to wait for, they are told when it
/// comes.
pub fn seal(
    engine: &Engine,
    keyset: &Keyset,
    aad: &[u8],
    input: impl Read + Send,
    output: impl Write + Send,
) -> Result<(), Error> {
    let stream = Stream::new(keyset.primary(), aad)?;
    let (mut input, mut output) =
        (BufReader::with_capacity(BUFFER, input), BufWriter::with_capacity(BUFFER, output));
    output.write_all(stream.header()).map_err(Error::Write)?;
    seal_segments(engine, &stream, &mut input, &mut output)?;
    output.flush().map_err(Error::Write)
}

pub(crate) fn seal_segments(
    engine: &Engine,
    stream: &Stream,
    input: &mut (impl BufRead + Send),
    output: &mut (impl Write + Send),
) -> Result<(), Error> {
    let seal = |window: &mut Window| window.seal(engine, stream);
    pipeline::run(stream, input, output, Window::read_texts, seal, Window::write_sealed)
}

/// Opens all of `input` under whichever key of `keyset` it was sealed with, and writes it to `output`.
///
/// Each segment is written when it has turned out to be right, so that where it fails at a later one, `output` has the
/// beginning of what was sealed.
///
/// # Errors
/// [`Error::NoKey`] and [`Error::Rejected`] where it is not what was sealed with `aad` under one of the keys; what cannot be
/// read or written, and failures of the device. Where `input` has more to wait for, they are told when it comes.
pub fn open(
    engine: &Engine,
    keyset: &Keyset,
    aad: &[u8],
    input: impl Read + Send,
    output: impl Write + Send,
) -> Result<(), Error> {
    let (mut input, mut output) =
        (BufReader::with_capacity(BUFFER, input), BufWriter::with_capacity(BUFFER, output));
    // A byte more than the longest first segment: whether it is the last one shows.
    let longest = keyset.keys().map(|key| key.params().segment_bytes).max().unwrap_or(0);
    let mut head = Vec::new();
    input.by_ref().take(longest as u64 + 1).read_to_end(&mut head).map_err(Error::Read)?;
    let stream = stream_of(engine, keyset, aad, &head)?.ok_or(Error::NoKey)?;
    let mut sealed = head[stream.header().len()..].chain(input);
    let open = |window: &mut Window| window.open(engine, &stream);
    pipeline::run(&stream, &mut sealed, &mut output, Window::read_sealed, open, Window::write_texts)?;
    output.flush().map_err(Error::Write)
}

/// The stream of the file that begins with `head`: of the key that opens its first segment.
fn stream_of(engine: &Engine, keyset: &Keyset, aad: &[u8], head: &[u8]) -> Result<Option<Stream>, Error> {
    for key in keyset.keys() {
        let Some(stream) = Stream::read(key, aad, head)? else { continue };
        let mut window = Window::first(&stream);
        let opened = window
            .read_sealed(&stream, 0, &mut &head[stream.header().len()..])
            .and_then(|()| window.open(engine, &stream));
        match opened {
            Ok(()) => return Ok(Some(stream)),
            Err(Error::Rejected { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
