//! Who is measured.

use cipherlane::{Device, Wish};

/// A device, with what it must keep to.
#[derive(Clone)]
pub struct Contender<'a> {
    /// The device.
    pub device: &'a dyn Device,
    /// Tier, kernel, chunk or geometry to insist on. Its threads are set by each [`crate::Point`].
    pub wish: Wish,
    /// Whether the device [launches kernels](Device::launches), so that blocks do the work and not threads of the CPU.
    pub launches: bool,
}

impl<'a> Contender<'a> {
    /// `device`, planning as it likes.
    #[must_use]
    pub fn new(device: &'a dyn Device) -> Self {
        Self { device, wish: Wish::default(), launches: device.launches() }
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
        cipherlane_record::is_rival(&self.device.info().id)
    }
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = &self.device.info().id;
        f.debug_struct("Contender").field("device", id).field("wish", &self.wish).finish()
    }
}
