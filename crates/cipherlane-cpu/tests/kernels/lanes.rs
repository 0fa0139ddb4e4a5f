//! Batches of messages through the lanes, against the readable reference: what is put to every kernel of a hash
//! function, those of the table and those that only the crate's own tests make.

use cipherlane_core::{Batch, Hash, Messages, Output, Session, Source};
use cipherlane_reference::hash::hash as reference;

/// The message of `bytes` bytes: those of a Weyl sequence.
pub(crate) fn message(bytes: usize, seed: usize) -> Vec<u8> {
    let weyl = |i: usize| (i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..bytes).map(|i| weyl(i).to_be_bytes()[0]).collect()
}

/// The digests that a kernel makes of messages in one batch.
pub(crate) fn digests(
    session: &mut dyn Session,
    hash: Hash,
    messages: &[Vec<u8>],
    bytes: usize,
) -> Vec<Vec<u8>> {
    let mut offsets = vec![0];
    offsets.extend(messages.iter().scan(0, |end, message| {
        *end += message.len() as u64;
        Some(*end)
    }));
    let (texts, mut digests) = (messages.concat(), vec![0; bytes * messages.len()]);
    let source = Source::Apart(&texts);
    let batch = Batch::hash(hash, Messages { source, offsets: &offsets }, bytes);
    session.run(&batch, &mut Output::digests(&mut digests)).unwrap();
    digests.chunks(bytes).map(<[u8]>::to_vec).collect()
}

/// Compares all digests with those of the reference.
#[track_caller]
pub(crate) fn assert_digests(session: &mut dyn Session, hash: Hash, lengths: &[usize], bytes: usize) {
    let messages: Vec<_> = lengths.iter().enumerate().map(|(i, &length)| message(length, i)).collect();
    let found = digests(session, hash, &messages, bytes);
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
pub(crate) fn examine(session: &mut dyn Session, hash: Hash) {
    let bytes = hash.usual_digest_bytes();
    let block = hash.block_bytes();
    let around: Vec<usize> = (0..=2 * block + 1).chain(4 * block - 20..=4 * block + 1).collect();
    assert_digests(session, hash, &around, bytes);
    for count in 1..70 {
        assert_digests(session, hash, &vec![block + 3; count], bytes);
        let ragged: Vec<_> = (0..count).map(|i| (i * 7919 + count * 104_729) % (6 * block)).collect();
        assert_digests(session, hash, &ragged, bytes);
        let whole: Vec<_> = (0..count).map(|i| (i * 7919 + count) % 5 * block).collect();
        assert_digests(session, hash, &whole, bytes);
    }
    // Neighbours differ by blocks, too.
    for count in [8, 13, 70, 150] {
        let ragged: Vec<_> = (0..count).map(|i| i * 7919 % (20 * block)).collect();
        assert_digests(session, hash, &ragged, bytes);
    }
    // Those of nearly one length run in step, with whole blocks before their last ones and without, and those of one block as
    // they lie.
    for (start, range) in
        [(0, block - 20), (0, 2 * block), (block - 30, 60), (7 * block - 5, block), (3 * block, 2 * block)]
    {
        for count in [2, 5, 31, 100, 600] {
            let lengths: Vec<_> = (0..count).map(|i| start + i * 7919 % range).collect();
            assert_digests(session, hash, &lengths, bytes);
        }
    }
    // Ends that are alike with others between them, in groups of any lanes.
    for group in [2, 4, 8, 32] {
        let is_end = |i: usize| i.is_multiple_of(group) || i % group == group - 1;
        let lengths: Vec<_> = (0..64).map(|i| if is_end(i) { 3 } else { 9 }).collect();
        assert_digests(session, hash, &lengths, bytes);
    }
    // Messages of one length run in step: without text in their last block, and with.
    for length in [0, 1, block - 1, block, 2 * block, 5 * block, 5 * block + 1] {
        for count in [1, 2, 7, 16, 17, 33, 75] {
            assert_digests(session, hash, &vec![length; count], bytes);
        }
    }
    // With as much of it as a block has room for, with a block before it and without.
    for length in 0..=2 * block {
        assert_digests(session, hash, &[length; 9], bytes);
    }
    // Windows of one length around one of several, those all of whole blocks or not.
    for unit in [1, block] {
        let lengths: Vec<_> =
            (0..1100).map(|i| if i / 512 == 1 { i * 37 % 3 * unit } else { 2 * block }).collect();
        assert_digests(session, hash, &lengths, bytes);
    }
    // One long message among short ones: lanes run dry around it.
    let mut lengths: Vec<_> = (0..1100).map(|i| i * 37 % 200).collect();
    lengths[700] = 50_000;
    assert_digests(session, hash, &lengths, bytes);
    if hash.digest_bytes().is_none() {
        for bytes in [1, 28, 64, 65, 100, block - 1, block, block + 1, 3 * block + 9] {
            for most in [block - 1, block + 5, 3 * block] {
                let lengths: Vec<_> = (0..45).map(|i| i * 7919 % most).collect();
                assert_digests(session, hash, &lengths, bytes);
            }
            assert_digests(session, hash, &[block; 45], bytes);
            assert_digests(session, hash, &[block + 3; 45], bytes);
        }
    }
}
