//! What the user sees: tables, bars, units, messages.

pub(crate) mod notes;
pub(crate) mod progress;
pub(crate) mod sink;
pub(crate) mod stdout;
pub(crate) mod table;
pub(crate) mod units;

use std::io::{self, IsTerminal, Write};

use sink::Sink;

/// Writes `text` to stdout. Never panics, and a reader who has left is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    Sink::Stdout.fill_with_text(text)
}

/// Writes `text` to stderr, where something else takes stdout. There is nowhere to report that stderr is gone.
pub(crate) fn print_aside(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes `kind: text` to stderr, above the bar if there is one.
pub(crate) fn complain(kind: &str, text: &str) {
    progress::above(|| {
        let _ = writeln!(io::stderr().lock(), "{kind}: {text}");
    });
}

/// Whether results on stdout may be coloured: on a terminal that can, unless `NO_COLOR` or `CLICOLOR_FORCE` say otherwise.
pub(crate) fn colours() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0");
    !set("NO_COLOR") && (forced || (io::stdout().is_terminal() && !is_dumb()))
}

/// Whether the terminal says that it obeys no escapes: neither colours nor what moves a bar.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}
