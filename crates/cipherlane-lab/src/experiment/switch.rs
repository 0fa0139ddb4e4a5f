//! Settings of the machine that an experiment may change if it is allowed to: turbo and hyper-threading. What was
//! changed is put back when its [`Change`] is dropped, by a panic too, and by [`put_back`] where the program ends at once.

use std::sync::{Mutex, PoisonError};

use crate::telemetry::Files;

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    /// Clocks above the nominal one.
    Turbo,
    /// Several hardware threads on a core.
    Smt,
}

/// A file of a switch, and the words that it reads and takes for on and off.
struct Knob {
    path: &'static str,
    on: &'static str,
    off: &'static str,
}

/// Linux, admin-guide/pm/intel_pstate (`no_turbo`), admin-guide/pm/cpufreq (`boost`).
const TURBO: [Knob; 2] = [
    Knob { path: "sys/devices/system/cpu/intel_pstate/no_turbo", on: "0", off: "1" },
    Knob { path: "sys/devices/system/cpu/cpufreq/boost", on: "1", off: "0" },
];
/// Linux, Documentation/ABI/testing/sysfs-devices-system-cpu.
const SMT: [Knob; 1] = [Knob { path: "sys/devices/system/cpu/smt/control", on: "on", off: "off" }];

/// What is changed now: the files, the path, and what stood there before.
static CHANGED: Mutex<Vec<(Files, &'static str, String)>> = Mutex::new(Vec::new());

/// A changed setting. Dropped, it is as it was.
#[derive(Debug)]
#[must_use]
pub(super) struct Change {
    path: &'static str,
}

impl Switch {
    /// Its name on the axes of a record.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Turbo => "turbo",
            Self::Smt => "hyper-threading",
        }
    }

    const fn knobs(self) -> &'static [Knob] {
        match self {
            Self::Turbo => &TURBO,
            Self::Smt => &SMT,
        }
    }

    /// Whether it is on, or why that is not known.
    pub(super) fn state(self, files: &Files) -> Result<bool, String> {
        self.find(files).map(|(_, on, _)| on)
    }

    /// Turns it `on` or off. `None` if it was already.
    ///
    /// # Errors
    /// If there is no such switch here, or the system refuses.
    pub(super) fn turn(self, files: &Files, on: bool) -> Result<Option<Change>, String> {
        let (knob, was, text) = self.find(files)?;
        if was == on {
            return Ok(None);
        }
        // Noted before it is changed: whatever happens then, it is put back.
        changed().push((files.clone(), knob.path, text));
        let change = Change { path: knob.path };
        let word = if on { knob.on } else { knob.off };
        files.set(knob.path, word).map_err(|reason| format!("{} stays: {reason}", self.name()))?;
        Ok(Some(change))
    }

    /// The knob that is here, whether it is on, and what it reads.
    fn find(self, files: &Files) -> Result<(&'static Knob, bool, String), String> {
        let mut reasons = Vec::new();
        for knob in self.knobs() {
            match files.line(knob.path) {
                Ok(text) if text == knob.on => return Ok((knob, true, text)),
                Ok(text) if text == knob.off => return Ok((knob, false, text)),
                Ok(text) => reasons.push(format!("/{} says {text}", knob.path)),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(format!("{} has no switch here: {}", self.name(), reasons.join("; ")))
    }
}

impl Change {
    /// Puts it back.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn undo(self) -> Result<(), String> {
        restore(self.path)
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        // After `undo` nothing is left to put back. Here nobody can be told of a failure.
        let _ = restore(self.path);
    }
}

fn changed() -> std::sync::MutexGuard<'static, Vec<(Files, &'static str, String)>> {
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn restore(path: &str) -> Result<(), String> {
    let mut changed = changed();
    let Some(place) = changed.iter().rposition(|(_, other, _)| *other == path) else { return Ok(()) };
    let (files, path, text) = changed.remove(place);
    files.set(path, &text)
}

/// Puts back whatever experiments have changed of the machine: for a program that ends without unwinding.
///
/// # Errors
/// What could not be put back, and why.
pub fn put_back() -> Result<(), String> {
    let failed: Vec<String> = changed()
        .drain(..)
        .rev()
        .filter_map(|(files, path, text)| {
            files.set(path, &text).err().map(|why| format!("`{text}` in {why}"))
        })
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;

    const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";
    const CONTROL: &str = "sys/devices/system/cpu/smt/control";

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// All in one test: what is changed is kept for the whole program.
    #[test]
    fn what_was_changed_is_put_back_whatever_happens() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = Files::below(root);
        assert!(Switch::Turbo.state(&files).unwrap_err().contains("no switch here"));
        write(root, BOOST, "1\n");
        write(root, CONTROL, "on\n");
        let boost = || fs::read_to_string(root.join(BOOST)).unwrap();
        let control = || fs::read_to_string(root.join(CONTROL)).unwrap();

        assert!(Switch::Turbo.turn(&files, true).unwrap().is_none());
        let change = Switch::Turbo.turn(&files, false).unwrap().unwrap();
        assert_eq!((boost().as_str(), Switch::Turbo.state(&files)), ("0\n", Ok(false)));
        change.undo().unwrap();
        assert_eq!(boost(), "1\n");

        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _turbo = Switch::Turbo.turn(&files, false).unwrap();
            let _smt = Switch::Smt.turn(&files, false).unwrap();
            assert_eq!((boost().as_str(), control().as_str()), ("0\n", "off\n"));
            std::panic::resume_unwind(Box::new("defect"));
        }));
        assert!(panicked.is_err());
        assert_eq!((boost().as_str(), control().as_str()), ("1\n", "on\n"));

        let change = Switch::Smt.turn(&files, false).unwrap();
        put_back().unwrap();
        assert_eq!(control(), "on\n");
        drop(change);
        assert_eq!(control(), "on\n");
    }

    #[test]
    fn a_machine_without_hyper_threading_says_so() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), CONTROL, "notsupported\n");
        let reason = Switch::Smt.turn(&Files::below(folder.path()), false).unwrap_err();
        assert!(reason.contains("notsupported"), "{reason}");
    }
}
