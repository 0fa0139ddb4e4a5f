//! A message, N registers at a time and then in ever smaller groups.

use std::mem::MaybeUninit;

use crate::cipher::{Groups, MIDDLE, Permutation, SMALL, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::prefetch::{DISTANCE, prefetch};

/// What a mode does to consecutive registers of a message, in order from the first.
pub(crate) trait Pass {
    /// The block cipher.
    type Cipher: Permutation;

    /// The block cipher under its key.
    fn cipher(&self) -> &Self::Cipher;

    /// Turns the next M registers of input into output, in place: a copy of whole groups costs a tenth of the rounds of
    /// some ciphers. Zeros fill up a message that ends within them; nothing comes after it.
    fn registers<const M: usize>(&mut self, registers: &mut [V<Self::Cipher>; M]);

    /// The same, of whole registers that have just been loaded from `input`, where a mode gains by loading them again.
    ///
    /// # Safety
    /// M registers are readable there, and still as they were.
    #[inline(always)]
    unsafe fn registers_of<const M: usize>(
        &mut self,
        registers: &mut [V<Self::Cipher>; M],
        _input: *const u8,
    ) {
        self.registers(registers);
    }

    /// Runs whole groups of a cipher that runs such, where that takes less time than by registers. Returns what is left.
    ///
    /// # Safety
    /// The pointers of `message` are good, and nobody else touches its output.
    #[inline(always)]
    unsafe fn whole_groups(&mut self, message: Message) -> Message {
        message
    }
}

/// Bytes of M registers.
#[inline(always)]
const fn bytes_of<V: Lanes, const M: usize>() -> usize {
    M * V::BYTES
}

/// Runs `pass` over the whole groups of N registers of `message` and returns the rest, which is shorter than one.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(crate) unsafe fn groups<T: Pass, const N: usize>(pass: &mut T, mut message: Message) -> Message {
    let group = bytes_of::<V<T::Cipher>, N>();
    let past_caches = message.past_caches && message.output.addr().is_multiple_of(V::<T::Cipher>::BYTES);
    while message.bytes >= group {
        if message.prefetched {
            if past_caches { prefetch::<false>(message, group) } else { prefetch::<true>(message, group) }
        }
        // SAFETY: the message has a group left, of which nothing is stored before the pass is through, and stays as aligned
        // as it is.
        unsafe {
            let mut registers = load::<_, N>(pass.cipher().isa(), message.input);
            pass.registers_of(&mut registers, message.input);
            if past_caches {
                store_past_caches(&registers, message.output);
            } else {
                store(&registers, message.output);
            }
            message = message.skip(group);
        }
    }
    if past_caches {
        pass.cipher().isa().fence();
    }
    message
}

/// Groups at a time of a message that is stored past the caches: their output is nearby first.
const NEARBY: usize = 16;

/// Has `run` run groups of `message`, as many as `how_many` makes of those that there are: all at once or some after others, in
/// order. Returns what is left.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output. `run` writes the output of all groups.
#[inline(always)]
pub(crate) unsafe fn whole_groups<I: Isa>(
    isa: I,
    mut message: Message,
    how_many: impl Fn(usize) -> usize,
    mut run: impl FnMut(Groups),
) -> Message {
    let group = SMALL * I::V::BYTES;
    let past_caches = message.past_caches && message.output.addr().is_multiple_of(I::V::BYTES);
    let ahead = if message.prefetched { DISTANCE } else { 0 };
    let mut nearby = MaybeUninit::<[[I::V; SMALL]; NEARBY]>::uninit();
    loop {
        let most = if past_caches { NEARBY } else { usize::MAX };
        let there = (message.bytes / group).min(most);
        let count = if there > 0 { how_many(there) } else { 0 };
        debug_assert!(count <= there);
        if count == 0 {
            break;
        }
        let to = if past_caches { nearby.as_mut_ptr().cast() } else { message.output };
        run(Groups { from: message.input, to, count, ahead });
        // SAFETY: `run` has written so many groups, and the message has them.
        unsafe {
            if past_caches {
                for i in 0..count {
                    let registers = nearby.as_ptr().cast::<[I::V; SMALL]>().add(i);
                    store_past_caches(&*registers, message.output.add(i * group));
                }
            }
            message = message.skip(count * group);
        }
    }
    if past_caches {
        isa.fence();
    }
    message
}

/// Most registers at a time of a message that comes from behind the second cache: of 16, loads and stores come in
/// bursts, which the caches of Zen 5 keep up with less.
const FAR: usize = 8;

/// The same of a cipher that runs whole groups, in bytes. Asked for the lines of twice as many at once, a Zen 5 seems to
/// leave some out, and texts from memory take much longer.
const FAR_GROUP: usize = 1024;

/// Runs `pass` over all of `message`.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(crate) unsafe fn all<T: Pass, const N: usize>(pass: &mut T, message: Message) {
    // SAFETY: the caller's promise, handed on for ever smaller parts.
    unsafe {
        let is_far = message.prefetched || message.past_caches;
        if T::Cipher::WHOLE_GROUPS {
            let message = pass.whole_groups(message);
            let rest = if N == SMALL && pass.cipher().runs_pairs() {
                let rest = groups::<T, MIDDLE>(pass, message);
                groups::<T, N>(pass, rest)
            } else if is_far && bytes_of::<V<T::Cipher>, N>() > FAR_GROUP && !pass.cipher().runs_pairs() {
                groups::<T, SMALL>(pass, message)
            } else {
                groups::<T, N>(pass, message)
            };
            if rest.bytes > 0 {
                groups_of_rest::<T, N>(pass, rest);
            }
            return;
        }
        let mut rest =
            if N > FAR && is_far { groups::<T, FAR>(pass, message) } else { groups::<T, N>(pass, message) };
        if rest.bytes == 0 {
            return;
        }
        // Exactly the registers that are there, largest group first: the groups do not wait for each other, so
        // the CPU overlaps them, and of padding there is never more than a part of one register.
        if N > 8 {
            rest = at_most_one::<T, 8>(pass, rest);
        }
        if N > 4 {
            rest = at_most_one::<T, 4>(pass, rest);
        }
        rest = at_most_one::<T, 2>(pass, rest);
        rest = at_most_one::<T, 1>(pass, rest);
        if rest.bytes > 0 {
            padded::<T, 1>(pass, rest);
        }
    }
}

/// Runs `pass` over a message that is not longer than N registers, as one group: where N registers are several groups of
/// the cipher, as few as hold it; or no more than the registers that there are, where the cipher runs few as such.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(crate) unsafe fn groups_of_rest<T: Pass, const N: usize>(pass: &mut T, rest: Message) {
    // SAFETY: the caller's promise.
    unsafe {
        match pass.cipher().run_for::<N>(rest.bytes.div_ceil(V::<T::Cipher>::BYTES)) {
            1 => padded::<T, 1>(pass, rest),
            2 => padded::<T, 2>(pass, rest),
            4 => padded::<T, 4>(pass, rest),
            SMALL => padded::<T, SMALL>(pass, rest),
            MIDDLE => padded::<T, MIDDLE>(pass, rest),
            _ => padded::<T, N>(pass, rest),
        }
    }
}

/// A group of M registers, if there is one.
#[inline(always)]
unsafe fn at_most_one<T: Pass, const M: usize>(pass: &mut T, message: Message) -> Message {
    let group = bytes_of::<V<T::Cipher>, M>();
    if message.bytes < group {
        return message;
    }
    // SAFETY: the caller's promise; the message has a group left, of which nothing is stored before the pass is through.
    unsafe {
        let mut registers = load::<_, M>(pass.cipher().isa(), message.input);
        pass.registers_of(&mut registers, message.input);
        store(&registers, message.output);
        message.skip(group)
    }
}

/// Runs `pass` over a message of at most M registers as one group.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(crate) unsafe fn padded<T: Pass, const M: usize>(pass: &mut T, message: Message) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut registers = load_padded::<_, M>(pass.cipher().isa(), message.input, message.bytes);
        pass.registers(&mut registers);
        store_first(&registers, message.output, message.bytes);
    }
}

/// Adds the key stream to the text.
#[inline(always)]
pub(super) fn add<V: Lanes, const M: usize>(text: &mut [V; M], keystream: &[V; M]) {
    for (text, key) in text.iter_mut().zip(keystream) {
        *text = text.xor(*key);
    }
}

/// M registers from `from` on.
///
/// # Safety
/// So many bytes are readable.
#[inline(always)]
pub(crate) unsafe fn load<I: Isa, const M: usize>(isa: I, from: *const u8) -> [I::V; M] {
    let mut registers = [isa.zero(); M];
    for (i, register) in registers.iter_mut().enumerate() {
        // SAFETY: the caller vouches for all registers.
        *register = unsafe { isa.load(from.add(i * I::V::BYTES)) };
    }
    registers
}

/// Stores all registers to `to`.
///
/// # Safety
/// So many bytes are writable.
#[inline(always)]
pub(crate) unsafe fn store<V: Lanes, const M: usize>(registers: &[V; M], to: *mut u8) {
    for (i, register) in registers.iter().enumerate() {
        // SAFETY: the caller vouches for all registers.
        unsafe { register.store(to.add(i * V::BYTES)) }
    }
}

/// Stores all registers to `to` past the caches.
///
/// # Safety
/// So many bytes are writable, and `to` is a multiple of a register's.
#[inline(always)]
unsafe fn store_past_caches<V: Lanes, const M: usize>(registers: &[V; M], to: *mut u8) {
    for (i, register) in registers.iter().enumerate() {
        // SAFETY: the caller vouches for all registers.
        unsafe { register.store_past_caches(to.add(i * V::BYTES)) }
    }
}

/// The first `bytes` bytes from `from`, then zeros up to M registers.
///
/// # Safety
/// `bytes` bytes are readable, and they fit into M registers.
#[inline(always)]
pub(crate) unsafe fn load_padded<I: Isa, const M: usize>(isa: I, from: *const u8, bytes: usize) -> [I::V; M] {
    debug_assert!(bytes <= bytes_of::<I::V, M>());
    let mut registers = [isa.zero(); M];
    for (i, register) in registers.iter_mut().enumerate() {
        let start = i * I::V::BYTES;
        if start < bytes {
            // SAFETY: between `start` and `bytes`.
            *register = unsafe { isa.load_partial(from.add(start), (bytes - start).min(I::V::BYTES)) };
        }
    }
    registers
}

/// Stores the first `bytes` bytes of the registers to `to`, and touches nothing beyond.
///
/// # Safety
/// `bytes` bytes are writable, and there are so many in the registers.
#[inline(always)]
pub(crate) unsafe fn store_first<V: Lanes, const M: usize>(registers: &[V; M], to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= bytes_of::<V, M>());
    for (i, register) in registers.iter().enumerate() {
        let start = i * V::BYTES;
        if start < bytes {
            // SAFETY: between `start` and `bytes`.
            unsafe { register.store_partial(to.add(start), (bytes - start).min(V::BYTES)) }
        }
    }
}
