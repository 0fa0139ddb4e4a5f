//! What the kernels of a hash function sit.

use cipherlane_core::Hash;

use super::super::candidate::Size;
use super::super::digest_trial::DigestDraft;
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use crate::random::Random;

/// Numbers of messages around the widths of kernels that hash several side by side.
const MESSAGES: [usize; 18] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 101];

pub(super) fn sit(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    sit_lengths(examiner, hash)?;
    sit_messages(examiner, hash)?;
    if hash.digest_bytes().is_none() {
        sit_digest_lengths(examiner, hash)?;
    }
    sit_chunks(examiner, hash)
}

/// Every length of up to two blocks and more, and lengths around the places where the padding takes one block more.
fn sit_lengths(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    let block = hash.block_bytes();
    let all = || (0..=2 * block + 20).collect::<Vec<_>>();
    examiner.sit_digests("messages of every length, shortest first", Size::Whole, |random| {
        DigestDraft::new(hash, all(), random)
    })?;
    examiner.sit_digests("messages of every length, shuffled", Size::Whole, |random| {
        DigestDraft::new(hash, shuffled(all(), random), random)
    })?;
    // SHA-2 needs a bit and 8 or 16 bytes behind the message (FIPS 180-4 section 5.1), Keccak a byte.
    let edges = [-18, -17, -16, -10, -9, -8, -2, -1, 0, 1, 2];
    for blocks in [0, 1, 2, 3, 8] {
        for length in edges.into_iter().filter_map(|edge| (blocks * block).checked_add_signed(edge)) {
            examiner.sit_digests(&format!("one message of {length} bytes"), Size::Whole, |random| {
                DigestDraft::new(hash, vec![length], random)
            })?;
            examiner.sit_digests(&format!("20 messages of {length} bytes"), Size::Whole, |random| {
                DigestDraft::new(hash, vec![length; 20], random)
            })?;
        }
    }
    Ok(())
}

/// Numbers of messages: all equal, all different, and most of them empty, so that neighbours share an offset.
fn sit_messages(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    let block = hash.block_bytes();
    for messages in MESSAGES {
        examiner.sit_digests(&format!("{messages} equal messages"), Size::Whole, |random| {
            let length = random.below(3 * block);
            DigestDraft::new(hash, vec![length; messages], random)
        })?;
        examiner.sit_digests(&format!("{messages} ragged messages"), Size::Whole, |random| {
            let lengths = (0..messages).map(|_| random.below(5 * block)).collect();
            DigestDraft::new(hash, lengths, random)
        })?;
        examiner.sit_digests(&format!("{messages} messages, most of them empty"), Size::Whole, |random| {
            let lengths = (0..messages).map(|_| random.pick(&[0, 0, 0, 1, block, 300])).collect();
            DigestDraft::new(hash, lengths, random)
        })?;
    }
    examiner.sit_digests("one long message among many short ones", Size::Whole, |random| {
        let mut lengths: Vec<usize> = (0..60).map(|_| random.below(block)).collect();
        lengths[23] = 50 * block + 11;
        DigestDraft::new(hash, lengths, random)
    })
}

/// SHAKE: less and more than one block of output, and several.
fn sit_digest_lengths(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    let rate = hash.block_bytes();
    let around = [rate - 8, rate - 1, rate, rate + 1, rate + 8, 2 * rate - 1, 2 * rate, 2 * rate + 1];
    for digest_bytes in
        [1, 2, 7, 8, 9, 16, 31, 32, 33, 64].into_iter().chain(around).chain([5 * rate + 3, 2000])
    {
        for messages in [1, 37] {
            let case = format!("{messages} digests of {digest_bytes} bytes");
            examiner.sit_digests(&case, Size::Whole, |random| {
                let lengths = (0..messages).map(|_| random.below(3 * rate)).collect();
                DigestDraft { digest_bytes, ..DigestDraft::new(hash, lengths, random) }
            })?;
        }
    }
    Ok(())
}

/// Batches that are spread over threads, with messages longer than a thread takes at once.
fn sit_chunks(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    let block = hash.block_bytes();
    for chunk in examiner.chunks() {
        for length in [chunk - 1, chunk, chunk + 1, chunk * 5 / 2 + 7] {
            let case = format!("one message of {length} bytes in chunks of {chunk}");
            examiner
                .sit_digests(&case, Size::Split, |random| DigestDraft::new(hash, vec![length], random))?;
        }
        examiner.sit_digests("long and short messages", Size::Split, |random| {
            let long = chunk * 5 / 2 + 7;
            DigestDraft::new(hash, vec![16, long, 0, 17, long + 31, 200, 1, 0, long / 2, 16], random)
        })?;
    }
    examiner.sit_digests("700 messages over threads", Size::Split, |random| {
        let lengths = (0..700).map(|_| random.below(2 * block)).collect();
        DigestDraft::new(hash, lengths, random)
    })
}

/// In random order (Fisher and Yates).
fn shuffled(mut items: Vec<usize>, random: &mut Random) -> Vec<usize> {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
    items
}
