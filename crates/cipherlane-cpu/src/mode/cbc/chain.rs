//! Decryption of one message, or of a segment of one: blocks side by side.

use cipherlane_core::BLOCK;

use crate::cipher::{MIDDLE, Permutation, SMALL, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::blocks::{self, Pass};

/// Decrypts `message`, which follows the ciphertext block (or IV) `before`.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, before: &[u8; BLOCK], message: Message) {
    // SAFETY: the caller's promise.
    unsafe { blocks::all::<_, N>(&mut Chain { cipher, before: cipher.isa().splat(before) }, message) }
}

/// Each block under the one before it. That before a group is carried along: in place, it has been overwritten.
struct Chain<'a, P: Permutation> {
    cipher: &'a P,
    /// The last lane is the ciphertext block before the next register.
    before: V<P>,
}

impl<P: Permutation> Pass for Chain<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    /// Apart, what is added to all groups but the first ones lies a block before them.
    #[inline(always)]
    unsafe fn whole_groups(&mut self, message: Message) -> Message {
        let (cipher, group) = (self.cipher, SMALL * V::<P>::BYTES);
        let is_apart = message.input != message.output.cast_const();
        let first = if cipher.runs_pairs() { 2 * group } else { group };
        if !is_apart || cipher.runs_in_memory(message.bytes.saturating_sub(first) / group) == 0 {
            return message;
        }
        // SAFETY: the caller's; there is a group before what is run in memory, and a register before what is left.
        unsafe {
            if cipher.runs_pairs() {
                blocks::groups::<_, MIDDLE>(self, message.take(first));
            } else {
                blocks::groups::<_, SMALL>(self, message.take(first));
            }
            let rest = blocks::whole_groups(
                cipher.isa(),
                message.skip(first),
                |groups| cipher.runs_in_memory(groups),
                |groups| cipher.run_in_memory(groups, Some(groups.from.sub(BLOCK))),
            );
            self.before = cipher.isa().load(rest.input.sub(V::<P>::BYTES));
            rest
        }
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        let mut output = *registers;
        self.cipher.apply_first::<M>(&mut output);
        for (text, out) in registers.iter_mut().zip(&output) {
            let before = text.shift_in(self.before);
            self.before = *text;
            *text = out.xor(before);
        }
    }

    /// Copies of what goes into the rounds would take registers that keys are kept in.
    #[inline(always)]
    unsafe fn registers_of<const M: usize>(&mut self, registers: &mut [V<P>; M], input: *const u8) {
        let isa = self.cipher.isa();
        // SAFETY: the caller's promise; the block before each register but the first is in the one before it.
        let load = |i: usize, before: usize| unsafe { isa.load(input.add(i * V::<P>::BYTES - before)) };
        self.cipher.apply_first::<M>(registers);
        registers[0] = registers[0].xor(load(0, 0).shift_in(self.before));
        for (i, register) in registers.iter_mut().enumerate().skip(1) {
            *register = register.xor(load(i, BLOCK));
        }
        self.before = load(M - 1, 0);
    }
}
