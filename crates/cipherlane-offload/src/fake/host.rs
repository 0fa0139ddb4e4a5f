//! What copies do to the host's memory, which the host lets alone meanwhile.
//!
//! A copy to the host arrives when it is waited for; until then something else lies there, which nobody takes for what
//! is to come. Of a copy from the host the source must be the same when it is waited for.
#![allow(unsafe_code)] // the memory of copies under way, as the trait has it

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::order::{How, Order, Place, Touch};

/// What lies where a copy is under way to.
const NOTHING_YET: u8 = 0xdd;

/// What is done to `bytes` bytes of the host's.
pub(super) fn on_host(how: How, pointer: *const u8, bytes: usize) -> Touch {
    Touch { how, place: Place::Host, bytes: pointer.addr()..pointer.addr() + bytes }
}

/// Bytes of a copy between host and device.
#[derive(Debug)]
pub(super) struct Carried {
    /// Where they lie on the host.
    at: AtomicPtr<u8>,
    bytes: Vec<u8>,
    to_host: bool,
}

impl Carried {
    /// `bytes` bytes at `source`, which the device gets.
    ///
    /// # Safety
    /// They are there until they [arrive](Carried::arrive), and nobody else uses them now.
    pub(super) unsafe fn to_device(source: *const u8, bytes: usize) -> Self {
        // SAFETY: the caller vouches for it.
        let bytes = unsafe { std::slice::from_raw_parts(source, bytes) }.to_vec();
        Self { at: AtomicPtr::new(source.cast_mut()), bytes, to_host: false }
    }

    /// `bytes` that are to come to `target`.
    ///
    /// # Safety
    /// There is room until they [arrive](Carried::arrive), and nobody else uses it now.
    pub(super) unsafe fn to_host(target: *mut u8, bytes: Vec<u8>) -> Self {
        // SAFETY: the caller vouches for it.
        unsafe { target.write_bytes(NOTHING_YET, bytes.len()) };
        Self { at: AtomicPtr::new(target), bytes, to_host: true }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Ends the copy.
    ///
    /// # Errors
    /// If the host has used its memory meanwhile.
    pub(super) fn arrive(self) -> Result<(), String> {
        let at = self.at.load(Ordering::Relaxed);
        if self.to_host {
            // SAFETY: whoever began the copy vouched for it.
            let target = unsafe { std::slice::from_raw_parts_mut(at, self.bytes.len()) };
            if target.iter().any(|&byte| byte != NOTHING_YET) {
                return Err("the host wrote where a copy to it was under way".to_owned());
            }
            target.copy_from_slice(&self.bytes);
            return Ok(());
        }
        // SAFETY: as above.
        let source = unsafe { std::slice::from_raw_parts(at, self.bytes.len()) };
        if source == self.bytes { Ok(()) } else { Err("the host wrote what a copy was reading".to_owned()) }
    }
}

/// Memory of the host for copies, which are over when it is freed.
#[derive(Debug)]
pub(crate) struct Staging {
    bytes: Vec<u8>,
    order: Arc<Order>,
}

impl Staging {
    pub(super) fn new(bytes: usize, order: &Arc<Order>) -> Self {
        Self { bytes: vec![0; bytes], order: Arc::clone(order) }
    }

    /// Its addresses.
    pub(super) fn place(&self) -> Range<usize> {
        let start = self.bytes.as_ptr().addr();
        start..start + self.bytes.len()
    }
}

impl Deref for Staging {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Staging {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.order.check_unused(Place::Host, &self.place());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_not_there_before_it_arrives() {
        let mut target = [1; 4];
        // SAFETY: the target lives until the copy has arrived.
        let carried = unsafe { Carried::to_host(target.as_mut_ptr(), vec![7; 4]) };
        assert_eq!(target, [NOTHING_YET; 4]);
        carried.arrive().unwrap();
        assert_eq!(target, [7; 4]);
    }

    #[test]
    fn what_the_host_writes_meanwhile_is_told() {
        let (mut target, mut source) = ([1; 4], [2; 4]);
        let [to, from] = [target.as_mut_ptr(), source.as_mut_ptr()];
        // SAFETY: both live until the copies have arrived, and are used by these pointers alone.
        let carried = unsafe {
            let carried = [Carried::to_host(to, vec![7; 4]), Carried::to_device(from, 4)];
            to.add(3).write(1);
            from.add(3).write(1);
            carried
        };
        let told = carried.map(|carried| carried.arrive().unwrap_err());
        assert!(told[0].contains("a copy to it") && told[1].contains("was reading"), "{told:?}");
    }
}
