//! Who waits for whom.
//!
//! Commands are done when they are enqueued: that is one of the orders in which a device may take them. A vector clock
//! for each queue, and one for the host, say which commands are sure to be done by then, by the order of queues, by
//! `after` and by `wait`. Where two touch the same bytes, one of them to write, and neither is sure to come first, a
//! device may take them the wrong way round, however seldom it does: that is told as a defect, whatever came out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::host::Carried;

/// A command by its number in its queue, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    queue: usize,
    number: usize,
}

/// How many commands of each queue are sure to be done.
#[derive(Clone, Debug, Default)]
struct Clock(Vec<usize>);

impl Clock {
    fn has(&self, Stamp { queue, number }: Stamp) -> bool {
        self.0.get(queue).is_some_and(|&done| done >= number)
    }

    fn join(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (done, also) in self.0.iter_mut().zip(&other.0) {
            *done = (*done).max(*also);
        }
    }

    /// The stamp of the next command of `queue`, which is noted.
    fn tick(&mut self, queue: usize) -> Stamp {
        self.0.resize(self.0.len().max(queue + 1), 0);
        self.0[queue] += 1;
        Stamp { queue, number: self.0[queue] }
    }
}

/// A command that was enqueued, and all that is done when it is.
#[derive(Debug)]
pub(crate) struct Step {
    stamp: Stamp,
    clock: Clock,
}

/// A queue, by its number.
#[derive(Debug)]
pub(crate) struct Queue(usize);

/// Where bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In memory of the host, at their addresses.
    Host,
    /// In a memory of the device, by its number.
    Device(usize),
}

/// What a command does to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Reads,
    Writes,
    /// Adds to them by atomic operations, which may come in any order among themselves.
    Adds,
}

/// Bytes that a command touches.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) how: How,
    pub(super) place: Place,
    pub(super) bytes: Range<usize>,
}

impl Touch {
    pub(super) fn is_at(&self, place: Place, bytes: &Range<usize>) -> bool {
        self.place == place && self.bytes.start < bytes.end && bytes.start < self.bytes.end
    }

    /// Whether it matters which of the two comes first.
    fn collides(&self, other: &Self) -> bool {
        let commutes = self.how == other.how && self.how != How::Writes;
        !commutes && self.is_at(other.place, &other.bytes)
    }
}

/// A command that the host has not waited for.
#[derive(Debug)]
struct Command {
    stamp: Stamp,
    name: String,
    touches: Vec<Touch>,
    /// What it carries between host and device, unless that has been looked at.
    carried: Option<Carried>,
}

impl Command {
    fn is_at(&self, place: Place, bytes: &Range<usize>) -> bool {
        self.touches.iter().any(|touch| touch.is_at(place, bytes))
    }
}

/// All queues of a device.
#[derive(Debug, Default)]
pub(super) struct Order {
    state: Mutex<State>,
    places: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    /// What the host has waited for.
    host: Clock,
    /// What the last command of each queue comes after, itself included.
    queues: Vec<Clock>,
    /// In the order in which they were enqueued.
    under_way: Vec<Command>,
}

impl Order {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A memory of the device.
    pub(super) fn place(&self) -> Place {
        Place::Device(self.places.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn queue(&self) -> Queue {
        let mut state = self.state();
        state.queues.push(Clock::default());
        Queue(state.queues.len() - 1)
    }

    /// How many there are.
    pub(super) fn queues(&self) -> usize {
        self.state().queues.len()
    }

    /// Enqueues the command `name`, which comes after all that the host has waited for.
    ///
    /// # Panics
    /// If it touches what a command does that may come before it or after.
    pub(super) fn enqueue(&self, queue: &Queue, name: &str, touches: Vec<Touch>) -> Step {
        let (step, checked) = self.state().enqueue(queue.0, name, touches);
        tell(checked);
        step
    }

    /// Has `step`, which was enqueued just now, carry bytes between host and device until it is waited for.
    pub(super) fn carry(&self, step: &Step, carried: Carried) {
        let mut state = self.state();
        let mut last = state.under_way.iter_mut().rev();
        if let Some(command) = last.find(|command| command.stamp == step.stamp) {
            command.carried = Some(carried);
        }
    }

    /// Has what is enqueued next in `queue` come after `step`.
    pub(super) fn after(&self, queue: &Queue, step: &Step) {
        self.state().queues[queue.0].join(&step.clock);
    }

    /// Has the host wait for `step` and all that it comes after.
    ///
    /// # Panics
    /// If the host has used what these carried.
    pub(super) fn wait(&self, step: &Step) {
        let settled = self.state().wait(&step.clock);
        tell(settled);
    }

    /// Checks that the host knows that `step` is done.
    ///
    /// # Panics
    /// If it has not waited for it.
    pub(super) fn check_done(&self, step: &Step) {
        let is_done = self.state().host.has(step.stamp);
        tell(if is_done { Ok(()) } else { Err("a step is timed that may not be done".to_owned()) });
    }

    /// Checks that nothing uses `bytes` of `place` any more, which are freed.
    ///
    /// # Panics
    /// If something may.
    pub(super) fn check_unused(&self, place: Place, bytes: &Range<usize>) {
        let unused = match self.state().under_way.iter().find(|command| command.is_at(place, bytes)) {
            Some(Command { name, .. }) => Err(format!("memory is freed that {name} may still use")),
            None => Ok(()),
        };
        tell(unused);
    }

    /// What the host has not waited for, by name.
    pub(super) fn under_way(&self) -> Vec<String> {
        self.state().under_way.iter().map(|command| command.name.clone()).collect()
    }
}

/// Panics by the defect, unless there is a panic already, which has all that is under way be waited for.
fn tell(checked: Result<(), String>) {
    if let (Err(defect), false) = (checked, thread::panicking()) {
        panic!("{defect}");
    }
}

impl State {
    /// Enqueues a command, and says whether anything under way may come before it or after and must not.
    fn enqueue(&mut self, queue: usize, name: &str, touches: Vec<Touch>) -> (Step, Result<(), String>) {
        let mut clock = self.queues[queue].clone();
        clock.join(&self.host);
        let checked = self.check(&clock, &touches).and_then(|()| self.settle_at(&touches));
        let checked = checked.map_err(|defect| format!("{name} on queue {queue} {defect}"));
        let stamp = clock.tick(queue);
        self.queues[queue] = clock.clone();
        self.under_way.push(Command { stamp, name: name.to_owned(), touches, carried: None });
        (Step { stamp, clock }, checked)
    }

    /// Checks a command that does `touches` after all that `clock` has.
    fn check(&self, clock: &Clock, touches: &[Touch]) -> Result<(), String> {
        for Command { stamp, name, touches: others, .. } in &self.under_way {
            let collides = |touch: &&Touch| others.iter().any(|other| touch.collides(other));
            if let Some(touch) = touches.iter().find(collides).filter(|_| !clock.has(*stamp)) {
                return Err(format!("does not wait for {name} on queue {}: {touch:?}", stamp.queue));
            }
        }
        Ok(())
    }

    /// Has copies be over that come before a command which does `touches` to the same memory of the host.
    fn settle_at(&mut self, touches: &[Touch]) -> Result<(), String> {
        for touch in touches.iter().filter(|touch| touch.place == Place::Host) {
            let before = self.under_way.iter_mut().filter(|command| command.is_at(Place::Host, &touch.bytes));
            before.filter_map(|command| command.carried.take()).try_for_each(Carried::arrive)?;
        }
        Ok(())
    }

    /// Has all be over that comes before `clock`.
    fn wait(&mut self, clock: &Clock) -> Result<(), String> {
        self.host.join(clock);
        let all = std::mem::take(&mut self.under_way).into_iter();
        let (done, under_way): (Vec<_>, Vec<_>) = all.partition(|command| self.host.has(command.stamp));
        self.under_way = under_way;
        done.into_iter().filter_map(|command| command.carried).try_for_each(Carried::arrive)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// What is told of a command on a second queue that does `second` to bytes to which one on a first does `first`, with
    /// `between` between them.
    fn told(first: How, second: How, between: impl FnOnce(&Order, [&Queue; 2], &Step)) -> Option<String> {
        let order = Order::default();
        let ([a, b], place) = ([order.queue(), order.queue()], order.place());
        let enqueue = |queue: &Queue, how, bytes: Range<usize>| {
            order.enqueue(queue, &format!("{how:?}"), vec![Touch { how, place, bytes }])
        };
        let step = enqueue(&a, first, 0..8);
        // Beside it, and in its own queue, all may be done.
        enqueue(&b, How::Writes, 8..9);
        enqueue(&a, How::Reads, 0..0);
        between(&order, [&a, &b], &step);
        let defect = catch_unwind(AssertUnwindSafe(|| enqueue(&b, second, 7..9))).err()?;
        defect.downcast_ref::<String>().cloned()
    }

    #[test]
    fn what_may_come_in_either_order_is_told_where_that_matters() {
        let nothing = |_: &Order, _: [&Queue; 2], _: &Step| {};
        let all = [How::Reads, How::Writes, How::Adds];
        for (first, second) in all.into_iter().flat_map(|first| all.map(|second| (first, second))) {
            let found = told(first, second, nothing);
            assert_eq!(found.is_some(), first != second || first == How::Writes, "{first:?} {second:?}");
            assert!(
                found.is_none_or(|found| found.contains(&format!("does not wait for {first:?} on queue 0")))
            );
        }
    }

    #[test]
    fn what_waits_is_in_order() {
        type Between = fn(&Order, [&Queue; 2], &Step);
        let waits: [Between; 3] = [
            |order, [_, b], step| order.after(b, step),
            |order, _, step| order.wait(step),
            // By way of a third queue.
            |order, [_, b], step| {
                let c = order.queue();
                order.after(&c, step);
                order.after(b, &order.enqueue(&c, "nothing", Vec::new()));
            },
        ];
        for between in waits {
            assert_eq!(told(How::Writes, How::Writes, between), None);
        }
        // Not so what waits for the wrong queue, or in the wrong one.
        let wrong: [Between; 2] = [
            |order, [a, _], step| order.after(a, step),
            |order, [_, b], _| order.after(b, &order.enqueue(&order.queue(), "nothing", Vec::new())),
        ];
        for between in wrong {
            assert!(told(How::Writes, How::Reads, between).is_some());
        }
    }

    #[test]
    fn what_is_freed_or_timed_too_early_is_told() {
        let (order, bytes) = (Order::default(), 0..8);
        let (queue, place) = (order.queue(), order.place());
        let touches = vec![Touch { how: How::Reads, place, bytes: bytes.clone() }];
        let step = order.enqueue(&queue, "a kernel", touches);
        assert!(catch_unwind(AssertUnwindSafe(|| order.check_unused(place, &bytes))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| order.check_done(&step))).is_err());
        order.wait(&step);
        order.check_unused(place, &bytes);
        order.check_done(&step);
        assert_eq!(order.under_way(), [""; 0]);
    }
}
