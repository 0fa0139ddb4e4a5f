//! Ways to read. The widest is what a cache or the memory can do: a core with wider registers takes more at once.

#![allow(unsafe_code)] // loads of wide registers

/// A way to read: something of all that was read, so that no load is left out.
pub(super) type Way = fn(&[u128]) -> u128;

/// The way by the widest registers that this machine has.
pub(super) fn widest() -> Way {
    ways().pop().unwrap_or(by_the_compiler)
}

/// All ways that this machine has, the widest one last.
fn ways() -> Vec<Way> {
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

    /// A way by eight registers of so many words, whose zero, load and sum these are.
    macro_rules! by_registers {
        ($name:ident, $feature:literal, $words:literal, $zero:ident, $load:ident, $sum:ident) => {
            #[target_feature(enable = $feature)]
            pub(super) fn $name(from: &[u128]) -> u128 {
                let (chunks, rest) = from.as_chunks::<{ 8 * $words }>();
                let mut sums = [$zero(); 8];
                for chunk in chunks {
                    for (sum, words) in sums.iter_mut().zip(chunk.as_chunks::<$words>().0) {
                        // SAFETY: a pointer to as many bytes as a register has.
                        *sum = $sum(*sum, unsafe { $load(words.as_ptr().cast()) });
                    }
                }
                // SAFETY: registers are words, whatever is in them.
                let sums: [[u128; $words]; 8] = unsafe { transmute(sums) };
                sums.as_flattened().iter().chain(rest).fold(0, |all, word| all ^ word)
            }
        };
    }

    by_registers!(by_avx2, "avx2", 2, _mm256_setzero_si256, _mm256_loadu_si256, _mm256_xor_si256);
    by_registers!(by_avx512, "avx512f", 4, _mm512_setzero_si512, _mm512_loadu_si512, _mm512_xor_si512);
}

#[cfg(test)]
mod tests {
    use super::super::copy::tests::words;
    use super::*;

    #[test]
    fn every_way_reads_all() {
        let from = words();
        let sum = from.iter().fold(0, |all, word| all ^ word);
        for way in ways() {
            assert_eq!(way(&from), sum);
        }
    }
}
