//! Where rows and logs go.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use cipherlane_lab::log;
use cipherlane_lab::workload::Workload;
use cipherlane_lab::workload::part::Results;
use cipherlane_record::{Measurement, Writer};

/// The file of records, and the logs beside it.
pub(crate) struct Keep {
    records: PathBuf,
    writer: Writer<File>,
}

impl Keep {
    /// Opens the file of records, so that a wrong path is known before the first run.
    pub(crate) fn open(records: &Path) -> io::Result<Self> {
        Ok(Self { records: records.to_owned(), writer: Writer::open(records)? })
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, row: &Measurement) -> io::Result<()> {
        self.writer.append(row)
    }

    /// Writes the log of run `id` beside the records: `dashboard.jsonl` has `dashboard-3.log`.
    pub(crate) fn log(
        &self,
        id: u64,
        row: &Measurement,
        workload: &Workload,
        results: &[Results],
    ) -> io::Result<PathBuf> {
        let mut name = self.records.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{id}.log"));
        let path = self.records.with_file_name(name);
        let mut file = BufWriter::new(File::create(&path)?);
        log::write(&mut file, row, workload, results)?;
        file.flush()?;
        Ok(path)
    }
}
