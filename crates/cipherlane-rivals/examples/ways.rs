//! Times every kernel of every rival on one thread: which way of a library is its fastest, and by how much.
//!
//! `cargo run --release -p cipherlane-rivals --example ways [ALGORITHM ..]`; by default AES-128-GCM. Set the variable
//! of `cipherlane_rivals::masking` to see the libraries with fewer instructions.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a program for people, who see what it fails on

use std::time::{Duration, Instant};

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Operation, Output, Plan, Shape, Source, TagLengths,
    Unsupported, Wish,
};

/// Bytes of a message, and bytes of a batch of them.
const SIZES: [(usize, usize); 6] =
    [(16, 1 << 14), (128, 1 << 16), (1024, 1 << 17), (4096, 1 << 18), (16384, 1 << 18), (1 << 20, 1 << 20)];
/// Time for each row.
const LONG: Duration = Duration::from_millis(120);

fn main() {
    let named: Vec<Algorithm> = std::env::args().skip(1).map(|name| name.parse().unwrap()).collect();
    let algorithms = if named.is_empty() { vec!["aes-128-gcm".parse().unwrap()] } else { named };
    for absent in cipherlane_rivals::absent() {
        println!("{}: {}; {}", absent.id, absent.reason, absent.remedy);
    }
    for algorithm in algorithms {
        for &operation in algorithm.operations() {
            // A hash has no keys.
            for &shared in if algorithm.hash().is_some() { &[true][..] } else { &[true, false] } {
                let key = if shared { "same key" } else { "a key each" };
                println!("\n{algorithm} {operation}, {key}: best GB/s (1e9 bytes) by bytes of a message");
                println!("{:44}{}", "", SIZES.map(|(bytes, _)| format!("{bytes:>9}")).concat());
                for device in cipherlane_rivals::available() {
                    table(&*device, algorithm, operation, shared);
                }
            }
        }
    }
}

fn table(device: &dyn Device, algorithm: Algorithm, operation: Operation, shared: bool) {
    let shape = Shape::uniform(algorithm, operation, 1, 1024, shared);
    for kernel in device.kernels(&shape) {
        let rates = SIZES.map(|(bytes, total)| {
            let case =
                Case { device, kernel: &kernel.name, algorithm, shared, bytes, messages: total / bytes };
            // Some ways take no message of this length.
            if case.plan(operation).is_ok() {
                format!("{:>9.3}", case.best(operation))
            } else {
                format!("{:>9}", "-")
            }
        });
        println!("{:44}{}", format!("{} {}", device.info().id, kernel.name), rates.concat());
    }
}

/// What to time: a kernel, and messages of one size.
struct Case<'a> {
    device: &'a dyn Device,
    kernel: &'a str,
    algorithm: Algorithm,
    shared: bool,
    bytes: usize,
    messages: usize,
}

/// Buffers for the results of a batch.
struct Results {
    text: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

impl Case<'_> {
    fn plan(&self, operation: Operation) -> Result<Plan, Unsupported> {
        let shape = Shape::uniform(self.algorithm, operation, self.messages, self.bytes as u64, self.shared);
        let wish = Wish { kernel: Some(self.kernel.to_owned()), ..Wish::default() };
        self.device.plan(&shape, &wish)
    }

    /// Runs `operation` on `text` for at least `long`; returns the shortest time and what came out.
    fn run(&self, operation: Operation, text: &[u8], tags: &[u8], long: Duration) -> (Duration, Results) {
        let (algorithm, messages, bytes) = (self.algorithm, self.messages, self.bytes);
        let mut session = self.device.open(&self.plan(operation).unwrap()).unwrap();
        let width = algorithm.key_bytes();
        let keys: Vec<u8> = (0..messages * width).map(|at| (at % 253) as u8).collect();
        let keys =
            if self.shared { Column::Shared(&keys[..width]) } else { Column::Each { bytes: &keys, width } };
        let nonce = vec![7; algorithm.nonce_bytes().unwrap_or(12)];
        let offsets: Vec<u64> = (0..=messages).map(|at| (at * bytes) as u64).collect();
        let source = Messages { source: Source::Apart(text), offsets: &offsets };
        let mut batch = Batch::cipher(algorithm, operation, keys, Column::Shared(&nonce), source);
        let digest = algorithm.hash().map(|hash| (hash, hash.usual_digest_bytes()));
        if let Some((hash, bytes)) = digest {
            batch = Batch::hash(hash, source, bytes);
        } else if algorithm.is_aead() {
            batch.tag_lengths = TagLengths::Same(16);
            batch.tags = tags;
        }
        let mut results = Results {
            text: vec![0; if digest.is_some() { 0 } else { text.len() }],
            tags: vec![0; digest.map_or(16, |(_, bytes)| bytes) * messages],
            accepted: vec![false; messages],
        };
        let (started, mut shortest) = (Instant::now(), Duration::MAX);
        while shortest == Duration::MAX || started.elapsed() < long {
            let Results { text, tags, accepted } = &mut results;
            let mut output = Output { bytes: text, tags, accepted };
            shortest = shortest.min(session.run(&batch, &mut output).unwrap().execute);
        }
        (shortest, results)
    }

    /// Bytes per nanosecond of the quickest run.
    fn best(&self, operation: Operation) -> f64 {
        let plain: Vec<u8> = (0..self.messages * self.bytes).map(|at| (at % 251) as u8).collect();
        let shortest = if operation == Operation::Open {
            let sealed = self.run(Operation::Seal, &plain, &[], Duration::ZERO).1;
            let (shortest, opened) = self.run(operation, &sealed.text, &sealed.tags, LONG);
            assert!(opened.text == plain && opened.accepted.iter().all(|&right| right));
            shortest
        } else {
            self.run(operation, &plain, &[], LONG).0
        };
        (self.messages * self.bytes) as f64 / shortest.as_nanos() as f64
    }
}
