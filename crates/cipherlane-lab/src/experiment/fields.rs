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
