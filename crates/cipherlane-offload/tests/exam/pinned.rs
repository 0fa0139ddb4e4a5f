//! One message under AES-128-CTR from host to host, by chunks and streams, beside what the link carries both ways at once:
//! from pinned memory to pinned memory, and from ordinary memory, which goes by stagings.

use std::time::Duration;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Operation, Output, Session, Shape, Source, Spans,
    StreamSpans, Wish,
};
use cipherlane_reference::Reference;

use crate::speed::fill;

/// Bytes of a chunk, and streams; the first is the default.
const WAYS: [(Option<usize>, Option<usize>); 7] = [
    (None, None),
    (Some(32 << 20), Some(3)),
    (Some(32 << 20), Some(4)),
    (Some(32 << 20), Some(5)),
    (Some(32 << 20), Some(6)),
    (Some(16 << 20), Some(6)),
    (Some(64 << 20), Some(4)),
];
/// The same for ordinary memory.
const STAGED: [(Option<usize>, Option<usize>); 6] = [
    (None, None),
    (Some(16 << 20), Some(2)),
    (Some(16 << 20), Some(4)),
    (Some(16 << 20), Some(5)),
    (Some(8 << 20), Some(4)),
    (Some(32 << 20), Some(3)),
];
/// Bytes of the pieces in which the link alone is measured: as sessions copy, and whole.
const PIECES: [usize; 4] = [16 << 20, 32 << 20, 64 << 20, 1 << 40];
const RUNS: usize = 7;

/// Parts of a text that are compared with the reference, and their bytes: the reference is too slow for all of it.
const PARTS: usize = 16;
const PART: usize = 16 << 10;

/// Prints a line for each way, with one on its streams below, for each of three lengths, as far as the buffers reach. `link`
/// copies the one buffer to the device and the other back at the same time, in pieces of so many bytes, and says how many go
/// each way in a second. Returns how many ways came out wrong.
pub(crate) fn measure(
    device: &dyn Device,
    input: &mut [u8],
    output: &mut [u8],
    mut link: impl FnMut(&[u8], &mut [u8], usize) -> f64,
) -> usize {
    fill(input);
    let mut wrong = 0;
    let mut lengths = vec![1 << 20, 256 << 20, input.len()];
    lengths.retain(|&bytes| bytes <= input.len());
    lengths.dedup();
    for bytes in lengths {
        let (input, output) = (&input[..bytes], &mut output[..bytes]);
        let mut best = 0.0;
        for piece in PIECES.map(|piece| piece.min(bytes)) {
            let mut rates: Vec<f64> = (0..RUNS).map(|_| link(input, output, piece)).collect();
            rates.sort_by(f64::total_cmp);
            let rate = rates[RUNS / 2] / 1e9;
            best = rate.max(best);
            println!(
                "{:5} MiB, the link each way, {:4} MiB at a time: {rate:.1} GB/s",
                bytes >> 20,
                piece >> 20
            );
        }
        let mut expected: Option<Vec<u8>> = None;
        wrong += ways(device, &WAYS, best, &mut expected, input, output);
        println!("{:5} MiB, from ordinary memory to ordinary memory", bytes >> 20);
        let (ordinary, mut target) = (input.to_vec(), vec![0; bytes]);
        wrong += ways(device, &STAGED, best, &mut expected, &ordinary, &mut target);
    }
    wrong
}

/// Prints two lines for each of `ways`, with the share of `link` that it reaches. Returns how many came out wrong.
fn ways(
    device: &dyn Device,
    ways: &[(Option<usize>, Option<usize>)],
    link: f64,
    expected: &mut Option<Vec<u8>>,
    input: &[u8],
    output: &mut [u8],
) -> usize {
    let mut wrong = 0;
    for &(chunk, streams) in ways {
        output.fill(0);
        let wish = Wish { chunk, streams, ..Wish::default() };
        let ran = run(device, &wish, input, output)
            .and_then(|found| compare(input, output, expected).map(|()| found));
        match ran {
            Ok((spans, of_each)) => {
                println!("{}", line(input.len(), chunk, streams, link, &spans));
                println!("           by stream: {}", by_stream(&spans, &of_each));
            }
            Err(reason) => {
                println!("      WRONG: {reason}");
                wrong += 1;
            }
        }
    }
    wrong
}

/// Whether `output` is what the reference makes of parts of `input`, and all of it what the first right way made.
fn compare(input: &[u8], output: &[u8], expected: &mut Option<Vec<u8>>) -> Result<(), String> {
    let reference = Reference::new();
    let least = PART.min(input.len());
    for part in 0..PARTS {
        let at = (input.len() - least) * part / (PARTS - 1) / BLOCK * BLOCK;
        let counter = u128::from_be_bytes(COUNTER).wrapping_add((at / BLOCK) as u128).to_be_bytes();
        let mut right = vec![0; least];
        let mut session = open(&reference, &Wish::default(), least)?;
        once(&mut *session, &counter, &input[at..at + least], &mut right)?;
        if right != output[at..at + least] {
            return Err(format!("within {least} bytes from byte {at} the text is not that of the reference"));
        }
    }
    let known = expected.get_or_insert_with(|| output.to_vec());
    if known[..] == *output { Ok(()) } else { Err("the text differs from that of another way".to_owned()) }
}

fn line(bytes: usize, chunk: Option<usize>, streams: Option<usize>, link: f64, spans: &Spans) -> String {
    let name =
        |number: Option<usize>| number.map_or_else(|| "default".to_owned(), |number| number.to_string());
    let share = |time: Duration| 100.0 * time.as_secs_f64() / spans.wall.as_secs_f64();
    format!(
        "{:5} MiB, chunk {:>7} MiB, {:>7} streams: {:6.1} GB/s, {:5.1} % of the link; {:.2} ms, copies in {:.0} %, \
         kernels {:.0} %, copies out {:.0} % of it",
        bytes >> 20,
        name(chunk.map(|bytes| bytes >> 20)),
        name(streams),
        rate(bytes, spans.wall),
        100.0 * rate(bytes, spans.wall) / link,
        1e3 * spans.wall.as_secs_f64(),
        share(spans.load),
        share(spans.execute),
        share(spans.store)
    )
}

/// How many chunks each stream had, and for which part of the run it was busy.
fn by_stream(spans: &Spans, streams: &[StreamSpans]) -> String {
    let part = |one: &StreamSpans| 100.0 * one.busy().as_secs_f64() / spans.wall.as_secs_f64();
    let one = |one: &StreamSpans| {
        format!("{} {}: {} chunks, {:.0} % busy", one.device, one.stream, one.chunks, part(one))
    };
    streams.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}

/// The counter block of the text.
const COUNTER: [u8; BLOCK] = [9; BLOCK];

/// From call to return, the median of some runs after one that does not count.
fn run(
    device: &dyn Device,
    wish: &Wish,
    input: &[u8],
    output: &mut [u8],
) -> Result<(Spans, Vec<StreamSpans>), String> {
    let mut session = open(device, wish, input.len())?;
    once(&mut *session, &COUNTER, input, output)?;
    let mut runs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let spans = once(&mut *session, &COUNTER, input, output)?;
        runs.push((spans, session.streams()));
    }
    runs.sort_by_key(|(spans, _)| spans.wall);
    Ok(runs.swap_remove(RUNS / 2))
}

fn algorithm() -> Algorithm {
    "aes-128-ctr".parse().unwrap()
}

fn open(device: &dyn Device, wish: &Wish, bytes: usize) -> Result<Box<dyn Session>, String> {
    let shape = Shape::uniform(algorithm(), Operation::Encrypt, 1, bytes as u64, true);
    let plan = device.plan(&shape, wish).map_err(|error| error.to_string())?;
    device.open(&plan).map_err(|error| error.to_string())
}

fn once(session: &mut dyn Session, counter: &[u8], input: &[u8], output: &mut [u8]) -> Result<Spans, String> {
    let (key, offsets) = ([7; 16], [0, input.len() as u64]);
    let messages = Messages { source: Source::Apart(input), offsets: &offsets };
    let (key, counter) = (Column::Shared(&key), Column::Shared(counter));
    let batch = Batch::cipher(algorithm(), Operation::Encrypt, key, counter, messages);
    session.run(&batch, &mut Output::text(output)).map_err(|error| error.to_string())
}
