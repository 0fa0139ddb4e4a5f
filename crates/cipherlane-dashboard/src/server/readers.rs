//! Who is looking: the pages whose streams are open, and what is to become of the runs when the last one closes.
//!
//! The server watches the streams and does not wait to be told: a browser that is killed tells nothing, and what a page
//! sends while it closes may come late or never.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::board::Board;

/// How long a page that is loaded anew may be away.
const ABSENCE: Duration = Duration::from_secs(3);

/// How many pages are open.
#[derive(Clone, Default)]
pub(super) struct Readers(Arc<AtomicUsize>);

impl Readers {
    /// One page more, as long as the result lives. If `stops`, all runs are stopped once no page has been open for
    /// [`ABSENCE`] after it.
    pub(super) fn enter(&self, board: &Arc<Board>, stops: bool) -> Reader {
        self.0.fetch_add(1, Ordering::Relaxed);
        Reader { readers: self.clone(), board: Arc::clone(board), stops }
    }

    fn is_anybody_here(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// An open page.
pub(super) struct Reader {
    readers: Readers,
    board: Arc<Board>,
    stops: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.readers.0.fetch_sub(1, Ordering::Relaxed);
        // Without a runtime the server has ended, and with it all runs.
        let (true, Ok(runtime)) = (self.stops, Handle::try_current()) else { return };
        let (readers, board) = (self.readers.clone(), Arc::clone(&self.board));
        runtime.spawn(async move {
            tokio::time::sleep(ABSENCE).await;
            if !readers.is_anybody_here() {
                board.stop_all();
            }
        });
    }
}
