//! What experiments ask.

use std::collections::BTreeMap;

use cipherlane_lab::Experiment;

/// The standard workloads have one question each; together they ask this.
const BENCH: (&str, &str) = (
    "bench",
    "How fast is this machine at what people use ciphers for, beside the best libraries there are?",
);

/// Runs of the dashboard are everyone's own.
const DASHBOARD: (&str, &str) = ("dashboard", "What did the runs on the dashboard's page measure?");

/// The questions of the experiments that come along, by name.
pub(crate) fn all() -> BTreeMap<String, String> {
    let experiments = Experiment::all().into_iter().map(|one| (one.name, one.question));
    let others = [BENCH, DASHBOARD].map(|(name, question)| (name.to_owned(), question.to_owned()));
    experiments.chain(others).collect()
}
