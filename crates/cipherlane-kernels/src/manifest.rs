//! Every program as data: which algorithm it serves on which target, how it is compiled and launched, what it needs.

mod cipher;
mod hash;
mod mode;
mod select;

use cipherlane_core::{Algorithm, Operation};

pub use select::{SIZES, Target, programs};

/// Name of the stage that expands keys; the schedule is copied after it.
pub const KEYS: &str = "keys";
/// Name of what a text is given as the most blocks of a tile that it has room for, if there is a bound.
const MOST_TILE: &str = "MOST_TILE";
/// Name of the stage that turns the sums of a GCM message into its tag.
pub const FINISH: &str = "finish";

/// A program: one text to compile, and the launches that run a batch with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Full name of the kernel, as a plan spells it: `aes-ctr/banked4/x1`.
    pub kernel: String,
    /// The variant, which takes the place of the tier: `banked4`.
    pub variant: String,
    /// Blocks that a thread has in flight.
    pub lanes: usize,
    /// Whether timing is independent of keys and data on the target that was asked for.
    pub constant_time: bool,
    /// What it computes.
    pub algorithm: Algorithm,
    /// In which direction.
    pub operation: Operation,
    /// Whether it takes one key for all messages (else a key each).
    pub shared_key: bool,
    /// The file below `c/` that holds the entry points.
    pub source: &'static str,
    /// Names and values that the text is compiled with; [`crate::flatten::text`] puts them on top.
    pub defines: Vec<(&'static str, String)>,
    /// The launches, in order.
    pub stages: Vec<Stage>,
    /// Which numbers of threads a block can have.
    pub threads: Threads,
    /// How messages are cut into tiles.
    pub tiling: Tiling,
    /// Words of the schedule that are copied after [`KEYS`]; 0 where there is none.
    pub schedule_words: usize,
    /// Sizes of the rows of `work`.
    pub workspace: Workspace,
}

impl Program {
    /// The name of the entry point of `stage`: `aes_128_ctr_encrypt_text`.
    #[must_use]
    pub fn entry(&self, stage: &Stage) -> String {
        let prefix = self.defines.iter().find(|(name, _)| *name == "PROGRAM").map_or("", |(_, value)| value);
        format!("{prefix}_{}", stage.entry)
    }

    /// The same program for blocks of `threads` threads, one of [`Program::threads`].
    #[must_use]
    pub fn with_threads(mut self, threads: u32) -> Self {
        for (name, value) in &mut self.defines {
            if *name == "THREADS" {
                *value = threads.to_string();
            }
        }
        for stage in &mut self.stages {
            if stage.threads_per_item == stage.threads {
                stage.threads_per_item = threads;
            }
            stage.threads = threads;
        }
        self
    }

    /// Most blocks of a tile.
    #[must_use]
    pub fn most_tile(&self) -> u64 {
        let most = self.defines.iter().find(|(name, _)| *name == MOST_TILE);
        most.and_then(|(_, blocks)| blocks.parse().ok()).unwrap_or(u64::MAX)
    }

    /// The same program with tiles of `blocks` blocks, a multiple of 32 times [`Program::lanes`] (and of 128) up to
    /// [`Program::most_tile`]; for tuning. Nothing changes where there are no tiles.
    #[must_use]
    pub fn with_tile(mut self, blocks: u64) -> Self {
        let blocks = blocks.min(self.most_tile());
        for (name, value) in &mut self.defines {
            if *name == "TILE" {
                *value = blocks.to_string();
            }
        }
        self.tiling = match self.tiling {
            Tiling::None => Tiling::None,
            Tiling::Blocks(_) => Tiling::Blocks(blocks),
            Tiling::WholeBlocks(_) => Tiling::WholeBlocks(blocks),
            Tiling::Joined(_) => Tiling::Joined(blocks),
        };
        self
    }
}

/// Which numbers of threads a block can have: multiples of `step` up to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Threads that do an item together, or whose number the kernel is written for.
    pub step: u32,
    /// What registers suffice for: blocks of more would keep values in memory.
    pub most: u32,
}

impl Threads {
    /// Whether a block can have `threads` threads.
    #[must_use]
    pub const fn take(self, threads: u32) -> bool {
        threads > 0 && threads <= self.most && threads.is_multiple_of(self.step)
    }
}

impl std::fmt::Display for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a multiple of {} up to {}", self.step, self.most)
    }
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Name of the entry point without the program's, which [`Program::entry`] puts before it.
    pub entry: &'static str,
    /// What it strides over.
    pub items: Items,
    /// Neighbouring threads that do one item.
    pub threads_per_item: u32,
    /// Threads of a block, compiled in.
    pub threads: u32,
    /// Bytes of shared memory: CUDA passes them with the launch, OpenCL's text declares them itself.
    pub shared_bytes: u32,
    /// When it is launched.
    pub when: When,
}

/// What a stage strides over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Keys: one if it is shared, else one per message.
    Keys,
    /// The messages of the launch.
    Messages,
    /// The tiles of the launch.
    Tiles,
}

/// When a stage is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Once per batch, before the texts. Of the launch it may read which messages are its first and its last, and nothing else.
    Start,
    /// For each range of tiles.
    Tiles,
    /// As `Tiles`, but only if the batch is in place.
    TilesInPlace,
    /// Once per batch, after the texts.
    End,
    /// For each range of tiles, after `End`: once the verdicts stand.
    TilesAfter,
}

/// How messages are cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Not at all: a thread walks a message.
    None,
    /// Tiles of so many blocks, the last one shorter.
    Blocks(u64),
    /// The same, but a part of a block belongs to the tile of the whole block before it (XTS).
    WholeBlocks(u64),
    /// As `Blocks`, but messages that lie end to end may be given as one, from the start of the first to the end of the
    /// last: all are whole blocks under one key, and nothing tells the blocks of one from those of another (ECB).
    Joined(u64),
}

impl Tiling {
    /// Tiles of a message of `bytes` bytes.
    #[must_use]
    pub const fn tiles(self, bytes: u64) -> u64 {
        match self {
            Self::None => 0,
            Self::Blocks(blocks) | Self::Joined(blocks) => bytes.div_ceil(16).div_ceil(blocks),
            Self::WholeBlocks(blocks) => (bytes / 16).div_ceil(blocks),
        }
    }

    /// The array `tiles`: tiles of all messages before message `i`, for `i` up to their number.
    ///
    /// # Panics
    /// If `offsets` fall; [`cipherlane_core::Batch::check`] has ruled that out.
    #[must_use]
    pub fn prefix(self, offsets: &[u64]) -> Vec<u64> {
        let mut sum = 0;
        let mut prefix = Vec::with_capacity(offsets.len());
        prefix.push(0);
        for pair in offsets.windows(2) {
            sum += self.tiles(pair[1] - pair[0]);
            prefix.push(sum);
        }
        prefix
    }
}

/// Bytes of the rows of `work`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Round keys, per key.
    pub schedule: u64,
    /// What GHASH needs, per key.
    pub hash: u64,
    /// State of a message.
    pub state: u64,
    /// State of a tile.
    pub chain: u64,
}

/// Where the regions of a workspace lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// [`crate::abi::Params::schedule_at`].
    pub schedule_at: u64,
    /// [`crate::abi::Params::hash_at`].
    pub hash_at: u64,
    /// [`crate::abi::Params::state_at`].
    pub state_at: u64,
    /// [`crate::abi::Params::chain_at`].
    pub chain_at: u64,
    /// Bytes of the whole; zero them when another key comes, and before they are given back.
    pub bytes: u64,
}

impl Workspace {
    /// The regions for a launch of so many keys, messages and tiles, each aligned to 256 bytes.
    #[must_use]
    pub const fn layout(&self, keys: u64, messages: u64, tiles: u64) -> Layout {
        const ALIGNMENT: u64 = 256;
        let hash_at = (self.schedule * keys).next_multiple_of(ALIGNMENT);
        let state_at = (hash_at + self.hash * keys).next_multiple_of(ALIGNMENT);
        let chain_at = (state_at + self.state * messages).next_multiple_of(ALIGNMENT);
        let bytes = (chain_at + self.chain * tiles).next_multiple_of(ALIGNMENT);
        Layout { schedule_at: 0, hash_at, state_at, chain_at, bytes }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use cipherlane_core::{Algorithm, Shape};

    use super::*;

    #[test]
    fn tiles_cover_messages() {
        let tiling = Tiling::Blocks(4);
        assert_eq!([0, 1, 64, 65].map(|bytes| tiling.tiles(bytes)), [0, 1, 1, 2]);
        assert_eq!(Tiling::WholeBlocks(4).tiles(79), 1);
        assert_eq!(tiling.prefix(&[5, 5, 70, 71]), [0, 0, 2, 3]);
        assert_eq!(tiling.tiles(u64::MAX), 1 << 58);
    }

    #[test]
    fn chains_that_need_more_than_32_bits_to_count_have_a_thread_each() {
        let target = Target { compute: Some((9, 0)), banked: true, ..Target::CPU };
        let algorithm = "aes-128-cbc".parse().unwrap();
        let kernels = |bytes| {
            let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, bytes, true);
            programs(&shape, &target).into_iter().map(|program| program.kernel).collect::<Vec<_>>()
        };
        let longest = 16 * ((1 << 32) - 4);
        assert_eq!(kernels(longest)[0], "aes-cbc/banked4-quad/x1");
        assert!(kernels(longest + 16).iter().all(|kernel| !kernel.contains("quad")));
        assert!(!kernels(longest + 16).is_empty());
    }

    #[test]
    fn one_long_message_does_not_make_short_ones_long() {
        let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
        let best = |name: &str, messages: usize, bytes: u64, longest: u64| {
            let algorithm = Algorithm::from_str(name).unwrap();
            let shape = Shape::uniform(algorithm, algorithm.forward(), messages, bytes, true);
            let mixed = Shape { messages: messages + 1, bytes: shape.bytes + longest, longest, ..shape };
            programs(&mixed, &target).swap_remove(0).kernel
        };
        let (short, many) = (128, 1 << 20);
        assert_eq!(best("aes-128-gcm", many, short, short), "aes-gcm/banked4-message/x1");
        assert_eq!(best("aes-128-gcm", many, short, 6 << 10), "aes-gcm/banked4-message/x1");
        assert_eq!(best("aes-128-gcm", many, short, 16 << 20), "aes-gcm/banked4/x1");
        assert_eq!(best("aes-128-gcm", 1000, 16 << 10, 16 << 20), "aes-gcm/banked4-mma-records/x2");
        assert_eq!(best("aes-128-gcm", 20, short, 16 << 20), "aes-gcm/banked4-mma/x2");
        assert_eq!(best("aes-128-ctr", many, short, 16 << 20), "aes-ctr/banked4/x1");
        assert_eq!(best("aes-128-ctr", 20, short, 16 << 20), "aes-ctr/banked4-split/x1");
    }

    #[test]
    fn messages_of_some_rows_share_tables_of_their_counters() {
        let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
        let best = |name: &str, bytes: u64, shared: bool, target: &Target| {
            let shape = Shape::uniform(name.parse().unwrap(), Operation::Encrypt, 1 << 10, bytes, shared);
            programs(&shape, target).swap_remove(0)
        };
        for name in ["aes-128-ctr", "aes-192-ctr", "aes-256-ctr"] {
            for (bytes, one_key, key_each) in [
                (8176, "banked4", "banked4"),
                (8192, "banked4-counted", "banked4-counted"),
                (1 << 20, "banked4-counted", "banked4-counted"),
                (16 << 20, "banked4-split", "banked4-counted"),
            ] {
                assert_eq!(best(name, bytes, true, &target).variant, one_key, "{name} of {bytes} bytes");
                assert_eq!(best(name, bytes, false, &target).variant, key_each, "{name} of {bytes} bytes");
            }
        }
        assert_eq!(best("camellia-128-ctr", 1 << 20, true, &target).variant, "banked4");
        // OpenCL's 48 KiB of NVIDIA's GPUs have room for both tables, and 40 do not.
        let [roomy, narrow] = [48, 40].map(|kib| Target { compute: None, shared_bytes: kib << 10, ..target });
        assert_eq!(best("aes-128-ctr", 1 << 20, true, &roomy).variant, "banked1-counted");
        assert_eq!(best("aes-128-ctr", 1 << 20, true, &narrow).variant, "banked1");
        // Large batches have large tiles, up to what tables were made for.
        let tile = |bytes| best("aes-128-ctr", bytes, true, &target).tiling;
        assert_eq!([16 << 10, 256 << 10, 15 << 20].map(tile), [256, 512, 4096].map(Tiling::Blocks));
    }

    #[test]
    fn short_messages_have_one_block_of_a_thread() {
        let target = Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true };
        let kernels = |name: &str, bytes: u64, shared: bool| {
            let algorithm = Algorithm::from_str(name).unwrap();
            let operation = *algorithm.operations().last().unwrap();
            let programs = programs(&Shape::uniform(algorithm, operation, 8, bytes, shared), &target);
            programs.into_iter().take(2).map(|program| program.kernel).collect::<Vec<_>>()
        };
        let of_mode =
            |mode: &str, widths: [u32; 2]| widths.map(|width| format!("aes-{mode}/banked4/x{width}"));
        for (name, mode, wide, shared, longest) in [
            ("aes-128-xts", "xts", 2, true, 512),
            // The part of a block is no block of a thread's.
            ("aes-256-xts", "xts", 2, false, 527),
            ("aes-192-cbc", "cbc", 2, true, 512),
            ("aes-128-ecb", "ecb", 4, false, 1024),
            // Under one key all eight are one text.
            ("aes-128-ecb", "ecb", 4, true, 128),
        ] {
            assert_eq!(kernels(name, longest, shared), of_mode(mode, [1, wide]), "{name} of {longest} bytes");
            assert_eq!(kernels(name, longest + 16, shared), of_mode(mode, [wide, 1]), "{name}");
        }
        // The name says what the text is compiled with.
        let shape = Shape::uniform("aes-128-xts".parse().unwrap(), Operation::Encrypt, 8, 512, true);
        let program = programs(&shape, &target).swap_remove(0);
        assert!(program.lanes == 1 && program.defines.contains(&("WIDTH", "1".to_owned())), "{program:?}");
    }

    #[test]
    fn messages_are_joined_where_they_share_a_key_and_nothing_else_tells_them_apart() {
        for algorithm in Algorithm::all() {
            for shared in [true, false] {
                let shape = Shape::uniform(algorithm, algorithm.forward(), 9, 64, shared);
                let joins = programs(&shape, &Target::CPU)
                    .iter()
                    .all(|program| matches!(program.tiling, Tiling::Joined(_)));
                let is_ecb = algorithm.mode() == Some(cipherlane_core::Mode::Ecb);
                assert_eq!(joins, is_ecb && shared, "{algorithm}, shared: {shared}");
            }
        }
    }

    /// SECURITY.md says by which name kernels are told whose time depends on the device.
    #[test]
    fn where_look_ups_take_a_time_of_their_own_names_say_that_there_are_some() {
        for algorithm in Algorithm::all() {
            for &operation in algorithm.operations() {
                for (messages, bytes) in SIZES {
                    let shape = Shape::uniform(algorithm, operation, messages, bytes, true);
                    let programs = programs(&shape, &Target::CPU);
                    assert!(programs[0].constant_time, "{} is the default", programs[0].kernel);
                    for program in programs {
                        let looks_up = program.kernel.contains("/banked");
                        assert_eq!(!program.constant_time, looks_up, "{}", program.kernel);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_have_the_threads_that_kernels_are_written_for() {
        let threads = Threads { step: 256, most: 512 };
        assert_eq!(
            [0, 128, 256, 384, 512, 1024].map(|count| threads.take(count)),
            [false, false, true, false, true, false]
        );
        assert_eq!(threads.to_string(), "a multiple of 256 up to 512");
    }

    #[test]
    fn regions_do_not_overlap() {
        let layout = Workspace { schedule: 176, hash: 16, state: 64, chain: 16 }.layout(3, 5, 7);
        assert_eq!(
            layout,
            Layout { schedule_at: 0, hash_at: 768, state_at: 1024, chain_at: 1536, bytes: 1792 }
        );
    }
}
