//! The GPU kernels, and everything a runtime needs to know to run them. No driver, no compiler: those are the runtimes'.
//!
//! The kernels are C text in `c/`, in one dialect that CUDA's NVRTC, OpenCL C 1.2 and host C all read; `c/dialect.h`
//! is the only file that knows which compiler reads it. A cipher is written once (`c/primitive`), a mode once
//! (`c/entry`). [`flatten`] resolves the includes to one text; [`manifest`] says which programs serve a shape on a
//! target, best first, as plain data; [`abi`] is the one list of arguments that every entry point takes.
//!
//! # How a runtime runs a batch
//!
//! 1. `let programs = manifest::programs(&shape, &target)`; take the first, or one that the caller wished for by
//!    [`Program::kernel`](manifest::Program::kernel).
//! 2. Compile [`flatten::text`] of it (its defines are part of the text) and keep the result under a digest of that text
//!    and of whatever else the compiled form depends on: options, compiler, device. The runtimes here have
//!    `cache::Key` of `cipherlane-offload` for that. [`flatten::key`] tells the texts of tests apart, and is no digest to run
//!    code by.
//! 3. Put into device memory the texts, [`offsets`](abi::Argument::Offsets), keys, nonces, AAD and tags of the batch
//!    as they are, and the prefix sums that [`manifest::Tiling::prefix`] makes. Messages that may be
//!    [`joined`](manifest::Tiling::Joined) fill tiles together if they are given as one. Text buffers are allocated to
//!    a multiple of 16 bytes: an unaligned block is read by the aligned words that hold its bytes.
//! 4. Allocate `work` of [`Workspace::layout`](manifest::Workspace::layout) bytes. It holds round keys, which serve later
//!    batches under the same key: wipe it when another key comes, and before it is given back.
//! 5. Launch the [`stages`](manifest::Program::stages) in order on one stream. After the stage
//!    [`KEYS`](manifest::KEYS), if [`schedule_words`](manifest::Program::schedule_words) is not zero, copy that many
//!    words from `work + schedule_at` to the schedule of the launch: CUDA's `__constant__` symbol
//!    [`SCHEDULE_SYMBOL`](abi::SCHEDULE_SYMBOL) of the module (a copy from device to device on the same stream; a
//!    module therefore belongs to one session), or in OpenCL the buffer that is passed as the argument
//!    [`Schedule`](abi::Argument::Schedule).
//!
//! # Launch geometry
//!
//! A stage has items (keys, messages or tiles) and takes
//! [`threads_per_item`](manifest::Stage::threads_per_item) neighbouring threads for each. Every entry point strides
//! over the grid, so any number of blocks is right: `min(items * threads_per_item / threads, units * k)` for a tuned
//! small `k` is fast. The number of threads of a block is compiled in ([`Stage::threads`](manifest::Stage::threads)).
//!
//! # Messages longer than memory, several streams, several devices
//!
//! A tile is a run of blocks of one message. A launch does the tiles `first_tile..end_tile` of the stages that walk
//! tiles, and counters, tweaks and powers of H all come from a tile's place in its message: any split is right.
//! `text_base` says which text offset the first byte of `in` and `out` stands for. CBC decryption of a range also
//! needs the 16 bytes before it in `in`, unless its first tile starts a message. A GCM message's sums are XORed into
//! its row of the state region: split over streams they meet there; split over devices the runtime XORs the first
//! 16 bytes of the rows, and gives one device the total before the stage [`FINISH`](manifest::FINISH).
//!
//! # Timing and secrets
//!
//! No kernel branches on secrets, nor looks up by one what threads share: rounds of counters are known ahead where the counter
//! is public, which GCM's is under nonces of 12 bytes. Table variants look up by secret index in shared memory, in the layout
//! `table[index][lane]` with 32 lanes: each lane reads its own bank whatever the index, and shared memory of NVIDIA
//! GPUs has no cache in front of it, so no look-up waits for another lane's; what it loses to other traffic does differ a
//! little with the data (SECURITY.md). Where shared memory is not banked that
//! way or is emulated by cached memory ([`manifest::Target::banked`] is false), the table variants come last in the list and say
//! [`constant_time`](manifest::Program::constant_time)` = false`; the defaults are then bitsliced.

#![forbid(unsafe_code)]

pub mod abi;
pub mod flatten;
pub mod manifest;
pub mod probe;
