//! What sessions enqueue is in order, and over when a run is: the device tells where it may not be.

use std::sync::Arc;

use cipherlane_kernels::manifest::Tiling;

use super::OffloadSession;
use crate::fake::{Case, Failing, Fake};

/// A session whose program is loaded, and gives no known answer.
pub(super) fn session(case: &Case, backend: &Arc<Fake>) -> OffloadSession<Fake> {
    let (plan, programs) = case.planned();
    let mut session = OffloadSession::idle(Arc::clone(backend), &plan, programs).unwrap();
    session.answering = Some(session.programs.find(backend, &case.shape(), None).unwrap().0);
    session
}

/// Short messages, of one length and of several, and between them one that is run in ten pieces, or by more than one
/// staging.
fn lengths(session: &mut OffloadSession<Fake>) -> [Vec<usize>; 3] {
    let program = &session.programs.get(0).program;
    let tile = match program.tiling {
        Tiling::Blocks(blocks) | Tiling::WholeBlocks(blocks) | Tiling::Joined(blocks) => {
            usize::try_from(16 * blocks).unwrap()
        }
        Tiling::None => 1 << 10,
    };
    [vec![112; 24], vec![9 * tile + 48], vec![80, 16, 32, 112, 48, 96]]
}

#[test]
fn queues_wait_for_what_they_use() {
    for case in Case::all() {
        for &in_place in case.places() {
            for backend in [Fake::new(), Fake::pinned()].map(Arc::new) {
                let mut session = session(&case, &backend);
                let [uniform, long, ragged] = lengths(&mut session);
                let all = [uniform, long.clone(), ragged].concat();
                // The second time the key is there, and the third time another comes. Then there is nothing but pieces.
                for (lengths, key) in [(&all, 1), (&all, 1), (&all, 101), (&long, 1), (&long, 1)] {
                    case.run(&mut session, lengths, key, in_place).unwrap();
                    assert_eq!(backend.under_way(), [""; 0], "{case:?}");
                }
                drop(session);
                assert_eq!(backend.under_way(), [""; 0], "{case:?}");
            }
        }
    }
}

/// Whatever the device refuses, and whenever.
#[test]
fn what_fails_leaves_nothing_under_way() {
    for case in Case::all().filter(|case| case.longest < 1 << 30) {
        for failing in Failing::ERRORS {
            for others in 0.. {
                let backend = Arc::new(Fake::new());
                let mut session = session(&case, &backend);
                let all = lengths(&mut session);
                case.run(&mut session, &all.concat(), 1, false).unwrap();
                // Fewer go through fewer lanes: in others the key of before is to be wiped.
                let some = all.map(|lengths| lengths[..lengths.len().min(2)].to_vec()).concat();
                backend.fail(failing, others);
                let ran = case.run(&mut session, &some, 101, false);
                assert_eq!(backend.under_way(), [""; 0], "{case:?}: {failing:?} after {others}");
                let Err(error) = ran else { break };
                assert!(error.to_string().contains("the device is lost"), "{case:?}: {error}");
            }
        }
    }
}
