//! `tune`: the launch geometry in which a device runs kernels fastest.

mod report;

use anyhow::Result;
use cipherlane::verify::Reference;
use cipherlane::{Algorithm, Device, DeviceError, Operation, Output, Tuned, Wish};
use cipherlane_lab::workload::part::Results;
use cipherlane_lab::workload::{Choice, Custom, Request, Task};
use cipherlane_lab::{Contender, Judges};
use clap::builder::FalseyValueParser;

use super::shared::{self, Keys, Roster};
use crate::exit::{Exit, Nothing, Usage};
use crate::render::progress::Bar;
use crate::render::sink::Sink;
use crate::render::{self, complain, units};
use report::Entry;

const EXAMPLES: &str = "\
Examples:
  cipherlane tune --algorithm aes-128-ctr,aes-128-gcm
  cipherlane tune --algorithm aes-128-cbc --operation encrypt --size 16k
  cipherlane tune --algorithm aes-128-gcm --size 128 --keys distinct \\
    --kernel aes-gcm/banked4-message/x1
  cipherlane tune --device opencl:0 --algorithm sha3-256 --text 16MiB

Blocks, threads of a block and tiles are tried in turn, each from the best so far; data lies on the device, the time is \
that of the kernels, and every output is compared with that of the CPU. What is best is kept in the folder `cipherlane` of \
your cache (XDG_CACHE_HOME), by device, driver and kernel, and later plans have it.

Exits 3 if an output is wrong, 6 if there is nothing to tune.";

/// Seed of the contents, which do not matter.
const SEED: u64 = 1;

/// Options of `tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Devices, by the names that `cipherlane devices` shows, or all [default: the GPUs]
    #[arg(long, short, env = "CIPHERLANE_DEVICE", value_delimiter = ',')]
    device: Vec<String>,
    /// Algorithms, as aes-128-gcm
    #[arg(long, short, env = "CIPHERLANE_ALGORITHM", value_delimiter = ',', value_parser = shared::algorithm, required = true)]
    algorithm: Vec<Algorithm>,
    /// seal, open, encrypt, decrypt, hash [default: all of the algorithm's]
    #[arg(long, short, env = "CIPHERLANE_OPERATION", value_delimiter = ',')]
    operation: Vec<Operation>,
    /// Bytes of each message: 128, 16k, 1MiB, 4kB, or a list, since messages of other lengths have other kernels; k, M, G, T
    /// and KiB to TiB count in 1024, kB to TB in 1000, in any case
    #[arg(long, short, env = "CIPHERLANE_SIZE", value_delimiter = ',', default_value = "16k", value_parser = units::parse_bytes)]
    size: Vec<usize>,
    /// One key for all messages, or one each
    #[arg(long, env = "CIPHERLANE_KEYS", default_value = "same")]
    keys: Keys,
    /// Bytes of text in all, as for --size: enough to fill the device
    #[arg(long, env = "CIPHERLANE_TEXT", default_value = "256MiB", value_parser = units::parse_some_bytes)]
    text: usize,
    /// Insist on a kernel by its full name [default: the device's choice]
    #[arg(long, env = "CIPHERLANE_KERNEL")]
    kernel: Option<String>,
    /// Show no progress bar
    #[arg(long, env = "CIPHERLANE_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    no_progress: bool,
    /// Write every launch that was tried as JSON to this file, `-` for stdout (which then has no table)
    // No variable: CIPHERLANE_JSON names a file of records, which this would replace.
    #[arg(long, value_name = "FILE")]
    json: Option<Sink>,
}

/// Tunes what was asked for.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let roster = Roster::find(false);
    let devices = devices(options, &roster)?;
    let jobs = options.jobs()?;
    options.json.as_ref().map_or(Ok(()), Sink::check)?;
    let cpu = roster.engine.device("cpu")?;
    let reference = Reference::new();
    let judges = Judges::new(&**cpu, &reference);
    let bar = Bar::new(options.no_progress);
    let mut entries = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        #[allow(clippy::cast_precision_loss)] // a handful of jobs
        let fraction = place as f64 / jobs.len() as f64;
        let title = job.title(options.keys);
        bar.show(fraction, None, format!("{title}: expected output"));
        for task in job.build(options, &judges)? {
            for &device in &devices {
                bar.show(fraction, None, format!("{title} on {}", device.info().id));
                let entry = Entry::new(device, &title, &task, tune(device, &task, options));
                if let Err(reason) = &entry.tuned {
                    complain("failed", &format!("{title} on {}: {reason}", device.info().id));
                }
                entries.push(entry);
            }
        }
    }
    bar.clear();
    if let Some(sink) = &options.json {
        sink.write_json(&entries)?;
    }
    if options.json != Some(Sink::Stdout) {
        render::print(&report::text(&entries))?;
    }
    Ok(report::exit(&entries))
}

/// The devices that were asked for, or else the usual ones, as far as they launch kernels.
fn devices<'a>(options: &Options, roster: &'a Roster) -> Result<Vec<&'a dyn Device>> {
    let chosen = roster.choose(&options.device)?;
    let launching: Vec<_> = chosen.into_iter().filter(|&device| Contender::new(device).launches).collect();
    if launching.is_empty() {
        let reasons: Vec<String> =
            roster.absent.iter().map(|absent| format!("{}: {}", absent.kind, absent.reason)).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
        let remedy =
            format!("none of these devices launches kernels; {}{reasons}", roster.remedy_for_launches());
        return Err(Nothing(remedy).into());
    }
    Ok(launching)
}

/// Sweeps the launches of the kernel that `device` takes for `task`.
fn tune(device: &dyn Device, task: &Task, options: &Options) -> Result<Tuned, DeviceError> {
    let wish = Wish { kernel: options.kernel.clone(), ..Wish::default() };
    let plan = device.plan(&task.part.shape()?, &wish)?;
    let mut results = Results::for_part(&task.part);
    let Results { bytes, tags, accepted } = &task.expected;
    let mut is_right = |found: &Output<'_>| {
        *found.bytes == **bytes && *found.tags == **tags && *found.accepted == **accepted
    };
    let tuned = device.tune(&plan, &task.part.batch(), &mut results.output(), &mut is_right)?;
    tuned.ok_or_else(|| DeviceError::Failed {
        device: device.info().id.clone(),
        reason: "it launches no kernels, so there is nothing to tune".to_owned(),
    })
}

/// What is tuned: messages of one length.
struct Job {
    algorithm: Algorithm,
    operation: Operation,
    size: usize,
}

impl Job {
    fn title(&self, keys: Keys) -> String {
        let keys = units::keys(keys == Keys::Distinct && self.algorithm.key_bytes() > 0);
        format!("{} {}, {}{keys}", self.algorithm, self.operation, units::bytes(self.size as u64))
    }

    /// The batch, with its expected output.
    fn build(&self, options: &Options, judges: &Judges<'_>) -> Result<Vec<Task>> {
        let custom = Custom {
            algorithm: self.algorithm,
            operation: self.operation,
            lengths: self.size.into(),
            messages: Some((options.text / self.size.max(1)).max(1)),
            keys: options.keys.into(),
            input: None,
        };
        let request = Request { seed: SEED, working_set_bytes: options.text, judges };
        Ok(Choice::Custom(custom).build(&request)?.tasks)
    }
}

impl Options {
    /// Algorithms by operations by sizes.
    fn jobs(&self) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        let sizes = shared::once(self.size.iter().copied());
        for algorithm in shared::once(self.algorithm.iter().copied()) {
            for &operation in algorithm.operations() {
                if !self.operation.is_empty() && !self.operation.contains(&operation) {
                    continue;
                }
                for &size in &sizes {
                    cipherlane_lab::workload::check(algorithm, operation, size)?;
                    jobs.push(Job { algorithm, operation, size });
                }
            }
        }
        if jobs.is_empty() {
            return Err(Usage("none of these algorithms has one of these operations".to_owned()).into());
        }
        Ok(jobs)
    }
}
