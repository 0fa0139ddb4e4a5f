//! What chains start from: arbitrary words, made such that the operation goes on for ever.

use super::{LANES, MOST_CHAINS, ROW, Steps};

/// Rows of the table in shared memory, of a word for each of 32 banks; prime, so that no turn ends where it began.
pub(super) const SHARED_ROWS: u32 = 61;
/// Words of the table in constant memory that chains come to; prime.
const CONSTANT_WORDS: usize = 251;

/// The row of `lane`.
pub(super) fn row(steps: Steps, lane: usize) -> [u32; ROW] {
    let mut row = [0; ROW];
    (row[0], row[1]) = shared(steps);
    for chain in 0..MOST_CHAINS as usize {
        let words = &mut row[4 + 4 * chain..][..4];
        for (place, word) in words.iter_mut().enumerate() {
            *word = arbitrary((ROW * lane + 4 * chain + place) as u64);
        }
        fit(steps, lane, chain, words);
    }
    row
}

/// A word from its number: one step of SplitMix64 (Steele, Lea and Flood 2014).
const fn arbitrary(number: u64) -> u32 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// The two words that all chains share; none of them is zero, as conditional steps ask for.
const fn shared(steps: Steps) -> (u32, u32) {
    match steps {
        Steps::Shift => (1, 1),
        Steps::Funnel => (7, 13),
        // Bytes out of both words, in any order.
        Steps::Prmt => (0x2704, 0x5163),
        // 1 + 2^-16 and 1 - 15 * 2^-20: their product is about 1 + 2^-20, with which millions of turns stay finite.
        Steps::F32Mul | Steps::F64Mul => (0x3f80_0080, 0x3f7f_ff10),
        Steps::F32Fma | Steps::F32Cast | Steps::F64Fma => (0.5_f32.to_bits(), 0.25_f32.to_bits()),
        Steps::OperandsShared => (0.5_f32.to_bits(), 1.0_f32.to_bits()),
        _ => (0x5bd1_e995, 0x2545_f491),
    }
}

/// Makes of four arbitrary words the two registers that the operation wants.
fn fit(steps: Steps, lane: usize, chain: usize, words: &mut [u32]) {
    match steps {
        // Products of odd numbers stay odd.
        Steps::Mul => words.iter_mut().for_each(|word| *word |= 1),
        // From 1 to 2.
        Steps::F32Add | Steps::F32Mul | Steps::F32Fma | Steps::F32Cast | Steps::OperandsShared => {
            words.iter_mut().for_each(|word| *word = *word >> 9 | 0x3f80_0000);
        }
        Steps::F64Add | Steps::F64Mul | Steps::F64Fma => {
            for high in [1, 3] {
                words[high] = words[high] >> 12 | 0x3ff0_0000;
            }
        }
        // From -1/4 to -1/2, which x x + x leaves negative and brings nearer to zero.
        Steps::OperandsOne => words.iter_mut().for_each(|word| *word = *word >> 9 | 0xbe80_0000),
        // From 1/4 to 1/2, and a second from -1/4 to -1/8.
        Steps::OperandsTwo => {
            words[0] = words[0] >> 9 | 0x3e80_0000;
            words[2] = words[2] >> 9 | 0xbe00_0000;
        }
        // From 1/4 to 1/2: x y + z stays below 1.
        Steps::OperandsEven | Steps::OperandsOdd => {
            words.iter_mut().for_each(|word| *word = *word >> 9 | 0x3e80_0000);
        }
        // Places in bytes.
        Steps::LocalFree | Steps::MatrixBitsLocal => {
            words[0] = (words[0] % SHARED_ROWS * LANES as u32 + lane as u32) * 4;
        }
        Steps::LocalOneBank => words[0] = ((lane * LANES + chain) * 4) as u32,
        Steps::ConstantSame => words[0] = (17 * chain % CONSTANT_WORDS * 4) as u32,
        Steps::ConstantApart => words[0] = ((8 * lane + 37 * chain) % CONSTANT_WORDS * 4) as u32,
        _ => {}
    }
}

/// The word of the table in shared memory at `place`, in bytes.
pub(super) const fn shared_link(place: u32) -> u32 {
    let word = place / 4;
    let (row, bank) = (word / LANES as u32, word % LANES as u32);
    (row + 17) % SHARED_ROWS * 4 * LANES as u32 + bank * 4
}

/// The word of the table in constant memory at `place`, in bytes.
pub(super) const fn constant_link(place: u32) -> u32 {
    (place / 4 + 100) % CONSTANT_WORDS as u32 * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_through_the_whole_table() {
        let cycle = |next: fn(u32) -> u32, start: u32| {
            let (mut place, mut length) = (next(start), 1_u32);
            while place != start {
                (place, length) = (next(place), length + 1);
            }
            length
        };
        assert_eq!(cycle(shared_link, 4), SHARED_ROWS);
        assert_eq!(cycle(constant_link, 0), CONSTANT_WORDS as u32);
    }

    #[test]
    fn lanes_meet_in_banks_as_their_names_say() {
        let banks = |steps| {
            let mut banks: Vec<u32> = (0..LANES).map(|lane| row(steps, lane)[4] / 4 % 32).collect();
            banks.sort_unstable();
            banks.dedup();
            banks.len()
        };
        assert_eq!((banks(Steps::LocalFree), banks(Steps::LocalOneBank)), (32, 1));
        let mut places: Vec<u32> = (0..LANES).map(|lane| row(Steps::LocalOneBank, lane)[4]).collect();
        places.dedup();
        assert_eq!(places.len(), 32, "the same word is no conflict");
    }
}
