//! What a kernel executes, instruction by instruction, and what that costs on this core.
//!
//! A kernel is run twice by single steps ([`step`]), on less text and on more: the difference is what the text costs,
//! the rest is what a run costs. Its instructions are decoded ([`program`]), and then measured in two ways. A loop of as
//! many of each, evenly mixed and with registers of their own ([`free`], [`code`]), has nothing to wait for: what it
//! takes is the work of the ports, shared ones included, of loads and stores, and of starting instructions. Stretches of the
//! run in their own order, with such registers as well, take longer where ports are busy by turns. And each
//! instruction's latency ([`latency`]) says when its result is there, so that the order of the run tells how long a core
//! waits that looks so far ahead ([`window`]). What that leaves is looked for in such stretches with the registers that they
//! had ([`replay`]): what they take is of the core's own making, what the whole run takes beside is of fetching it.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod code;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod constant_time;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cost;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod free;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod latency;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod program;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod replay;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod shared;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod step;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod window;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use cost::{Probe, cost};
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use elsewhere::{Probe, clocks_of, cost};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use shared::clocks_of;

/// What a kernel costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Bytes of text that the figures below are of.
    pub(crate) bytes: f64,
    /// Instructions, and which of them read memory, write memory, and do so on the stack.
    pub(crate) instructions: f64,
    pub(crate) loads: f64,
    pub(crate) stores: f64,
    pub(crate) on_stack: f64,
    /// Bytes of the code that they are, each instruction once.
    pub(crate) code_bytes: f64,
    /// Clocks that they take with nothing to wait for, measured.
    pub(crate) free_clocks: f64,
    /// Clocks that they take in the order of the run, still with nothing to wait for, measured.
    pub(crate) ordered_clocks: f64,
    /// Clocks with what they wait for, foretold.
    pub(crate) clocks: f64,
    /// Clocks that stretches of them take with what they wait for, measured: all of the run but its branches, and code
    /// that no cache of decoded instructions holds.
    pub(crate) replayed_clocks: f64,
    /// Clocks of a run besides its text.
    pub(crate) start_clocks: f64,
    /// What takes most of `free_clocks`, and the part of them that goes without it.
    pub(crate) busiest: (String, f64),
}

impl Cost {
    /// Clocks of a run over `bytes` bytes.
    pub(crate) fn of_run(&self, bytes: f64) -> f64 {
        self.start_clocks + self.clocks / self.bytes * bytes
    }
}

/// A kernel on so much text.
pub(crate) struct Work<'a> {
    pub(crate) bytes: f64,
    /// Runs it once.
    pub(crate) run: &'a mut dyn FnMut(),
}
