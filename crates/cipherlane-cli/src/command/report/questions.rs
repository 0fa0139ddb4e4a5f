//! What experiments ask.

use std::collections::BTreeMap;

use cipherlane_lab::Experiment;

/// The standard workloads have one question each; together they ask this.
const BENCH: (&str, &str) = (
    "bench",
    "How fast is this machine at what people use ciphers for, beside the best libraries there are?",
);

/// The questions of the experiments that come along, by name.
pub(super) fn all() -> BTreeMap<String, String> {
    let experiments = Experiment::all().into_iter().map(|one| (one.name, one.question));
    let bench = [(BENCH.0.to_owned(), BENCH.1.to_owned())];
    experiments.chain(bench).collect()
}
