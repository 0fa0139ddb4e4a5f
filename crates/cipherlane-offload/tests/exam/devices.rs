//! What the examples that check devices do around the checks: which devices there are, and what came of them.

use std::fmt::Display;
use std::process::ExitCode;
use std::sync::Arc;

use cipherlane_core::Device;

use crate::options::Options;

/// Lists `devices`, has `check` look at each that `device=` does not leave out, and says how many results it found wrong.
#[allow(clippy::print_stdout)] // for examples, which are tools for developers
pub(crate) fn check(
    devices: &[Arc<dyn Device>],
    options: &Options,
    check: impl Fn(&dyn Device) -> usize,
) -> ExitCode {
    let mut failed = 0;
    for device in devices {
        let info = device.info();
        println!("{}: {}", info.id, info.name);
        for (name, value) in &info.details {
            println!("    {name}: {value}");
        }
        if options.get("device=").is_none_or(|id| info.id.ends_with(id)) {
            failed += check(&**device);
        }
    }
    println!("{}", if failed == 0 { "all right".to_owned() } else { format!("{failed} WRONG") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says why there is no device of the kind `what`.
#[allow(clippy::print_stderr)] // as above
pub(crate) fn none(what: &str, reason: impl Display) -> ExitCode {
    eprintln!("no {what}: {reason}");
    ExitCode::FAILURE
}
