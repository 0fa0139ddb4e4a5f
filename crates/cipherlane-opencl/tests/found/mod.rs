//! The devices that tests run on.

use cipherlane_opencl::OpenClDevice;

/// The devices, or none with a line that says so.
pub(crate) fn devices() -> Vec<OpenClDevice> {
    match cipherlane_opencl::devices() {
        Ok(devices) => devices,
        Err(reason) if std::env::var_os("CIPHERLANE_REQUIRE_OPENCL").is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("NOT CHECKED: {reason}");
            Vec::new()
        }
    }
}
