//! The browser in which the tests look at pages: a package of the system, installed where CI may.

use std::env;

use anyhow::{Result, ensure};

use crate::{apt, shell};

/// Debian's package, and its program. A font comes along: without one, a page has no letters to measure.
const PACKAGES: [&str; 2] = ["chromium", "fonts-dejavu-core"];
const PROGRAM: &str = "chromium";

/// The variable that makes the tests fail without a browser: in CI, and wherever there is one. Elsewhere it is said
/// that pages are left unseen.
pub(crate) fn environment() -> Option<(&'static str, &'static str)> {
    let found = ensure_installed();
    if let Err(error) = &found {
        eprintln!("NOT TESTED: pages in a browser, which is not here: {error:#}");
    }
    (found.is_ok() || env::var_os("CIPHERLANE_CI").is_some()).then_some(("CIPHERLANE_REQUIRE_CHROMIUM", "1"))
}

fn ensure_installed() -> Result<()> {
    if env::var_os("CIPHERLANE_CHROMIUM").is_some() || shell::version(PROGRAM.as_ref()).is_some() {
        return Ok(());
    }
    apt::install(&PACKAGES)?;
    let names = PACKAGES.join(" ");
    ensure!(shell::version(PROGRAM.as_ref()).is_some(), "{names} brought no {PROGRAM}");
    Ok(())
}
