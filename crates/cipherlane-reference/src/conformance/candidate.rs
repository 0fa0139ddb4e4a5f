//! A kernel that is examined, with its sessions.

use cipherlane_core::{Algorithm, Device, DeviceError, Kernel, Operation, Plan, Session, Shape, Wish};

/// A kernel that is examined: a session as the device plans it, and one that splits messages at small chunks.
pub(super) struct Candidate {
    /// The first of [`shapes`] that the device offers it for.
    shape: Shape,
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
/// The same of long messages.
const LONG_CHUNK: usize = 1 << 20;
/// Bytes of a message that any device splits at such chunks.
const SPLIT: u64 = 1 << 20;
/// Bytes of a short message.
const SHORT: u64 = 1 << 10;
/// What every kernel calls long, and the most that XTS takes: a data unit has 2^20 blocks at most (IEEE 1619 section 5.1).
const LONG: u64 = 16 << 20;
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
        let mut kernels: Vec<(Kernel, Shape)> = Vec::new();
        for shape in shapes(algorithm, operation) {
            for kernel in device.kernels(&shape) {
                let tier = wish.tier.as_ref().is_none_or(|tier| *tier == kernel.tier);
                let name = wish.kernel.as_ref().is_none_or(|name| *name == kernel.name);
                if tier && name && kernels.iter().all(|(known, _)| *known != kernel) {
                    kernels.push((kernel, shape));
                }
            }
        }
        let open = |(kernel, shape): (Kernel, Shape)| {
            let name = kernel.name.clone();
            Self::open(device, wish, kernel, shape).map_err(|error| (name, error))
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

    /// A shape that it serves.
    pub(super) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether it serves short messages, as most of the exam's are.
    pub(super) const fn is_for_short(&self) -> bool {
        self.shape.longest <= SHORT
    }

    /// Whether it serves no messages but long ones: a session of it runs all others by another kernel.
    pub(super) const fn is_for_long(&self) -> bool {
        self.shape.longest >= LONG
    }

    /// The chunk of the session with small chunks, in bytes.
    pub(super) const fn chunk(&self) -> usize {
        self.split.plan.chunk
    }

    fn open(device: &dyn Device, wish: &Wish, kernel: Kernel, shape: Shape) -> Result<Self, DeviceError> {
        let long = Shape::uniform(shape.algorithm, shape.operation, 1, shape.longest.max(SPLIT), true);
        let wish = Wish { kernel: Some(kernel.name), tier: Some(kernel.tier), ..wish.clone() };
        let plan = device.plan(&shape, &wish)?;
        // A message of many MiB in such chunks would take minutes.
        let chunk = if shape.longest >= LONG { LONG_CHUNK } else { CHUNK };
        let small = Wish { chunk: wish.chunk.or(Some(chunk)), ..wish.clone() };
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
        Ok(Self { shape, whole: opened(plan)?, split: opened(split_plan)? })
    }
}

/// Shapes that between them call for every kernel of a device: short messages, records and a long message, each under
/// one key and with a key each.
#[must_use]
pub fn shapes(algorithm: Algorithm, operation: Operation) -> Vec<Shape> {
    let sizes = [(64, SHORT), (64, 16 << 10), (1, LONG)];
    let shape = |(messages, bytes)| {
        [true, false].map(|shared| Shape::uniform(algorithm, operation, messages, bytes, shared))
    };
    sizes.into_iter().flat_map(shape).collect()
}

/// A kernel as a failure names it.
pub(super) fn describe(plan: &Plan) -> String {
    format!("{} of {} ({} threads, chunks of {} bytes)", plan.kernel, plan.device, plan.threads, plan.chunk)
}
