//! The reference sits its own exam: the answers of the standards bind it, the rest binds the exam.

use cipherlane_core::{Algorithm, Hash, Mode};
use cipherlane_reference::{Reference, conformance};

#[test]
fn the_reference_conforms() {
    let report = conformance::check(&Reference::new()).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.checks.len(), Algorithm::all().count());
    // Four families of ciphers in each mode, and the hash functions.
    assert_eq!(report.kernels.len(), 4 * Mode::ALL.len() + Hash::ALL.len(), "{:?}", report.kernels);
}
