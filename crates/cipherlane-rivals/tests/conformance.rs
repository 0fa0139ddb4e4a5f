//! Every rival of this build sits the exam that our own devices sit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cipherlane_core::{
    Batch, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans, Unsupported, Wish,
};
use cipherlane_reference::{Reference, conformance};

/// A rival that the reference stands in for where it says that it does not take a nonce, tag or key: the exam asks
/// for all that the standards allow.
struct Aided<'a> {
    rival: &'a dyn Device,
    /// Batches that the rival ran.
    alone: Arc<AtomicU64>,
}

struct AidedSession {
    rival: Box<dyn Session>,
    reference: Box<dyn Session>,
    alone: Arc<AtomicU64>,
}

impl Device for Aided<'_> {
    fn info(&self) -> &Info {
        self.rival.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.rival.kernels(shape)
    }

    /// A rival's plan says nothing of sizes, so what it takes none of may be planned as if it were short.
    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        match self.rival.plan(shape, wish) {
            Err(Unsupported::Range { what: "bytes of a message", .. }) => {
                self.rival.plan(&Shape { longest: 16, ..*shape }, wish)
            }
            planned => planned,
        }
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let reference = Reference::new();
        let shape = Shape::uniform(plan.algorithm, plan.operation, 1, 16, true);
        let reference = reference.open(&reference.plan(&shape, &Wish::default())?)?;
        Ok(Box::new(AidedSession { rival: self.rival.open(plan)?, reference, alone: self.alone.clone() }))
    }
}

impl Session for AidedSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let before = (output.bytes.to_vec(), output.tags.to_vec(), output.accepted.to_vec());
        match self.rival.run(batch, output) {
            Err(DeviceError::Unsupported(Unsupported::Range { .. })) => {
                let after = (output.bytes.to_vec(), output.tags.to_vec(), output.accepted.to_vec());
                assert!(before == after, "a refused batch was written to");
                self.reference.run(batch, output)
            }
            result => {
                self.alone.fetch_add(u64::from(result.is_ok()), Ordering::Relaxed);
                result
            }
        }
    }
}

#[test]
fn rivals_conform() {
    let devices = cipherlane_rivals::available();
    assert!(!devices.is_empty(), "this build has no rival at all: {:?}", cipherlane_rivals::absent());
    for device in devices {
        let aided = Aided { rival: &*device, alone: Arc::default() };
        let report = match conformance::check_with(&aided, &Wish::default()) {
            Ok(report) => report,
            Err(failure) => panic!("{}: {failure}", device.info().name),
        };
        let (alone, checks) = (aided.alone.load(Ordering::Relaxed), report.checks.values().sum::<u64>());
        println!("{}: {checks} checks, {alone} batches, {:?}", device.info().name, report.kernels);
        assert!(2 * alone > checks, "{} ran {alone} batches only, of {checks}", device.info().name);
    }
}
