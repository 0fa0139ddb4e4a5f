//! Every operation of the vocabulary on every instruction set of this CPU, against integers lane by lane.

use super::portable::Portable;
use super::*;

/// Pseudorandom numbers (G. Steele et al., SplitMix64, 2014), the same in each run.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A random lane, or one of those that overflow something.
    fn lane(&mut self) -> u128 {
        const EXTREMES: [u128; 6] =
            [0, 1, u128::MAX, 1 << 127, 1 << 63 | 1 << 64, 0x1111_1111_1111_1111_1111_1111_1111_1111];
        let random = u128::from(self.word()) << 64 | u128::from(self.word());
        let choice = usize::try_from(self.word() % 16).unwrap();
        EXTREMES.get(choice).copied().unwrap_or(random)
    }

    fn lanes(&mut self) -> Model {
        std::array::from_fn(|_| self.lane())
    }
}

/// Lanes as little-endian integers; those that a register does not have are ignored.
type Model = [u128; MAX_LANES];

fn register<I: Isa>(isa: I, model: Model) -> I::V {
    isa.lanes(&model.map(u128::to_le_bytes))
}

#[track_caller]
fn assert_lanes<V: Lanes>(register: V, expected: Model) {
    let lanes = register.to_blocks().map(u128::from_le_bytes);
    assert_eq!(lanes[..V::LANES], expected[..V::LANES], "{}", std::any::type_name::<V>());
}

/// A test over any instruction set.
trait Test {
    fn run<I: Isa>(&self, isa: I, random: &mut Random);
}

/// Runs a test on each instruction set of this CPU, within [`Isa::vectorize`], as kernels do, and outside.
fn on_every_isa(test: &impl Test) {
    struct Inside<'a, I, T>(I, &'a T);
    impl<I: Isa, T: Test> Work for Inside<'_, I, T> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            self.1.run(self.0, &mut Random(1));
        }
    }
    fn both(isa: impl Isa, test: &impl Test) {
        test.run(isa, &mut Random(2));
        isa.vectorize(Inside(isa, test));
    }
    both(Portable, test);
    #[cfg(target_arch = "x86_64")]
    {
        sse::Sse::detect().into_iter().for_each(|isa| both(isa, test));
        avx2::Avx2::detect().into_iter().for_each(|isa| both(isa, test));
        vaes256::Vaes256::detect().into_iter().for_each(|isa| both(isa, test));
        vaes512::Vaes512::detect().into_iter().for_each(|isa| both(isa, test));
    }
}

#[test]
fn memory_is_read_and_written_to_the_byte() {
    struct Memory;
    impl Test for Memory {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            const GUARD: u8 = 0xa5;
            let all = I::V::BYTES;
            // At an odd offset, so never aligned.
            let source: Vec<u8> = (0..=all).map(|_| random.word().to_le_bytes()[0]).collect();
            let source = &source[1..];
            // SAFETY: `source` has BYTES bytes.
            let whole = unsafe { isa.load(source.as_ptr()) };
            assert_eq!(whole.to_blocks().as_flattened()[..all], *source);
            for bytes in 0..=all {
                // A copy without slack: reading beyond it ends at a fence.
                let exact = source[..bytes].to_vec();
                // SAFETY: `exact` has that many bytes.
                let partial = unsafe { isa.load_partial(exact.as_ptr(), bytes) };
                let blocks = partial.to_blocks();
                assert_eq!(blocks.as_flattened()[..bytes], exact);
                assert!(blocks.as_flattened()[bytes..all].iter().all(|&byte| byte == 0));

                let mask = isa.first_bytes(bytes);
                assert_eq!(whole.and(mask).to_blocks(), blocks);

                let mut target = vec![GUARD; all + 2];
                // SAFETY: one byte is left on each side.
                unsafe { whole.store_partial(target.as_mut_ptr().add(1), bytes) };
                assert_eq!(target[1..=bytes], *exact);
                assert_eq!(target[0], GUARD);
                assert!(target[bytes + 1..].iter().all(|&byte| byte == GUARD));
            }
            let mut target = vec![GUARD; all + 2];
            // SAFETY: one byte is left on each side.
            unsafe { whole.store(target.as_mut_ptr().add(1)) };
            assert_eq!((&target[1..=all], target[0], target[all + 1]), (source, GUARD, GUARD));
        }
    }
    on_every_isa(&Memory);
}

#[test]
fn ranges_and_rows_are_read_and_written_to_the_byte() {
    struct Places;
    impl Test for Places {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            const GUARD: u8 = 0xa5;
            let all = I::V::BYTES;
            let source: Vec<u8> = (0..all).map(|_| random.word().to_le_bytes()[0]).collect();
            // SAFETY: `source` has BYTES bytes.
            let whole = unsafe { isa.load(source.as_ptr()) };
            for start in (0..=all).step_by(5) {
                for end in (start..=all).step_by(3) {
                    // Copies without slack: reading beyond them ends at a fence.
                    let mut exact = source[start..end].to_vec();
                    let from = exact.as_ptr().wrapping_sub(start);
                    // SAFETY: the range is that of `exact`.
                    let blocks = unsafe { isa.load_stretch(from, Stretch::new(start..end)) }.to_blocks();
                    let expected = |i: usize| if (start..end).contains(&i) { source[i] } else { 0 };
                    assert!((0..all).all(|i| blocks.as_flattened()[i] == expected(i)), "{start}..{end}");
                    exact.fill(GUARD);
                    // SAFETY: as above.
                    unsafe {
                        whole.store_stretch(exact.as_mut_ptr().wrapping_sub(start), Stretch::new(start..end));
                    };
                    assert_eq!(exact, source[start..end]);
                }
            }
            let rows: Vec<u8> = source.iter().copied().take(12 * I::V::LANES).collect();
            // SAFETY: so many rows are there.
            let lanes = unsafe { isa.rows_of_12(rows.as_ptr()) };
            for (row, lane) in rows.chunks(12).zip(lanes.to_blocks()) {
                assert_eq!((row, [0; 4]), (&lane[..12], lane[12..].try_into().unwrap()));
            }
            let mut target = vec![GUARD; rows.len() + 2];
            // SAFETY: one byte is left on each side.
            unsafe { lanes.xor(isa.splat_word(7 << 100)).store_rows_of_12(target.as_mut_ptr().add(1)) };
            assert_eq!((&target[1..=rows.len()], target[0]), (&rows[..], GUARD));
            assert_eq!(target[rows.len() + 1], GUARD);
        }
    }
    on_every_isa(&Places);
}

#[test]
fn lanes_are_spread_and_told_from_zero() {
    struct Spread;
    impl Test for Spread {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            for _ in 0..40 {
                let model = random.lanes();
                let each = register(isa, model).spread();
                for (register, lane) in each.into_iter().zip(model).take(I::V::LANES) {
                    assert_lanes(register, [lane; MAX_LANES]);
                }
                let is_zero = model[..I::V::LANES].iter().all(|&lane| lane == 0);
                assert_eq!(register(isa, model).is_zero(), is_zero);
            }
            assert!(isa.zero().is_zero());
            for lane in 0..I::V::LANES {
                for bit in [0, 63, 64, 127] {
                    let mut model = [0; MAX_LANES];
                    model[lane] = 1 << bit;
                    assert!(!register(isa, model).is_zero(), "bit {bit} of lane {lane}");
                }
            }
        }
    }
    on_every_isa(&Spread);
}

#[test]
fn lanes_are_gathered_whole_and_in_part() {
    struct Gathered;
    impl Test for Gathered {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            let model = random.lanes();
            let blocks = model.map(u128::to_le_bytes);
            // Lane i from the block i of an array in reverse.
            let reversed: [[u8; BLOCK]; MAX_LANES] = std::array::from_fn(|i| blocks[MAX_LANES - 1 - i]);
            let from: [*const u8; MAX_LANES] = std::array::from_fn(|i| reversed[MAX_LANES - 1 - i].as_ptr());
            // SAFETY: each pointer is to a block.
            let gathered = unsafe { isa.gather(&from) };
            assert_lanes(gathered, model);

            for bytes in 0..=BLOCK - MAX_LANES {
                // Lane i has i bytes more than the first.
                let kept = |i: usize| model[i] & !(u128::MAX << (8 * (bytes + i)));
                let parts = std::array::from_fn(|i| &blocks[i][..bytes + i]);
                assert_lanes(isa.gather_partial(&parts), std::array::from_fn(kept));
                // SAFETY: so many bytes are there.
                let splat = unsafe { isa.splat_partial(blocks[0].as_ptr(), bytes) };
                assert_lanes(splat, [kept(0); MAX_LANES]);
            }
        }
    }
    on_every_isa(&Gathered);
}

const LOW: u128 = u64::MAX as u128;

/// The sum of each 32-bit word, without the carry.
fn add32(a: u128, b: u128) -> u128 {
    (0..128).step_by(32).fold(0, |sum, word| {
        let mask = u128::from(u32::MAX);
        let words = ((a >> word) & mask) + ((b >> word) & mask);
        sum | (words & mask) << word
    })
}

#[test]
fn lanes_are_combined_and_rearranged() {
    struct Combined;
    impl Test for Combined {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            for _ in 0..200 {
                let (a, b, c) = (random.lanes(), random.lanes(), random.lanes());
                let (x, y, z) = (register(isa, a), register(isa, b), register(isa, c));
                let model = |of: &dyn Fn(usize) -> u128| -> Model { std::array::from_fn(of) };
                assert_lanes(x.isa().zero(), [0; MAX_LANES]);
                assert_lanes(isa.splat(&a[0].to_le_bytes()), [a[0]; MAX_LANES]);
                assert_lanes(x.xor(y), model(&|i| a[i] ^ b[i]));
                assert_lanes(x.xor3(y, z), model(&|i| a[i] ^ b[i] ^ c[i]));
                assert_lanes(x.and(y), model(&|i| a[i] & b[i]));
                assert_lanes(x.reverse_bytes(), model(&|i| a[i].swap_bytes()));
                assert_lanes(x.add32(y), model(&|i| add32(a[i], b[i])));
                assert_lanes(x.shift_in(y), model(&|i| if i == 0 { b[I::V::LANES - 1] } else { a[i - 1] }));
                assert_lanes(x.shift_bytes::<4>(), model(&|i| a[i] << 32));
                assert_lanes(x.shift_bytes::<8>(), model(&|i| a[i] << 64));
                assert_lanes(x.swap_halves(), model(&|i| a[i].rotate_left(64)));
                assert_lanes(x.low_low(y), model(&|i| a[i] & LOW | b[i] << 64));
                assert_lanes(x.high_low(y), model(&|i| a[i] >> 64 | b[i] << 64));
                let sum = a[..I::V::LANES].iter().fold(0, |sum, lane| sum ^ lane);
                assert_eq!(x.fold(), sum.to_le_bytes());

                let pattern = c.map(|lane| lane & 0x0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f);
                let permuted = |i: usize| {
                    let (bytes, pattern) = (a[i].to_le_bytes(), pattern[i].to_le_bytes());
                    u128::from_le_bytes(pattern.map(|from| bytes[usize::from(from)]))
                };
                assert_lanes(x.permute_bytes(register(isa, pattern)), model(&permuted));
            }
        }
    }
    on_every_isa(&Combined);
}

#[test]
fn registers_are_folded_each() {
    struct Folded;
    impl Test for Folded {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            let models: [Model; MAX_LANES] = std::array::from_fn(|_| random.lanes());
            let registers = models.map(|model| register(isa, model));
            let expected = models.map(|model| model[..I::V::LANES].iter().fold(0, |sum, lane| sum ^ lane));
            assert_lanes(I::V::fold_each(&registers), expected);
        }
    }
    on_every_isa(&Folded);
}

#[test]
fn lanes_and_registers_change_places() {
    struct Transposed;
    impl Test for Transposed {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            let models: [Model; MAX_LANES] = std::array::from_fn(|_| random.lanes());
            let result = I::V::transpose(&models.map(|model| register(isa, model)));
            for (i, register) in result[..I::V::LANES].iter().enumerate() {
                assert_lanes(*register, models.map(|model| model[i]));
            }
        }
    }
    on_every_isa(&Transposed);
}

/// The carry-less product, bit by bit.
fn clmul(a: u128, b: u128) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ (a & LOW) << bit)
}

/// Multiplication by x in the field of XTS (IEEE 1619 section 5.2).
fn times_x(a: u128) -> u128 {
    (a << 1) ^ ((a >> 127) * 0x87)
}

#[test]
fn lanes_are_multiplied_without_carries() {
    struct Multiplied;
    impl Test for Multiplied {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            for _ in 0..500 {
                let (a, b) = (random.lanes(), random.lanes());
                let (x, y) = (register(isa, a), register(isa, b));
                let model = |of: &dyn Fn(usize) -> u128| -> Model { std::array::from_fn(of) };
                assert_lanes(x.clmul_low(y), model(&|i| clmul(a[i], b[i])));
                assert_lanes(x.clmul_high(y), model(&|i| clmul(a[i] >> 64, b[i] >> 64)));
                assert_lanes(x.clmul_low_high(y), model(&|i| clmul(a[i], b[i] >> 64)));
                let times = |lane: u128, bits: u32| (0..bits).fold(lane, |lane, _| times_x(lane));
                let once = x.times_x(x.carries());
                assert_lanes(once, a.map(times_x));
                assert_lanes(once.times_x(x.carries().add32(x.carries())), model(&|i| times(a[i], 2)));
                assert_lanes(x.times_x8::<1>(), model(&|i| times(a[i], 8)));
                assert_lanes(x.times_x8::<2>(), model(&|i| times(a[i], 16)));
                assert_lanes(x.times_x8::<3>(), model(&|i| times(a[i], 24)));
                assert_lanes(x.times_x8::<4>(), model(&|i| times(a[i], 32)));
                assert_lanes(x.times_x8::<5>(), model(&|i| times(a[i], 40)));
                assert_lanes(x.times_x8::<6>(), model(&|i| times(a[i], 48)));
                assert_lanes(x.times_x8::<7>(), model(&|i| times(a[i], 56)));
                assert_lanes(x.times_x8::<8>(), model(&|i| times(a[i], 64)));
            }
        }
    }
    on_every_isa(&Multiplied);
}

/// Multiplication by x modulo the reflected polynomial of GHASH, x^128 + x^127 + x^126 + x^121 + 1.
fn times_x_reflected(a: u128) -> u128 {
    (a << 1) ^ ((a >> 127) * (1 << 127 | 1 << 126 | 1 << 121 | 1))
}

#[test]
fn lanes_are_multiplied_by_x_in_the_field_of_ghash() {
    struct Multiplied;
    impl Test for Multiplied {
        #[inline(always)]
        fn run<I: Isa>(&self, isa: I, random: &mut Random) {
            for _ in 0..100 {
                let a = random.lanes();
                assert_lanes(register(isa, a).times_x_reflected(), a.map(times_x_reflected));
            }
        }
    }
    on_every_isa(&Multiplied);
}
