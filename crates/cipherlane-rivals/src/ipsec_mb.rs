//! Intel's Multi-Buffer Crypto for IPsec, opened at run time: GCM by its one-call functions, ECB, CBC, CTR and SHA-2 by
//! its jobs, of which it runs several at once.

mod gcm;
mod jobs;
mod manager;

use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Device, Mode, Operation, Shape};
use libloading::Library as Shared;

use self::jobs::{Jobs, Suite};
use self::manager::Managers;
use crate::each::{Each, Library};
use crate::limits::Limits;
use crate::message::{Context, Fault};
use crate::shared;

/// The device.
pub(crate) const ID: &str = "rival:ipsec-mb";
/// Where it lies: major version 1 since 2018, 2 since 2024.
const NAMES: &[&str] = &["libIPSec_MB.so.3", "libIPSec_MB.so.2", "libIPSec_MB.so.1"];

/// One call per message.
const DIRECT: &str = "direct";
/// A call for many messages: an array of them, or where the version takes none of their kind, its queue.
const BURST: &str = "burst";
/// A call per message, which returns one that is done.
const JOBS: &str = "jobs";

struct IpsecMb {
    gcm: gcm::Gcms,
    managers: Option<Managers>,
    version: String,
}

fn resolve(library: &'static Shared) -> Result<IpsecMb, &'static str> {
    let version = manager::version(library)?;
    let managers = Managers::of(library, &version);
    Ok(IpsecMb { gcm: gcm::Gcms::of(library, managers.as_ref())?, managers, version })
}

/// The library as a device, or why there is none.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    static OPENED: OnceLock<Result<(IpsecMb, &'static str), String>> = OnceLock::new();
    let (library, file) =
        OPENED.get_or_init(|| shared::open(NAMES, resolve)).as_ref().map_err(Clone::clone)?;
    let jobs = if library.managers.is_some() {
        "else bursts of jobs, or job by job where versions are in development"
    } else {
        "nothing else: the layout of its jobs is known for versions 1.3 to 3.0"
    };
    let details = vec![
        ("version".to_owned(), library.version.clone()),
        ("file".to_owned(), (*file).to_owned()),
        ("way".to_owned(), format!("GCM: {}; {jobs}", library.gcm.name)),
    ];
    Ok(Box::new(Each::new(ID, format!("ipsec-mb {}", library.version), details, Opened(library))))
}

struct Opened(&'static IpsecMb);

impl Library for Opened {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        if shape.algorithm.mode() == Some(Mode::Gcm) {
            let limits = Limits { nonce: 12..=12, ..Limits::NONE };
            return self.0.gcm.functions(shape.algorithm).map(|_| (DIRECT, limits)).into_iter().collect();
        }
        let Some((managers, suite)) =
            self.0.managers.as_ref().zip(Suite::of(shape.algorithm, shape.operation))
        else {
            return Vec::new();
        };
        let burst = managers.have_bursts().then(|| (BURST, suite.limits()));
        burst.into_iter().chain([(JOBS, suite.limits())]).collect()
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        way: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        if way == DIRECT {
            let functions = self.0.gcm.functions(algorithm).ok_or("the search for the algorithm")?;
            return Ok(Box::new(gcm::Gcm::new(functions)));
        }
        let managers = self.0.managers.as_ref().ok_or("the search for the manager")?;
        let suite = Suite::of(algorithm, operation).ok_or("the search for the algorithm")?;
        Ok(Box::new(Jobs::new(managers.start()?, suite, way == BURST)))
    }

    fn constant_time(&self, _: Algorithm) -> bool {
        true
    }
}
