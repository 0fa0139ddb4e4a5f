//! What a run that fails leaves in memory of callers.

use std::sync::Arc;

use cipherlane_core::{
    Batch, Column, DeviceMemory, DeviceTexts, Messages, Operation, Output, Resident as _, Source,
};

use super::Resident;
use crate::backend::Backend;
use crate::fake::{Fake, planned};
use crate::memory::CallerMemory;

#[test]
fn no_text_is_left_that_no_tag_vouches_for() {
    const TEXT: [u8; 300] = [0x5a; 300];
    let backend = Arc::new(Fake::new());
    let lend = || -> Arc<dyn DeviceMemory> {
        let memory = CallerMemory::lent(Arc::clone(&backend), backend.allocate(TEXT.len()).unwrap());
        memory.write(0, &TEXT).unwrap();
        Arc::new(memory)
    };
    for (operation, in_place, left) in [
        (Operation::Open, true, 0),
        (Operation::Open, false, 0),
        (Operation::Seal, true, !0x5a),
        (Operation::Seal, false, !0x5a),
    ] {
        let (plan, programs) = planned("aes-128-gcm", operation, 1 << 20);
        let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
        resident.is_compared = true;
        let (key, nonces) = (Column::Shared(&[1; 16]), Column::Each { bytes: &[2; 24], width: 12 });
        let messages = Messages { source: Source::OnDevice, offsets: &[16, 100, 290] };
        let batch = if operation == Operation::Open {
            Batch::open(plan.algorithm, key, nonces, Column::Shared(&[]), messages, &[0; 32])
        } else {
            Batch::seal(plan.algorithm, key, nonces, Column::Shared(&[]), messages)
        };
        let (input, output) = (lend(), lend());
        let texts = if in_place {
            DeviceTexts::InPlace(Arc::clone(&output))
        } else {
            DeviceTexts::Apart { input, output: Arc::clone(&output) }
        };
        let (mut tags, mut accepted) = ([0; 32], [false; 2]);
        let mut outputs = Output { bytes: &mut [], tags: &mut tags, accepted: &mut accepted };
        resident.bind(&batch, &mut outputs, &texts).unwrap();
        *backend.is_failing.lock().unwrap() = true;
        let error = resident.execute().unwrap_err().to_string();
        assert_eq!(error, "fake:0: the device is lost");
        *backend.is_failing.lock().unwrap() = false;
        let mut found = [0xee; TEXT.len()];
        output.read(0, &mut found).unwrap();
        assert!(found[16..290].iter().all(|&byte| byte == left), "{operation}, in place: {in_place}");
        if operation == Operation::Open {
            // The fake inverts all of a memory, where kernels write messages alone.
            assert!(found[..16].iter().chain(&found[290..]).all(|&byte| byte == !0x5a), "what is around it");
        }
    }
}
