//! The exam has a case for every kernel: one that a session runs by it, and not by another that serves the case better.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cipherlane_core::{
    Algorithm, Batch, Column, Device, DeviceError, Info, Kernel, Output, Plan, Session, Shape, Spans,
    Unsupported, Wish,
};
use cipherlane_kernels::manifest::{self, SIZES, Target};
use cipherlane_reference::{Reference, conformance};

use super::choose;

/// The names of kernels.
type Names = Arc<Mutex<BTreeSet<String>>>;

/// Plans as a GPU does, leaves the work to the reference, and takes down by which kernels a GPU would have done it.
struct Recorder {
    reference: Reference,
    target: Target,
    algorithm: Algorithm,
    ran: Names,
}

impl Device for Recorder {
    fn info(&self) -> &Info {
        self.reference.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        let programs = manifest::programs(shape, &self.target);
        let is_forward = shape.algorithm == self.algorithm && shape.operation == self.algorithm.forward();
        // With other tables there are no other forms, and long messages take the reference a second each.
        let programs =
            programs.into_iter().filter(|program| is_forward && program.variant.starts_with("banked4"));
        let kernel = |program: manifest::Program| Kernel {
            name: program.kernel,
            tier: program.variant,
            lanes: program.lanes,
            constant_time: program.constant_time,
        };
        programs.map(kernel).collect()
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let (kernel, tier) = (wish.kernel.clone().unwrap_or_default(), wish.tier.clone().unwrap_or_default());
        Ok(Plan { kernel, tier, ..self.reference.plan(shape, &Wish::default())? })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let shape = Shape::uniform(plan.algorithm, plan.operation, 1, 0, true);
        let session = self.reference.open(&self.reference.plan(&shape, &Wish::default())?)?;
        Ok(Box::new(Recording {
            session,
            plan: plan.clone(),
            target: self.target,
            ran: Arc::clone(&self.ran),
        }))
    }
}

struct Recording {
    session: Box<dyn Session>,
    plan: Plan,
    target: Target,
    ran: Names,
}

impl Session for Recording {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let spans = self.session.run(batch, output)?;
        let longest = batch.messages.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let shared = matches!(batch.keys, Column::Shared(_));
        let shape = Shape::uniform(batch.algorithm, batch.operation, batch.len(), longest, shared);
        let program = choose(&self.plan, &self.target, &shape).unwrap();
        self.ran.lock().unwrap().insert(program.kernel);
        Ok(spans)
    }
}

#[test]
fn the_exam_has_a_case_for_every_kernel() {
    let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
    // Other ciphers have the forms of this one, and hashes have one.
    for mode in ["ecb", "cbc", "ctr", "gcm", "xts"] {
        let algorithm: Algorithm = format!("aes-128-{mode}").parse().unwrap();
        let ran = Names::default();
        let device = Recorder { reference: Reference::new(), target, algorithm, ran: Arc::clone(&ran) };
        conformance::check(&device).unwrap();
        let shape = |shared| {
            move |(messages, bytes)| Shape::uniform(algorithm, algorithm.forward(), messages, bytes, shared)
        };
        let shapes = [true, false].into_iter().flat_map(|shared| SIZES.into_iter().map(shape(shared)));
        let all: BTreeSet<String> =
            shapes.flat_map(|shape| device.kernels(&shape)).map(|kernel| kernel.name).collect();
        assert_eq!(*ran.lock().unwrap(), all, "{algorithm}");
    }
}
