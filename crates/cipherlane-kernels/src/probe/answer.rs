//! What probes must give: the same steps in Rust.

use super::seeds::{constant_link, row, shared_link};
use super::{LANES, ROW, Steps};

/// The word of each lane after `pairs` repetitions in each of `chains` chains.
pub(super) fn of(steps: Steps, chains: usize, pairs: u32) -> Vec<u32> {
    let rows: Vec<[u32; ROW]> = (0..LANES).map(|lane| row(steps, lane)).collect();
    let mixed = |lane: usize| {
        let words = if steps.is_of_matrices() {
            matrices(steps, &rows, lane, chains, pairs)
        } else {
            (0..chains).flat_map(|chain| registers(steps, &rows[lane], chain, chains, pairs)).collect()
        };
        words.into_iter().fold(0_u32, |mixed, word| mixed.rotate_left(5) ^ word)
    };
    (0..LANES).map(mixed).collect()
}

/// A type of a chain's registers.
trait Register: Copy {
    /// From the words that the kernel loads.
    fn load(words: &[u32], place: usize) -> Self;
    /// The bits that it stores.
    fn bits(self) -> u64;
}

impl Register for u32 {
    fn load(words: &[u32], place: usize) -> Self {
        words[2 * place]
    }

    fn bits(self) -> u64 {
        self.into()
    }
}

impl Register for u64 {
    fn load(words: &[u32], place: usize) -> Self {
        Self::from(words[2 * place + 1]) << 32 | Self::from(words[2 * place])
    }

    fn bits(self) -> u64 {
        self
    }
}

impl Register for f32 {
    fn load(words: &[u32], place: usize) -> Self {
        Self::from_bits(u32::load(words, place))
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Register for f64 {
    fn load(words: &[u32], place: usize) -> Self {
        Self::from_bits(u64::load(words, place))
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// The words that a chain's two registers are mixed in as, after `pairs` repetitions of `pair`.
fn run<T: Register>(words: &[u32], pairs: u32, pair: impl Fn(T, T) -> (T, T)) -> [u32; 4] {
    let (mut a, mut b) = (T::load(words, 0), T::load(words, 1));
    for _ in 0..pairs {
        (a, b) = pair(a, b);
    }
    let [x, y] = [a.bits(), b.bits()];
    [x as u32, (x >> 32) as u32, y as u32, (y >> 32) as u32]
}

fn registers(steps: Steps, row: &[u32; ROW], chain: usize, chains: usize, pairs: u32) -> [u32; 4] {
    let (k, m) = (row[0], row[1]);
    let (kf, mf) = (f32::from_bits(k), f32::from_bits(m));
    let words = |chain: usize| &row[4 + 4 * chain..][..4];
    let own = words(chain);
    if steps.is_of_operands() {
        let other = |way: usize| f32::load(words((chain + way) % chains), 1);
        return operands(steps, own, pairs, [kf, mf], other);
    }
    match steps {
        Steps::F32Add => run(own, pairs, |a: f32, b| (a + b, b - (a + b))),
        Steps::F32Mul => run(own, pairs, |a: f32, b| (a * kf * mf, b)),
        Steps::F32Fma => run(own, pairs, |a: f32, b| (a.mul_add(kf, b).mul_add(mf, b), b)),
        Steps::F32Cast => {
            let step = |a: f32, b: f32, by: f32| f64::from(a).mul_add(by.into(), b.into()) as f32;
            run(own, pairs, |a: f32, b| (step(step(a, b, kf), b, mf), b))
        }
        Steps::F64Add => run(own, pairs, |a: f64, b| (a + b, b - (a + b))),
        Steps::F64Mul => run(own, pairs, |a: f64, b| (a * f64::from(kf) * f64::from(mf), b)),
        Steps::F64Fma => run(own, pairs, |a: f64, b| (a.mul_add(kf.into(), b).mul_add(mf.into(), b), b)),
        Steps::AddLong => run(own, pairs, |a: u64, b: u64| {
            let a = a.wrapping_add(b).wrapping_add(k.into());
            (a, b.wrapping_add(a).wrapping_add(m.into()))
        }),
        Steps::Long => run(own, pairs, |a: u64, b: u64| {
            let a = a.wrapping_mul(b).wrapping_add(k.into());
            (a, b.wrapping_mul(a).wrapping_add(m.into()))
        }),
        Steps::Wide => run(own, pairs, |a: u64, b| {
            let low = u64::from(u32::MAX);
            let a = a.wrapping_add((a & low) * (b & low));
            (a, b.wrapping_add((b & low) * (a & low)))
        }),
        _ => run(own, pairs, |a, b| integers(steps, [a, b], [k, m])),
    }
}

/// A repetition on words of 32 bits.
fn integers(steps: Steps, [a, b]: [u32; 2], [k, m]: [u32; 2]) -> (u32, u32) {
    // Both steps are one function of the own register, the other and a shared word, or the second is told apart.
    let both = |step: fn(u32, u32, u32) -> u32| {
        let a = step(a, b, k);
        (a, step(b, a, m))
    };
    match steps {
        Steps::Add => (a.wrapping_add(b), b.wrapping_sub(a.wrapping_add(b))),
        Steps::Add3 => both(|x, y, z| x.wrapping_add(y).wrapping_add(z)),
        Steps::Mul => both(|x, y, _| x.wrapping_mul(y)),
        Steps::Mad => both(|x, y, z| x.wrapping_mul(y).wrapping_add(z)),
        Steps::Xor => both(|x, y, _| x ^ y),
        Steps::AndOr => (a & b, b | (a & b)),
        // The table 0x1e: bit 4x + 2y + z of it.
        Steps::Lop3 => both(|x, y, z| x ^ (y | z)),
        Steps::Shift => (a << k >> m, b),
        Steps::Funnel => both(|low, high, n| ((u64::from(high) << 32 | u64::from(low)) >> n) as u32),
        Steps::Prmt => both(permute),
        Steps::LocalFree | Steps::LocalOneBank => (shared_link(shared_link(a)), b),
        Steps::ConstantSame | Steps::ConstantApart => (constant_link(constant_link(a)), b),
        _ => unreachable!("{steps:?} is not of words"),
    }
}

/// Byte `i` of the result is the byte of `high:low` that nibble `i` of `selector` names.
fn permute(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    u32::from_le_bytes([0, 4, 8, 12].map(|at| bytes[(selector >> at & 7) as usize]))
}

/// `other(n)` is the second register of the chain `n` places on.
fn operands(
    steps: Steps,
    own: &[u32],
    pairs: u32,
    [kf, mf]: [f32; 2],
    other: impl Fn(usize) -> f32,
) -> [u32; 4] {
    let [y, z] = match steps {
        Steps::OperandsEven => [[0, 2], [4, 6]],
        _ => [[1, 4], [2, 5]],
    }
    .map(|ways| ways.map(&other));
    run(own, pairs, |a: f32, b| {
        let step = |a: f32, [y, z]: [f32; 2]| match steps {
            Steps::OperandsOne => a.mul_add(a, a),
            Steps::OperandsTwo => a.mul_add(a, b),
            Steps::OperandsShared => a.mul_add(kf, mf),
            _ => a.mul_add(y, z),
        };
        (step(step(a, y), z), b)
    })
}

/// Words of a lane's left factor, and of its right one.
const LEFT: usize = 4;
const RIGHT: usize = 2;

/// The sums of a lane. How rows and columns lie over the lanes is said in the PTX ISA, "Matrix Fragments for
/// mma.m16n8k256" and "for mma.m16n8k32": four lanes hold a row of the left factor, word 0 and 2 of it, and its eighth
/// next in words 1 and 3; four lanes hold a column of the right one.
fn matrices(steps: Steps, rows: &[[u32; ROW]], lane: usize, chains: usize, pairs: u32) -> Vec<u32> {
    let left = |lane: usize, word: usize| rows[lane][4 + word];
    let right = |lane: usize, word: usize| rows[lane][4 + LEFT + word];
    let products = if steps == Steps::MatrixBytes { bytes } else { bits };
    let (row, column) = (lane / 4, lane % 4 * 2);
    let sum = |place: usize| {
        let (below, column) = (place / 2, column + place % 2);
        let part = |quarter: usize| {
            let (from, to) = (4 * row + quarter, 4 * column + quarter);
            (0..RIGHT).map(|half| products(left(from, 2 * half + below), right(to, half))).sum::<u32>()
        };
        (0..4).map(part).sum::<u32>()
    };
    let sums: Vec<u32> = (0..LEFT).map(sum).collect();
    let of = |chain: usize, place: usize| {
        rows[lane][4 * chain + place].wrapping_add((2 * pairs).wrapping_mul(sums[place]))
    };
    let mut words = Vec::new();
    for chain in 0..chains {
        words.extend((0..LEFT).map(|place| of(chain, place)));
        // The look-ups beside them are a chain of their own.
        words.extend(
            steps.is_local().then(|| (0..2 * pairs).fold(rows[lane][4 + 4 * chain], |at, _| shared_link(at))),
        );
    }
    words
}

/// Bits that both words have.
const fn bits(x: u32, y: u32) -> u32 {
    (x & y).count_ones()
}

/// Products of bytes, summed.
fn bytes(x: u32, y: u32) -> u32 {
    x.to_le_bytes().into_iter().zip(y.to_le_bytes()).map(|(x, y)| u32::from(x) * u32::from(y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_picked_by_nibbles() {
        assert_eq!(permute(0x3322_1100, 0x7766_5544, 0x7410), 0x7744_1100);
    }

    /// xor three times exchanges the registers.
    #[test]
    fn repetitions_are_those_of_the_study() {
        let (a, b) = integers(Steps::Xor, [0x0f, 0x33], [0, 0]);
        let (a, b) = integers(Steps::Xor, [a, b], [0, 0]);
        assert_eq!(integers(Steps::Xor, [a, b], [0, 0]), (0x0f, 0x33));
        assert_eq!(integers(Steps::Add, [5, 7], [0, 0]), (12, 7_u32.wrapping_sub(12)));
    }

    #[test]
    fn products_of_bytes_and_bits() {
        assert_eq!((bits(0xff, 0x0f), bytes(0x0201, 0x0403)), (4, 2 * 4 + 3));
    }

    #[test]
    fn numbers_stay_finite() {
        for steps in Steps::ALL.into_iter().filter(|steps| format!("{steps:?}").starts_with("Operands")) {
            let row = row(steps, 3);
            let [bits, ..] = registers(steps, &row, 2, 8, 100_000);
            assert!(f32::from_bits(bits).abs() < 4.0, "{steps:?}: {}", f32::from_bits(bits));
        }
        for steps in [Steps::F32Add, Steps::F32Mul, Steps::F32Fma, Steps::F32Cast] {
            let [bits, ..] = registers(steps, &row(steps, 3), 2, 4, 1_000_000);
            let number = f32::from_bits(bits);
            assert!((1e-6..1e6).contains(&number.abs()), "{steps:?}: {number}");
        }
    }
}
