//! A device that is said to launch kernels, and keeps what it was asked to.

use std::sync::{Arc, Mutex};

use cipherlane::{
    Cpu, Device, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported, Wish,
};

/// This CPU, under another name.
pub(crate) struct Launcher {
    cpu: Cpu,
    info: Info,
    opened: Arc<Mutex<Vec<Operation>>>,
}

impl Launcher {
    /// Each operation that a session is opened for is put to `opened`.
    pub(crate) fn new(opened: Arc<Mutex<Vec<Operation>>>) -> Self {
        let cpu = Cpu::new();
        let info = Info { id: "launcher".to_owned(), name: "launcher".to_owned(), ..cpu.info().clone() };
        Self { cpu, info, opened }
    }
}

impl Device for Launcher {
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
        true
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.opened.lock().unwrap().push(plan.operation);
        self.cpu.open(plan)
    }
}
