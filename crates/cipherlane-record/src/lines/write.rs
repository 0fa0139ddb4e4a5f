//! Rows on their way into a file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::finite;
use crate::measurement::Measurement;
use crate::observation::Observation;

/// Appends rows, one line each, and flushes after each.
#[derive(Debug)]
pub struct Writer<W: Write> {
    sink: Sink<W>,
    /// Whether the last row may have been cut: the next one begins on a line of its own.
    is_cut: bool,
}

/// Where lines go.
#[derive(Debug)]
enum Sink<W> {
    /// There.
    Open(W),
    /// To what is made at this path with the first of them: who writes none leaves nothing.
    Named(PathBuf, fn(&Path) -> io::Result<W>),
}

impl<W> Sink<W> {
    fn open(&mut self) -> io::Result<&mut W> {
        if let Self::Named(path, make) = self {
            *self = Self::Open(make(path)?);
        }
        match self {
            Self::Open(sink) => Ok(sink),
            Self::Named(..) => unreachable!("it was opened"),
        }
    }
}

impl<W: Write> Writer<W> {
    /// Writes to `sink`.
    pub const fn new(sink: W) -> Self {
        Self { sink: Sink::Open(sink), is_cut: false }
    }

    /// Writes one measurement and flushes it.
    ///
    /// # Errors
    /// If the sink fails, or a number of the row is none, which no line can say.
    pub fn append(&mut self, row: &Measurement) -> io::Result<()> {
        self.line(row)
    }

    /// Writes one observation and flushes it.
    ///
    /// # Errors
    /// If the sink fails, or a number of the row is none, which no line can say.
    pub fn observe(&mut self, row: &Observation) -> io::Result<()> {
        self.line(row)
    }

    fn line(&mut self, row: &impl serde::Serialize) -> io::Result<()> {
        finite::check(row)?;
        let mut line = Vec::new();
        if self.is_cut {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, row)?;
        line.push(b'\n');
        // One write, so that no half line is left where the sink is a file and the process dies. A disk that is full leaves
        // one all the same, and may have room again for the next row.
        let sink = self.sink.open()?;
        self.is_cut = true;
        sink.write_all(&line)?;
        sink.flush()?;
        self.is_cut = false;
        Ok(())
    }
}

impl Writer<File> {
    /// Appends to the file at `path`; its last line is ended first. Where there is none, the first row makes it.
    ///
    /// # Errors
    /// If it cannot be opened, read, made or written, which is tried at once.
    pub fn open(path: &Path) -> io::Result<Self> {
        let is_new = path.symlink_metadata().is_err();
        let mut file = appended(path)?;
        if is_new {
            drop(file);
            std::fs::remove_file(path)?;
            return Ok(Self { sink: Sink::Named(path.to_owned(), appended), is_cut: false });
        }
        end_last_line(&mut file)?;
        Ok(Self::new(file))
    }
}

/// The file at `path`, which is made where there is none, to be added to.
fn appended(path: &Path) -> io::Result<File> {
    File::options().create(true).read(true).append(true).open(path)
}

/// Ends the last line of `file`, which is open for reading and appending, unless it is ended: a full disk or a machine that
/// stopped may have cut it.
///
/// # Errors
/// If it cannot be read or written.
pub fn end_last_line(file: &mut File) -> io::Result<()> {
    let mut last = [b'\n'];
    // Pipes and terminals have no length.
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] { Ok(()) } else { file.write_all(b"\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that has room for so many bytes.
    struct Disk {
        written: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let some = bytes.len().min(self.room);
            if some == 0 && !bytes.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= some;
            self.written.extend(&bytes[..some]);
            Ok(some)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_row_that_a_full_disk_cut_takes_no_later_one_with_it() {
        let mut writer = Writer::new(Disk { written: Vec::new(), room: 6 });
        let give_room = |writer: &mut Writer<Disk>, room| writer.sink.open().unwrap().room = room;
        writer.line(&11).unwrap();
        assert!(writer.line(&2222).is_err());
        give_room(&mut writer, 2);
        assert!(writer.line(&3333).is_err(), "it is full again, behind the end of the line and a digit");
        give_room(&mut writer, 100);
        writer.line(&44).unwrap();
        writer.line(&55).unwrap();
        let text = String::from_utf8(writer.sink.open().unwrap().written.clone()).unwrap();
        assert_eq!(text, "11\n222\n3\n44\n55\n");
    }

    #[test]
    fn a_file_of_no_rows_is_not_made_and_a_wrong_path_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let writer = Writer::open(&path).unwrap();
        assert!(!path.exists());
        drop(writer);
        assert!(!path.exists());
        let mut writer = Writer::open(&path).unwrap();
        writer.line(&1).unwrap();
        writer.line(&2).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
        // What is there stays, empty or not.
        let empty = folder.path().join("empty.jsonl");
        std::fs::write(&empty, "").unwrap();
        drop(Writer::open(&empty).unwrap());
        assert!(empty.exists());
        assert!(Writer::open(&folder.path().join("nowhere/rows.jsonl")).is_err());
    }
}
