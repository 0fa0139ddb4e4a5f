//! Several devices as one: a batch is shared out among them, and they work at the same time.
//!
//! Shares are runs of neighbouring messages of about equal cost. A message that is longer than a share is cut where the
//! mode lets its parts stand alone: in ECB anywhere between blocks, in CTR with the counter moved on, in CBC decryption
//! with the ciphertext block before as the IV. Other messages stay whole: a GCM message has one sum over all of it, a
//! data unit of XTS one chain of tweaks, and CBC encryption and hashing go from block to block.

mod run;
mod share;

use std::sync::Arc;

use cipherlane_core::{
    Batch, Device, DeviceError, Info, Kernel, Output, Plan, Resident, Session, Shape, Tuned, Unsupported,
    Wish,
};

use run::{Residents, Sessions};

/// Devices of one kind that share out every batch.
pub struct Fleet {
    info: Info,
    devices: Vec<Arc<dyn Device>>,
}

impl Fleet {
    /// `devices` together, under the identifier `id`. They should be alike: the first one plans for all of them, and
    /// shares are equal.
    ///
    /// # Panics
    /// If there is no device.
    #[must_use]
    pub fn new(id: &str, devices: Vec<Arc<dyn Device>>) -> Self {
        assert!(!devices.is_empty(), "a fleet has devices");
        let infos: Vec<&Info> = devices.iter().map(|device| device.info()).collect();
        let ids: Vec<&str> = infos.iter().map(|info| info.id.as_str()).collect();
        let info = Info {
            id: id.to_owned(),
            name: format!("{} devices: {}", devices.len(), infos[0].name),
            tiers: infos[0].tiers.clone(),
            threads: infos[0].threads,
            details: vec![("devices".to_owned(), ids.join(", "))],
        };
        Self { info, devices }
    }

    /// `plan` as each of the devices would have it.
    ///
    /// # Errors
    /// If it is not one of this fleet.
    fn plans(&self, plan: &Plan) -> Result<impl Iterator<Item = (&Arc<dyn Device>, Plan)>, Unsupported> {
        if plan.device != self.info.id {
            return Err(Unsupported::Kernel {
                device: self.info.id.clone(),
                what: format!("plans of device {}", plan.device),
                known: vec![self.info.id.clone()],
            });
        }
        let of = |device: &Arc<dyn Device>| Plan { device: device.info().id.clone(), ..plan.clone() };
        Ok(self.devices.iter().map(move |device| (device, of(device))).collect::<Vec<_>>().into_iter())
    }
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Device for Fleet {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.devices[0].kernels(shape)
    }

    /// As the first device would run a share.
    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let plan = self.devices[0].plan(&share::shape(shape, self.devices.len()), wish)?;
        Ok(Plan { device: self.info.id.clone(), ..plan })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let sessions = self.plans(plan)?.map(|(device, plan)| device.open(&plan));
        Ok(Box::new(Sessions(sessions.collect::<Result<_, _>>()?)))
    }

    fn resident(&self, plan: &Plan) -> Result<Option<Box<dyn Resident>>, DeviceError> {
        let residents = self.plans(plan)?.map(|(device, plan)| device.resident(&plan));
        let residents: Option<Vec<_>> = residents.collect::<Result<_, _>>()?;
        Ok(residents.map(|residents| -> Box<dyn Resident> { Box::new(Residents::new(residents)) }))
    }

    /// On the first device, for all that are like it.
    fn tune(
        &self,
        plan: &Plan,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        is_right: &mut dyn FnMut(&Output<'_>) -> bool,
    ) -> Result<Option<Tuned>, DeviceError> {
        match self.plans(plan)?.next() {
            Some((device, plan)) => device.tune(&plan, batch, output, is_right),
            None => Ok(None),
        }
    }

    fn compiled(&self) -> Vec<(String, bool)> {
        self.devices[0].compiled()
    }
}
