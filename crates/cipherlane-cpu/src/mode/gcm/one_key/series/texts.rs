//! Registers of one message.

use crate::cipher::{Meanwhile, Permutation, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::counters::{Count, Known};

/// The first C registers of the input, the last one perhaps in PART.
///
/// # Safety
/// There are as many.
#[inline(always)]
pub(super) unsafe fn load<I: Isa, const C: usize, const PART: bool>(isa: I, text: Message) -> [I::V; C] {
    let mut registers = [isa.zero(); C];
    for (i, register) in registers.iter_mut().enumerate() {
        let at = i * I::V::BYTES;
        // SAFETY: the caller's.
        *register = unsafe {
            if PART && i + 1 == C {
                isa.load_partial(text.input.add(at), text.bytes - at)
            } else {
                isa.load(text.input.add(at))
            }
        };
    }
    registers
}

/// Encrypts or decrypts the first C registers, the last one perhaps in PART, and returns them, zeros behind that part.
///
/// # Safety
/// There are as many.
#[inline(always)]
pub(super) unsafe fn crypt<P: Permutation, const C: usize, const PART: bool>(
    cipher: &P,
    counters: &mut Known<'_, V<P>>,
    text: Message,
    meanwhile: &mut impl Meanwhile,
) -> [V<P>; C] {
    let isa = cipher.isa();
    let begun = Count::<P>::take::<C>(counters);
    let mut registers = cipher.finish_in_step(begun, &mut [], meanwhile);
    for (i, register) in registers.iter_mut().enumerate() {
        let at = i * V::<P>::BYTES;
        // SAFETY: the caller's.
        unsafe {
            let (input, output) = (text.input.add(at), text.output.add(at));
            if PART && i + 1 == C {
                let bytes = text.bytes - at;
                *register = isa.load_partial(input, bytes).xor(*register);
                register.store_partial(output, bytes);
                *register = register.and(isa.first_bytes(bytes));
            } else {
                *register = isa.load(input).xor(*register);
                register.store(output);
            }
        }
    }
    registers
}
