//! Devices of a fleet, which run parts of messages, keep order and leave nothing under way.

use std::sync::Arc;

use cipherlane_core::{
    Device, DeviceError, Info, Kernel, Operation, Plan, Session, Shape, Unsupported, Wish,
};

use super::order::session;
use crate::fake::{Case, Failing, Fake};
use crate::fleet::Fleet;
use crate::part::{Member, Parts, ResidentParts};
use crate::resident::Resident;

/// Bytes of a message that two devices share.
const LONG: usize = (2 << 20) + 48;

/// One of some fakes.
struct Alike {
    info: Info,
    case: Case,
    backend: Arc<Fake>,
}

impl Alike {
    fn new(case: Case) -> Self {
        let (id, name) = ("fake:0".to_owned(), "fake".to_owned());
        let info = Info { id, name, tiers: Vec::new(), threads: 1, details: Vec::new() };
        Self { info, case, backend: Arc::new(Fake::new()) }
    }
}

impl Device for Alike {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, _: &Shape) -> Vec<Kernel> {
        Vec::new()
    }

    fn plan(&self, _: &Shape, _: &Wish) -> Result<Plan, Unsupported> {
        Ok(self.case.planned().0)
    }

    fn open(&self, _: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(session(&self.case, &self.backend)))
    }
}

impl Member for Alike {
    fn takes_parts(&self, plan: &Plan) -> Result<bool, DeviceError> {
        Ok(plan.algorithm.is_aead())
    }

    fn parts(&self, _: &Plan) -> Result<Box<dyn Parts>, DeviceError> {
        Ok(Box::new(session(&self.case, &self.backend)))
    }

    fn resident_parts(&self, plan: &Plan) -> Result<Option<Box<dyn ResidentParts>>, DeviceError> {
        let (_, programs) = self.case.planned();
        let mut resident = Resident::new(Arc::clone(&self.backend), programs, plan.chunk).unwrap();
        resident.is_compared = true;
        Ok(Some(Box::new(resident)))
    }
}

/// Two of them, and the fleet that they are.
fn fleet(case: Case) -> (Fleet, [Arc<Alike>; 2]) {
    let members = [case; 2].map(|case| Arc::new(Alike::new(case)));
    let devices = members.iter().map(|member| -> Arc<dyn Member> { Arc::<Alike>::clone(member) });
    (Fleet::new("fake:all", devices.collect()), members)
}

/// What is under way on any of them.
fn under_way(members: &[Arc<Alike>]) -> Vec<String> {
    members.iter().flat_map(|member| member.backend.under_way()).collect()
}

#[test]
fn devices_of_a_fleet_wait_for_what_they_use() {
    let is_whole = |case: &Case| case.longest == 100 && case.algorithm.is_aead();
    for case in Case::all().filter(|case| case.longest < 1 << 14 && !is_whole(case)) {
        let (fleet, members) = fleet(case);
        let plan = fleet.plan(&case.shape(), &Wish::default()).unwrap();
        let (mut session, mut resident) =
            (fleet.open(&plan).unwrap(), fleet.resident(&plan).unwrap().unwrap());
        for &in_place in case.places() {
            let lengths = [96, LONG, 80, 16];
            case.run(&mut *session, &lengths, 1, in_place).unwrap();
            case.stay(&mut *resident, &lengths, 2, in_place).unwrap();
            assert_eq!(under_way(&members), [""; 0], "{case:?}");
        }
    }
}

/// The first device makes the tag of what both have run, and fails at any of its launches.
#[test]
fn a_fleet_that_fails_leaves_nothing_under_way() {
    let case = Case::new("aes-128-gcm", Operation::Seal, 4096, true);
    for failing in [Failing::Keys, Failing::Stage] {
        for (others, stays) in (0..).flat_map(|others| [(others, false), (others, true)]) {
            let (fleet, members) = fleet(case);
            let plan = fleet.plan(&case.shape(), &Wish::default()).unwrap();
            let (mut session, mut resident) =
                (fleet.open(&plan).unwrap(), fleet.resident(&plan).unwrap().unwrap());
            members[0].backend.fail(failing, others);
            let ran = if stays {
                case.stay(&mut *resident, &[LONG], 1, false)
            } else {
                case.run(&mut *session, &[LONG], 1, false)
            };
            assert_eq!(under_way(&members), [""; 0], "{failing:?} after {others}, resident: {stays}");
            match ran {
                Ok(()) if stays => break,
                Ok(()) => {}
                Err(error) => assert!(error.to_string().contains("the device is lost"), "{error}"),
            }
        }
    }
}
