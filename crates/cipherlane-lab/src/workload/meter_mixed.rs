//! Messages of smart meters that have all lengths, each under a key of its own.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::meter_128::{BESIDE_TEXT, part_of};
use super::part::mixed_offsets;
use super::{Job, Named, Outline, Request, Task, WorkloadError};
use crate::random::Random;

const ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

/// AES-128-GCM messages of 16 to 256 B, each length as often as any other, a new key and nonce per message, otherwise as those
/// of `meter-128`.
pub const WORKLOAD: Named = Named {
    name: "meter-mixed",
    question: "How fast are short messages that each bring a key, if their lengths differ?",
    jobs: &[Job::Single(ALGORITHM, Operation::Seal), Job::Single(ALGORITHM, Operation::Open)],
    fixed_size: false,
    outline: Outline { messages: None, message_bytes: MOST_BYTES, keys: Keys::Distinct },
    weight: 1.0,
    build,
};

const LEAST_BYTES: usize = 16;
const MOST_BYTES: usize = 256;

fn build(job: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let mut random = Random::new(request.seed);
    let messages = request.messages(usize::midpoint(LEAST_BYTES, MOST_BYTES), BESIDE_TEXT);
    let offsets = mixed_offsets(messages, LEAST_BYTES..=MOST_BYTES, 1, &mut random);
    Ok(vec![super::directed(job, part_of(Cipher::Aes128, offsets, &mut random), request)?])
}
