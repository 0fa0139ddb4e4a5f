//! Threads on the CPUs of a machine, for work that comes in short bursts: a batch for this CPU, the copies for a GPU.
//!
//! [`Topology`] says which CPUs there are and in which order to take them, [`Threads`] wait for work on them, and
//! [`Pools`] share threads among those who need as many.

mod berth;
mod pool;
mod threads;
mod topology;

pub use pool::{Pool, Pools};
pub use threads::{FREE, Threads};
pub use topology::{LogicalCpu, Topology};
