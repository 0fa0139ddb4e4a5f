//! How the program ends.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use anyhow::Result;
use cipherlane::devices::NoDevice;
use cipherlane::{BatchError, DeviceError, UnknownName, Unsupported};
use cipherlane_lab::BenchError;
use cipherlane_lab::experiment::ExperimentError;
use cipherlane_lab::judge::JudgeError;

use crate::render::complain;
use crate::{suggest, variables};

/// A device of ours gives a wrong answer.
#[derive(Debug, thiserror::Error)]
#[error("{contender} gives wrong answers, so nothing is timed: {first}; `cipherlane verify` shows all")]
pub(crate) struct WrongAnswer {
    /// What computed it.
    pub(crate) contender: String,
    /// The first case that it got wrong.
    pub(crate) first: String,
}

/// What the exit code says. 5 (thermal or power abort) is kept for verbs to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success = 0,
    /// Something failed while it ran.
    Failure = 1,
    /// The command line asks for something that there is not. clap uses the same code.
    Usage = 2,
    /// A known answer came out wrong.
    Mismatch = 3,
    /// Something became slower.
    Regression = 4,
    /// Nothing of what was asked for can run here.
    NothingToRun = 6,
    /// Ctrl-C; finished rows are kept. 128 and the number of SIGINT, as shells have it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The command line cannot be meant as it stands.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Nothing here can do what was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Nothing(pub(crate) String);

/// Runs `command` and reports its error, if any. A panic is a defect of ours, and is reported as one.
pub(crate) fn guard(command: impl FnOnce() -> Result<Exit>) -> Exit {
    panic::set_hook(Box::new(|defect| {
        complain("error", &format!("internal {defect}; this is a defect of cipherlane, please report it"));
    }));
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => {
            let (text, exit) = (in_words(&error), of(&error));
            complain("error", &text);
            variables::tell(&text, exit);
            exit
        }
        Err(_) => Exit::Failure,
    }
}

/// An error with its causes, for people. Some errors say their cause themselves: it is not said again.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text + &suggest::of(error)
}

/// Whether an error is one of what was run, and not of the command line, which is wrong for everything that it asks for.
pub(crate) fn is_of_the_run(error: &anyhow::Error) -> bool {
    of(error) != Exit::Usage
}

/// The exit code of an error, by the innermost cause that has one.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    error.chain().rev().find_map(known).unwrap_or(Exit::Failure)
}

fn known(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if cause.is::<WrongAnswer>() {
        return Some(Exit::Mismatch);
    }
    if cause.is::<Usage>() || cause.is::<UnknownName>() || cause.is::<BatchError>() {
        return Some(Exit::Usage);
    }
    if let Some(none) = cause.downcast_ref::<NoDevice>() {
        return Some(match none {
            NoDevice::Absent { .. } => Exit::NothingToRun,
            NoDevice::Unknown(_) => Exit::Usage,
        });
    }
    if let Some(unsupported) = cause.downcast_ref::<Unsupported>() {
        return Some(of_unsupported(unsupported));
    }
    if let Some(DeviceError::Unsupported(unsupported)) = cause.downcast_ref::<DeviceError>() {
        return Some(of_unsupported(unsupported));
    }
    if let Some(DeviceError::Batch(_)) = cause.downcast_ref::<DeviceError>() {
        return Some(Exit::Usage);
    }
    if let Some(JudgeError::Disagree { .. }) = cause.downcast_ref::<JudgeError>() {
        return Some(Exit::Mismatch);
    }
    if let Some(BenchError::Judge { error: JudgeError::Disagree { .. }, .. }) =
        cause.downcast_ref::<BenchError>()
    {
        return Some(Exit::Mismatch);
    }
    if cause.is::<Nothing>() {
        return Some(Exit::NothingToRun);
    }
    if let Some(ExperimentError::Nothing { .. }) = cause.downcast_ref::<ExperimentError>() {
        return Some(Exit::NothingToRun);
    }
    None
}

/// A tier that this machine lacks may run on the next one; a kernel or number that no machine has may not.
const fn of_unsupported(unsupported: &Unsupported) -> Exit {
    match unsupported {
        Unsupported::Missing { .. } | Unsupported::SwitchedOff { .. } => Exit::NothingToRun,
        Unsupported::Kernel { .. } | Unsupported::Range { .. } => Exit::Usage,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_decide_the_code() {
        let wrapped = |error: anyhow::Error| of(&error.context("while planning"));
        assert_eq!(wrapped(anyhow!("disk full")), Exit::Failure);
        assert_eq!(wrapped(Usage("both".to_owned()).into()), Exit::Usage);
        assert_eq!(wrapped(UnknownName::new("device", "x", []).into()), Exit::Usage);
        let missing =
            Unsupported::Missing { tier: "avx512".to_owned(), missing: "VAES".to_owned(), known: vec![] };
        assert_eq!(wrapped(DeviceError::from(missing).into()), Exit::NothingToRun);
        assert!(is_of_the_run(&anyhow!("disk full")) && !is_of_the_run(&Usage("both".to_owned()).into()));
    }

    #[test]
    fn a_cause_is_said_once() {
        let full = || io::Error::other("disk full");
        let row = anyhow::Error::from(BenchError::from(full())).context("bench");
        assert_eq!(in_words(&row), "bench: a finished row cannot be written: disk full");
        assert_eq!(in_words(&anyhow::Error::from(full()).context("rows.csv")), "rows.csv: disk full");
    }
}
