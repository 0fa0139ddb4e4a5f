//! Batches of messages through the lanes, against the readable reference.

use cipherlane_core::{Batch, Hash, Messages, Output, Source};
use cipherlane_reference::hash::hash as reference;

use super::table;
use crate::job::Job;
use crate::tier::Tier;
use crate::worker::Kernel;

/// The message of `bytes` bytes: those of a Weyl sequence.
pub(super) fn message(bytes: usize, seed: usize) -> Vec<u8> {
    let weyl = |i: usize| (i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..bytes).map(|i| weyl(i).to_be_bytes()[0]).collect()
}

/// The digests that a kernel makes of messages in one batch.
pub(super) fn digests(kernel: &dyn Kernel, hash: Hash, messages: &[Vec<u8>], bytes: usize) -> Vec<Vec<u8>> {
    let mut offsets = vec![0];
    offsets.extend(messages.iter().scan(0, |end, message| {
        *end += message.len() as u64;
        Some(*end)
    }));
    let (texts, mut digests) = (messages.concat(), vec![0; bytes * messages.len()]);
    let source = Source::Apart(&texts);
    let batch = Batch::hash(hash, Messages { source, offsets: &offsets }, bytes);
    let mut output = Output::digests(&mut digests);
    let job = Job::new(&batch, &mut output).unwrap();
    kernel.worker(None).messages(&job, 0..messages.len());
    digests.chunks(bytes).map(<[u8]>::to_vec).collect()
}

/// Compares all digests with those of the reference.
#[track_caller]
pub(super) fn assert_digests(kernel: &dyn Kernel, hash: Hash, lengths: &[usize], bytes: usize) {
    let messages: Vec<_> = lengths.iter().enumerate().map(|(i, &length)| message(length, i)).collect();
    let found = digests(kernel, hash, &messages, bytes);
    for (i, (message, found)) in messages.iter().zip(found).enumerate() {
        let mut expected = vec![0; bytes];
        reference(hash, message, &mut expected);
        assert!(
            found == expected,
            "{}: message {i} of {}, {} bytes",
            hash.name(),
            lengths.len(),
            message.len()
        );
    }
}

/// Puts every edge of the lanes to a kernel: each length around whole blocks and padding, messages that enter late
/// and end early, windows of the order, fewer messages than lanes, long outputs.
pub(super) fn examine(kernel: &dyn Kernel, hash: Hash) {
    let bytes = hash.usual_digest_bytes();
    let block = hash.block_bytes();
    let around: Vec<usize> = (0..=2 * block + 1).chain(4 * block - 20..=4 * block + 1).collect();
    assert_digests(kernel, hash, &around, bytes);
    for count in 1..70 {
        assert_digests(kernel, hash, &vec![block + 3; count], bytes);
        let ragged: Vec<_> = (0..count).map(|i| (i * 7919 + count * 104_729) % (6 * block)).collect();
        assert_digests(kernel, hash, &ragged, bytes);
        let whole: Vec<_> = (0..count).map(|i| (i * 7919 + count) % 5 * block).collect();
        assert_digests(kernel, hash, &whole, bytes);
    }
    // One long message among short ones: lanes run dry around it.
    let mut lengths: Vec<_> = (0..1100).map(|i| i * 37 % 200).collect();
    lengths[700] = 50_000;
    assert_digests(kernel, hash, &lengths, bytes);
    if hash.digest_bytes().is_none() {
        for bytes in [1, block - 1, block, block + 1, 3 * block + 9] {
            let lengths: Vec<_> = (0..45).map(|i| i * 7919 % (3 * block)).collect();
            assert_digests(kernel, hash, &lengths, bytes);
        }
    }
}

/// Every function as the table serves it on each tier of this CPU.
#[test]
fn every_kernel_passes_the_exam() {
    for tier in Tier::available() {
        for hash in Hash::ALL {
            let entry = table::kernel(tier, hash).unwrap();
            examine(&*entry.kernel, hash);
        }
    }
}
