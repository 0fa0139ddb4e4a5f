//! One device on one batch, over and over, its outputs looked at.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Device, Operation, Plan, Resident, Session, Shape, Spans, StreamSpans, Wish};
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

    /// The batch, with what must come out: built once, however many devices and plans run it. `threads` counts where
    /// the batch is to fit the caches.
    pub(super) fn batch(&self, setting: &Setting<'_>, threads: usize) -> Result<Prepared, String> {
        let Self { algorithm, operation, message_bytes, messages, keys } = *self;
        let custom =
            Custom { algorithm, operation, lengths: message_bytes.into(), messages, keys, input: None };
        let working_set_bytes = Request::working_set(Wanted::Hot, setting.host, threads);
        let request = Request { seed: setting.seed, working_set_bytes, judges: setting.judges };
        let built = Choice::Custom(custom).build(&request).map_err(|error| error.to_string())?;
        let task = built.tasks.into_iter().next().ok_or("a workload has a task")?;
        let shape = task.part.shape().map_err(|error| error.to_string())?;
        Ok(Prepared { task: Rc::new(task), shape })
    }
}

/// A batch with what must come out.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    task: Rc<Task>,
    pub(super) shape: Shape,
}

impl Prepared {
    /// A session of `device` that takes the batch from the host's memory, and its results back there.
    pub(super) fn open(&self, device: &dyn Device, wish: &Wish) -> Result<Steady, String> {
        let plan = device.plan(&self.shape, wish).map_err(|error| error.to_string())?;
        let session = device.open(&plan).map_err(|error| error.to_string())?;
        self.start(plan, Way::There(session))
    }

    /// The batch in the memory of `device`, so that kernels alone are run. A device without memory of its own has it
    /// in the host's, as in [`Self::open`].
    pub(super) fn resident(&self, device: &dyn Device, wish: &Wish) -> Result<Steady, String> {
        let plan = device.plan(&self.shape, wish).map_err(|error| error.to_string())?;
        match device.resident(&plan).map_err(|error| error.to_string())? {
            Some(resident) => self.start(plan, Way::Stays(resident)),
            None => self.open(device, wish),
        }
    }

    fn start(&self, plan: Plan, way: Way) -> Result<Steady, String> {
        let results = Results::for_part(&self.task.part);
        let mut steady = Steady { way, plan, task: Rc::clone(&self.task), results, wrong: 0 };
        steady.checked()?;
        Ok(steady)
    }
}

/// How a batch is run: brought there and back each time, or where it stays.
enum Way {
    There(Box<dyn Session>),
    Stays(Box<dyn Resident>),
}

/// How often something is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Often {
    /// Runs that count.
    pub(super) runs: usize,
    /// Runs before them, which do not.
    pub(super) dropped: usize,
    /// The time after which it ends, however many runs there were; three at least.
    pub(super) most: Duration,
}

/// An open session with its batch and what must come out.
pub(super) struct Steady {
    way: Way,
    plan: Plan,
    task: Rc<Task>,
    results: Results,
    wrong: u64,
}

impl Steady {
    /// Messages of `message_bytes` bytes that fill the device: the CPU on all its logical cores from its caches, others with
    /// `batch_bytes` in their memory, whose kernels alone are run.
    pub(super) fn filling(
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
        message_bytes: usize,
        batch_bytes: usize,
    ) -> Result<Self, String> {
        let cpu = setting.is_cpu(device);
        let messages = if cpu { None } else { Some((batch_bytes / message_bytes.max(1)).max(1)) };
        let threads = cpu.then_some(setting.host.logical_cores);
        let work = Work::forward(algorithm, message_bytes, messages);
        work.batch(setting, threads.unwrap_or(1))?.resident(device, &Wish { threads, ..Wish::default() })
    }

    /// One message of `bytes` bytes in the memory of `device`, whose kernels alone are run.
    pub(super) fn staying(
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
        bytes: usize,
    ) -> Result<Self, String> {
        let work = Work::forward(algorithm, bytes, Some(1));
        work.batch(setting, 1)?.resident(device, &Wish::default())
    }

    /// Opens a session of `device` for `work`, planned as wished.
    pub(super) fn open(
        setting: &Setting<'_>,
        device: &dyn Device,
        work: &Work,
        wish: &Wish,
    ) -> Result<Self, String> {
        work.batch(setting, wish.threads.unwrap_or(1))?.open(device, wish)
    }

    /// Runs the batch once. Of a batch that stays on the device the time is that of its kernels.
    pub(super) fn once(&mut self) -> Result<Spans, String> {
        let spans = match &mut self.way {
            Way::There(session) => session.run(&self.task.part.batch(), &mut self.results.output()),
            Way::Stays(resident) => resident.execute(),
        };
        spans.map_err(|error| error.to_string())
    }

    /// Runs the batch once into outputs that were spoiled before, and looks at all of them afterwards.
    pub(super) fn checked(&mut self) -> Result<Spans, String> {
        self.task.scrub(&mut self.results);
        if let Way::Stays(resident) = &mut self.way {
            let loaded = resident.load(&self.task.part.batch(), &mut self.results.output());
            loaded.and_then(|_| resident.clear()).map_err(|error| error.to_string())?;
        }
        let spans = self.once()?;
        self.look()?;
        Ok(spans)
    }

    /// Runs the batch `often`, then once more, to look at its outputs. One that is stopped meanwhile has runs that are too
    /// few, or none, and gives an error.
    pub(super) fn repeat(&mut self, setting: &Setting<'_>, often: Often) -> Result<Vec<Spans>, String> {
        Ok(self.repeat_by_stream(setting, often)?.into_iter().map(|(spans, _)| spans).collect())
    }

    /// The same, with the spans of each run stream by stream.
    pub(super) fn repeat_by_stream(
        &mut self,
        setting: &Setting<'_>,
        often: Often,
    ) -> Result<Vec<(Spans, Vec<StreamSpans>)>, String> {
        let end = Instant::now() + often.most;
        let is_over = |runs: usize, least: usize| runs >= least && Instant::now() >= end;
        for run in 0..often.dropped {
            if setting.stopped() || is_over(run, 1) {
                break;
            }
            self.once()?;
        }
        let mut runs = Vec::with_capacity(often.runs);
        while runs.len() < often.runs.max(3) && !is_over(runs.len(), 3) && !setting.stopped() {
            let spans = self.once()?;
            runs.push((spans, self.streams()));
        }
        if setting.stopped() {
            return Err("it was stopped".to_owned());
        }
        self.spoil()?;
        self.once()?;
        self.look()?;
        Ok(runs)
    }

    /// Of the last run, stream by stream. None of a batch that stays on the device.
    fn streams(&self) -> Vec<StreamSpans> {
        match &self.way {
            Way::There(session) => session.streams(),
            Way::Stays(_) => Vec::new(),
        }
    }

    /// Runs until `end` or until the setting is stopped, but once at least; bytes of text that it got through. The outputs of the last
    /// run are looked at after the time has been taken.
    pub(super) fn until(&mut self, setting: &Setting<'_>, end: Instant) -> Result<u64, String> {
        let mut passes = 0;
        self.spoil()?;
        loop {
            self.once()?;
            passes += 1;
            if Instant::now() >= end || setting.stopped() {
                return Ok(passes * self.bytes());
            }
        }
    }

    /// Makes outputs wrong that a run is to write, where it writes them.
    fn spoil(&mut self) -> Result<(), String> {
        match &mut self.way {
            Way::There(_) => self.task.scrub(&mut self.results),
            Way::Stays(resident) => resident.clear().map_err(|error| error.to_string())?,
        }
        Ok(())
    }

    /// Looks at the outputs of the last run.
    pub(super) fn look(&mut self) -> Result<(), String> {
        if let Way::Stays(resident) = &mut self.way {
            self.task.scrub(&mut self.results);
            let stored = resident.store(&self.task.part.batch(), &mut self.results.output());
            stored.map_err(|error| error.to_string())?;
        }
        self.wrong += self.task.check(&self.results).unexpected;
        Ok(())
    }

    /// The plan that is in effect.
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
