//! The devices of this machine.

use std::sync::Arc;

use cipherlane_core::Device;
use cipherlane_cpu::Cpu;

#[cfg(feature = "cuda")]
pub use cipherlane_cuda::calls;
#[cfg(all(feature = "opencl", not(feature = "cuda")))]
pub use cipherlane_opencl::calls;

/// A kind of device that this machine has none of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The kind: `cuda`, `opencl`.
    pub kind: &'static str,
    /// Why there is none, with the remedy.
    pub reason: String,
}

/// Every device of this machine, the CPU first, and why there is none of a kind. Where there are several NVIDIA GPUs,
/// `cuda:all` is all of them together.
///
/// Looking for GPUs starts their drivers, which takes a good part of a second where there are some.
#[must_use]
pub fn find() -> (Vec<Arc<dyn Device>>, Vec<Absent>) {
    let mut devices: Vec<Arc<dyn Device>> = vec![Arc::new(Cpu::new())];
    let mut absent = Vec::new();
    keep("cuda", cuda(), &mut devices, &mut absent);
    keep("opencl", opencl(), &mut devices, &mut absent);
    (devices, absent)
}

type Found = Result<Vec<Arc<dyn Device>>, String>;

fn keep(kind: &'static str, found: Found, devices: &mut Vec<Arc<dyn Device>>, absent: &mut Vec<Absent>) {
    match found {
        Ok(found) => devices.extend(found),
        Err(reason) => absent.push(Absent { kind, reason }),
    }
}

#[cfg(feature = "cuda")]
fn cuda() -> Found {
    let mut members: Vec<Arc<dyn cipherlane_cuda::Member>> = Vec::new();
    for device in cipherlane_cuda::devices()? {
        members.push(Arc::new(device));
    }
    let mut devices: Vec<Arc<dyn Device>> = Vec::new();
    devices.extend(
        members.iter().map(|member| -> Arc<dyn Device> { Arc::<dyn cipherlane_cuda::Member>::clone(member) }),
    );
    if members.len() > 1 {
        devices.push(Arc::new(cipherlane_cuda::Fleet::new("cuda:all", members)));
    }
    Ok(devices)
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Found {
    Err("this build has no feature `cuda`".to_owned())
}

#[cfg(feature = "opencl")]
fn opencl() -> Found {
    let devices = cipherlane_opencl::devices()?.into_iter();
    Ok(devices.map(|device| -> Arc<dyn Device> { Arc::new(device) }).collect())
}

#[cfg(not(feature = "opencl"))]
fn opencl() -> Found {
    Err("this build has no feature `opencl`".to_owned())
}
