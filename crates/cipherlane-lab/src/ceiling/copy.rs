//! Ways to copy. The fastest is what a cache or the memory can do; which that is depends on the level, and the system's
//! own way is not always it.

#![allow(unsafe_code)] // loads and stores of registers take pointers

/// A way to copy: to, from.
pub(super) type Way = fn(&mut [u128], &[u128]);

/// All ways of this architecture.
#[cfg(target_arch = "x86_64")]
pub(super) const WAYS: [Way; 3] = [by_the_system, x86::through_registers, x86::past_the_caches];

/// All ways of this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const WAYS: [Way; 1] = [by_the_system];

fn by_the_system(to: &mut [u128], from: &[u128]) {
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::ptr::{from_mut, from_ref};

    /// Adds a zero that compilers do not know, or they would make it the system's way.
    pub(super) fn through_registers(to: &mut [u128], from: &[u128]) {
        // SAFETY: SSE2 is part of x86-64; each pointer is to 16 bytes.
        unsafe {
            let zero = black_box(_mm_setzero_si128());
            for (to, from) in to.iter_mut().zip(from) {
                let register = _mm_xor_si128(_mm_loadu_si128(from_ref(from).cast()), zero);
                _mm_storeu_si128(from_mut(to).cast(), register);
            }
        }
    }

    /// A line that is stored past the caches is not fetched first.
    pub(super) fn past_the_caches(to: &mut [u128], from: &[u128]) {
        // SAFETY: SSE2 is part of x86-64; each pointer is to 16 bytes, and to a multiple of 16.
        unsafe {
            for (to, from) in to.iter_mut().zip(from) {
                _mm_stream_si128(from_mut(to).cast(), _mm_loadu_si128(from_ref(from).cast()));
            }
            _mm_sfence();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// As many as no way takes at once, all of them different.
    pub(in super::super) fn words() -> Vec<u128> {
        (0..1003_u128).map(|i| i.wrapping_mul(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)).collect()
    }

    #[test]
    fn every_way_copies() {
        let from = words();
        for way in WAYS {
            let mut to = vec![0; from.len()];
            way(&mut to, &from);
            assert_eq!(to, from);
        }
    }
}
