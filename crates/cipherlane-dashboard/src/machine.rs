//! What can be chosen here, and who reads its sensors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use cipherlane::devices::NoDevice;
use cipherlane::{Algorithm, Device};
use cipherlane_lab::Contender;
use cipherlane_lab::telemetry::Sampler;
use cipherlane_lab::workload::{Job, Named};
use cipherlane_record::Host;
use serde_json::{Value, json};

use crate::Config;
use crate::request::CUSTOM;

/// This machine, for the engine and the server.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) config: Config,
    pub(crate) sampler: Sampler,
}

impl Machine {
    /// `None` where there is no `cpu` among the devices.
    pub(crate) fn new(config: Config, sampler: Sampler) -> Option<Self> {
        let machine = Self { config, sampler };
        machine.device("cpu").is_ok().then_some(machine)
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.config.host
    }

    pub(crate) const fn records(&self) -> &PathBuf {
        &self.config.records
    }

    pub(crate) const fn questions(&self) -> &BTreeMap<String, String> {
        &self.config.questions
    }

    /// The machine's name for people.
    pub(crate) fn name(&self) -> &str {
        self.host().cpu_model.as_deref().unwrap_or("this machine")
    }

    /// The device of this identifier.
    ///
    /// # Errors
    /// Lists those that there are, or says why there is none of that kind.
    pub(crate) fn device(&self, id: &str) -> Result<&Arc<dyn Device>, NoDevice> {
        let devices = &self.config.devices;
        let known = || devices.iter().map(|device| device.info().id.clone());
        let found = devices.iter().find(|device| device.info().id == id);
        found.ok_or_else(|| NoDevice::new(id, known(), &self.config.absent))
    }

    /// All that the page lets choose, as it reads it.
    pub(crate) fn catalog(&self) -> Value {
        let workloads = Named::ALL.iter().map(|workload| {
            let jobs: Vec<Value> = workload.jobs.iter().map(job).collect();
            json!({"name": workload.name, "question": workload.question, "jobs": jobs})
        });
        let custom = json!({
            "name": CUSTOM,
            "question": "How fast are messages of my own choice?",
            "jobs": [],
        });
        let algorithms = Algorithm::all().map(|algorithm| {
            let operations: Vec<&str> = algorithm.operations().iter().map(|one| one.name()).collect();
            json!({"name": algorithm.to_string(), "operations": operations})
        });
        let devices = self.config.devices.iter().map(|device| {
            let info = device.info();
            let launches = Contender::new(&**device).launches;
            json!({"id": info.id, "name": info.name, "tiers": info.tiers, "launches": launches})
        });
        let absent =
            self.config.absent.iter().map(|absent| json!({"kind": absent.kind, "reason": absent.reason}));
        json!({
            "workloads": workloads.chain([custom]).collect::<Vec<_>>(),
            "algorithms": algorithms.collect::<Vec<_>>(),
            "devices": devices.collect::<Vec<_>>(),
            "absent": absent.collect::<Vec<_>>(),
            "logical_cores": self.host().logical_cores,
            "physical_cores": self.host().physical_cores,
        })
    }
}

fn job(job: &Job) -> Value {
    match job {
        Job::Mixed => json!({"algorithm": null, "operation": null}),
        Job::Single(algorithm, operation) => {
            json!({"algorithm": algorithm.to_string(), "operation": operation.name()})
        }
    }
}
