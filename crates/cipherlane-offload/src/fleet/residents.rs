//! Batches that stay on the devices.

use std::sync::Arc;
use std::time::Instant;

use cipherlane_core::{Batch, DeviceError, DeviceTexts, Mode, Output, Plan, Resident, Shape, Source, Spans};

use super::run_shares::{Summand, Turn, forget, run_shares};
use super::share::Cut;
use super::side_by_side::{after, caught, together};
use crate::part::{Member, ResidentParts, Sum};
use crate::resident::{not_run, nothing};
use crate::sizes::Sizes;

/// A share on each device.
pub(super) struct Residents {
    seats: Vec<Seat>,
    how: Cut,
    /// Where the parts of each message lie that was cut, the first part first.
    cut: Vec<Vec<(usize, usize)>>,
    /// What was loaded, all of it: a share alone does not tell a part from a message.
    loaded: Option<Sizes>,
    /// Whether it has run since, and the last time without an error, verdicts of parts included.
    has_run: bool,
}

/// What lies on a device: a place for each run of its share.
pub(super) struct Seat {
    device: Arc<dyn Member>,
    plan: Plan,
    runs: Vec<Box<dyn ResidentParts>>,
    /// How many of them have been loaded.
    loaded: usize,
}

impl Seat {
    /// `None` if the device has no memory of its own.
    pub(super) fn new(device: &Arc<dyn Member>, plan: Plan) -> Result<Option<Self>, DeviceError> {
        let run = device.resident_parts(&plan)?;
        Ok(run.map(|run| Self { device: Arc::clone(device), plan, runs: vec![run], loaded: 0 }))
    }

    /// The place for run `number`, made if there is none yet.
    fn run(&mut self, number: usize) -> Result<&mut Box<dyn ResidentParts>, DeviceError> {
        while self.runs.len() <= number {
            let made = self.device.resident_parts(&self.plan)?;
            self.runs.push(made.ok_or_else(|| DeviceError::Failed {
                device: self.plan.device.clone(),
                reason: "it had memory of its own, and has none any more".to_owned(),
            })?);
        }
        Ok(&mut self.runs[number])
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        let runs = self.runs[..self.loaded].iter_mut();
        runs.map(|run| run.execute()).try_fold(Spans::default(), |total, spans| Ok(after(total, spans?)))
    }
}

impl Residents {
    pub(super) const fn new(seats: Vec<Seat>, how: Cut) -> Self {
        Self { seats, how, cut: Vec::new(), loaded: None, has_run: false }
    }

    /// Sums up the parts of messages that were cut, and has the device of the first part make the tag or the verdict.
    fn end_messages(&mut self) -> Result<Spans, DeviceError> {
        let mut spans = Spans::default();
        for parts in &self.cut {
            let mut total = Sum::default();
            for &(seat, run) in parts {
                total.add(&self.seats[seat].runs[run].sum()?);
            }
            let Some(&(seat, run)) = parts.first() else { continue };
            spans = after(spans, self.seats[seat].runs[run].end_parts(&total)?);
        }
        Ok(spans)
    }

    /// Refuses a batch that is not the one that was loaded and has run.
    fn check_loaded(&self, batch: &Batch<'_>, shape: Shape) -> Result<(), DeviceError> {
        let checked = self.loaded.as_ref().ok_or_else(nothing).and_then(|loaded| loaded.check(batch, shape));
        let checked = checked.and_then(|()| if self.has_run { Ok(()) } else { Err(not_run()) });
        checked.map_err(|fault| fault.of(&self.ids()))
    }

    /// How messages of `batch` are cut. A part of a CBC message has the block before it for its IV, which in place is another
    /// one after each run, and on another device.
    fn how(&self, batch: &Batch<'_>) -> Cut {
        let is_chained = batch.algorithm.mode() == Some(Mode::Cbc);
        if is_chained && matches!(batch.messages.source, Source::InPlace) { Cut::Whole } else { self.how }
    }

    fn ids(&self) -> String {
        self.seats.iter().map(|seat| seat.plan.device.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn load_shares(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let how = self.how(batch);
        let done =
            run_shares(&mut self.seats, how, batch, output, |seat, Turn { number, batch, output, part }| {
                let run = seat.run(number)?;
                let spans = match part {
                    Some(part) => run.load_part(batch, output, part)?,
                    None => run.load(batch, output)?,
                };
                seat.loaded = number + 1;
                Ok((spans, None))
            })?;
        self.cut = done.messages().map(|parts| parts.iter().map(|summand| summand.place).collect()).collect();
        Ok(done.spans)
    }

    fn run_shares(&mut self) -> Result<Spans, DeviceError> {
        let loaded = self.seats.iter_mut().filter(|seat| seat.loaded > 0);
        let spans = together(loaded.map(|seat| || seat.execute()))?;
        Ok(after(spans, self.end_messages()?))
    }

    fn store_shares(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let how = self.how(batch);
        let done =
            run_shares(&mut self.seats, how, batch, output, |seat, Turn { number, batch, output, .. }| {
                Ok((seat.run(number)?.store(batch, output)?, None))
            })?;
        for summands in done.messages() {
            let Summand { message, aside, .. } = &summands[0];
            aside.settle(batch, output, *message);
        }
        Ok(done.spans)
    }
}

impl Resident for Residents {
    fn load(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let shape = batch.check(output)?;
        self.unload();
        let loaded = caught(&self.ids(), || self.load_shares(batch, output));
        // What some devices have is no batch.
        let spans = loaded.inspect_err(|_| self.unload())?;
        self.loaded = Some(Sizes::of(batch, shape));
        Ok(spans)
    }

    /// Never: a batch is shared out among devices, and its texts lie on one.
    fn bind(&mut self, _: &Batch<'_>, _: &mut Output<'_>, texts: &DeviceTexts) -> Result<Spans, DeviceError> {
        let reason = format!(
            "the texts lie in memory of {}, and these devices together share out texts of the host: bind them to a resident \
             of that device alone",
            texts.input().device()
        );
        Err(DeviceError::Memory { device: self.ids(), reason })
    }

    fn execute(&mut self) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        self.has_run = false;
        if self.loaded.is_none() {
            return Err(nothing().of(&self.ids()));
        }
        let spans = caught(&self.ids(), || self.run_shares())?;
        self.has_run = true;
        Ok(Spans { wall: start.elapsed(), ..spans })
    }

    fn store(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let shape = batch.check(output)?;
        self.check_loaded(batch, shape).inspect_err(|error| forget(batch, output, error, false))?;
        let stored = caught(&self.ids(), || self.store_shares(batch, output));
        stored.inspect_err(|error| forget(batch, output, error, true))
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        if self.loaded.is_none() {
            return Err(nothing().of(&self.ids()));
        }
        let mut runs = self.seats.iter_mut().flat_map(|seat| &mut seat.runs[..seat.loaded]);
        runs.try_for_each(|run| run.clear())
    }

    fn unload(&mut self) {
        self.cut.clear();
        (self.loaded, self.has_run) = (None, false);
        for seat in &mut self.seats {
            seat.runs.iter_mut().for_each(|run| run.unload());
            seat.loaded = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Column, Messages, Operation};

    use super::*;

    fn empty() -> Residents {
        Residents::new(Vec::new(), Cut::Summed)
    }

    #[test]
    fn nothing_runs_that_was_not_loaded_as_a_whole() {
        let error = empty().execute().unwrap_err().to_string();
        assert!(error.contains("call `load` first"), "{error}");
    }

    #[test]
    fn chains_that_stay_in_place_are_not_cut() {
        let residents = empty();
        let shares = |name: &str, source| {
            let (column, messages) = (Column::Shared(&[0; 16]), Messages { source, offsets: &[0, 8 << 20] });
            let batch = Batch::cipher(name.parse().unwrap(), Operation::Decrypt, column, column, messages);
            crate::fleet::share::cut(&batch, 4, residents.how(&batch)).len()
        };
        assert_eq!(shares("aes-128-cbc", Source::InPlace), 1);
        assert_eq!(shares("aes-128-cbc", Source::Apart(&[])), 4);
        assert_eq!(shares("aes-128-ctr", Source::InPlace), 4);
    }
}
