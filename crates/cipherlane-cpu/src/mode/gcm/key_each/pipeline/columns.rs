//! Keys, nonces and AAD of a row of messages.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Columns whose rows are as long as each other and begin one behind the other.
pub(super) struct Columns<'a> {
    keys: *const u8,
    key_bytes: usize,
    nonces: *const u8,
    aad: *const u8,
    /// Bytes of each AAD.
    pub(super) aad_bytes: usize,
    /// Bytes from one AAD to the next.
    aad_stride: usize,
    rows: PhantomData<&'a [u8]>,
}

impl<'a> Columns<'a> {
    /// Those from message `first` on.
    #[inline(always)]
    pub(super) fn of(job: &Job<'a>, first: usize) -> Self {
        let aad_bytes = job.aad(first).len();
        Self {
            keys: job.keys_from(first),
            key_bytes: job.key(first).len(),
            nonces: job.nonces_from(first),
            aad: job.aad_from(first),
            aad_bytes,
            aad_stride: if job.shared_aad().is_some() { 0 } else { aad_bytes },
            rows: PhantomData,
        }
    }

    /// The key of message `index` of the row.
    #[inline(always)]
    pub(super) fn key(&self, index: usize) -> &'a [u8] {
        // SAFETY: a key for each message, of the length of the first.
        unsafe { std::slice::from_raw_parts(self.keys.add(index * self.key_bytes), self.key_bytes) }
    }

    /// The nonces of 12 bytes of LANES messages, from message `first` of the row on, then zeros.
    #[inline(always)]
    pub(super) fn nonces<I: Isa>(&self, isa: I, first: usize) -> I::V {
        // SAFETY: a nonce for each message.
        unsafe { isa.rows_of_12(self.nonces.add(12 * first)) }
    }

    /// Block `block` of the AAD of LANES messages, from message `first` of the row on, bytes reversed.
    #[inline(always)]
    pub(super) fn aad<T: Lanes>(&self, isa: T::Isa, first: usize, block: usize) -> T {
        let at = block * BLOCK;
        let bytes = (self.aad_bytes - at).min(BLOCK);
        let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for (lane, block) in blocks.iter_mut().enumerate().take(T::LANES) {
            // SAFETY: AAD for each message, of the length of the first.
            *block = unsafe {
                std::slice::from_raw_parts(self.aad.add((first + lane) * self.aad_stride + at), bytes)
            };
        }
        isa.gather_partial(&blocks).reverse_bytes()
    }
}
