//! Modes of operation: which file, which launches, how messages are cut. `tests/sizes.rs` holds the sizes of the text that
//! are repeated here against it.

mod gcm;

use cipherlane_core::{Mode, Operation, Shape};

use super::cipher::Variant;
use super::{Items, KEYS, Target, Tiling, When, Workspace};

/// Threads that walk a tile: `LANES` of the dialect.
const LANES: u32 = 32;

/// Stands for all threads of a block, whose number is settled later.
pub(super) const WHOLE_BLOCK: u32 = 0;
/// `COUNTER_SHARED` of `primitive/aes_counter.h`.
const COUNTER_SHARED: u32 = 16 + 4096;
/// Threads between neighbouring counters of a thread of these, which then has its lowest byte for good; `UNIT_THREADS`
/// of `primitive/ghash_mma.h` as well.
const UNIT_THREADS: u32 = 256;
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
    /// A form by tiles of `tile` blocks, with what else `variant` says.
    fn new(variant: &Variant, tile: u64, source: &'static str, stages: &[StageForm]) -> Self {
        Self {
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
        }
    }

    /// Threads of a block on `target`: as many as both take, in whole steps.
    pub(super) fn threads(&self, target: &Target) -> u32 {
        let most = self.threads.min(target.threads);
        most - most % self.thread_step
    }

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

/// The same where each tile begins with tables of its counters.
const COUNTED_TILES: u64 = 1 << 15;
/// Most blocks of such a tile. Tables of more counters would find no room beside one of AES in 48 KiB, and past this
/// size a tile's start does not show.
const CTR_TILE: u64 = 4096;
/// Bytes of two rows of 256 blocks. With fewer, a thread of `entry/ctr_counted.c` would have each lowest byte of its
/// counters for one block alone.
const ROWS: u64 = 2 * (256 << 4);

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

/// The forms of `mode` for `variant`, best first.
pub(super) fn forms(mode: Mode, shape: &Shape, target: &Target, variant: &Variant) -> Vec<ModeProgram> {
    let shape = &if mode == Mode::Ecb && shape.shared_key { joined(shape) } else { *shape };
    let tile = match mode {
        Mode::Gcm => tile_blocks(shape, SOME_TILES, 1024),
        _ => tile_blocks(shape, MANY_TILES, 256),
    };
    let form = |source, stages: &[StageForm]| ModeProgram::new(variant, tile, source, stages);
    match mode {
        Mode::Ecb => ecb(shape, variant, form("entry/ecb.c", &[EXPAND, TILES])),
        Mode::Ctr => ctr(shape, target, variant, form),
        Mode::Cbc if shape.operation == Operation::Encrypt => cbc_encrypt(shape, target, variant, form),
        Mode::Cbc => cbc_decrypt(shape, variant, form),
        Mode::Xts => xts(shape, target, variant, form),
        Mode::Gcm => gcm::forms(shape, target, variant, |source| form(source, &[])),
    }
}

/// The shape of all messages as one, which they are to a mode that has nothing of a message but its blocks.
const fn joined(shape: &Shape) -> Shape {
    let longest = if shape.bytes > shape.longest { shape.bytes } else { shape.longest };
    Shape { messages: 1, longest, ..*shape }
}

/// `form` by one block of a thread at a time and, where registers suffice, by `most`; the better one first.
///
/// The threads of a tile step through it by `most` blocks each, of which the last step may have few: messages that leave half
/// of their only step empty, or more, are done sooner by single blocks.
fn by_width(shape: &Shape, variant: &Variant, most: u32, form: ModeProgram) -> Vec<ModeProgram> {
    if !variant.is_by_four_tables() {
        return vec![form];
    }
    let wide = ModeProgram { width: most, ..form.clone() };
    let fills_half = shape.longest / 16 > u64::from(LANES * most / 2);
    if fills_half { vec![wide, form] } else { vec![form, wide] }
}

fn ecb(shape: &Shape, variant: &Variant, form: ModeProgram) -> Vec<ModeProgram> {
    let tiling = if shape.shared_key { Tiling::Joined(form.tile) } else { form.tiling };
    // Of four blocks `primitive/aes_banked.h` has a pair that does without look-ups in the last round.
    by_width(shape, variant, 4, ModeProgram { tiling, ..form })
}

fn ctr(
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: impl Fn(&'static str, &[StageForm]) -> ModeProgram,
) -> Vec<ModeProgram> {
    let mut forms = Vec::new();
    if variant.aes_by_tables && shape.shared_key && are_long(shape) {
        forms.push(ModeProgram {
            suffix: Some("split"),
            tile: LONG_TILE,
            tiling: Tiling::Blocks(LONG_TILE),
            threads: variant.threads.min(if target.keeps_more() { 768 } else { 1024 }),
            thread_step: UNIT_THREADS,
            ..form("entry/ctr_long.c", &[EXPAND, TILES.by_blocks(COUNTER_SHARED)])
        });
    }
    if variant.aes_by_tables && average(shape, ROWS) {
        forms.push(ctr_counted(shape, target, form("entry/ctr_counted.c", &[])));
    }
    forms.push(form("entry/ctr.c", &[EXPAND, TILES]));
    forms.retain(|form| form.shared_bytes(variant) <= target.shared_bytes);
    forms
}

/// A tile for 32 threads, which share a table of its counters.
fn ctr_counted(shape: &Shape, target: &Target, form: ModeProgram) -> ModeProgram {
    let tile = tile_blocks(shape, COUNTED_TILES, 256);
    let threads = form.threads.min(if target.keeps_more() { 768 } else { 1024 });
    let form = ModeProgram { suffix: Some("counted"), tile, threads, ..form };
    let extra_shared = counted_bytes(form.threads(target), CTR_TILE);
    ModeProgram { stages: vec![EXPAND, StageForm { extra_shared, ..TILES }], ..counted(form, CTR_TILE) }
}

/// The form with tiles whose counters have tables, for up to `most` blocks.
fn counted(form: ModeProgram, most: u64) -> ModeProgram {
    let tile = form.tile.min(most);
    ModeProgram { tile, tiling: Tiling::Blocks(tile), most_tile: Some(most), ..form }
}

/// `COUNTED_WORDS` of `primitive/aes_counted.h` in bytes, for all groups of a block of threads.
const fn counted_bytes(threads: u32, most_tile: u64) -> u32 {
    threads / LANES * 16 * (most_tile as u32 / 256 + 2)
}

fn cbc_encrypt(
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: impl Fn(&'static str, &[StageForm]) -> ModeProgram,
) -> Vec<ModeProgram> {
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

/// Blocks of a thread whose look-ups overlap: more than two would need more registers than there are.
const TWO_BLOCKS: u32 = 2;

fn cbc_decrypt(
    shape: &Shape,
    variant: &Variant,
    form: impl Fn(&'static str, &[StageForm]) -> ModeProgram,
) -> Vec<ModeProgram> {
    let chain = StageForm::new("chain", Items::Tiles, When::TilesInPlace);
    let form = ModeProgram {
        workspace: Workspace { chain: 16, ..Workspace::default() },
        ..form("entry/cbc_decrypt.c", &[EXPAND, chain, TILES])
    };
    by_width(shape, variant, TWO_BLOCKS, form)
}

fn xts(
    shape: &Shape,
    target: &Target,
    variant: &Variant,
    form: impl Fn(&'static str, &[StageForm]) -> ModeProgram,
) -> Vec<ModeProgram> {
    let start = StageForm::new("start", Items::Messages, When::Start).ciphers();
    let chain = StageForm::new("chain", Items::Tiles, When::Tiles);
    let form = form("entry/xts.c", &[EXPAND, start, chain, TILES]);
    let form = ModeProgram {
        tiling: Tiling::WholeBlocks(form.tile),
        workspace: Workspace { state: 16, chain: 16, ..Workspace::default() },
        // Tweaks and the two blocks that exchange bytes take registers beside the cipher's.
        threads: variant.threads.min(if target.keeps_more() { 512 } else { 768 }),
        ..form
    };
    by_width(shape, variant, TWO_BLOCKS, form)
}
