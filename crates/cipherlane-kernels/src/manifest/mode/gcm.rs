//! The forms of GCM: a tile for 32 threads, a thread for a message, and what binary tensor cores take.

use cipherlane_core::{Cipher, Operation, Shape};

use super::super::cipher::Variant;
use super::super::{FINISH, Items, Target, Tiling, When, Workspace};
use super::{
    COUNTER_SHARED, EXPAND, LANES, LONG_TILE, ModeProgram, StageForm, TILES, UNIT_THREADS, are_long, average,
    counted, counted_bytes,
};

/// Bytes of a row of the region `hash`: `GHASH_ROW` of `primitive/ghash.h`, powers 1 to 32 and 33 squares of 16 bytes.
const GHASH_ROW: u64 = 16 * (32 + 33);
/// Messages up to here are short: the lanes of a tile would have a block or two each, and what a message costs at its
/// start and end would be paid by one of them while the others wait.
const SHORT: u64 = 2048;
/// `COUNTER_RUN_SHARED` of `primitive/aes_counter.h`.
const COUNTER_RUN_SHARED: u32 = COUNTER_SHARED + 16 * 512;
/// What `entry/gcm_long.c` keeps of a run.
const KEPT_BYTES: u32 = 64;
/// `MMA_MATRIX` of `primitive/ghash_mma.h` in bytes; 1/H and the factors that stand beside it in a row of `hash`.
const MATRIX_BYTES: u32 = 12 << 10;
const FACTORS_BYTES: u64 = 257 * 16;
/// The same of `entry/gcm_records.c`, whose units are a warp's.
const RECORD_FACTORS_BYTES: u64 = 33 * 16;
/// Most blocks of a tile of records: as many counters as 32 threads have tables for (`primitive/aes_counted.h`). Beside the
/// matrices of `entry/gcm_each.c` there is less room.
const RECORD_TILE: u64 = 8192;
const EACH_TILE: u64 = 2048;
/// What a thread of `entry/gcm_each.c` keeps of its matrix: `EACH_WORDS` of `primitive/ghash_each.h` in bytes.
const EACH_BYTES: u32 = 48 * 4;
/// Records from here on fill some units of 256 blocks, of which each message takes at least one.
const RECORD: u64 = 6 << 10;
const RECORD_UNIT: u64 = 256 << 4;
/// Texts that so many threads share take them as long as each of them takes one alone, which is some times faster where the
/// others are done: an H200 runs some fifty thousand by messages.
const THREADS: u64 = 1 << 13;

/// Whether messages are short, but for some that keep no thread longer than all of the others take.
const fn are_short(shape: &Shape) -> bool {
    shape.longest <= SHORT || (!average(shape, SHORT) && shape.bytes / THREADS >= shape.longest)
}

/// The forms of GCM, from a form without stages for each source.
pub(super) fn forms(
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: impl Fn(&'static str) -> ModeProgram,
) -> Vec<ModeProgram> {
    let mut by_tiles = by_tile(shape, target, form("entry/gcm.c"), TILES);
    if matches!(
        shape.algorithm.cipher(),
        Some(Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256)
    ) {
        // The keys that its words carry take registers as well.
        by_tiles.threads = by_tiles.threads.min(384);
    }
    if variant.width > 1 {
        return vec![by_tiles];
    }
    let mut forms = Vec::new();
    if variant.aes_by_tables && variant.tables == tables_beside_mma(target) && target.has_binary_mma() {
        if shape.shared_key && are_long(shape) {
            forms.push(long(shape, target, form("entry/gcm_long.c")));
        }
        if shape.longest >= RECORD && average(shape, RECORD_UNIT) {
            forms.push(if shape.shared_key {
                records(shape, target, form("entry/gcm_records.c"))
            } else {
                each(shape, target, form("entry/gcm_each.c"))
            });
        }
        forms.retain(|form| form.shared_bytes(variant) <= target.shared_bytes);
    }
    let by_messages = by_message(shape, target, variant, form("entry/gcm_message.c"));
    forms.extend(if are_short(shape) { [by_messages, by_tiles] } else { [by_tiles, by_messages] });
    forms
}

/// Tables of AES beside the matrix of GHASH on binary tensor cores, as many as there is room for. Of 99 KiB (capabilities
/// 8.6 and 8.9) two take 64, the matrix 12, counters 12 for long messages and 11 for records. The matrices of
/// `entry/gcm_each.c` take 6 for 32 threads, beside which no more than 160 threads have room: too few to wait for look-ups.
const fn tables_beside_mma(target: &Target) -> u32 {
    const FOUR: u32 = 4 * (32 << 10);
    if target.shared_bytes > FOUR { 4 } else { 2 }
}

/// Threads of a block where each has a sum and powers of H, which take registers beside the cipher's.
fn summing_threads(target: &Target, form: &ModeProgram) -> u32 {
    form.threads.min(if target.keeps_more() { 384 } else { 512 })
}

/// A tile for 32 threads, or for as many as `text` takes.
fn by_tile(shape: &Shape, target: &Target, mut form: ModeProgram, text: StageForm) -> ModeProgram {
    form.stages = vec![
        EXPAND,
        StageForm::new("hash", Items::Keys, When::Start).ciphers(),
        StageForm::new("start", Items::Messages, When::Start).ciphers(),
        text,
        StageForm::new(FINISH, Items::Messages, When::End),
    ];
    if shape.operation == Operation::Open {
        form.stages.push(StageForm::new("wipe", Items::Tiles, When::TilesAfter).by_lanes());
    }
    form.workspace = Workspace { hash: GHASH_ROW, state: 64, ..Workspace::default() };
    form.threads = summing_threads(target, &form);
    form
}

/// A thread for a message.
fn by_message(shape: &Shape, target: &Target, variant: &Variant, mut form: ModeProgram) -> ModeProgram {
    let text = StageForm::new("text", Items::Messages, When::Tiles).ciphers();
    form.suffix = Some("message");
    form.tiling = Tiling::None;
    form.key_in_registers = variant.aes_by_tables && !shape.shared_key;
    if form.key_in_registers {
        form.stages = vec![text];
        // With the key in registers, too, 512 threads would have too few.
        form.threads = form.threads.min(if target.keeps_more() { 256 } else { 384 });
    } else {
        form.stages = vec![EXPAND, StageForm::new("hash", Items::Keys, When::Start).ciphers(), text];
        form.workspace = Workspace { hash: 16, ..Workspace::default() };
        // AES has its round keys at hand; what other ciphers keep beside GHASH takes more, as do addresses in two tables.
        let roomy = variant.aes_by_tables && variant.tables != 2 && !target.keeps_more();
        form.threads = form.threads.min(if roomy { 512 } else { 384 });
    }
    form
}

/// A block of threads for neighbouring tiles, GHASH on binary tensor cores.
fn long(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let text = TILES.by_blocks(COUNTER_RUN_SHARED + MATRIX_BYTES + KEPT_BYTES);
    ModeProgram {
        suffix: Some("mma"),
        tile: LONG_TILE,
        tiling: Tiling::Blocks(LONG_TILE),
        threads: 768,
        thread_step: UNIT_THREADS,
        width: 2,
        ..with_matrix(by_tile(shape, target, form, text), FACTORS_BYTES)
    }
}

/// The form with a stage, after that of the powers of H, that makes the matrix of a shared key and `factors` bytes of others.
fn with_matrix(mut form: ModeProgram, factors: u64) -> ModeProgram {
    form.stages.insert(2, StageForm::new("matrix", Items::Keys, When::Start));
    form.workspace.hash += u64::from(MATRIX_BYTES) + factors;
    form
}

/// A tile for 32 threads, GHASH on binary tensor cores.
fn records(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    // The blocks of a unit, and two that are enciphered; where GHASH takes the text that comes in, the round keys of
    // AES-256 take more registers than 640 threads have.
    let many = shape.operation == Operation::Open && shape.algorithm.cipher() == Some(Cipher::Aes256);
    // One thread beyond the first 32 makes 1/H, beside those that make H.
    let form = ModeProgram { threads: if many { 512 } else { 640 }, thread_step: 2 * LANES, ..form };
    let threads = form.threads(target);
    let extra_shared = MATRIX_BYTES + counted_bytes(threads, RECORD_TILE);
    let form = by_tile(shape, target, form, StageForm { extra_shared, ..TILES });
    let form = with_matrix(counted(form, RECORD_TILE), RECORD_FACTORS_BYTES);
    ModeProgram { suffix: Some("mma-records"), width: 2, threads, ..form }
}

/// The same where each message has its key: every 32 threads make a matrix of their own for each tile.
fn each(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let form = ModeProgram { threads: summing_threads(target, &form), ..form };
    let threads = form.threads(target);
    let extra_shared = threads * EACH_BYTES + counted_bytes(threads, EACH_TILE);
    let form = by_tile(shape, target, form, StageForm { extra_shared, ..TILES });
    ModeProgram { suffix: Some("mma-each"), width: 4, ..counted(form, EACH_TILE) }
}
