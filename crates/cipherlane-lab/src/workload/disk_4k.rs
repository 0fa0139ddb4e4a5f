//! Sectors of an encrypted disk, read or written in sequence.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::part::{Part, Rows, full_tag, uniform_offsets};
use super::{Job, Named, Outline, Request, Task, WorkloadError};
use crate::random::Random;

const ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes256, Mode::Xts);

/// AES-256-XTS sectors of 4 KiB under one key, with the sector's number as tweak, as disk encryption does it.
pub const WORKLOAD: Named = Named {
    name: "disk-4k",
    question: "How fast are the sectors of an encrypted disk?",
    jobs: &[Job::Single(ALGORITHM, Operation::Encrypt), Job::Single(ALGORITHM, Operation::Decrypt)],
    fixed_size: false,
    outline: Outline { messages: None, message_bytes: SECTOR_BYTES, keys: Keys::Same },
    weight: 1.0,
    build,
};

const SECTOR_BYTES: usize = 4096;
const TWEAK_BYTES: usize = 16;

fn build(job: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let mut random = Random::new(request.seed);
    let messages = request.messages(SECTOR_BYTES, TWEAK_BYTES);
    // The data unit's number, little-endian (IEEE 1619 section 5.1), from anywhere on a disk of 2^32 sectors.
    let first = random.below(1 << 32) as u128;
    let part = Part {
        algorithm: ALGORITHM,
        operation: Operation::Encrypt,
        keys: Rows::Shared(random.bytes(ALGORITHM.key_bytes())),
        nonces: Rows::Each {
            bytes: (0..messages as u128).flat_map(|sector| (first + sector).to_le_bytes()).collect(),
            width: TWEAK_BYTES,
        },
        aad: Rows::Shared(Vec::new()),
        texts: random.bytes(messages * SECTOR_BYTES).into(),
        offsets: uniform_offsets(messages, SECTOR_BYTES),
        tag_bytes: full_tag(ALGORITHM),
        tags: Vec::new(),
    };
    Ok(vec![super::directed(job, part, request)?])
}
