//! Programs of hash functions: a thread walks a message.

use cipherlane_core::{Algorithm, Hash, Operation};

use super::{Items, Program, Stage, Target, Threads, Tiling, When, Workspace};

/// Threads of a block: 64-bit words of the state and of the message take many registers.
const THREADS: u32 = 256;
/// What their number is a multiple of.
const STEP: u32 = 32;

/// The header below `c/`, and what it is compiled with.
fn header(hash: Hash) -> (&'static str, Vec<(&'static str, String)>) {
    let sha2 = |header, bits: u32| (header, vec![("DIGEST_BITS", bits.to_string())]);
    // FIPS 202 section 6.1, 6.2 and B.2: the bits after the message and the first of the padding.
    let keccak = |suffix: &str| {
        let rate = hash.block_bytes().to_string();
        ("primitive/keccak.h", vec![("RATE", rate), ("SUFFIX", suffix.to_owned())])
    };
    match hash {
        Hash::Sha224 => sha2("primitive/sha256.h", 224),
        Hash::Sha256 => sha2("primitive/sha256.h", 256),
        Hash::Sha384 => sha2("primitive/sha512.h", 384),
        Hash::Sha512 => sha2("primitive/sha512.h", 512),
        Hash::Sha512_256 => sha2("primitive/sha512.h", 256),
        Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 => keccak("0x06"),
        Hash::Shake128 | Hash::Shake256 => keccak("0x1f"),
        Hash::Keccak224 | Hash::Keccak256 | Hash::Keccak384 | Hash::Keccak512 => keccak("0x01"),
    }
}

pub(super) fn programs(hash: Hash, target: &Target) -> Vec<Program> {
    let (header, mut defines) = header(hash);
    let most = THREADS.min(target.threads);
    let threads = most - most % STEP;
    let name = hash.name().replace('-', "_");
    defines.extend([
        ("PROGRAM", format!("{name}_hash")),
        ("HASH", format!("\"{header}\"")),
        ("THREADS", threads.to_string()),
        ("SHARED_KEY", "1".to_owned()),
    ]);
    let text = Stage {
        entry: "text",
        items: Items::Messages,
        threads_per_item: 1,
        threads,
        shared_bytes: 0,
        when: When::Tiles,
    };
    vec![Program {
        kernel: format!("{}/message/x1", hash.name()),
        variant: "message".to_owned(),
        lanes: 1,
        constant_time: true,
        algorithm: Algorithm::Hash(hash),
        operation: Operation::Hash,
        shared_key: true,
        source: "entry/hash.c",
        defines,
        stages: vec![text],
        threads: Threads { step: STEP, most: threads },
        tiling: Tiling::None,
        schedule_words: 0,
        workspace: Workspace::default(),
    }]
}
