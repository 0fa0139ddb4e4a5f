//! What a row is a row of: rows of one kind are compared.

use std::fmt;

use cipherlane_record::{Keys, Load, Measurement, Share};
use serde::Serialize;

/// Everything but the code that ran, how many messages a pass has, and the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// The workload by name.
    pub workload: String,
    /// Cipher, key bits and mode.
    pub algorithm: String,
    /// What is done to each message.
    pub operation: String,
    /// Identifier of the device.
    pub device: String,
    /// Threads that did the work.
    pub threads: usize,
    /// Bytes of one message.
    pub message_bytes: u64,
    /// Whether all messages have one key or each its own.
    pub keys: Keys,
    /// Other work that was asked of the CPU meanwhile, of 1.
    pub cpu_load: f64,
    /// Other work that was asked of the GPU meanwhile, of 1.
    pub gpu_load: f64,
    /// The kernel; none where the two rows have different ones.
    pub kernel: Option<String>,
    /// What tells its scope from those of other rows of the like; only where a file has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl Row {
    /// Of `row`, its kernel and its scope left open.
    pub(super) fn of(row: &Measurement) -> Self {
        let Load { cpu, gpu } = row.load.unwrap_or_default();
        let requested = |share: Option<Share>| share.map_or(0.0, |share| share.requested);
        Self {
            experiment: row.experiment.clone(),
            workload: row.workload.clone(),
            algorithm: row.algorithm.clone(),
            operation: row.operation.clone(),
            device: row.device.clone(),
            threads: row.threads,
            message_bytes: row.message_bytes,
            keys: row.keys,
            cpu_load: requested(cpu),
            gpu_load: requested(gpu),
            kernel: None,
            scope: None,
        }
    }

    /// Whether another library did the work.
    #[must_use]
    pub fn is_of_a_rival(&self) -> bool {
        cipherlane_record::is_rival(&self.device)
    }
}

impl fmt::Display for Row {
    /// In a line: `tls-16k aes-128-gcm seal on cpu, 16384 B, threads 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, algorithm, operation, device, message_bytes, threads, .. } = self;
        if workload != "custom" {
            write!(f, "{workload} ")?;
        }
        write!(f, "{algorithm} {operation} on {device}, {message_bytes} B, threads {threads}")?;
        if self.keys == Keys::Distinct {
            f.write_str(", a key each")?;
        }
        for (name, load) in [("CPU", self.cpu_load), ("GPU", self.gpu_load)] {
            if load > 0.0 {
                write!(f, ", {name} load {:.0} %", 100.0 * load)?;
            }
        }
        for more in [&self.scope, &self.kernel].into_iter().flatten() {
            write!(f, ", {more}")?;
        }
        Ok(())
    }
}
