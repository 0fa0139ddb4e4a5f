//! Which points the file to go on with has already.

use std::collections::BTreeMap;

use cipherlane::{Device, Wish};
use cipherlane_lab::resume::Done;
use cipherlane_lab::{Contender, Point, Suite};
use cipherlane_record::{Cache, Measurement};

use super::How;

/// Messages of a batch whose number follows from the caches: whether a device has a kernel for it does not depend on them.
const MANY: usize = 4096;

/// Leaves the points out of `suite` that `done` has as `how` asks for them: each of `devices` has a row there, at each tier
/// that it is to be measured at, but for those that cannot run the point, or nothing at all. Returns how many were left out.
pub(super) fn leave_out(suite: &mut Suite, done: &Done, devices: &[&dyn Device], how: &How) -> usize {
    let before = suite.points.len();
    let contenders: Vec<_> = devices.iter().flat_map(|&device| contenders(device, how)).collect();
    let experiment = suite.experiment.clone();
    let mut opens = BTreeMap::new();
    suite.points.retain(|point| {
        let has_row = |contender: &&Contender<'_>| {
            let points = vec![Point { threads: threads(contender, point), ..point.clone() }];
            let mut alone = Suite { experiment: experiment.clone(), points };
            done.leave_out(&mut alone, |row| is_of(row, contender, how)) > 0
        };
        let (done, missing): (Vec<_>, Vec<_>) = contenders.iter().partition(has_row);
        done.is_empty() || missing.iter().any(|contender| can_run(contender, point, &mut opens))
    });
    before - suite.points.len()
}

/// `device` as it is measured: at each tier of its own that is asked for, or at that of its choice.
fn contenders<'a>(device: &'a dyn Device, how: &How) -> Vec<Contender<'a>> {
    let tiers = &device.info().tiers;
    let has = |tier: &&String| tiers.iter().any(|known| known.eq_ignore_ascii_case(tier));
    let mut contenders: Vec<_> = if how.tier.is_empty() {
        vec![Contender::new(device)]
    } else {
        how.tier.iter().filter(has).map(|tier| Contender::at_tier(device, tier)).collect()
    };
    for contender in contenders.iter_mut().filter(|contender| contender.launches) {
        how.launch.wish(&mut contender.wish);
    }
    contenders
}

/// Threads of the contender's row at `point`: the number changes nothing where blocks do the work, and is 1 there.
const fn threads(contender: &Contender<'_>, point: &Point) -> usize {
    if contender.launches { 1 } else { point.threads }
}

/// Whether `row` is one of `contender` that `how` asks for.
fn is_of(row: &Measurement, contender: &Contender<'_>, how: &How) -> bool {
    let of_tier = |tier: &String| tier.eq_ignore_ascii_case(&row.tier);
    row.device == contender.device.info().id
        && contender.wish.tier.as_ref().is_none_or(of_tier)
        && (!how.cold || row.scope.cache == Cache::Cold)
        && row.seed == how.seed
}

/// Whether `contender` has kernels for all that `point` runs, and opens sessions: without, no run ever gives it a row there. A
/// GPU opens none if its compiler is missing, or others have it; `opens` has what each device did when it was first asked.
fn can_run(contender: &Contender<'_>, point: &Point, opens: &mut BTreeMap<String, bool>) -> bool {
    let wish = Wish { threads: Some(threads(contender, point)), ..contender.wish.clone() };
    let shapes = point.choice.shapes(MANY);
    let plans: Result<Vec<_>, _> = shapes.iter().map(|shape| contender.device.plan(shape, &wish)).collect();
    let Ok(plans) = plans else { return false };
    let open = || plans.iter().all(|plan| contender.device.open(plan).is_ok());
    *opens.entry(contender.device.info().id.clone()).or_insert_with(open)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cipherlane::{Cpu, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported};
    use cipherlane_record::{Record, measurements, read};
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        how: How,
    }

    /// This CPU as a device that launches kernels, for these operations alone, and opens sessions or none.
    struct Gpu(Cpu, Info, &'static [Operation], bool);

    impl Gpu {
        fn new(operations: &'static [Operation]) -> Self {
            let cpu = Cpu::new();
            let info = Info { id: "cuda:0".to_owned(), tiers: Vec::new(), ..cpu.info().clone() };
            Self(cpu, info, operations, true)
        }
    }

    impl Device for Gpu {
        fn info(&self) -> &Info {
            &self.1
        }

        fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
            self.0.kernels(shape)
        }

        fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
            if self.2.contains(&shape.operation) {
                return self.0.plan(shape, wish);
            }
            let (device, what) = (self.1.id.clone(), shape.operation.to_string());
            Err(Unsupported::Kernel { device, what, known: Vec::new() })
        }

        fn launches(&self) -> bool {
            true
        }

        fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
            if self.3 {
                return self.0.open(plan);
            }
            Err(DeviceError::Failed { device: self.1.id.clone(), reason: "no compiler".to_owned() })
        }
    }

    /// Rows of the CPU, and of a GPU where they are of one of `operations`: one each, whatever the threads.
    fn done(operations: &[Operation]) -> Done {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
        let mut rows = measurements(read(&path).unwrap());
        rows.retain(|row| row.device == "cpu");
        let mut of_gpu = rows.clone();
        of_gpu.retain(|row| {
            row.threads == 1 && operations.iter().any(|operation| operation.name() == row.operation)
        });
        of_gpu.iter_mut().for_each(|row| row.device = "cuda:0".to_owned());
        rows.extend(of_gpu);
        Done::of(rows.into_iter().map(|row| Record::Measurement(Box::new(row))).collect())
    }

    /// How many of the four points of `tls-16k`, which seals and opens on one thread and on two, are left out.
    fn left_out(line: &[&str], done: &Done, devices: &[&dyn Device]) -> usize {
        let Line { how } = Line::parse_from([&["bench"], line].concat());
        let mut suite = Suite::of(&["tls-16k"], &[1, 2]).unwrap();
        leave_out(&mut suite, done, devices, &how)
    }

    #[test]
    fn a_point_is_done_where_each_device_has_its_row() {
        const BOTH: [Operation; 2] = [Operation::Seal, Operation::Open];
        let (cpu, gpu) = (Cpu::new(), Gpu::new(&BOTH));
        let all: [&dyn Device; 2] = [&cpu, &gpu];
        assert_eq!(left_out(&[], &done(&[]), &[&cpu]), 4);
        assert_eq!(left_out(&["--seed", "2"], &done(&[]), &[&cpu]), 0);
        assert_eq!(left_out(&[], &done(&[]), &all), 0, "the GPU is still to be measured");
        assert_eq!(left_out(&[], &done(&BOTH[..1]), &all), 2, "at what it opens");
        assert_eq!(left_out(&[], &done(&BOTH), &all), 4);
    }

    #[test]
    fn what_a_device_cannot_do_is_not_waited_for() {
        let (cpu, gpu) = (Cpu::new(), Gpu::new(&[Operation::Seal]));
        assert_eq!(left_out(&[], &done(&[Operation::Seal]), &[&cpu, &gpu]), 4);
        assert_eq!(left_out(&[], &done(&[]), &[&cpu, &gpu]), 2, "it seals");
        assert_eq!(left_out(&[], &done(&[]), &[&gpu]), 0, "and says itself that it opens nothing");
        let without_compiler = Gpu { 3: false, ..Gpu::new(&[Operation::Seal]) };
        assert_eq!(left_out(&[], &done(&[]), &[&cpu, &without_compiler]), 4);
    }

    #[test]
    fn each_tier_has_its_row() {
        let (cpu, done) = (Cpu::new(), done(&[]));
        let of = |tiers| left_out(&["--tier", tiers], &done, &[&cpu, &Gpu::new(&[Operation::Seal])]);
        // The rows are of AVX-512, which not every CPU has; the GPU has no tiers to be measured at.
        let has = cpu.info().tiers.iter().any(|tier| tier == "avx512");
        assert_eq!(of("AVX512"), if has { 4 } else { 0 });
        assert_eq!(of("avx512,portable"), 0);
        assert_eq!(of("portable"), 0);
    }
}
