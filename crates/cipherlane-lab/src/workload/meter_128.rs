//! Readings of smart meters: short messages, each under a key of its own.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::part::{Part, Rows, TagBytes, text_bytes, uniform_offsets};
use super::{Job, Named, Outline, Request, Task, WorkloadError};
use crate::random::Random;

/// 128-byte AES-GCM messages as DLMS/COSEM sends them (IEC 62056-5-3 section 5.3): AAD of a security control byte
/// and a 16-byte authentication key, a tag of 12 bytes. Keys of 128, 192 and 256 bits a third each, a new key and
/// nonce per message; half are sealed, a quarter opened, a quarter opened with a wrong tag.
pub const WORKLOAD: Named = Named {
    name: "meter-128",
    question: "How fast are short messages that each bring a key, as a head end of smart meters sees them?",
    jobs: &[Job::Mixed],
    fixed_size: false,
    outline: Outline { messages: None, message_bytes: MESSAGE_BYTES, keys: Keys::Distinct },
    weight: 1.0,
    build,
};

const MESSAGE_BYTES: usize = 128;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 12;
const AAD_BYTES: usize = 17;
/// Bytes that a message of AES-128 has beside its text.
pub(super) const BESIDE_TEXT: usize = 16 + NONCE_BYTES + AAD_BYTES + TAG_BYTES;
/// Authenticated and encrypted, unicast key, security suite 0.
const SECURITY_CONTROL: u8 = 0x30;

fn build(_: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let mut random = Random::new(request.seed);
    let messages = request.messages(MESSAGE_BYTES, 24 + NONCE_BYTES + AAD_BYTES + TAG_BYTES);
    // Six parts: three key lengths, half of each sealed and half opened. An even number is half spoiled exactly.
    let per_part = (messages / 6).next_multiple_of(2).max(2);
    let mut tasks = Vec::new();
    for cipher in Cipher::AES {
        tasks.push(Task::forward(part(cipher, per_part, &mut random), request.judges)?);
        let mut spoiled = vec![false; per_part];
        spoiled[..per_part / 2].fill(true);
        random.shuffle(&mut spoiled);
        tasks.push(Task::backward(part(cipher, per_part, &mut random), request.judges, &spoiled)?);
    }
    Ok(tasks)
}

fn part(cipher: Cipher, messages: usize, random: &mut Random) -> Part {
    part_of(cipher, uniform_offsets(messages, MESSAGE_BYTES), random)
}

/// Messages between `offsets`, each with a key, a nonce and AAD of its own, to be sealed.
pub(super) fn part_of(cipher: Cipher, offsets: Vec<u64>, random: &mut Random) -> Part {
    let algorithm = Algorithm::new(cipher, Mode::Gcm);
    let (messages, width) = (offsets.len() - 1, algorithm.key_bytes());
    let mut aad = random.bytes(messages * AAD_BYTES);
    aad.chunks_mut(AAD_BYTES).for_each(|row| row[0] = SECURITY_CONTROL);
    Part {
        algorithm,
        operation: Operation::Seal,
        keys: Rows::Each { bytes: random.bytes(messages * width), width },
        nonces: Rows::Each { bytes: random.bytes(messages * NONCE_BYTES), width: NONCE_BYTES },
        aad: Rows::Each { bytes: aad, width: AAD_BYTES },
        texts: random.bytes(text_bytes(&offsets)).into(),
        offsets,
        tag_bytes: TagBytes::Same(TAG_BYTES),
        tags: Vec::new(),
    }
}
