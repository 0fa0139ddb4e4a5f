//! One job on matrices by several compilers, on more and more threads.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane_record::Axis;
use serde::Deserialize;

use crate::experiment::programs::{CLANG, Entry, Figure, GCC, RUSTC, Race, Recipe, Single, Tool, Workshop};
use crate::experiment::setting::{Run, Setting};
use crate::experiment::thread_grid::up_to;
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Compilers {
    /// Rows and columns of the matrices.
    size: usize,
    /// Threads of the study.
    threads: Vec<usize>,
    /// Whether the numbers of threads from one to the logical CPUs are run as well, thinned where these are many.
    up_to_all: bool,
    /// Runs of each program at each number of threads.
    rounds: usize,
    /// Seconds for each number of threads, after which no round is begun.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

const STUDY: &str = "000.2";
const STUDY_OPTIMISED: &str = "the study's CPU and program, g++ 13.2 -Ofast, Debian 12";
const STUDY_MSVC: &str = "the study's CPU and program, MSVC, release, optimised, Windows";
const STUDY_PLAIN: &str = "the study's CPU and program, g++ 13.2 not optimised, Debian 12";
/// Seconds of `g++ -Ofast` by threads, and those of MSVC, beside which no program of ours runs: it needs POSIX threads.
const PUBLISHED: [(usize, f64, f64); 4] =
    [(1, 176.0, 215.0), (10, 25.0, 24.0), (20, 15.0, 14.0), (30, 15.0, 15.0)];
/// Seconds of g++ without optimisation, on one thread: the only ones.
const PUBLISHED_PLAIN: f64 = 240.0;

const C: &[(&str, &str)] = &[("matrix.c", include_str!("../../../programs/matrix/matrix.c"))];
const RUST: &[(&str, &str)] = &[("matrix.rs", include_str!("../../../programs/matrix/matrix.rs"))];

/// A compiler with its levels and the commands.
type Compiler = (
    &'static str,
    &'static [&'static Tool],
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

const LEVELS_OF_C: &[(&str, &str)] = &[
    ("-O0", "{tool} -pthread -O0 matrix.c -o program"),
    ("-O2", "{tool} -pthread -O2 matrix.c -o program"),
    ("-O3 native", "{tool} -pthread -O3 -march=native matrix.c -o program"),
    // What -Ofast was: clang calls the name deprecated.
    ("-Ofast native", "{tool} -pthread -O3 -ffast-math -march=native matrix.c -o program"),
];
const LEVELS_OF_RUST: &[(&str, &str)] = &[
    ("debug", "{tool} --edition 2021 -g matrix.rs -o program"),
    ("release", "{tool} --edition 2021 -C opt-level=3 matrix.rs -o program"),
    ("release native", "{tool} --edition 2021 -C opt-level=3 -C target-cpu=native matrix.rs -o program"),
];
const COMPILERS: [Compiler; 3] = [
    ("gcc", &[&GCC], C, LEVELS_OF_C),
    ("clang", &[&CLANG], C, LEVELS_OF_C),
    ("rustc", &[&RUSTC], RUST, LEVELS_OF_RUST),
];

fn recipes() -> Vec<Recipe> {
    let of = |&(name, tools, files, levels): &Compiler| {
        levels.iter().map(move |&(build, compile)| Recipe {
            name,
            build,
            tools,
            files,
            compile,
            run: "{folder}/program",
        })
    };
    COMPILERS.iter().flat_map(of).collect()
}

impl Compilers {
    fn axes(recipe: &Recipe, threads: usize) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("compiler".to_owned(), Axis::from(recipe.name)),
            ("level".to_owned(), Axis::from(recipe.build)),
            ("threads".to_owned(), Axis::Number(threads as f64)),
        ])
    }

    /// All numbers of threads, in rising order.
    fn counts(&self, setting: &Setting<'_>) -> Vec<usize> {
        let own = if self.up_to_all { up_to(setting.host.logical_cores) } else { Vec::new() };
        let mut counts: Vec<usize> = self.threads.iter().copied().chain(own).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn race(&self, threads: usize) -> Race {
        let notes = vec![
            format!(
                "two matrices of {0} x {0} doubles are multiplied; the study's program and its amount of work \
                     are not published, so times cannot be compared with the study's, normalised ones can",
                self.size
            ),
            "normalised: the best time at as many threads by this one, the study's by the study's; gain: the time of one \
             thread by this one; -Ofast: -O3 -ffast-math; our program needs POSIX threads, so that MSVC is not run, whose \
             times in the study stand beside gcc's"
                .to_owned(),
        ];
        Race {
            rounds: self.rounds,
            seconds: self.seconds,
            unit: ("s", 1.0),
            study: STUDY,
            best_published: best_published(threads),
            cost_published: None,
            notes,
        }
    }

    /// The program of `recipe` on one thread, where it was `timed` there in this run or before.
    fn single(setting: &Setting<'_>, recipe: &Recipe, threads: usize, timed: Option<f64>) -> Option<Single> {
        if threads == 1 {
            return None;
        }
        let kept = || setting.found(setting.cpu, &Self::axes(recipe, 1))?.value("time");
        let seconds = timed.filter(|seconds| seconds.is_finite()).or_else(kept)?;
        Some(Single { seconds, published: gains(recipe, threads) })
    }
}

/// What the study has for the like.
fn published(recipe: &Recipe, threads: usize) -> Vec<Figure> {
    match (recipe.name, recipe.build) {
        ("gcc", "-Ofast native") => {
            let found = PUBLISHED.iter().filter(|(count, ..)| *count == threads);
            found.flat_map(|(_, gcc, msvc)| [(*gcc, STUDY_OPTIMISED), (*msvc, STUDY_MSVC)]).collect()
        }
        ("gcc", "-O0") if threads == 1 => vec![(PUBLISHED_PLAIN, STUDY_PLAIN)],
        _ => Vec::new(),
    }
}

/// The study's best time on so many threads.
fn best_published(threads: usize) -> Option<f64> {
    let (_, gcc, msvc) = PUBLISHED.iter().find(|(count, ..)| *count == threads)?;
    Some(gcc.min(*msvc))
}

/// How many times as fast the study's like is as on one thread.
fn gains(recipe: &Recipe, threads: usize) -> Vec<Figure> {
    let times = published(recipe, 1).into_iter().zip(published(recipe, threads));
    times.map(|((one, on), (several, _))| (one / several, on)).collect()
}

impl Run for Compilers {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let what = |threads| (format!("{} builds, threads {threads}", recipes().len()), time);
        self.counts(setting).into_iter().map(what).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let workshop = Workshop::open(&recipes())?;
        for reason in workshop.missing() {
            setting.skip(observer, setting.cpu, None, reason);
        }
        // The least number of threads comes first.
        let mut singles: Vec<f64> = Vec::new();
        for threads in self.counts(setting) {
            if setting.stopped() {
                break;
            }
            let ready = || workshop.ready();
            if ready().all(|(_, recipe, _)| setting.is_done(setting.cpu, &Self::axes(recipe, threads))) {
                continue;
            }
            let entries = ready().enumerate().map(|(place, (_, recipe, program))| Entry {
                program,
                arguments: vec![self.size.to_string(), threads.to_string()],
                axes: Self::axes(recipe, threads),
                published: published(recipe, threads),
                without: None,
                single: Self::single(setting, recipe, threads, singles.get(place).copied()),
            });
            let medians = self.race(threads).run(setting, &entries.collect::<Vec<_>>(), observer)?;
            if threads == 1 {
                singles = medians;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(name: &str, build: &str) -> Recipe {
        recipes().into_iter().find(|recipe| (recipe.name, recipe.build) == (name, build)).unwrap()
    }

    #[test]
    fn both_compilers_of_the_study_stand_beside_the_like_of_ours() {
        let optimised = recipe("gcc", "-Ofast native");
        assert_eq!(published(&optimised, 10), [(25.0, STUDY_OPTIMISED), (24.0, STUDY_MSVC)]);
        assert!(published(&optimised, 11).is_empty());
        // MSVC is ahead on 10 and 20 threads, g++ on one.
        let best = [1, 10, 20, 30, 11].map(best_published);
        assert_eq!(best, [Some(176.0), Some(24.0), Some(14.0), Some(15.0), None]);
        assert_eq!(published(&recipe("gcc", "-O0"), 1), [(240.0, STUDY_PLAIN)]);
        assert!(published(&recipe("clang", "-Ofast native"), 1).is_empty());
    }

    #[test]
    fn gains_of_the_study_are_over_its_one_thread() {
        let optimised = gains(&recipe("gcc", "-Ofast native"), 10);
        assert_eq!(optimised, [(176.0 / 25.0, STUDY_OPTIMISED), (215.0 / 24.0, STUDY_MSVC)]);
        // It has no second figure without optimisation.
        assert!(gains(&recipe("gcc", "-O0"), 10).is_empty());
    }
}
