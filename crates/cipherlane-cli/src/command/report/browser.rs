//! The user's browser.

use std::path::Path;

use crate::render::complain;

/// Shows the file in the user's browser. Where there is none, as over SSH, the file is there still: it is said how to
/// see it.
pub(super) fn show(page: &Path) {
    let open = || -> Result<(), String> {
        let path = std::path::absolute(page).map_err(|error| error.to_string())?;
        let path = path.to_str().ok_or("its path is not UTF-8")?;
        webbrowser::open(path).map_err(|error| error.to_string())
    };
    if let Err(reason) = open() {
        complain(
            "warning",
            &format!(
                "no browser shows {}: {reason}. Copy the file to a machine with one: it is complete by itself",
                page.display()
            ),
        );
    }
}

/// Shows the address in the user's browser, or says why not.
pub(crate) fn show_address(url: &str) {
    if let Err(reason) = webbrowser::open(url) {
        complain("warning", &format!("no browser shows the page: {reason}. Open the address yourself"));
    }
}
