//! What another GPU would do, by its sizes, and how far that is from what it does (study 004).

mod card;
mod point;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Operation, Spans, Wish};
use cipherlane_record::Axis;
use serde::Deserialize;

use super::streams;
use crate::experiment::setting::{Row, Run, Setting, beside, known, value};
use crate::experiment::steady::{Often, Steady, Work};
use crate::observer::Observer;
use crate::statistics;
use card::Card;
use point::Point;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Projection {
    /// Whether the studies' jobs are run on the GPUs of this machine, or only records are looked at.
    measure: bool,
    /// Runs of each job.
    runs: usize,
    /// Seconds after which a job ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
    /// GPUs of records that are not known here.
    #[serde(default)]
    cards: Vec<Card>,
}

const STUDY: &str = "004.4";
/// What the study expects of a GPU with more cores, and which.
const EXPECTED: [(f64, &str); 2] =
    [(4.0, "a GTX Titan X, expected at the least"), (6.0, "a GTX Titan X, expected at the most")];
const EXPECTED_FROM: &str = "Tesla C2075";
const EXPECTED_TO: &str = "GTX Titan X";

/// Rows are about GPUs that need not be here.
const SUBJECT: &str = "card";

/// A throughput that is scaled to another GPU.
struct Pair<'a> {
    from: &'a Point,
    from_card: &'a Card,
    to_card: &'a Card,
    /// What that GPU does, where it is known.
    to: Option<&'a Point>,
}

impl Pair<'_> {
    /// How many times as fast it should be, and what that was scaled by.
    fn speed_up(&self) -> Result<(f64, String), String> {
        let (computes, by) = self.to_card.computes_by(self.from_card);
        let kernels = self.from.kernels.ok_or("the record does not tell kernels from copies")?;
        if kernels >= 1.0 {
            return Ok((computes, by.to_owned()));
        }
        let moves = self.to_card.moves_by(self.from_card).ok_or("the link of one of them is not known")?;
        Ok((
            1.0 / (kernels / computes + (1.0 - kernels) / moves),
            format!("{by} for kernels, link for copies"),
        ))
    }

    fn axes(&self) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("job".to_owned(), Axis::Name(self.from.job.clone())),
            ("from".to_owned(), Axis::Name(self.from_card.name.clone())),
            ("to".to_owned(), Axis::Name(self.to_card.name.clone())),
        ])
    }

    fn row(&self) -> Result<Row, String> {
        let (times, by) = self.speed_up()?;
        let predicted = times * self.from.gigabits;
        let none = || format!("no record of {} on {}; hand its records in", self.from.job, self.to_card.name);
        let measured = self.to.map(|point| point.gigabits).ok_or_else(none);
        let error = measured.clone().map(|measured| 100.0 * (predicted / measured - 1.0));
        let is_the_study_s = self.from_card.name == EXPECTED_FROM && self.to_card.name == EXPECTED_TO;
        let expected: &[(f64, &str)] = if is_the_study_s { &EXPECTED } else { &[] };
        let to = self.to.map_or_else(String::new, |point| format!(", held against {}", point.source));
        Ok(Row {
            values: vec![
                value("predicted", "Gbit/s", predicted),
                known("measured", "Gbit/s", measured),
                known("error", "%", error),
                value("from", "Gbit/s", self.from.gigabits),
                beside(value("speed-up", "1", times), STUDY, expected),
            ],
            notes: vec![format!("from {}{to}: by {by}", self.from.source)],
            ..Row::default()
        })
    }
}

/// A job that studies and this machine have in common.
struct Job {
    name: String,
    work: Work,
    wish: Wish,
    /// Whether kernels alone are timed, with their texts on the GPU.
    kernels_alone: bool,
}

fn jobs() -> Vec<Job> {
    let algorithm = |name: &str| name.parse::<Algorithm>();
    let mut jobs = Vec::new();
    if let (Ok(cbc), Ok(ecb), Ok(gcm)) =
        (algorithm("aes-128-cbc"), algorithm("aes-128-ecb"), algorithm("aes-128-gcm"))
    {
        for (operation, count) in [(Operation::Encrypt, 1), (Operation::Encrypt, 4), (Operation::Decrypt, 4)]
        {
            let work = streams::keyed(cbc, operation, 16_384, 4096);
            let wish = streams::wish(4096, 16_384, count);
            let name = point::cbc(operation.name(), count);
            jobs.push(Job { name, work, wish, kernels_alone: false });
        }
        for (name, work) in [
            (point::ECB, Work::forward(ecb, 16_384, Some(8192))),
            (point::GCM, streams::keyed(gcm, Operation::Seal, 128, 1 << 20)),
        ] {
            jobs.push(Job { name: name.to_owned(), work, wish: Wish::default(), kernels_alone: true });
        }
    }
    jobs
}

impl Projection {
    /// What the GPUs of this machine do.
    fn here(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> Vec<(Card, Vec<Point>)> {
        let mut here = Vec::new();
        for device in setting.gpus(observer, "GPUs are scaled to GPUs") {
            let card = match Card::of(device) {
                Ok(card) => card,
                Err(reason) => {
                    setting.skip(observer, device, None, reason);
                    continue;
                }
            };
            let mut points = Vec::new();
            for job in jobs() {
                if setting.stopped() {
                    break;
                }
                match self.point(setting, device, &job) {
                    Ok(point) => points.push(point),
                    Err(reason) => setting.skip(observer, device, Some(job.work.algorithm), reason),
                }
            }
            here.push((card, points));
        }
        here
    }

    fn point(&self, setting: &Setting<'_>, device: &dyn Device, job: &Job) -> Result<Point, String> {
        let Job { name, work, wish, kernels_alone: alone } = job;
        let batch = work.batch(setting, 1)?;
        let mut steady: Steady =
            if *alone { batch.resident(device, wish)? } else { batch.open(device, wish)? };
        let most = Duration::from_secs_f64(self.seconds);
        let spans = steady.repeat(setting, Often { runs: self.runs, dropped: 3, most })?;
        if !steady.verified() {
            return Err(format!("{name}: outputs are wrong"));
        }
        let seconds = |time: fn(&Spans) -> Duration| {
            statistics::median(&spans.iter().map(|spans| time(spans).as_secs_f64()).collect::<Vec<_>>())
        };
        let execute = seconds(|spans| spans.execute);
        let copies = seconds(|spans| spans.load) + seconds(|spans| spans.store);
        let wall = if *alone { execute } else { seconds(|spans| spans.wall) };
        Ok(Point {
            card: device.info().name.clone(),
            job: name.clone(),
            gigabits: 8e-9 * steady.bytes() as f64 / wall,
            kernels: Some(if *alone { 1.0 } else { execute / (execute + copies) }),
            source: "this run".to_owned(),
        })
    }
}

/// Every pair of throughputs of one job whose cards are known, the earlier scaled to the later; and what the study scales
/// to a card that nobody measured.
fn pairs<'a>(points: &'a [Point], cards: &'a [Card]) -> Vec<Pair<'a>> {
    let card = |name: &str| cards.iter().find(|card| card.name == name);
    let mut pairs = Vec::new();
    for (place, from) in points.iter().enumerate() {
        let Some(from_card) = card(&from.card) else { continue };
        let others = points[place + 1..].iter().filter(|to| to.job == from.job && to.card != from.card);
        for to in others {
            pairs.extend(card(&to.card).map(|to_card| Pair { from, from_card, to_card, to: Some(to) }));
        }
        let is_measured = points.iter().any(|point| point.card == EXPECTED_TO && point.job == from.job);
        if from.card == EXPECTED_FROM && !is_measured {
            pairs.extend(card(EXPECTED_TO).map(|to_card| Pair { from, from_card, to_card, to: None }));
        }
    }
    pairs
}

impl Run for Projection {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let gpus = setting.devices.iter().filter(|device| self.measure && !setting.is_cpu(**device));
        let measured = gpus.flat_map(|device| {
            jobs().into_iter().map(move |job| (format!("{} on {}", job.name, device.info().id), time))
        });
        let what = format!(
            "scales throughputs of the studies and of {} records from GPU to GPU",
            setting.records.len()
        );
        measured.chain([(what, Duration::ZERO)]).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let here = if self.measure { self.here(setting, observer) } else { Vec::new() };
        let mut points = point::published();
        points.extend(point::recorded(setting.records));
        let mut cards: Vec<Card> = here.iter().map(|(card, _)| card.clone()).collect();
        // What this machine says of its GPUs comes before what is known of them, and what it does after all else.
        points.retain(|point| cards.iter().all(|card| card.name != point.card));
        points.extend(here.into_iter().flat_map(|(_, points)| points));
        cards.extend(self.cards.iter().cloned().chain(Card::known()));
        let cards: Vec<Card> = cards.into_iter().map(|card| card.with_records(setting.records)).collect();
        for pair in pairs(&points, &cards) {
            let axes = pair.axes();
            let name = &pair.to_card.name;
            if setting.stopped() || setting.done.observed(setting.experiment, (setting.host, SUBJECT), &axes)
            {
                continue;
            }
            match pair.row() {
                Ok(row) => {
                    let row = Row { axes, ..row };
                    observer.observed(&setting.observation_of(setting.host, (SUBJECT, name), row))?;
                }
                Err(reason) => {
                    let reason =
                        format!("{} from {} to {name}: {reason}", pair.from.job, pair.from_card.name);
                    setting.skip(observer, setting.cpu, None, reason);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_record::Value;

    use super::*;

    fn found(rows: &[Value], name: &str) -> Option<f64> {
        rows.iter().find(|value| value.name == name)?.value
    }

    #[test]
    fn the_study_s_figures_are_scaled_to_each_other() {
        let (points, cards) = (point::published(), Card::known());
        let pairs = pairs(&points, &cards);
        let row = |from: &str, to: &str| {
            let is_it = |pair: &&Pair<'_>| (&*pair.from_card.name, &*pair.to_card.name) == (from, to);
            pairs.iter().find(is_it).unwrap().row().unwrap().values
        };
        // 2.25 times the cores of the 3050, but 4.65 times its throughput.
        let laptops = row("RTX 3050 (laptop)", "RTX 4070 (laptop)");
        assert!((found(&laptops, "predicted").unwrap() - 8e-3 * 903.0 * 2.25).abs() < 1e-9);
        assert!((found(&laptops, "error").unwrap() - 100.0 * (903.0 * 2.25 / 4200.0 - 1.0)).abs() < 1e-9);
        let titan = row(EXPECTED_FROM, EXPECTED_TO);
        assert_eq!(found(&titan, "measured"), None);
        let times = found(&titan, "speed-up").unwrap();
        // 15 % of the time is on the link, which is twice as fast.
        assert!((3.0..6.0).contains(&times), "{times}");
    }
}
