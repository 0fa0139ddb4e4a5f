//! Progress on stderr, and only on a terminal.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::units;

/// Steps of a whole bar.
const STEPS: u64 = 1000;

/// The bar that is shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes above the bar, if there is one.
pub(super) fn above(write: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A bar with what is going on and the time left.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar on stderr; hidden where stderr is no terminal, or one that cannot move it, or `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let target = if quiet || super::is_dumb() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:30} {prefix:>9}  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("━╸─"));
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        Self(bar)
    }

    /// Shows how far it is, the time left where that is known, and what is going on.
    pub(crate) fn show(&self, fraction: f64, left: Option<Duration>, message: String) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        // between 0 and STEPS
        let position = (fraction.clamp(0.0, 1.0) * STEPS as f64) as u64;
        self.0.set_position(position);
        self.0.set_prefix(left.map_or_else(String::new, |left| format!("{} left", units::seconds(left))));
        self.0.set_message(message);
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
        SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// However the work ends: what is said of it afterwards stands on a line of its own.
impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
