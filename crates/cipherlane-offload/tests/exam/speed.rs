//! Speeds: kernels alone on data that lies on the device, then from host memory to host memory.
//!
//! The whole of every output is compared with what the engine makes of the batch on this CPU, so that no wrong kernel has
//! a number.

use std::time::Duration;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Operation, Output, Plan, Shape, Source, TagLengths,
    Wish,
};
use cipherlane_cpu::Cpu;

use crate::options::Options;

/// What is measured: an algorithm and operation on messages of one length, with one key or a key each.
struct Point {
    algorithm: Algorithm,
    operation: Operation,
    /// Bytes of a message; 0 for one message of all the text.
    message: usize,
    /// Bytes of the last message, unless it is like the others.
    last: usize,
    shared: bool,
}

/// The texts of a point, and what has to come out.
struct Texts<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    expected: &'a Expected,
}

/// What the CPU makes of a batch.
struct Expected {
    text: Vec<u8>,
    tags: Vec<u8>,
}

/// Measures what the names ask for, on texts in `input`, which is filled here. Returns how many points came out wrong.
pub(crate) fn measure(device: &dyn Device, options: &Options, input: &mut [u8], output: &mut [u8]) -> usize {
    if options.get("text=") == Some("zeros") {
        input.fill(0);
    } else {
        fill(input);
    }
    println!(
        "{:44} {:>22} {:>9} {:>9} {:>9} {:>9}",
        "", "kernel", "geometry", "resident", "pinned", "pageable"
    );
    let names = options.names();
    let is_wanted =
        |point: &Point| names.is_empty() || names.iter().any(|n| point.algorithm.to_string().contains(n));
    let mut wrong = 0;
    let points = if options.get("kernel=") == Some("each") { points_of_each() } else { points() };
    for mut point in points.into_iter().filter(is_wanted) {
        point.last = options.number("last=", 0) << 10;
        let mut columns = Columns::new(&point, input.len());
        let expected = point.expected(&mut columns, input).unwrap();
        for kernel in point.kernels(device, options.get("kernel="), &columns) {
            let mut texts = Texts { input, output, expected: &expected };
            match point.measure(device, options, kernel.as_deref(), &mut texts, &mut columns) {
                Ok(line) => println!("{line}"),
                Err(reason) => {
                    wrong += 1;
                    println!(
                        "{} by {} WRONG: {reason}",
                        point.name(),
                        kernel.as_deref().unwrap_or("the default")
                    );
                }
            }
        }
    }
    wrong
}

fn points() -> Vec<Point> {
    let mut points = Vec::new();
    for algorithm in Algorithm::all() {
        for &operation in algorithm.operations() {
            let mut add =
                |message, shared| points.push(Point { algorithm, operation, message, last: 0, shared });
            match algorithm {
                Algorithm::Hash(_) => {
                    add(1 << 10, true);
                    // One permutation or compression each, or two.
                    add(64, true);
                }
                Algorithm::Cipher(_, cipherlane_core::Mode::Xts) => add(4096, true),
                Algorithm::Cipher(_, cipherlane_core::Mode::Gcm) => {
                    add(0, true);
                    add(16 << 10, true);
                    add(16 << 10, false);
                    add(128, false);
                }
                Algorithm::Cipher(_, cipherlane_core::Mode::Cbc) if operation == Operation::Encrypt => {
                    add(16 << 10, true);
                }
                Algorithm::Cipher(..) => add(0, true),
            }
        }
    }
    points
}

/// Messages that every kernel is for, one or another: long, of some blocks and short, with one key and a key each.
fn points_of_each() -> Vec<Point> {
    let mut points = Vec::new();
    for algorithm in Algorithm::all() {
        let lengths: &[usize] = if algorithm.hash().is_some() { &[1 << 10] } else { &[0, 4 << 10, 128] };
        let keys: &[bool] = if algorithm.hash().is_some() { &[true] } else { &[true, false] };
        for &operation in algorithm.operations() {
            // One chain of blocks would have one thread of the device at work.
            let chains =
                algorithm.mode() == Some(cipherlane_core::Mode::Cbc) && operation == Operation::Encrypt;
            for &message in &lengths[usize::from(chains)..] {
                points.extend(keys.iter().map(|&shared| Point {
                    algorithm,
                    operation,
                    message,
                    last: 0,
                    shared,
                }));
            }
        }
    }
    points
}

/// Bytes that repeat nowhere: xorshift64*.
pub(crate) fn fill(bytes: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in bytes.chunks_exact_mut(8) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        word.copy_from_slice(&state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
}

impl Point {
    fn name(&self) -> String {
        let Self { algorithm, operation, message, last, shared } = self;
        let length = match (message, last) {
            (0, _) => "one message".to_owned(),
            (_, 0) => format!("{message} B"),
            _ => format!("{message} B and one of {} KiB", last >> 10),
        };
        let keys = if *shared { "" } else { ", a key each" };
        format!("{algorithm} {operation}, {length}{keys}")
    }

    fn shape(&self, columns: &Columns) -> Shape {
        let longest = columns.longest();
        let uniform =
            Shape::uniform(self.algorithm, self.operation, columns.messages(), longest, self.shared);
        Shape { bytes: columns.bytes(), ..uniform }
    }

    /// The kernels to measure: the one of that name, or `each` that the device offers, but of those with a thread to each
    /// message none for one message, which would have one thread at work; `None` for its choice.
    fn kernels(&self, device: &dyn Device, name: Option<&str>, columns: &Columns) -> Vec<Option<String>> {
        if name != Some("each") {
            return vec![name.map(str::to_owned)];
        }
        let offered = device.kernels(&self.shape(columns));
        let by_message = |kernel: &cipherlane_core::Kernel| kernel.name.contains("-message/");
        let wanted = offered.into_iter().filter(|kernel| self.message > 0 || !by_message(kernel));
        wanted.map(|kernel| Some(kernel.name)).collect()
    }

    /// One line: GB/s of the texts.
    fn measure(
        &self,
        device: &dyn Device,
        options: &Options,
        kernel: Option<&str>,
        texts: &mut Texts<'_>,
        columns: &mut Columns,
    ) -> Result<String, String> {
        let shape = self.shape(columns);
        let blocks = options.get("blocks=").map(|blocks| blocks.parse().unwrap());
        let wish = Wish { kernel: kernel.map(str::to_owned), blocks, ..Wish::default() };
        let mut plan = device.plan(&shape, &wish).map_err(|error| error.to_string())?;
        if options.get("tune=") == Some("yes") {
            // The comparison below looks at what the fastest gives.
            let tuned = columns.run(self, texts.input, texts.output, |batch, output| {
                device.tune(&plan, batch, output, &mut |_| true)
            });
            let tuned = tuned.map_err(|error| error.to_string())?.unwrap();
            println!("{} tuned: {:?} of {} launches", self.name(), tuned.best, tuned.tried.len());
            plan = device.plan(&shape, &wish).map_err(|error| error.to_string())?;
        }
        let resident = self.resident(device, &plan, texts, columns, options.number("runs=", 7))?;
        compare(texts.expected, texts.output, columns)?;
        let rate = |bytes: usize, time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
        let bytes = texts.input.len();
        let geometry = plan.geometry.map_or_else(String::new, |geometry| {
            format!("{}x{}", geometry.blocks, geometry.threads_per_block)
        });
        let line =
            format!("{:44} {:>22} {geometry:>9} {:>9.1}", self.name(), plan.kernel, rate(bytes, resident));
        if options.get("transfers=") == Some("no") {
            return Ok(line);
        }
        let pinned = self.session(device, &plan, texts.input, texts.output, columns)?;
        compare(texts.expected, texts.output, columns)?;
        // A GiB of memory as programs have it is enough to see what staging takes.
        let part = texts.input.len().min(1 << 30);
        let (input, mut output) = (texts.input[..part].to_vec(), vec![0; part]);
        let mut columns = Columns::new(self, part);
        let expected = self.expected(&mut columns, &input)?;
        let pageable = self.session(device, &plan, &input, &mut output, &mut columns)?;
        compare(&expected, &output, &columns)?;
        Ok(format!("{line} {:>9.1} {:>9.1}", rate(bytes, pinned), rate(part, pageable)))
    }

    /// Seconds of the kernels, the median of `runs` runs after one that does not count.
    fn resident(
        &self,
        device: &dyn Device,
        plan: &Plan,
        texts: &mut Texts<'_>,
        columns: &mut Columns,
        runs: usize,
    ) -> Result<Duration, String> {
        let say = |error: cipherlane_core::DeviceError| error.to_string();
        let mut resident = device.resident(plan).map_err(say)?.unwrap();
        let times = columns.run(self, texts.input, texts.output, |batch, output| {
            resident.load(batch, output)?;
            resident.execute()?;
            let times: Result<Vec<_>, _> = (0..runs).map(|_| Ok(resident.execute()?.execute)).collect();
            resident.store(batch, output)?;
            times
        });
        Ok(median(times.map_err(say)?))
    }

    /// From call to return, the median of three runs after one that does not count.
    fn session(
        &self,
        device: &dyn Device,
        plan: &Plan,
        input: &[u8],
        output: &mut [u8],
        columns: &mut Columns,
    ) -> Result<Duration, String> {
        let say = |error: cipherlane_core::DeviceError| error.to_string();
        let mut session = device.open(plan).map_err(say)?;
        let times = columns.run(self, input, output, |batch, output| {
            session.run(batch, output)?;
            (0..3).map(|_| Ok(session.run(batch, output)?.wall)).collect::<Result<Vec<_>, _>>()
        });
        Ok(median(times.map_err(say)?))
    }

    /// What the engine makes of `input` on this CPU. Texts to open get their right tags in `columns` first: sealed twice
    /// they are what they were.
    fn expected(&self, columns: &mut Columns, input: &[u8]) -> Result<Expected, String> {
        let run = |point: &Self, columns: &mut Columns, input: &[u8]| {
            let say = |error: cipherlane_core::DeviceError| error.to_string();
            let cpu = Cpu::new();
            let wish = Wish { threads: Some(cpu.info().threads), ..Wish::default() };
            let plan = cpu.plan(&point.shape(columns), &wish).map_err(|error| error.to_string())?;
            let mut session = cpu.open(&plan).map_err(say)?;
            let mut text = vec![0; if point.algorithm.hash().is_some() { 0 } else { input.len() }];
            columns.run(point, input, &mut text, |batch, output| session.run(batch, output)).map_err(say)?;
            Ok::<_, String>(Expected { text, tags: columns.tags.clone() })
        };
        if self.operation != Operation::Open {
            return run(self, columns, input);
        }
        let seal = Self { operation: Operation::Seal, ..*self };
        let mut sealed = Columns::new(&seal, input.len());
        let plain = run(&seal, &mut sealed, input)?.text;
        columns.given = run(&seal, &mut sealed, &plain)?.tags;
        Ok(Expected { text: plain, tags: Vec::new() })
    }

    /// Bytes of a tag or digest.
    fn row(&self) -> usize {
        match self.algorithm.hash() {
            Some(hash) => hash.usual_digest_bytes(),
            None if self.algorithm.is_aead() => BLOCK,
            None => 0,
        }
    }
}

/// Compares all that came out.
fn compare(expected: &Expected, output: &[u8], columns: &Columns) -> Result<(), String> {
    let text = &output[..expected.text.len()];
    if text != expected.text {
        let first = text.iter().zip(&expected.text).position(|(found, wanted)| found != wanted);
        return Err(format!("byte {first:?} of the texts is the first to differ from the CPU's"));
    }
    if columns.tags != expected.tags {
        return Err("tags differ from the CPU's".to_owned());
    }
    match columns.accepted.iter().all(|&accepted| accepted) {
        true => Ok(()),
        false => Err("a right tag was rejected".to_owned()),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Everything of a batch but its texts.
struct Columns {
    offsets: Vec<u64>,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    /// Made by seal and hash.
    tags: Vec<u8>,
    /// To be checked by open.
    given: Vec<u8>,
    accepted: Vec<bool>,
}

impl Columns {
    fn new(point: &Point, bytes: usize) -> Self {
        let message = if point.message == 0 { bytes } else { point.message };
        let last = point.last.min(bytes);
        let like = (bytes - last) / message;
        let mut offsets: Vec<u64> = (0..=like).map(|index| (index * message) as u64).collect();
        if last > 0 {
            offsets.push((like * message + last) as u64);
        }
        let count = offsets.len() - 1;
        let keys = if point.shared { 1 } else { count } * point.algorithm.key_bytes();
        let mut columns = Self {
            offsets,
            keys: vec![0; keys.next_multiple_of(8)],
            nonces: vec![0; (count * point.algorithm.nonce_bytes().unwrap_or(12)).next_multiple_of(8)],
            tags: vec![0; if point.operation == Operation::Open { 0 } else { count * point.row() }],
            given: vec![0; if point.operation == Operation::Open { count * BLOCK } else { 0 }],
            accepted: vec![false; if point.operation == Operation::Open { count } else { 0 }],
        };
        fill(&mut columns.keys);
        fill(&mut columns.nonces);
        columns.keys.truncate(keys);
        columns.nonces.truncate(count * point.algorithm.nonce_bytes().unwrap_or(12));
        columns
    }

    fn messages(&self) -> usize {
        self.offsets.len() - 1
    }

    fn longest(&self) -> u64 {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    fn bytes(&self) -> u64 {
        self.offsets[self.messages()]
    }

    /// Calls `run` with the batch of `input` and its output, which is cleared.
    fn run<T>(
        &mut self,
        point: &Point,
        input: &[u8],
        bytes: &mut [u8],
        run: impl FnOnce(&Batch<'_>, &mut Output<'_>) -> T,
    ) -> T {
        let (mut tags, mut accepted) = (std::mem::take(&mut self.tags), std::mem::take(&mut self.accepted));
        // What an earlier run left must not pass for what this one makes.
        bytes.fill(0);
        tags.fill(0);
        accepted.fill(false);
        let mut output = Output { bytes, tags: &mut tags, accepted: &mut accepted };
        let result = self.batch_of(point, input, |batch| run(batch, &mut output));
        (self.tags, self.accepted) = (tags, accepted);
        result
    }

    /// Calls `run` with the batch of `input`.
    fn batch_of<T>(&self, point: &Point, input: &[u8], run: impl FnOnce(&Batch<'_>) -> T) -> T {
        let messages = Messages { source: Source::Apart(input), offsets: &self.offsets };
        if let Some(hash) = point.algorithm.hash() {
            return run(&Batch::hash(hash, messages, point.row()));
        }
        let keys = match point.shared {
            true => Column::Shared(&self.keys),
            false => Column::Each { bytes: &self.keys, width: point.algorithm.key_bytes() },
        };
        let nonces = Column::Each { bytes: &self.nonces, width: point.algorithm.nonce_bytes().unwrap_or(12) };
        let mut batch = Batch::cipher(point.algorithm, point.operation, keys, nonces, messages);
        if point.algorithm.is_aead() {
            (batch.tag_lengths, batch.tags) = (TagLengths::Same(BLOCK), &self.given);
        }
        run(&batch)
    }
}
