//! What turns under a pair of loads have seen, beside the turns without.

use cipherlane::Algorithm;
use cipherlane_record::Value;

use super::super::offload::Times;
use super::running::Pair;
use crate::experiment::setting::{beside, median, value};
use crate::statistics;
use crate::telemetry::Mark;

/// Longer t_total in percent: AES above 1 MB under CPU loads, AES-256 under GPU loads (study 002, figures 11 and 13).
const STUDY_CPU: &str = "002.4";
const PUBLISHED_CPU: [(f64, f64); 3] = [(0.2, 4.0), (0.4, 12.0), (0.6, 22.0)];
const STUDY_GPU: &str = "002.5";
const PUBLISHED_GPU: [(f64, f64); 3] = [(0.25, 25.0), (0.5, 27.0), (0.75, 36.0)];

/// The turns of one pair of loads, in each of which all sizes of an algorithm were timed.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// What was reached in each, in percent.
    pub(super) reached: Vec<Pair>,
    /// When they were.
    pub(super) stretches: Vec<(Mark, Mark)>,
}

impl Turns {
    /// The means of what was reached.
    pub(super) fn values(&self) -> [Value; 2] {
        let mean =
            |of: fn(&Pair) -> f64| self.reached.iter().map(of).sum::<f64>() / self.reached.len() as f64;
        [
            value("cpu load reached", "%", mean(|reached| reached.0)),
            value("device load reached", "%", mean(|reached| reached.1)),
        ]
    }
}

/// Times of one size, turn by turn, in seconds.
#[derive(Debug, Default)]
pub(super) struct Seen(pub(super) Vec<Times>);

impl Seen {
    /// All runs, in microseconds.
    pub(super) fn samples(&self) -> Vec<f64> {
        self.0.iter().flat_map(|times| &times.total).map(|seconds| 1e6 * seconds).collect()
    }

    /// Both times under a load, and how much longer they are than `alone`, without load in the same visits.
    pub(super) fn values(&self, alone: &Self, seed: u64) -> [Value; 4] {
        let (total, gpu) = (self.medians(|times| &times.total), self.medians(|times| &times.gpu));
        let more = |own: &[f64], alone: &[f64]| -> Vec<f64> {
            own.iter().zip(alone).map(|(own, alone)| 100.0 * (own / alone - 1.0)).collect()
        };
        let total_longer = more(&total, &alone.medians(|times| &times.total));
        let gpu_longer = more(&gpu, &alone.medians(|times| &times.gpu));
        [
            median("t_total", "µs", &total, seed),
            median("t_total longer by", "%", &total_longer, seed),
            median("t_gpu", "µs", &gpu, seed),
            median("t_gpu longer by", "%", &gpu_longer, seed),
        ]
    }

    /// The median of each turn, in microseconds.
    fn medians(&self, of: fn(&Times) -> &Vec<f64>) -> Vec<f64> {
        self.0.iter().map(|times| 1e6 * statistics::median(of(times))).collect()
    }
}

/// `longer`, of `size` bytes of `algorithm` under `pair`, beside the study's figure if it has one.
pub(super) fn published(longer: Value, algorithm: Algorithm, size: usize, (cpu, gpu): Pair) -> Value {
    let name = algorithm.to_string();
    let (source, table, load, on) = if gpu == 0.0 && name.starts_with("aes-") && size >= 1 << 20 {
        (STUDY_CPU, PUBLISHED_CPU, cpu, "AES above 1 MB")
    } else if cpu == 0.0 && name.starts_with("aes-256") {
        (STUDY_GPU, PUBLISHED_GPU, gpu, "AES-256")
    } else {
        return longer;
    };
    let figures: Vec<(f64, &str)> =
        table.iter().filter(|(at, _)| *at == load).map(|(_, figure)| (*figure, on)).collect();
    beside(longer, source, &figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::FEWEST_ROUNDS;

    /// Visits, each of which is as much slower as the numbers say, and its times under a load by half more.
    fn seen(slower: &[f64], factor: f64) -> Seen {
        let times =
            |slower: &f64| Times { total: vec![1e-6 * slower * factor; 5], gpu: vec![1e-6 * slower; 5] };
        Seen(slower.iter().map(times).collect())
    }

    #[test]
    fn what_slows_a_whole_visit_is_no_cost_of_the_load() {
        let visits: Vec<f64> = (0..FEWEST_ROUNDS).map(|visit| 1.0 + visit as f64).collect();
        let [total, longer, _, gpu] = seen(&visits, 1.5).values(&seen(&visits, 1.0), 1);
        let around = |value: &Value, expected: f64| (value.value.unwrap() - expected).abs() < 1e-9;
        assert!(around(&longer, 50.0) && around(&gpu, 0.0));
        let width = |value: &Value| value.ci95.map(|interval| interval.high - interval.low).unwrap();
        assert!(width(&longer) < 1e-9 && width(&total) > 1.0);
        let few = seen(&visits[1..], 1.5).values(&seen(&visits[1..], 1.0), 1);
        assert!(few.iter().all(|value| value.value.is_some() && value.ci95.is_none()));
    }

    #[test]
    fn figures_of_the_study_are_those_of_one_load_alone() {
        let of = |name: &str, size, pair| {
            let longer = value("t_total longer by", "%", 1.0);
            let with = published(longer, name.parse().unwrap(), size, pair);
            with.published.iter().map(|figure| figure.value).collect::<Vec<_>>()
        };
        assert_eq!(of("aes-128-ctr", 1 << 20, (0.4, 0.0)), [12.0]);
        assert_eq!(of("aes-256-ctr", 1024, (0.0, 0.75)), [36.0]);
        for (name, size, pair) in [
            ("aes-128-ctr", 1024, (0.4, 0.0)),
            ("aes-256-ctr", 1 << 20, (0.4, 0.5)),
            ("aes-256-ctr", 1 << 20, (0.0, 0.0)),
            ("keccak-256", 1 << 20, (0.4, 0.0)),
        ] {
            assert!(of(name, size, pair).is_empty(), "{name} {size} {pair:?}");
        }
    }
}
