//! Two sets of records beside each other: is the new one faster than the base?
//!
//! Rows of one kind ([`Row`]) meet, those that are most alike first, and each row that a file has several times. Their
//! ratio is that of median times per byte, with a 95 % interval by bootstrap of the raw samples: round by round where both
//! rows were timed in turn in one run, so that what slowed a round down slows both; each side by itself elsewhere. Rows
//! whose numbers cover different things are not compared unless asked for, and then say so.

mod kind;
mod partner;

use cipherlane_record::{Interval, Measurement, Scope, Verdict};
use serde::Serialize;

pub use kind::Row;

use crate::statistics::{self, FEWEST_ROUNDS, Ratio};

/// Two sets of records, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Rows with partners, in the order of the base.
    pub compared: Vec<Compared>,
    /// Geometric mean of the ratios of our own devices' rows; none without any.
    pub geometric_mean: Option<f64>,
    /// The same of other libraries' rows, which tells what the machine and the builds of the libraries did.
    pub rivals_geometric_mean: Option<f64>,
    /// Rows that have partners with which they cannot be compared.
    pub refused: Vec<Refused>,
    /// Rows of the base without partner.
    pub only_base: Vec<Alone>,
    /// Rows of the new records without partner.
    pub only_new: Vec<Alone>,
}

/// A row of the new records beside that of the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What both are rows of.
    pub row: Row,
    /// The base's median rate.
    pub base_bytes_per_second: f64,
    /// The new one.
    pub new_bytes_per_second: f64,
    /// How many times as fast as the base the new one is.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ratio_ci95: Interval,
    /// What the interval says of the new one.
    pub verdict: Verdict,
    /// Whether rounds of one run were compared.
    pub paired: bool,
    /// Rounds that were compared, or samples of the side that has fewer.
    pub samples: usize,
    /// What differs beside the code: the scope, where that was allowed; messages of a pass; the machine.
    pub differs: Vec<String>,
}

impl Compared {
    /// The 95 % interval of the ratio, if rounds or samples enough are behind it.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        (self.samples >= FEWEST_ROUNDS).then_some(self.ratio_ci95)
    }

    /// Why it is ambiguous whatever its ratio, where it has too few rounds, or samples, for a verdict.
    #[must_use]
    pub fn too_few(&self) -> Option<String> {
        let (samples, what) = (self.samples, if self.paired { "rounds" } else { "samples" });
        let is_short = self.verdict == Verdict::Ambiguous && samples < FEWEST_ROUNDS;
        is_short.then(|| format!("{samples} {what}, {FEWEST_ROUNDS} are needed"))
    }
}

/// A row that cannot be compared with its partner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refused {
    /// What both are rows of.
    pub row: Row,
    /// Why.
    pub reason: String,
    /// Whether it is that outputs of the new row are wrong.
    pub new_is_wrong: bool,
}

/// A row without partner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// What it is a row of.
    #[serde(flatten)]
    pub row: Row,
    /// How many of its outputs are wrong, if some are: that takes no partner to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// How to compare.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Compare rows whose scopes differ as well.
    pub across_scopes: bool,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Compares `new` with `base`.
#[must_use]
pub fn compare(base: &[Measurement], new: &[Measurement], options: &Options) -> Comparison {
    let partners = partner::find(base, new);
    let mut compared = Vec::new();
    let mut refused = Vec::new();
    for (row, base, new) in partners.pairs {
        match refuse(base, new, options) {
            Some(reason) => refused.push(Refused { row, reason, new_is_wrong: !new.verified }),
            None => compared.push(pair(row, base, new, options)),
        }
    }
    let mean_of = |rivals: bool| {
        let rows = compared.iter().filter(|row| row.row.is_of_a_rival() == rivals);
        statistics::geometric_mean(&rows.map(|row| row.ratio).collect::<Vec<_>>())
    };
    Comparison {
        geometric_mean: mean_of(false),
        rivals_geometric_mean: mean_of(true),
        compared,
        refused,
        only_base: partners.only_base,
        only_new: partners.only_new,
    }
}

/// Why these two cannot be compared; `None` if they can.
fn refuse(base: &Measurement, new: &Measurement, options: &Options) -> Option<String> {
    let sides = [("base", base), ("new", new)];
    for (name, row) in sides {
        if !row.verified {
            let (wrong, all) = (row.checks.unexpected, row.checks.messages);
            return Some(format!("{wrong} of {all} outputs of the {name} row are wrong"));
        }
        let seconds = seconds(row);
        if seconds.is_empty() {
            return Some(format!("the {name} row has no samples"));
        }
        // A ratio of such times would be none, and no verdict.
        if !seconds.iter().all(|time| time.is_finite() && *time > 0.0) {
            return Some(format!(
                "the {name} row has samples that took no time, or less, which no code does"
            ));
        }
    }
    let differs = scopes_differ(&base.scope, &new.scope);
    (!differs.is_empty() && !options.across_scopes)
        .then(|| format!("the scopes differ: {}", differs.join(", ")))
}

fn pair(row: Row, base: &Measurement, new: &Measurement, options: &Options) -> Compared {
    let (ours, theirs) = (seconds(new), seconds(base));
    let paired = timed_in_turn(base, new);
    let Ratio { median, interval, verdict } = if paired {
        statistics::speed_ratio(&ours, &theirs, options.seed)
    } else {
        statistics::speed_ratio_apart(&ours, &theirs, options.seed)
    };
    Compared {
        row,
        base_bytes_per_second: base.bytes_per_second,
        new_bytes_per_second: new.bytes_per_second,
        ratio: median,
        ratio_ci95: interval,
        verdict,
        paired,
        samples: ours.len().min(theirs.len()),
        differs: differences(base, new),
    }
}

/// Seconds per byte of every sample that counts; per message where messages are empty.
#[allow(clippy::cast_precision_loss)] // below 2^53
fn seconds(row: &Measurement) -> Vec<f64> {
    let amount = if row.bytes > 0 { row.bytes } else { row.messages } as f64;
    row.samples
        .iter()
        .filter(|sample| !sample.superseded)
        .map(|sample| sample.wall_seconds / amount)
        .collect()
}

/// Whether both rows are of one point of one run: they were written together and have the same rounds.
fn timed_in_turn(base: &Measurement, new: &Measurement) -> bool {
    let rounds = |row: &Measurement| {
        let samples = row.samples.iter().filter(|sample| !sample.superseded);
        samples.map(|sample| sample.round).collect::<Vec<_>>()
    };
    base.host == new.host
        && base.argv == new.argv
        && base.seed == new.seed
        && base.unix_seconds.abs_diff(new.unix_seconds) <= 1
        && rounds(base) == rounds(new)
}

/// What a number covers, without the code path, which is what is compared.
const fn parts(scope: &Scope) -> [(&'static str, &'static str); 4] {
    [
        ("key set-up", scope.key_setup.name()),
        ("tag", scope.tag.name()),
        ("transfer", scope.transfer.name()),
        ("cache", scope.cache.name()),
    ]
}

/// What the two numbers do not both cover.
fn scopes_differ(base: &Scope, new: &Scope) -> Vec<String> {
    let both = parts(base).into_iter().zip(parts(new));
    both.filter(|(base, new)| base != new)
        .map(|((name, base), (_, new))| format!("{name} {base} and {new}"))
        .collect()
}

fn differences(base: &Measurement, new: &Measurement) -> Vec<String> {
    // Older records have no signature, and it is no difference that one is not known.
    let signed = [base, new].iter().all(|row| row.host.cpu_signature.is_some());
    let cpu = |row: &Measurement| {
        let model = row.host.cpu_model.as_deref().unwrap_or("unknown");
        match &row.host.cpu_signature {
            Some(signature) if signed => format!("{model} ({signature})"),
            _ => model.to_owned(),
        }
    };
    let mut differs = scopes_differ(&base.scope, &new.scope);
    for (name, base, new) in [
        ("messages", base.messages.to_string(), new.messages.to_string()),
        ("device", base.device_name.clone(), new.device_name.clone()),
        ("CPU", cpu(base), cpu(new)),
        ("kernel", base.kernel.clone(), new.kernel.clone()),
    ] {
        if base != new {
            differs.push(format!("{name} {base} and {new}"));
        }
    }
    differs
}

impl Comparison {
    /// How many rows have too few rounds, or samples, for a verdict.
    #[must_use]
    pub fn too_few(&self) -> usize {
        self.compared.iter().filter(|row| row.too_few().is_some()).count()
    }

    /// Rows that are slower by more than `percent`: the whole interval lies below.
    pub fn slower(&self, percent: f64) -> impl Iterator<Item = &Compared> {
        let limit = 1.0 - percent / 100.0;
        self.compared.iter().filter(move |row| row.verdict == Verdict::Slower && row.ratio_ci95.high < limit)
    }

    /// How many rows have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.compared.iter().filter(|row| row.verdict == verdict).count()
    }
}
