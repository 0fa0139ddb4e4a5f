//! Batches that come from the host and go back there.

use cipherlane_core::{Batch, Checked, DeviceError, Output, Session, Source, Spans, StreamSpans};

use super::owned::Owned;
use super::run_shares::{Done, Turn, forget, run_shares};
use super::share::{Aside, Cut, Share};
use super::side_by_side::{after, caught};
use crate::copy;
use crate::part::{Parts, Sum};

/// A session on each device.
pub(super) struct Sessions {
    /// The fleet's identifier.
    id: String,
    seats: Vec<Seat>,
    how: Cut,
}

/// A session of one device, which has several runs in one of the fleet.
struct Seat {
    session: Box<dyn Parts>,
    /// Times of all of them.
    streams: Vec<StreamSpans>,
    /// How many streams the last of them had.
    used: usize,
    /// Whether text may have come out in one of them.
    has_text_out: bool,
}

impl Seat {
    /// Has the session run something.
    fn run<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Parts) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        // A panic would not tell.
        let before = std::mem::replace(&mut self.has_text_out, true);
        let ran = run(&mut *self.session);
        self.has_text_out = before || ran.is_ok() || self.session.has_text_out();
        let streams = self.session.streams();
        for (all, one) in self.streams.iter_mut().zip(&streams) {
            all.add(one);
        }
        self.used = streams.len();
        ran
    }
}

impl Sessions {
    pub(super) fn new(id: &str, all: Vec<Box<dyn Parts>>, how: Cut) -> Self {
        let seat = |session: Box<dyn Parts>| {
            let streams = session.streams();
            Seat { used: streams.len(), streams, session, has_text_out: false }
        };
        Self { id: id.to_owned(), seats: all.into_iter().map(seat).collect(), how }
    }

    fn run_shares(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let done = run_shares(
            &mut self.seats,
            self.how,
            batch,
            output,
            |seat, Turn { batch, output, part, .. }| {
                seat.run(|session| match part {
                    None => Ok((session.run(batch, output)?, None)),
                    Some(part) => {
                        let (spans, sum) = session.run_part(batch, output, part)?;
                        Ok((spans, Some(sum)))
                    }
                })
            },
        )?;
        self.end_messages(&done, batch, output)
    }

    /// Has the first device make the tags of messages that were cut, or the verdicts on them.
    fn end_messages(
        &mut self,
        done: &Done,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
    ) -> Result<Spans, DeviceError> {
        let mut spans = done.spans;
        for summands in done.messages() {
            let (message, message_bytes) = (summands[0].message, summands[0].message_bytes);
            let mut total = Sum::default();
            summands.iter().filter_map(|summand| summand.sum.as_ref()).for_each(|sum| total.add(sum));
            let mut aside = Aside::new(batch);
            let share = Share { messages: message..message + 1, text: 0..0 };
            let owned = Owned::without_text();
            let ending = owned.batch(batch, &share, Source::Apart(&[]));
            let ended = self.seats[0]
                .run(|session| session.end_parts(&ending, &mut aside.output(), message_bytes, &total))?;
            spans = after(spans, ended);
            aside.settle(batch, output, message);
        }
        Ok(spans)
    }
}

impl Session for Sessions {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.run_checked(Checked::by(batch, output, &copy::on_idle_threads)?)
    }

    fn run_checked(&mut self, checked: Checked<'_, '_, '_>) -> Result<Spans, DeviceError> {
        let begun = checked.begun();
        let (batch, output) = checked.into_parts();
        for seat in &mut self.seats {
            seat.streams.iter_mut().for_each(StreamSpans::clear);
            seat.has_text_out = false;
        }
        let id = self.id.clone();
        let mut spans = caught(&id, || self.run_shares(batch, output)).inspect_err(|error| {
            let has_come_out = self.seats.iter().any(|seat| seat.has_text_out);
            forget(batch, output, error, has_come_out);
        })?;
        spans.wall = begun.elapsed();
        Ok(spans)
    }

    fn streams(&self) -> Vec<StreamSpans> {
        self.seats.iter().flat_map(|seat| &seat.streams[..seat.used]).cloned().collect()
    }
}
