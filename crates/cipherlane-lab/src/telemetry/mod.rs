//! What sensors say while something runs: clocks, temperatures, power, load, throttling.
//!
//! [`Sensors`] finds what this machine has, below a root folder that tests point elsewhere, and through NVML for
//! GPUs; what it has not is [`Sensors::missing`], with the reason and what would help. A [`Sampler`] reads them from
//! a thread of its own into a [`cipherlane_record::Timeline`]. [`cipherlane_record::throttle`] says in words whether a clock was held
//! back. Nothing here changes a setting of the machine.

mod counter;
mod cpu;
mod files;
mod gpu;
mod hwmon;
mod nvml;
mod rapl;
mod sampler;
mod sensor;

pub use counter::{Counter, Speed};
pub use files::Files;
pub use gpu::{Gpu, Quantity};
pub use nvml::NvmlGpu;
pub use rapl::Rapl;
pub use sampler::{DEFAULT_HERTZ, MOST_HERTZ, Mark, Sampler};
pub use sensor::{Sensor, Sensors};
