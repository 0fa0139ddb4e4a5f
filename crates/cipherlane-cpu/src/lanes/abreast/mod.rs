//! CBC encryption of eight registers of streams in instructions of our own order: beside the rounds of their blocks, those
//! before them leave the stage, and the next ones enter it.
//!
//! Between two blocks of a stream is nothing but rounds: the next text comes in with the last key. Eight registers are then
//! just enough to begin two rounds in each clock, on two ports of a CPU of AMD's; shuffles have the second of them and a third
//! one. So blocks come from the lines of their streams, and go back, by one shuffle a register in place of two: half a line
//! is loaded behind half of another.

#[macro_use]
mod slots;

use std::arch::asm;
use std::arch::x86_64::{_mm512_mask_loadu_epi64, _mm512_mask_xor_epi64};

use cipherlane_core::BLOCK;

use super::vaes512::X4;
use super::{ABREAST, Abreast, Isa, Lanes, Set};

/// Encrypts all stages of `streams` with `keys`; returns the last block of each stream of the last set.
///
/// # Safety
/// This CPU has what [`super::vaes512::Vaes512`] proves; `keys` has ROUNDS + 1 registers, and the caller keeps what
/// [`Abreast`] asks for.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) unsafe fn encrypt<const ROUNDS: usize>(
    keys: *const X4,
    streams: Abreast<'_, X4>,
) -> [X4; ABREAST] {
    let Abreast { sets, stages: [mut there, mut here], steps } = streams;
    // SAFETY: there are ROUNDS + 1 keys.
    let isa = unsafe { *keys }.isa();
    let mut chains = [isa.zero(); ABREAST];
    // What enters and what leaves are stages, each of a set: stage `number` is so many times `steps` blocks from where inputs
    // and outputs point. What there is for the stage behind the last one may be anything: chains are then taken from what was
    // stored.
    macro_rules! pass {
        ($enters:expr, $leaves:expr; $keys:expr, $($text:expr),*) => {{
            let ((entering, enters), (leaving, leaves)): ((&Set, usize), (&Set, usize)) = ($enters, $leaves);
            asm!(
                $keys,
                "2:",
                next!(),
                $($text,)*
                step!(),
                text = inout(reg) keys => _,
                here = inout(reg) here => _, next = out(reg) _,
                there = inout(reg) there => _, other = in(reg) there,
                inputs = inout(reg) entering.inputs => _, outputs = inout(reg) leaving.outputs => _,
                enters = inout(reg) enters * steps * BLOCK => _, leaves = inout(reg) leaves * steps * BLOCK => _,
                left = inout(reg) steps => _,
                lines = in(reg) steps / ABREAST, pair = inout(reg) steps / ABREAST => _,
                inout("zmm0") chains[0].0, inout("zmm1") chains[1].0, inout("zmm2") chains[2].0,
                inout("zmm3") chains[3].0, inout("zmm4") chains[4].0, inout("zmm5") chains[5].0,
                inout("zmm6") chains[6].0, inout("zmm7") chains[7].0,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _,
                out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
                options(nostack),
            )
        }};
    }
    macro_rules! stage {
        ($moves:expr, $keys:ident $rounds:ident) => {
            match $moves {
                (Some(enters), None) => pass!(enters, enters; $keys!(), $rounds!(alone enter), last!()),
                (Some(enters), Some(leaves)) => pass!(enters, leaves; $keys!(), $rounds!(leave enter), last!()),
                (None, Some(leaves)) => pass!(leaves, leaves; $keys!(), $rounds!(leave alone), last!()),
                (None, None) => pass!((&sets[0], 0), (&sets[0], 0); $keys!(), $rounds!(alone alone), last!()),
            }
        };
    }
    let mut leaves = None;
    // SAFETY: the caller's; the first blocks are there before they are read, and the last ones stay.
    unsafe {
        pass!((&sets[0], sets[0].first), (&sets[0], 0); "", parts!(enter));
        (here, there) = (there, here);
        for (set, next) in sets.iter().zip(sets[1..].iter().map(Some).chain([None])) {
            if set.begin == Set::ALL {
                for (i, chain) in chains.iter_mut().enumerate() {
                    let before = isa.load(set.chains.cast::<u8>().add(i * size_of::<X4>()));
                    *chain = before.xor(*keys).xor(*here.add(i));
                }
            } else if set.begin > 0 {
                begin(&mut chains, set, *keys, here);
            }
            let end = set.first + set.count;
            for number in set.first..end {
                let enters = if number + 1 < end {
                    Some((set, number + 1))
                } else {
                    next.map(|next| (next, next.first))
                };
                match ROUNDS {
                    10 => stage!((enters, leaves), keys_10 rounds_10),
                    12 => stage!((enters, leaves), keys_12 rounds_12),
                    _ => stage!((enters, leaves), keys_14 rounds_14),
                }
                leaves = Some((set, number));
                (here, there) = (there, here);
            }
        }
        if let Some(last) = leaves {
            pass!(last, last; "", parts!(leave));
        }
        for (chain, i) in chains.iter_mut().zip((steps - 1) * ABREAST..) {
            *chain = *there.add(i);
        }
    }
    chains
}

/// Has the streams of `set` that begin take the place of those that `chains` have so far: the block before the first text, with
/// that on the stage and the first key.
///
/// # Safety
/// As [`encrypt`]'s, and a row of the stage is there.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
unsafe fn begin(chains: &mut [X4; ABREAST], set: &Set, key: X4, stage: *const X4) {
    for (i, chain) in chains.iter_mut().enumerate() {
        let words = (set.begin >> (8 * i)) as u8;
        // SAFETY: the caller's; words outside the mask are not touched.
        unsafe {
            let before = _mm512_mask_loadu_epi64(
                chain.0,
                words,
                set.chains.cast::<u8>().add(i * size_of::<X4>()).cast(),
            );
            let text = key.xor(*stage.add(i));
            chain.0 = _mm512_mask_xor_epi64(before, words, before, text.0);
        }
    }
}
