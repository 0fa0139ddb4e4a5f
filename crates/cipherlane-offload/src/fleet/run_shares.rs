//! Shares of a batch, each worked on by a thread of its own.

use std::time::Instant;

use cipherlane_core::{Batch, DeviceError, Output, Source, Spans};

use super::owned::Owned;
use super::share::{self, Aside, Cut, Share};
use super::side_by_side::{after, all_at_once, together};
use crate::job;
use crate::part::{Part, Sum};

/// What came of a part of a message.
pub(super) struct Summand {
    /// The message, by its number in the batch.
    pub(super) message: usize,
    /// Bytes of all of it.
    pub(super) message_bytes: u64,
    /// Which worker had the part, and as which of its runs.
    pub(super) place: (usize, usize),
    /// What it adds, once it has run.
    pub(super) sum: Option<Sum>,
    /// What is beside the text.
    pub(super) aside: Aside,
}

/// What came of a batch.
#[derive(Default)]
pub(super) struct Done {
    pub(super) spans: Spans,
    /// The parts of GCM messages that were cut, in order.
    pub(super) summands: Vec<Summand>,
}

impl Done {
    /// The parts, message by message.
    pub(super) fn messages(&self) -> impl Iterator<Item = &[Summand]> {
        self.summands.chunk_by(|a, b| a.message == b.message)
    }
}

/// One of the runs of a worker.
struct Run<'a> {
    batch: Batch<'a>,
    output: Output<'a>,
    part: Option<Part>,
    sum: &'a mut Option<Sum>,
}

/// What a worker is to run next.
pub(super) struct Turn<'t, 'b, 'o> {
    /// How many it has run of this batch.
    pub(super) number: usize,
    /// What of the batch.
    pub(super) batch: &'t Batch<'b>,
    /// And into what.
    pub(super) output: &'t mut Output<'o>,
    /// Which part it is of a message that is cut.
    pub(super) part: Option<Part>,
}

/// Has each of `workers` do its share of a checked batch, turn by turn.
pub(super) fn run_shares<W: Send>(
    workers: &mut [W],
    how: Cut,
    batch: &Batch<'_>,
    output: &mut Output<'_>,
    work: impl Fn(&mut W, Turn<'_, '_, '_>) -> Result<(Spans, Option<Sum>), DeviceError> + Sync,
) -> Result<Done, DeviceError> {
    let start = Instant::now();
    let shares = share::cut(batch, workers.len(), how);
    if shares.len() < 2 {
        let (spans, _) = work(&mut workers[0], Turn { number: 0, batch, output, part: None })?;
        return Ok(Done { spans, summands: Vec::new() });
    }
    let runs: Vec<Vec<Share>> = shares.into_iter().map(|share| share.runs(batch)).collect();
    let flat: Vec<Share> = runs.iter().flatten().cloned().collect();
    let owned = owned(batch, &flat, output);
    let mut asides: Vec<Aside> = flat.iter().map(|share| share.aside(batch)).collect();
    let mut sums: Vec<Option<Sum>> = flat.iter().map(|_| None).collect();
    let outputs = share::outputs(batch, &flat, output, &mut asides);
    let all = flat.iter().zip(&owned).zip(outputs).zip(&mut sums);
    let mut all = all.map(|(((share, owned), output), sum)| Run {
        batch: owned.batch(batch, share, source(batch, share)),
        output,
        part: share.part(batch),
        sum,
    });
    let jobs: Vec<(&mut W, Vec<Run<'_>>)> = workers
        .iter_mut()
        .zip(&runs)
        .map(|(worker, runs)| (worker, all.by_ref().take(runs.len()).collect()))
        .collect();
    let work = &work;
    let mut spans = together(jobs.into_iter().map(|(worker, runs)| {
        move || {
            let mut total = Spans::default();
            for (number, Run { batch, mut output, part, sum }) in runs.into_iter().enumerate() {
                let turn = Turn { number, batch: &batch, output: &mut output, part };
                let (spans, made) = work(worker, turn)?;
                *sum = made;
                total = after(total, spans);
            }
            Ok(total)
        }
    }))?;
    spans.wall = start.elapsed();
    let parts = flat.iter().zip(places(&runs)).zip(sums).zip(asides);
    let summands = parts.filter_map(|(((share, place), sum), aside)| {
        let Part { message_bytes, .. } = share.part(batch)?;
        Some(Summand { message: share.messages.start, message_bytes, place, sum, aside })
    });
    Ok(Done { spans, summands: summands.collect() })
}

/// The worker and the number there of each of `runs`.
fn places(runs: &[Vec<Share>]) -> impl Iterator<Item = (usize, usize)> {
    runs.iter().enumerate().flat_map(|(worker, runs)| (0..runs.len()).map(move |run| (worker, run)))
}

/// Messages from which on threads are started to write down what shares need of their own.
const MANY: usize = 1 << 17;

/// What each share needs of its own.
fn owned(batch: &Batch<'_>, shares: &[Share], output: &Output<'_>) -> Vec<Owned> {
    let text = match batch.messages.source {
        Source::Apart(text) => text,
        // What lies on a device has not passed the check.
        Source::InPlace | Source::OnDevice => &*output.bytes,
    };
    let own = |share| Owned::new(batch, share, text);
    if batch.len() < MANY {
        shares.iter().map(own).collect()
    } else {
        all_at_once(shares.iter().map(|share| || own(share)))
    }
}

/// The input of a share.
fn source<'a>(batch: &Batch<'a>, share: &Share) -> Source<'a> {
    match batch.messages.source {
        own @ (Source::InPlace | Source::OnDevice) => own,
        Source::Apart(text) => {
            let [start, end] =
                [share.text.start, share.text.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            Source::Apart(&text[start..end])
        }
    }
}

/// Zeroes what devices have written of a batch that one of them failed at, as one device does by itself, where text
/// `has_come_out` of any of them.
pub(super) fn forget(batch: &Batch<'_>, output: &mut Output<'_>, error: &DeviceError, has_come_out: bool) {
    // Others are told before anything runs.
    if matches!(error, DeviceError::Failed { .. }) {
        job::forget(batch, output, has_come_out);
    }
}
