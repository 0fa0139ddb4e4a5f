//! What GPUs' kernels consist of, and what their units' instructions allow them.
//!
//! A mix counts what a lane does for one block of a cipher, or one application of a hash's compression or permutation,
//! in the kernels that NVIDIA GPUs take by default. Several bounds hold at once: shared memory serves so many words,
//! and texts pass the same pipe; logic, shifts, permutations and sums of three share one pipe; products have another;
//! and a unit starts so many instructions of any kind, for which the rate of the fastest one stands, a product and sum
//! of numbers of 32 bits. Where one block waits for another, the steps from one to the next bound as well. Memory
//! beyond the unit is left out.

mod ciphers;
mod gcm;

use cipherlane::{Algorithm, Hash, Mode, Shape};
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
    /// Sums of three words of 64 bits, two instructions each.
    pub(crate) long_sums: f64,
    pub(crate) products: f64,
    /// Products of 64 bits.
    pub(crate) wide: f64,
    /// Products of bits by the tensor cores, as the probe counts them.
    pub(crate) matrix_bits: f64,
    /// What the next block waits for, if it waits for this one.
    pub(crate) chain: Option<Chain>,
}

/// Steps of which each waits for the one before, from a block of a message to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chain {
    /// Words from shared memory, or from another lane, which come the same way.
    pub(crate) look_ups: f64,
    pub(crate) logic: f64,
    pub(crate) permutations: f64,
    /// Threads that a message has.
    pub(crate) threads: usize,
}

impl Chain {
    /// Clocks of a block.
    pub(crate) fn clocks(&self, waits: &Waits) -> f64 {
        self.look_ups * waits.local + self.logic * waits.logic + self.permutations * waits.permutation
    }
}

/// Clocks from an operation to its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Waits {
    pub(crate) local: f64,
    pub(crate) logic: f64,
    pub(crate) permutation: f64,
}

impl Waits {
    /// The probes that they come from, in this order.
    pub(crate) const PROBES: [Steps; 3] = [Steps::LocalFree, Steps::Lop3, Steps::Prmt];
}

const NONE: Mix = Mix {
    bytes: 16.0,
    look_ups: 0.0,
    logic: 0.0,
    permutations: 0.0,
    shifts: 0.0,
    sums: 0.0,
    long_sums: 0.0,
    products: 0.0,
    wide: 0.0,
    matrix_bits: 0.0,
    chain: None,
};

/// Operations per clock and unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) local: f64,
    pub(crate) logic: f64,
    pub(crate) long_sum: f64,
    pub(crate) product: f64,
    pub(crate) wide: f64,
    /// Of the fastest instruction.
    pub(crate) any: f64,
    /// None where there are no tensor cores.
    pub(crate) matrix_bits: Option<f64>,
    /// Products of bits with a look-up beside each instruction of them; none where there are no tensor cores.
    pub(crate) matrix_bits_local: Option<f64>,
}

impl Rates {
    /// The probes that they come from.
    pub(crate) const PROBES: [Steps; 8] = [
        Steps::LocalFree,
        Steps::Lop3,
        Steps::AddLong,
        Steps::Mad,
        Steps::Wide,
        Steps::F32Fma,
        Steps::MatrixBits,
        Steps::MatrixBitsLocal,
    ];

    /// What part of the shorter of both times tensor cores and shared memory take on top of the longer, if they have
    /// work at once: nothing if neither hinders the other, all of it if they take turns.
    fn in_turns(&self) -> Option<f64> {
        let words = Steps::MatrixBits.operations() as f64;
        let (products, look_up) = (words / self.matrix_bits?, 1.0 / self.local);
        let both = words / self.matrix_bits_local?;
        Some(((both - products.max(look_up)) / products.min(look_up)).clamp(0.0, 1.0))
    }
}

/// Clocks of a unit for one mix, and the resource that takes them.
pub(crate) type Clocks = (f64, &'static str);

impl Mix {
    /// The mix of the kernel `kernel` on messages of `shape`, or `None` where there is no model.
    pub(crate) fn of(shape: &Shape, kernel: &str) -> Option<Self> {
        match shape.algorithm {
            Algorithm::Cipher(cipher, Mode::Gcm) => gcm::block(cipher, shape, kernel),
            Algorithm::Cipher(cipher, mode) => ciphers::block(cipher, mode, shape, kernel),
            Algorithm::Hash(hash) => Some(hashing(hash, shape.longest)),
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
            long_sums: sum(|mix| mix.long_sums),
            products: sum(|mix| mix.products),
            wide: sum(|mix| mix.wide),
            matrix_bits: sum(|mix| mix.matrix_bits),
            chain: self.chain.or(other.chain),
        }
    }

    /// So many times as much, of the same bytes.
    fn times(self, count: f64) -> Self {
        Self {
            look_ups: count * self.look_ups,
            logic: count * self.logic,
            permutations: count * self.permutations,
            shifts: count * self.shifts,
            sums: count * self.sums,
            long_sums: count * self.long_sums,
            products: count * self.products,
            wide: count * self.wide,
            matrix_bits: count * self.matrix_bits,
            ..self
        }
    }

    /// Words of text that are read and written.
    const fn moved(&self) -> f64 {
        2.0 * self.bytes / 4.0
    }

    /// Instructions of the pipe for logic, but for the sums of 64 bits.
    const fn alu(&self) -> f64 {
        self.logic + self.permutations + self.shifts + self.sums
    }

    /// What a unit takes at the least, by each resource; the one that takes longest first.
    pub(crate) fn clocks(&self, rates: &Rates) -> Vec<Clocks> {
        // Four words are moved by one instruction.
        let all = self.look_ups
            + self.alu()
            + 2.0 * self.long_sums
            + self.products
            + self.wide
            + self.moved() / 4.0;
        let shared = (self.look_ups + self.moved()) / rates.local;
        let mut clocks = vec![
            (shared, "shared memory"),
            (self.alu() / rates.logic + self.long_sums / rates.long_sum, "the pipe for logic"),
            (self.products / rates.product + self.wide / rates.wide, "the pipe for products"),
            (all / rates.any, "instructions of any kind"),
        ];
        if let Some(rate) = rates.matrix_bits {
            let tensor = self.matrix_bits / rate;
            clocks.push((tensor, "tensor cores"));
            if let Some(turns) = rates.in_turns().filter(|turns| *turns * shared.min(tensor) > 0.0) {
                let both = shared.max(tensor) + turns * shared.min(tensor);
                clocks.push((both, "shared memory and tensor cores, which hinder each other"));
            }
        }
        clocks.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        clocks
    }
}

/// Text that one application of a hash takes in on average: the last of a message is padding in part, or as a whole.
fn taken_in(hash: Hash, message_bytes: u64) -> f64 {
    // A bit and the length (FIPS 180-4 section 5.1); a byte at least (FIPS 202 section 5.1 and B.2).
    let padding = match hash {
        Hash::Sha224 | Hash::Sha256 => 1 + 8,
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_256 => 1 + 16,
        _ => 1,
    };
    let applications = (message_bytes + padding).div_ceil(hash.block_bytes() as u64);
    message_bytes as f64 / applications as f64
}

/// A hash function: one application of its compression or permutation, a message for each lane.
fn hashing(hash: Hash, message_bytes: u64) -> Mix {
    let bytes = taken_in(hash, message_bytes);
    match hash {
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
        // The same on pairs of words: a rotation is two instructions, and so is a sum of three, whose carries cost more.
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_256 => Mix {
            bytes,
            shifts: 80.0 * 12.0 + 64.0 * 12.0,
            logic: 80.0 * 8.0 + 64.0 * 4.0,
            long_sums: 80.0 * 4.0 + 64.0 * 2.0,
            permutations: 32.0,
            ..NONE
        },
        // FIPS 202 section 3.2 on pairs of words: a round has 136 functions of three words and 58 shifts, as compiled:
        // theta 20 for the parities and 50, chi 50 and iota 2, and 14 around the turns of the loop.
        _ => Mix { bytes, logic: 24.0 * 136.0 + bytes / 4.0, shifts: 24.0 * 58.0, ..NONE },
    }
}

#[cfg(test)]
mod tests {
    use cipherlane::Operation;

    use super::*;

    /// Rates of an H200; tensor cores and shared memory take turns.
    const H200: Rates = Rates {
        local: 31.9,
        logic: 62.5,
        long_sum: 31.0,
        product: 62.5,
        wide: 24.8,
        any: 113.0,
        matrix_bits: Some(0.608 * 32_768.0),
        matrix_bits_local: Some(32_768.0 / (1.0 / 0.608 + 32.0 / 31.9)),
    };

    /// Messages of 16 KiB under one key.
    fn shape(algorithm: &str, operation: Operation) -> Shape {
        Shape::uniform(algorithm.parse().unwrap(), operation, 4096, 16_384, true)
    }

    fn of(algorithm: &str, operation: Operation, kernel: &str) -> Option<Mix> {
        Mix::of(&shape(algorithm, operation), kernel)
    }

    fn bound(algorithm: &str, kernel: &str) -> (f64, &'static str) {
        let operation = algorithm.parse::<Algorithm>().unwrap().forward();
        let mix = of(algorithm, operation, kernel).unwrap();
        let (clocks, by) = mix.clocks(&H200)[0];
        (mix.bytes / clocks, by)
    }

    #[test]
    fn tables_are_bound_by_shared_memory() {
        let (bytes, by) = bound("aes-128-xts", "aes-xts/banked4/x2");
        // 168 words by 31.9 in a clock; the tweaks take other pipes.
        assert!((bytes - 16.0 * 31.9 / 168.0).abs() < 1e-9 && by == "shared memory", "{bytes} {by}");
        let (pairs, by) = bound("aes-128-ecb", "aes-ecb/banked4/x4");
        // Half of the blocks look nothing up in one round of ten.
        assert!((pairs - 16.0 * 31.9 / 160.0).abs() < 1e-9 && by == "shared memory", "{pairs} {by}");
        let (split, _) = bound("aes-128-ctr", "aes-ctr/banked4-split/x1");
        assert!(split > 1.19 * pairs, "{split}: two rounds of ten are not looked up");
        let (rows, by) = bound("aes-128-ctr", "aes-ctr/banked4-counted/x1");
        // Eight rounds of ten, of which half of the blocks leave one out; a lowest byte in four blocks, an entry, the text.
        let words = 8.0 * 16.0 - 8.0 + 5.0 / 4.0 + 4.0 + 8.0;
        assert!((rows - 16.0 * 31.9 / words).abs() < 1e-9 && by == "shared memory", "{rows} {by}");
    }

    #[test]
    fn others_are_bound_by_logic() {
        for (algorithm, kernel) in [
            ("sc2000-128-ecb", "sc2000-ecb/banked6/x1"),
            ("sha3-256", "sha3-256/message/x1"),
            ("sha-512", "sha-512/message/x1"),
        ] {
            assert_eq!(bound(algorithm, kernel).1, "the pipe for logic", "{algorithm}");
        }
    }

    #[test]
    fn tensor_cores_and_look_ups_hinder_each_other_as_far_as_probes_say() {
        assert!((H200.in_turns().unwrap() - 1.0).abs() < 1e-9);
        let apart = Rates { matrix_bits_local: H200.matrix_bits, ..H200 };
        assert!(apart.in_turns().unwrap().abs() < 1e-9);
        let mix = of("aes-128-gcm", Operation::Seal, "aes-gcm/banked4-mma/x2").unwrap();
        let [turns, not] = [&H200, &apart].map(|rates| mix.clocks(rates)[0]);
        assert!(
            turns.0 > not.0 && turns.1.contains("hinder") && not.1 == "shared memory",
            "{turns:?} {not:?}"
        );
    }

    #[test]
    fn hashes_pad_their_messages() {
        assert!((taken_in(Hash::Sha512, 1024) - 1024.0 / 9.0).abs() < 1e-9);
        assert!((taken_in(Hash::Sha256, 55) - 55.0).abs() < 1e-9, "one block with its padding");
        assert!((taken_in(Hash::Sha256, 56) - 28.0).abs() < 1e-9);
        assert!((taken_in(Hash::Sha3_256, 1024) - 128.0).abs() < 1e-9);
    }

    #[test]
    fn chains_are_those_of_cbc_encryption() {
        let (forward, back) = (Operation::Encrypt, Operation::Decrypt);
        let chain = |kernel| of("aes-128-cbc", forward, kernel).unwrap().chain.unwrap();
        let (quad, one) = (chain("aes-cbc/banked4-quad/x1"), chain("aes-cbc/banked4/x1"));
        let waits = Waits { local: 30.0, logic: 5.0, permutation: 5.0 };
        // Ten look-ups, and as many words from another lane.
        assert!((quad.clocks(&waits) - one.clocks(&waits) - 300.0).abs() < 1e-9);
        assert_eq!((quad.threads, one.threads), (4, 1));
        assert_eq!(of("aes-128-cbc", back, "aes-cbc/banked4/x2").unwrap().chain, None);
        assert_eq!(of("aes-128-ecb", forward, "aes-ecb/banked4/x4").unwrap().chain, None);
    }

    #[test]
    fn other_kernels_have_no_mix() {
        let of = |algorithm: &str, kernel| of(algorithm, Operation::Encrypt, kernel);
        assert_eq!(of("aes-128-ecb", "aes-ecb/bitsliced/x32"), None);
        assert_eq!(of("sc2000-128-ecb", "sc2000-ecb/banked1/x1"), None);
        assert_eq!(of("aes-128-gcm", "aes-gcm/bitsliced/x8"), None);
    }
}
