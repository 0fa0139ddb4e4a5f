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

#[cfg(any(feature = "cuda", feature = "opencl"))]
fn shared<D: Device + 'static>(devices: Vec<D>) -> Vec<Arc<dyn Device>> {
    let mut all: Vec<Arc<dyn Device>> = Vec::with_capacity(devices.len());
    for device in devices {
        all.push(Arc::new(device));
    }
    all
}

#[cfg(feature = "cuda")]
fn cuda() -> Found {
    let mut devices = shared(cipherlane_cuda::devices()?);
    if devices.len() > 1 {
        devices.push(Arc::new(cipherlane_cuda::Fleet::new("cuda:all", devices.clone())));
    }
    Ok(devices)
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Found {
    Err("this build has no feature `cuda`".to_owned())
}

#[cfg(feature = "opencl")]
fn opencl() -> Found {
    Ok(shared(cipherlane_opencl::devices()?))
}

#[cfg(not(feature = "opencl"))]
fn opencl() -> Found {
    Err("this build has no feature `opencl`".to_owned())
}
