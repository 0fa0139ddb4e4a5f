//! Memory of the device, which nothing uses any more when it is freed.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::lock;
use super::order::{How, Order, Place, Touch};
use crate::backend::Memory;

/// Memory of the device.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(super) bytes: Mutex<Vec<u8>>,
    place: Place,
    order: Arc<Order>,
}

impl Bytes {
    pub(super) fn new(bytes: usize, order: &Arc<Order>) -> Self {
        let bytes = Mutex::new(vec![0xa5; bytes]);
        Self { bytes, place: order.place(), order: Arc::clone(order) }
    }

    pub(crate) fn all(&self) -> Vec<u8> {
        lock(&self.bytes).clone()
    }

    pub(super) fn part(&self, bytes: Range<usize>) -> Vec<u8> {
        lock(&self.bytes)[bytes].to_vec()
    }

    /// What is done to `bytes` of it.
    pub(super) fn touch(&self, how: How, bytes: Range<usize>) -> Touch {
        Touch { how, place: self.place, bytes }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.order.check_unused(self.place, &(0..usize::MAX));
    }
}

impl Memory for Bytes {
    fn bytes(&self) -> usize {
        lock(&self.bytes).len()
    }

    fn handle(&self) -> u64 {
        0
    }

    fn overlaps(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
