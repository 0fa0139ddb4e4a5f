//! Lists of what was checked and found right, by the text of it, so that a run checks what has changed and no more.
//!
//! Several tests of kernels take many minutes of all CPUs, here and in the crates that include this file. Each keeps a list
//! beside it: names, and keys of what was checked under them. A key is made of all that goes into the check, so what
//! was changed is not in the list, and is checked. What the keys do not cover (the version of a compiler, the text of the
//! check itself) is in the one line that says under what the list was made: it holds under no other.
//!
//! `EVERY=1` checks what is known as well, `KNOWN=write` takes down what a run finds right, beside what the list has that
//! still holds. What it finds wrong it strikes off.

mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use reader::Reader;

/// Something to check.
pub(crate) struct Task<T> {
    /// Whose line of the list has it; several may share one.
    pub(crate) name: String,
    /// What tells it from all others.
    pub(crate) key: String,
    pub(crate) what: T,
}

/// Says what a run that succeeds has to say, too: the harness of tests would keep it to itself if it was printed.
pub(crate) fn say(line: &str) {
    // Where there is no standard error, nobody listens.
    drop(writeln!(std::io::stderr(), "{line}"));
}

/// Whether the list is to be written.
pub(crate) fn is_writing() -> bool {
    std::env::var_os("KNOWN").is_some_and(|what| what == "write")
}

/// Whether what is known is to be checked as well.
pub(crate) fn is_every() -> bool {
    std::env::var_os("EVERY").is_some()
}

/// What is known to be right.
pub(crate) struct Known {
    path: PathBuf,
    /// The comment on top of the list.
    about: &'static str,
    /// Under what it was made.
    under: String,
    /// Under what the list was made that is there, if it is something else.
    #[allow(dead_code)] // for a test that goes by it
    pub(crate) elsewhere: Option<String>,
    /// When no more checks are begun.
    end: Option<Instant>,
    keys: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    /// The list at `path`, which is empty where it was made under something else.
    pub(crate) fn read(path: impl Into<PathBuf>, about: &'static str, under: String) -> Self {
        let path = path.into();
        let list = std::fs::read_to_string(&path).unwrap_or_default();
        let mut lines = list.lines().filter(|line| !line.starts_with('#'));
        let mut keys = BTreeMap::new();
        let made = lines.next();
        if made == Some(&under) {
            for (name, found) in lines.filter_map(|line| line.split_once(": ")) {
                keys.insert(name.to_owned(), found.split(' ').map(str::to_owned).collect());
            }
        }
        let elsewhere = made.filter(|made| *made != under).map(str::to_owned);
        Self { path, about, under, elsewhere, end: None, keys }
    }

    /// Begins no check after `time` from now: what is left then is a fault.
    #[allow(dead_code)] // for a test that would take hours
    pub(crate) fn within(self, time: Duration) -> Self {
        Self { end: Instant::now().checked_add(time), ..self }
    }

    /// Whether the list has the task.
    pub(crate) fn has<T>(&self, task: &Task<T>) -> bool {
        self.keys.get(&task.name).is_some_and(|keys| keys.contains(&task.key))
    }

    /// Has `check` look for faults in those of `tasks` that are not known, on all CPUs; in those whose name starts with one
    /// of `always` too, so that every run sees the check at work. Says how many they are. Returns what is wrong.
    ///
    /// `tasks` has to hold all of each name: what else the list has under it is no more.
    pub(crate) fn check<T: Sync>(
        &mut self,
        tasks: &[Task<T>],
        always: &[&str],
        check: impl Fn(&T) -> Vec<String> + Sync,
    ) -> Vec<String> {
        let every = is_every();
        let is_wanted = |task: &&Task<T>| {
            every || !self.has(task) || always.iter().any(|start| task.name.starts_with(start))
        };
        let wanted: Vec<&Task<T>> = tasks.iter().filter(is_wanted).collect();
        say(&format!("{} of {} to check, the others known to be right", wanted.len(), tasks.len()));
        self.forget(tasks, &wanted);
        let end = self.end;
        let (next, found) = (AtomicUsize::new(0), Mutex::new((self, Vec::new())));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(task) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let faults = if end.is_some_and(|end| Instant::now() > end) {
                            vec![format!(
                                "{} is not known to be right, and no time was left for it",
                                task.name
                            )]
                        } else {
                            check(&task.what)
                        };
                        let (known, all) = &mut *found.lock().unwrap();
                        if faults.is_empty() {
                            known.add(task);
                        }
                        all.extend(faults);
                    }
                });
            }
        });
        found.into_inner().unwrap().1
    }

    /// Strikes off what is no more, and what is about to be checked.
    fn forget<T>(&mut self, tasks: &[Task<T>], wanted: &[&Task<T>]) {
        let mut kept: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for task in tasks {
            let keys = kept.entry(&task.name).or_default();
            if self.has(task) {
                keys.insert(task.key.clone());
            }
        }
        for task in wanted {
            kept.entry(&task.name).or_default().remove(&task.key);
        }
        for (name, keys) in kept {
            self.keys.insert(name.to_owned(), keys);
        }
        self.write();
    }

    fn add<T>(&mut self, task: &Task<T>) {
        self.keys.entry(task.name.clone()).or_default().insert(task.key.clone());
        self.write();
    }

    /// Writes the list to where it was read from, if that was asked for: after every step, since a run may be cut short.
    fn write(&self) {
        if !is_writing() {
            return;
        }
        let mut text = format!("{}{}\n", self.about, self.under);
        for (name, keys) in self.keys.iter().filter(|(_, keys)| !keys.is_empty()) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            text.push_str(&format!("{name}: {}\n", keys.join(" ")));
        }
        std::fs::write(&self.path, text).unwrap();
    }
}
