//! AES and GCM in registers of four lanes.

use std::arch::x86_64::*;

use super::X4;
use crate::lanes::{ABREAST, Abreast, AesLanes, Woven, abreast, woven};

// SAFETY of every block below: `X4` values exist only after detection; pointers are the caller's duty.
impl AesLanes for X4 {
    #[inline(always)]
    fn aes_encrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesenc_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_encrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesenclast_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesdec_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesdeclast_epi128(self.0, key.0) })
    }

    const WEAVES: bool = true;

    #[inline(always)]
    unsafe fn aes_gcm<const ROUNDS: usize>(keys: *const Self, groups: Woven<Self>) -> Self {
        // SAFETY: as above, and the caller's.
        unsafe { woven::encrypt::<ROUNDS>(keys, groups) }
    }

    const RUNS_ABREAST: bool = true;

    #[inline(always)]
    unsafe fn aes_cbc<const ROUNDS: usize>(keys: *const Self, streams: Abreast<'_, Self>) -> [Self; ABREAST] {
        // SAFETY: as above, and the caller's.
        unsafe { abreast::encrypt::<ROUNDS>(keys, streams) }
    }
}
