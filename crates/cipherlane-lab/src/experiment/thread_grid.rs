//! Throughput of kernels by numbers of threads: what scaling, efficiency and its losses are read from.

use std::time::{Duration, Instant};

use cipherlane::Wish;
use cipherlane_record::Value;

use super::setting::{Setting, beside, known, median, too_few, value};
use super::steady::{Prepared, Steady, Work};
use crate::measure::clock;
use crate::random::Random;
use crate::scaling::Gain;
use crate::statistics;

/// A sample lasts as long as passes begin in this time.
const SAMPLE: Duration = Duration::from_millis(10);
/// Before the first sample of a visit: clocks rise, caches fill, wide vector units wake.
const WARM_UP: Duration = Duration::from_millis(20);

/// More logical CPUs than this are not all counted through.
pub(super) const MOST_COUNTED: usize = 32;

/// Numbers of threads from 1 to `logical`, evenly thinned where these are many, and `logical` itself.
pub(super) fn up_to(logical: usize) -> Vec<usize> {
    let step = logical.div_ceil(MOST_COUNTED).max(1);
    let mut counts: Vec<usize> = (1..=logical).step_by(step).collect();
    counts.push(logical);
    counts.dedup();
    counts
}

/// What is swept.
#[derive(Debug)]
pub(super) struct ThreadGrid<'a> {
    /// The work, its number of messages left open.
    pub(super) work: Work,
    /// Bytes of text for each thread, or, where threads are more than the logical CPUs, for each of those.
    pub(super) bytes_per_thread: usize,
    /// What is wished for, in each row of cells.
    pub(super) kernels: &'a [Wish],
    /// Numbers of threads.
    pub(super) threads: &'a [usize],
    /// Visits to each cell, in an order that is new each time.
    pub(super) visits: usize,
    /// Seconds of a visit.
    pub(super) seconds: f64,
}

/// One kernel on one number of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Its place among the kernels.
    pub(super) kernel: usize,
    /// Threads.
    pub(super) threads: usize,
    /// The kernel's full name.
    pub(super) path: String,
    /// Bytes per second of each sample, visit by visit. Within a visit the batch lies in one place, and the machine does
    /// one and the same beside it: its samples are alike, and what visits differ by tells how sure a figure is.
    visits: Vec<Vec<f64>>,
    /// The core's clock behind each sample.
    clocks: Vec<f64>,
    no_clock: Option<String>,
    verified: bool,
    failure: Option<String>,
}

impl ThreadGrid<'_> {
    /// All cells, kernel by kernel; `None` if it was stopped. The CPU runs them.
    pub(super) fn run(&self, setting: &Setting<'_>) -> Option<Vec<Cell>> {
        let kernels = 0..self.kernels.len();
        let of = |kernel| {
            self.threads.iter().map(move |&threads| Cell {
                kernel,
                threads,
                verified: true,
                ..Cell::default()
            })
        };
        let mut cells: Vec<Cell> = kernels.flat_map(of).collect();
        let mut random = Random::new(setting.seed);
        let mut counts = self.threads.to_vec();
        for _ in 0..self.visits.max(1) {
            random.shuffle(&mut counts);
            for &threads in &counts {
                let batch = self.batch(setting, threads);
                let mut places: Vec<usize> =
                    (0..cells.len()).filter(|&place| cells[place].threads == threads).collect();
                random.shuffle(&mut places);
                for place in places {
                    if setting.stopped() {
                        return None;
                    }
                    let wish = &self.kernels[cells[place].kernel];
                    let visited =
                        batch.clone().and_then(|batch| self.visit(setting, &batch, wish, &mut cells[place]));
                    if let Err(reason) = visited {
                        cells[place].failure = Some(reason);
                    }
                }
            }
        }
        Some(cells)
    }

    /// About how long it takes.
    pub(super) fn time(&self) -> Duration {
        let cells = self.kernels.len() * self.threads.len() * self.visits.max(1);
        Duration::from_secs_f64(self.seconds + WARM_UP.as_secs_f64())
            * u32::try_from(cells).unwrap_or(u32::MAX)
    }

    /// The batch for `threads` threads, which all kernels share.
    fn batch(&self, setting: &Setting<'_>, threads: usize) -> Result<Prepared, String> {
        // More than memory holds is refused with the batch.
        let bytes = self.bytes_per_thread.saturating_mul(threads.min(setting.host.logical_cores));
        let messages = Some((bytes / self.work.message_bytes.max(1)).max(1));
        Work { messages, ..self.work }.batch(setting, threads)
    }

    fn visit(
        &self,
        setting: &Setting<'_>,
        batch: &Prepared,
        wish: &Wish,
        cell: &mut Cell,
    ) -> Result<(), String> {
        let wish = Wish { threads: Some(cell.threads), ..wish.clone() };
        let mut steady = batch.open(setting.cpu, &wish)?;
        cell.path.clone_from(&steady.plan().kernel);
        rate(&mut steady, WARM_UP)?;
        let end = Instant::now() + Duration::from_secs_f64(self.seconds);
        let mut rates = Vec::new();
        loop {
            rates.push(rate(&mut steady, SAMPLE)?);
            match clock::behind_work() {
                Ok(hertz) => cell.clocks.push(hertz),
                Err(reason) => cell.no_clock = Some(reason),
            }
            if Instant::now() >= end || setting.stopped() {
                break;
            }
        }
        steady.checked()?;
        cell.verified &= steady.verified();
        cell.visits.push(rates);
        Ok(())
    }
}

/// Bytes per second of the passes that begin within `time`.
fn rate(steady: &mut Steady, time: Duration) -> Result<f64, String> {
    let start = Instant::now();
    let mut passes = 0.0;
    loop {
        steady.once()?;
        passes += 1.0;
        let passed = start.elapsed();
        if passed >= time {
            return Ok(passes * steady.bytes() as f64 / passed.as_secs_f64());
        }
    }
}

impl Cell {
    /// What it failed of.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether every output that was looked at was right.
    pub(super) const fn verified(&self) -> bool {
        self.verified
    }

    /// Its samples, in `unit` bytes per second.
    pub(super) fn samples(&self, unit: f64) -> Vec<f64> {
        self.visits.iter().flatten().map(|rate| rate / unit).collect()
    }

    /// The median of each visit, in `unit` bytes per second.
    fn medians(&self, unit: f64) -> Vec<f64> {
        self.visits.iter().map(|rates| statistics::median(rates) / unit).collect()
    }

    /// Median of the visits' medians in bytes per second; `None` if it failed in the first of them.
    pub(super) fn rate(&self) -> Option<f64> {
        (!self.visits.is_empty()).then(|| statistics::median(&self.medians(1.0)))
    }

    /// Why it has figures alone, without intervals and verdicts; `None` if there are visits enough for these.
    pub(super) fn too_few(&self) -> Option<String> {
        too_few(self.visits.len())
    }

    /// How many times as fast it is as `other`; visits stand for themselves, whatever the number of their samples.
    pub(super) fn against(&self, other: &Self, seed: u64) -> Option<statistics::Ratio> {
        let per_byte = |cell: &Self| cell.medians(1.0).iter().map(|rate| 1.0 / rate).collect::<Vec<_>>();
        (self.rate().is_some() && other.rate().is_some())
            .then(|| statistics::speed_ratio_apart(&per_byte(self), &per_byte(other), seed))
    }

    /// Its gain over `single`, one thread of the same kernel.
    pub(super) fn gain(&self, single: &Self) -> Option<Gain> {
        Some(Gain { threads: self.threads, gain: self.rate()? / single.rate()? })
    }

    /// Its losses beside `single`.
    pub(super) fn losses(&self, single: &Self) -> Option<Losses> {
        let efficiency = self.gain(single)?.gain / self.threads as f64;
        let clock = self.clock().and_then(|clock| Ok(clock / single.clock()?));
        Some(Losses { efficiency, clock })
    }

    /// The core's clock at work.
    pub(super) fn clock(&self) -> Result<f64, String> {
        match &self.no_clock {
            Some(reason) => Err(reason.clone()),
            None if self.clocks.is_empty() => Err("no sample was taken".to_owned()),
            None => Ok(statistics::median(&self.clocks)),
        }
    }

    /// Its rate in `unit` beside `figures` of a study, its gain over `single`, and where the rest went.
    pub(super) fn values(
        &self,
        single: Option<&Self>,
        (name, unit): (&str, f64),
        study: &str,
        figures: &[(f64, &str)],
        seed: u64,
    ) -> Vec<Value> {
        let rate = median("throughput", name, &self.medians(unit), seed);
        let mut values = vec![beside(rate, study, figures)];
        if let Some(single) = single {
            values.extend(self.gain(single).map(|gain| value("gain", "1", gain.gain)));
            values.extend(self.losses(single).iter().flat_map(Losses::values));
        }
        values.push(known("core clock", "GHz", self.clock().map(|hertz| hertz * 1e-9)));
        values
    }

    /// What a reader should know of its values beside `single`.
    pub(super) fn notes(&self, single: Option<&Self>) -> Vec<String> {
        let gains = if single.is_some() { LOSSES } else { NO_GAINS };
        let intervals = self.too_few().unwrap_or_else(|| {
            format!("the interval is over {} visits, by the median of each", self.visits.len())
        });
        vec![gains.to_owned(), intervals]
    }
}

/// What becomes of a thread's rate when others work beside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Losses {
    /// A thread's rate by that of one alone.
    pub(super) efficiency: f64,
    /// The core's clock by that under one thread alone.
    clock: Result<f64, String>,
}

impl Losses {
    /// Percents: the efficiency is the product of what the clock leaves and what sharing leaves.
    fn values(&self) -> [Value; 3] {
        let lost = |left: f64| 100.0 * (1.0 - left);
        let clock = self.clock.clone();
        let sharing = self.clock.clone().map(|clock| lost(self.efficiency / clock));
        [
            value("efficiency", "%", 100.0 * self.efficiency),
            known("lost to the clock", "%", clock.map(lost)),
            known("lost to sharing", "%", sharing),
        ]
    }
}

/// What the losses mean, for notes.
const LOSSES: &str = "efficiency: a thread's rate by that of one thread alone, which is the product of what the \
                                 clock leaves (chains of additions behind each sample) and of what sharing leaves \
                                 (cores, caches, memory and the hand-over of work)";

/// Why there are none.
const NO_GAINS: &str = "no gains and no losses: one thread of this kernel was not measured beside it (counts without a 1, \
                        or it failed)";

/// One thread of the same kernel, where it has a rate.
pub(super) fn single_of<'a>(cells: &'a [Cell], cell: &Cell) -> Option<&'a Cell> {
    let is_single = |other: &&Cell| other.kernel == cell.kernel && other.threads == 1;
    cells.iter().find(is_single).filter(|single| single.rate().is_some())
}

/// Cores, each counted once; the logical CPUs where the system does not tell them apart.
pub(super) fn cores(setting: &Setting<'_>) -> usize {
    let logical = setting.host.logical_cores;
    setting.host.physical_cores.unwrap_or(logical).clamp(1, logical)
}

/// A wish for the tier of this name, or for nothing.
pub(super) fn at(tier: &str) -> Wish {
    Wish { tier: Some(tier.to_owned()), ..Wish::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::FEWEST_ROUNDS;
    use cipherlane_record::Verdict;

    fn cell(threads: usize, rate: f64, clock: f64) -> Cell {
        let visits = vec![vec![rate; 8]; FEWEST_ROUNDS];
        Cell { threads, visits, clocks: vec![clock; 8], verified: true, ..Cell::default() }
    }

    /// `visits` visits at 10 units, each of which is off by up to a tenth, and its eight samples by a thousandth more.
    fn visited(visits: usize, seed: u64) -> Cell {
        let mut random = Random::new(seed);
        let mut around =
            |center: f64, part: f64| center * (1.0 + part * (random.below(2_000_001) as f64 / 1e6 - 1.0));
        let visit = |_| {
            let center = around(10.0, 0.1);
            (0..8).map(|_| around(center, 0.001)).collect()
        };
        Cell { visits: (0..visits).map(visit).collect(), ..cell(1, 10.0, 4e9) }
    }

    #[test]
    fn many_cpus_are_thinned_and_the_last_is_kept() {
        assert_eq!(up_to(1), [1]);
        assert_eq!(up_to(4), [1, 2, 3, 4]);
        let many = up_to(192);
        assert!(many.len() <= MOST_COUNTED + 1 && many.is_sorted(), "{many:?}");
        assert_eq!((many[0], many.last()), (1, Some(&192)));
    }

    /// Two cells that are alike differ by what their visits do. Were samples taken as independent, an interval would hold
    /// the true ratio once in three times.
    #[test]
    fn an_interval_of_a_cell_against_its_like_covers_one() {
        let ratio = |seed| visited(8, 2 * seed).against(&visited(8, 2 * seed + 1), seed).unwrap();
        let ratios: Vec<_> = (0..80).map(ratio).collect();
        let covered = ratios.iter().filter(|ratio| ratio.interval.low <= 1.0 && 1.0 <= ratio.interval.high);
        assert!((72..=80).contains(&covered.count()), "{ratios:?}");
    }

    #[test]
    fn few_visits_have_figures_without_intervals_and_verdicts() {
        let (few, enough) = (visited(FEWEST_ROUNDS - 1, 1), visited(FEWEST_ROUNDS, 1));
        let interval = |cell: &Cell| cell.values(None, ("MB/s", 1.0), "", &[], 1)[0].ci95;
        assert!(few.rate().is_some() && interval(&few).is_none() && interval(&enough).is_some());
        let told = |cell: &Cell| cell.notes(None).concat();
        assert!(told(&few).contains("take 6 or more") && told(&enough).contains("over 6 visits"));
        let slow = Cell { visits: vec![vec![5.0; 100]; FEWEST_ROUNDS - 1], ..few.clone() };
        assert_eq!(few.against(&slow, 1).unwrap().verdict, Verdict::Ambiguous);
        let slow = Cell { visits: vec![vec![5.0; 100]; FEWEST_ROUNDS], ..few };
        assert_eq!(enough.against(&slow, 1).unwrap().verdict, Verdict::Faster);
    }

    #[test]
    fn without_one_thread_there_are_no_gains_and_a_note() {
        let cells = [cell(2, 15.0, 3.6e9), cell(4, 20.0, 3e9)];
        let single = single_of(&cells, &cells[1]);
        let names: Vec<String> =
            cells[1].values(single, ("MB/s", 1.0), "", &[], 1).into_iter().map(|value| value.name).collect();
        assert_eq!(names, ["throughput", "core clock"]);
        assert!(cells[1].notes(single)[0].contains("counts without a 1"));
        let failed = [Cell { threads: 1, ..Cell::default() }, cells[1].clone()];
        assert!(single_of(&failed, &failed[1]).is_none());
    }

    #[test]
    fn losses_multiply_to_what_is_left() {
        let (single, both) = (cell(1, 10.0, 4e9), cell(2, 15.0, 3.6e9));
        let losses = both.losses(&single).unwrap();
        assert_eq!(losses.efficiency, 0.75);
        let [efficiency, clock, sharing] = losses.values().map(|value| value.value.unwrap());
        assert!((clock - 10.0).abs() < 1e-9);
        assert!((efficiency / 100.0 - (1.0 - clock / 100.0) * (1.0 - sharing / 100.0)).abs() < 1e-12);
    }

    #[test]
    fn without_a_clock_the_split_is_missing_with_its_reason() {
        let mut both = cell(2, 15.0, 3.6e9);
        both.no_clock = Some("no chain".to_owned());
        let values = both.losses(&cell(1, 10.0, 4e9)).unwrap().values();
        assert_eq!(values[0].value, Some(75.0));
        assert!(values[1..].iter().all(|value| value.value.is_none() && value.reason.is_some()));
    }

    #[test]
    fn a_cell_without_samples_has_no_rate() {
        let empty = Cell { threads: 2, ..Cell::default() };
        assert_eq!(empty.rate(), None);
        assert_eq!(empty.gain(&cell(1, 1.0, 1.0)), None);
        assert!(empty.clock().is_err());
    }
}
