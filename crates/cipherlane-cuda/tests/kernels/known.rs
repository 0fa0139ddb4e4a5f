//! The list of kernels that were compiled and found clean.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cipherlane_core::Algorithm;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/known.txt");

/// For each algorithm, the keys of the texts of its default programs: one for each capability.
pub(crate) struct Known {
    version: (u32, u32),
    keys: BTreeMap<String, BTreeMap<u32, String>>,
}

impl Known {
    /// The list, which is empty where a compiler of another version made it.
    pub(crate) fn read((major, minor): (u32, u32)) -> Self {
        let mut known = Self { version: (major, minor), keys: BTreeMap::new() };
        let list = std::fs::read_to_string(LIST).unwrap();
        let mut lines = list.lines().filter(|line| !line.starts_with('#'));
        if lines.next() != Some(&format!("NVRTC {major}.{minor}")) {
            return known;
        }
        for line in lines {
            let mut words = line.split(' ');
            let Some(algorithm) = words.next() else { continue };
            let entries = words.filter_map(|word| {
                let (capability, key) = word.split_once(':')?;
                Some((capability.parse().ok()?, key.to_owned()))
            });
            known.keys.insert(algorithm.to_owned(), entries.collect());
        }
        known
    }

    /// Whether the texts of this key were found clean for the capability.
    pub(crate) fn has(&self, algorithm: Algorithm, capability: u32, key: &str) -> bool {
        let keys = self.keys.get(&algorithm.to_string());
        keys.and_then(|keys| keys.get(&capability)).is_some_and(|known| known == key)
    }

    pub(crate) fn add(&mut self, algorithm: Algorithm, capability: u32, key: &str) {
        self.keys.entry(algorithm.to_string()).or_default().insert(capability, key.to_owned());
    }

    /// Writes the list to where it was read from.
    pub(crate) fn write(&self) {
        let (major, minor) = self.version;
        let mut text = format!(
            "# Made by `EVERY=1 KNOWN=write cargo test -p cipherlane-cuda --test kernels`: capabilities whose default programs of an\n\
             # algorithm need no local memory, and a hash of all their texts.\n\
             NVRTC {major}.{minor}\n"
        );
        for (algorithm, keys) in &self.keys {
            text.push_str(algorithm);
            for (capability, key) in keys {
                // Writing to a string cannot fail.
                let _ = write!(text, " {capability}:{key}");
            }
            text.push('\n');
        }
        std::fs::write(LIST, text).unwrap();
    }
}
