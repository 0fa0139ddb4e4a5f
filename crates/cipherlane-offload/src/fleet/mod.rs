//! Several devices as one: a batch is shared out among them, and they work at the same time.
//!
//! Shares are runs of neighbouring messages of about equal cost. A message that is longer than a share is cut where the
//! mode lets its parts stand alone: in ECB anywhere between blocks, in CTR with the counter moved on, in CBC decryption
//! with the ciphertext block before as the IV. Parts of a GCM message each have a sum, and one device makes the tag of
//! their total. Other messages stay whole: a data unit of XTS is one chain of tweaks, and CBC encryption and hashing go
//! from block to block.

mod alike;
mod owned;
mod residents;
mod run_shares;
mod sessions;
mod share;
mod side_by_side;

use std::sync::Arc;

use cipherlane_core::{
    Batch, Device, DeviceError, HostMemory, Info, Kernel, Output, Plan, Resident, Session, Shape, Tuned,
    Unsupported, Wish,
};

pub use alike::most_alike;
use residents::{Residents, Seat};
use sessions::Sessions;
use share::Cut;
pub(crate) use share::STEP;
use side_by_side::all_at_once;

use crate::part::Member;

/// What each of several OpenCL devices says that are alike, and so holds for all of them.
const SHARED: [&str; 2] = ["platform", "kind"];

/// Devices of one kind that share out every batch.
pub struct Fleet {
    info: Info,
    devices: Vec<Arc<dyn Member>>,
}

impl Fleet {
    /// `devices` together, under the identifier `id`. They should be alike (as [`most_alike`] chooses them): the first one
    /// plans for all of them, and shares are equal.
    ///
    /// # Panics
    /// If there is no device.
    #[must_use]
    pub fn new(id: &str, devices: Vec<Arc<dyn Member>>) -> Self {
        assert!(!devices.is_empty(), "a fleet has devices");
        let infos: Vec<&Info> = devices.iter().map(|device| device.info()).collect();
        let ids: Vec<&str> = infos.iter().map(|info| info.id.as_str()).collect();
        let shared = infos[0].details.iter().filter(|(name, _)| SHARED.contains(&name.as_str()));
        let info = Info {
            id: id.to_owned(),
            name: format!("{} devices: {}", devices.len(), infos[0].name),
            tiers: infos[0].tiers.clone(),
            threads: infos[0].threads,
            details: std::iter::once(("devices".to_owned(), ids.join(", "))).chain(shared.cloned()).collect(),
        };
        Self { info, devices }
    }

    /// `plan` as each of the devices would have it.
    ///
    /// # Errors
    /// If it is not one of this fleet.
    fn plans(&self, plan: &Plan) -> Result<impl Iterator<Item = (&Arc<dyn Member>, Plan)>, Unsupported> {
        if plan.device != self.info.id {
            return Err(Unsupported::Kernel {
                device: self.info.id.clone(),
                what: format!("plans of device {}", plan.device),
                known: vec![self.info.id.clone()],
            });
        }
        let of = |device: &Arc<dyn Member>| Plan { device: device.info().id.clone(), ..plan.clone() };
        Ok(self.devices.iter().map(move |device| (device, of(device))).collect::<Vec<_>>().into_iter())
    }

    /// How messages are cut that are run by `plan`.
    fn cut(&self, plan: &Plan) -> Result<Cut, DeviceError> {
        for (device, plan) in self.plans(plan)? {
            if !device.takes_parts(&plan)? {
                return Ok(Cut::Apart);
            }
        }
        Ok(Cut::Summed)
    }
}

/// What `make` makes of each of `plans`, of all but the first at once: what the first compiles the others find compiled.
fn each<'a, T: Send>(
    mut plans: impl Iterator<Item = (&'a Arc<dyn Member>, Plan)>,
    make: impl Fn(&'a Arc<dyn Member>, Plan) -> T + Sync,
) -> Vec<T> {
    let make = &make;
    let first = plans.next().map(|(device, plan)| make(device, plan));
    let others = all_at_once(plans.map(|(device, plan)| move || make(device, plan)));
    first.into_iter().chain(others).collect()
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

    fn on_threads(&self, wish: &Wish, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.devices[0].on_threads(wish, parts, work);
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let sessions = each(self.plans(plan)?, |device, plan| device.parts(&plan));
        let sessions = sessions.into_iter().collect::<Result<_, _>>()?;
        Ok(Box::new(Sessions::new(&self.info.id, sessions, self.cut(plan)?)))
    }

    fn resident(&self, plan: &Plan) -> Result<Option<Box<dyn Resident>>, DeviceError> {
        let seats = each(self.plans(plan)?, Seat::new).into_iter().collect::<Result<Vec<_>, _>>()?;
        // On all of them, or not at all.
        let seats = seats.into_iter().collect::<Option<Vec<_>>>();
        let how = self.cut(plan)?;
        Ok(seats.map(|seats| -> Box<dyn Resident> { Box::new(Residents::new(seats, how)) }))
    }

    /// The first device's, which all of one kind reach.
    fn host_memory(&self, bytes: usize) -> Result<Box<dyn HostMemory>, DeviceError> {
        self.devices[0].host_memory(bytes)
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
