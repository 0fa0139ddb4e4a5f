//! How files of experiments are read.

use cipherlane::{Algorithm, Operation};
use serde::{Deserialize, Deserializer, de};

use super::{Run, Scale};

/// The parameters of a kind, for each scale.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scaled<T> {
    full: T,
    quick: T,
    smoke: T,
}

impl<T: Run + Clone + 'static> Scaled<T> {
    pub(super) fn at(&self, scale: Scale) -> Box<dyn Run> {
        let chosen = match scale {
            Scale::Full => &self.full,
            Scale::Quick => &self.quick,
            Scale::Smoke => &self.smoke,
        };
        Box::new(chosen.clone())
    }
}

/// An algorithm by its name.
pub(super) fn algorithm<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Algorithm, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Algorithms by their names.
pub(super) fn algorithms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Algorithm>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.iter().map(|name| name.parse().map_err(de::Error::custom)).collect()
}

/// Operations by their names.
pub(super) fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Operation>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.iter().map(|name| name.parse().map_err(de::Error::custom)).collect()
}

/// Longer than anyone waits, and short enough that sums of such times are times.
const MOST_SECONDS: f64 = 1e6;

/// A time in seconds.
pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    // NaN is in no range.
    if (0.0..=MOST_SECONDS).contains(&seconds) {
        return Ok(seconds);
    }
    let problem = format!("{seconds} is no time; write a number of seconds from 0 to {MOST_SECONDS}");
    Err(de::Error::custom(problem))
}

/// More than anyone repeats, and few enough that products with times are times.
const MOST: usize = 1_000_000;

fn checked_count<E: de::Error>(count: usize) -> Result<usize, E> {
    if (1..=MOST).contains(&count) {
        return Ok(count);
    }
    Err(E::custom(format!("{count} is no number of them; write one from 1 to {MOST}")))
}

/// How many there are of something.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    checked_count(usize::deserialize(deserializer)?)
}

/// Several such numbers.
pub(super) fn counts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    Vec::<usize>::deserialize(deserializer)?.into_iter().map(checked_count).collect()
}

/// The name of an experiment. Files are called by it, so that it must not lead to another folder.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.chars().all(fits) {
        return Ok(name);
    }
    let problem = format!("`{name}` is no name; write it in lower-case letters, digits and hyphens");
    Err(de::Error::custom(problem))
}
