//! Short messages under one key, where the cipher runs in groups: their counters fill groups together.
//!
//! Such a cipher takes as long for one block as for all of a group. The pre-counter blocks and the counters of several
//! messages go through it first; then LANES messages at a time meet their key stream, and finish as [`super::short`] has
//! it.

use cipherlane_core::BLOCK;

use super::short::tags;
use crate::cipher::{Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work, wipe};
use crate::mode::counters::advanced;
use crate::mode::gcm::counter::pre_counter;
use crate::mode::gcm::ghash::{Powers, Products, add_blocks, lengths};
use crate::mode::gcm::{Direction, text};

/// Groups of N registers that are filled: what the last one lacks is then little.
const GROUPS: usize = 4;
/// Most messages that wait.
const MEMBERS: usize = 128;

/// A message that waits, and the place of its pre-counter block among all blocks.
#[derive(Clone, Copy)]
struct Member {
    index: usize,
    at: usize,
}

/// Messages of one job whose counters wait for the cipher.
pub(in crate::mode::gcm) struct Bunch<V: Lanes, const N: usize> {
    /// Counters, then key stream.
    registers: [[V; N]; GROUPS],
    blocks: usize,
    members: [Member; MEMBERS],
    count: usize,
    /// Most groups that were filled at a time.
    filled: usize,
}

/// Blocks of counters that a message takes: the pre-counter block is one.
#[inline(always)]
fn counters_of(job: &Job<'_>, index: usize) -> usize {
    1 + job.message(index).bytes.div_ceil(BLOCK)
}

impl<V: Lanes, const N: usize> Bunch<V, N> {
    /// Blocks of a group.
    const GROUP: usize = N * V::LANES;
    /// Blocks of all messages: from each of them a register can be read.
    const ROOM: usize = GROUPS * Self::GROUP - (V::LANES - 1);

    /// No messages.
    #[inline(always)]
    pub(super) fn new(isa: V::Isa) -> Self {
        let members = [Member { index: 0, at: 0 }; MEMBERS];
        Self { registers: [[isa.zero(); N]; GROUPS], blocks: 0, members, count: 0, filled: 0 }
    }

    /// Whether message `index` is short enough: for two to have room, and with its AAD for one table of powers.
    #[inline(always)]
    pub(super) fn takes(job: &Job<'_>, powers: &Powers<V::Isa>, index: usize) -> bool {
        let (counters, aad) = (counters_of(job, index), job.aad(index).len().div_ceil(BLOCK));
        2 * counters <= Self::ROOM && counters - 1 + aad < powers.highest()
    }

    /// Whether there is room for message `index`, which it [takes](Self::takes).
    #[inline(always)]
    pub(super) fn has_room(&self, job: &Job<'_>, index: usize) -> bool {
        self.count < MEMBERS && self.blocks + counters_of(job, index) <= Self::ROOM
    }

    /// Whether no message waits.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes in message `index`, which there is room for.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // at most a group of counters
    pub(super) fn push<const KARATSUBA: bool>(
        &mut self,
        job: &Job<'_>,
        powers: &Powers<V::Isa>,
        index: usize,
    ) {
        let first = pre_counter::<V::Isa, KARATSUBA>(powers, job.nonce(index));
        let counters = counters_of(job, index);
        assert!(self.blocks + counters <= Self::ROOM, "the bunch is run before it has no room");
        self.members[self.count] = Member { index, at: self.blocks };
        self.count += 1;
        let to = self.registers.as_mut_ptr().cast::<[u8; BLOCK]>();
        for step in 0..counters as u32 {
            // SAFETY: the registers have ROOM blocks and more.
            unsafe { to.add(self.blocks).write(advanced(first, step).to_le_bytes()) }
            self.blocks += 1;
        }
    }
}

impl<V: Lanes, const N: usize> Drop for Bunch<V, N> {
    /// Key stream is as secret as the text.
    fn drop(&mut self) {
        for group in &mut self.registers[..self.filled] {
            wipe(group);
        }
    }
}

/// The messages of a bunch, as work. It is empty afterwards.
pub(super) struct Bunched<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    pub(super) cipher: &'a P,
    pub(super) powers: &'a Powers<P::Isa>,
    pub(super) job: &'a Job<'a>,
    pub(super) bunch: &'a mut Bunch<V<P>, N>,
    pub(super) direction: std::marker::PhantomData<D>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Bunched<'_, P, D, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { cipher, powers, job, bunch, .. } = self;
        let groups = bunch.blocks.div_ceil(Bunch::<V<P>, N>::GROUP);
        bunch.filled = bunch.filled.max(groups);
        let mut blocks = bunch.blocks;
        for group in &mut bunch.registers[..groups] {
            cipher.apply_used(group, blocks.div_ceil(V::<P>::LANES));
            blocks = blocks.saturating_sub(Bunch::<V<P>, N>::GROUP);
        }
        let stream = bunch.registers.as_ptr().cast::<[u8; BLOCK]>();
        for members in bunch.members[..bunch.count].chunks(V::<P>::LANES) {
            let (mut sums, mut ends, mut masks) =
                ([Products::zero(cipher.isa()); MAX_LANES], [0; MAX_LANES], [0; MAX_LANES]);
            for (lane, member) in members.iter().enumerate() {
                let (message, aad) = (job.message(member.index), job.aad(member.index));
                let after = message.bytes.div_ceil(BLOCK) + 2;
                // SAFETY: the job's pointers are good, a member's blocks lie among the registers', each with a register
                // behind it, and the bunch takes messages whose powers are all in the table.
                unsafe {
                    masks[lane] = u128::from_le_bytes(stream.add(member.at).read());
                    add_blocks::<P::Isa, KARATSUBA>(&mut sums[lane], powers, aad.as_ptr(), aad.len(), after);
                    let stream = stream.add(member.at + 1).cast();
                    crypt_and_hash::<P::Isa, D, KARATSUBA>(powers, &mut sums[lane], message, stream);
                }
                ends[lane] = lengths(aad.len(), message.bytes).swap_bytes();
            }
            let tags = tags::<P::Isa, KARATSUBA>(powers, &sums, &ends, cipher.isa().words(&masks));
            for (member, tag) in members.iter().zip(tags) {
                D::conclude(job, member.index, tag);
            }
        }
        (bunch.blocks, bunch.count) = (0, 0);
    }
}

/// Adds the key stream from `stream` to `message`, and to `sum` the products of its ciphertext, which is followed by the
/// block of lengths.
///
/// # Safety
/// The message's pointers are good for its bytes, and from each block of its key stream a register is readable.
#[inline(always)]
unsafe fn crypt_and_hash<I: Isa, D: Direction, const KARATSUBA: bool>(
    powers: &Powers<I>,
    sum: &mut Products<I::V>,
    message: Message,
    stream: *const u8,
) {
    let (isa, blocks) = (powers.isa(), message.bytes.div_ceil(BLOCK));
    for register in 0..message.bytes.div_ceil(I::V::BYTES) {
        // SAFETY: the caller's.
        let ciphertext = unsafe {
            let x = text::load_register::<I>(isa, message, register);
            let key = isa.load(stream.add(register * I::V::BYTES));
            let y = text::store_register::<I>(isa, message, register, x.xor(key));
            if D::OPEN { x } else { y }
        };
        // What is pending is multiplied by H as well.
        let factor = powers.falling(blocks + 1 - register * I::V::LANES);
        sum.add::<KARATSUBA>(ciphertext.reverse_bytes(), factor);
    }
}
