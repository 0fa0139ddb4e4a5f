//! A device that knows the known answers, gets long batches wrong, and can be broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cipherlane::{Batch, Cpu, Device, DeviceError, Output, Plan, Session, Spans};

use super::renamed::Renamed;

/// More messages than any standard has examples of one algorithm.
pub(crate) const HONEST: usize = 1000;

/// This CPU, but for a bit of the first text of each batch of more than [`HONEST`] messages. Every run fails from when
/// `is_broken` is set.
pub(crate) fn liar(is_broken: Arc<AtomicBool>) -> Arc<dyn Device> {
    Arc::new(Renamed::new("liar", false, move |cpu: &Cpu, plan: &Plan| -> Result<Box<dyn Session>, _> {
        Ok(Box::new(Lie(cpu.open(plan)?, Arc::clone(&is_broken))))
    }))
}

struct Lie(Box<dyn Session>, Arc<AtomicBool>);

impl Session for Lie {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        if self.1.load(Ordering::Relaxed) {
            return Err(DeviceError::Failed { device: "liar".to_owned(), reason: "it broke".to_owned() });
        }
        let spans = self.0.run(batch, output)?;
        if batch.messages.offsets.len() > HONEST + 1 {
            output.bytes[0] ^= 1;
        }
        Ok(spans)
    }
}
