//! One contender on one workload: its open sessions, and what it did so far.

use std::time::{Duration, Instant};

use cipherlane::{DeviceError, Plan, Resident, Session, Spans, StreamSpans};
use cipherlane_record::{Checks, Sample, Transfer};

use super::clock::thread_time;
use crate::contender::Contender;
use crate::workload::part::Results;
use crate::workload::{Task, Workload};
use crate::{statistics, streams};

/// A contender with its sessions open, one for each task; or, on a device with memory of its own, with the batches there.
pub struct Runner<'a> {
    /// Its place among the contenders.
    pub index: usize,
    /// The contender.
    pub contender: &'a Contender<'a>,
    /// What it planned for each task.
    pub plans: Vec<Plan>,
    /// Passes that one sample holds.
    pub passes: u32,
    /// Every sample so far.
    pub samples: Vec<Sample>,
    /// Wall seconds of each task, for each sample that is not superseded.
    pub task_seconds: Vec<Vec<f64>>,
    /// Times by the device's own events, for each sample that is not superseded: of a pass. Zeros of devices that launch
    /// no kernels.
    pub spans: Vec<Spans>,
    /// The same stream by stream, of the last pass of each such sample. Nothing where batches stay on the device.
    pub streams: Vec<Vec<StreamSpans>>,
    /// The core's clock right behind each sample that is not superseded, in hertz. Nothing of devices that launch kernels,
    /// and where it cannot be measured.
    pub(crate) clocks: Vec<f64>,
    /// What was looked at, and found.
    pub checks: Checks,
    /// Repetitions of samples that were held back like the first.
    pub(super) vain: usize,
    ways: Ways,
}

/// How batches get to the device.
enum Ways {
    /// With each pass, there and back.
    Sessions(Vec<Box<dyn Session>>),
    /// Once: they stay there.
    Residents(Vec<Box<dyn Resident>>),
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let samples = self.samples.len();
        f.debug_struct("Runner")
            .field("plans", &self.plans)
            .field("samples", &samples)
            .finish_non_exhaustive()
    }
}

/// Times of one sample, over all its passes.
pub(crate) struct Timing {
    pub(crate) wall: Duration,
    /// CPU time of the calling thread, which does the work where one thread does. That of the whole process would count
    /// sensors, loads and the dashboard as well.
    pub(crate) cpu: Duration,
    /// The core's clock right behind it, where it is looked at.
    pub(crate) hertz: Option<f64>,
    pub(crate) tasks: Vec<Duration>,
    pub(crate) spans: Spans,
    /// Of the last pass.
    pub(crate) streams: Vec<StreamSpans>,
}

impl Timing {
    /// Whether something else ran on the core: where one thread works, wall time is CPU time but for interruptions.
    pub(super) fn preempted(&self) -> bool {
        self.wall.as_secs_f64() > 1.1 * self.cpu.as_secs_f64()
    }
}

impl<'a> Runner<'a> {
    /// Opens the sessions. On a device with memory of its own there is a second runner, whose batches stay there.
    ///
    /// # Errors
    /// If the contender cannot do one of the tasks.
    pub fn open(
        index: usize,
        contender: &'a Contender<'a>,
        workload: &Workload,
        threads: usize,
    ) -> Result<Vec<Self>, DeviceError> {
        let wish = cipherlane::Wish { threads: Some(threads), ..contender.wish.clone() };
        let (mut plans, mut sessions, mut residents) = (Vec::new(), Vec::new(), Vec::new());
        for task in &workload.tasks {
            let plan = contender.device.plan(&task.part.shape()?, &wish)?;
            sessions.push(contender.device.open(&plan)?);
            residents.extend(contender.device.resident(&plan)?);
            plans.push(plan);
        }
        let runner = |plans: Vec<Plan>, ways| Self {
            index,
            contender,
            passes: 1,
            samples: Vec::new(),
            task_seconds: vec![Vec::new(); plans.len()],
            plans,
            spans: Vec::new(),
            streams: Vec::new(),
            clocks: Vec::new(),
            checks: Checks::default(),
            vain: 0,
            ways,
        };
        let mut runners = vec![runner(plans.clone(), Ways::Sessions(sessions))];
        if residents.len() == workload.tasks.len() {
            runners.push(runner(plans, Ways::Residents(residents)));
        }
        Ok(runners)
    }

    /// Whether the device has memory of its own, to which batches have to be brought.
    #[must_use]
    pub fn launches(&self) -> bool {
        self.plans.iter().any(|plan| plan.geometry.is_some())
    }

    /// Threads of the CPU that do the work: those of the task with most.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.plans.iter().map(|plan| plan.threads).max().unwrap_or(1)
    }

    /// What the samples say of moving data.
    #[must_use]
    pub fn transfer(&self) -> Transfer {
        match self.ways {
            Ways::Residents(_) => Transfer::Excluded,
            Ways::Sessions(_) if self.launches() => Transfer::Included,
            Ways::Sessions(_) => Transfer::None,
        }
    }

    /// Runs all tasks `passes` times.
    pub(super) fn run(
        &mut self,
        tasks: &[Task],
        results: &mut [Results],
        passes: u32,
    ) -> Result<Timing, DeviceError> {
        let launches = self.launches();
        match &mut self.ways {
            Ways::Sessions(sessions) => time_passes(sessions, launches, tasks, results, passes),
            Ways::Residents(residents) => time_residents(residents, tasks, results, passes),
        }
    }

    /// What comes out of one pass, which is not timed.
    pub(crate) fn outputs(&mut self, tasks: &[Task]) -> Result<Vec<Results>, DeviceError> {
        let mut results: Vec<Results> = tasks.iter().map(|task| Results::for_part(&task.part)).collect();
        self.run(tasks, &mut results, 1)?;
        Ok(results)
    }

    /// Keeps a sample of `round`. A sample of the same round that came before is superseded. `throttled` is what a
    /// sensor said at its end.
    pub(crate) fn keep(&mut self, round: usize, threads: usize, timing: Timing, throttled: Option<bool>) {
        let repeats = self.samples.last().is_some_and(|last| last.round == round);
        if let Some(last) = self.samples.last_mut().filter(|_| repeats) {
            last.superseded = true;
            self.spans.pop();
            self.streams.pop();
            self.clocks.pop();
            for seconds in &mut self.task_seconds {
                seconds.pop();
            }
        }
        let passes = f64::from(self.passes);
        // While a device works its thread sleeps, which says nothing of interruptions.
        let single = threads == 1 && !self.launches();
        self.samples.push(Sample {
            round,
            wall_seconds: timing.wall.as_secs_f64() / passes,
            cpu_seconds: single.then(|| timing.cpu.as_secs_f64() / passes),
            preempted: single && timing.preempted(),
            superseded: false,
            throttled,
        });
        let Spans { load, execute, store, wall } = timing.spans;
        let [load, execute, store, wall] = [load, execute, store, wall].map(|time| time / self.passes);
        self.spans.push(Spans { load, execute, store, wall });
        self.streams.push(timing.streams);
        self.clocks.extend(timing.hertz);
        for (seconds, task) in self.task_seconds.iter_mut().zip(&timing.tasks) {
            seconds.push(task.as_secs_f64() / passes);
        }
    }

    /// Compares what came out with what must, and counts.
    pub(super) fn check(&mut self, tasks: &[Task], results: &[Results]) {
        for (task, results) in tasks.iter().zip(results) {
            let found = task.check(results);
            self.checks.messages += found.messages;
            self.checks.planned_rejects += found.planned_rejects;
            self.checks.unexpected += found.unexpected;
        }
    }

    /// The core's clock at work, in hertz; `None` of devices that launch kernels, and where it cannot be measured.
    #[must_use]
    pub fn clock(&self) -> Option<f64> {
        (!self.clocks.is_empty()).then(|| statistics::median(&self.clocks))
    }

    /// Wall seconds of one pass in each round: of its last sample.
    #[must_use]
    pub fn round_seconds(&self) -> Vec<f64> {
        self.samples.iter().filter(|sample| !sample.superseded).map(|sample| sample.wall_seconds).collect()
    }
}

/// Threads of the CPU that are at work in any of `runners`: fewer than were `asked` for where messages are few and cannot be
/// cut. Where devices launch kernels alone, the number changes nothing, and is the one that was asked for.
pub(crate) fn threads_at_work(runners: &[Runner<'_>], asked: usize) -> usize {
    let on_cpu = runners.iter().filter(|runner| !runner.launches());
    on_cpu.map(Runner::threads).max().unwrap_or(asked)
}

/// Runs all tasks `passes` times, each in its session: from the host's memory to the host's memory. The clock is looked at
/// between tasks, and where there is one, not before the end: a look takes a tenth of a short message's time. So do those
/// of a session that times itself; only of one that launches kernels is there more to learn than the time of the task.
pub(super) fn time_passes(
    sessions: &mut [Box<dyn Session>],
    launches: bool,
    tasks: &[Task],
    results: &mut [Results],
    passes: u32,
) -> Result<Timing, DeviceError> {
    let mut of_tasks = vec![Duration::ZERO; tasks.len()];
    let mut spans = Spans::default();
    let are_several = tasks.len() > 1;
    let cpu = thread_time();
    let start = Instant::now();
    let mut last = start;
    for _ in 0..passes {
        for (index, (task, results)) in tasks.iter().zip(&mut *results).enumerate() {
            let (session, batch, mut output) = (&mut sessions[index], task.part.batch(), results.output());
            if launches {
                add(&mut spans, session.run(&batch, &mut output)?);
            } else {
                session.run_untimed(&batch, &mut output)?;
            }
            if are_several {
                let now = Instant::now();
                of_tasks[index] += now - last;
                last = now;
            }
        }
    }
    let wall = start.elapsed();
    let cpu = thread_time().saturating_sub(cpu);
    if let [of_all] = &mut *of_tasks {
        *of_all = wall;
    }
    // Asked when the clock does not run any more.
    let streams = streams::together(sessions.iter().map(|session| session.streams()));
    Ok(Timing { wall, cpu, hertz: None, tasks: of_tasks, spans, streams })
}

/// Runs all tasks `passes` times where they lie on the device. What counts is the time of the kernels, by the device's
/// events; the batches are brought before it and taken back after it.
fn time_residents(
    residents: &mut [Box<dyn Resident>],
    tasks: &[Task],
    results: &mut [Results],
    passes: u32,
) -> Result<Timing, DeviceError> {
    let mut of_tasks = vec![Duration::ZERO; tasks.len()];
    let mut spans = Spans::default();
    for (index, (task, results)) in tasks.iter().zip(results).enumerate() {
        let (resident, batch) = (&mut residents[index], task.part.batch());
        let load = resident.load(&batch, &mut results.output())?.load;
        // Not counted: a shared key is expanded. What comes out of it is not what is looked at, either.
        resident.execute()?;
        resident.clear()?;
        for _ in 0..passes {
            of_tasks[index] += resident.execute()?.execute;
        }
        let store = resident.store(&batch, &mut results.output())?.store;
        let execute = of_tasks[index];
        // Brought and taken back once, whatever the number of passes.
        add(&mut spans, Spans { load: load * passes, execute, store: store * passes, wall: execute });
    }
    let wall = of_tasks.iter().sum();
    Ok(Timing { wall, cpu: Duration::ZERO, hertz: None, tasks: of_tasks, spans, streams: Vec::new() })
}

fn add(sum: &mut Spans, spans: Spans) {
    sum.load += spans.load;
    sum.execute += spans.execute;
    sum.store += spans.store;
    sum.wall += spans.wall;
}
