//! Rows as comma-separated values (RFC 4180): one header line, one line a row, base units.

use std::io::{self, Write};

use crate::measurement::Measurement;

/// A column: its header, and its value in a row.
type Field = (&'static str, fn(&Measurement) -> String);

/// The columns, in order. Raw samples and the host's details stay in the JSON record.
const FIELDS: &[Field] = &[
    ("experiment", |row| row.experiment.clone()),
    ("workload", |row| row.workload.clone()),
    ("algorithm", |row| row.algorithm.clone()),
    ("operation", |row| row.operation.clone()),
    ("device", |row| row.device.clone()),
    ("device_name", |row| row.device_name.clone()),
    ("kernel", |row| row.kernel.clone()),
    ("tier", |row| row.tier.clone()),
    ("threads", |row| row.threads.to_string()),
    ("message_bytes", |row| row.message_bytes.to_string()),
    ("messages", |row| row.messages.to_string()),
    ("keys", |row| row.keys.name().to_owned()),
    ("bytes_per_second", |row| row.bytes_per_second.to_string()),
    ("bytes_per_second_low", |row| or_empty(row.interval().map(|ends| ends.low))),
    ("bytes_per_second_high", |row| or_empty(row.interval().map(|ends| ends.high))),
    ("messages_per_second", |row| row.messages_per_second.to_string()),
    ("cycles_per_byte", |row| or_empty(row.cycles_per_byte)),
    ("ceiling_bytes_per_second", |row| {
        or_empty(row.ceiling.as_ref().map(|ceiling| ceiling.bytes_per_second))
    }),
    ("ceiling_share", |row| or_empty(row.ceiling.as_ref().map(|ceiling| ceiling.share))),
    ("ceiling_bound", |row| row.ceiling.as_ref().map_or_else(String::new, |ceiling| ceiling.bound.clone())),
    ("verified", |row| row.verified.to_string()),
    ("planned_rejects", |row| row.checks.planned_rejects.to_string()),
    ("unexpected", |row| row.checks.unexpected.to_string()),
    ("samples", |row| row.summary.n.to_string()),
    ("key_setup", |row| row.scope.key_setup.name().to_owned()),
    ("tag", |row| row.scope.tag.name().to_owned()),
    ("transfer", |row| row.scope.transfer.name().to_owned()),
    ("cache", |row| row.scope.cache.name().to_owned()),
    ("best_rival", |row| row.best_rival.as_ref().map_or_else(String::new, |best| best.rival.clone())),
    ("best_rival_bytes_per_second", |row| {
        or_empty(row.best_rival.as_ref().map(|best| best.rival_bytes_per_second))
    }),
    ("ratio", |row| or_empty(row.best_rival.as_ref().map(|best| best.ratio))),
    ("ratio_low", |row| or_empty(row.ratio_interval().map(|ends| ends.low))),
    ("ratio_high", |row| or_empty(row.ratio_interval().map(|ends| ends.high))),
    ("verdict", |row| {
        row.best_rival.as_ref().map_or_else(String::new, |best| best.verdict.name().to_owned())
    }),
    ("warnings", |row| row.warnings.join("; ")),
];

/// Writes the header and all rows. A value that was not measured is an empty field.
///
/// # Errors
/// If the sink fails.
pub fn write(sink: impl Write, rows: &[Measurement]) -> io::Result<()> {
    let headers: Vec<&str> = FIELDS.iter().map(|&(header, _)| header).collect();
    write_table(sink, &headers, rows.iter().map(|row| FIELDS.iter().map(|(_, value)| value(row))))
}

/// Writes `headers` and `lines`, each a value for every header, quoted where they need it.
///
/// # Errors
/// If the sink fails.
pub fn write_table(
    mut sink: impl Write,
    headers: &[&str],
    lines: impl IntoIterator<Item = impl IntoIterator<Item = String>>,
) -> io::Result<()> {
    sink.write_all(line(headers.iter().map(|&header| header.to_owned())).as_bytes())?;
    for values in lines {
        sink.write_all(line(values).as_bytes())?;
    }
    sink.flush()
}

/// A line of these values with its end, quoted where they need it.
#[must_use]
pub fn line(values: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<String> = values.into_iter().map(quote).collect();
    format!("{}\r\n", quoted.join(","))
}

/// RFC 4180 section 2, rules 6 and 7.
fn quote(value: String) -> String {
    if value.contains([',', '"', '\r', '\n']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value }
}

fn or_empty(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_commas_and_quotes_are_quoted() {
        let values = ["plain", "a,b", "say \"x\""].map(str::to_owned);
        assert_eq!(line(values), "plain,\"a,b\",\"say \"\"x\"\"\"\r\n");
    }
}
