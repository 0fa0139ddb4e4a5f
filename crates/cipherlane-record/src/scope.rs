//! What a number covers. Two numbers with different scopes do not belong in one column.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the timed run covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Whether key expansion (and the hash key of GCM) is timed.
    pub key_setup: KeySetup,
    /// What is done about tags.
    pub tag: Tag,
    /// Whether moving data to the device and back is timed.
    pub transfer: Transfer,
    /// Where the data lies when the clock starts.
    pub cache: Cache,
    /// Bytes of input and output together, keys, nonces, AAD and tags included.
    pub working_set_bytes: u64,
    /// Which code ran: the kernels by their full names.
    pub code_path: String,
}

impl fmt::Display for Scope {
    /// The scope line that stands beside every number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key_setup, tag) = (self.key_setup.name(), self.tag.name());
        let (transfer, cache) = (self.transfer.name(), self.cache.name());
        write!(f, "key set-up {key_setup}, tag {tag}, transfer {transfer}, cache {cache}, {}", self.code_path)
    }
}

/// Whether key expansion is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySetup {
    /// Every run expands its keys.
    Inside,
    /// Keys were expanded before the clock started.
    Outside,
}

impl KeySetup {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Outside => "outside",
        }
    }
}

/// What is done about tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tag {
    /// Each message gets one.
    Made,
    /// Each message's tag is checked.
    Checked,
    /// Some are made, others checked.
    Both,
    /// The algorithm has none.
    None,
}

impl Tag {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Checked => "checked",
            Self::Both => "both",
            Self::None => "none",
        }
    }
}

/// Whether moving the data is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transfer {
    /// The data lies where it is computed: there is nothing to move.
    None,
    /// To the device and back.
    Included,
    /// There is a transfer, and the clock leaves it out.
    Excluded,
}

impl Transfer {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Included => "included",
            Self::Excluded => "excluded",
        }
    }
}

/// Where the data lies when the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The working set fits the second-level caches of the cores in use, and the pass before has touched it.
    Hot,
    /// The working set does not fit them, or was flushed from every cache before each pass.
    Cold,
}

impl Cache {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
        }
    }
}
