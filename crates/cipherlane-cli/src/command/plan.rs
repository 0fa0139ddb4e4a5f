//! `plan`: how a workload would be run.

use anyhow::Result;
use cipherlane::{Algorithm, BatchError, Device, Kernel, Operation, Plan, Shape, Unsupported, Wish};
use serde::Serialize;

use super::launch::{self, Launch};
use super::shared::{self, Keys, Roster, Threads};
use crate::exit::Exit;
use crate::render::sink::Sink;
use crate::render::table::{self, Column};
use crate::render::{self, complain, units};

const EXAMPLES: &str = "\
Examples:
  cipherlane plan --algorithm aes-128-gcm --size 128 --messages 1000000 --keys distinct
  cipherlane plan --algorithm aes-256-xts --operation decrypt --size 4k --tier avx2
  cipherlane plan --algorithm aes-128-ctr --size 1GiB --device rival:libcrypto
  cipherlane plan --algorithm aes-128-ctr --size 1GiB --device cuda:0 --blocks 264";

/// Options of `plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Cipher, key bits and mode, or a hash function: aes-128-gcm, sha3-256
    #[arg(long, short, env = "CIPHERLANE_ALGORITHM", value_parser = shared::one_algorithm)]
    algorithm: Algorithm,
    /// What is done to each message: seal, open, encrypt, decrypt or hash [default: the algorithm's forward one]
    #[arg(long, short, env = "CIPHERLANE_OPERATION", value_parser = shared::one::<Operation>)]
    operation: Option<Operation>,
    /// Bytes of each message: 16, 16k, 1MiB, 4kB; k, M, G, T and KiB to TiB count in 1024, kB to TB in 1000, in any case
    #[arg(long, short, env = "CIPHERLANE_SIZE", default_value = "16k", value_parser = bytes)]
    size: usize,
    /// Number of messages
    #[arg(long, short, env = "CIPHERLANE_MESSAGES", default_value_t = 1, value_parser = shared::messages)]
    messages: usize,
    /// One key for all messages, or one each
    #[arg(long, env = "CIPHERLANE_KEYS", default_value = "same")]
    keys: Keys,
    /// The device, by the name that `cipherlane devices` shows, or all
    #[arg(long, short, env = "CIPHERLANE_DEVICE", default_value = "cpu", value_parser = shared::one::<String>)]
    device: String,
    /// Insist on an instruction tier: portable, sse, avx2 or avx512
    #[arg(long, env = "CIPHERLANE_TIER", value_parser = shared::one::<String>)]
    tier: Option<String>,
    /// Insist on a kernel by its full name; the plan without it lists the others
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Insist on a number of threads: 1, phys or all
    #[arg(long, short, env = "CIPHERLANE_THREADS", value_parser = shared::one::<Threads>)]
    threads: Option<Threads>,
    #[command(flatten)]
    launch: Launch,
    /// Write it as JSON to this file, `-` for stdout (which then has no table)
    // No variable: CIPHERLANE_JSON names a file of records, which this would replace.
    #[arg(long, value_name = "FILE")]
    json: Option<Sink>,
}

/// Bytes of each message: one number.
fn bytes(text: &str) -> Result<usize, String> {
    units::parse_bytes(shared::single(text)?)
}

/// A plan, as JSON has it.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    device: &'a str,
    algorithm: String,
    operation: &'a str,
    kernel: &'a str,
    tier: &'a str,
    lanes: usize,
    threads: usize,
    chunk_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    geometry: Option<Launched>,
    constant_time: bool,
    alternatives: Vec<&'a str>,
}

/// A geometry, as JSON has it.
#[derive(Debug, Serialize)]
struct Launched {
    blocks: usize,
    threads_per_block: usize,
    /// `None`: as many as suit where the texts lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<usize>,
}

/// Shows the plan of each device that was asked for.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let roster = Roster::find(options.device != "cpu");
    let devices = roster.choose(std::slice::from_ref(&options.device))?;
    let shape = options.shape()?;
    let mut plans = Vec::new();
    for &device in &devices {
        match options.plan(device, &shape) {
            Ok(plan) => plans.push(plan),
            // The others may have one.
            Err(reason) if devices.len() > 1 => {
                complain("left out", &format!("{}: {reason}", device.info().id));
            }
            Err(reason) => return Err(reason.into()),
        }
    }
    if let Some(sink) = &options.json {
        let entries: Vec<_> = plans.iter().map(|(plan, others)| Entry::of(plan, others)).collect();
        sink.write_json_lines(&entries)?;
    }
    if options.json != Some(Sink::Stdout) {
        for (plan, others) in &plans {
            render::print(&format!("{}\n", table::text(&to_table(plan, others))))?;
        }
    }
    Ok(if plans.is_empty() { Exit::NothingToRun } else { Exit::Success })
}

impl Options {
    /// The plan of `device`, and the kernels that it does not take.
    fn plan(&self, device: &dyn Device, shape: &Shape) -> Result<(Plan, Vec<Kernel>), Unsupported> {
        let mut wish = Wish {
            tier: self.tier.clone(),
            kernel: self.kernel.clone(),
            threads: self.threads.map(|threads| threads.on(&cipherlane_lab::host::detect())),
            ..Wish::default()
        };
        self.launch.wish(&mut wish);
        let plan = device.plan(shape, &wish)?;
        let mut others = device.kernels(shape);
        others.retain(|kernel| kernel.name != plan.kernel);
        Ok((plan, others))
    }

    fn shape(&self) -> Result<Shape, BatchError> {
        let operation = self.operation.unwrap_or(self.algorithm.forward());
        cipherlane_lab::workload::check(self.algorithm, operation, self.size)?;
        // What takes no key has none for each message either.
        let shared = self.keys == Keys::Same || self.algorithm.key_bytes() == 0;
        Ok(Shape::uniform(self.algorithm, operation, self.messages, self.size as u64, shared))
    }
}

impl<'a> Entry<'a> {
    fn of(plan: &'a Plan, others: &'a [Kernel]) -> Self {
        Self {
            device: &plan.device,
            algorithm: plan.algorithm.to_string(),
            operation: plan.operation.name(),
            kernel: &plan.kernel,
            tier: &plan.tier,
            lanes: plan.lanes,
            threads: plan.threads,
            chunk_bytes: plan.chunk,
            geometry: plan.geometry.map(|geometry| Launched {
                blocks: geometry.blocks,
                threads_per_block: geometry.threads_per_block,
                streams: geometry.streams,
            }),
            constant_time: plan.constant_time,
            alternatives: others.iter().map(|kernel| kernel.name.as_str()).collect(),
        }
    }
}

fn to_table(plan: &Plan, others: &[Kernel]) -> comfy_table::Table {
    let chunk =
        if plan.chunk == usize::MAX { "a whole message".to_owned() } else { units::bytes(plan.chunk as u64) };
    let timing = if plan.constant_time { "independent of keys and data" } else { "depends on keys and data" };
    let others: Vec<&str> = others.iter().map(|kernel| kernel.name.as_str()).collect();
    let mut table = table::new([Column::Words("plan"), Column::Words("")]);
    for (name, value) in [
        ("device", plan.device.clone()),
        ("algorithm", plan.algorithm.to_string()),
        ("operation", plan.operation.to_string()),
        ("kernel", plan.kernel.clone()),
        ("tier", plan.tier.clone()),
        ("blocks in flight", plan.lanes.to_string()),
        ("threads", plan.threads.to_string()),
        (if plan.geometry.is_some() { "brought at a time" } else { "a thread takes" }, chunk),
        ("launches", plan.geometry.as_ref().map_or_else(|| "none".to_owned(), launch::described)),
        ("timing", timing.to_owned()),
        ("other kernels here", if others.is_empty() { "none".to_owned() } else { others.join(", ") }),
    ] {
        table.add_row([name.to_owned(), value]);
    }
    table
}
