//! An engine that runs what is lent.

#![allow(unsafe_code)] // names are lent, too

use std::ffi::c_char;
use std::time::Duration;

use crate::batch::{Batch, Output, Work};
use crate::lent;
use crate::status::Failure;

/// Runs batches on one device. May be shared between threads; batches that are run alike then take turns: who has threads of
/// its own to run batches side by side opens an engine with one thread on each.
///
/// Its threads are started by the first batch that wants them, each pinned to one of the CPUs that the thread which opened the
/// engine might use then; of engines that have some of the CPUs each takes others, as far as there are any. With
/// `CIPHERLANE_NO_PINNING=1` in the environment the system places them. After a fork the new process has an engine
/// on the CPU without its threads: batches run on the caller, and wait for ever if another thread was in a call of the engine
/// then. No engine on a GPU works in it: CUDA serves no process that was forked after its parent had begun to use it. Start
/// such processes by `exec`, or fork before anything looks for GPUs.
#[derive(Debug)]
pub struct Engine(cipherlane::Engine);

impl Engine {
    /// An engine on `device` that plans as `wish` insists.
    ///
    /// # Errors
    /// No device has that name; the reason says why there are none of its kind.
    pub fn open(device: &str, wish: cipherlane::Wish) -> Result<Self, Failure> {
        Ok(Self(cipherlane::Engine::on(device)?.with_wish(wish)))
    }

    /// The engine as Rust has it.
    #[must_use]
    pub const fn inner(&self) -> &cipherlane::Engine {
        &self.0
    }

    /// How it runs `messages` messages of `bytes` bytes.
    ///
    /// # Errors
    /// Where the device cannot, or not as the wish insists.
    pub fn plan(
        &self,
        (algorithm, operation): (cipherlane::Algorithm, cipherlane::Operation),
        (messages, bytes): (usize, usize),
        one_key: bool,
    ) -> Result<Plan, Failure> {
        let shape = cipherlane::Shape::uniform(algorithm, operation, messages, bytes as u64, one_key);
        Ok(self.0.plan(&shape)?.into())
    }

    /// Runs `batch` into `output`.
    ///
    /// # Errors
    /// Where parts do not fit together, or the device cannot run it or fails.
    ///
    /// # Safety
    /// What they point to is there; until the call returns nobody writes it, and nobody reads what `output` points to.
    pub unsafe fn run(&self, batch: &Batch, output: &Output) -> Result<cipherlane::Spans, Failure> {
        // SAFETY: promised by the caller.
        let Work { batch, mut output, texts } = unsafe { batch.with_output(output)? };
        Ok(match texts {
            Some(texts) => self.0.run_on_device(&batch, &texts, &mut output)?,
            None => self.0.run(&batch, &mut output)?,
        })
    }

    /// The same, without a look at the clock where that takes long beside a batch.
    ///
    /// # Errors
    /// As [`Engine::run`].
    ///
    /// # Safety
    /// As that of [`Engine::run`].
    pub unsafe fn run_untimed(&self, batch: &Batch, output: &Output) -> Result<(), Failure> {
        // SAFETY: promised by the caller.
        let Work { batch, mut output, texts } = unsafe { batch.with_output(output)? };
        match texts {
            Some(texts) => self.0.run_on_device(&batch, &texts, &mut output).map(drop)?,
            None => self.0.run_untimed(&batch, &mut output)?,
        }
        Ok(())
    }
}

/// How an engine runs batches of one kind. Names end with a zero, and are cut where they are longer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The device: "cpu", "cuda:0".
    pub device: [c_char; 32],
    /// The kernel, as a wish names it: "aes-gcm/avx512/x16".
    pub kernel: [c_char; 96],
    /// The tier of the CPU, or what a GPU's kernel is made for.
    pub tier: [c_char; 32],
    /// Threads of the CPU, the calling one included.
    pub threads: usize,
    /// Bytes that a thread takes at a time, or that go to a GPU at a time.
    pub chunk: usize,
    /// Blocks of a launch on a GPU; else 0.
    pub blocks: usize,
    /// Threads of each; else 0.
    pub threads_per_block: usize,
    /// Whether the kernel's timing is made to be independent of keys and texts.
    pub constant_time: bool,
}

/// What a caller insists on; NULL and 0 leave it to the engine.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// A tier of the CPU: "portable", "sse", "avx2", "avx512".
    pub tier: *const c_char,
    /// A kernel by its full name; `cipherlane plan` shows it.
    pub kernel: *const c_char,
    /// Threads of the CPU.
    pub threads: usize,
    /// Bytes that a thread takes at a time, or that go to a GPU at a time.
    pub chunk: usize,
    /// Blocks of a launch on a GPU.
    pub blocks: usize,
    /// Threads of each.
    pub threads_per_block: usize,
    /// Queues of a GPU.
    pub streams: usize,
}

/// Seconds that a run took.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// Moving the batch to where it is computed.
    pub load: f64,
    /// Computing, key set-up included.
    pub execute: f64,
    /// Moving the results back.
    pub store: f64,
    /// From call to return.
    pub wall: f64,
}

impl Wish {
    /// The engine's.
    ///
    /// # Errors
    /// Names that are no UTF-8.
    ///
    /// # Safety
    /// Names that are not NULL end with a zero.
    pub unsafe fn wish(&self) -> Result<cipherlane::Wish, Failure> {
        let some = |number: usize| (number > 0).then_some(number);
        // SAFETY: promised by the caller.
        let (tier, kernel) =
            unsafe { (lent::some_name(self.tier, "the tier")?, lent::some_name(self.kernel, "the kernel")?) };
        Ok(cipherlane::Wish {
            tier: tier.map(str::to_owned),
            kernel: kernel.map(str::to_owned),
            threads: some(self.threads),
            chunk: some(self.chunk),
            blocks: some(self.blocks),
            threads_per_block: some(self.threads_per_block),
            streams: some(self.streams),
        })
    }
}

impl From<cipherlane::Plan> for Plan {
    fn from(plan: cipherlane::Plan) -> Self {
        let launch = |of: fn(cipherlane::Geometry) -> usize| plan.geometry.map_or(0, of);
        Self {
            device: in_c(&plan.device),
            kernel: in_c(&plan.kernel),
            tier: in_c(&plan.tier),
            threads: plan.threads,
            chunk: plan.chunk,
            blocks: launch(|geometry| geometry.blocks),
            threads_per_block: launch(|geometry| geometry.threads_per_block),
            constant_time: plan.constant_time,
        }
    }
}

/// As much of `name` as there is room for before a zero.
#[allow(clippy::cast_possible_wrap)] // bytes are characters of C, whatever sign these have
fn in_c<const SIZE: usize>(name: &str) -> [c_char; SIZE] {
    let mut text = [0; SIZE];
    for (place, byte) in text.iter_mut().zip(name.bytes().take(SIZE - 1)) {
        *place = byte as c_char;
    }
    text
}

impl From<cipherlane::Spans> for Spans {
    fn from(spans: cipherlane::Spans) -> Self {
        let seconds = |span: Duration| span.as_secs_f64();
        Self {
            load: seconds(spans.load),
            execute: seconds(spans.execute),
            store: seconds(spans.store),
            wall: seconds(spans.wall),
        }
    }
}
