//! Programs of block ciphers in modes of operation.

use cipherlane_core::{Cipher, Mode, Operation, Shape};

use super::mode::{self, ModeProgram, WHOLE_BLOCK};
use super::{MOST_TILE, Program, Stage, Target, Threads, Workspace};

/// A way to write a cipher: one header, some defines, and what they cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    /// As plans spell it.
    pub(super) name: &'static str,
    /// The header below `c/`.
    pub(super) header: &'static str,
    /// Tables in shared memory, for headers that ask; 0 for none.
    pub(super) tables: u32,
    /// Bytes of shared memory of a block.
    pub(super) shared_bytes: u32,
    /// Blocks that a thread has in flight.
    pub(super) width: u32,
    /// Most threads of a block that registers suffice for.
    pub(super) threads: u32,
    /// Whether it is AES by tables: `primitive/aes_counter.h` goes with it, a column can be a thread's, and it has
    /// `cipher_expand_here`, for keys that a thread keeps in registers.
    pub(super) aes_by_tables: bool,
}

impl Variant {
    const fn banked(name: &'static str, header: &'static str, tables: u32) -> Self {
        Self {
            name,
            header,
            tables,
            shared_bytes: tables * 32 * 1024,
            width: 1,
            threads: 1024,
            aes_by_tables: false,
        }
    }

    const fn aes_banked(name: &'static str, tables: u32) -> Self {
        let variant = Self::banked(name, "primitive/aes_banked.h", tables);
        Self { aes_by_tables: true, ..variant }
    }

    const fn bitsliced(header: &'static str, width: u32) -> Self {
        let variant = Self::banked("bitsliced", header, 0);
        Self { width, threads: 256, ..variant }
    }

    /// Whether it is AES by as many tables as a column has bytes.
    pub(super) const fn is_by_four_tables(&self) -> bool {
        self.aes_by_tables && self.tables == 4
    }

    /// Whether secrets choose addresses of shared memory.
    pub(super) const fn looks_up(&self) -> bool {
        self.shared_bytes > 0
    }
}

const AES: &[Variant] = &[
    Variant::aes_banked("banked4", 4),
    Variant::aes_banked("banked2", 2),
    Variant::aes_banked("banked1", 1),
    Variant::bitsliced("primitive/aes_bitsliced.h", 8),
];

const CAMELLIA: &[Variant] = &[
    Variant::banked("banked4", "primitive/camellia_banked.h", 4),
    Variant::banked("banked1", "primitive/camellia_banked.h", 1),
    Variant::bitsliced("primitive/camellia_bitsliced.h", 4),
];

const SC2000: &[Variant] = &[
    Variant::banked("banked6", "primitive/sc2000_banked.h", 6),
    Variant::banked("banked1", "primitive/sc2000_banked.h", 1),
    Variant::bitsliced("primitive/sc2000_bitsliced.h", 2),
];

const SM4: &[Variant] = &[
    Variant::banked("banked4", "primitive/sm4_banked.h", 4),
    Variant::banked("banked2", "primitive/sm4_banked.h", 2),
    Variant::banked("banked1", "primitive/sm4_banked.h", 1),
    Variant::bitsliced("primitive/sm4_bitsliced.h", 8),
];

/// The variants of a cipher, fastest first where all are possible.
const fn variants(cipher: Cipher) -> &'static [Variant] {
    match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => AES,
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => CAMELLIA,
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => SC2000,
        Cipher::Sm4 => SM4,
    }
}

/// Rounds of the cipher.
const fn rounds(cipher: Cipher) -> u32 {
    match cipher {
        Cipher::Aes128 => 10,
        Cipher::Aes192 => 12,
        Cipher::Aes256 => 14,
        Cipher::Camellia128 => 18,
        Cipher::Camellia192 | Cipher::Camellia256 => 24,
        Cipher::Sc2000_128 => 6,
        Cipher::Sc2000_192 | Cipher::Sc2000_256 => 7,
        Cipher::Sm4 => 32,
    }
}

/// Words of the expanded key as `variant` keeps it: `SCHEDULE_ROW` of its header.
const fn schedule_words(cipher: Cipher, variant: &Variant) -> u32 {
    let rounds = rounds(cipher);
    match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 if variant.looks_up() => 4 * (rounds + 1),
        // A plane per bit of a column.
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => 32 * (rounds + 1),
        // Whitening, rounds, and two keys of FL between each six rounds and the next; two words each.
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
            2 * (4 + rounds + 2 * (rounds / 6 - 1))
        }
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => 8 * rounds + 8,
        Cipher::Sm4 => 32,
    }
}

/// Every program of `cipher` in `mode` that fits the target, fastest first.
pub(super) fn programs(cipher: Cipher, mode: Mode, shape: &Shape, target: &Target) -> Vec<Program> {
    let fits = |variant: &&Variant| variant.shared_bytes + 8192 <= target.shared_bytes;
    let mut programs = Vec::new();
    for variant in variants(cipher).iter().filter(fits) {
        for form in mode::forms(mode, shape, target, variant) {
            programs.push(program(cipher, mode, shape, target, variant, &form));
        }
    }
    programs
}

fn program(
    cipher: Cipher,
    mode: Mode,
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: &ModeProgram,
) -> Program {
    let words = schedule_words(cipher, variant);
    let keys_in_one = if mode == Mode::Xts { 2 } else { 1 };
    let inverse = matches!(shape.operation, Operation::Decrypt | Operation::Open);
    let threads = form.threads(target);
    let constant = shape.shared_key && !form.key_in_registers;
    let mut defines = vec![
        ("PROGRAM", name_of_entries(cipher, mode, shape.operation)),
        ("CIPHER", format!("\"{}\"", variant.header)),
        ("THREADS", threads.to_string()),
        ("WIDTH", form.width.to_string()),
        ("TILE", form.tile.to_string()),
        ("TABLES", variant.tables.to_string()),
        ("ROUNDS", rounds(cipher).to_string()),
        ("KEY_BYTES", cipher.key_bytes().to_string()),
        ("KEYS_IN_ONE", keys_in_one.to_string()),
        ("SHARED_KEY", u32::from(shape.shared_key).to_string()),
        ("KEY_IN_REGISTERS", u32::from(form.key_in_registers).to_string()),
        ("INVERSE", u32::from(inverse).to_string()),
        // Counter modes decrypt by enciphering.
        ("INVERSE_CIPHER", u32::from(inverse && !matches!(mode, Mode::Ctr | Mode::Gcm)).to_string()),
    ];
    if let Some(most) = form.most_tile {
        defines.push((MOST_TILE, most.to_string()));
    }
    if constant {
        defines.push(("SCHEDULE_WORDS", (words * keys_in_one).to_string()));
    }
    let stages = form.stages.iter().map(|stage| Stage {
        entry: stage.name,
        items: stage.items,
        threads_per_item: if stage.threads_per_item == WHOLE_BLOCK {
            threads
        } else {
            stage.threads_per_item
        },
        threads,
        shared_bytes: if stage.ciphers { variant.shared_bytes + stage.extra_shared } else { 0 },
        when: stage.when,
    });
    Program {
        kernel: format!("{}-{}/{}/x{}", cipher.family(), mode.name(), form.name(variant), form.width),
        variant: form.name(variant),
        lanes: form.width as usize,
        constant_time: target.banked || !variant.looks_up(),
        algorithm: shape.algorithm,
        operation: shape.operation,
        shared_key: shape.shared_key,
        source: form.source,
        defines,
        stages: stages.collect(),
        threads: Threads { step: form.thread_step, most: threads },
        tiling: form.tiling,
        schedule_words: if constant { (words * keys_in_one) as usize } else { 0 },
        workspace: Workspace {
            schedule: if form.key_in_registers { 0 } else { u64::from(4 * words * keys_in_one) },
            ..form.workspace
        },
    }
}

/// The first part of the names of entry points: `aes_128_ctr_encrypt`.
fn name_of_entries(cipher: Cipher, mode: Mode, operation: Operation) -> String {
    format!("{}_{}_{}", cipher.name(), mode.name(), operation.name()).replace('-', "_")
}
