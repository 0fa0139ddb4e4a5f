//! Rows that have too few rounds, or samples, for a verdict.

use cipherlane_lab::compare::{Compared, Comparison};
use cipherlane_lab::statistics::FEWEST_ROUNDS;
use cipherlane_record::{Measurement, Verdict};

/// Of each row that was compared, in their order, why it is ambiguous whatever its ratio, if it is.
pub(super) fn reasons(
    comparison: &Comparison,
    base: &[Measurement],
    new: &[Measurement],
) -> Vec<Option<String>> {
    comparison.compared.iter().map(|row| reason(row, base, new)).collect()
}

fn reason(compared: &Compared, base: &[Measurement], new: &[Measurement]) -> Option<String> {
    if compared.verdict != Verdict::Ambiguous {
        return None;
    }
    let base = samples(compared, compared.base_bytes_per_second, base)?;
    let fewest = base.min(samples(compared, compared.new_bytes_per_second, new)?);
    let what = if compared.paired { "rounds" } else { "samples" };
    (fewest < FEWEST_ROUNDS).then(|| format!("{fewest} {what}, {FEWEST_ROUNDS} are needed"))
}

/// How many samples count of that of `rows` which was compared.
fn samples(compared: &Compared, bytes_per_second: f64, rows: &[Measurement]) -> Option<usize> {
    let kind = &compared.row;
    let is_it = |row: &&Measurement| {
        row.bytes_per_second.total_cmp(&bytes_per_second).is_eq()
            && (&row.experiment, &row.workload) == (&kind.experiment, &kind.workload)
            && (&row.algorithm, &row.operation) == (&kind.algorithm, &kind.operation)
            && (&row.device, row.threads) == (&kind.device, kind.threads)
            && (row.message_bytes, row.keys) == (kind.message_bytes, kind.keys)
            && kind.kernel.as_ref().is_none_or(|kernel| *kernel == row.kernel)
    };
    let row = rows.iter().find(is_it)?;
    Some(row.samples.iter().filter(|sample| !sample.superseded).count())
}
