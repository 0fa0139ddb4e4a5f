//! One message larger than most caches.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::{Custom, Job, Named, Outline, Request, Task, WorkloadError};

const GCM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
const CTR: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Ctr);

/// One message of 256 MiB, AES-128 in GCM and in CTR.
pub const WORKLOAD: Named = Named {
    name: "bulk",
    question: "How fast is one large message, when memory has to keep up and threads must share it?",
    jobs: &[
        Job::Single(GCM, Operation::Seal),
        Job::Single(GCM, Operation::Open),
        Job::Single(CTR, Operation::Encrypt),
    ],
    fixed_size: true,
    outline: Outline { messages: Some(1), message_bytes: MESSAGE_BYTES, keys: Keys::Same },
    weight: 4.0,
    build,
};

const MESSAGE_BYTES: usize = 256 << 20;

fn build(job: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let Job::Single(algorithm, operation) = job else { return Ok(Vec::new()) };
    let custom = Custom {
        algorithm,
        operation,
        lengths: MESSAGE_BYTES.into(),
        messages: WORKLOAD.outline.messages,
        keys: Keys::Same,
        input: None,
    };
    custom.build(request)
}
