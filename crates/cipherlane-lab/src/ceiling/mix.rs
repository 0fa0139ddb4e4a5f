//! What an algorithm's instructions allow: the mix of one register of text, divided by the measured rates.
//!
//! A mix counts what no way of writing the algorithm on a tier does without, so the bound is one that no code passes
//! and good code comes near. Two bounds hold at once: each instruction's own rate, and the rate at which a core
//! starts vector instructions of any kind, for which the rate of XOR stands. A third is measured: the whole mix, with a
//! load and a store of each register, evenly mixed and with nothing to wait for, because instructions share ports (on
//! Zen 4, ten AES rounds and three products take thirteen clocks). Where the data leaves the caches, the rate of copying
//! bounds as well.

pub(crate) mod gpu;
mod sliced;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use cipherlane::{Algorithm, Cipher, Hash, Mode};

use super::{Ceilings, Level};
use crate::trace;

/// Counts of instructions by mnemonic.
type Counts = Vec<(&'static str, f64)>;

/// What one register of text costs.
struct Mix {
    /// Bits of a register.
    bits: u32,
    /// Bytes of text that the counts stand for.
    bytes: f64,
    counts: Counts,
    /// Whether as many bytes come out.
    is_written: bool,
    /// Registers of tables that are loaded for each of text.
    tables: f64,
}

/// An upper bound on the speed of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Bytes per clock of the core.
    pub bytes_per_clock: f64,
    /// What binds: `vaesenc at 512 bits`.
    pub by: String,
}

/// The bound of `algorithm` on `tier` with one key for all messages, or `None` where there is no model: for code
/// without vector instructions, and for key set-up.
#[must_use]
pub fn bound(ceilings: &Ceilings, algorithm: Algorithm, tier: &str) -> Option<Bound> {
    bound_by(ceilings, algorithm, tier, trace::clocks_of)
}

/// The same for code that reached `bytes_per_clock`. A bound below that was measured while a neighbour slowed the core:
/// it is measured anew, some times at most.
#[must_use]
pub fn bound_above(
    ceilings: &Ceilings,
    algorithm: Algorithm,
    tier: &str,
    bytes_per_clock: f64,
) -> Option<Bound> {
    let mut bounds = std::iter::repeat_with(|| bound(ceilings, algorithm, tier)).take(AGAIN);
    let mut found = bounds.next()??;
    while found.bytes_per_clock < bytes_per_clock
        && let Some(next) = bounds.next()
    {
        found = next?;
    }
    Some(found)
}

/// Measurements of what was too low at first.
const AGAIN: usize = 5;

/// Clocks of counts of instructions at a width, all at once.
type Together = fn(&[(&'static str, f64)], u32) -> Option<f64>;

/// Clocks of mixes that were measured; `None` of those that could not be.
#[derive(Debug, Default)]
pub(super) struct Mixes(Mutex<Vec<(Counts, u32, Option<f64>)>>);

impl Mixes {
    /// Clocks of `counts` at a width by `together`. Each time they are asked for they are measured anew, and the fastest
    /// counts: a neighbour on the core's other thread comes and goes. Rows of one algorithm have one ceiling as long as
    /// no more than noise tells the measurements apart.
    fn clocks(&self, counts: Counts, bits: u32, together: Together) -> Option<f64> {
        let now = together(&counts, bits);
        // A list is whole between changes, whoever panicked.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter_mut().find(|(mix, width, _)| *mix == counts && *width == bits);
        let Some((.., clocks)) = found else {
            known.push((counts, bits, now));
            return now;
        };
        if let Some(now) = now
            && clocks.is_none_or(|clocks| now * NOISE < clocks)
        {
            *clocks = Some(now);
        }
        *clocks
    }
}

/// By how much two measurements of one thing may differ.
const NOISE: f64 = 1.03;

fn bound_by(ceilings: &Ceilings, algorithm: Algorithm, tier: &str, together: Together) -> Option<Bound> {
    let mix = mix(ceilings, algorithm, tier)?;
    let all: f64 = mix.counts.iter().map(|(_, count)| count).sum();
    let any = ceilings.rate("vpxord", mix.bits).or_else(|| ceilings.rate("vpxor", mix.bits))?;
    let mut worst = (all / any, "vector instructions of any kind".to_owned());
    for (mnemonic, count) in &mix.counts {
        let clocks = count / rate(ceilings, mnemonic, mix.bits)?;
        if clocks > worst.0 {
            worst = (clocks, (*mnemonic).to_owned());
        }
    }
    let (mut clocks, mut by) = worst;
    if let Some(counts) = present(ceilings, &mix)
        && let Some(shared) = ceilings.mixes.clocks(counts, mix.bits, together)
        && shared > NOISE * clocks
    {
        by += " and what shares its ports";
        clocks = shared;
    }
    Some(Bound { bytes_per_clock: mix.bytes / clocks, by: format!("{by} at {} bits", mix.bits) })
}

/// The instructions of a mix by the names that this CPU has, with those that move the text; `None` where it lacks one.
fn present(ceilings: &Ceilings, mix: &Mix) -> Option<Counts> {
    let named = |&(mnemonic, count): &(&'static str, f64)| {
        let found = [mnemonic, "vpxor"].into_iter().find(|name| ceilings.rate(name, mix.bits).is_some())?;
        (found == mnemonic || matches!(mnemonic, "vpxord" | "vpternlogd")).then_some((found, count))
    };
    let mut counts: Counts = mix.counts.iter().map(named).collect::<Option<_>>()?;
    let registers = mix.bytes / f64::from(mix.bits / 8);
    counts.push(("load", registers + mix.tables));
    if mix.is_written {
        counts.push(("store", registers));
    }
    Some(counts)
}

/// The rate of an instruction. XOR has another name without AVX-512; without VAES and VPCLMULQDQ two instructions of
/// 128 bits do the work of one of 256.
fn rate(ceilings: &Ceilings, mnemonic: &str, bits: u32) -> Option<f64> {
    ceilings.rate(mnemonic, bits).or_else(|| match (mnemonic, bits) {
        ("vpxord" | "vpternlogd", _) => ceilings.rate("vpxor", bits),
        ("vaesenc" | "vpclmulqdq", 256) => ceilings.rate(mnemonic, 128).map(|rate| rate / 2.0),
        _ => None,
    })
}

/// The bound that copying sets to each of `cores` cores that share out `working_set_bytes` bytes of data: bytes of text per
/// second, for code that reached `bytes_per_second`. As above, a bound below that is measured anew.
#[must_use]
pub fn memory_bound(
    ceilings: &Ceilings,
    working_set_bytes: u64,
    cores: u64,
    bytes_per_second: f64,
) -> Option<(f64, String)> {
    let held = |level: &Level| {
        if CACHES_OF_A_CORE.contains(&level.name.as_str()) {
            working_set_bytes / cores
        } else {
            working_set_bytes
        }
    };
    // The levels are walked at half of their size.
    let level = ceilings.memory.iter().find(|level| held(level) <= 2 * level.bytes);
    let level = level.or(ceilings.memory.last())?;
    let copying = ceilings.copies.fastest(level, held(level), bytes_per_second);
    let alone = if cores > 1 { ", each core as one alone" } else { "" };
    Some((copying, format!("copying in {}{alone}", level.name)))
}

/// Each core has these for its part of the data; what is behind them holds all of it.
const CACHES_OF_A_CORE: [&str; 2] = ["L1", "L2"];

fn mix(ceilings: &Ceilings, algorithm: Algorithm, tier: &str) -> Option<Mix> {
    match algorithm {
        Algorithm::Cipher(cipher, mode) => {
            let (bits, mut counts) = rounds(ceilings, cipher, tier)?;
            counts.extend(around(ceilings, mode, bits));
            let is_aes = matches!(cipher, Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256);
            let is_counted = bits == 512 && is_aes && matches!(mode, Mode::Ctr | Mode::Gcm);
            if is_counted {
                counts = without_first_round(counts);
            }
            let tables = if is_counted { 1.0 } else { 0.0 };
            Some(Mix { bits, bytes: f64::from(bits / 8), counts, tables, is_written: true })
        }
        Algorithm::Hash(hash) => hashing(hash, tier),
    }
}

/// Bits of the registers that a cipher runs on, and its own instructions on one of them.
fn rounds(ceilings: &Ceilings, cipher: Cipher, tier: &str) -> Option<(u32, Counts)> {
    let aes = |rounds: f64| Some((aes_bits(ceilings, tier)?, vec![("vaesenc", rounds), ("vpxord", 1.0)]));
    match cipher {
        Cipher::Aes128 => aes(10.0),
        Cipher::Aes192 => aes(12.0),
        Cipher::Aes256 => aes(14.0),
        _ => {
            let (means, bits) = sliced::Means::of(ceilings, tier)?;
            Some((bits, sliced::rounds(cipher, means)?))
        }
    }
}

/// Counter blocks under one key mostly differ in their last byte alone, and the first round of those is known ahead
/// (where there are 32 registers): an XOR with a table stands for counting, reversing, whitening and that round.
fn without_first_round(counts: Counts) -> Counts {
    let left = |(mnemonic, count)| match mnemonic {
        "vpaddd" => None,
        "vaesenc" | "vpshufb" => (count > 1.0).then_some((mnemonic, count - 1.0)),
        _ => Some((mnemonic, count)),
    };
    counts.into_iter().filter_map(left).collect()
}

fn aes_bits(ceilings: &Ceilings, tier: &str) -> Option<u32> {
    match tier {
        "avx512" => Some(512),
        // Without VAES there are no wider AES rounds than those of 128 bits.
        "avx2" if ceilings.rate("vaesenc", 256).is_none() => Some(128),
        "avx2" => Some(256),
        "sse" => Some(128),
        _ => None,
    }
}

/// What a mode adds to each register.
fn around(ceilings: &Ceilings, mode: Mode, bits: u32) -> Counts {
    // Karatsuba's third product replaces two of schoolbook's four and costs three XORs: it pays on cores that start
    // a product every other clock.
    let products = if ceilings.rate("vpclmulqdq", bits).is_some_and(|rate| rate < 0.75) { 3.0 } else { 4.0 };
    match mode {
        Mode::Ecb => Vec::new(),
        Mode::Cbc => vec![("vpxord", 1.0)],
        Mode::Ctr => vec![("vpaddd", 1.0), ("vpshufb", 1.0), ("vpxord", 1.0)],
        Mode::Gcm => vec![
            ("vpaddd", 1.0),
            ("vpshufb", 2.0),
            ("vpxord", 1.0),
            ("vpclmulqdq", products),
            ("vpternlogd", 2.0),
        ],
        // The tweak: bytes shifted, those shifted out multiplied by the polynomial and added; then both whitenings.
        Mode::Xts => vec![("vpshufb", 2.0), ("vpclmulqdq", 1.0), ("vpxord", 3.0)],
    }
}

/// A hash function in lanes: one application of its compression or permutation.
fn hashing(hash: Hash, tier: &str) -> Option<Mix> {
    if tier != "avx512" {
        return None;
    }
    let lanes = |word_bits: u32| f64::from(512 / word_bits);
    let block = hash.block_bytes() as f64;
    Some(match hash {
        // FIPS 180-4 section 6.2.2, with ternary logic: 64 rounds of 6 rotations, 4 three-input operations and 7
        // additions; 48 words of schedule with 4 rotations, 2 shifts, 2 XORs of three and 3 additions; 16 words whose
        // bytes are reversed.
        Hash::Sha224 | Hash::Sha256 => Mix {
            bits: 512,
            tables: 0.0,
            is_written: false,
            bytes: block * lanes(32),
            counts: vec![
                ("vprold", 64.0 * 6.0 + 48.0 * 4.0),
                ("vpsrld", 48.0 * 2.0),
                ("vpternlogd", 64.0 * 4.0 + 48.0 * 2.0),
                ("vpaddd", 64.0 * 7.0 + 48.0 * 3.0 + 8.0),
                ("vpshufb", 16.0),
            ],
        },
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_256 => Mix {
            bits: 512,
            tables: 0.0,
            is_written: false,
            bytes: block * lanes(64),
            counts: vec![
                ("vprolq", 80.0 * 6.0 + 64.0 * 4.0),
                ("vpsrld", 64.0 * 2.0),
                ("vpternlogd", 80.0 * 4.0 + 64.0 * 2.0),
                ("vpaddd", 80.0 * 7.0 + 64.0 * 3.0 + 8.0),
                ("vpshufb", 16.0),
            ],
        },
        // FIPS 202 section 3.2, with ternary logic: a round is 10 operations for the columns' parities, 5 rotations
        // and 5 XORs for theta, which joins 25 more to 24 rotations of rho, 25 of chi and one of iota.
        _ => Mix {
            bits: 512,
            tables: 0.0,
            is_written: false,
            bytes: block * lanes(64),
            counts: vec![
                ("vprolq", 24.0 * 29.0),
                ("vpternlogd", 24.0 * (10.0 + 25.0 + 25.0)),
                ("vpxord", 24.0 + block / 8.0),
            ],
        },
    })
}
