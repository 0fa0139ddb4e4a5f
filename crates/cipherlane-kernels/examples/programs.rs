//! Writes the text of every program into a folder, with a line about each on standard output: for compilers and
//! disassemblers that are run by hand.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{SIZES, Target, programs};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "programs".to_owned()));
    let wanted = arguments.next().unwrap_or_default();
    std::fs::create_dir_all(&folder)?;
    let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.to_string().contains(&wanted)) {
        for &operation in algorithm.operations() {
            for shared in [true, false] {
                for (messages, bytes) in SIZES {
                    let shape = Shape::uniform(algorithm, operation, messages, bytes, shared);
                    for program in programs(&shape, &target) {
                        let text = flatten::text(&program);
                        let name = format!("{algorithm}-{operation}-{}.cu", flatten::key(&text));
                        let variant = &program.variant;
                        println!(
                            "{name} {algorithm} {operation} {variant} shared key {shared}, {bytes} bytes"
                        );
                        std::fs::write(folder.join(name), text)?;
                    }
                }
            }
        }
    }
    Ok(())
}
