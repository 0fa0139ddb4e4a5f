//! Whether memory that a device lends is zeros, whoever had it before.

use std::sync::Arc;

use cipherlane_core::{Device, DeviceError, DeviceMemory};

/// Bytes from one place that is looked at to the next.
const STEP: usize = 16 << 20;
/// Bytes of a place.
const PLACE: usize = 64;

/// Takes `bytes` bytes of `device`, one place at least, marks them at places and gives them back, three times. Returns how
/// many places, of how many that were to be zeros, were not; nothing where the device lends no memory.
pub(crate) fn dirty(device: &dyn Device, bytes: usize) -> Result<Option<(usize, usize)>, DeviceError> {
    let places = || (0..bytes - PLACE).step_by(STEP).chain([bytes - PLACE]);
    let (mut dirty, mut all) = (0, 0);
    for mark in 1..=3 {
        let Some(memory) = device.memory(bytes)? else { return Ok(None) };
        for at in places() {
            all += 1;
            dirty += usize::from(read(&memory, at)? != [0; PLACE]);
            memory.write(at, &[mark; PLACE])?;
        }
        for at in places() {
            assert_eq!(read(&memory, at)?, [mark; PLACE], "what was written to byte {at}");
        }
    }
    Ok(Some((dirty, all)))
}

fn read(memory: &Arc<dyn DeviceMemory>, at: usize) -> Result<[u8; PLACE], DeviceError> {
    let mut place = [0; PLACE];
    memory.read(at, &mut place)?;
    Ok(place)
}

/// The same with the outcome printed. Returns whether it is wrong, as a number.
#[allow(dead_code, clippy::print_stdout)] // for examples, which are tools for developers
pub(crate) fn tell(device: &dyn Device, bytes: usize) -> usize {
    let mib = bytes >> 20;
    let outcome = dirty(device, bytes);
    match &outcome {
        Ok(None) => println!("memory of {mib} MiB: the device lends none"),
        Ok(Some((0, all))) => println!("memory of {mib} MiB: zeros at {all} places"),
        Ok(Some((dirty, all))) => println!("memory of {mib} MiB: WRONG, no zeros at {dirty} of {all} places"),
        Err(reason) => println!("memory of {mib} MiB: WRONG, {reason}"),
    }
    usize::from(!matches!(outcome, Ok(None | Some((0, _)))))
}
