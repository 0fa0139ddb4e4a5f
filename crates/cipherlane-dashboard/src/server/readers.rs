//! Who is looking: the pages whose streams are open, and what is to become of the runs when the last one closes.
//!
//! The server watches the streams and does not wait to be told: a browser that is killed tells nothing, and what a page
//! sends while it closes may come late or never.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::board::Board;

/// How long a page may be away that is loaded anew, or whose stream broke: browsers ask for another after half a second,
/// as they are told to, or after some seconds.
const ABSENCE: Duration = Duration::from_secs(10);

/// The pages, for all of the server.
#[derive(Clone, Default)]
pub(super) struct Readers(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    open: usize,
    /// How many ever were: shows whether one came meanwhile.
    ever: u64,
    /// Whether all runs are to be stopped when the last page is closed: what some page asked for, which may be closed
    /// before the others.
    stop_on_close: bool,
}

impl Readers {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        // Numbers are whole between changes, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One page more, as long as the result lives.
    pub(super) fn enter(&self, board: &Arc<Board>) -> Reader {
        let mut pages = self.pages();
        pages.open += 1;
        pages.ever += 1;
        Reader { readers: self.clone(), board: Arc::clone(board) }
    }

    /// Whether all runs are stopped once no page has been open for [`ABSENCE`].
    pub(super) fn stop_on_close(&self) -> bool {
        self.pages().stop_on_close
    }

    /// Has all runs be stopped so, or not. It holds until they were.
    pub(super) fn set_stop_on_close(&self, stop: bool) {
        self.pages().stop_on_close = stop;
    }

    /// Whether all runs are to be stopped now, where no page came after the first `ever`, which are closed.
    fn take_stop(&self, ever: u64) -> bool {
        let mut pages = self.pages();
        pages.ever == ever && mem::take(&mut pages.stop_on_close)
    }
}

/// An open page.
pub(super) struct Reader {
    readers: Readers,
    board: Arc<Board>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut pages = self.readers.pages();
        pages.open -= 1;
        let (open, ever) = (pages.open, pages.ever);
        drop(pages);
        // Without a runtime the server has ended, and with it all runs.
        let (0, Ok(runtime)) = (open, Handle::try_current()) else { return };
        let (readers, board) = (self.readers.clone(), Arc::clone(&self.board));
        runtime.spawn(async move {
            tokio::time::sleep(ABSENCE).await;
            if readers.take_stop(ever) {
                board.stop_all();
            }
        });
    }
}
