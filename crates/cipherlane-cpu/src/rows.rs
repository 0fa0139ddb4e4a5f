//! The columns of a checked batch, read without checking them again.

use std::marker::PhantomData;

use cipherlane_core::{BLOCK, Column};

/// The rows of a [`Column`] that has passed [`cipherlane_core::Batch::check`].
///
/// Row i of a short message is read in a nanosecond or two: a stride serves shared rows (0) and equal ones alike.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    bytes: *const u8,
    stride: usize,
    width: usize,
    /// Where rows start, if they differ in length.
    offsets: Option<&'a [u64]>,
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: borrowed bytes that are only read.
unsafe impl Send for Rows<'_> {}
// SAFETY: as above.
unsafe impl Sync for Rows<'_> {}

impl<'a> Rows<'a> {
    /// The rows of `column`.
    pub(crate) fn new(column: &Column<'a>) -> Self {
        let borrowed = PhantomData;
        match *column {
            Column::Shared(row) => {
                Self { bytes: row.as_ptr(), stride: 0, width: row.len(), offsets: None, borrowed }
            }
            Column::Each { bytes, width } => {
                Self { bytes: bytes.as_ptr(), stride: width, width, offsets: None, borrowed }
            }
            Column::Ragged(ragged) => {
                let bytes = ragged.bytes.as_ptr();
                Self { bytes, stride: 0, width: 0, offsets: Some(ragged.offsets), borrowed }
            }
        }
    }

    /// Where row `index` lies, which is one of the batch's messages: a place among all rows, and not that row alone.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn place(&self, index: usize) -> *const u8 {
        // SAFETY: as in `get`.
        unsafe {
            match self.offsets {
                Some(offsets) => self.bytes.add(*offsets.get_unchecked(index) as usize),
                None => self.bytes.add(index * self.stride),
            }
        }
    }

    /// The row of all messages, if they have one.
    #[inline(always)]
    pub(crate) fn shared(&self) -> Option<&'a [u8]> {
        (self.offsets.is_none() && self.stride == 0).then(|| self.get(0))
    }

    /// Bytes of every row, if all have as many without looking at each.
    #[inline(always)]
    pub(crate) fn width(&self) -> Option<usize> {
        self.offsets.is_none().then_some(self.width)
    }

    /// Row `index`, which is one of the batch's messages.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // checked offsets lie within a buffer
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        // SAFETY: the check has shown that the column has a row for each message, within its bytes.
        unsafe {
            if let Some(offsets) = self.offsets {
                let (start, end) = (*offsets.get_unchecked(index), *offsets.get_unchecked(index + 1));
                return std::slice::from_raw_parts(self.bytes.add(start as usize), (end - start) as usize);
            }
            std::slice::from_raw_parts(self.bytes.add(index * self.stride), self.width)
        }
    }
}

/// The first `bytes` bytes from `from`, at most 16, as a little-endian word. In registers: a copy through memory would
/// make a wide load wait for narrow stores.
///
/// # Safety
/// `bytes` bytes are readable.
#[inline(always)]
pub(crate) unsafe fn load_block(from: *const u8, bytes: usize) -> u128 {
    debug_assert!(bytes <= BLOCK);
    // SAFETY: the caller's.
    unsafe {
        if bytes == BLOCK {
            u128::from_le(from.cast::<u128>().read_unaligned())
        } else {
            load_part(from, bytes)
        }
    }
}

/// Stores the first `bytes` bytes of a little-endian word, at most 16, to `to`.
///
/// # Safety
/// `bytes` bytes are writable.
#[inline(always)]
pub(crate) unsafe fn store_block(value: u128, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= BLOCK);
    // SAFETY: the caller's.
    unsafe {
        if bytes == BLOCK {
            to.cast::<u128>().write_unaligned(value.to_le());
        } else {
            store_part(value, to, bytes);
        }
    }
}

/// [`load_block`] of fewer than 16 bytes: the first and the last 8 of them, which may overlap, or [`load_word`].
///
/// # Safety
/// `bytes` bytes are readable.
#[inline(always)]
unsafe fn load_part(from: *const u8, bytes: usize) -> u128 {
    // SAFETY: each branch reads within the bytes.
    unsafe {
        if bytes >= 8 {
            let (first, last) = (from.cast::<u64>(), from.add(bytes - 8).cast::<u64>());
            let last = u128::from(u64::from_le(last.read_unaligned())) << (8 * (bytes - 8));
            u128::from(u64::from_le(first.read_unaligned())) | last
        } else {
            u128::from(load_word(from, bytes))
        }
    }
}

/// [`load_block`] of fewer than 8 bytes: the first and the last 4 or 1 of them, which may overlap.
///
/// # Safety
/// `bytes` bytes are readable.
#[inline(always)]
pub(crate) unsafe fn load_word(from: *const u8, bytes: usize) -> u64 {
    debug_assert!(bytes < 8);
    // SAFETY: each branch reads within the bytes.
    unsafe {
        if bytes >= 4 {
            let (first, last) = (from.cast::<u32>(), from.add(bytes - 4).cast::<u32>());
            let last = u64::from(u32::from_le(last.read_unaligned())) << (8 * (bytes - 4));
            u64::from(u32::from_le(first.read_unaligned())) | last
        } else if bytes > 0 {
            let (middle, last) = (bytes / 2, bytes - 1);
            let at = |i: usize| u32::from(*from.add(i)) << (8 * i);
            u64::from(at(0) | at(middle) | at(last))
        } else {
            0
        }
    }
}

/// [`store_block`] of fewer than 16 bytes, likewise.
///
/// # Safety
/// `bytes` bytes are writable.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes words apart
unsafe fn store_part(value: u128, to: *mut u8, bytes: usize) {
    let low = value as u64;
    // SAFETY: each branch writes within the bytes.
    unsafe {
        if bytes >= 8 {
            let last = (value >> (8 * (bytes - 8))) as u64;
            to.add(bytes - 8).cast::<u64>().write_unaligned(last.to_le());
            to.cast::<u64>().write_unaligned(low.to_le());
        } else {
            store_word(low, to, bytes);
        }
    }
}

/// [`store_block`] of fewer than 8 bytes, likewise.
///
/// # Safety
/// `bytes` bytes are writable.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes words apart
pub(crate) unsafe fn store_word(value: u64, to: *mut u8, bytes: usize) {
    debug_assert!(bytes < 8);
    // SAFETY: each branch writes within the bytes.
    unsafe {
        if bytes >= 4 {
            let last = (value >> (8 * (bytes - 4))) as u32;
            to.add(bytes - 4).cast::<u32>().write_unaligned(last.to_le());
            to.cast::<u32>().write_unaligned((value as u32).to_le());
        } else if bytes > 0 {
            for i in [0, bytes / 2, bytes - 1] {
                to.add(i).write((value >> (8 * i)) as u8);
            }
        }
    }
}

/// Ones in the first `bytes` bytes of a little-endian block, 1 to 16.
#[inline(always)]
pub(crate) fn first_bytes(bytes: usize) -> u128 {
    u128::MAX >> (8 * (BLOCK - bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_blocks_are_loaded_and_stored() {
        let source: [u8; 32] = std::array::from_fn(|i| i as u8 + 1);
        for bytes in 0..=BLOCK {
            // SAFETY: the arrays are long enough.
            let block = unsafe { load_block(source.as_ptr(), bytes) };
            assert_eq!(block.to_le_bytes()[..bytes], source[..bytes]);
            assert!(block.to_le_bytes()[bytes..].iter().all(|&byte| byte == 0));
            let mut target = [0xee; 32];
            // SAFETY: as above.
            unsafe { store_block(block, target.as_mut_ptr().add(8), bytes) };
            assert_eq!(target[8..8 + bytes], source[..bytes]);
            assert!(target[..8].iter().chain(&target[8 + bytes..]).all(|&byte| byte == 0xee));
        }
    }
}
