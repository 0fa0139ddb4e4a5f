//! Shares of a batch, run at the same time on a thread for each device.

use std::time::{Duration, Instant};

use cipherlane_core::{Batch, DeviceError, Output, Resident, Session, Source, Spans};

use super::share::{self, Owned, Share};

/// A session on each device.
pub(super) struct Sessions(pub(super) Vec<Box<dyn Session>>);

impl Session for Sessions {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        each(&mut self.0, batch, output, |session, batch, output| session.run(batch, output))
    }
}

/// A share on each device.
pub(super) struct Residents {
    all: Vec<Box<dyn Resident>>,
    /// How many of them have one.
    loaded: usize,
}

impl Residents {
    pub(super) const fn new(all: Vec<Box<dyn Resident>>) -> Self {
        Self { all, loaded: 0 }
    }
}

impl Resident for Residents {
    fn load(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.loaded = 0;
        let spans =
            each(&mut self.all, batch, output, |resident, batch, output| resident.load(batch, output))?;
        self.loaded = share::cut(batch, self.all.len()).len();
        Ok(spans)
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        // Where nothing was loaded, the first says so.
        let loaded = &mut self.all[..self.loaded.max(1)];
        let mut spans = together(loaded.iter_mut().map(|resident| || resident.execute()))?;
        spans.wall = start.elapsed();
        Ok(spans)
    }

    fn store(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        each(&mut self.all, batch, output, |resident, batch, output| resident.store(batch, output))
    }
}

/// Has each of `workers` do its share.
fn each<W: Send>(
    workers: &mut [W],
    batch: &Batch<'_>,
    output: &mut Output<'_>,
    work: impl Fn(&mut W, &Batch<'_>, &mut Output<'_>) -> Result<Spans, DeviceError> + Sync,
) -> Result<Spans, DeviceError> {
    let start = Instant::now();
    batch.check(output)?;
    let shares = share::cut(batch, workers.len());
    if shares.len() < 2 {
        return work(&mut workers[0], batch, output);
    }
    let owned: Vec<Owned> = {
        let text = match batch.messages.source {
            Source::Apart(text) => text,
            Source::InPlace => &*output.bytes,
        };
        shares.iter().map(|share| Owned::new(batch, share, text)).collect()
    };
    let outputs = share::outputs(batch, &shares, output);
    let jobs = workers.iter_mut().zip(shares.iter().zip(&owned)).zip(outputs);
    let work = &work;
    let mut spans = together(jobs.map(|((worker, (share, owned)), mut output)| {
        move || {
            let source = source(batch, share);
            work(worker, &owned.batch(batch, share, source), &mut output)
        }
    }))?;
    spans.wall = start.elapsed();
    Ok(spans)
}

/// The input of a share.
fn source<'a>(batch: &Batch<'a>, share: &Share) -> Source<'a> {
    match batch.messages.source {
        Source::InPlace => Source::InPlace,
        Source::Apart(text) => {
            let [start, end] =
                [share.text.start, share.text.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            Source::Apart(&text[start..end])
        }
    }
}

/// Does all of `jobs` at once, the first on this thread. The spans are the longest of each kind, since they overlap.
///
/// # Errors
/// The first failure. All jobs have ended by then.
fn together<J: FnOnce() -> Result<Spans, DeviceError> + Send>(
    mut jobs: impl Iterator<Item = J>,
) -> Result<Spans, DeviceError> {
    let Some(first) = jobs.next() else { return Ok(Spans::default()) };
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.map(|job| scope.spawn(job)).collect();
        let mut results = vec![first()];
        for other in others {
            results.push(other.join().unwrap_or_else(|defect| std::panic::resume_unwind(defect)));
        }
        results.into_iter().try_fold(Spans::default(), |longest, spans| Ok(later(longest, spans?)))
    })
}

fn later(a: Spans, b: Spans) -> Spans {
    let most = |time: fn(&Spans) -> Duration| time(&a).max(time(&b));
    Spans {
        load: most(|spans| spans.load),
        execute: most(|spans| spans.execute),
        store: most(|spans| spans.store),
        wall: most(|spans| spans.wall),
    }
}
