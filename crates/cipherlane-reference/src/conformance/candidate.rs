//! A kernel that is examined, with its sessions.

use cipherlane_core::{Algorithm, Device, DeviceError, Kernel, Operation, Plan, Session, Shape, Wish};

/// A kernel that is examined: a session as the device plans it, and one that splits messages at small chunks.
pub(super) struct Candidate {
    whole: Opened,
    split: Opened,
}

/// A session with the plan that it was opened with.
pub(super) struct Opened {
    pub(super) plan: Plan,
    pub(super) session: Box<dyn Session>,
}

/// Which session of a candidate runs a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// The one that the device plans.
    Whole,
    /// The one with small chunks.
    Split,
}

/// A chunk that is small enough to split messages which the reference runs quickly.
const CHUNK: usize = 4096;
/// Enough threads, or blocks of a device that launches kernels, for chunks of one message to be run out of order.
const THREADS: usize = 3;

impl Candidate {
    /// The kernels of `device` for `algorithm` and `operation` that `wish` allows.
    pub(super) fn all(
        device: &dyn Device,
        wish: &Wish,
        algorithm: Algorithm,
        operation: Operation,
    ) -> Result<Vec<Self>, (String, DeviceError)> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for shape in shapes(algorithm, operation) {
            for kernel in device.kernels(&shape) {
                let tier = wish.tier.as_ref().is_none_or(|tier| *tier == kernel.tier);
                let name = wish.kernel.as_ref().is_none_or(|name| *name == kernel.name);
                if tier && name && !kernels.contains(&kernel) {
                    kernels.push(kernel);
                }
            }
        }
        let open = |kernel: Kernel| {
            let name = kernel.name.clone();
            Self::open(device, wish, kernel, algorithm, operation).map_err(|error| (name, error))
        };
        kernels.into_iter().map(open).collect()
    }

    pub(super) fn opened(&mut self, size: Size) -> &mut Opened {
        match size {
            Size::Whole => &mut self.whole,
            Size::Split => &mut self.split,
        }
    }

    pub(super) const fn plan(&self) -> &Plan {
        &self.whole.plan
    }

    /// The chunk of the session with small chunks, in bytes.
    pub(super) const fn chunk(&self) -> usize {
        self.split.plan.chunk
    }

    fn open(
        device: &dyn Device,
        wish: &Wish,
        kernel: Kernel,
        algorithm: Algorithm,
        operation: Operation,
    ) -> Result<Self, DeviceError> {
        let [_, many, long] = shapes(algorithm, operation);
        let wish = Wish { kernel: Some(kernel.name), tier: Some(kernel.tier), ..wish.clone() };
        let plan = device.plan(&many, &wish)?;
        let small = Wish { chunk: wish.chunk.or(Some(CHUNK)), ..wish.clone() };
        let spread = Wish { threads: wish.threads.or(Some(THREADS)), ..small.clone() };
        let in_blocks = Wish {
            blocks: wish.blocks.or(Some(THREADS)),
            streams: wish.streams.or(Some(THREADS)),
            ..small.clone()
        };
        // A device may have no use for threads, blocks or chunks. What it does plan must be right all the same.
        let split_plan = device
            .plan(&long, &spread)
            .or_else(|_| device.plan(&long, &in_blocks))
            .or_else(|_| device.plan(&long, &small))
            .or_else(|_| device.plan(&long, &wish))?;
        for found in [&plan.kernel, &split_plan.kernel] {
            if Some(found) != wish.kernel.as_ref() {
                let reason = format!("was asked for {:?} and plans {found}", wish.kernel);
                return Err(DeviceError::Failed { device: device.info().id.clone(), reason });
            }
        }
        let opened = |plan: Plan| device.open(&plan).map(|session| Opened { plan, session });
        Ok(Self { whole: opened(plan)?, split: opened(split_plan)? })
    }
}

/// Shapes that may have kernels of their own: many messages under one key, with a key each, and a long one.
fn shapes(algorithm: Algorithm, operation: Operation) -> [Shape; 3] {
    [
        Shape::uniform(algorithm, operation, 64, 1024, true),
        Shape::uniform(algorithm, operation, 64, 1024, false),
        Shape::uniform(algorithm, operation, 1, 1 << 20, true),
    ]
}

/// A kernel as a failure names it.
pub(super) fn describe(plan: &Plan) -> String {
    format!("{} of {} ({} threads, chunks of {} bytes)", plan.kernel, plan.device, plan.threads, plan.chunk)
}
