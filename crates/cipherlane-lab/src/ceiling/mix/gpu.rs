//! What GPUs' kernels consist of, and what their units' instructions allow them.
//!
//! A mix counts what a lane does for one block of a cipher, or one application of a hash's compression or permutation,
//! in the kernels that NVIDIA GPUs take by default. Several bounds hold at once: shared memory serves so many words,
//! and texts pass the same pipe; logic, shifts, permutations and sums of three share one pipe; products have another;
//! and a unit starts so many instructions of any kind, for which the rate of the fastest one stands, a product and sum
//! of numbers of 32 bits. Memory beyond the unit is left out.

use cipherlane::{Algorithm, Cipher, Hash, Mode};
use cipherlane_kernels::probe::Steps;

/// What a lane does for `bytes` bytes of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mix {
    pub(crate) bytes: f64,
    /// Words looked up in shared memory.
    pub(crate) look_ups: f64,
    /// Functions of three words.
    pub(crate) logic: f64,
    /// Permutations of bytes.
    pub(crate) permutations: f64,
    pub(crate) shifts: f64,
    pub(crate) sums: f64,
    pub(crate) products: f64,
    /// Products of bits by the tensor cores, as the probe counts them.
    pub(crate) matrix_bits: f64,
}

const NONE: Mix = Mix {
    bytes: 16.0,
    look_ups: 0.0,
    logic: 0.0,
    permutations: 0.0,
    shifts: 0.0,
    sums: 0.0,
    products: 0.0,
    matrix_bits: 0.0,
};

/// Operations per clock and unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) local: f64,
    pub(crate) logic: f64,
    pub(crate) product: f64,
    /// Of the fastest instruction.
    pub(crate) any: f64,
    /// None where there are no tensor cores.
    pub(crate) matrix_bits: Option<f64>,
}

impl Rates {
    /// The probes that they come from.
    pub(crate) const PROBES: [Steps; 5] =
        [Steps::LocalFree, Steps::Lop3, Steps::Mad, Steps::F32Fma, Steps::MatrixBits];
}

/// Clocks of a unit for one mix, and the resource that takes them.
pub(crate) type Clocks = (f64, &'static str);

impl Mix {
    /// The mix of the kernel `kernel` of `algorithm`, or `None` where there is no model.
    pub(crate) fn of(algorithm: Algorithm, kernel: &str) -> Option<Self> {
        match algorithm {
            Algorithm::Cipher(cipher, mode) => {
                Some(rounds(cipher, mode, kernel)?.with(around(mode, kernel)?))
            }
            Algorithm::Hash(hash) => hashing(hash),
        }
    }

    fn with(self, other: Self) -> Self {
        let sum = |of: fn(&Self) -> f64| of(&self) + of(&other);
        Self {
            bytes: self.bytes,
            look_ups: sum(|mix| mix.look_ups),
            logic: sum(|mix| mix.logic),
            permutations: sum(|mix| mix.permutations),
            shifts: sum(|mix| mix.shifts),
            sums: sum(|mix| mix.sums),
            products: sum(|mix| mix.products),
            matrix_bits: sum(|mix| mix.matrix_bits),
        }
    }

    /// Words of text that are read and written.
    const fn moved(&self) -> f64 {
        2.0 * self.bytes / 4.0
    }

    /// Instructions of the pipe for logic.
    const fn alu(&self) -> f64 {
        self.logic + self.permutations + self.shifts + self.sums
    }

    /// What a unit takes at the least, by each resource; the one that takes longest first.
    pub(crate) fn clocks(&self, rates: &Rates) -> Vec<Clocks> {
        // Four words are moved by one instruction.
        let all = self.look_ups + self.alu() + self.products + self.moved() / 4.0;
        let mut clocks = vec![
            ((self.look_ups + self.moved()) / rates.local, "shared memory"),
            (self.alu() / rates.logic, "the pipe for logic"),
            (self.products / rates.product, "the pipe for products"),
            (all / rates.any, "instructions of any kind"),
        ];
        if let Some(rate) = rates.matrix_bits {
            clocks.push((self.matrix_bits / rate, "tensor cores"));
        }
        clocks.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        clocks
    }
}

/// A cipher on one block, from tables of which each bank has a copy.
fn rounds(cipher: Cipher, mode: Mode, kernel: &str) -> Option<Mix> {
    let tables = if is_sc2000(cipher) { "/banked6" } else { "/banked4" };
    if !kernel.contains(tables) {
        return None;
    }
    // GCM's kernel for long messages counts as that of counter mode does.
    let split = match mode {
        Mode::Ctr => kernel.contains("-split"),
        Mode::Gcm => kernel.contains("-mma/"),
        _ => false,
    };
    Some(match cipher {
        Cipher::Aes128 => aes(10.0, split),
        Cipher::Aes192 => aes(12.0, split),
        Cipher::Aes256 => aes(14.0, split),
        // RFC 3713 section 2.4: a function F looks eight bytes up, each by an address of one permutation; sums of four
        // words twice, a sum, a rotation, the round key of two words, and two words that it is added to. Between
        // every six of them two functions FL; a key before and after.
        Cipher::Camellia128 => camellia(18.0, 2.0),
        Cipher::Camellia192 | Cipher::Camellia256 => camellia(24.0, 3.0),
        // GB/T 32907 section 7.1: 32 rounds of four look-ups; sums of four words and of five.
        Cipher::Sm4 => Mix { look_ups: 128.0, permutations: 128.0, logic: 32.0 * (2.0 + 2.0), ..NONE },
        Cipher::Sc2000_128 => sc2000(6.0),
        Cipher::Sc2000_192 | Cipher::Sc2000_256 => sc2000(7.0),
    })
}

const fn is_sc2000(cipher: Cipher) -> bool {
    matches!(cipher, Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256)
}

/// FIPS 197 section 5.1: a round is sixteen look-ups, whose addresses are one permutation each, and two functions of three
/// words for each column; the last picks bytes by three permutations a column. Counter mode with split counters looks
/// the first two rounds up: a word of four by 16 bytes, and two sums (`c/primitive/aes_counter.h`).
fn aes(rounds: f64, split: bool) -> Mix {
    let looked_up = if split { rounds - 2.0 } else { rounds };
    let whitening = if split { 8.0 } else { 4.0 };
    Mix {
        look_ups: 16.0 * looked_up + if split { 4.0 } else { 0.0 },
        permutations: 16.0 * looked_up + 12.0,
        logic: 8.0 * (looked_up - 1.0) + 4.0 + whitening,
        ..NONE
    }
}

fn camellia(functions: f64, between: f64) -> Mix {
    Mix {
        look_ups: 8.0 * functions,
        permutations: 8.0 * functions,
        logic: 8.0 * functions + 8.0 * between + 8.0,
        shifts: functions + 4.0 * between,
        ..NONE
    }
}

/// CRYPTREC 09, with a table for each S-box (`c/primitive/sc2000_banked.h`). A round twice takes two words through six
/// look-ups each, whose addresses are a shift and six permutations and whose entries are added by three functions; four
/// functions mix and add them. Before each round and at the end stand seven functions of B between two times four keys;
/// the words' bytes are turned when they come and go.
fn sc2000(rounds: f64) -> Mix {
    let words = 4.0 * rounds;
    Mix {
        look_ups: 6.0 * words,
        permutations: 6.0 * words + 8.0,
        shifts: words,
        logic: 3.0 * words + 8.0 * rounds + 15.0 * (rounds + 1.0),
        ..NONE
    }
}

/// What a mode adds to a block; `None` for those whose kernels depend on more than the block.
fn around(mode: Mode, kernel: &str) -> Option<Mix> {
    match mode {
        Mode::Ecb => Some(NONE),
        // A counter of one word, its bytes reversed, and the text.
        Mode::Ctr => Some(Mix { logic: 4.0, permutations: 1.0, sums: 1.0, ..NONE }),
        // And the hash: 128 x 128 bits for each block on tensor cores, whose matrices are read from shared memory: 32
        // words for each block that a lane has.
        Mode::Gcm if kernel.contains("-mma") => Some(Mix {
            look_ups: 32.0,
            logic: 6.0,
            permutations: 1.0,
            sums: 1.0,
            matrix_bits: 128.0 * 128.0,
            ..NONE
        }),
        Mode::Gcm | Mode::Cbc | Mode::Xts => None,
    }
}

/// A hash function: one application of its compression or permutation, a message for each lane.
fn hashing(hash: Hash) -> Option<Mix> {
    let bytes = hash.block_bytes() as f64;
    Some(match hash {
        // FIPS 180-4 section 6.2.2: 64 rounds of 6 rotations, 4 functions of three words and 7 additions, three words
        // at a time; 48 words of schedule with 4 rotations, 2 shifts, 2 sums of three without carry and 3 additions.
        Hash::Sha224 | Hash::Sha256 => Mix {
            bytes,
            shifts: 64.0 * 6.0 + 48.0 * 6.0,
            logic: 64.0 * 4.0 + 48.0 * 2.0,
            sums: 64.0 * 4.0 + 48.0 * 2.0,
            permutations: 16.0,
            ..NONE
        },
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_256 => return None,
        // FIPS 202 section 3.2 on pairs of words: a round has 136 functions of three words and 58 shifts, as compiled:
        // theta 20 for the parities and 50, chi 50 and iota 2, and 14 around the turns of the loop.
        _ => Mix { bytes, logic: 24.0 * 136.0 + bytes / 4.0, shifts: 24.0 * 58.0, ..NONE },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates of an H200.
    const H200: Rates =
        Rates { local: 31.9, logic: 62.5, product: 62.5, any: 113.0, matrix_bits: Some(0.608 * 32_768.0) };

    fn bound(algorithm: &str, kernel: &str) -> (f64, &'static str) {
        let mix = Mix::of(algorithm.parse().unwrap(), kernel).unwrap();
        let (clocks, by) = mix.clocks(&H200)[0];
        (mix.bytes / clocks, by)
    }

    #[test]
    fn tables_are_bound_by_shared_memory() {
        let (bytes, by) = bound("aes-128-ecb", "aes-ecb/banked4/x1");
        // 168 words by 31.9 in a clock.
        assert!((bytes - 16.0 * 31.9 / 168.0).abs() < 1e-9 && by == "shared memory", "{bytes} {by}");
        let (split, _) = bound("aes-128-ctr", "aes-ctr/banked4-split/x1");
        assert!(split > 1.19 * bytes, "{split}: two rounds of ten are not looked up");
    }

    #[test]
    fn sc2000_and_keccak_are_bound_by_logic() {
        for (algorithm, kernel) in
            [("sc2000-128-ecb", "sc2000-ecb/banked6/x1"), ("sha3-256", "sha3-256/message/x1")]
        {
            assert_eq!(bound(algorithm, kernel).1, "the pipe for logic", "{algorithm}");
        }
    }

    #[test]
    fn other_kernels_have_no_mix() {
        let of = |algorithm: &str, kernel| Mix::of(algorithm.parse().unwrap(), kernel);
        assert_eq!(of("aes-128-ecb", "aes-ecb/bitsliced/x32"), None);
        assert_eq!(of("aes-128-cbc", "aes-cbc/banked4/x1"), None);
        assert_eq!(of("sc2000-128-ecb", "sc2000-ecb/banked1/x1"), None);
        assert!(of("aes-128-gcm", "aes-gcm/banked4-mma/x1").unwrap().matrix_bits > 0.0);
    }
}
