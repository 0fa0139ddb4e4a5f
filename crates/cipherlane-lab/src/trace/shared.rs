//! Mixes that are told by mnemonics, timed together: what the ports that they share allow.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::code::{LOADS, Loop, STORES};
use super::free;

/// Instructions of a probe, and timings of it.
const BODY: usize = 500;
const LOOPS: usize = 6;

/// Clocks of `counts` instructions on registers of `bits` bits, evenly mixed and with nothing to wait for; `None`
/// where one is not known here by its name. The caller knows that this CPU has all of them.
pub(crate) fn clocks_of(counts: &[(&'static str, f64)], bits: u32) -> Option<f64> {
    let weights: Option<Vec<_>> =
        counts.iter().map(|&(mnemonic, count)| Some((instruction(mnemonic, bits)?, count))).collect();
    let weights = weights?;
    let all: f64 = weights.iter().map(|(_, count)| count).sum();
    let clocks = Loop::new(&free::mixed(&weights, BODY)).and_then(|mut probe| probe.clocks(LOOPS)).ok()?;
    Some(clocks / BODY as f64 * all)
}

/// Operands besides the result.
#[derive(Clone, Copy)]
enum Form {
    Two,
    TwoAnd8,
    OneAnd8,
    Load,
    Store,
}

/// Encodings at 128, 256 and 512 bits.
type Encoded = (&'static str, Form, [Code; 3]);

use Code as C;
const KNOWN: [Encoded; 15] = [
    (
        "load",
        Form::Load,
        [C::VEX_Vmovdqu_xmm_xmmm128, C::VEX_Vmovdqu_ymm_ymmm256, C::EVEX_Vmovdqu32_zmm_k1z_zmmm512],
    ),
    (
        "store",
        Form::Store,
        [C::VEX_Vmovdqu_xmmm128_xmm, C::VEX_Vmovdqu_ymmm256_ymm, C::EVEX_Vmovdqu32_zmmm512_k1z_zmm],
    ),
    (
        "vaesenc",
        Form::Two,
        [C::VEX_Vaesenc_xmm_xmm_xmmm128, C::VEX_Vaesenc_ymm_ymm_ymmm256, C::EVEX_Vaesenc_zmm_zmm_zmmm512],
    ),
    (
        "vpclmulqdq",
        Form::TwoAnd8,
        [
            C::VEX_Vpclmulqdq_xmm_xmm_xmmm128_imm8,
            C::VEX_Vpclmulqdq_ymm_ymm_ymmm256_imm8,
            C::EVEX_Vpclmulqdq_zmm_zmm_zmmm512_imm8,
        ],
    ),
    (
        "vgf2p8affineqb",
        Form::TwoAnd8,
        [
            C::VEX_Vgf2p8affineqb_xmm_xmm_xmmm128_imm8,
            C::VEX_Vgf2p8affineqb_ymm_ymm_ymmm256_imm8,
            C::EVEX_Vgf2p8affineqb_zmm_k1z_zmm_zmmm512b64_imm8,
        ],
    ),
    (
        "vgf2p8affineinvqb",
        Form::TwoAnd8,
        [
            C::VEX_Vgf2p8affineinvqb_xmm_xmm_xmmm128_imm8,
            C::VEX_Vgf2p8affineinvqb_ymm_ymm_ymmm256_imm8,
            C::EVEX_Vgf2p8affineinvqb_zmm_k1z_zmm_zmmm512b64_imm8,
        ],
    ),
    (
        "vpshufb",
        Form::Two,
        [C::VEX_Vpshufb_xmm_xmm_xmmm128, C::VEX_Vpshufb_ymm_ymm_ymmm256, C::EVEX_Vpshufb_zmm_k1z_zmm_zmmm512],
    ),
    (
        "vpunpcklbw",
        Form::Two,
        [
            C::VEX_Vpunpcklbw_xmm_xmm_xmmm128,
            C::VEX_Vpunpcklbw_ymm_ymm_ymmm256,
            C::EVEX_Vpunpcklbw_zmm_k1z_zmm_zmmm512,
        ],
    ),
    (
        "vpermb",
        Form::Two,
        [
            C::EVEX_Vpermb_xmm_k1z_xmm_xmmm128,
            C::EVEX_Vpermb_ymm_k1z_ymm_ymmm256,
            C::EVEX_Vpermb_zmm_k1z_zmm_zmmm512,
        ],
    ),
    (
        "vpermi2b",
        Form::Two,
        [
            C::EVEX_Vpermi2b_xmm_k1z_xmm_xmmm128,
            C::EVEX_Vpermi2b_ymm_k1z_ymm_ymmm256,
            C::EVEX_Vpermi2b_zmm_k1z_zmm_zmmm512,
        ],
    ),
    (
        "vpaddd",
        Form::Two,
        [C::VEX_Vpaddd_xmm_xmm_xmmm128, C::VEX_Vpaddd_ymm_ymm_ymmm256, C::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32],
    ),
    (
        "vpxor",
        Form::Two,
        [C::VEX_Vpxor_xmm_xmm_xmmm128, C::VEX_Vpxor_ymm_ymm_ymmm256, C::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32],
    ),
    (
        "vpternlogd",
        Form::TwoAnd8,
        [
            C::EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8,
            C::EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8,
            C::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8,
        ],
    ),
    // Of words of 32 and of 64 bits alike.
    (
        "vprol",
        Form::OneAnd8,
        [
            C::EVEX_Vprold_xmm_k1z_xmmm128b32_imm8,
            C::EVEX_Vprold_ymm_k1z_ymmm256b32_imm8,
            C::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8,
        ],
    ),
    (
        "vpsrld",
        Form::OneAnd8,
        [C::VEX_Vpsrld_xmm_xmm_imm8, C::VEX_Vpsrld_ymm_ymm_imm8, C::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8],
    ),
];

/// An instruction by its mnemonic; `load` and `store` move a register.
fn instruction(mnemonic: &str, bits: u32) -> Option<Instruction> {
    let (place, register) = match bits {
        128 => (0, Register::XMM0),
        256 => (1, Register::YMM0),
        512 => (2, Register::ZMM0),
        _ => return None,
    };
    let known = match mnemonic {
        "vpxord" => "vpxor",
        "vprold" | "vprolq" => "vprol",
        other => other,
    };
    let &(_, form, codes) = KNOWN.iter().find(|(name, ..)| *name == known)?;
    let (code, one, other) = (codes[place], register + 1_u32, register + 2_u32);
    let made = match form {
        Form::Two => Instruction::with3(code, register, one, other),
        Form::TwoAnd8 => Instruction::with4(code, register, one, other, 1),
        Form::OneAnd8 => Instruction::with3(code, register, one, 7),
        Form::Load => Instruction::with2(code, register, MemoryOperand::with_base(LOADS)),
        Form::Store => Instruction::with2(code, MemoryOperand::with_base(STORES), register),
    };
    made.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_encoded_at_every_width() {
        for (name, ..) in KNOWN {
            for bits in [128, 256, 512] {
                let made = instruction(name, bits).unwrap_or_else(|| panic!("{name} at {bits} bits"));
                assert_eq!(free::mixed(&[(made, 1.0)], 1)[0].code(), made.code(), "{name} at {bits} bits");
            }
        }
        assert_eq!(instruction("vaesenc", 64), None);
        assert_eq!(instruction("sha256rnds2", 128), None);
    }
}
