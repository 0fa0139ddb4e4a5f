//! The sum of a part on its way between the workspace and the host.
#![allow(unsafe_code)] // copies that the device makes while the host goes on

use std::ops::Range;

use crate::backend::{Backend, Fault};
use crate::columns::Columns;
use crate::lane::size;
use crate::launch::OnQueue;
use crate::part::Sum;

/// Where a sum lies in the staging of rows: behind the columns. Staging of so many bytes has room for both.
pub(crate) fn place(columns: &Columns) -> Range<usize> {
    let at = columns.bytes.max(16);
    at..at + Sum::BYTES
}

/// Enqueues the copy of the sum of the one message of `scene` to `staging`.
pub(crate) fn download<B: Backend>(
    OnQueue { commands, scene }: OnQueue<'_, B>,
    staging: &mut B::Staging,
) -> Result<B::Step, Fault> {
    let (at, target) = (size(scene.columns.params.state_at)?, staging[place(scene.columns)].as_mut_ptr());
    // SAFETY: the row of a message begins with its sum (`entry/gcm_stages.h`), and the layout has that row. The staging
    // is the queue's, whose owner does not touch it before the copy is done.
    unsafe { commands.backend.download(commands.queue, scene.views.work, at, target, Sum::BYTES) }
}

/// Enqueues the copy of `sum` to where the one message of `scene` has its own.
pub(crate) fn upload<B: Backend>(
    OnQueue { commands, scene }: OnQueue<'_, B>,
    staging: &mut B::Staging,
    sum: &Sum,
) -> Result<B::Step, Fault> {
    let staging = &mut staging[place(scene.columns)];
    staging.copy_from_slice(&sum.0);
    let at = size(scene.columns.params.state_at)?;
    // SAFETY: as above.
    unsafe { commands.backend.upload(commands.queue, scene.views.work, at, staging.as_ptr(), Sum::BYTES) }
}
