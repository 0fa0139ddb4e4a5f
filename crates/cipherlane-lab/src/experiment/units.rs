//! The sizes of a GPU, from what its device says of itself.

use cipherlane::Device;

/// Multiprocessors, or compute units in OpenCL.
pub(super) fn units(device: &dyn Device) -> Result<usize, String> {
    number(device, &["multiprocessors", "compute units"])
        .ok_or_else(|| format!("{} does not tell its units", device.info().id))
}

/// Cores of a multiprocessor: lanes of single precision, by compute capability (CUDA C++ Programming Guide, table of
/// arithmetic throughput).
pub(super) fn cores_of_a_unit(device: &dyn Device) -> Result<usize, String> {
    let unknown = || format!("{} does not tell the cores of a unit", device.info().id);
    let capability = detail(device, "capability").and_then(|told| told.strip_prefix("sm_")?.parse().ok());
    match capability.ok_or_else(unknown)? {
        20_u32 => Ok(32),
        21 => Ok(48),
        30..=37 => Ok(192),
        60 | 70..=80 => Ok(64),
        50..=62 | 86..=129 => Ok(128),
        other => Err(format!("the cores of a multiprocessor of sm_{other} are not known here")),
    }
}

fn detail<'a>(device: &'a dyn Device, name: &str) -> Option<&'a str> {
    device.info().details.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The number that the first known of these details begins with.
fn number(device: &dyn Device, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| detail(device, name)?.split(' ').next()?.parse().ok())
}
