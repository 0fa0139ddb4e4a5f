//! A tensor that lies on a GPU is sealed there in place, each row a message, and opened again: no text crosses the link.
//!
//! `cargo run --release -p cipherlane --example device_memory [-- DEVICE]`, on `cuda:0` unless another device is named.
//! Where there is none, it says what is missing, and the exit code is 1.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::cast_precision_loss)] // it shows its figures

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use cipherlane::{
    Algorithm, Batch, Column, Device, DeviceTexts, Engine, Messages, Output, Source, Spans, devices,
};

const ROWS: usize = 1 << 12;
const ROW: usize = 16 << 10;

fn main() -> ExitCode {
    let id = std::env::args().nth(1).unwrap_or_else(|| "cuda:0".to_owned());
    match show(&id) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The device `id`, or why there is none.
fn find(id: &str) -> Result<Arc<dyn Device>, String> {
    let (found, absent) = devices::find();
    found.into_iter().find(|device| device.info().id == id).ok_or_else(|| {
        let reasons: Vec<String> =
            absent.iter().map(|absent| format!("\n{}: {}", absent.kind, absent.reason)).collect();
        format!("there is no {id} here{}", reasons.concat())
    })
}

fn show(id: &str) -> Result<(), Box<dyn Error>> {
    let (device, algorithm) = (find(id)?, "aes-256-gcm".parse::<Algorithm>()?);
    // What another library has allocated would come from `cipherlane::foreign`.
    let Some(tensor) = device.memory(ROWS * ROW)? else {
        return Err(format!("{id} has no memory of its own to lend: name one GPU, such as cuda:0").into());
    };
    let mut host = device.host_memory(ROWS * ROW)?;
    host.iter_mut().enumerate().for_each(|(index, byte)| *byte = (index % 251) as u8);
    tensor.write(0, &host)?;

    let key = Column::Shared(&[7; 32]);
    let nonces: Vec<u8> = (0..ROWS as u128).flat_map(|row| row.to_be_bytes()[4..].to_vec()).collect();
    let nonces = Column::Each { bytes: &nonces, width: 12 };
    let offsets: Vec<u64> = (0..=ROWS).map(|row| (row * ROW) as u64).collect();
    let messages = Messages { source: Source::OnDevice, offsets: &offsets };
    let texts = DeviceTexts::InPlace(Arc::clone(&tensor));
    let (mut tags, mut accepted) = (vec![0; ROWS * 16], vec![false; ROWS]);

    let engine = Engine::with_devices(Arc::clone(&device), []);
    let seal = Batch::seal(algorithm, key, nonces, Column::Shared(b"layer 0"), messages);
    let spans = engine.run_on_device(&seal, &texts, &mut Output::sealed(&mut [], &mut tags))?;
    say("sealed", &spans);
    let open = Batch::open(algorithm, key, nonces, Column::Shared(b"layer 0"), messages, &tags);
    let spans = engine.run_on_device(&open, &texts, &mut Output::opened(&mut [], &mut accepted))?;
    say("opened", &spans);

    let mut back = device.host_memory(ROWS * ROW)?;
    tensor.read(0, &mut back)?;
    assert!(accepted.iter().all(|&accepted| accepted) && back[..] == host[..]);
    Ok(())
}

fn say(what: &str, spans: &Spans) {
    let gigabytes = (ROWS * ROW) as f64 / 1e9;
    println!("{what} {ROWS} rows in place at {:.0} GB/s", gigabytes / spans.execute.as_secs_f64());
}
