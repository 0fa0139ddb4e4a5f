//! What a call costs: one message at a time, through the engine and through a session that its caller keeps, which may look
//! at the clock for its spans.
//!
//! `cargo run --release -p cipherlane --example calls`
//!
//! The best of many rounds, in nanoseconds a call, its text included: of 16 bytes nearly all is the call, which a batch of
//! many messages pays once.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // it shows its figures

use std::hint::black_box;
use std::time::Instant;

use cipherlane::{Algorithm, Batch, Column, DeviceError, Engine, Messages, Mode, Operation, Output, Source};

const ROUNDS: usize = 300;
const CALLS: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new();
    println!(
        "{:18} {:>7}  {:>9}  {:>10}  {:>8}",
        "algorithm", "bytes", "engine ns", "session ns", "timed ns"
    );
    for name in ["aes-128-ecb", "aes-128-ctr", "aes-128-gcm", "camellia-128-ctr", "sha-256"] {
        let algorithm: Algorithm = name.parse()?;
        for bytes in [16, 1 << 10, 16 << 10] {
            let text = vec![1; bytes];
            let offsets = [0, bytes as u64];
            let batch = batch(algorithm, Messages { source: Source::Apart(&text), offsets: &offsets });
            let (mut out, mut tag) = (text.clone(), [0; 32]);
            let mut output = match algorithm {
                Algorithm::Hash(_) => Output::digests(&mut tag),
                _ if algorithm.is_aead() => Output::sealed(&mut out, &mut tag[..16]),
                Algorithm::Cipher(..) => Output::text(&mut out),
            };
            let by_engine = nanoseconds(|| engine.run_untimed(&batch, &mut output))?;
            let plan = engine.plan(&batch.check(&output)?)?;
            let mut session = engine.devices()[0].open(&plan)?;
            let by_session = nanoseconds(|| session.run_untimed(&batch, &mut output))?;
            let timed = nanoseconds(|| session.run(&batch, &mut output))?;
            println!("{name:18} {bytes:7}  {by_engine:9.0}  {by_session:10.0}  {timed:8.0}");
        }
    }
    Ok(())
}

/// One message under a key that stays, and a nonce that stays as well, as only a measurement may.
fn batch(algorithm: Algorithm, messages: Messages<'_>) -> Batch<'_> {
    const KEY: &[u8] = &[7; 16];
    const NONCE: &[u8] = &[9; 16];
    let nonce = |bytes| Column::Shared(&NONCE[..bytes]);
    match algorithm {
        Algorithm::Hash(hash) => Batch::hash(hash, messages, hash.digest_bytes().unwrap_or(32)),
        Algorithm::Cipher(_, Mode::Gcm) => {
            Batch::seal(algorithm, Column::Shared(KEY), nonce(12), Column::EMPTY, messages)
        }
        Algorithm::Cipher(..) => Batch::cipher(
            algorithm,
            Operation::Encrypt,
            Column::Shared(KEY),
            nonce(algorithm.nonce_bytes().unwrap_or(0)),
            messages,
        ),
    }
}

/// The least that one of many calls takes on average, in some round.
fn nanoseconds<T>(mut call: impl FnMut() -> Result<T, DeviceError>) -> Result<f64, DeviceError> {
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call()?);
        }
        least = least.min(start.elapsed().as_secs_f64() / CALLS as f64);
    }
    Ok(1e9 * least)
}
