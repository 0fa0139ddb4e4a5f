//! A device that knows the known answers, gets long batches wrong, and can be broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cipherlane::{
    Batch, Cpu, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans, Unsupported, Wish,
};

/// This CPU, but for a bit of the first text of each batch of more than [`Liar::HONEST`] messages.
pub(crate) struct Liar {
    cpu: Cpu,
    info: Info,
    is_broken: Arc<AtomicBool>,
}

impl Liar {
    /// More than any standard has examples of one algorithm.
    pub(crate) const HONEST: usize = 1000;

    /// Every run fails from when `is_broken` is set.
    pub(crate) fn new(is_broken: Arc<AtomicBool>) -> Self {
        let cpu = Cpu::new();
        let info = Info { id: "liar".to_owned(), name: "liar".to_owned(), ..cpu.info().clone() };
        Self { cpu, info, is_broken }
    }
}

impl Device for Liar {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.cpu.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.cpu.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(Lie(self.cpu.open(plan)?, Arc::clone(&self.is_broken))))
    }
}

struct Lie(Box<dyn Session>, Arc<AtomicBool>);

impl Session for Lie {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        if self.1.load(Ordering::Relaxed) {
            return Err(DeviceError::Failed { device: "liar".to_owned(), reason: "it broke".to_owned() });
        }
        let spans = self.0.run(batch, output)?;
        if batch.messages.offsets.len() > Liar::HONEST + 1 {
            output.bytes[0] ^= 1;
        }
        Ok(spans)
    }
}
