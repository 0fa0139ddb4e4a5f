//! `report`: records as a page with pictures, as Markdown and as CSV.

pub(crate) mod browser;
pub(crate) mod questions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cipherlane_record::Record;
use cipherlane_report::Report;

use super::shared;
use crate::exit::{Exit, Usage};
use crate::render::sink::{self, Sink};
use crate::render::{self, complain, units};

const EXAMPLES: &str = "\
Examples:
  cipherlane report bench.jsonl                       writes bench.html beside it
  cipherlane report bench.jsonl --open                the same, and shows it in the browser
  cipherlane report mine.jsonl theirs.jsonl -o both.html
  cipherlane report records/*/*.jsonl -o all.html --md all.md --csv all.csv";

/// Options of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Files of records, of one machine or many, as `bench --json` and `lab run --json` write them
    #[arg(value_name = "RECORDS", required = true, value_parser = sink::file_to_read())]
    records: Vec<PathBuf>,
    /// The page [default: the first file of records with the ending .html, unless --md or --csv is given; no default
    /// beside a pipe]
    #[arg(long, short, value_name = "FILE", help_heading = "Results (- is stdout)")]
    output: Option<Sink>,
    /// The same as Markdown, with tables in place of pictures
    // No variables: CIPHERLANE_MD and CIPHERLANE_CSV name files of timed rows, which these would replace.
    #[arg(long, value_name = "FILE", help_heading = "Results (- is stdout)")]
    md: Option<Sink>,
    /// The same as comma-separated values, a line for each quantity
    #[arg(long, value_name = "FILE", help_heading = "Results (- is stdout)")]
    csv: Option<Sink>,
    /// Show the page in the browser
    #[arg(long)]
    open: bool,
}

/// Reads the records and writes what was asked for.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let page = options.page()?;
    let page_option = if options.output.is_some() { "--output" } else { "the page (--output)" };
    let taken = sink::takes_stdout([
        (page_option, page.as_ref()),
        ("--md", options.md.as_ref()),
        ("--csv", options.csv.as_ref()),
    ])?;
    let records = read(&options.records)?;
    if records.is_empty() {
        let files: Vec<String> = options.records.iter().map(|path| path.display().to_string()).collect();
        complain("error", &format!("no record in {}", files.join(", ")));
        return Ok(Exit::NothingToRun);
    }
    let questions = questions::all();
    let report = Report::new(&records, &questions);
    if let Some(sink) = &options.md {
        sink.fill_with_text(&report.markdown())?;
    }
    if let Some(sink) = &options.csv {
        sink.fill_with_text(&report.csv())?;
    }
    if let Some(sink) = &page {
        sink.fill_with_text(&report.html()?)?;
    }
    if let Some(Sink::File(path)) = &page {
        tell(path, records.len(), taken)?;
        if options.open {
            browser::show(path);
        }
    }
    Ok(Exit::Success)
}

impl Options {
    /// Where the page goes, if one is wanted.
    ///
    /// # Errors
    /// If it is to be shown and goes to stdout, or if it is to stand beside what is no file.
    fn page(&self) -> Result<Option<Sink>, Usage> {
        match &self.output {
            Some(Sink::Stdout) if self.open => {
                Err(Usage("--open shows a file; give --output the path of one".to_owned()))
            }
            Some(sink) => Ok(Some(sink.clone())),
            None if !self.open && (self.md.is_some() || self.csv.is_some()) => Ok(None),
            None => self.records.first().map(|first| page_of(first)).transpose(),
        }
    }
}

/// Where the page of these records goes unless that is said.
///
/// # Errors
/// If they come from a pipe, or from a file by way of a name that the system gives it, as /dev/stdin is: nobody looks for a
/// page there.
fn page_of(records: &Path) -> Result<Sink, Usage> {
    let is_no_file = records.exists() && !records.is_file() && !records.is_dir();
    let folder = records.parent().and_then(|folder| folder.canonicalize().ok());
    let is_system = |folder: &Path| folder == Path::new("/dev") || folder.starts_with("/proc");
    if is_no_file || folder.as_deref().is_some_and(is_system) {
        let name = records.display();
        return Err(Usage(format!(
            "{name} is no file with a folder for the page; name the page by --output"
        )));
    }
    Ok(Sink::File(beside(records)))
}

/// Writes the page of the file of records beside it, and shows it in the browser: what `bench --open` does.
pub(crate) fn show_beside(records: &Path, stdout_taken: bool) -> Result<()> {
    let path = beside(records);
    let records = read(&[records.to_owned()])?;
    let page = Report::new(&records, &questions::all()).html()?;
    Sink::File(path.clone()).fill_with_text(&page)?;
    tell(&path, records.len(), stdout_taken)?;
    browser::show(&path);
    Ok(())
}

/// The page's place where none was given.
pub(crate) fn beside(records: &Path) -> PathBuf {
    records.with_extension("html")
}

/// The records of these files, of each of them once, however often and by whatever path it is named.
fn read(paths: &[PathBuf]) -> Result<Vec<Record>> {
    let (mut records, mut known) = (Vec::new(), BTreeSet::new());
    for path in paths {
        // What is not there is an error below.
        if path.canonicalize().is_ok_and(|file| file.is_file() && !known.insert(file)) {
            continue;
        }
        records.extend(shared::records(path)?);
    }
    Ok(records)
}

fn tell(page: &Path, records: usize, stdout_taken: bool) -> Result<()> {
    let text = format!("report: {} (records: {})\n", page.display(), units::count(records));
    if stdout_taken {
        render::print_aside(&text);
        Ok(())
    } else {
        render::print(&text)
    }
}
