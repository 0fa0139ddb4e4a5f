//! The engine on OpenCL devices of any vendor, from OpenCL 1.2 on.
//!
//! [`driver`] opens the loader at run time: nothing links to OpenCL, and a machine without it says what is missing.

pub mod driver;
