//! Who is measured.

use cipherlane::{Algorithm, Device, Shape, Wish};

/// A device, with what it must keep to.
#[derive(Clone)]
pub struct Contender<'a> {
    /// The device.
    pub device: &'a dyn Device,
    /// Tier, kernel, chunk or geometry to insist on. Its threads are set by each [`crate::Point`].
    pub wish: Wish,
    /// Whether the device launches kernels, so that blocks do the work and not threads of the CPU.
    pub launches: bool,
}

impl<'a> Contender<'a> {
    /// `device`, planning as it likes.
    #[must_use]
    pub fn new(device: &'a dyn Device) -> Self {
        Self { device, wish: Wish::default(), launches: launches(device) }
    }

    /// `device` at the instruction tier `tier`.
    #[must_use]
    pub fn at_tier(device: &'a dyn Device, tier: &str) -> Self {
        let wish = Wish { tier: Some(tier.to_owned()), ..Wish::default() };
        Self { wish, ..Self::new(device) }
    }

    /// Whether the device is another library.
    #[must_use]
    pub fn is_rival(&self) -> bool {
        self.device.info().id.starts_with("rival:")
    }
}

/// Whether plans of `device` have a geometry: of any algorithm that it has.
fn launches(device: &dyn Device) -> bool {
    let shapes = Algorithm::all().map(|algorithm| Shape::uniform(algorithm, algorithm.forward(), 1, 0, true));
    let mut plans = shapes.filter_map(|shape| device.plan(&shape, &Wish::default()).ok());
    plans.next().is_some_and(|plan| plan.geometry.is_some())
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = &self.device.info().id;
        f.debug_struct("Contender").field("device", id).field("wish", &self.wish).finish()
    }
}
