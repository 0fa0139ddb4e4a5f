//! What a run is asked to be, and whether it can be that.

use std::sync::Arc;
use std::time::Duration;

use cipherlane::devices::NoDevice;
use cipherlane::{Algorithm, BatchError, Device, Kernel, Plan, Shape, UnknownName, Unsupported, Wish};
use cipherlane_lab::Contender;
use cipherlane_lab::workload::{self, Choice, Custom, Job, named};
use cipherlane_record::Keys;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::machine::Machine;

/// The name of a workload of one's own.
pub(crate) const CUSTOM: &str = "custom";
/// Seconds of a run at most: its samples are kept one by one.
const LONGEST: f64 = 3600.0;
const SHORTEST: f64 = 0.1;
/// Threads at most, as on the command line.
const MOST_THREADS: usize = 4096;

/// What the page sends. Absent values are for the device and the laboratory to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// A named workload, or `custom`.
    pub(crate) workload: String,
    /// Of a custom workload, or of the jobs of a named one.
    #[serde(default)]
    pub(crate) algorithm: Option<String>,
    #[serde(default)]
    pub(crate) operation: Option<String>,
    /// Of a custom workload.
    #[serde(default)]
    pub(crate) message_bytes: Option<usize>,
    #[serde(default)]
    pub(crate) messages: Option<usize>,
    #[serde(default)]
    pub(crate) keys: Option<Keys>,
    pub(crate) device: String,
    #[serde(default)]
    pub(crate) tier: Option<String>,
    #[serde(default)]
    pub(crate) kernel: Option<String>,
    #[serde(default)]
    pub(crate) threads: Option<usize>,
    #[serde(default)]
    pub(crate) blocks: Option<usize>,
    #[serde(default)]
    pub(crate) threads_per_block: Option<usize>,
    #[serde(default)]
    pub(crate) streams: Option<usize>,
    /// Whether the data lies in the device's memory all the time.
    #[serde(default)]
    pub(crate) resident: bool,
    /// Background load of all logical CPUs, a part of 1.
    #[serde(default)]
    pub(crate) cpu_load: f64,
    /// Background load of the device, a part of 1.
    #[serde(default)]
    pub(crate) device_load: f64,
    /// How long it measures; absent: until it is stopped, or the longest time.
    #[serde(default)]
    pub(crate) seconds: Option<f64>,
    /// Seed of all contents.
    #[serde(default = "one")]
    pub(crate) seed: u64,
}

const fn one() -> u64 {
    1
}

/// A request that can be met.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) choice: Choice,
    pub(crate) device: Arc<dyn Device>,
    /// Tier, kernel and geometry.
    pub(crate) wish: Wish,
    pub(crate) threads: usize,
    pub(crate) resident: bool,
    pub(crate) cpu_load: f64,
    pub(crate) device_load: f64,
    /// How long it measures at most.
    pub(crate) limit: Duration,
    /// Whether somebody is expected to stop it.
    pub(crate) open_ended: bool,
    pub(crate) seed: u64,
}

/// Why a request cannot be met, with what helps.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Device(#[from] NoDevice),
    #[error(transparent)]
    Name(#[from] UnknownName),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error("{0}")]
    Value(String),
}

impl Request {
    /// The order, if this machine can meet it.
    pub(crate) fn order(&self, machine: &Machine) -> Result<Order, Refusal> {
        let device = Arc::clone(machine.device(&self.device)?);
        let launches = Contender::new(&*device).launches;
        let choice = self.choice()?;
        let threads = self.threads(machine, launches)?;
        for (name, load) in [("CPU", self.cpu_load), ("device", self.device_load)] {
            if !(0.0..=1.0).contains(&load) {
                return Err(Refusal::Value(format!(
                    "a {name} load is a part of the time from 0 to 1, not {load}"
                )));
            }
        }
        if !launches && (self.device_load > 0.0 || self.resident) {
            return Err(Refusal::Value(format!(
                "{} has no memory and no kernels of its own; leave the device load at 0, and the data where it is",
                self.device
            )));
        }
        let seconds = self.seconds.unwrap_or(LONGEST);
        if !(SHORTEST..=LONGEST).contains(&seconds) {
            return Err(Refusal::Value(format!(
                "a run takes {SHORTEST} to {LONGEST} seconds, not {seconds}"
            )));
        }
        let order = Order {
            choice,
            device,
            wish: self.wish(),
            threads,
            resident: self.resident,
            cpu_load: self.cpu_load,
            device_load: self.device_load,
            limit: Duration::from_secs_f64(seconds),
            open_ended: self.seconds.is_none(),
            seed: self.seed,
        };
        // A tier or kernel that is not here is known before the run.
        order.plans()?;
        Ok(order)
    }

    fn choice(&self) -> Result<Choice, Refusal> {
        if self.workload != CUSTOM {
            let own = [self.message_bytes, self.messages];
            if own.iter().any(Option::is_some) || self.keys.is_some() {
                let reason = "a named workload has its own sizes and keys; leave them out, or take custom";
                return Err(Refusal::Value(reason.to_owned()));
            }
            return self.job_of(named(&self.workload)?);
        }
        let missing = |what| Refusal::Value(format!("a custom workload needs {what}"));
        let algorithm: Algorithm = self.algorithm.as_ref().ok_or_else(|| missing("an algorithm"))?.parse()?;
        let operation = match &self.operation {
            Some(name) => name.parse()?,
            None => algorithm.forward(),
        };
        let message_bytes = self.message_bytes.ok_or_else(|| missing("the bytes of a message"))?;
        workload::check(algorithm, operation, message_bytes)?;
        if self.messages == Some(0) {
            return Err(missing(
                "at least 1 message; leave their number out for a working set that fits the caches",
            ));
        }
        Ok(Choice::Custom(Custom {
            algorithm,
            operation,
            lengths: message_bytes.into(),
            messages: self.messages,
            keys: self.keys.unwrap_or(Keys::Same),
            input: None,
        }))
    }

    /// The job of a named workload: the one of this algorithm and operation, its first where none is named.
    fn job_of(&self, workload: &'static workload::Named) -> Result<Choice, Refusal> {
        let is_asked = |name: &Option<String>, found: String| name.as_ref().is_none_or(|name| *name == found);
        let fits = |job: &&Job| match job {
            Job::Mixed => self.algorithm.is_none() && self.operation.is_none(),
            Job::Single(algorithm, operation) => {
                is_asked(&self.algorithm, algorithm.to_string())
                    && is_asked(&self.operation, operation.to_string())
            }
        };
        let job = workload.jobs.iter().find(fits).ok_or_else(|| {
            let jobs: Vec<String> = workload.jobs.iter().map(described).collect();
            Refusal::Value(format!("{} does {}; ask for one of these", workload.name, jobs.join(", ")))
        })?;
        Ok(Choice::Named(workload, *job))
    }

    fn threads(&self, machine: &Machine, launches: bool) -> Result<usize, Refusal> {
        match self.threads {
            Some(threads) if !(1..=MOST_THREADS).contains(&threads) => {
                Err(Refusal::Value(format!("{threads} is no number of threads; take 1 to {MOST_THREADS}")))
            }
            Some(_) if launches => Err(Refusal::Value(format!(
                "{} launches kernels, whose blocks do the work; leave the threads out, and ask for blocks",
                self.device
            ))),
            None if launches => Ok(1),
            Some(threads) => Ok(threads),
            None => Ok(machine.host().physical_cores.unwrap_or(machine.host().logical_cores)),
        }
    }

    fn wish(&self) -> Wish {
        Wish {
            tier: self.tier.clone(),
            kernel: self.kernel.clone(),
            blocks: self.blocks,
            threads_per_block: self.threads_per_block,
            streams: self.streams,
            ..Wish::default()
        }
    }
}

fn described(job: &Job) -> String {
    match job {
        Job::Mixed => "several operations in one pass; leave algorithm and operation out".to_owned(),
        Job::Single(algorithm, operation) => format!("{algorithm} {operation}"),
    }
}

impl Order {
    /// Who runs it.
    pub(crate) fn contender(&self) -> Contender<'_> {
        Contender { wish: self.wish.clone(), ..Contender::new(&*self.device) }
    }

    /// How its batches will be run, as far as that is known before their messages are made.
    pub(crate) fn plans(&self) -> Result<Vec<Plan>, Refusal> {
        let wish = Wish { threads: Some(self.threads), ..self.wish.clone() };
        self.shapes().iter().map(|shape| Ok(self.device.plan(shape, &wish)?)).collect()
    }

    /// Every kernel that could be asked for: what serves all of its batches.
    pub(crate) fn kernels(&self) -> Vec<Kernel> {
        let mut of_batches = self.shapes().into_iter().map(|shape| self.device.kernels(&shape));
        let first = of_batches.next().unwrap_or_default();
        of_batches.fold(first, |mut common, others| {
            common.retain(|kernel| others.iter().any(|other| other.name == kernel.name));
            common
        })
    }

    fn shapes(&self) -> Vec<Shape> {
        /// Where the real number follows from the caches: as many as fill every lane and thread.
        const MANY: usize = 4096;
        self.choice.shapes(MANY)
    }

    /// The run in a line: `tls-16k aes-128-gcm seal on cpu at avx2, 2 threads, CPU load 40 %`.
    pub(crate) fn title(&self) -> String {
        let mut title = match (&self.choice, self.choice.job()) {
            (choice, Job::Mixed) => choice.name().into_owned(),
            (Choice::Custom(custom), _) => {
                let keys = if custom.keys == Keys::Distinct { ", a key each" } else { "" };
                format!("{} {} of {} B{keys}", custom.algorithm, custom.operation, custom.lengths.most())
            }
            (choice, Job::Single(algorithm, operation)) => {
                format!("{} {algorithm} {operation}", choice.name())
            }
        };
        title.push_str(" on ");
        title.push_str(&self.device.info().id);
        if let Some(way) = self.wish.kernel.as_ref().or(self.wish.tier.as_ref()) {
            title.push_str(" by ");
            title.push_str(way);
        }
        if !self.contender().launches {
            let plural = if self.threads == 1 { "" } else { "s" };
            title.push_str(&format!(", {} thread{plural}", self.threads));
        }
        let geometry = [
            (self.wish.blocks, "blocks"),
            (self.wish.threads_per_block, "threads each"),
            (self.wish.streams, "streams"),
        ];
        for (number, name) in geometry {
            if let Some(number) = number {
                title.push_str(&format!(", {number} {name}"));
            }
        }
        if self.resident {
            title.push_str(", data there");
        }
        for (name, load) in [("CPU", self.cpu_load), ("device", self.device_load)] {
            if load > 0.0 {
                title.push_str(&format!(", {name} load {:.0} %", 100.0 * load));
            }
        }
        title
    }
}
