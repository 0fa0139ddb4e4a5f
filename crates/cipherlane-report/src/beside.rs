//! What other records of the same machine say about a row: what its instructions allow, what the CPU beside a GPU does,
//! what is left once data is brought there and back.

use cipherlane_record::{Axis, Cache, Interval, Keys, Observation, Transfer, Value};

use crate::level::{self, Rate, Standing};
use crate::row::Row;

/// An observation with its machine.
pub(crate) type Observed<'a> = (usize, &'a Observation);

/// Whether an observation's results were compared with right ones, and differed: its numbers tell of nothing.
pub(crate) fn is_wrong(row: &Observation) -> bool {
    row.verified == Some(false)
}

/// What the instructions of its kernel allow, in bytes per second, as the experiment `mix` found: of kernels alone, on
/// a CPU of one thread. What was found for messages of this size, keys and operation goes before what was for long ones;
/// for messages with a key each nothing else stands, as keys are most of what they cost. Another build's kernel of the
/// same name may have other instructions: what was found for it is no ceiling.
pub(crate) fn foretold(row: &Row<'_>, observed: &[Observed<'_>]) -> Result<f64, Unforetold> {
    let by = |builds: &dyn Fn(&Observation) -> bool| foretold_by(row, observed, builds);
    by(&|one| one.host.tool == row.host.tool).ok_or_else(|| match by(&|_| true) {
        Some(_) => Unforetold::OtherBuild,
        None => Unforetold::Never,
    })
}

/// Why nothing says what a row's instructions allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unforetold {
    /// Nobody asked.
    Never,
    /// Somebody asked it of another build.
    OtherBuild,
}

#[allow(clippy::cast_precision_loss, clippy::float_cmp)] // sizes, below 2^53
fn foretold_by(
    row: &Row<'_>,
    observed: &[Observed<'_>],
    is_of_build: &dyn Fn(&Observation) -> bool,
) -> Option<f64> {
    let alone = if row.is_offload() { row.scope.transfer == Transfer::Excluded } else { row.threads == 1 };
    let may_be = |one: &Observation, axis: &str, place: &str| match one.axes.get(axis) {
        Some(Axis::Name(name)) => name == place,
        _ => true,
    };
    let mixes = observed.iter().filter(|(machine, one)| {
        alone
            && !is_wrong(one)
            && is_of_build(one)
            && *machine == row.machine
            && one.experiment == "mix"
            && one.subject == row.device
            && one.is_at("algorithm", &row.algorithm)
            && one.is_at("kernel", &row.kernel)
            && (one.is_at("keys", row.keys.name())
                || (row.keys == Keys::Same && !one.axes.contains_key("keys")))
            && may_be(one, "operation", &row.operation)
    });
    let sized = mixes.filter_map(|(_, one)| {
        let fits = one.number("message bytes").map(|bytes| bytes == row.message_bytes as f64);
        let stands = fits.unwrap_or(row.keys == Keys::Same);
        stands.then(|| value(one, "foretold").and_then(rate)).flatten().map(|rate| (fits, rate))
    });
    sized.max_by_key(|(fits, _)| *fits).map(|(_, rate)| rate)
}

/// What a CPU does of the like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OnCpu<'a> {
    /// In bytes per second.
    pub(crate) rate: f64,
    /// In which experiment.
    pub(crate) experiment: &'a str,
    /// Where its data lay, if the record tells.
    pub(crate) cache: Option<Cache>,
}

/// The most that the CPU of the row's machine does of the like: of what lay where the row's data did, if there is any, and
/// of that in the experiment from which the row's library is, if it is there.
pub(crate) fn on_cpu<'a>(row: &Row<'_>, rows: &[Row<'a>], observed: &[Observed<'a>]) -> Option<OnCpu<'a>> {
    let measured = rows.iter().filter(|other| other.device == "cpu" && is_of_like(row, other));
    let measured = measured.map(|other| OnCpu {
        rate: other.bytes_per_second,
        experiment: &other.measured().experiment,
        cache: Some(other.scope.cache),
    });
    let here = observed.iter().filter(|(machine, one)| *machine == row.machine && is_like(row, one));
    let rates = here.flat_map(|(_, one)| {
        let named = one.values.iter().filter(|value| is_of_cpu(one, &value.name));
        named.filter_map(|value| {
            Some(OnCpu {
                rate: rate(value).filter(|rate| *rate > 0.0)?,
                experiment: &one.experiment,
                cache: None,
            })
        })
    });
    let library = best_library(row, rows);
    let alike = preferred(measured.chain(rates).collect(), |one| one.cache == Some(row.scope.cache));
    let alike = preferred(alike, |one| library.is_some_and(|other| other.experiment == one.experiment));
    alike.into_iter().max_by(|one, other| one.rate.total_cmp(&other.rate))
}

/// Those for which it holds, or all where it holds for none.
pub(crate) fn preferred<T>(all: Vec<T>, holds: impl Fn(&T) -> bool) -> Vec<T> {
    if all.iter().any(&holds) { all.into_iter().filter(holds).collect() } else { all }
}

/// Whether a verified row of the same machine that has a throughput is of the row's algorithm, operation and keys, with
/// caches and loads as they were there. Messages that bring their keys must be as long as well.
fn is_of_like(row: &Row<'_>, other: &Row<'_>) -> bool {
    other.verified
        && other.bytes_per_second > 0.0
        && other.machine == row.machine
        && other.is_flushed() == row.is_flushed()
        && (&other.algorithm, &other.operation, other.keys) == (&row.algorithm, &row.operation, row.keys)
        && (row.keys == Keys::Same || other.message_bytes == row.message_bytes)
        && other.load_text() == row.load_text()
}

/// Whether an observation is of the row's algorithm and keys. Messages that bring their keys must be as long as well:
/// expanding a key costs as much as some hundred bytes.
#[allow(clippy::cast_precision_loss)] // sizes, below 2^53
fn is_like(row: &Row<'_>, one: &Observation) -> bool {
    let keys = match one.axes.get("keys") {
        Some(Axis::Name(keys)) => keys == row.keys.name(),
        _ => row.keys == Keys::Same,
    };
    let size = || one.number("message bytes") == Some(row.message_bytes as f64);
    !is_wrong(one) && one.is_at("algorithm", &row.algorithm) && keys && (row.keys == Keys::Same || size())
}

/// Whether a quantity is what the whole CPU does. The mix of instructions is of one thread.
fn is_of_cpu(one: &Observation, quantity: &str) -> bool {
    match one.experiment.as_str() {
        "core-vs-core" => quantity == "CPU",
        _ => one.subject == "cpu" && ["throughput", "mean"].contains(&quantity),
    }
}

/// The library that does most of the like on the row's machine, whatever threads it has: of texts under one key at any
/// size, for who measured it gave it messages to spread over its threads. One whose data lay where the row's did goes before
/// others.
pub(crate) fn best_library<'a>(row: &Row<'_>, rows: &[Row<'a>]) -> Option<Row<'a>> {
    let libraries = rows.iter().filter(|other| other.is_rival() && is_of_like(row, other)).copied();
    let alike = preferred(libraries.collect(), |other: &Row<'_>| other.scope.cache == row.scope.cache);
    alike.into_iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
}

/// How a device compares with a thread of the CPU at the place of a row, as the experiment `offload` timed both.
pub(crate) fn offloaded(row: &Observation) -> Option<Standing> {
    let time = |name: &str| Rate::of_time(row, value(row, name)?);
    Some(time("t_total")?.against(time("t_no_gpu")?))
}

/// The same job on the same device with the way there and back, as little disturbed.
pub(crate) fn brought<'a>(row: &Row<'a>, rows: &[Row<'a>]) -> Option<Row<'a>> {
    let same = |other: &&Row<'a>| {
        other.verified
            && other.scope.transfer == Transfer::Included
            && other.is_flushed() == row.is_flushed()
            && (other.machine, other.job(), other.message_bytes, other.messages)
                == (row.machine, row.job(), row.message_bytes, row.messages)
            && (&other.device, &other.kernel) == (&row.device, &row.kernel)
            && other.load_text() == row.load_text()
    };
    (row.scope.transfer == Transfer::Excluded).then(|| rows.iter().find(same).copied()).flatten()
}

/// A value by its name.
pub(crate) fn value<'a>(row: &'a Observation, name: &str) -> Option<&'a Value> {
    row.values.iter().find(|value| value.name == name)
}

/// A throughput in bytes per second.
pub(crate) fn rate(value: &Value) -> Option<f64> {
    Some(unit(value)? * value.value?)
}

/// That of a row, with its interval.
pub(crate) fn throughput(row: &Observation, value: &Value) -> Option<Rate> {
    let unit = unit(value)?;
    let ends = level::interval(row, value);
    let interval = ends.map(|ends| Interval { low: unit * ends.low, high: unit * ends.high });
    Some(Rate { median: unit * value.value?, interval })
}

/// How many bytes per second the unit of a throughput is.
fn unit(value: &Value) -> Option<f64> {
    match value.unit.as_str() {
        "GB/s" => Some(1e9),
        "MB/s" => Some(1e6),
        "Gbit/s" => Some(1e9 / 8.0),
        "Mbit/s" => Some(1e6 / 8.0),
        _ => None,
    }
}
