//! A head-end's hour: readings of many meters, each sealed under its meter's own key, opened in one call.
//!
//! `cargo run --release -p cipherlane --example meters`

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // it shows its figures

use std::time::Instant;

use cipherlane::{Batch, Column, Engine, Messages, Output, Source};

const METERS: usize = 100_000;
const READING: usize = 128;

/// The key of a meter, which a head-end would have in its store.
fn key(meter: usize) -> [u8; 16] {
    (meter as u128 * 0x9e37_79b9_7f4a_7c15).to_le_bytes()
}

/// As in DLMS: the system title of 8 bytes, then the invocation counter.
fn nonce(meter: usize) -> [u8; 12] {
    let title = 0x434c_4e00_0000_0000 + meter as u64;
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&title.to_be_bytes());
    nonce[8..].copy_from_slice(&1_u32.to_be_bytes());
    nonce
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let algorithm = "aes-128-gcm".parse()?;
    let keys: Vec<u8> = (0..METERS).flat_map(key).collect();
    let nonces: Vec<u8> = (0..METERS).flat_map(nonce).collect();
    let offsets: Vec<u64> = (0..=METERS).map(|meter| (meter * READING) as u64).collect();
    let readings = vec![b'7'; METERS * READING];
    let (keys, nonces) =
        (Column::Each { bytes: &keys, width: 16 }, Column::Each { bytes: &nonces, width: 12 });

    let engine = Engine::new();
    let (mut sealed, mut tags) = (vec![0; readings.len()], vec![0; METERS * 16]);
    let messages = Messages { source: Source::Apart(&readings), offsets: &offsets };
    let batch = Batch::seal(algorithm, keys, nonces, Column::Shared(b"\x30"), messages);
    engine.run(&batch, &mut Output::sealed(&mut sealed, &mut tags))?;

    // One reading is changed on its way.
    sealed[42 * READING] ^= 1;

    let (mut opened, mut accepted) = (vec![0; readings.len()], vec![false; METERS]);
    let messages = Messages { source: Source::Apart(&sealed), offsets: &offsets };
    let batch = Batch::open(algorithm, keys, nonces, Column::Shared(b"\x30"), messages, &tags);
    let start = Instant::now();
    engine.run(&batch, &mut Output::opened(&mut opened, &mut accepted))?;
    let seconds = start.elapsed().as_secs_f64();

    let rejected: Vec<usize> = (0..METERS).filter(|&meter| !accepted[meter]).collect();
    println!(
        "{METERS} readings in {:.1} ms: {:.1} million a second",
        seconds * 1e3,
        METERS as f64 / seconds / 1e6
    );
    println!("rejected, and zeroed: {rejected:?}");
    assert_eq!(rejected, [42]);
    Ok(())
}
