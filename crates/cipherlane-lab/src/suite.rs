//! What to measure, as data.

use std::collections::BTreeSet;

use cipherlane::{Algorithm, UnknownName};
use cipherlane_record::Host;

use crate::bench::Wanted;
use crate::workload::{Choice, Custom, Named, Request, named};

/// Points to measure, in order.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Name of the experiment, as records keep it.
    pub experiment: String,
    /// The points.
    pub points: Vec<Point>,
}

/// One workload at one number of threads, run by all contenders in turn.
#[derive(Clone, Debug)]
pub struct Point {
    /// What to run.
    pub choice: Choice,
    /// Threads.
    pub threads: usize,
    /// Bytes of input and output together, where the workload's size is free; `None` for what the caches of `threads`
    /// cores hold, or overflows them where data shall be cold.
    pub working_set_bytes: Option<usize>,
}

impl Point {
    /// The working set that its messages fill where their number is free: its own, or what fits the caches of `host`.
    #[must_use]
    pub fn working_set(&self, cache: Wanted, host: &Host) -> usize {
        self.working_set_bytes.unwrap_or_else(|| Request::working_set(cache, host, self.threads))
    }
}

impl Suite {
    /// Of the points that differ from `point` in threads alone, the first that has most: there devices run of which blocks do
    /// the work. For them the number changes nothing, and beside them are to be as many threads of others as there are.
    #[must_use]
    pub fn with_most_threads<'a>(&'a self, point: &'a Point) -> &'a Point {
        let alike = self.points.iter().rev().filter(|other| other.choice == point.choice);
        alike.max_by_key(|other| other.threads).unwrap_or(point)
    }

    /// The algorithms of its points.
    #[must_use]
    pub fn algorithms(&self) -> BTreeSet<Algorithm> {
        self.points.iter().flat_map(|point| point.choice.job().algorithms()).collect()
    }

    /// Every workload with every job that it has, at each number of `threads`.
    #[must_use]
    pub fn standard(threads: &[usize]) -> Self {
        Self::of_workloads(&Named::ALL, threads)
    }

    /// The suite of a quick look: the first job of each workload, at the first number of `threads`.
    #[must_use]
    pub fn quick(threads: &[usize]) -> Self {
        let choices = Named::ALL.iter().filter_map(|workload| workload.choices().next());
        Self::of_choices(choices, &threads[..threads.len().min(1)])
    }

    /// The workloads of these names with every job that they have, at each number of `threads`. One that is named twice is
    /// there once.
    ///
    /// # Errors
    /// The first name that no workload has, with the names that there are.
    pub fn of(names: &[impl AsRef<str>], threads: &[usize]) -> Result<Self, UnknownName> {
        let mut workloads: Vec<&Named> = Vec::new();
        for name in names {
            let workload = named(name.as_ref())?;
            if !workloads.contains(&workload) {
                workloads.push(workload);
            }
        }
        Ok(Self::of_workloads(&workloads, threads))
    }

    /// One's own workload, at each number of `threads`.
    #[must_use]
    pub fn custom(custom: &Custom, threads: &[usize]) -> Self {
        let point =
            |&threads| Point { choice: Choice::Custom(custom.clone()), threads, working_set_bytes: None };
        Self { experiment: "bench".to_owned(), points: threads.iter().map(point).collect() }
    }

    fn of_workloads(workloads: &[&'static Named], threads: &[usize]) -> Self {
        Self::of_choices(workloads.iter().flat_map(|workload| workload.choices()), threads)
    }

    fn of_choices(choices: impl Iterator<Item = Choice>, threads: &[usize]) -> Self {
        let point = |choice: &Choice, &threads: &usize| Point {
            choice: choice.clone(),
            threads,
            working_set_bytes: None,
        };
        let points = choices.flat_map(|choice| threads.iter().map(move |threads| point(&choice, threads)));
        Self { experiment: "bench".to_owned(), points: points.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_that_is_named_twice_is_measured_once() {
        let names = |suite: &Suite| {
            let mut names: Vec<_> =
                suite.points.iter().map(|point| point.choice.name().into_owned()).collect();
            names.dedup();
            names
        };
        let suite = Suite::of(&["tls-16k", "meter-128", "tls-16k"], &[1]).unwrap();
        assert_eq!(names(&suite), ["tls-16k", "meter-128"]);
    }
}
