//! Consecutive counter blocks, ready for a cipher. A block by itself is a word whose lowest byte is its first.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::first_round::{BYTES, FIRST, FirstRound, behind};
use crate::cipher::{Permutation, V};
use crate::lanes::{Begun, Isa, Lanes, MAX_LANES, wipe, wipe_blocks};

/// Steps that are counted: the blocks of the largest group, or of a short message of GCM, and a register more.
const MAX_BLOCKS: usize = 64 + MAX_LANES + 2;

/// `i` as a big-endian number in the last byte of a block, which counts without a carry while it stays below 256.
pub(crate) static BIG_STEPS: [[u8; BLOCK]; BYTES] = steps(BLOCK - 1);
/// `i` as a little-endian number in the first four bytes.
static LITTLE_STEPS: [[u8; BLOCK]; MAX_BLOCKS] = steps(0);
/// `i` in the byte above.
static HIGHER_STEPS: [[u8; BLOCK]; MAX_BLOCKS] = steps(1);

/// `i` in byte `position` of entry i.
pub(crate) const fn steps<const COUNT: usize>(position: usize) -> [[u8; BLOCK]; COUNT] {
    let mut steps = [[0; BLOCK]; COUNT];
    let mut i = 0;
    while i < COUNT {
        steps[i][position] = i as u8;
        i += 1;
    }
    steps
}

/// `block` with its last 32 bits raised by `by`, modulo 2^32 (inc32 of SP 800-38D section 6.2).
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the last four bytes
pub(crate) fn advanced(block: u128, by: u32) -> u128 {
    let count = ((block >> 96) as u32).swap_bytes().wrapping_add(by);
    (block & (u128::MAX >> 32)) | (u128::from(count.swap_bytes()) << 96)
}

/// Whole groups of so many blocks from `counter` on until its last 16 bits wrap.
#[inline(always)]
pub(crate) fn before_wrap(counter: &[u8; BLOCK], group: usize) -> usize {
    let [.., high, low] = *counter;
    ((1 << 16) - usize::from(u16::from_be_bytes([high, low]))) / group
}

/// `block` but for its last byte, and that byte.
#[inline(always)]
pub(super) const fn parted(block: u128) -> (u128, usize) {
    (block & (u128::MAX >> 8), (block >> 120) as usize)
}

/// A register of steps: lane i of register j holds j * LANES + i.
#[inline(always)]
fn step<I: Isa, const COUNT: usize>(isa: I, table: &'static [[u8; BLOCK]; COUNT], register: usize) -> I::V {
    const { assert!(MAX_BLOCKS <= COUNT) };
    debug_assert!((register + 1) * I::V::LANES <= MAX_BLOCKS);
    // SAFETY: the table reaches that far.
    unsafe { isa.load(table.as_ptr().add(register * I::V::LANES).cast()) }
}

/// The counter blocks from `base` on, in N registers. Needs a last byte of `base` that does not overflow.
#[inline(always)]
fn count_in_last_byte<I: Isa, const N: usize>(isa: I, base: I::V) -> [I::V; N] {
    let mut counters = [base; N];
    for (register, counter) in counters.iter_mut().enumerate() {
        *counter = base.add32(step(isa, &BIG_STEPS, register));
    }
    counters
}

/// The counter blocks from `base` on, in N registers, modulo 2^32.
#[inline(always)]
pub(super) fn count_in_32_bits<I: Isa, const N: usize>(isa: I, base: I::V) -> [I::V; N] {
    assert!(N * I::V::LANES <= MAX_BLOCKS);
    let little = base.reverse_bytes();
    let mut counters = [little; N];
    for (register, counter) in counters.iter_mut().enumerate() {
        *counter = little.add32(step(isa, &LITTLE_STEPS, register)).reverse_bytes();
    }
    counters
}

/// `base` raised by `by` in the last byte of every lane.
#[inline(always)]
pub(crate) fn counted<I: Isa>(isa: I, base: I::V, by: usize) -> I::V {
    base.add32(isa.splat(&BIG_STEPS[by]))
}

/// `base` raised by `by` in the last 32 bits of every lane, modulo 2^32.
#[inline(always)]
pub(crate) fn counted_in_32_bits<I: Isa>(isa: I, base: I::V, by: usize) -> I::V {
    base.reverse_bytes().add32(isa.splat(&LITTLE_STEPS[by])).reverse_bytes()
}

/// The counter blocks of a message, some registers at a time, as [`Permutation::begin`] makes them.
pub(crate) trait Count<P: Permutation> {
    /// The next M registers.
    fn take<const M: usize>(&mut self) -> [V<P>; M];

    /// The next groups of M registers, `most` at most and one at least: those whose first rounds are known ahead, or one.
    /// What they need is in `room`.
    fn take_some<const M: usize>(&mut self, most: usize, room: &mut Room<V<P>, M>) -> Begun<V<P>>;

    /// The next one, unless nobody may know it.
    #[inline(always)]
    fn next_public(&self) -> Option<[u8; BLOCK]> {
        None
    }

    /// Leaves out the next ones.
    fn skip(&mut self, blocks: usize);
}

/// Overflows of the last byte that groups are taken across, and one more.
const RESTS: usize = 2 * MAX_LANES;

/// Room for what groups of M registers need. Round keys follow from first rounds of what is known: it is wiped when dropped.
#[repr(C, align(64))]
pub(crate) struct Room<V: Lanes, const M: usize> {
    /// What counters share from one overflow of their last byte to the next.
    rests: MaybeUninit<[[u8; BLOCK]; RESTS]>,
    /// The counters of one group.
    group: MaybeUninit<[V; M]>,
    /// Whether these are written.
    has_rests: bool,
    has_group: bool,
}

impl<V: Lanes, const M: usize> Room<V, M> {
    /// With nothing in it.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        let (rests, group) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        Self { rests, group, has_rests: false, has_group: false }
    }
}

impl<V: Lanes, const M: usize> Drop for Room<V, M> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: what there is has been written.
        unsafe {
            if self.has_rests {
                wipe_blocks(self.rests.assume_init_mut());
            }
            if self.has_group {
                wipe(self.group.assume_init_mut());
            }
        }
    }
}

/// Those of any message, modulo 2^32.
pub(crate) struct Counters<'a, P: Permutation> {
    pub(super) cipher: &'a P,
    /// Whether branches may depend on them. A nonce that is hashed makes counters that tell of the hash key.
    are_public: bool,
    first_round: Option<&'a FirstRound>,
    /// The next one, but for its last byte.
    rest: u128,
    /// That byte.
    value: usize,
    /// The next one in every lane; where its first round is known ahead, that round but for the last byte.
    base: V<P>,
}

impl<'a, P: Permutation> Counters<'a, P> {
    /// Counts from `first` on, which everybody may know. `first_round` is that of `cipher`, if the message is long.
    #[inline(always)]
    pub(crate) fn of_public(cipher: &'a P, first_round: Option<&'a FirstRound>, first: &[u8; BLOCK]) -> Self {
        Self::new(cipher, true, if P::BEGINS { first_round } else { None }, first)
    }

    /// Counts from `first` on, which nobody may know: in the same steps whatever it is.
    #[inline(always)]
    pub(crate) fn of_secret(cipher: &'a P, first: &[u8; BLOCK]) -> Self {
        Self::new(cipher, false, None, first)
    }

    #[inline(always)]
    fn new(
        cipher: &'a P,
        are_public: bool,
        first_round: Option<&'a FirstRound>,
        first: &[u8; BLOCK],
    ) -> Self {
        let (rest, value) = parted(u128::from_le_bytes(*first));
        // From memory: a word put together of two registers and loaded as one waits for both stores.
        let base = if first_round.is_some() { begin_rest(cipher, rest) } else { cipher.isa().splat(first) };
        Self { cipher, are_public, first_round, rest, value, base }
    }

    /// Passes `blocks` whose first rounds are known ahead: whose last byte overflows in the last register if at all. Returns
    /// the base of that register, in which lanes behind the overflow have the base of what follows.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // less than the values of a byte and a register
    fn pass_known(&mut self, blocks: usize) -> Option<V<P>> {
        let (base, end) = (self.base, self.value + blocks);
        if end >= BYTES + V::<P>::LANES {
            return None;
        }
        if end < BYTES {
            self.value = end;
            return Some(base);
        }
        (self.rest, self.value) = parted(advanced(self.rest, end as u32));
        self.base = begin_rest(self.cipher, self.rest);
        let change = base.xor(self.base);
        Some(base.xor(change.and(behind(self.cipher.isa(), BYTES + V::<P>::LANES - end))))
    }

    /// Takes groups whose first rounds are known ahead, if those of the next one are.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // less than RESTS times the values of a byte
    fn take_known<const M: usize>(
        &mut self,
        first_round: &FirstRound,
        most: usize,
        room: &mut Room<V<P>, M>,
    ) -> Option<Begun<V<P>>> {
        let (isa, blocks) = (self.cipher.isa(), M * V::<P>::LANES);
        let ahead = (BYTES - self.value) / blocks;
        let (behind, known) = match self.value + (ahead + 1) * blocks - BYTES {
            // Each group that overflows does so in its last register.
            behind if behind < V::<P>::LANES => (behind, (RESTS * BYTES - 1 - self.value) / blocks),
            _ => (0, ahead),
        };
        if known == 0 {
            return None;
        }
        let (groups, effects) = (most.min(known), first_round.effects_from(self.value));
        let (rest, end) = (self.base, self.value + groups * blocks);
        let rests: *mut u8 = room.rests.as_mut_ptr().cast();
        let begun = Begun { rest, rests: rests.wrapping_add(BLOCK).cast(), effects, ahead, behind, groups };
        if end < BYTES {
            self.value = end;
            return Some(begun);
        }
        let this = isa.splat_word(self.rest).reverse_bytes();
        for register in 0..RESTS / V::<P>::LANES {
            let rest = this.add32(step(isa, &HIGHER_STEPS, register)).reverse_bytes();
            // SAFETY: the room is for RESTS blocks.
            unsafe { self.cipher.begin([rest])[0].store(rests.add(register * V::<P>::BYTES)) }
        }
        room.has_rests = true;
        (self.rest, self.value) = parted(advanced(self.rest, end as u32));
        // SAFETY: fewer overflows than rests, all of which are written.
        unsafe {
            self.base = isa.splat(&*rests.add(end / BYTES * BLOCK).cast());
        }
        Some(begun)
    }
}

impl<P: Permutation> Count<P> for Counters<'_, P> {
    /// Counting in the last byte needs no byte reversal, which would cost a shuffle a register; when that byte would
    /// overflow before the last register, or nobody may know whether it does, the 32-bit counter is carried properly.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // no more blocks than 64
    fn take<const M: usize>(&mut self) -> [V<P>; M] {
        let (isa, blocks) = (self.cipher.isa(), M * V::<P>::LANES);
        let (base, value) = (self.base, self.value);
        if let Some(first_round) = self.first_round
            && let Some(base_of_last) = self.pass_known(blocks)
        {
            let mut begun = [base; M];
            begun[M - 1] = base_of_last;
            for (register, begun) in begun.iter_mut().enumerate() {
                *begun = begun.xor(first_round.effects(isa, value + register * V::<P>::LANES));
            }
            return begun;
        }
        if self.are_public && self.first_round.is_none() && value + blocks < BYTES {
            self.value = value + blocks;
            self.base = counted(isa, base, blocks);
            return self.cipher.begin(count_in_last_byte(isa, base));
        }
        let this = advanced(self.rest, value as u32);
        self.skip(blocks);
        self.cipher.begin(count_in_32_bits(isa, isa.splat_word(this)))
    }

    #[inline(always)]
    fn take_some<const M: usize>(&mut self, most: usize, room: &mut Room<V<P>, M>) -> Begun<V<P>> {
        if let Some(first_round) = self.first_round
            && let Some(begun) = self.take_known(first_round, most, room)
        {
            return begun;
        }
        let (group, rest) = (room.group.write(self.take()), self.cipher.isa().zero());
        room.has_group = true;
        Begun::alike(rest, group.as_ptr().cast(), 1)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // a byte
    fn next_public(&self) -> Option<[u8; BLOCK]> {
        self.are_public.then(|| advanced(self.rest, self.value as u32).to_le_bytes())
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // SP 800-38D: fewer than 2^32 blocks
    fn skip(&mut self, blocks: usize) {
        let next = advanced(self.rest, (self.value + blocks) as u32);
        (self.rest, self.value) = parted(next);
        let is_known = self.first_round.is_some();
        self.base =
            if is_known { begin_rest(self.cipher, self.rest) } else { self.cipher.isa().splat_word(next) };
    }
}

/// Those of a message whose nonce has 96 bits, and whose last byte does not overflow: all first rounds are known ahead.
pub(crate) struct Known<'a, V> {
    first_round: &'a FirstRound,
    /// The first round but for the last byte, in every lane.
    base: V,
    /// The last byte of the next one.
    value: usize,
}

/// Most blocks of such a message.
pub(crate) const MOST_KNOWN: usize = BYTES - FIRST;

impl<'a, V> Known<'a, V> {
    /// From the first one behind the pre-counter block on; `base` is the first round of nonce and zeros, in every lane.
    #[inline(always)]
    pub(crate) const fn behind_nonce(first_round: &'a FirstRound, base: V) -> Self {
        Self { first_round, base, value: FIRST }
    }
}

impl<P: Permutation> Count<P> for Known<'_, V<P>> {
    #[inline(always)]
    fn take<const M: usize>(&mut self) -> [V<P>; M] {
        let mut begun = [self.base; M];
        for begun in &mut begun {
            *begun = begun.xor(self.first_round.effects(begun.isa(), self.value));
            self.value += V::<P>::LANES;
        }
        begun
    }

    #[inline(always)]
    fn take_some<const M: usize>(&mut self, groups: usize, _: &mut Room<V<P>, M>) -> Begun<V<P>> {
        let effects = self.first_round.effects_from(self.value);
        self.value += groups * M * V::<P>::LANES;
        Begun::alike(self.base, effects, groups)
    }

    #[inline(always)]
    fn skip(&mut self, blocks: usize) {
        self.value += blocks;
    }
}

/// The first round of `rest`, a block whose last byte is 0, in every lane.
#[inline(always)]
fn begin_rest<P: Permutation>(cipher: &P, rest: u128) -> V<P> {
    cipher.begin([cipher.isa().splat_word(rest)])[0]
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::cipher::Nothing;
    use crate::cipher::aes_rounds::AesEncrypt;
    use crate::lanes::{AesLanes, WOVEN, Work, Woven};
    use crate::lanes::{sse::Sse, vaes256::Vaes256, vaes512::Vaes512, vaes512::X4};

    const REGISTERS: usize = 8;
    /// More than are taken at once.
    const GROUPS: usize = 100;

    /// Last bytes that meet 256 at the end of a group, of 32 blocks where registers are widest, within a register and
    /// between two; then 16 bits and all 32, within a register at last.
    const STARTS: [u32; 14] = [
        0,
        2,
        31,
        224,
        225,
        226,
        227,
        254,
        255,
        0x0001_fd02,
        0x0001_fff8,
        0xffff_fee2,
        0xffff_fffd,
        u32::MAX,
    ];

    /// A block whose last 32 bits are `count`.
    fn block_of(count: u32) -> u128 {
        0x1234_5678 | u128::from(count.swap_bytes()) << 96
    }

    /// Key streams of GROUPS groups from `first` on, with a table of the first round or without.
    struct Streams<'a, I: Isa> {
        cipher: &'a AesEncrypt<I, 10>,
        are_public: bool,
        first_round: Option<&'a FirstRound>,
        first: u128,
    }

    impl<I: Isa<V: AesLanes>> Work for Streams<'_, I> {
        type Output = Vec<u128>;

        #[inline(always)]
        fn run(self) -> Vec<u128> {
            let first = self.first.to_le_bytes();
            let mut counters = if self.are_public {
                Counters::of_public(self.cipher, self.first_round, &first)
            } else {
                Counters::of_secret(self.cipher, &first)
            };
            let mut words = Vec::new();
            for _ in 0..GROUPS {
                let stream = self.cipher.finish_while(counters.take::<REGISTERS>(), &mut Nothing);
                words.extend(
                    stream.iter().flat_map(|register| register.to_words().into_iter().take(I::V::LANES)),
                );
            }
            words
        }
    }

    /// Key streams, with what the cipher makes of some of their counters.
    fn streams_count<I: Isa<V: AesLanes>>(isa: I, cipher: &AesEncrypt<I, 10>) {
        for count in STARTS {
            let first = block_of(count);
            let expected = |i: u32| cipher.apply([isa.splat_word(advanced(first, i))])[0].to_words()[0];
            for are_public in [true, false] {
                let words = isa.vectorize(Streams { cipher, are_public, first_round: None, first });
                for (i, word) in (0..).zip(words) {
                    assert_eq!(word, expected(i), "block {i} from {count:#x}");
                }
            }
        }
    }

    #[test]
    fn counters_count() {
        let key = b"sixteen byte key";
        match Sse::detect() {
            Some(isa) => streams_count(isa, &AesEncrypt::new(isa, key)),
            None => println!("not run: this CPU has no AES-NI"),
        }
        match Vaes256::detect() {
            Some(isa) => streams_count(isa, &AesEncrypt::new(isa, key)),
            None => println!("not run: this CPU has no VAES"),
        }
    }

    /// The same key streams in groups of GCM.
    struct InGroups<'a>(Streams<'a, Vaes512>);

    impl Work for InGroups<'_> {
        type Output = Vec<u128>;

        #[inline(always)]
        fn run(self) -> Vec<u128> {
            const BYTES: usize = WOVEN * X4::BYTES;
            let Streams { cipher, first_round, first, .. } = self.0;
            let mut counters = Counters::of_public(cipher, first_round, &first.to_le_bytes());
            let (text, mut stream) = (vec![0; GROUPS * BYTES], vec![0; GROUPS * BYTES]);
            let (state, no_powers) = (cipher.isa().zero(), [0_u8; BYTES]);
            let mut done = 0;
            while done < GROUPS {
                let mut room = Room::<X4, WOVEN>::new();
                let counters = counters.take_some(GROUPS - done, &mut room);
                let [input, hashed] = [text[done * BYTES..].as_ptr(); 2];
                let (output, [powers, sums]) = (stream[done * BYTES..].as_mut_ptr(), [no_powers.as_ptr(); 2]);
                done += counters.groups;
                // SAFETY: there are no more groups than in all three.
                let _ =
                    unsafe { cipher.weave(Woven { counters, input, output, hashed, state, powers, sums }) };
            }
            stream
                .chunks_exact(BLOCK)
                .map(|block| u128::from_le_bytes(block.try_into().expect("16")))
                .collect()
        }
    }

    #[test]
    fn known_first_rounds_are_those_of_the_counters() {
        let Some(isa) = Vaes512::detect() else {
            println!("not run: this CPU has no VAES at 512 bits");
            return;
        };
        let cipher = AesEncrypt::<Vaes512, 10>::new(isa, b"sixteen byte key");
        let first_round = FirstRound::of(&cipher).expect("32 registers");
        streams_count(isa, &cipher);
        for count in STARTS {
            let streams = |first_round| Streams {
                cipher: &cipher,
                are_public: true,
                first_round,
                first: block_of(count),
            };
            let without = isa.vectorize(streams(None));
            assert_eq!(isa.vectorize(streams(Some(&first_round))), without, "from {count:#x}");
            let in_groups = isa.vectorize(InGroups(streams(Some(&first_round))));
            assert_eq!(in_groups, without, "from {count:#x}");
        }
    }
}
