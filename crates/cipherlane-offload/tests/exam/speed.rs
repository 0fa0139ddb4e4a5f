//! Speeds: kernels alone on data that lies on the device, then from host memory to host memory.
//!
//! Outputs are compared with those of the reference in a sample, so that no wrong kernel has a number.

use std::time::Duration;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Operation, Output, Plan, Shape, Source, TagLengths,
    Wish,
};
use cipherlane_reference::Reference;

use crate::options::Options;

/// What is measured: an algorithm and operation on messages of one length, with one key or a key each.
struct Point {
    algorithm: Algorithm,
    operation: Operation,
    /// Bytes of a message; 0 for one message of all the text.
    message: usize,
    shared: bool,
}

/// The texts of a point.
struct Texts<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
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
    for point in points.into_iter().filter(is_wanted) {
        for kernel in point.kernels(device, options.get("kernel="), input.len()) {
            let mut texts = Texts { input, output };
            match point.measure(device, options, kernel.as_deref(), &mut texts) {
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
            let mut add = |message, shared| points.push(Point { algorithm, operation, message, shared });
            match algorithm {
                Algorithm::Hash(_) => add(1 << 10, true),
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
                points.extend(keys.iter().map(|&shared| Point { algorithm, operation, message, shared }));
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
        let Self { algorithm, operation, message, shared } = self;
        let length = if *message == 0 { "one message".to_owned() } else { format!("{message} B") };
        let keys = if *shared { "" } else { ", a key each" };
        format!("{algorithm} {operation}, {length}{keys}")
    }

    fn shape(&self, columns: &Columns) -> Shape {
        Shape::uniform(self.algorithm, self.operation, columns.messages(), columns.longest(), self.shared)
    }

    /// The kernels to measure: the one of that name, or `each` that the device offers; `None` for its choice.
    fn kernels(&self, device: &dyn Device, name: Option<&str>, bytes: usize) -> Vec<Option<String>> {
        if name != Some("each") {
            return vec![name.map(str::to_owned)];
        }
        let offered = device.kernels(&self.shape(&Columns::new(self, bytes)));
        offered.into_iter().map(|kernel| Some(kernel.name)).collect()
    }

    /// One line: GB/s of the texts.
    fn measure(
        &self,
        device: &dyn Device,
        options: &Options,
        kernel: Option<&str>,
        texts: &mut Texts<'_>,
    ) -> Result<String, String> {
        let mut columns = Columns::new(self, texts.input.len());
        let shape = self.shape(&columns);
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
        let resident = self.resident(device, &plan, texts, &mut columns, options.number("runs=", 7))?;
        self.compare(texts, &columns)?;
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
        let pinned = self.session(device, &plan, texts.input, texts.output, &mut columns)?;
        self.compare(texts, &columns)?;
        // A GiB of memory as programs have it is enough to see what staging takes.
        let part = texts.input.len().min(1 << 30);
        let (input, mut output) = (texts.input[..part].to_vec(), vec![0; part]);
        let mut columns = Columns::new(self, part);
        let pageable = self.session(device, &plan, &input, &mut output, &mut columns)?;
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

    /// Compares the first and the last messages with the reference. Of one long message the start alone is compared,
    /// where a prefix of the text gives a prefix of the result; the exam has looked at the rest.
    fn compare(&self, texts: &Texts<'_>, columns: &Columns) -> Result<(), String> {
        if self.operation == Operation::Open {
            // Random texts with tags of zeros: every one has to be rejected.
            return match columns.accepted.iter().any(|&accepted| accepted) {
                true => Err("a wrong tag was accepted".to_owned()),
                false => Ok(()),
            };
        }
        let count = columns.messages();
        for first in [0, count.saturating_sub(3)] {
            let last = (first + 3).min(count);
            let sample = columns.sample(first..last, 1 << 16);
            let (text, tags) = sample.expected(self, texts.input)?;
            let start = usize::try_from(sample.offsets[0]).unwrap();
            if texts.output.get(start..start + text.len()) != Some(&text[..]) {
                return Err(format!("texts {first} to {last} differ from the reference"));
            }
            let row = self.row();
            if sample.whole && columns.tags[first * row..last * row] != tags {
                return Err(format!("tags {first} to {last} differ from the reference"));
            }
        }
        Ok(())
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Everything of a batch but its texts.
struct Columns {
    offsets: Vec<u64>,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    /// Made by seal and hash; to be checked, and wrong, for open.
    tags: Vec<u8>,
    wrong: Vec<u8>,
    accepted: Vec<bool>,
    /// Whether messages are whole, so that tags can be compared.
    whole: bool,
}

impl Columns {
    fn new(point: &Point, bytes: usize) -> Self {
        let message = if point.message == 0 { bytes } else { point.message };
        let count = bytes / message;
        let keys = if point.shared { 1 } else { count } * point.algorithm.key_bytes();
        let mut columns = Self {
            offsets: (0..=count).map(|index| (index * message) as u64).collect(),
            keys: vec![0; keys.next_multiple_of(8)],
            nonces: vec![0; (count * point.algorithm.nonce_bytes().unwrap_or(12)).next_multiple_of(8)],
            tags: vec![0; if point.operation == Operation::Open { 0 } else { count * point.row() }],
            wrong: vec![0; if point.operation == Operation::Open { count * BLOCK } else { 0 }],
            accepted: vec![false; if point.operation == Operation::Open { count } else { 0 }],
            whole: true,
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
        self.offsets[1]
    }

    /// Calls `run` with the batch of `input` and its output.
    fn run<T>(
        &mut self,
        point: &Point,
        input: &[u8],
        bytes: &mut [u8],
        run: impl FnOnce(&Batch<'_>, &mut Output<'_>) -> T,
    ) -> T {
        let (mut tags, mut accepted) = (std::mem::take(&mut self.tags), std::mem::take(&mut self.accepted));
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
            (batch.tag_lengths, batch.tags) = (TagLengths::Same(BLOCK), &self.wrong);
        }
        run(&batch)
    }

    /// The messages of `range`, cut to `most` bytes each.
    fn sample(&self, range: std::ops::Range<usize>, most: u64) -> Self {
        let part = |bytes: &[u8]| {
            let row = bytes.len() / self.messages();
            bytes[range.start * row..range.end * row].to_vec()
        };
        let offsets = &self.offsets[range.start..=range.end];
        let whole = offsets[1] - offsets[0] <= most;
        let offsets = if whole { offsets.to_vec() } else { vec![offsets[0], offsets[0] + most] };
        let keys =
            if self.keys.len() < BLOCK * self.messages() { self.keys.clone() } else { part(&self.keys) };
        Self {
            offsets,
            keys,
            nonces: part(&self.nonces),
            tags: Vec::new(),
            wrong: Vec::new(),
            accepted: Vec::new(),
            whole,
        }
    }

    /// What the reference makes of it: texts and tags.
    fn expected(&self, point: &Point, input: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
        let (start, end) = (self.offsets[0], self.offsets[self.offsets.len() - 1]);
        let place = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
        let moved = Self {
            offsets: self.offsets.iter().map(|offset| offset - start).collect(),
            keys: self.keys.clone(),
            nonces: self.nonces.clone(),
            tags: Vec::new(),
            wrong: Vec::new(),
            accepted: Vec::new(),
            whole: self.whole,
        };
        let is_hash = point.algorithm.hash().is_some();
        let mut text = vec![0; if is_hash { 0 } else { place.len() }];
        let mut tags = vec![0; moved.messages() * point.row()];
        let reference = Reference::new();
        let shape = Shape::uniform(point.algorithm, point.operation, 1, 16, true);
        let plan = reference.plan(&shape, &Wish::default()).map_err(|error| error.to_string())?;
        let mut session = reference.open(&plan).map_err(|error| error.to_string())?;
        let mut output = Output { bytes: &mut text, tags: &mut tags, accepted: &mut [] };
        moved
            .batch_of(point, &input[place], |batch| session.run(batch, &mut output))
            .map_err(|error| error.to_string())?;
        Ok((text, tags))
    }
}
