//! The stream of what happens: four times a second, the runs that changed, the sensors, and the chart's new points.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use cipherlane_record::{Interval, Measurement, throttle};
use serde::Serialize;
use tokio::time::MissedTickBehavior;
use tokio_stream::wrappers::IntervalStream;
use tokio_stream::{Stream, StreamExt as _};

use super::Shared;
use crate::request::Request;
use crate::run::{Figures, Point, Run, State as RunState};

const PERIOD: Duration = Duration::from_millis(250);
/// After how long a page that lost its stream asks for another: browsers wait for some seconds unless they are told.
const RETRY: Duration = Duration::from_millis(500);

/// What one event tells.
#[derive(Serialize)]
struct News {
    /// Those that changed since the event before of this stream; at first all.
    runs: Vec<RunView>,
    sensors: Vec<SensorView>,
    /// What cannot be read: reason to channels.
    missing: BTreeMap<String, Vec<String>>,
    /// New points of the run that is shown.
    chart: Option<Chart>,
    /// Whether all runs are stopped when the last page is closed.
    stop_on_close: bool,
}

/// Points of a chart, to be put after those that the page has.
#[derive(Serialize)]
struct Chart {
    run: u64,
    first: usize,
    points: Vec<Point>,
}

/// A run, as the page shows it.
#[derive(Serialize)]
pub(super) struct RunView {
    id: u64,
    request: Request,
    title: String,
    state: RunState,
    words: String,
    /// Seconds that it measures at most; absent where somebody is to stop it.
    limit: Option<f64>,
    plans: Vec<String>,
    figures: Figures,
    /// What is to be shown in place of its rates: an output was wrong.
    fault: Option<String>,
    result: Option<ResultView>,
    log: Option<String>,
}

/// The row of a run that measured.
#[derive(Serialize)]
struct ResultView {
    bytes_per_second: f64,
    /// The 95 % interval of the rate; absent where too few samples are behind it.
    interval: Option<Interval>,
    messages_per_second: f64,
    verified: bool,
    samples: usize,
    /// The part of the ceiling, and what sets it.
    ceiling: Option<(f64, String)>,
    warnings: Vec<String>,
}

/// A sensor's last reading.
#[derive(Serialize)]
struct SensorView {
    name: String,
    unit: String,
    value: Option<f64>,
    /// What holds the clock back, where the sensor tells.
    held_back: Option<Vec<&'static str>>,
}

impl RunView {
    pub(super) fn of(run: &Run) -> Self {
        Self {
            id: run.id,
            request: run.request.clone(),
            title: run.order.title(),
            state: run.state,
            words: run.words(),
            limit: (!run.order.open_ended).then(|| run.order.limit.as_secs_f64()),
            plans: run.plans.clone(),
            figures: run.figures.clone(),
            fault: run.fault(),
            result: run.row.as_deref().map(ResultView::of),
            log: run.log.as_ref().map(|path| path.display().to_string()),
        }
    }
}

impl ResultView {
    fn of(row: &Measurement) -> Self {
        Self {
            bytes_per_second: row.bytes_per_second,
            interval: row.interval(),
            messages_per_second: row.messages_per_second,
            verified: row.verified,
            samples: row.summary.n,
            ceiling: row.ceiling.as_ref().map(|ceiling| (ceiling.share, ceiling.bound.clone())),
            warnings: row.warnings.clone(),
        }
    }
}

/// The stream of one page. It ends with the dashboard.
pub(super) async fn stream(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let board = Arc::clone(&shared.board);
    let reader = shared.readers.enter(&board);
    let mut cursor = Cursor::default();
    let ticks = ticks().take_while(move |_| !board.is_quitting());
    Sse::new(ticks.map(move |_| {
        let _open = &reader;
        Ok(event(&news(&shared, &mut cursor)).retry(RETRY))
    }))
}

/// The moments of events. Those that passed while the page took nothing are left out: what it missed is in the next.
fn ticks() -> IntervalStream {
    let mut interval = tokio::time::interval(PERIOD);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    IntervalStream::new(interval)
}

fn event(news: &News) -> Event {
    // Strings and numbers can always be written as JSON.
    Event::default().json_data(news).unwrap_or_default()
}

/// What a page has been told.
#[derive(Default)]
struct Cursor {
    /// The last of the changes of runs.
    change: u64,
    /// The run of the chart, and how many of its points.
    run: u64,
    points: usize,
}

fn news(shared: &Shared, cursor: &mut Cursor) -> News {
    let timeline = shared.machine.sampler.latest();
    let sensors = timeline.channels.into_iter().map(|channel| {
        let value = channel.values.last().copied().flatten();
        let held_back = throttle::is_channel(&channel.name)
            .then(|| value.map(|value| throttle::reasons(&channel.name, value)))
            .flatten();
        SensorView { name: channel.name, unit: channel.unit, value, held_back }
    });
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (channel, reason) in timeline.missing {
        missing.entry(reason).or_default().push(channel);
    }
    let (runs, chart) = shared.board.read(|runs| (cursor.changed(runs), cursor.chart(runs)));
    let stop_on_close = shared.readers.stop_on_close();
    News { runs, sensors: sensors.collect(), missing, chart, stop_on_close }
}

impl Cursor {
    /// The runs that are not as the page knows them.
    fn changed(&mut self, runs: &[Run]) -> Vec<RunView> {
        let told = self.change;
        self.change = runs.iter().map(|run| run.change).max().unwrap_or(told);
        runs.iter().filter(|run| run.change > told).map(RunView::of).collect()
    }

    /// The new points of the run that measures, or of the one that measured last.
    fn chart(&mut self, runs: &[Run]) -> Option<Chart> {
        let run = runs.iter().rev().find(|run| !run.points.is_empty())?;
        if self.run != run.id {
            (self.run, self.points) = (run.id, 0);
        }
        let first = self.points;
        self.points = run.points.len();
        Some(Chart { run: run.id, first, points: run.points[first..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime;
    use tokio::time::timeout;

    use super::*;

    /// A page that stalls would get them all at once, each with what the others have.
    #[test]
    fn events_that_nobody_took_are_not_made_up_for() {
        let runtime = runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let at_once = runtime.block_on(async {
            let mut ticks = ticks();
            ticks.next().await;
            std::thread::sleep(17 * PERIOD / 2);
            let mut at_once = 0;
            while timeout(PERIOD / 10, ticks.next()).await.is_ok() {
                at_once += 1;
            }
            at_once
        });
        // A busy machine may wake just before one that is due.
        assert!((1..=2).contains(&at_once), "{at_once}");
    }
}
