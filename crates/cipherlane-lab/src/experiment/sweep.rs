//! The rows of a sweep: algorithms by operations by sizes, or a workload by name.

use cipherlane::{Algorithm, Operation, limits};
use cipherlane_record::Keys;
use serde::{Deserialize, Deserializer, de};

use super::ExperimentError;
use crate::suite::{Point, Suite};
use crate::workload::Custom;

/// Some rows of a sweep, as the file says them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    /// A workload by name, in the place of everything else but the next.
    workload: Option<String>,
    /// Its input and output together; none means what fits the second-level caches.
    working_set_bytes: Option<usize>,
    /// Algorithms by name, or `all`.
    #[serde(default, deserialize_with = "algorithms")]
    algorithms: Vec<Algorithm>,
    /// Operations by name; none means every one that the algorithm has.
    #[serde(default, deserialize_with = "super::fields::operations")]
    operations: Vec<Operation>,
    /// Bytes of a message.
    #[serde(default)]
    sizes: Vec<usize>,
    /// One key for all messages, or one each.
    #[serde(default = "same")]
    keys: Keys,
    /// Messages of a batch; none means as many as fit the second-level cache.
    messages: Option<usize>,
}

const fn same() -> Keys {
    Keys::Same
}

fn algorithms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Algorithm>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    if names == ["all"] {
        return Ok(Algorithm::all().collect());
    }
    names.iter().map(|name| name.parse().map_err(de::Error::custom)).collect()
}

/// What of a sweep is asked for; an empty list lets everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrow {
    /// Algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Bytes of a message.
    pub sizes: Vec<usize>,
}

fn lets<T: PartialEq>(list: &[T], item: &T) -> bool {
    list.is_empty() || list.contains(item)
}

impl Rows {
    /// The points of these rows that `narrow` lets through. A size that an algorithm does not take is no point.
    pub(super) fn points(&self, narrow: &Narrow, threads: &[usize]) -> Result<Vec<Point>, ExperimentError> {
        if let Some(workload) = &self.workload {
            let any = *narrow == Narrow::default();
            let mut points = if any { Suite::of(&[workload], threads)?.points } else { Vec::new() };
            points.iter_mut().for_each(|point| point.working_set_bytes = self.working_set_bytes);
            return Ok(points);
        }
        let mut points = Vec::new();
        for &algorithm in self.algorithms.iter().filter(|&algorithm| lets(&narrow.algorithms, algorithm)) {
            let (_, takes) = limits::text_bytes(algorithm);
            for &operation in algorithm.operations() {
                if !lets(&self.operations, &operation) || !lets(&narrow.operations, &operation) {
                    continue;
                }
                for &message_bytes in self.sizes.iter().filter(|&size| lets(&narrow.sizes, size)) {
                    if takes(message_bytes as u64) {
                        let custom = self.custom(algorithm, operation, message_bytes);
                        points.extend(Suite::custom(&custom, threads).points);
                    }
                }
            }
        }
        Ok(points)
    }

    fn custom(&self, algorithm: Algorithm, operation: Operation, message_bytes: usize) -> Custom {
        let (messages, keys) = (self.messages, self.keys);
        Custom { algorithm, operation, lengths: message_bytes.into(), messages, keys, input: None }
    }
}
