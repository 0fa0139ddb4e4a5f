//! The reference sits its own exam: the answers of the standards bind it, the rest binds the exam.

use cipherlane_core::Algorithm;
use cipherlane_reference::{Reference, conformance};

#[test]
fn the_reference_conforms() {
    let report = conformance::check(&Reference::new()).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.checks.len(), Algorithm::all().count());
    assert_eq!(report.kernels.len(), 5, "{:?}", report.kernels);
}
