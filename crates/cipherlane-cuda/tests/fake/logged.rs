//! What the program's log says of compiling.

use std::sync::Mutex;

use cipherlane_core::{Algorithm, Batch, Column, Device, Messages, Operation, Output, Shape, Source, Wish};
use log::{LevelFilter, Log, Metadata, Record};

use crate::{is_role, run};

/// All that was logged.
struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        self.0.lock().unwrap().push(format!("{} {}", record.level(), record.args()));
    }

    fn flush(&self) {}
}

/// Encrypts a block in a session of its own. Returns what was logged meanwhile.
fn logged(device: &dyn Device) -> Vec<String> {
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, 16, true);
    let mut session = device.open(&device.plan(&shape, &Wish::default()).unwrap()).unwrap();
    let (key, counter) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
    let messages = Messages { source: Source::Apart(&[5; 16]), offsets: &[0, 16] };
    let batch = Batch::cipher(algorithm, Operation::Encrypt, key, counter, messages);
    session.run(&batch, &mut Output::text(&mut [0; 16])).unwrap();
    std::mem::take(&mut LINES.0.lock().unwrap())
}

/// Not a test of its own: the second session finds what the first has compiled, unless nothing can be kept.
#[test]
fn compile_and_log() {
    if !is_role("logged::compile_and_log") {
        return;
    }
    log::set_logger(&LINES).unwrap();
    log::set_max_level(LevelFilter::Info);
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let cache = std::env::var(cipherlane_offload::cache::VARIABLE).unwrap();
    let first = logged(device);
    assert!(first[0].starts_with("INFO compiling aes-ctr/"), "{first:?}");
    assert!(first[0].contains(" (aes-128-ctr encrypt) for sm_"), "{first:?}");
    assert!(first[0].ends_with(&format!(", once, then it lies in {cache}")), "{first:?}");
    assert_eq!((first.len(), logged(device).len()), (1, 0));
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(&cache, "a file where the folder should be").unwrap();
    let second = logged(device);
    assert_eq!(second.len(), 2, "{second:?}");
    assert!(second[1].starts_with("WARN compiled kernels are not kept: "), "{second:?}");
}

#[test]
fn compiling_is_logged() {
    if let Some((said, passed)) = run("logged::compile_and_log", &[]) {
        assert!(passed, "{said}");
    }
}
