//! What the engine and the server share: the runs, and what is wanted of them.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cipherlane_record::Measurement;
use tokio::sync::watch;

use crate::request::{Order, Request};
use crate::run::{Command, End, Figures, Point, Run, State, Wanted};

/// How often an engine without runs is idle.
const IDLE: Duration = Duration::from_secs(60);

/// All runs of a dashboard, in the order in which they were asked for.
#[derive(Default)]
pub(crate) struct Board {
    runs: Mutex<Runs>,
    changed: Condvar,
    /// Whether it ends: set while `runs` is locked, so that no engine that is about to wait misses it.
    quitting: watch::Sender<bool>,
}

#[derive(Default)]
struct Runs {
    all: Vec<Run>,
    /// How many changes there were of any of them.
    changes: u64,
}

/// Why a command was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Untaken {
    /// There is no such run.
    Unknown,
    /// Not in this state.
    Conflict(String),
}

impl Runs {
    /// The run of this number. The engine and the server ask for runs that they were told of, which never go away.
    fn run(&self, id: u64) -> Option<&Run> {
        self.all.iter().find(|run| run.id == id)
    }

    /// The same, to be changed.
    fn changed(&mut self, id: u64) -> Option<&mut Run> {
        self.changes += 1;
        let run = self.all.iter_mut().find(|run| run.id == id)?;
        run.change = self.changes;
        Some(run)
    }

    fn stop_all(&mut self) {
        self.changes += 1;
        for run in self.all.iter_mut().filter(|run| !run.state.is_over()) {
            run.change = self.changes;
            // A run that is not over can always be stopped.
            let _ = run.command(Command::Stop);
        }
    }
}

impl Board {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Runs are whole between changes, whoever panicked.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Run)) {
        if let Some(run) = self.runs().changed(id) {
            change(run);
        }
        self.changed.notify_all();
    }

    /// Adds a run to the end of the queue; its number.
    pub(crate) fn add(&self, request: Request, order: Order) -> u64 {
        let mut runs = self.runs();
        let id = runs.all.len() as u64 + 1;
        runs.all.push(Run::new(id, request, order));
        runs.changed(id);
        self.changed.notify_all();
        id
    }

    /// Gives a command to a run.
    pub(crate) fn command(&self, id: u64, command: Command) -> Result<(), Untaken> {
        let mut runs = self.runs();
        let run = runs.changed(id).ok_or(Untaken::Unknown)?;
        run.command(command).map_err(Untaken::Conflict)?;
        self.changed.notify_all();
        Ok(())
    }

    /// Ends it all: queued runs are taken out, the one that is going on is stopped. `false` if it is ending already.
    pub(crate) fn quit(&self) -> bool {
        let mut runs = self.runs();
        if self.quitting.send_replace(true) {
            return false;
        }
        runs.stop_all();
        self.changed.notify_all();
        true
    }

    /// Takes queued runs out, and stops the one that is going on.
    pub(crate) fn stop_all(&self) {
        self.runs().stop_all();
        self.changed.notify_all();
    }

    /// The run that the engine is at, in a line; `None` while it waits for one.
    pub(crate) fn under_way(&self) -> Option<String> {
        let runs = self.runs();
        let run = runs.all.iter().find(|run| !run.state.is_over() && run.state != State::Queued)?;
        Some(format!("run {}, {}: {}", run.id, run.order.title(), run.words()))
    }

    /// Runs whose rows are not in the file of records, a line each; `None` where there are none.
    pub(crate) fn unkept(&self) -> Option<String> {
        let runs = self.runs();
        let unkept = runs.all.iter().filter(|run| run.state == State::Failed && run.row.is_some());
        let lines: Vec<_> = unkept.map(|run| format!("run {}: {}", run.id, run.words())).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Whether it ends.
    pub(crate) fn is_quitting(&self) -> bool {
        *self.quitting.borrow()
    }

    /// For the server: waits until it ends.
    pub(crate) async fn ended(&self) {
        // The sender is here, and so never gone.
        let _ = self.quitting.subscribe().wait_for(|quitting| *quitting).await;
    }

    /// What `read` sees in the runs.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&[Run]) -> T) -> T {
        read(&self.runs().all)
    }

    /// The row and the log of a run that measured.
    pub(crate) fn finished(&self, id: u64) -> Option<(Arc<Measurement>, Option<PathBuf>)> {
        let runs = self.runs();
        let run = runs.run(id)?;
        Some((Arc::clone(run.row.as_ref()?), run.log.clone()))
    }

    /// The rows of all runs that measured.
    pub(crate) fn rows(&self) -> Vec<Arc<Measurement>> {
        self.runs().all.iter().filter_map(|run| run.row.clone()).collect()
    }

    /// For the engine: waits for the next run, which is then being prepared, and is `idle` now and then meanwhile. `None`
    /// when it ends.
    pub(crate) fn next(&self, idle: impl Fn()) -> Option<(u64, Arc<Order>)> {
        let mut runs = self.runs();
        loop {
            if self.is_quitting() {
                return None;
            }
            let queued = runs.all.iter().find(|run| run.state == State::Queued).map(|run| run.id);
            if let Some(run) = queued.and_then(|id| runs.changed(id)) {
                run.state = State::Preparing;
                return Some((run.id, Arc::clone(&run.order)));
            }
            idle();
            runs = self.changed.wait_timeout(runs, IDLE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// For the engine: what it is at.
    pub(crate) fn say(&self, id: u64, words: &str) {
        self.change(id, |run| run.say(words));
    }

    /// For the engine: it begins to measure, by these plans.
    pub(crate) fn begin(&self, id: u64, plans: Vec<String>) {
        self.change(id, |run| {
            run.state = State::Running;
            run.say("");
            run.plans = plans;
        });
    }

    /// For the engine: what is wanted now.
    pub(crate) fn wanted(&self, id: u64) -> Wanted {
        self.runs().run(id).map_or(Wanted::Stop, |run| run.wanted)
    }

    /// For the engine: rests until something else than a pause is wanted.
    pub(crate) fn rest(&self, id: u64) -> Wanted {
        let mut runs = self.runs();
        loop {
            let Some(run) = runs.changed(id) else { return Wanted::Stop };
            if run.wanted != Wanted::Pause {
                run.state = State::Running;
                return run.wanted;
            }
            run.state = State::Paused;
            runs = self.changed.wait(runs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// For the engine: how the run stands, and a point of its chart.
    pub(crate) fn tell(&self, id: u64, figures: Figures, point: Point) {
        self.change(id, |run| {
            run.figures = figures;
            run.points.push(point);
        });
    }

    /// For the engine: the run is over.
    pub(crate) fn end(&self, id: u64, end: End) {
        self.change(id, |run| run.end(end));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::mpsc;
    use std::thread;

    use cipherlane::Cpu;
    use cipherlane_lab::telemetry::{Sampler, Sensors};

    use super::*;
    use crate::Config;
    use crate::machine::Machine;

    fn order() -> (Request, Order) {
        let config = Config {
            devices: vec![Arc::new(Cpu::new())],
            absent: Vec::new(),
            host: cipherlane_lab::host::detect(),
            records: PathBuf::new(),
            questions: BTreeMap::new(),
            port: 0,
            argv: Vec::new(),
        };
        let machine = Machine::new(config, Sampler::start(Sensors::default(), 1.0).unwrap()).unwrap();
        let request: Request =
            serde_json::from_str(r#"{"workload": "tls-16k", "device": "cpu", "threads": 1}"#).unwrap();
        let order = request.order(&machine).unwrap();
        (request, order)
    }

    fn add(board: &Board) -> u64 {
        let (request, order) = order();
        board.add(request, order)
    }

    fn states(board: &Board) -> Vec<State> {
        board.read(|runs| runs.iter().map(|run| run.state).collect())
    }

    /// The next run, which measures.
    fn begin(board: &Board) -> u64 {
        let (id, _) = board.next(|| {}).unwrap();
        board.begin(id, Vec::new());
        id
    }

    #[test]
    fn runs_are_taken_in_their_order() {
        let board = Board::default();
        let ids = [add(&board), add(&board), add(&board)];
        board.command(ids[1], Command::Stop).unwrap();
        assert_eq!(board.next(|| {}).unwrap().0, ids[0]);
        assert_eq!(states(&board), [State::Preparing, State::Cancelled, State::Queued]);
        board.end(ids[0], End::Failed("broken".to_owned()));
        assert_eq!(board.next(|| {}).unwrap().0, ids[2]);
        assert_eq!(states(&board), [State::Failed, State::Cancelled, State::Preparing]);
    }

    #[test]
    fn only_what_measures_can_be_paused_and_what_is_over_takes_no_command() {
        let board = Board::default();
        let id = add(&board);
        let conflict = |command| matches!(board.command(id, command), Err(Untaken::Conflict(_)));
        assert!(conflict(Command::Pause) && conflict(Command::Resume), "queued");
        assert_eq!(begin(&board), id);
        board.command(id, Command::Pause).unwrap();
        assert_eq!(board.wanted(id), Wanted::Pause);
        board.command(id, Command::Resume).unwrap();
        assert_eq!(board.wanted(id), Wanted::Go);
        board.command(id, Command::Stop).unwrap();
        assert!(conflict(Command::Pause) && conflict(Command::Resume), "a stop is not taken back");
        assert_eq!(board.wanted(id), Wanted::Stop);
        board.end(id, End::Cancelled(String::new()));
        assert!(conflict(Command::Stop), "over");
        assert_eq!(board.command(id + 1, Command::Stop), Err(Untaken::Unknown));
    }

    #[test]
    fn a_rest_ends_with_the_pause() {
        for (command, wanted) in [(Command::Resume, Wanted::Go), (Command::Stop, Wanted::Stop)] {
            let board = Board::default();
            add(&board);
            let id = begin(&board);
            board.command(id, Command::Pause).unwrap();
            let (tell, told) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(|| tell.send(board.rest(id)).unwrap());
                while states(&board) != [State::Paused] {
                    thread::yield_now();
                }
                assert!(told.try_recv().is_err(), "it rests");
                board.command(id, command).unwrap();
                assert_eq!(told.recv().unwrap(), wanted);
            });
        }
    }

    /// Whatever it does before it looks at what is wanted.
    #[test]
    fn a_run_that_is_being_stopped_says_so_until_it_is() {
        let board = Board::default();
        add(&board);
        let (id, _) = board.next(|| {}).unwrap();
        let words = || board.read(|runs| runs[0].words());
        board.say(id, "computes known answers");
        board.command(id, Command::Stop).unwrap();
        assert_eq!(words(), "computes known answers, and is then stopped");
        board.say(id, "opens sessions");
        assert_eq!(words(), "opens sessions, and is then stopped");
        board.begin(id, Vec::new());
        assert_eq!(words(), "is being stopped");
        board.end(id, End::Cancelled("stopped early".to_owned()));
        assert_eq!(words(), "stopped early");
    }

    #[test]
    fn quitting_stops_what_measures_and_takes_out_what_waits() {
        let board = Board::default();
        let (first, _) = (add(&board), add(&board));
        begin(&board);
        assert!(board.quit() && !board.quit(), "it ends once");
        assert_eq!(states(&board), [State::Running, State::Cancelled]);
        assert_eq!(board.wanted(first), Wanted::Stop);
        let words = board.under_way().unwrap();
        assert!(words.starts_with("run 1, tls-16k aes-128-gcm seal on cpu"), "{words}");
        assert!(words.ends_with("is being stopped"), "{words}");
        board.end(first, End::Cancelled(String::new()));
        assert_eq!(board.under_way(), None);
        assert!(board.next(|| {}).is_none() && board.is_quitting());
    }
}
