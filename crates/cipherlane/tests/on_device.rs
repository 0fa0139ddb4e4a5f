//! Batches that the engine runs where their texts lie: what is opened for them, what is kept, and what is let go of.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane::{
    Batch, Column, Device, DeviceError, DeviceMemory, DeviceTexts, Engine, Info, Kernel, Messages, Output,
    Plan, Resident, Session, Shape, Source, Spans, Unsupported, Wish,
};

/// Memory that is nowhere.
#[derive(Debug)]
struct Memory(usize);

impl DeviceMemory for Memory {
    fn device(&self) -> &'static str {
        "there:0"
    }

    fn bytes(&self) -> usize {
        self.0
    }

    fn handle(&self) -> u64 {
        0
    }

    fn write(&self, _: usize, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn read(&self, _: usize, _: &mut [u8]) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// A device with memory of its own, which finds every tag right.
struct There {
    inner: Reference,
    opened: AtomicUsize,
    fails: Arc<AtomicBool>,
}

impl Device for There {
    fn info(&self) -> &Info {
        self.inner.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.inner.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.inner.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.inner.open(plan)
    }

    fn resident(&self, _: &Plan) -> Result<Option<Box<dyn Resident>>, DeviceError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(Bound { texts: None, fails: Arc::clone(&self.fails) })))
    }
}

struct Bound {
    texts: Option<DeviceTexts>,
    fails: Arc<AtomicBool>,
}

impl Resident for Bound {
    fn load(&mut self, _: &Batch<'_>, _: &mut Output<'_>) -> Result<Spans, DeviceError> {
        unreachable!("texts lie on the device")
    }

    fn bind(&mut self, _: &Batch<'_>, _: &mut Output<'_>, texts: &DeviceTexts) -> Result<Spans, DeviceError> {
        self.texts = Some(texts.clone());
        Ok(Spans { load: Duration::from_secs(1), ..Spans::default() })
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(DeviceError::Failed { device: "there:0".to_owned(), reason: "lost".to_owned() });
        }
        Ok(Spans { execute: Duration::from_secs(2), ..Spans::default() })
    }

    fn store(&mut self, _: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        output.accepted.fill(true);
        Ok(Spans { store: Duration::from_secs(3), ..Spans::default() })
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        unreachable!("nothing is measured")
    }

    fn unload(&mut self) {
        self.texts = None;
    }
}

/// Opens two messages in memory of the device by `engine`, which is to hold none of it afterwards.
fn open_two(engine: &Engine, nonces: Column<'_>, accepted: &mut [bool; 2]) -> Result<Spans, DeviceError> {
    let memory = Arc::new(Memory(32));
    let texts = DeviceTexts::InPlace(Arc::<Memory>::clone(&memory));
    let batch = Batch::open(
        "aes-128-gcm".parse().unwrap(),
        Column::Shared(&[7; 16]),
        nonces,
        Column::EMPTY,
        Messages { source: Source::OnDevice, offsets: &[0, 16, 32] },
        &[0; 32],
    );
    let result = engine.run_on_device(&batch, &texts, &mut Output::opened(&mut [], accepted));
    drop(texts);
    assert_eq!(Arc::strong_count(&memory), 1, "the engine keeps memory of the caller's alive");
    result
}

fn there() -> (Arc<There>, Engine) {
    let device =
        Arc::new(There { inner: Reference::new(), opened: AtomicUsize::new(0), fails: Arc::default() });
    (Arc::clone(&device), Engine::with_devices(device, []))
}

const NONCES: Column<'_> = Column::Each { bytes: &[9; 24], width: 12 };

#[test]
fn what_is_open_is_kept_and_memory_is_not() {
    let (device, engine) = there();
    for _ in 0..2 {
        let mut accepted = [false; 2];
        let spans = open_two(&engine, NONCES, &mut accepted).unwrap();
        let seconds = [spans.load, spans.execute, spans.store].map(|span| span.as_secs());
        assert_eq!((accepted, seconds), ([true; 2], [1, 2, 3]));
        assert!(!spans.wall.is_zero());
    }
    assert_eq!(device.opened.load(Ordering::Relaxed), 1);
    engine.release();
    open_two(&engine, NONCES, &mut [false; 2]).unwrap();
    assert_eq!(device.opened.load(Ordering::Relaxed), 2);
}

#[test]
fn where_the_device_fails_no_message_is_accepted() {
    let (device, engine) = there();
    device.fails.store(true, Ordering::Relaxed);
    let mut accepted = [true; 2];
    let error = open_two(&engine, NONCES, &mut accepted).unwrap_err();
    assert_eq!((error.to_string().as_str(), accepted), ("there:0: lost", [false; 2]));
}

#[test]
fn a_device_without_memory_says_where_the_texts_lie() {
    let error = open_two(&Engine::new(), NONCES, &mut [false; 2]).unwrap_err().to_string();
    assert!(error.contains("run them by an engine on there:0"), "{error}");
}

#[test]
fn a_batch_is_checked_first() {
    let (device, engine) = there();
    let error = open_two(&engine, Column::Each { bytes: &[9; 12], width: 12 }, &mut [false; 2]).unwrap_err();
    assert!(error.to_string().contains("2 messages need 2"), "{error}");
    assert_eq!(device.opened.load(Ordering::Relaxed), 0);
}
