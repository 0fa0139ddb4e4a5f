//! Times contenders against each other: all of them in every round, every output looked at.

mod calibrate;
pub mod clock;
mod flush;
pub mod runner;
pub mod trial;

pub use calibrate::calibrate;
pub use runner::Runner;
pub(crate) use runner::threads_at_work;
pub use trial::{End, Trial};
