//! A device that knows the known answers, and gets long batches wrong.

use cipherlane::{
    Batch, Cpu, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans, Unsupported, Wish,
};

/// This CPU, but for a bit of the first text of each batch of more than [`Liar::HONEST`] messages.
pub(crate) struct Liar {
    cpu: Cpu,
    info: Info,
}

impl Liar {
    /// More than any standard has examples of one algorithm.
    pub(crate) const HONEST: usize = 1000;

    pub(crate) fn new() -> Self {
        let cpu = Cpu::new();
        let info = Info { id: "liar".to_owned(), name: "liar".to_owned(), ..cpu.info().clone() };
        Self { cpu, info }
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
        Ok(Box::new(Lie(self.cpu.open(plan)?)))
    }
}

struct Lie(Box<dyn Session>);

impl Session for Lie {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let spans = self.0.run(batch, output)?;
        if batch.messages.offsets.len() > Liar::HONEST + 1 {
            output.bytes[0] ^= 1;
        }
        Ok(spans)
    }
}
