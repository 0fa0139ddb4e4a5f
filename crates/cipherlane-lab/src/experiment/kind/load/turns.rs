//! What turns under a pair of loads have seen, beside the turns without.

use cipherlane::Algorithm;
use cipherlane_record::Value;

use super::super::offload::Times;
use super::running::Pair;
use crate::experiment::setting::{beside, median, value};
use crate::statistics;
use crate::telemetry::Mark;

/// How much longer in percent, under CPU loads: t_total of AES above 1 MB at each load, and of Keccak above 32 KB at
/// the most of them (study 002, figures 11 and 12).
const STUDY_CPU: &str = "002.4";
const AES_BY_CPU: [(f64, f64, &str); 3] =
    [(0.2, 4.0, "AES above 1 MB"), (0.4, 12.0, "AES above 1 MB"), (0.6, 22.0, "AES above 1 MB")];
const KECCAK_BY_CPU: [(f64, &str); 1] = [(1.5, "Keccak above 32 KB, at the most")];
const FROM_KECCAK_BY_CPU: usize = 32 << 10;

/// The same under loads of the GPU (figures 13 to 15): t_total of AES-256 at each load, that towards which Keccak goes,
/// and what any work takes more at the most where it is smallest; t_gpu of Keccak, from and to.
const STUDY_GPU: &str = "002.5";
const AES_BY_GPU: [(f64, f64, &str); 3] = [
    (0.25, 25.0, "AES-256"),
    (0.5, 27.0, "AES-256"),
    (0.75, 36.0, "AES-256, which its conclusion calls AES-128"),
];
const KECCAK_BY_GPU: [(f64, &str); 1] = [(2.0, "Keccak, towards the largest data")];
const TINY_BY_GPU: [(f64, &str); 1] = [(2000.0, "the smallest data, at the most")];
const KERNELS_OF_SMALL: [(f64, &str); 2] =
    [(6.0, "Keccak below 8 KB, at the least"), (11.0, "Keccak below 8 KB, at the most")];
const KERNELS_OF_LARGE: [(f64, &str); 2] =
    [(0.0, "Keccak above 8 KB, at the least"), (1.0, "Keccak above 8 KB, at the most")];
/// Below this data is tiny, and from there on Keccak's kernels hardly feel a load.
const TINY: usize = 1 << 10;
const SMALL: usize = 8 << 10;
/// The largest data of the study.
const LARGE: usize = 1 << 20;

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

/// How much longer both times are, of `size` bytes of `algorithm` under `pair`, beside the study's figures if it has
/// some.
pub(super) fn published(
    [total, gpu]: [Value; 2],
    algorithm: Algorithm,
    size: usize,
    pair: Pair,
) -> [Value; 2] {
    let name = algorithm.to_string();
    match pair {
        (load, 0.0) if load > 0.0 => [beside(total, STUDY_CPU, &by_cpu(&name, size, load)), gpu],
        (0.0, load) if load > 0.0 => [
            beside(total, STUDY_GPU, &by_gpu(&name, size, load)),
            beside(gpu, STUDY_GPU, kernels_by_gpu(&name, size)),
        ],
        _ => [total, gpu],
    }
}

type Figures = Vec<(f64, &'static str)>;

/// The figures of `table` that are of this load.
fn of_load(table: &[(f64, f64, &'static str)], load: f64) -> Figures {
    table.iter().filter(|(at, ..)| *at == load).map(|&(_, figure, on)| (figure, on)).collect()
}

fn by_cpu(name: &str, size: usize, load: f64) -> Figures {
    if name.starts_with("aes-") && size >= LARGE {
        of_load(&AES_BY_CPU, load)
    } else if name.starts_with("keccak-") && size >= FROM_KECCAK_BY_CPU {
        KECCAK_BY_CPU.to_vec()
    } else {
        Vec::new()
    }
}

fn by_gpu(name: &str, size: usize, load: f64) -> Figures {
    if size < TINY {
        TINY_BY_GPU.to_vec()
    } else if name.starts_with("aes-256") {
        of_load(&AES_BY_GPU, load)
    } else if name.starts_with("keccak-") && size >= LARGE {
        KECCAK_BY_GPU.to_vec()
    } else {
        Vec::new()
    }
}

fn kernels_by_gpu(name: &str, size: usize) -> &'static [(f64, &'static str)] {
    match (name.starts_with("keccak-"), size < SMALL) {
        (false, _) => &[],
        (true, true) => &KERNELS_OF_SMALL,
        (true, false) => &KERNELS_OF_LARGE,
    }
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
            let longer = || value("longer by", "%", 1.0);
            published([longer(), longer()], name.parse().unwrap(), size, pair)
                .map(|value| value.published.iter().map(|figure| figure.value).collect::<Vec<_>>())
        };
        let (tiny, small, large) = (256, 1024, 1 << 20);
        assert_eq!(of("aes-128-ctr", large, (0.4, 0.0)), [vec![12.0], vec![]]);
        assert_eq!(of("keccak-256", 32 << 10, (0.6, 0.0)), [vec![1.5], vec![]]);
        assert_eq!(of("aes-256-ctr", small, (0.0, 0.75)), [vec![36.0], vec![]]);
        assert_eq!(of("aes-256-ctr", tiny, (0.0, 0.75)), [vec![2000.0], vec![]]);
        assert_eq!(of("keccak-512", small, (0.0, 0.5)), [vec![], vec![6.0, 11.0]]);
        assert_eq!(of("keccak-512", large, (0.0, 0.5)), [vec![2.0], vec![0.0, 1.0]]);
        let none: [Vec<f64>; 2] = [vec![], vec![]];
        for (name, size, pair) in [
            ("aes-128-ctr", small, (0.4, 0.0)),
            ("aes-128-ctr", small, (0.0, 0.5)),
            ("aes-256-ctr", large, (0.4, 0.5)),
            ("aes-256-ctr", large, (0.0, 0.0)),
            ("keccak-256", small, (0.4, 0.0)),
        ] {
            assert_eq!(of(name, size, pair), none, "{name} {size} {pair:?}");
        }
    }
}
