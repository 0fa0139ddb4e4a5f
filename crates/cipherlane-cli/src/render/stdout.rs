//! Standard output, whose reader may leave.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the reader has left.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Standard output. Whoever read it and has seen enough, as `head -1` has, is no reason to fail, nor to keep back what is
/// still to be found out, written to files, or told by the exit code: the rest goes nowhere.
#[derive(Debug)]
pub(crate) struct Stdout(io::Stdout);

/// Standard output.
pub(crate) fn stdout() -> Stdout {
    Stdout(io::stdout())
}

/// Whether somebody read standard output who has left.
pub(crate) fn reader_has_left() -> bool {
    LEFT.load(Ordering::Relaxed)
}

/// What `written` is if nobody need read it: `otherwise` where the reader has left.
fn whoever_reads<T>(written: io::Result<T>, otherwise: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            LEFT.store(true, Ordering::Relaxed);
            Ok(otherwise)
        }
        written => written,
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        whoever_reads(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        whoever_reads(self.0.flush(), ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_leaves_is_no_error_and_a_full_disk_is_one() {
        let full = io::Error::from(ErrorKind::StorageFull);
        assert_eq!(whoever_reads(Err(full), 3).unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(!reader_has_left());
        assert_eq!(whoever_reads(Err(ErrorKind::BrokenPipe.into()), 3).unwrap(), 3);
        assert!(reader_has_left());
    }
}
