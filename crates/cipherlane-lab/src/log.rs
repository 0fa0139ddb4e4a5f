//! The log of study 000 (rows 000.8 to 000.10): what was done in all, then message by message what went in, what must
//! come out and what did, in bytes that can be compared with any other implementation.
//!
//! A log shows keys. Those of the laboratory's workloads are generated from a seed or published with test vectors, and
//! the log says so; a file of the user's own is cut into texts, which nobody wants to find in a log: callers refuse
//! it ([`crate::workload::Custom::input`]).

use std::io::{self, Write};

use cipherlane::Operation;
use cipherlane_record::{Geometry, Measurement, date, units};

use crate::totals::Totals;
use crate::workload::part::{Part, Results};
use crate::workload::{Task, Workload};

/// Messages shown at most, at even distances.
const MOST_MESSAGES: usize = 1000;
/// Bytes of a text shown at most: of longer ones the beginning.
const MOST_BYTES: usize = 4096;
/// Bytes of text that all messages together show, about: 1000 messages of 16 KiB would make a log of 150 MB.
const MOST_TEXT: usize = 2 << 20;

/// Writes the log of `row`, which measured `workload`. `results` are what came out of its last pass, one for each task.
///
/// # Errors
/// If `sink` fails.
pub fn write(
    mut sink: impl Write,
    row: &Measurement,
    workload: &Workload,
    results: &[Results],
) -> io::Result<()> {
    head(&mut sink, row, workload)?;
    let all = workload.tasks.iter().map(|task| task.part.len()).sum::<usize>();
    let step = step(workload, all);
    if step > 1 {
        let (shown, all) = (grouped(all.div_ceil(step) as u64), grouped(all as u64));
        writeln!(sink, "Messages shown: {shown} of {all}, one in {step}")?;
    }
    let mut first = 0;
    for (task, results) in workload.tasks.iter().zip(results) {
        let (end, begin) = (first + task.part.len(), first.next_multiple_of(step));
        for sequence in (begin..end).step_by(step) {
            message(&mut sink, task, results, sequence - first, sequence)?;
        }
        first = end;
    }
    Ok(())
}

/// Of how many messages one is shown.
fn step(workload: &Workload, all: usize) -> usize {
    let shown =
        |part: &Part| (0..part.len()).map(|index| part.range(index).len().min(MOST_BYTES)).sum::<usize>();
    let bytes: usize = workload.tasks.iter().map(|task| shown(&task.part)).sum();
    all.div_ceil(MOST_MESSAGES).max(bytes.div_ceil(MOST_TEXT)).max(1)
}

fn head(sink: &mut impl Write, row: &Measurement, workload: &Workload) -> io::Result<()> {
    let totals = Totals::of_row(row).map_err(io::Error::other)?;
    let mut operations: Vec<&str> = workload.tasks.iter().map(|task| task.part.operation.name()).collect();
    operations.sort_unstable();
    operations.dedup();
    let input: usize = workload.tasks.iter().map(|task| task.part.input_bytes()).sum();
    writeln!(sink, "cipherlane: log of {} {} {}", row.workload, row.algorithm, row.operation)?;
    writeln!(
        sink,
        "Keys here protect nothing: they are generated from seed {} or published test vectors.",
        row.seed
    )?;
    writeln!(sink)?;
    writeln!(sink, "Algorithm: {}", row.algorithm)?;
    writeln!(sink, "Operations: {}", operations.join(", "))?;
    writeln!(sink, "Input Vector File Size: {} B, held in memory", grouped(input as u64))?;
    writeln!(
        sink,
        "Executed Platform: {} ({}), {}, {}",
        row.device_name,
        row.device,
        row.kernel,
        width(row.threads as u64, row.geometry.as_ref())
    )?;
    writeln!(sink, "Logging Time: {} UTC", date::ctime(row.unix_seconds))?;
    writeln!(sink, "Total Encryptions: {}", counted(totals.sealed))?;
    writeln!(sink, "Total Decryptions: {}", counted(totals.opened))?;
    writeln!(sink, "Total Decryptions, Planned to Fail: {}", counted(totals.planned_rejects))?;
    for (bits, operations) in &totals.by_key_bits {
        writeln!(sink, "Operations with {bits}-bit Keys: {}", counted(*operations))?;
    }
    writeln!(sink, "Total Volume: {}", prefixed(totals.bytes, "B"))?;
    let (compared, wrong) = (grouped(row.checks.messages), grouped(row.checks.unexpected));
    writeln!(sink, "Compared with the Reference: {compared}, wrong: {wrong}")
}

/// How many threads worked: of a GPU those of a launch, which are not the host's.
fn width(threads: u64, geometry: Option<&Geometry>) -> String {
    let count =
        |count: u64, of: &str| format!("{} {of}{}", grouped(count), if count == 1 { "" } else { "s" });
    match geometry {
        Some(Geometry { blocks, threads_per_block, streams }) => format!(
            "{} of {}, {}",
            count(*blocks, "block"),
            count(*threads_per_block, "thread"),
            count(*streams, "stream")
        ),
        None => count(threads, "thread"),
    }
}

/// One message under its number in the workload.
fn message(
    sink: &mut impl Write,
    task: &Task,
    results: &Results,
    index: usize,
    sequence: usize,
) -> io::Result<()> {
    let (part, expected) = (&task.part, &task.expected);
    let (reference, calculated) = (expected.single(part, index), results.single(part, index));
    writeln!(sink, "\nOperation: {}\nSequence No: {sequence:#010X}", part.operation)?;
    let input = &part.texts[part.range(index)];
    let from_plain = part.operation.is_forward();
    let (before, after) = if from_plain { ("Plain Text", "Encrypted") } else { ("Encrypted", "Plain Text") };
    text(sink, before, input)?;
    if part.algorithm.cipher().is_some() {
        text(sink, "Key", part.keys.column().row(index))?;
        text(sink, "Initial Vector", part.nonces.column().row(index))?;
    }
    if part.algorithm.is_aead() {
        text(sink, "Additional Data", part.aad.column().row(index))?;
    }
    if part.operation != Operation::Hash {
        text(sink, &format!("{after} (Reference)"), &reference.bytes)?;
        text(sink, &format!("{after} (Calculated)"), &calculated.bytes)?;
    }
    match part.operation {
        Operation::Open => {
            text(sink, "Tag", &part.tags[part.tag_range(index)])?;
            writeln!(sink, "Authentication (Reference): {}", verdict(&reference, "fails, as planned"))?;
            writeln!(sink, "Authentication (Calculated): {}", verdict(&calculated, "fails"))
        }
        Operation::Seal | Operation::Hash => {
            let name = if part.operation == Operation::Seal { "Tag" } else { "Digest" };
            text(sink, &format!("{name} (Reference)"), &reference.tags)?;
            text(sink, &format!("{name} (Calculated)"), &calculated.tags)
        }
        Operation::Encrypt | Operation::Decrypt => Ok(()),
    }
}

fn verdict(results: &Results, fails: &'static str) -> &'static str {
    if results.accepted.first() == Some(&true) { "succeeds" } else { fails }
}

/// `Key: 00 1F A0`, and of what is long the beginning.
fn text(sink: &mut impl Write, name: &str, bytes: &[u8]) -> io::Result<()> {
    write!(sink, "{name}:")?;
    for byte in bytes.iter().take(MOST_BYTES) {
        write!(sink, " {byte:02X}")?;
    }
    if bytes.len() > MOST_BYTES {
        write!(sink, " ... ({} B in all)", grouped(bytes.len() as u64))?;
    }
    writeln!(sink)
}

/// A count with its prefix, and exactly: `1.62 G (1'620'113'400)`.
fn counted(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{} ({})", prefixed(number, ""), grouped(number)) }
}

/// Three digits with a decimal prefix of the SI: `87.0 GB`.
#[allow(clippy::cast_precision_loss)] // three digits are wanted
fn prefixed(number: u64, unit: &str) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // What rounds up to a thousand belongs to the next prefix.
    let found = prefixes.into_iter().find(|(factor, _)| number as f64 >= 0.9995 * factor);
    let Some((factor, prefix)) = found else { return format!("{number} {unit}").trim_end().to_owned() };
    let value = number as f64 / factor;
    let places = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.places$} {prefix}{unit}")
}

/// Digits in groups of three, as the study writes them: `6'558'654`.
fn grouped(number: u64) -> String {
    units::grouped(number, '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_study_writes_them() {
        assert_eq!(grouped(6_558_654), "6'558'654");
        assert_eq!(grouped(999), "999");
        assert_eq!(prefixed(87_000_000_000, "B"), "87.0 GB");
        assert_eq!(prefixed(999_600, "B"), "1.00 MB");
        assert_eq!(prefixed(999, "B"), "999 B");
        assert_eq!(counted(1_620_113_400), "1.62 G (1'620'113'400)");
        assert_eq!(counted(0), "0");
    }

    #[test]
    fn a_gpu_has_blocks_of_threads() {
        let geometry = Geometry { blocks: 132, threads_per_block: 768, streams: 1 };
        assert_eq!(width(1, Some(&geometry)), "132 blocks of 768 threads, 1 stream");
        assert_eq!((width(1, None), width(16, None)), ("1 thread".to_owned(), "16 threads".to_owned()));
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let mut sink = Vec::new();
        text(&mut sink, "Key", &[0x00, 0x1f, 0xa0]).unwrap();
        text(&mut sink, "Plain Text", &vec![1; MOST_BYTES + 1]).unwrap();
        let written = String::from_utf8(sink).unwrap();
        assert!(written.starts_with("Key: 00 1F A0\nPlain Text: 01 01"), "{written}");
        assert!(written.ends_with(" 01 ... (4'097 B in all)\n"), "{written}");
    }
}
