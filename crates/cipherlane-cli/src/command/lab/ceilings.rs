//! The tables of `cpu-ceilings`.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use cipherlane_lab::Ceilings;
use cipherlane_lab::ceiling::Level;
use comfy_table::Table;

use crate::command::measure::{self, How};
use crate::exit::Exit;
use crate::render::table::{self, Column};
use crate::render::units;

/// Measures, shows and writes.
pub(super) fn run(how: &How) -> Result<Exit> {
    let ceilings = Ceilings::measure().map_err(|reason| anyhow!("NOT MEASURED: {reason}"))?;
    if let Some(sink) = &how.json {
        let mut file = sink.open_for_results()?;
        serde_json::to_writer(&mut file, &ceilings)?;
        writeln!(file)?;
    }
    if let Some(sink) = &how.csv {
        write!(sink.open_for_results()?, "{}", separated(&ceilings, ",", ""))?;
    }
    if let Some(sink) = &how.md {
        write!(sink.open_for_results()?, "{}", separated(&ceilings, " | ", "| "))?;
    }
    measure::show(&text(&ceilings), how.takes_stdout()?)?;
    Ok(Exit::Success)
}

fn text(ceilings: &Ceilings) -> String {
    let mut text = String::new();
    let [before, after] = ceilings.clock_hertz;
    let _ = writeln!(text, "{}", instructions(ceilings).trim_fmt());
    let _ = writeln!(text, "\n{}", memory(&ceilings.memory).trim_fmt());
    let _ = writeln!(
        text,
        "per clock and latency: in clocks of the core, which a chain of additions measured at {:.3} GHz before and \
         {:.3} GHz after; GB/s = 1e9 bytes per second, one thread.",
        before / 1e9,
        after / 1e9
    );
    for missing in &ceilings.not_measured {
        let _ = writeln!(text, "NOT MEASURED: {missing}");
    }
    text
}

fn instructions(ceilings: &Ceilings) -> Table {
    let mut table = table::new([
        Column::Words("instruction"),
        Column::Words("does"),
        Column::Number("bits"),
        Column::Number("per clock"),
        Column::Number("G/s"),
        Column::Number("latency"),
    ]);
    for rate in &ceilings.rates {
        table.add_row([
            rate.mnemonic.clone(),
            rate.name.clone(),
            rate.bits.to_string(),
            format!("{:.2}", rate.per_clock),
            format!("{:.2}", rate.per_clock * ceilings.clock_hertz[0] / 1e9),
            format!("{:.1}", rate.latency_clocks),
        ]);
    }
    table
}

fn memory(levels: &[Level]) -> Table {
    let mut table = table::new([
        Column::Words("memory"),
        Column::Number("walked"),
        Column::Number("copy GB/s"),
        Column::Number("read GB/s"),
    ]);
    for level in levels {
        table.add_row([
            level.name.clone(),
            units::bytes(level.bytes),
            units::gigabytes(level.copy_bytes_per_second),
            units::gigabytes(level.read_bytes_per_second),
        ]);
    }
    table
}

/// One line an instruction and a level, with fields apart by `between` and, for Markdown, `edge` at the start.
fn separated(ceilings: &Ceilings, between: &str, edge: &str) -> String {
    let mut lines =
        vec![["kind", "name", "bits_or_bytes", "per_clock_or_copy", "latency_or_read"].join(between)];
    if !edge.is_empty() {
        lines.push(["---"; 5].join(between));
    }
    lines.extend(ceilings.rates.iter().map(|rate| {
        let numbers = [rate.bits.to_string(), rate.per_clock.to_string(), rate.latency_clocks.to_string()];
        [&["instruction".to_owned(), rate.mnemonic.clone()][..], &numbers].concat().join(between)
    }));
    lines.extend(ceilings.memory.iter().map(|level| {
        let rates = [level.copy_bytes_per_second.to_string(), level.read_bytes_per_second.to_string()];
        [&["memory".to_owned(), level.name.clone(), level.bytes.to_string()][..], &rates]
            .concat()
            .join(between)
    }));
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{edge}{line}");
        text
    })
}
