//! A disk image, sector by sector under AES-256-XTS, in place: each sector's number is its tweak.
//!
//! `cargo run --release -p cipherlane --example sectors`

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // it shows its figures

use cipherlane::{Batch, Column, Engine, Messages, Operation, Output, Source};

const SECTORS: usize = 4096;
const SECTOR: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (algorithm, engine) = ("aes-256-xts".parse()?, Engine::new());
    // Two keys of 32 bytes that differ (IEEE 1619 section 5.1).
    let key: [u8; 64] = std::array::from_fn(|i| i as u8);
    let tweaks: Vec<u8> = (0..SECTORS as u128).flat_map(u128::to_le_bytes).collect();
    let offsets: Vec<u64> = (0..=SECTORS).map(|sector| (sector * SECTOR) as u64).collect();
    let mut disk = vec![b'd'; SECTORS * SECTOR];

    for operation in [Operation::Encrypt, Operation::Decrypt] {
        let batch = Batch::cipher(
            algorithm,
            operation,
            Column::Shared(&key),
            Column::Each { bytes: &tweaks, width: 16 },
            Messages { source: Source::InPlace, offsets: &offsets },
        );
        let spans = engine.run(&batch, &mut Output::text(&mut disk))?;
        let gigabytes = disk.len() as f64 / 1e9;
        println!(
            "{operation}: {:.1} GB/s, first bytes {:02x?}",
            gigabytes / spans.wall.as_secs_f64(),
            &disk[..4]
        );
    }
    assert!(disk.iter().all(|&byte| byte == b'd'));
    Ok(())
}
