//! Modes of operation: which file, which launches, how messages are cut. `tests/sizes.rs` holds the sizes of the text that
//! are repeated here against it.

use cipherlane_core::{Cipher, Mode, Operation, Shape};

use super::cipher::Variant;
use super::{FINISH, Items, KEYS, Target, Tiling, When, Workspace};

/// Threads that walk a tile: `LANES` of the dialect.
const LANES: u32 = 32;
/// Bytes of a row of the region `hash`: `GHASH_ROW` of `primitive/ghash.h`, powers 1 to 32 and 33 squares of 16 bytes.
const GHASH_ROW: u64 = 16 * (32 + 33);

/// Stands for all threads of a block, whose number is settled later.
pub(super) const WHOLE_BLOCK: u32 = 0;
/// Messages up to here are short: the lanes of a tile would have a block or two each, and what a message costs at its
/// start and end would be paid by one of them while the others wait.
const SHORT: u64 = 2048;
/// `COUNTER_SHARED` of `primitive/aes_counter.h`.
const COUNTER_SHARED: u32 = 16 + 4096;
/// `COUNTER_RUN_SHARED` of the same.
const COUNTER_RUN_SHARED: u32 = COUNTER_SHARED + 16 * 512;
/// Threads between neighbouring counters of a thread of these, which then has its lowest byte for good; `UNIT_THREADS`
/// of `primitive/ghash_mma.h` as well.
const UNIT_THREADS: u32 = 256;
/// What `entry/gcm_long.c` keeps of a run.
const KEPT_BYTES: u32 = 64;
/// `MMA_MATRIX` of `primitive/ghash_mma.h` in bytes; 1/H and the factors that stand beside it in a row of `hash`.
const MATRIX_BYTES: u32 = 12 << 10;
const FACTORS_BYTES: u64 = 257 * 16;
/// The same of `entry/gcm_records.c`, whose units are a warp's.
const RECORD_FACTORS_BYTES: u64 = 33 * 16;
/// Most blocks of a tile of records: as many counters as 32 threads have tables for (`entry/gcm_counted.h`). Beside the
/// matrices of `entry/gcm_each.c` there is less room.
const RECORD_TILE: u64 = 8192;
const EACH_TILE: u64 = 2048;
/// What a thread of `entry/gcm_each.c` keeps of its matrix: `EACH_WORDS` of `primitive/ghash_each.h` in bytes.
const EACH_BYTES: u32 = 48 * 4;
/// Records from here on fill some units of 256 blocks, of which each message takes at least one.
const RECORD: u64 = 6 << 10;
const RECORD_UNIT: u64 = 256 << 4;
/// Threads that walk a message in `entry/cbc_encrypt_quad.c`.
const QUAD: u32 = 4;
/// Bytes of the longest message that it takes: it counts blocks, and up to three more, in 32 bits.
const QUAD_LONGEST: u64 = 16 * (u32::MAX as u64 - 3);
/// Messages up to here are few: with a thread for each, an H200 waits for look-ups most of the time.
const FEW: usize = 8192;
/// Messages from here on are long: more than a hundred multiprocessors have a share of them.
const LONG: u64 = 16 << 20;
/// Bytes of eight units of 2048 blocks, of which each message takes at least one where kernels are for long ones.
const LONG_UNITS: u64 = 8 * (2048 << 4);
/// Texts that so many threads share take them as long as each of them takes one alone, which is some times faster where the
/// others are done: an H200 runs some fifty thousand by messages.
const THREADS: u64 = 1 << 13;

/// A mode over any cipher, before it meets one.
#[derive(Clone, Debug)]
pub(super) struct ModeProgram {
    /// Put behind the variant's name where a mode has more than one form.
    pub(super) suffix: Option<&'static str>,
    pub(super) source: &'static str,
    pub(super) stages: Vec<StageForm>,
    pub(super) tiling: Tiling,
    pub(super) tile: u64,
    /// Most blocks of a tile, if there is a bound: MOST_TILE of its text.
    pub(super) most_tile: Option<u64>,
    pub(super) threads: u32,
    /// What the number of threads of a block is a multiple of.
    pub(super) thread_step: u32,
    pub(super) width: u32,
    pub(super) key_in_registers: bool,
    pub(super) workspace: Workspace,
}

impl ModeProgram {
    /// Bytes of shared memory of its largest launch.
    fn shared_bytes(&self, variant: &Variant) -> u32 {
        let extra = self.stages.iter().filter(|stage| stage.ciphers).map(|stage| stage.extra_shared).max();
        variant.shared_bytes + extra.unwrap_or(0)
    }

    pub(super) fn name(&self, variant: &Variant) -> String {
        self.suffix.map_or_else(|| variant.name.to_owned(), |suffix| format!("{}-{suffix}", variant.name))
    }
}

/// A launch of a mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageForm {
    pub(super) name: &'static str,
    pub(super) items: Items,
    pub(super) threads_per_item: u32,
    pub(super) when: When,
    /// Whether it runs the cipher, and so has its tables in shared memory.
    pub(super) ciphers: bool,
    /// Bytes of shared memory beside the tables.
    pub(super) extra_shared: u32,
}

impl StageForm {
    const fn new(name: &'static str, items: Items, when: When) -> Self {
        Self { name, items, threads_per_item: 1, when, ciphers: false, extra_shared: 0 }
    }

    const fn ciphers(mut self) -> Self {
        self.ciphers = true;
        self
    }

    /// A block of threads does an item.
    const fn by_blocks(mut self, extra_shared: u32) -> Self {
        self.threads_per_item = WHOLE_BLOCK;
        self.extra_shared = extra_shared;
        self
    }

    const fn by_lanes(mut self) -> Self {
        self.threads_per_item = LANES;
        self
    }
}

const EXPAND: StageForm = StageForm::new(KEYS, Items::Keys, When::Start);
const TILES: StageForm = StageForm::new("text", Items::Tiles, When::Tiles).ciphers().by_lanes();

/// Blocks of a tile that a block of threads takes: neighbouring ones become one run.
const LONG_TILE: u64 = 4096;

/// Tiles that a batch of long messages is cut into: several for each warp that an H200 holds (132 times 32), since those
/// that have one more than others are waited for. Larger ones were up to twice as slow for one message of 256 MiB.
const MANY_TILES: u64 = 1 << 16;
/// Fewer where the end of a tile costs some products in GHASH and fewer warps have the registers.
const SOME_TILES: u64 = 1 << 12;

/// Blocks of a tile where there are to be `tiles`: at least `least`, below which what a tile costs at its start shows.
const fn tile_blocks(shape: &Shape, tiles: u64, least: u64) -> u64 {
    const MOST: u64 = 8192;
    let share = shape.bytes / 16 / tiles;
    let longest = shape.longest.div_ceil(16);
    let wanted = if share < longest { share } else { longest };
    if wanted >= MOST {
        MOST
    } else if wanted <= least {
        least
    } else {
        wanted.next_power_of_two()
    }
}

/// Whether messages have `bytes` bytes on average. One that is long beside many short ones does not make a kernel for long
/// ones pay, which takes as much time for each as if it were long.
const fn average(shape: &Shape, bytes: u64) -> bool {
    shape.bytes >= bytes.saturating_mul(shape.messages as u64)
}

/// Whether there are long messages, and they make up most of the texts.
const fn are_long(shape: &Shape) -> bool {
    shape.longest >= LONG && average(shape, LONG_UNITS)
}

/// Whether messages are short, but for some that keep no thread longer than all of the others take.
const fn are_short(shape: &Shape) -> bool {
    shape.longest <= SHORT || (!average(shape, SHORT) && shape.bytes / THREADS >= shape.longest)
}

/// The forms of `mode` for `variant`, best first.
pub(super) fn forms(mode: Mode, shape: &Shape, target: &Target, variant: &Variant) -> Vec<ModeProgram> {
    let tile = match mode {
        Mode::Gcm => tile_blocks(shape, SOME_TILES, 1024),
        _ => tile_blocks(shape, MANY_TILES, 256),
    };
    let form = |source, stages: &[StageForm]| ModeProgram {
        suffix: None,
        source,
        stages: stages.to_vec(),
        tiling: Tiling::Blocks(tile),
        tile,
        most_tile: None,
        threads: variant.threads,
        thread_step: LANES,
        width: variant.width,
        key_in_registers: false,
        workspace: Workspace::default(),
    };
    let by_four_tables = variant.aes_by_tables && variant.tables == 4;
    // Look-ups of two blocks overlap, and more than two would need more registers than there are.
    let two = if by_four_tables { 2 } else { variant.width };
    match mode {
        Mode::Ecb => {
            // Of four blocks `primitive/aes_banked.h` has a pair that does without look-ups in the last round.
            let width = if by_four_tables { 4 } else { variant.width };
            vec![ModeProgram { width, ..form("entry/ecb.c", &[EXPAND, TILES]) }]
        }
        Mode::Ctr => {
            let mut forms = vec![form("entry/ctr.c", &[EXPAND, TILES])];
            if variant.aes_by_tables && shape.shared_key && are_long(shape) {
                let text =
                    StageForm::new("text", Items::Tiles, When::Tiles).ciphers().by_blocks(COUNTER_SHARED);
                let (tile, tiling) = (LONG_TILE, Tiling::Blocks(LONG_TILE));
                let threads = variant.threads.min(if target.keeps_more() { 768 } else { 1024 });
                let form = ModeProgram { threads, ..form("entry/ctr_long.c", &[EXPAND, text]) };
                forms.insert(
                    0,
                    ModeProgram { suffix: Some("split"), tile, tiling, thread_step: UNIT_THREADS, ..form },
                );
            }
            forms
        }
        Mode::Cbc if shape.operation == Operation::Encrypt => {
            let text = StageForm::new("text", Items::Messages, When::Tiles).ciphers();
            // Enough to keep the tables busy; more would push each other's lines out of the cache.
            let threads = variant.threads.min(512);
            let chains =
                |source, text| ModeProgram { tiling: Tiling::None, threads, ..form(source, &[EXPAND, text]) };
            let mut forms = vec![chains("entry/cbc_encrypt.c", text)];
            if variant.aes_by_tables && target.has_shuffle() && shape.longest <= QUAD_LONGEST {
                let quad = ModeProgram {
                    suffix: Some("quad"),
                    ..chains("entry/cbc_encrypt_quad.c", StageForm { threads_per_item: QUAD, ..text })
                };
                forms.insert(usize::from(shape.messages > FEW), quad);
            }
            forms
        }
        Mode::Cbc => {
            let chain = StageForm::new("chain", Items::Tiles, When::TilesInPlace);
            let workspace = Workspace { chain: 16, ..Workspace::default() };
            vec![ModeProgram {
                workspace,
                width: two,
                ..form("entry/cbc_decrypt.c", &[EXPAND, chain, TILES])
            }]
        }
        Mode::Xts => {
            let start = StageForm::new("start", Items::Messages, When::Start).ciphers();
            let chain = StageForm::new("chain", Items::Tiles, When::Tiles);
            let workspace = Workspace { state: 16, chain: 16, ..Workspace::default() };
            vec![ModeProgram {
                tiling: Tiling::WholeBlocks(tile),
                workspace,
                width: two,
                // Tweaks and the two blocks that exchange bytes take registers beside the cipher's.
                threads: variant.threads.min(if target.keeps_more() { 512 } else { 768 }),
                ..form("entry/xts.c", &[EXPAND, start, chain, TILES])
            }]
        }
        Mode::Gcm => gcm_forms(shape, target, variant, |source| form(source, &[])),
    }
}

/// The forms of GCM, from a form without stages for each source.
fn gcm_forms(
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: impl Fn(&'static str) -> ModeProgram,
) -> Vec<ModeProgram> {
    let mut by_tiles = gcm(shape, target, form("entry/gcm.c"));
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
            forms.push(gcm_long(shape, target, form("entry/gcm_long.c")));
        }
        if shape.longest >= RECORD && average(shape, RECORD_UNIT) {
            forms.push(if shape.shared_key {
                gcm_records(shape, target, form("entry/gcm_records.c"))
            } else {
                gcm_each(shape, target, form("entry/gcm_each.c"))
            });
        }
        forms.retain(|form| form.shared_bytes(variant) <= target.shared_bytes);
    }
    let by_message = gcm_by_message(shape, target, variant, form("entry/gcm_message.c"));
    forms.extend(if are_short(shape) { [by_message, by_tiles] } else { [by_tiles, by_message] });
    forms
}

/// Tables of AES beside the matrix of GHASH on binary tensor cores, as many as there is room for. Of 99 KiB (capabilities
/// 8.6 and 8.9) two take 64, the matrix 12, counters 12 for long messages and 11 for records. The matrices of
/// `entry/gcm_each.c` take 6 for 32 threads, beside which no more than 160 threads have room: too few to wait for look-ups.
const fn tables_beside_mma(target: &Target) -> u32 {
    const FOUR: u32 = 4 * (32 << 10);
    if target.shared_bytes > FOUR { 4 } else { 2 }
}

/// A tile for 32 threads.
fn gcm(shape: &Shape, target: &Target, mut form: ModeProgram) -> ModeProgram {
    form.stages = vec![
        EXPAND,
        StageForm::new("hash", Items::Keys, When::Start).ciphers(),
        StageForm::new("start", Items::Messages, When::Start).ciphers(),
        TILES,
        StageForm::new(FINISH, Items::Messages, When::End),
    ];
    if shape.operation == Operation::Open {
        form.stages.push(StageForm::new("wipe", Items::Tiles, When::TilesAfter).by_lanes());
    }
    form.workspace = Workspace { hash: GHASH_ROW, state: 64, ..Workspace::default() };
    // Sums and powers of H take registers beside the cipher's.
    form.threads = form.threads.min(if target.keeps_more() { 384 } else { 512 });
    form
}

/// A thread for a message.
fn gcm_by_message(shape: &Shape, target: &Target, variant: &Variant, mut form: ModeProgram) -> ModeProgram {
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
fn gcm_long(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let text = StageForm::new("text", Items::Tiles, When::Tiles).ciphers();
    let mut form = gcm(shape, target, form);
    form.stages[3] = text.by_blocks(COUNTER_RUN_SHARED + MATRIX_BYTES + KEPT_BYTES);
    form.stages.insert(2, StageForm::new("matrix", Items::Keys, When::Start));
    form.workspace.hash += u64::from(MATRIX_BYTES) + FACTORS_BYTES;
    ModeProgram {
        suffix: Some("mma"),
        tile: LONG_TILE,
        tiling: Tiling::Blocks(LONG_TILE),
        threads: 768,
        thread_step: UNIT_THREADS,
        width: 2,
        ..form
    }
}

/// A tile for 32 threads, GHASH on binary tensor cores.
fn gcm_records(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let mut form = counted(gcm(shape, target, form), RECORD_TILE);
    form.stages.insert(2, StageForm::new("matrix", Items::Keys, When::Start));
    form.workspace.hash += u64::from(MATRIX_BYTES) + RECORD_FACTORS_BYTES;
    // The blocks of a unit, and two that are enciphered; where GHASH takes the text that comes in, the round keys of
    // AES-256 take more registers than 640 threads have.
    let many = shape.operation == Operation::Open && shape.algorithm.cipher() == Some(Cipher::Aes256);
    let threads = if many { 512 } else { 640 };
    form.stages[4].extra_shared = MATRIX_BYTES + counted_bytes(threads, RECORD_TILE);
    // One thread beyond the first 32 makes 1/H, beside those that make H.
    ModeProgram { suffix: Some("mma-records"), width: 2, threads, thread_step: 2 * LANES, ..form }
}

/// The same where each message has its key: every 32 threads make a matrix of their own for each tile.
fn gcm_each(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let mut form = counted(gcm(shape, target, form), EACH_TILE);
    let threads = form.threads.min(512);
    form.stages[3].extra_shared = threads * EACH_BYTES + counted_bytes(threads, EACH_TILE);
    ModeProgram { suffix: Some("mma-each"), width: 4, threads, ..form }
}

/// The form with tiles whose counters have tables, for up to `most` blocks.
fn counted(form: ModeProgram, most: u64) -> ModeProgram {
    let tile = form.tile.min(most);
    ModeProgram { tile, tiling: Tiling::Blocks(tile), most_tile: Some(most), ..form }
}

/// `COUNTED_WORDS` of `entry/gcm_counted.h` in bytes, for all groups of a block of threads.
const fn counted_bytes(threads: u32, most_tile: u64) -> u32 {
    threads / LANES * 16 * (most_tile as u32 / 256 + 2)
}
