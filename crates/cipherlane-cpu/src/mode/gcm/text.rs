//! Counter-mode encryption of a group of registers, the same in both directions.

use crate::cipher::{Meanwhile, Nothing, Permutation, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};

/// Encrypts or decrypts the first N registers of `message` under counters `begun` by
/// [`Permutation::begin`]; `meanwhile` as in [`Permutation::finish_while`], all calls before the first store.
///
/// # Safety
/// The message has N registers.
#[inline(always)]
pub(super) unsafe fn crypt<P: Permutation, const N: usize>(
    cipher: &P,
    begun: [V<P>; N],
    message: Message,
    meanwhile: &mut impl Meanwhile,
) {
    for (register, key) in keystream(cipher, begun, meanwhile).into_iter().enumerate() {
        let at = register * V::<P>::BYTES;
        // SAFETY: the message reaches that far.
        unsafe { cipher.isa().load(message.input.add(at)).xor(key).store(message.output.add(at)) }
    }
}

/// The same past the caches. Returns what was stored.
///
/// # Safety
/// The message has N registers, and its output is aligned to one.
#[inline(always)]
pub(super) unsafe fn crypt_past_caches<P: Permutation, const N: usize>(
    cipher: &P,
    begun: [V<P>; N],
    message: Message,
    meanwhile: &mut impl Meanwhile,
) -> [V<P>; N] {
    let mut text = keystream(cipher, begun, meanwhile);
    for (register, text) in text.iter_mut().enumerate() {
        let at = register * V::<P>::BYTES;
        // SAFETY: the message reaches that far.
        unsafe {
            *text = cipher.isa().load(message.input.add(at)).xor(*text);
            text.store_past_caches(message.output.add(at));
        }
    }
    text
}

#[inline(always)]
pub(super) fn keystream<P: Permutation, const N: usize>(
    cipher: &P,
    begun: [V<P>; N],
    meanwhile: &mut impl Meanwhile,
) -> [V<P>; N] {
    if <P::Isa as Isa>::REGISTERS >= 32 {
        cipher.finish_in_step(begun, &mut [], meanwhile)
    } else {
        cipher.finish_while(begun, meanwhile)
    }
}

/// Encrypts or decrypts all of `message`, which has at most N registers.
///
/// # Safety
/// The message's pointers are good for its bytes.
#[inline(always)]
pub(super) unsafe fn crypt_partial<P: Permutation, const N: usize>(
    cipher: &P,
    begun: [V<P>; N],
    message: Message,
) {
    debug_assert!(message.bytes <= N * V::<P>::BYTES);
    let keystream = cipher.finish_while(begun, &mut Nothing);
    for (register, key) in keystream.into_iter().enumerate() {
        // SAFETY: the caller's.
        unsafe {
            let x = load_register::<P::Isa>(cipher.isa(), message, register);
            store_register::<P::Isa>(cipher.isa(), message, register, x.xor(key));
        }
    }
}

/// Register `register` of the input; zero where the message has ended.
///
/// # Safety
/// The message's pointers are good for its bytes.
#[inline(always)]
pub(super) unsafe fn load_register<I: Isa>(isa: I, message: Message, register: usize) -> I::V {
    let at = register * I::V::BYTES;
    let left = message.bytes.saturating_sub(at);
    // SAFETY: no more than what is left of the message is touched.
    unsafe {
        if left >= I::V::BYTES {
            isa.load(message.input.add(at))
        } else if left > 0 {
            isa.load_partial(message.input.add(at), left)
        } else {
            isa.zero()
        }
    }
}

/// Stores `x` as register `register` of the output, as far as the message goes, and returns what was stored, the
/// rest zero.
///
/// # Safety
/// The message's pointers are good for its bytes.
#[inline(always)]
pub(super) unsafe fn store_register<I: Isa>(isa: I, message: Message, register: usize, x: I::V) -> I::V {
    let at = register * I::V::BYTES;
    let left = message.bytes.saturating_sub(at);
    // SAFETY: no more than what is left of the message is touched.
    unsafe {
        if left >= I::V::BYTES {
            x.store(message.output.add(at));
            return x;
        }
        if left > 0 {
            x.store_partial(message.output.add(at), left);
        }
        x.and(isa.first_bytes(left))
    }
}
