//! Which points the file to go on with has already.

use std::collections::BTreeMap;

use anyhow::Result;
use cipherlane::{Device, Plan, Unsupported, Wish};
use cipherlane_lab::resume::Done;
use cipherlane_lab::{Contender, Point, Suite, host};
use cipherlane_record::Measurement;

use super::How;
use super::how::{has_cold, has_input};
use crate::command::launch::Launch;
use crate::command::shared::Roster;
use crate::render::complain;

/// Messages of a batch whose number follows from the caches: whether a device has a kernel for it does not depend on them.
const MANY: usize = 4096;

impl How {
    /// Leaves the points out of `suite` that the file to go on with has, and says so. Returns whether it has them all.
    ///
    /// # Errors
    /// If it is no file of records, or a device that is asked for is not here.
    pub(crate) fn leave_out_done(&self, suite: &mut Suite) -> Result<bool> {
        if self.records.resumed().is_none() {
            return Ok(false);
        }
        let done = self.done()?;
        let roster = Roster::find(self.names_a_rival());
        let left_out = leave_out(suite, &done, &roster.choose(&self.device)?, self);
        if left_out > 0 {
            complain("resumed", &format!("{left_out} points are in the file already"));
        }
        Ok(left_out > 0 && suite.points.is_empty())
    }
}

/// Leaves the points out of `suite` that `done` has as `how` asks for them: each of `devices` has a row there, at each tier
/// that it is to be measured at, but for those that cannot run the point, or nothing at all. Returns how many were left out.
fn leave_out(suite: &mut Suite, done: &Done, devices: &[&dyn Device], how: &How) -> usize {
    let before = suite.points.len();
    let contenders: Vec<_> = devices.iter().flat_map(|&device| contenders(device, how)).collect();
    let (experiment, host) = (suite.experiment.clone(), host::detect());
    let mut opens = BTreeMap::new();
    let is_missing = |point: &Point| {
        let has_row = |contender: &&Contender<'_>| {
            let point = if contender.launches { suite.with_most_threads(point) } else { point };
            let points = vec![as_run(contender, point, point.working_set(how.cache(), &host))];
            let mut alone = Suite { experiment: experiment.clone(), points };
            done.leave_out(&mut alone, &host, |row| is_of(row, contender, how)) > 0
        };
        let (done, missing): (Vec<_>, Vec<_>) = contenders.iter().partition(has_row);
        done.is_empty() || missing.iter().any(|contender| can_run(contender, point, &mut opens))
    };
    let missing: Vec<bool> = suite.points.iter().map(is_missing).collect();
    let mut missing = missing.into_iter();
    suite.points.retain(|_| missing.next().unwrap_or(true));
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

/// Threads that `contender` is asked for at `point`: the number changes nothing where blocks do the work, and is 1 there.
const fn threads(contender: &Contender<'_>, point: &Point) -> usize {
    if contender.launches { 1 } else { point.threads }
}

/// `point` as the row of `contender` has it, whose messages fill `working_set_bytes` where their number is free, which tells it
/// from those of other experiments at work: on as many of the threads that it is asked for as find work.
fn as_run(contender: &Contender<'_>, point: &Point, working_set_bytes: usize) -> Point {
    let threads = threads(contender, point);
    let settled = Point { choice: point.choice.settled(working_set_bytes), ..point.clone() };
    let plans = plans(contender, &settled).unwrap_or_default();
    let at_work = plans.iter().map(|plan| plan.threads).max().unwrap_or(threads);
    Point { threads: at_work.min(threads), ..settled }
}

/// Whether `row` is one of `contender` that `how` asks for.
fn is_of(row: &Measurement, contender: &Contender<'_>, how: &How) -> bool {
    let of_tier = |tier: &String| tier.eq_ignore_ascii_case(&row.tier);
    row.device == contender.device.info().id
        && contender.wish.tier.as_ref().is_none_or(of_tier)
        // The scope does not tell: data that fits no cache is cold in any case, and slower yet if it is flushed.
        && has_cold(&row.argv) == how.cold
        && !has_input(&row.argv)
        // Nor does the geometry: what was left to the device is told there as well.
        && (!contender.launches || Launch::of(&row.argv) == how.launch)
        && row.seed == how.seed
}

/// Whether `contender` has kernels for all that `point` runs, and opens sessions: without, no run ever gives it a row there. A
/// GPU opens none if its compiler is missing, or others have it; `opens` has what each device did when it was first asked.
fn can_run(contender: &Contender<'_>, point: &Point, opens: &mut BTreeMap<String, bool>) -> bool {
    let Ok(plans) = plans(contender, point) else { return false };
    let open = || plans.iter().all(|plan| contender.device.open(plan).is_ok());
    *opens.entry(contender.device.info().id.clone()).or_insert_with(open)
}

/// How `contender` runs the batches of `point`.
fn plans(contender: &Contender<'_>, point: &Point) -> Result<Vec<Plan>, Unsupported> {
    let wish = Wish { threads: Some(threads(contender, point)), ..contender.wish.clone() };
    let shapes = point.choice.shapes(MANY);
    shapes.iter().map(|shape| contender.device.plan(shape, &wish)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cipherlane::{Cpu, DeviceError, Info, Kernel, Operation, Session, Shape};
    use cipherlane_lab::Wanted;
    use cipherlane_lab::workload::{Choice, Custom, Lengths, Request};
    use cipherlane_record::{Keys, Record, measurements, read};
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

    /// Rows of this CPU.
    fn rows() -> Vec<Measurement> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
        let mut rows = measurements(read(&path).unwrap());
        rows.retain(|row| row.device == "cpu");
        rows.iter_mut().for_each(|row| row.host = host::detect());
        rows
    }

    /// So many messages to hash.
    fn hashes(messages: Option<usize>, message_bytes: usize) -> Custom {
        Custom {
            algorithm: "sha-256".parse().unwrap(),
            operation: Operation::Hash,
            lengths: message_bytes.into(),
            messages,
            keys: Keys::Same,
            input: None,
        }
    }

    /// A row of this CPU that has done `custom` on one thread, with so many messages.
    fn row_of(custom: &Custom, messages: u64) -> Measurement {
        Measurement {
            workload: Choice::Custom(custom.clone()).name().into_owned(),
            algorithm: custom.algorithm.to_string(),
            operation: custom.operation.name().to_owned(),
            threads: 1,
            message_bytes: custom.lengths.mean() as u64,
            messages,
            keys: custom.keys,
            ..rows().remove(0)
        }
    }

    /// Rows of the CPU, and of a GPU where they are of one of `operations`: one each, whatever the threads.
    fn done(operations: &[Operation]) -> Done {
        let mut rows = rows();
        let mut of_gpu = rows.clone();
        of_gpu.retain(|row| {
            row.threads == 1 && operations.iter().any(|operation| operation.name() == row.operation)
        });
        of_gpu.iter_mut().for_each(|row| row.device = "cuda:0".to_owned());
        rows.extend(of_gpu);
        Done::of(rows.into_iter().map(|row| Record::Measurement(Box::new(row))).collect())
    }

    /// What `how` leaves out of `suite` where `rows` are there.
    fn left_out_of(mut suite: Suite, line: &[&str], rows: Vec<Measurement>) -> usize {
        let Line { how } = Line::parse_from([&["bench"], line].concat());
        let done = Done::of(rows.into_iter().map(|row| Record::Measurement(Box::new(row))).collect());
        leave_out(&mut suite, &done, &[&Cpu::new()], &how)
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
    fn rows_of_another_machine_are_none_of_this_one() {
        let suite = || Suite::of(&["tls-16k"], &[1]).unwrap();
        let here = rows();
        let mut there = here.clone();
        there.iter_mut().for_each(|row| row.host.l2_bytes = Some(1));
        assert_eq!(left_out_of(suite(), &[], here), 2);
        assert_eq!(left_out_of(suite(), &[], there), 0);
    }

    #[test]
    fn rows_of_a_gpu_serve_those_who_ask_for_their_geometry() {
        let gpu = Gpu::new(&[Operation::Seal, Operation::Open]);
        let mut rows = rows();
        rows.retain(|row| row.threads == 1);
        let asked = ["--blocks", "132"];
        for row in &mut rows {
            row.device = "cuda:0".to_owned();
            row.argv.extend(asked.map(str::to_owned));
        }
        let done = Done::of(rows.into_iter().map(|row| Record::Measurement(Box::new(row))).collect());
        let count = |line: &[&str]| left_out(line, &done, &[&gpu]);
        assert_eq!([count(&asked), count(&["--blocks", "64"]), count(&[])], [4, 0, 0]);
        assert_eq!(count(&["--blocks", "132", "--streams", "2"]), 0);
    }

    #[test]
    fn flushed_rows_serve_those_who_ask_for_them_alone() {
        let suite = || Suite::of(&["bulk"], &[1]).unwrap();
        let hot = rows();
        assert!(hot.iter().any(|row| row.workload == "bulk" && row.scope.cache.name() == "cold"));
        let mut cold = hot.clone();
        cold.iter_mut().for_each(|row| row.argv.push("--cold".to_owned()));
        for (rows, line, expected) in
            [(&hot, &[][..], 3), (&hot, &["--cold"], 0), (&cold, &[], 0), (&cold, &["--cold"], 3)]
        {
            assert_eq!(left_out_of(suite(), line, rows.clone()), expected, "{line:?}");
        }
    }

    #[test]
    fn one_chain_is_done_on_the_thread_that_it_keeps_busy() {
        let left_out = |custom: &Custom, messages| {
            left_out_of(Suite::custom(custom, &[1, 2]), &[], vec![row_of(custom, messages)])
        };
        let one = hashes(Some(1), 1 << 20);
        assert_eq!(left_out(&one, 1), 2, "on two threads as on one");
        // Two caches hold more messages than one: the row is of one point alone, on however many threads the other is.
        let free = hashes(None, 16 << 10);
        let working_set = Request::working_set(Wanted::Hot, &host::detect(), 1);
        let Choice::Custom(settled) = Choice::Custom(free.clone()).settled(working_set) else {
            unreachable!()
        };
        assert_eq!(left_out(&free, settled.messages.unwrap() as u64), 1);
    }

    #[test]
    fn rows_of_other_messages_are_none_of_a_point() {
        let of = |messages, input| Custom { input, ..hashes(messages, 16 << 10) };
        let left_out = |custom: &Custom, messages, argv: &[&str]| {
            let argv = argv.iter().map(|&word| word.to_owned()).collect();
            left_out_of(
                Suite::custom(custom, &[1]),
                &[],
                vec![Measurement { argv, ..row_of(custom, messages) }],
            )
        };
        // One chain is no row of as many as the caches hold.
        assert_eq!(left_out(&of(None, None), 1, &[]), 0);
        assert_eq!(left_out(&of(Some(1), None), 1, &[]), 1);
        // Their mean does not tell in which range they are.
        let of_range =
            |least, most| Custom { lengths: Lengths::between(least, most).unwrap(), ..hashes(Some(9), 0) };
        let (wide, narrow, point) = (of_range(10, 20), of_range(14, 16), of_range(15, 15));
        let rows = || vec![row_of(&wide, 9)];
        let counts =
            [&wide, &narrow, &point].map(|custom| left_out_of(Suite::custom(custom, &[1]), &[], rows()));
        assert_eq!(counts, [1, 0, 0]);
        // Nobody knows what a file held.
        assert_eq!(left_out(&of(Some(1), Some("disk.img".into())), 1, &[]), 0);
        assert_eq!(left_out(&of(Some(1), None), 1, &["--input", "disk.img"]), 0);
        assert_eq!(left_out(&of(Some(1), None), 1, &["--input=disk.img"]), 0);
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
