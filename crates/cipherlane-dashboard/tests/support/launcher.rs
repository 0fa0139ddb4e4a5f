//! A device that is said to launch kernels, and keeps what it was asked to.

use std::sync::{Arc, Mutex};

use cipherlane::{Cpu, Device, Operation, Plan};

use super::renamed::Renamed;

/// Each operation that a session is opened for is put to `opened`.
pub(crate) fn launcher(opened: Arc<Mutex<Vec<Operation>>>) -> Arc<dyn Device> {
    Arc::new(Renamed::new("launcher", true, move |cpu: &Cpu, plan: &Plan| {
        opened.lock().unwrap().push(plan.operation);
        cpu.open(plan)
    }))
}
