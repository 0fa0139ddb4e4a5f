//! Tweaks of XTS: E(number of the unit) times x^i for block i, in the field of IEEE 1619 section 5.2: elements are
//! little-endian polynomials modulo x^128 + x^7 + x^2 + x + 1.

use cipherlane_core::BLOCK;

use crate::lanes::{Isa, Lanes, REDUCED, times_x_of_tweak as times_x};

/// `a` times `b`, for tables.
const fn times(mut a: u128, b: u128) -> u128 {
    let (mut product, mut i) = (0, 0);
    while i < 128 {
        if (b >> i) & 1 == 1 {
            product ^= a;
        }
        a = times_x(a);
        i += 1;
    }
    product
}

/// Most blocks of a group: x to the power of one fewer still fits into a half.
pub(super) const MAX_GROUP: usize = 64;

/// x^i in both halves of block i.
static POWERS: [[u8; BLOCK]; MAX_GROUP] = {
    let mut powers = [[0; BLOCK]; MAX_GROUP];
    let mut i = 0;
    while i < MAX_GROUP {
        powers[i] = (1_u128 << i | 1_u128 << (64 + i)).to_le_bytes();
        i += 1;
    }
    powers
};

/// x^(2^i). A data unit has at most 2^20 blocks (SP 800-38E section 4).
static SQUARES: [[u8; BLOCK]; 20] = {
    let mut squares = [[0; BLOCK]; 20];
    let (mut i, mut square) = (0, 2);
    while i < squares.len() {
        squares[i] = u128::to_le_bytes(square);
        square = times(square, square);
        i += 1;
    }
    squares
};

/// `low` + `middle` times x^64, in the field. The high half of `middle` times [`REDUCED`] must fit: at most 2^121.
#[inline(always)]
fn reduce<V: Lanes>(low: V, middle: V, reduced: V) -> V {
    low.xor3(middle.shift_bytes::<8>(), middle.clmul_high(reduced))
}

#[inline(always)]
fn reduced<I: Isa>(isa: I) -> I::V {
    isa.splat(&(u128::from(REDUCED) << 64 | u128::from(REDUCED)).to_le_bytes())
}

/// The tweaks of the first N registers of blocks: lane l of register i is `first` times x^(i * LANES + l).
#[inline(always)]
pub(super) fn start<I: Isa, const N: usize>(isa: I, first: I::V) -> [I::V; N] {
    let mut tweaks = [isa.zero(); N];
    let mut start = Start::new(first, &mut tweaks);
    for i in 0..N {
        start.one(i);
    }
    tweaks
}

/// Places that become [`start`].
pub(super) struct Start<'a, V, const N: usize> {
    first: V,
    tweaks: &'a mut [V; N],
}

impl<'a, V: Lanes, const N: usize> Start<'a, V, N> {
    /// All of `tweaks`.
    #[inline(always)]
    pub(super) fn new(first: V, tweaks: &'a mut [V; N]) -> Self {
        const { assert!(N * V::LANES <= MAX_GROUP, "powers of x must fit into a half") };
        Self { first, tweaks }
    }

    /// Makes tweak `i`. Those before it have been made.
    #[inline(always)]
    pub(super) fn one(&mut self, i: usize) {
        // Some times eight blocks later is one multiplication, where powers of x that lanes differ in are three.
        let (eights, in_eight) = (i * V::LANES / EIGHT, i * V::LANES % EIGHT);
        self.tweaks[i] = if V::LANES == 1 || eights == 0 {
            times_power(self.first.isa(), self.first, i * V::LANES)
        } else {
            blocks_later(self.tweaks[in_eight / V::LANES], eights * EIGHT)
        };
    }

    /// The same, as [`pinned`] has it.
    #[inline(always)]
    pub(super) fn one_pinned(&mut self, i: usize) {
        self.one(i);
        pinned(&mut self.tweaks[i], N);
    }
}

/// Has one of `count` tweaks made no later than here, where there are registers for them and as many blocks. The compiler likes
/// to gather them behind the cipher, which then has nothing beside it.
#[inline(always)]
fn pinned<V: Lanes>(tweak: &mut V, count: usize) {
    if V::Isa::REGISTERS >= 2 * count {
        *tweak = tweak.pin();
    }
}

/// Blocks to whose tweaks [`Lanes::times_x8`] leads.
const EIGHT: usize = 8;

/// `first` times x^(`power` + l) in lane l.
#[inline(always)]
fn times_power<I: Isa>(isa: I, first: I::V, power: usize) -> I::V {
    // SAFETY: there are so many powers: callers have no larger group than [`MAX_GROUP`].
    let powers = unsafe { isa.load(POWERS[power..].as_ptr().cast()) };
    reduce(first.clmul_low(powers), first.clmul_high(powers), reduced(isa))
}

/// Stores the tweaks of the first `blocks` blocks of a unit to `to`, from `first` on, which is in every lane. Where the last
/// register has others, they are stored as well.
///
/// # Safety
/// There are [`MAX_GROUP`] of them or fewer. So many blocks are writable, and one less than there are lanes behind them.
#[inline(always)]
pub(super) unsafe fn list<I: Isa>(isa: I, first: I::V, blocks: usize, to: *mut u8) {
    debug_assert!(blocks <= MAX_GROUP);
    if I::V::LANES == 1 {
        let mut tweak = first;
        for block in 0..blocks {
            // SAFETY: the caller's promise.
            unsafe { tweak.store(to.add(block * BLOCK)) }
            tweak = tweak.times_x(tweak.carries());
        }
        return;
    }
    // Of the first eight blocks, and then of each eight that follow.
    let mut tweaks = [first; EIGHT];
    for (i, tweak) in tweaks.iter_mut().enumerate().take(EIGHT / I::V::LANES) {
        let block = i * I::V::LANES;
        if block >= blocks {
            return;
        }
        *tweak = times_power(isa, first, block);
        // SAFETY: the caller's promise; `block` is a multiple of LANES, so that a whole register is writable.
        unsafe { tweak.store(to.add(block * BLOCK)) }
    }
    for eight in (EIGHT..blocks).step_by(EIGHT) {
        for (i, tweak) in tweaks.iter_mut().enumerate().take(EIGHT / I::V::LANES) {
            let block = eight + i * I::V::LANES;
            if block >= blocks {
                return;
            }
            *tweak = tweak.times_x8::<1>();
            // SAFETY: as above.
            unsafe { tweak.store(to.add(block * BLOCK)) }
        }
    }
}

/// Tweaks of N registers that become those of the same lanes one group later.
pub(super) struct Advance<'a, V, const N: usize> {
    tweaks: &'a mut [V; N],
    carries: V,
}

impl<'a, V: Lanes, const N: usize> Advance<'a, V, N> {
    /// All of `tweaks`.
    #[inline(always)]
    pub(super) fn new(tweaks: &'a mut [V; N]) -> Self {
        Self { carries: tweaks[N - 1], tweaks }
    }

    /// Replaces tweak `i`. Those before it have been replaced.
    #[inline(always)]
    pub(super) fn one(&mut self, i: usize) {
        self.tweaks[i] = if V::LANES == 1 {
            // The next block's tweak is that of the block before it times x, which takes no multiplication. It waits for
            // no more than a sum and a difference: what is carried is known ahead.
            let before = self.tweaks[(i + N - 1) % N];
            let are_known = !i.is_multiple_of(32);
            self.carries = if are_known { self.carries.add32(self.carries) } else { before.carries() };
            before.times_x(self.carries)
        } else {
            blocks_later(self.tweaks[i], N * V::LANES)
        };
    }

    /// The same, as [`pinned`] has it.
    #[inline(always)]
    pub(super) fn one_pinned(&mut self, i: usize) {
        self.one(i);
        pinned(&mut self.tweaks[i], N);
    }
}

/// The tweaks of the same lanes some groups of eight blocks later, `blocks` in all.
#[inline(always)]
fn blocks_later<V: Lanes>(tweak: V, blocks: usize) -> V {
    match blocks {
        8 => tweak.times_x8::<1>(),
        16 => tweak.times_x8::<2>(),
        24 => tweak.times_x8::<3>(),
        32 => tweak.times_x8::<4>(),
        40 => tweak.times_x8::<5>(),
        48 => tweak.times_x8::<6>(),
        56 => tweak.times_x8::<7>(),
        64 => tweak.times_x8::<8>(),
        _ => unreachable!("so many blocks are a multiple of 8, and no more than a group has"),
    }
}

/// `tweak` times x^blocks in every lane: the tweak of a later block of the unit. Takes time by `blocks` alone.
#[inline(always)]
pub(super) fn later<I: Isa>(isa: I, mut tweak: I::V, blocks: usize) -> I::V {
    debug_assert!(blocks < 1 << SQUARES.len());
    for (i, square) in SQUARES.iter().enumerate() {
        if blocks >> i & 1 == 1 {
            tweak = product(isa, tweak, isa.splat(square));
        }
    }
    tweak
}

/// The product of two elements in each lane.
#[inline(always)]
fn product<I: Isa>(isa: I, a: I::V, b: I::V) -> I::V {
    let reduced = reduced(isa);
    let middle = a.clmul_low_high(b).xor(b.clmul_low_high(a));
    let low = a.clmul_low(b).xor(middle.shift_bytes::<8>());
    let high = a.clmul_high(b).xor(middle.high_low(isa.zero()));
    // high * x^128: one half at a time, of which the second reaches beyond x^128 once more.
    reduce(low.xor(high.clmul_low(reduced)), high.clmul_high(reduced), reduced)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::lanes::MAX_LANES;

    #[test]
    fn multiplication_doubles_and_wraps() {
        assert_eq!(times_x(1), 2);
        assert_eq!(times_x(1 << 127), 0x87);
        // (x^127)(x^2) = x * x^128.
        assert_eq!(times(1 << 127, 4), 0x87 << 1);
    }

    /// Every way to the tweak of a block is the repeated multiplication by x of IEEE 1619 section 5.2.
    #[cfg(target_arch = "x86_64")]
    fn every_way_agrees<I: Isa>(isa: I) {
        let first = 0xf0f1_0203_8405_8607_9809_0a0b_8c0d_8e8f_u128;
        let mut expected = vec![first];
        for i in 0..4200 {
            expected.push(times_x(expected[i]));
        }
        let splat = isa.splat(&first.to_le_bytes());
        let lanes = I::V::LANES;
        let mut tweaks = start::<I, 8>(isa, splat);
        for group in 0..100 {
            let before = tweaks;
            let mut advance = Advance::new(&mut tweaks);
            (0..8).for_each(|i| advance.one(i));
            for i in 0..8 {
                for (lane, block) in before[i].to_blocks()[..lanes].iter().enumerate() {
                    let number = (group * 8 + i) * lanes + lane;
                    assert_eq!(u128::from_le_bytes(*block), expected[number], "block {number}");
                }
                assert_eq!(tweaks[i].to_blocks(), blocks_later(before[i], 8 * lanes).to_blocks());
            }
        }
        for (i, tweak) in start::<I, 16>(isa, splat).iter().enumerate() {
            for (lane, block) in tweak.to_blocks()[..lanes].iter().enumerate() {
                assert_eq!(u128::from_le_bytes(*block), expected[i * lanes + lane], "register {i}");
            }
        }
        for blocks in 1..=MAX_GROUP {
            let mut listed = [[0; BLOCK]; MAX_GROUP + MAX_LANES];
            // SAFETY: so many blocks are there, and a register behind them.
            unsafe { list(isa, splat, blocks, listed.as_mut_ptr().cast()) };
            let listed = listed[..blocks].iter().map(|block| u128::from_le_bytes(*block));
            assert!(listed.eq(expected[..blocks].iter().copied()), "{blocks} blocks");
        }
        for blocks in [0, 1, 2, 3, 63, 64, 100, 4097] {
            let there = later(isa, splat, blocks).to_blocks();
            assert!(there[..lanes].iter().all(|block| u128::from_le_bytes(*block) == expected[blocks]));
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_way_to_a_tweak_agrees_on_every_register() {
        use crate::lanes::{sse::Sse, vaes256::Vaes256, vaes512::Vaes512};
        Sse::detect().into_iter().for_each(every_way_agrees);
        Vaes256::detect().into_iter().for_each(every_way_agrees);
        Vaes512::detect().into_iter().for_each(every_way_agrees);
    }
}
