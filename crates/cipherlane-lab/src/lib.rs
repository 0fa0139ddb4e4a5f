//! Workloads, sampling and statistics.
