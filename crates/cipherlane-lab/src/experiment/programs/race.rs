//! Programs in turn, in an order that is new in each round.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use cipherlane_record::{Axis, Value};

use super::recipe::Program;
use crate::experiment::setting::{Row, Setting, beside, known, median, value};
use crate::observer::Observer;
use crate::random::Random;
use crate::statistics;

/// Clock ticks in a second of `/proc`: `USER_HZ`, 100 on every architecture that Linux runs this program on.
const TICKS: f64 = 100.0;

/// A program in a race.
#[derive(Debug)]
pub(in crate::experiment) struct Entry<'a> {
    /// What runs.
    pub(in crate::experiment) program: &'a Program,
    /// Its work.
    pub(in crate::experiment) arguments: Vec<String>,
    /// Its place on the experiment's axes.
    pub(in crate::experiment) axes: BTreeMap<String, Axis>,
    /// What the study found for the like, and on what.
    pub(in crate::experiment) published: Vec<Figure>,
    /// The place of the entry that does the same without what this one does more.
    pub(in crate::experiment) without: Option<usize>,
    /// The same program on one thread, where this one has more.
    pub(in crate::experiment) single: Option<Single>,
}

/// A figure of a study, and on what it was found.
pub(in crate::experiment) type Figure = (f64, &'static str);

/// A program on one thread.
#[derive(Debug)]
pub(in crate::experiment) struct Single {
    /// The median of its times.
    pub(in crate::experiment) seconds: f64,
    /// How many times as fast the study's programs are on as many threads as the entry has.
    pub(in crate::experiment) published: Vec<Figure>,
}

impl Single {
    /// How many times as fast `seconds` are.
    fn gain(&self, seconds: f64, study: &str) -> Value {
        beside(value("gain", "1", self.seconds / seconds), study, &self.published)
    }
}

/// How a race is run, and the study that had the like.
#[derive(Debug)]
pub(in crate::experiment) struct Race {
    /// Times that each program runs, after one that is not counted.
    pub(in crate::experiment) rounds: usize,
    /// Seconds after which no round is begun, once there are three.
    pub(in crate::experiment) seconds: f64,
    /// The study's unit, and how many of it are a second.
    pub(in crate::experiment) unit: (&'static str, f64),
    /// The study's number and row.
    pub(in crate::experiment) study: &'static str,
    /// The study's best time, also where the like of it is not here: its times are in percent of that.
    pub(in crate::experiment) best_published: Option<f64>,
    /// What the study found that the extra work of an entry costs in percent, and on what.
    pub(in crate::experiment) cost_published: Option<(f64, &'static str)>,
    /// What differs from the study.
    pub(in crate::experiment) notes: Vec<String>,
}

/// One program's runs.
#[derive(Clone, Debug, Default)]
struct Runs {
    inside: Vec<f64>,
    process: Vec<f64>,
    cpu: Vec<f64>,
    checksums: Vec<String>,
    failure: Option<String>,
}

impl Runs {
    /// Whether all of its checksums are the one that was `expected`.
    fn is_right(&self, expected: &str) -> bool {
        self.checksums.iter().all(|checksum| checksum == expected)
    }

    /// The median of its seconds, NaN where it failed, or did something else than the others: nothing is to be set beside
    /// that.
    fn median(&self, expected: &str) -> f64 {
        if self.failure.is_some() || self.inside.is_empty() || !self.is_right(expected) {
            return f64::NAN;
        }
        statistics::median(&self.inside)
    }
}

impl Race {
    /// Runs all `entries`, and hands out a row of each. A race that was stopped has no rows.
    /// What comes back are the medians of their seconds: none of a race that was stopped, and NaN of what failed or was wrong.
    ///
    /// # Errors
    /// If a row cannot be kept.
    pub(in crate::experiment) fn run(
        &self,
        setting: &Setting<'_>,
        entries: &[Entry<'_>],
        observer: &mut dyn Observer,
    ) -> io::Result<Vec<f64>> {
        let mark = setting.sampler.mark();
        let Some(runs) = self.rounds(setting, entries) else { return Ok(Vec::new()) };
        let mut timeline = Some(setting.sampler.since(mark));
        let expected = most_frequent(&runs);
        let medians: Vec<f64> = runs.iter().map(|runs| runs.median(&expected)).collect();
        let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
        for (place, (entry, runs)) in entries.iter().zip(&runs).enumerate() {
            if let Some(failure) = &runs.failure {
                setting.skip(observer, setting.cpu, None, format!("{}: {failure}", entry.program.made_by));
                continue;
            }
            let mut row = self.row(setting, entry, runs, best);
            row.values.extend(entry.without.map(|other| self.cost(medians[place], medians[other])));
            row.values.extend(entry.single.as_ref().map(|single| single.gain(medians[place], self.study)));
            row.verified = Some(runs.is_right(&expected));
            // All programs ran in turn: what the sensors said belongs to all, and stands once.
            row.timeline = timeline.take();
            observer.observed(&setting.observation(setting.cpu, row))?;
        }
        Ok(medians)
    }

    /// The study's times in percent of the best of them.
    fn normalised(&self, published: &[Figure]) -> Vec<Figure> {
        let of_best = |&(figure, on): &Figure| Some((100.0 * self.best_published? / figure, on));
        published.iter().filter_map(of_best).collect()
    }

    /// What a program takes more than another, in percent of that.
    fn cost(&self, seconds: f64, other: f64) -> Value {
        let cost = 100.0 * (seconds / other - 1.0);
        let cost = if cost.is_nan() { Err("the other program failed".to_owned()) } else { Ok(cost) };
        let figures: Vec<(f64, &str)> = self.cost_published.into_iter().collect();
        beside(known("cost", "%", cost), self.study, &figures)
    }

    /// Every program once to warm up, then in rounds; `None` if stopped.
    fn rounds(&self, setting: &Setting<'_>, entries: &[Entry<'_>]) -> Option<Vec<Runs>> {
        let mut runs = vec![Runs::default(); entries.len()];
        let mut random = Random::new(setting.seed);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        let end = Instant::now() + Duration::from_secs_f64(self.seconds);
        for round in 0..=self.rounds.max(1) {
            if round > 3 && Instant::now() > end {
                break;
            }
            random.shuffle(&mut order);
            for &place in &order {
                if setting.stopped() {
                    return None;
                }
                if runs[place].failure.is_none() {
                    runs[place].take(&entries[place], round > 0);
                }
            }
        }
        Some(runs)
    }

    fn row(&self, setting: &Setting<'_>, entry: &Entry<'_>, runs: &Runs, best: f64) -> Row {
        let (unit, factor) = self.unit;
        let scaled = |seconds: &[f64]| seconds.iter().map(|second| second * factor).collect::<Vec<_>>();
        let samples = scaled(&runs.inside);
        let time = beside(median("time", unit, &samples, setting.seed), self.study, &entry.published);
        let normalised = value("normalised", "%", 100.0 * best / statistics::median(&runs.inside));
        let normalised = beside(normalised, self.study, &self.normalised(&entry.published));
        let cpu = if runs.cpu.len() == runs.process.len() {
            Ok(statistics::median(&scaled(&runs.cpu)))
        } else {
            Err("the CPU time of other programs is read from /proc/self/stat, which is not here".to_owned())
        };
        let process = median("whole process", unit, &scaled(&runs.process), setting.seed);
        let notes = std::iter::once(entry.program.made_by.clone()).chain(self.notes.iter().cloned());
        Row {
            axes: entry.axes.clone(),
            values: vec![time, normalised, process, known("CPU time", unit, cpu)],
            samples,
            notes: notes.collect(),
            ..Row::default()
        }
    }
}

impl Runs {
    /// Runs the program once; its time counts if it is `timed`.
    fn take(&mut self, entry: &Entry<'_>, timed: bool) {
        let (start, cpu) = (Instant::now(), children_cpu_seconds());
        let output = entry.program.command(&entry.arguments).output();
        let process = start.elapsed().as_secs_f64();
        let cpu = children_cpu_seconds().zip(cpu).map(|(after, before)| after - before);
        let found = match output {
            Ok(output) if output.status.success() => read(&String::from_utf8_lossy(&output.stdout)),
            Ok(output) => {
                Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
            }
            Err(error) => Err(format!("it does not start: {error}")),
        };
        match found {
            Ok((checksum, inside)) => {
                self.checksums.push(checksum);
                if timed {
                    self.inside.push(inside);
                    self.process.push(process);
                    self.cpu.extend(cpu);
                }
            }
            Err(failure) => self.failure = Some(failure),
        }
    }
}

/// The checksum and the seconds that a program printed.
fn read(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("it printed `{}` in place of a checksum and seconds", text.trim());
    let (checksum, seconds) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let seconds: f64 = seconds.parse().map_err(|_| wrong())?;
    if seconds > 0.0 { Ok((checksum.to_owned(), seconds)) } else { Err(wrong()) }
}

/// What most programs found.
fn most_frequent(runs: &[Runs]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for checksum in runs.iter().filter_map(|runs| runs.checksums.first()) {
        *counts.entry(checksum).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map_or_else(String::new, |(checksum, _)| checksum.to_owned())
}

/// CPU time of all programs that this one started and waited for: fields `cutime` and `cstime` of `/proc/self/stat`
/// (proc(5)), in ticks. `None` where there is no such file.
fn children_cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in brackets, which may hold blanks; the third follows the last bracket.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::super::{RUSTC, Recipe, Workshop};
    use super::*;

    #[test]
    fn times_of_the_study_are_held_against_its_own_best() {
        let race = Race {
            rounds: 1,
            seconds: 1.0,
            unit: ("s", 1.0),
            study: "000.2",
            best_published: Some(24.0),
            cost_published: None,
            notes: Vec::new(),
        };
        assert_eq!(race.normalised(&[(25.0, "g++"), (24.0, "MSVC")]), [(96.0, "g++"), (100.0, "MSVC")]);
        assert!(Race { best_published: None, ..race }.normalised(&[(25.0, "g++")]).is_empty());
    }

    #[test]
    fn a_gain_is_over_one_thread_and_beside_the_study_s() {
        let gain = Single { seconds: 8.0, published: vec![(7.0, "g++")] }.gain(2.0, "000.2");
        assert_eq!((gain.value, gain.published[0].value), (Some(4.0), 7.0));
    }

    #[test]
    fn a_program_prints_a_checksum_and_seconds() {
        assert_eq!(read("4711 0.25\n"), Ok(("4711".to_owned(), 0.25)));
        for text in ["", "4711", "4711 x", "4711 0", "4711 -1", "4711 NaN"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_most_programs_found_is_expected() {
        let runs = |checksum: &str| Runs { checksums: vec![checksum.to_owned()], ..Runs::default() };
        assert_eq!(most_frequent(&[runs("2"), runs("1"), runs("2")]), "2");
        assert_eq!(most_frequent(&[Runs::default()]), "");
    }

    /// With the compiler that built this test.
    /// Who fails, or finds something else than the others, sets no pace.
    #[test]
    fn what_failed_or_was_wrong_has_no_median() {
        let right = Runs { inside: vec![2.0, 4.0, 3.0], checksums: vec!["1".to_owned()], ..Runs::default() };
        assert!((right.median("1") - 3.0).abs() < 1e-12);
        assert!(right.median("2").is_nan());
        assert!(Runs { failure: Some("killed".to_owned()), ..right }.median("1").is_nan());
        assert!(Runs::default().median("1").is_nan());
    }

    #[test]
    fn a_program_is_built_and_run_and_its_failure_is_told() {
        let recipe = Recipe {
            name: "Rust",
            build: "debug",
            tools: &[&RUSTC],
            files: &[("matrix.rs", include_str!("../../../programs/matrix/matrix.rs"))],
            compile: "{tool} --edition 2021 matrix.rs -o program",
            run: "{folder}/program",
        };
        let broken = Recipe { compile: "{tool} absent.rs", ..recipe.clone() };
        let workshop = Workshop::open(&[broken, recipe]).unwrap();
        assert!(workshop.missing()[0].starts_with("Rust debug: rustc fails"), "{:?}", workshop.missing());
        let (place, _, program) = workshop.ready().next().unwrap();
        assert_eq!(place, 1);
        let run = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
            let entry = Entry {
                program,
                arguments,
                axes: BTreeMap::new(),
                published: Vec::new(),
                without: None,
                single: None,
            };
            let mut runs = Runs::default();
            runs.take(&entry, true);
            runs
        };
        let (one, three) = (run(&["40", "1"]), run(&["40", "3"]));
        assert_eq!((one.inside.len(), one.failure), (1, None));
        assert_eq!(one.checksums, three.checksums, "threads change no result");
        assert!(run(&[]).failure.is_some());
    }
}
