//! The GCM records of NIST's validation program, in their order: nearly every one another key and shape.

use cipherlane::verify::vectors::case::{Case, Expectation};
use cipherlane::verify::vectors::{VectorError, directory, gcm_records};
use cipherlane_record::Keys;

use super::part::{Part, Results, Rows, TagBytes};
use super::{Job, Named, Outline, Request, Task, WorkloadError};

/// The records with a text of NIST CAVP's `gcmtestvectors`, in record order: texts of 13 to 51 bytes, nonces of 1,
/// 12 and 128 bytes, AAD of 0 to 90, tags of 4 to 16, a key each, half of the decryptions with a wrong tag.
pub const WORKLOAD: Named = Named {
    name: "cavp-mix",
    question: "How fast are tiny messages of which no two have the same key or shape?",
    jobs: &[Job::Mixed],
    fixed_size: true,
    outline: Outline { messages: None, message_bytes: LONGEST_BYTES, keys: Keys::Distinct },
    weight: 2.0,
    build,
};

/// Bytes of the longest text.
const LONGEST_BYTES: usize = 51;
/// Bytes of one row of tags, where their lengths differ.
const ROW: usize = cipherlane::BLOCK;

fn build(_: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let cases = gcm_records(&directory()?)?;
    let batches = cases.chunk_by(|a, b| (a.algorithm, a.operation) == (b.algorithm, b.operation));
    batches.map(|cases| task(cases, request)).collect()
}

fn task(cases: &[Case], request: &Request<'_>) -> Result<Task, WorkloadError> {
    let first = &cases[0];
    let seals = first.operation.is_forward();
    let mut offsets = vec![0];
    let (mut texts, mut tags, mut tag_bytes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut outputs, mut expected) = (Vec::new(), Results::default());
    for case in cases {
        texts.extend_from_slice(&case.input);
        offsets.push(texts.len() as u64);
        tags.extend_from_slice(&case.tag);
        tags.resize(tags.len() + ROW - case.tag.len(), 0);
        tag_bytes.push(u8::try_from(case.tag.len()).unwrap_or(u8::MAX));
        outputs.extend_from_slice(&published(case)?);
        if !seals {
            expected.accepted.push(case.expectation == Expectation::Output);
        }
    }
    expected.bytes = outputs.into();
    if seals {
        expected.tags = std::mem::take(&mut tags);
    }
    let width = first.algorithm.key_bytes();
    let part = Part {
        algorithm: first.algorithm,
        operation: first.operation,
        keys: Rows::Each { bytes: cases.iter().flat_map(|case| case.key.iter().copied()).collect(), width },
        nonces: Rows::gather(cases.iter().map(|case| &case.nonce[..])),
        aad: Rows::gather(cases.iter().map(|case| &case.aad[..])),
        texts: texts.into(),
        offsets,
        tag_bytes: TagBytes::Each(tag_bytes),
        tags,
    };
    part.shape()?;
    Ok(Task::published(part, expected, &first.source, request.judges)?)
}

/// The text that the record says must come out; zeros where it says that the tag is wrong.
fn published(case: &Case) -> Result<Vec<u8>, VectorError> {
    match case.expectation {
        Expectation::Output => Ok(case.output.clone()),
        Expectation::Reject => Ok(vec![0; case.input.len()]),
        _ => Err(VectorError {
            place: case.id.clone(),
            problem:
                "neither an output nor a wrong tag, which is all that NIST's GCM set has; run `cargo xtask \
                      vectors` to fetch it anew"
                    .to_owned(),
        }),
    }
}
