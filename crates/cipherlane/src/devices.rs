//! The devices of this machine.

use std::sync::Arc;

use cipherlane_core::{Device, UnknownName};
use cipherlane_cpu::Cpu;

#[cfg(feature = "cuda")]
use cipherlane_cuda::{Fleet, Member};
#[cfg(all(feature = "opencl", not(feature = "cuda")))]
use cipherlane_opencl::{Fleet, Member};

/// A kind of device that this machine has none of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The kind: `cuda`, `opencl`.
    pub kind: &'static str,
    /// Why there is none, with the remedy.
    pub reason: String,
}

/// Why a device that was named is not here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDevice {
    /// This machine has none of its kind.
    #[error("no device {id} here: {}", absent.reason)]
    Absent {
        /// The identifier that was named.
        id: String,
        /// Its kind.
        absent: Absent,
    },
    /// Nothing has that name; lists the identifiers that there are.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
}

impl NoDevice {
    /// Of the device `id`, which is not among the `known`, where the kinds `absent` are not here.
    pub fn new(id: &str, known: impl IntoIterator<Item = String>, absent: &[Absent]) -> Self {
        match absent.iter().find(|absent| absent.kind == kind(id)) {
            Some(absent) => Self::Absent { id: id.to_owned(), absent: absent.clone() },
            None => Self::Unknown(UnknownName::new("device", id, known)),
        }
    }
}

/// Every device of this machine, the CPU first, and why there is none of a kind. Where there are several NVIDIA GPUs that are
/// alike (with one name and one compute capability), `cuda:all` is the most of these together; where there are several OpenCL
/// GPUs that are (of one platform, with one name, one driver and as many compute units), `opencl:all` is. Others stay by
/// themselves: shares are equal, and the slowest would keep all waiting.
///
/// Looking for GPUs starts their drivers, which takes a good part of a second where there are some.
#[must_use]
pub fn find() -> (Vec<Arc<dyn Device>>, Vec<Absent>) {
    look_for(&KINDS)
}

/// The same for whoever wants the device `id`: the CPU, and devices of the kind that it names. Drivers of others are not
/// started, unless it names no kind.
pub(crate) fn find_for(id: &str) -> (Vec<Arc<dyn Device>>, Vec<Absent>) {
    look_for(kinds_of(id))
}

type Found = Result<Vec<Arc<dyn Device>>, String>;

/// A kind of devices with drivers, by the first part of their identifiers.
struct Kind {
    name: &'static str,
    find: fn() -> Found,
}

const KINDS: [Kind; 2] = [Kind { name: "cuda", find: cuda }, Kind { name: "opencl", find: opencl }];

/// The kind that an identifier names: `cuda`, of `cuda:0`.
fn kind(id: &str) -> &str {
    id.split(':').next().unwrap_or(id)
}

/// The kind of which `id` is, or else all: it may be any.
fn kinds_of(id: &str) -> &'static [Kind] {
    const ALL: &[Kind] = &KINDS;
    let place = ALL.iter().position(|known| known.name == kind(id));
    place.map_or(ALL, |place| &ALL[place..=place])
}

fn look_for(kinds: &[Kind]) -> (Vec<Arc<dyn Device>>, Vec<Absent>) {
    let mut devices: Vec<Arc<dyn Device>> = vec![Arc::new(Cpu::new())];
    let mut absent = Vec::new();
    for &Kind { name, find } in kinds {
        match find() {
            Ok(found) => devices.extend(found),
            Err(reason) => absent.push(Absent { kind: name, reason }),
        }
    }
    (devices, absent)
}

#[cfg(feature = "cuda")]
fn cuda() -> Found {
    let found: Vec<_> = cipherlane_cuda::devices()?.into_iter().map(Arc::new).collect();
    let alike = cipherlane_cuda::alike(&found);
    Ok(with_fleet(members(found), "cuda:all", members(alike)))
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Found {
    Err("this build has no feature `cuda`".to_owned())
}

#[cfg(feature = "opencl")]
fn opencl() -> Found {
    let found: Vec<_> = cipherlane_opencl::devices()?.into_iter().map(Arc::new).collect();
    let alike = cipherlane_opencl::alike(&found);
    Ok(with_fleet(members(found), "opencl:all", members(alike)))
}

#[cfg(not(feature = "opencl"))]
fn opencl() -> Found {
    Err("this build has no feature `opencl`".to_owned())
}

/// `devices`, as a fleet takes them.
#[cfg(any(feature = "cuda", feature = "opencl"))]
fn members(devices: Vec<Arc<impl Member + 'static>>) -> Vec<Arc<dyn Member>> {
    devices.into_iter().map(|device| -> Arc<dyn Member> { device }).collect()
}

/// `each` by itself, and those `alike`, where there are several, together as `id`.
#[cfg(any(feature = "cuda", feature = "opencl"))]
fn with_fleet(each: Vec<Arc<dyn Member>>, id: &str, alike: Vec<Arc<dyn Member>>) -> Vec<Arc<dyn Device>> {
    let fleet = (alike.len() > 1).then(|| -> Arc<dyn Device> { Arc::new(Fleet::new(id, alike)) });
    each.into_iter().map(|member| -> Arc<dyn Device> { member }).chain(fleet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_of_other_kinds_are_not_started() {
        let names = |id: &str| kinds_of(id).iter().map(|kind| kind.name).collect::<Vec<_>>();
        assert_eq!([names("cuda:0"), names("cuda")], [["cuda"], ["cuda"]]);
        assert_eq!(names("opencl:all"), ["opencl"]);
        // What nobody knows is told with all that there is.
        assert_eq!(names("abacus:0"), ["cuda", "opencl"]);
    }

    #[test]
    fn a_device_of_an_absent_kind_says_why() {
        let absent = [Absent { kind: "mill", reason: "no mill: build one".to_owned() }];
        let error = |id: &str| NoDevice::new(id, ["cpu".to_owned()], &absent).to_string();
        for id in ["mill", "mill:0", "mill:all"] {
            assert_eq!(error(id), format!("no device {id} here: no mill: build one"));
        }
        assert_eq!(error("miller:0"), "unknown device `miller:0`; known: cpu");
    }
}
