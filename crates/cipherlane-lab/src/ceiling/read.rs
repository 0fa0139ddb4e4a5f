//! Ways to read. The fastest is what a cache or the memory can do: a core with wider registers takes more at once.

#![allow(unsafe_code)] // loads of wide registers

/// A way to read: something of all that was read, so that no load is left out.
pub(super) type Way = fn(&[u128]) -> u128;

/// All ways that this machine has.
pub(super) fn ways() -> Vec<Way> {
    let mut ways: Vec<Way> = vec![by_the_compiler];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            ways.push(|from| {
                // SAFETY: the CPU has AVX2.
                unsafe { x86::by_avx2(from) }
            });
        }
        if is_x86_feature_detected!("avx512f") {
            ways.push(|from| {
                // SAFETY: the CPU has AVX-512 F.
                unsafe { x86::by_avx512(from) }
            });
        }
    }
    ways
}

/// In eight chains, of which compilers make loads as wide as every CPU of this architecture has them.
fn by_the_compiler(from: &[u128]) -> u128 {
    let (chunks, rest) = from.as_chunks::<8>();
    let mut sums = [0; 8];
    for chunk in chunks {
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum ^= word;
        }
    }
    sums.iter().chain(rest).fold(0, |all, word| all ^ word)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;
    use std::ptr::from_ref;

    /// Words of a register of 32 bytes, and of one of 64.
    type Words2 = [u128; 2];
    type Words4 = [u128; 4];

    #[target_feature(enable = "avx2")]
    pub(super) fn by_avx2(from: &[u128]) -> u128 {
        let (chunks, rest) = from.as_chunks::<16>();
        let mut sums = [_mm256_setzero_si256(); 8];
        for chunk in chunks {
            for (sum, words) in sums.iter_mut().zip(chunk.as_chunks::<2>().0) {
                // SAFETY: a pointer to 32 bytes.
                *sum =
                    _mm256_xor_si256(*sum, unsafe { _mm256_loadu_si256(from_ref::<Words2>(words).cast()) });
            }
        }
        // SAFETY: any 32 bytes are two words.
        let sums: [Words2; 8] = unsafe { transmute(sums) };
        sums.as_flattened().iter().chain(rest).fold(0, |all, word| all ^ word)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn by_avx512(from: &[u128]) -> u128 {
        let (chunks, rest) = from.as_chunks::<32>();
        let mut sums = [_mm512_setzero_si512(); 8];
        for chunk in chunks {
            for (sum, words) in sums.iter_mut().zip(chunk.as_chunks::<4>().0) {
                // SAFETY: a pointer to 64 bytes.
                *sum =
                    _mm512_xor_si512(*sum, unsafe { _mm512_loadu_si512(from_ref::<Words4>(words).cast()) });
            }
        }
        // SAFETY: any 64 bytes are four words.
        let sums: [Words4; 8] = unsafe { transmute(sums) };
        sums.as_flattened().iter().chain(rest).fold(0, |all, word| all ^ word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_reads_all() {
        let from: Vec<u128> =
            (0..1003_u128).map(|i| i.wrapping_mul(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)).collect();
        let sum = from.iter().fold(0, |all, word| all ^ word);
        for way in ways() {
            assert_eq!(way(&from), sum);
        }
    }
}
