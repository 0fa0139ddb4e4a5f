//! One contender on one workload: its open sessions, and what it did so far.

use std::time::{Duration, Instant};

use cipherlane::{DeviceError, Plan, Session};
use cipherlane_record::{Checks, Sample};
use rustix::time::{ClockId, clock_gettime};

use crate::contender::Contender;
use crate::workload::part::Results;
use crate::workload::{Task, Workload};

/// A contender with its sessions open, one for each task.
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
    /// What was looked at, and found.
    pub checks: Checks,
    /// Repetitions of samples that were held back like the first.
    pub(super) vain: usize,
    sessions: Vec<Box<dyn Session>>,
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
pub(super) struct Timing {
    pub(super) wall: Duration,
    /// CPU time of the whole process. Where one thread works it is that thread's, whichever a device runs it on.
    pub(super) cpu: Duration,
    pub(super) tasks: Vec<Duration>,
}

impl Timing {
    /// Whether something else ran on the core: where one thread works, wall time is CPU time but for interruptions.
    pub(super) fn preempted(&self) -> bool {
        self.wall.as_secs_f64() > 1.1 * self.cpu.as_secs_f64()
    }
}

impl<'a> Runner<'a> {
    /// Opens the sessions.
    ///
    /// # Errors
    /// If the contender cannot do one of the tasks.
    pub fn open(
        index: usize,
        contender: &'a Contender<'a>,
        workload: &Workload,
        threads: usize,
    ) -> Result<Self, DeviceError> {
        let wish = cipherlane::Wish { threads: Some(threads), ..contender.wish.clone() };
        let (mut plans, mut sessions) = (Vec::new(), Vec::new());
        for task in &workload.tasks {
            let plan = contender.device.plan(&task.part.shape()?, &wish)?;
            sessions.push(contender.device.open(&plan)?);
            plans.push(plan);
        }
        let task_seconds = vec![Vec::new(); sessions.len()];
        Ok(Self {
            index,
            contender,
            plans,
            passes: 1,
            samples: Vec::new(),
            task_seconds,
            checks: Checks::default(),
            vain: 0,
            sessions,
        })
    }

    /// Runs all tasks `passes` times.
    pub(super) fn run(
        &mut self,
        tasks: &[Task],
        results: &mut [Results],
        passes: u32,
    ) -> Result<Timing, DeviceError> {
        time_passes(&mut self.sessions, tasks, results, passes)
    }

    /// Keeps a sample of `round`. A sample of the same round that came before is superseded. `throttled` is what a
    /// sensor said at its end.
    pub(super) fn keep(&mut self, round: usize, threads: usize, timing: &Timing, throttled: Option<bool>) {
        let repeats = self.samples.last().is_some_and(|last| last.round == round);
        if let Some(last) = self.samples.last_mut().filter(|_| repeats) {
            last.superseded = true;
            for seconds in &mut self.task_seconds {
                seconds.pop();
            }
        }
        let passes = f64::from(self.passes);
        let single = threads == 1;
        self.samples.push(Sample {
            round,
            wall_seconds: timing.wall.as_secs_f64() / passes,
            cpu_seconds: single.then(|| timing.cpu.as_secs_f64() / passes),
            preempted: single && timing.preempted(),
            superseded: false,
            throttled,
        });
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

    /// Wall seconds of one pass in each round: of its last sample.
    #[must_use]
    pub fn round_seconds(&self) -> Vec<f64> {
        self.samples.iter().filter(|sample| !sample.superseded).map(|sample| sample.wall_seconds).collect()
    }
}

/// Runs all tasks `passes` times, each in its session.
pub(super) fn time_passes(
    sessions: &mut [Box<dyn Session>],
    tasks: &[Task],
    results: &mut [Results],
    passes: u32,
) -> Result<Timing, DeviceError> {
    let mut of_tasks = vec![Duration::ZERO; tasks.len()];
    let cpu = process_time();
    let start = Instant::now();
    let mut last = start;
    for _ in 0..passes {
        for (index, (task, results)) in tasks.iter().zip(&mut *results).enumerate() {
            sessions[index].run(&task.part.batch(), &mut results.output())?;
            let now = Instant::now();
            of_tasks[index] += now - last;
            last = now;
        }
    }
    Ok(Timing { wall: last - start, cpu: process_time().saturating_sub(cpu), tasks: of_tasks })
}

/// CPU time that this process has used.
fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
