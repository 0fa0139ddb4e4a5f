//! Camellia, SC2000 and SM4, byte-sliced: what the kernels' instruction sets let them do in the fewest steps.
//!
//! Counts are of a group of sixteen registers, which are transposed before and after: 64 interleavings each time, or
//! what else the instruction set has. Only what a standard repeats is spelt out here; the sections say where.

use cipherlane::Cipher;

use super::Counts;
use crate::ceiling::Ceilings;

/// Registers of a group: as many as a block has bytes.
const GROUP: f64 = 16.0;

/// What inverts in GF(2^8), looks up and adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// GFNI, functions of three bits, and tables of 64 bytes.
    Avx512,
    /// GFNI.
    Galois,
    /// The S-box of the AES, and tables of 16 bytes.
    Aes,
}

impl Means {
    /// What the kernels of `tier` use on this CPU, and the bits of their registers.
    pub(super) fn of(ceilings: &Ceilings, tier: &str) -> Option<(Self, u32)> {
        let has = |mnemonic| ceilings.rate(mnemonic, 256).is_some();
        match tier {
            "avx512" => Some((Self::Avx512, 512)),
            "avx2" if has("vaesenc") && has("vgf2p8affineqb") => Some((Self::Galois, 256)),
            "avx2" => Some((Self::Aes, 256)),
            "sse" => Some((Self::Aes, 128)),
            _ => None,
        }
    }
}

/// Instructions by what they do.
#[derive(Clone, Copy)]
struct Steps {
    /// AND, OR, XOR, and choices between bytes.
    logic: f64,
    /// Functions of three bits.
    ternary: f64,
    shifts: f64,
    /// S-boxes of the AES.
    aes: f64,
    /// Affine maps.
    affine: f64,
    /// Inversions, each before an affine map.
    inverse: f64,
    /// Byte permutations and look-ups within lanes.
    shuffles: f64,
    interleavings: f64,
    /// Look-ups in 64 bytes.
    permutations: f64,
    /// Byte permutations of two registers.
    permutations_of_two: f64,
}

impl Steps {
    /// `times` these, and `other`.
    fn times_and(self, times: f64, other: Self) -> Self {
        let sum = |of: fn(&Self) -> f64| times * of(&self) + of(&other);
        Self {
            logic: sum(|steps| steps.logic),
            ternary: sum(|steps| steps.ternary),
            shifts: sum(|steps| steps.shifts),
            aes: sum(|steps| steps.aes),
            affine: sum(|steps| steps.affine),
            inverse: sum(|steps| steps.inverse),
            shuffles: sum(|steps| steps.shuffles),
            interleavings: sum(|steps| steps.interleavings),
            permutations: sum(|steps| steps.permutations),
            permutations_of_two: sum(|steps| steps.permutations_of_two),
        }
    }

    /// For each register of the group, by mnemonic.
    fn counts(self) -> Counts {
        let all = [
            ("vpxord", self.logic),
            ("vpternlogd", self.ternary),
            ("vpsrld", self.shifts),
            ("vaesenc", self.aes),
            ("vgf2p8affineqb", self.affine),
            ("vgf2p8affineinvqb", self.inverse),
            ("vpshufb", self.shuffles),
            ("vpunpcklbw", self.interleavings),
            ("vpermb", self.permutations),
            ("vpermi2b", self.permutations_of_two),
        ];
        all.into_iter().filter(|(_, count)| *count > 0.0).map(|(name, count)| (name, count / GROUP)).collect()
    }
}

/// A cipher's instructions on a register, or `None` where it is none of these.
pub(super) fn rounds(cipher: Cipher, means: Means) -> Option<Counts> {
    let steps = match cipher {
        Cipher::Camellia128 => camellia(means, 18.0),
        Cipher::Camellia192 | Cipher::Camellia256 => camellia(means, 24.0),
        Cipher::Sc2000_128 => sc2000(means, 6.0),
        Cipher::Sc2000_192 | Cipher::Sc2000_256 => sc2000(means, 7.0),
        Cipher::Sm4 => sm4(means),
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => return None,
    };
    Some(steps.counts())
}

/// Blocks to slices, and back.
const TRANSPOSED: Steps = Steps { interleavings: 2.0 * 64.0, ..NONE };

const NONE: Steps = Steps {
    logic: 0.0,
    ternary: 0.0,
    shifts: 0.0,
    aes: 0.0,
    affine: 0.0,
    inverse: 0.0,
    shuffles: 0.0,
    interleavings: 0.0,
    permutations: 0.0,
    permutations_of_two: 0.0,
};

/// An affine map of bytes by tables of their halves: two masks and a shift make the indices, two look-ups are added.
const TABLES: Steps = Steps { logic: 3.0, shifts: 1.0, shuffles: 2.0, ..NONE };

/// The S-box of the AES in place: ShiftRows, which comes with it, is undone.
const AES_BOX: Steps = Steps { aes: 1.0, shuffles: 1.0, ..NONE };

/// RFC 3713. A round is eight S-boxes, two of them with a rotated input, P in 16 sums, and 16 more for the other half
/// and the subkey, or eight where an S-box adds that; a layer of FL and FLINV between each six rounds is 24 bytes
/// masked, 16 of them by two maps, and added. What is added before and after all rounds is 24 bytes.
fn camellia(means: Means, rounds: f64) -> Steps {
    let (round, layer, ends) = match means {
        // P, the other half and the subkey are 23 sums of two or three.
        Means::Avx512 => (
            Steps { inverse: 8.0, affine: 2.0, ternary: 19.0, logic: 4.0, ..NONE },
            Steps { affine: 24.0, ternary: 8.0, logic: 8.0, ..NONE },
            Steps { affine: 2.0 * GROUP, ..NONE },
        ),
        Means::Galois => (
            Steps { inverse: 8.0, affine: 2.0, logic: 32.0, ..NONE },
            Steps { affine: 24.0, logic: 24.0, ..NONE },
            Steps { affine: 2.0 * GROUP, ..NONE },
        ),
        // An affine map on either side of the S-box of the AES, whose ShiftRows the inverse one undoes in the next
        // round: half a block is moved before the first and after the last. A mask is a mask, and a rotation a sum, a
        // shift and a mask.
        Means::Aes => (
            TABLES.times_and(2.0, Steps { aes: 1.0, ..NONE }).times_and(8.0, Steps { logic: 24.0, ..NONE }),
            Steps { logic: 56.0, shifts: 8.0, ..NONE },
            Steps { shuffles: GROUP, ..NONE },
        ),
    };
    let ends = ends.times_and(1.0, Steps { logic: 24.0, ..TRANSPOSED });
    round.times_and(rounds, layer.times_and(rounds / 6.0 - 1.0, ends))
}

/// GB/T 32907 section 6. A round is the S-box of four bytes, each before two halves of the linear map L, and the sums
/// of L, of the words and of the round key.
fn sm4(means: Means) -> Steps {
    let (round, ends) = match means {
        Means::Avx512 => {
            (Steps { inverse: 8.0, ternary: 8.0, logic: 8.0, ..NONE }, Steps { affine: 2.0 * GROUP, ..NONE })
        }
        Means::Galois => (Steps { inverse: 8.0, logic: 24.0, ..NONE }, Steps { affine: 2.0 * GROUP, ..NONE }),
        // Both halves of L are maps of the same indices.
        Means::Aes => {
            let halves = Steps { logic: 4.0, shifts: 1.0, shuffles: 4.0, ..NONE };
            let round = AES_BOX.times_and(1.0, halves).times_and(4.0, Steps { logic: 24.0, ..NONE });
            (round, TABLES.times_and(2.0 * GROUP, NONE))
        }
    };
    round.times_and(32.0, ends.times_and(1.0, TRANSPOSED))
}

/// CRYPTREC 09. A round is the B function on 16 registers, the S and M functions of four words, what R makes of
/// these, and two I functions; half a round follows, of B and an I function on either side.
fn sc2000(means: Means, rounds: f64) -> Steps {
    let (b, ms, r_and_i, transposed) = match means {
        // S-boxes are tables of all fields' values, in slices turned by affine maps; seven functions are the circuit
        // of B.
        Means::Avx512 => (
            Steps { ternary: 28.0, ..NONE },
            Steps { permutations: 12.0, affine: 8.0, ternary: 10.0, shifts: 4.0, ..NONE },
            Steps { ternary: 32.0, logic: 16.0, ..NONE },
            Steps { interleavings: 112.0, permutations_of_two: 32.0, affine: 16.0, ..NONE },
        ),
        Means::Galois => (
            Steps { logic: 68.0, ..NONE },
            Steps { shuffles: 16.0, affine: 12.0, logic: 36.0, shifts: 8.0, ..NONE },
            Steps { logic: 80.0, ..NONE },
            TRANSPOSED,
        ),
        // The affine maps are 24 look-ups of halves of bytes.
        Means::Aes => (
            Steps { logic: 68.0, ..NONE },
            Steps { shuffles: 40.0, logic: 56.0, shifts: 12.0, ..NONE },
            Steps { logic: 80.0, ..NONE },
            TRANSPOSED,
        ),
    };
    let round = ms.times_and(4.0, b.times_and(1.0, r_and_i));
    let last = b.times_and(1.0, Steps { logic: 2.0 * GROUP, ..NONE });
    round.times_and(rounds, last.times_and(1.0, transposed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(counts: &Counts) -> f64 {
        GROUP * counts.iter().map(|(_, count)| count).sum::<f64>()
    }

    fn of(counts: &Counts, mnemonic: &str) -> f64 {
        GROUP * counts.iter().find(|(name, _)| *name == mnemonic).map_or(0.0, |(_, count)| *count)
    }

    /// One S-box for each byte of each half that a round changes, and nothing else that inverts.
    #[test]
    fn inversions_are_those_of_the_standards() {
        for (cipher, boxes) in
            [(Cipher::Camellia128, 18 * 8), (Cipher::Camellia256, 24 * 8), (Cipher::Sm4, 32 * 4)]
        {
            let counts = rounds(cipher, Means::Aes).unwrap();
            assert!((of(&counts, "vaesenc") - f64::from(boxes)).abs() < 1e-9, "{cipher:?}: {counts:?}");
        }
        assert_eq!(rounds(Cipher::Aes128, Means::Avx512), None);
    }

    #[test]
    fn better_means_take_fewer_instructions() {
        for cipher in [Cipher::Camellia192, Cipher::Sc2000_128, Cipher::Sc2000_256, Cipher::Sm4] {
            let [wide, galois, aes] = [Means::Avx512, Means::Galois, Means::Aes]
                .map(|means| total(&rounds(cipher, means).unwrap()));
            assert!(wide < galois && galois < aes, "{cipher:?}: {wide}, {galois}, {aes}");
        }
    }
}
