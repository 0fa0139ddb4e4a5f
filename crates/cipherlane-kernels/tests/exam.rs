//! No kernel of the manifest is left out of the exam.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::collections::BTreeSet;

use cipherlane_core::{Algorithm, Operation, Shape};
use cipherlane_kernels::manifest::{SIZES, Target, programs};
use cipherlane_reference::conformance;

/// A GPU of capability 9.0, and OpenCL on any device.
const TARGETS: [Target; 2] =
    [Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true }, Target::CPU];

/// The kernels for some of `shapes`.
fn kernels(shapes: impl IntoIterator<Item = Shape>, target: &Target) -> BTreeSet<String> {
    shapes.into_iter().flat_map(|shape| programs(&shape, target)).map(|program| program.kernel).collect()
}

/// Shapes of all sizes of the manifest.
fn sizes(algorithm: Algorithm, operation: Operation) -> impl Iterator<Item = Shape> {
    let shape =
        move |shared| move |(messages, bytes)| Shape::uniform(algorithm, operation, messages, bytes, shared);
    [true, false].into_iter().flat_map(move |shared| SIZES.into_iter().map(shape(shared)))
}

#[test]
fn every_kernel_is_a_candidate_of_the_exam() {
    for target in TARGETS {
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                let all = kernels(sizes(algorithm, operation), &target);
                let examined = kernels(conformance::shapes(algorithm, operation), &target);
                assert_eq!(all, examined, "{algorithm} {operation} on {target:?}");
            }
        }
    }
}
