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
    /// Opens the file of records, so that a wrong path is known before the first run. A line that an earlier one left
    /// unfinished is ended, so that no row is lost to it.
    pub(crate) fn open(records: &Path) -> io::Result<Self> {
        Ok(Self { records: records.to_owned(), writer: Writer::open(records)? })
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, row: &Measurement) -> io::Result<()> {
        self.writer.append(row)
    }

    /// Writes the log of run `id` beside the records: `dashboard.jsonl` has `dashboard-3.log`, or the next number that is
    /// free. Runs of a dashboard before this one, whose rows are in the same file, have logs there as well.
    pub(crate) fn log(
        &self,
        id: u64,
        row: &Measurement,
        workload: &Workload,
        results: &[Results],
    ) -> io::Result<PathBuf> {
        let (file, path) = self.new_log(id)?;
        let mut file = BufWriter::new(file);
        log::write(&mut file, row, workload, results)?;
        file.flush()?;
        Ok(path)
    }

    fn new_log(&self, mut number: u64) -> io::Result<(File, PathBuf)> {
        loop {
            let mut name = self.records.file_stem().unwrap_or_default().to_owned();
            name.push(format!("-{number}.log"));
            let path = self.records.with_file_name(name);
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => return Ok((created?, path)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_takes_no_row_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("runs.jsonl");
        std::fs::write(&records, "{\"cut").unwrap();
        Keep::open(&records).unwrap();
        assert_eq!(std::fs::read_to_string(&records).unwrap(), "{\"cut\n");
    }

    /// Runs are numbered from 1 in each dashboard, whose rows may go to the same file.
    #[test]
    fn logs_of_an_earlier_dashboard_stay() {
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("runs.jsonl");
        for name in ["runs-1.log", "runs-2.log", "runs-3.log"] {
            let (mut file, path) = Keep::open(&records).unwrap().new_log(1).unwrap();
            file.write_all(name.as_bytes()).unwrap();
            assert_eq!(path, folder.path().join(name));
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("runs-1.log")).unwrap(), "runs-1.log");
    }
}
