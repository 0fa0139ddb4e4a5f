//! A device that is this CPU under another name.

use cipherlane::{Cpu, Device, DeviceError, Info, Kernel, Plan, Session, Shape, Unsupported, Wish};

/// This CPU, which opens its sessions by `open`.
pub(crate) struct Renamed<F> {
    cpu: Cpu,
    info: Info,
    launches: bool,
    open: F,
}

impl<F> Renamed<F> {
    /// The device `name`, which is said to launch kernels, or not.
    pub(crate) fn new(name: &str, launches: bool, open: F) -> Self {
        let cpu = Cpu::new();
        let info = Info { id: name.to_owned(), name: name.to_owned(), ..cpu.info().clone() };
        Self { cpu, info, launches, open }
    }
}

impl<F> Device for Renamed<F>
where
    F: Fn(&Cpu, &Plan) -> Result<Box<dyn Session>, DeviceError> + Send + Sync,
{
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.cpu.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.cpu.plan(shape, wish)
    }

    fn launches(&self) -> bool {
        self.launches
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        (self.open)(&self.cpu, plan)
    }
}
