//! The user's browser.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use crate::render::complain;

/// Shows the file in the user's browser. Where there is none, as over SSH, the file is there still: it is said how to
/// see it.
pub(super) fn show(page: &Path) {
    if let Err(reason) = open(page) {
        complain(
            "warning",
            &format!(
                "no browser shows {}: {reason}. Copy the file to a machine with one: it is complete by itself",
                page.display()
            ),
        );
    }
}

fn open(file: &Path) -> Result<(), String> {
    let path = std::path::absolute(file).map_err(|error| error.to_string())?;
    let path = path.to_str().ok_or("its path is not UTF-8")?;
    webbrowser::open(path).map_err(|error| error.to_string())
}

/// The file that leads to a secret address. Whoever makes it or removes it holds the lock.
static WAY: Mutex<Option<TempPath>> = Mutex::new(None);

fn way() -> MutexGuard<'static, Option<TempPath>> {
    WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the address in the user's browser, or says why not.
///
/// Every user of the machine can see what a browser is started with, so that it is given a file which leads to the address
/// and which its owner alone may read. Where a browser is shown it, it is there until [`forget_address`].
pub(crate) fn show_secret_address(url: &str) {
    if let Err(reason) = make_way(url).and_then(|file| open(&file)) {
        forget_address();
        complain("warning", &format!("no browser shows the page: {reason}. Open the address yourself"));
    }
}

/// Removes what led to the address.
pub(crate) fn forget_address() {
    drop(way().take());
}

fn make_way(url: &str) -> Result<PathBuf, String> {
    // Not a hidden folder, as those of caches and records are, nor /tmp: browsers that are snaps may read neither.
    let home = env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.ok_or("HOME names no folder for the file that leads to it")?;
    let mut way = way();
    let file = leading_to(url, &home).map_err(|error| format!("{}: {error}", home.display()))?;
    let path = file.to_path_buf();
    *way = Some(file);
    Ok(path)
}

/// A new file in `folder` that leads to `url`, which needs no escaping.
fn leading_to(url: &str, folder: &Path) -> io::Result<TempPath> {
    let mut file =
        tempfile::Builder::new().prefix("cipherlane-dashboard-").suffix(".html").tempfile_in(folder)?;
    write!(
        file,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>cipherlane dashboard</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
         <p><a href=\"{url}\">To the dashboard</a></p>\n"
    )?;
    Ok(file.into_temp_path())
}
