//! One device on one batch, over and over, its outputs looked at.

use std::rc::Rc;
use std::time::Instant;

use cipherlane::{Algorithm, Device, Operation, Plan, Session, Spans, Wish};
use cipherlane_record::Keys;

use super::setting::Setting;
use crate::bench::Wanted;
use crate::workload::part::Results;
use crate::workload::{Choice, Custom, Request, Task};

/// What is run over and over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) algorithm: Algorithm,
    pub(super) operation: Operation,
    /// Bytes of a message.
    pub(super) message_bytes: usize,
    /// Messages of the batch; none takes as many as fit the second-level caches of the threads' cores.
    pub(super) messages: Option<usize>,
    /// One key for all messages, or one each.
    pub(super) keys: Keys,
}

impl Work {
    /// Messages under one key, forward: encrypted, sealed or hashed.
    pub(super) const fn forward(algorithm: Algorithm, message_bytes: usize, messages: Option<usize>) -> Self {
        Self { algorithm, operation: algorithm.forward(), message_bytes, messages, keys: Keys::Same }
    }

    /// Its batch with what must come out, for `threads` threads of the CPU.
    pub(super) fn task(&self, setting: &Setting<'_>, threads: usize) -> Result<Rc<Task>, String> {
        let Self { algorithm, operation, message_bytes, messages, keys } = *self;
        let custom = Custom { algorithm, operation, message_bytes, messages, keys, input: None };
        let working_set_bytes = Request::working_set(Wanted::Hot, setting.host.l2_bytes, threads);
        let request = Request { seed: setting.seed, working_set_bytes, judges: setting.judges };
        let built = Choice::Custom(custom).build(&request).map_err(|error| error.to_string())?;
        built.tasks.into_iter().next().map(Rc::new).ok_or_else(|| "a workload has a task".to_owned())
    }
}

/// An open session with its batch and what must come out.
pub(super) struct Steady {
    plan: Plan,
    session: Box<dyn Session>,
    task: Rc<Task>,
    results: Results,
    wrong: u64,
}

impl Steady {
    /// Opens a session of `device` for messages of `message_bytes` bytes that fill the device: the CPU on all its
    /// logical cores from its caches, others with `batch_bytes` at a time.
    pub(super) fn filling(
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
        message_bytes: usize,
        batch_bytes: usize,
    ) -> Result<Self, String> {
        let cpu = device.info().id == setting.cpu.info().id;
        let messages = if cpu { None } else { Some((batch_bytes / message_bytes.max(1)).max(1)) };
        let threads = cpu.then_some(setting.host.logical_cores);
        let work = Work::forward(algorithm, message_bytes, messages);
        Self::open(setting, device, &work, &Wish { threads, ..Wish::default() })
    }

    /// Opens a session of `device` for `work`, planned as wished.
    pub(super) fn open(
        setting: &Setting<'_>,
        device: &dyn Device,
        work: &Work,
        wish: &Wish,
    ) -> Result<Self, String> {
        Self::of(device, work.task(setting, wish.threads.unwrap_or(1))?, wish)
    }

    /// Opens a session of `device` for `task`, planned as wished.
    pub(super) fn of(device: &dyn Device, task: Rc<Task>, wish: &Wish) -> Result<Self, String> {
        let shape = task.part.shape().map_err(|error| error.to_string())?;
        let plan = device.plan(&shape, wish).map_err(|error| error.to_string())?;
        let session = device.open(&plan).map_err(|error| error.to_string())?;
        let results = Results::for_part(&task.part);
        let mut steady = Self { plan, session, task, results, wrong: 0 };
        steady.checked()?;
        Ok(steady)
    }

    /// Runs the batch once.
    pub(super) fn once(&mut self) -> Result<Spans, String> {
        self.session
            .run(&self.task.part.batch(), &mut self.results.output())
            .map_err(|error| error.to_string())
    }

    /// Runs the batch once into outputs that were spoiled before, and looks at all of them afterwards.
    pub(super) fn checked(&mut self) -> Result<Spans, String> {
        self.task.scrub(&mut self.results);
        let spans = self.once()?;
        self.wrong += self.task.check(&self.results).unexpected;
        Ok(spans)
    }

    /// Runs until `end` or until the setting is stopped, but once at least; bytes of text that it got through. The outputs of the last
    /// run are looked at after the time has been taken.
    pub(super) fn until(&mut self, setting: &Setting<'_>, end: Instant) -> Result<u64, String> {
        let mut passes = 0;
        self.task.scrub(&mut self.results);
        loop {
            self.once()?;
            passes += 1;
            if Instant::now() >= end || setting.stopped() {
                return Ok(passes * self.bytes());
            }
        }
    }

    /// Looks at the outputs of the last run.
    pub(super) fn look(&mut self) {
        self.wrong += self.task.check(&self.results).unexpected;
    }

    /// What was planned.
    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of text of one run.
    pub(super) fn bytes(&self) -> u64 {
        self.task.part.texts.len() as u64
    }

    /// Whether every output that was looked at was right.
    pub(super) const fn verified(&self) -> bool {
        self.wrong == 0
    }
}
