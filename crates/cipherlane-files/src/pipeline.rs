//! Reading, computing and writing side by side: while a window is run, the next is read and the one before is written.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use crate::error::Error;
use crate::header::Stream;
use crate::window::Window;

/// One that is read, one that is run, one that is written.
const WINDOWS: usize = 3;

/// Has `read` fill windows from `input`, from the segment of a number on, until it has filled the last; `work` run each,
/// and `write` write it to `output`, in order. The first failure ends it all, as soon as a read that is
/// under way returns.
pub(crate) fn run<R: Send, W: Send>(
    stream: &Stream,
    input: &mut R,
    output: &mut W,
    read: impl Fn(&mut Window, &Stream, u64, &mut R) -> Result<(), Error> + Send,
    mut work: impl FnMut(&mut Window) -> Result<(), Error>,
    write: impl Fn(&Window, &mut W) -> io::Result<()> + Send,
) -> Result<(), Error> {
    let (free, to_fill) = channel::<Option<Window>>();
    let (filled, to_work) = sync_channel::<Window>(WINDOWS);
    let (worked, to_write) = sync_channel::<Window>(WINDOWS);
    for _ in 0..WINDOWS {
        // Room is made when it is needed: a short file needs one window.
        free.send(None).unwrap_or_default();
    }
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut next = 0;
            for window in to_fill {
                let mut window = window.unwrap_or_else(|| Window::new(stream));
                read(&mut window, stream, next, input)?;
                next += window.segments();
                let is_last = window.is_last();
                // Where nobody waits for it any more, something has failed there.
                if filled.send(window).is_err() || is_last {
                    break;
                }
            }
            Ok(())
        });
        let writer = scope.spawn(move || {
            for window in to_write {
                write(&window, output).map_err(Error::Write)?;
                // The reader may have come to the end.
                free.send(Some(window)).unwrap_or_default();
            }
            Ok(())
        });
        let mut outcome = Ok(());
        for mut window in to_work {
            outcome = work(&mut window);
            if outcome.is_err() || worked.send(window).is_err() {
                break;
            }
        }
        drop(worked);
        let (read, written) = (joined(reader), joined(writer));
        // Of windows that are under way at the same time, the one that came first tells.
        written.and(outcome).and(read)
    })
}

fn joined(thread: ScopedJoinHandle<'_, Result<(), Error>>) -> Result<(), Error> {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
