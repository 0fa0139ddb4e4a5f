//! Launches of probes: what a device's instructions cost, for laboratories.
#![allow(unsafe_code)] // launches kernels whose arguments this file vouches for

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use cipherlane_kernels::probe::{ENTRY, Kernel};

use crate::backend::{Backend, Entry, Fault, Limits, Pointer, Unit};
use crate::device::{Accelerator, Provider};

/// Most blocks of a launch, for whose words there is memory.
const MOST_BLOCKS: usize = 1 << 16;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// From its start to its end, by the device.
    pub time: Duration,
    /// A word of each thread, by block and thread.
    pub words: Vec<u32>,
    /// Clocks that each block counted during its turns; zeros where the device's language has no counter.
    pub clocks: Vec<u64>,
}

/// A device that is ready to launch probes.
pub trait Prober: Debug + Send {
    /// The device's sizes.
    fn limits(&self) -> &Limits;

    /// Compiles and loads `kernel`, which the next launches are of. Returns how many of its blocks a unit holds at
    /// once, 1 where the device does not tell.
    ///
    /// # Errors
    /// The compiler's log, or that there is no compiler and what gets one.
    fn load(&mut self, kernel: Kernel) -> Result<usize, Fault>;

    /// Launches the kernel that was loaded in `blocks` blocks of `turns` turns, and waits for it.
    ///
    /// # Errors
    /// If none was loaded, `blocks` is 0 or more than 65536, or the device fails.
    fn launch(&mut self, blocks: usize, turns: u32) -> Result<Launched, Fault>;
}

impl<P: Provider> Accelerator<P> {
    /// This device, ready to launch probes.
    ///
    /// # Errors
    /// If the device is taken, or fails.
    pub fn prober(&self) -> Result<Box<dyn Prober>, Fault> {
        let backend = self.provider().backend()?;
        Ok(Box::new(Probes { queue: backend.queue()?, backend, loaded: None }))
    }
}

/// What a unit of compilation is for `kernel`.
#[must_use]
pub fn unit(kernel: &Kernel) -> Unit {
    Unit {
        name: format!("probe of {}", kernel.steps().name()),
        text: kernel.text(),
        entries: vec![Entry {
            name: ENTRY.to_owned(),
            threads: kernel.threads(),
            shared_bytes: kernel.shared_bytes(),
        }],
    }
}

#[derive(Debug)]
struct Probes<B: Backend> {
    backend: Arc<B>,
    queue: B::Queue,
    loaded: Option<Loaded<B>>,
}

/// A kernel with its memory.
#[derive(Debug)]
struct Loaded<B: Backend> {
    kernel: Kernel,
    program: B::Program,
    input: B::Memory,
    output: Option<Output<B>>,
}

/// Memory for the words and clocks of so many blocks.
#[derive(Debug)]
struct Output<B: Backend> {
    blocks: usize,
    words: B::Memory,
    clocks: B::Memory,
}

impl<B: Backend> Prober for Probes<B> {
    fn limits(&self) -> &Limits {
        self.backend.limits()
    }

    fn load(&mut self, kernel: Kernel) -> Result<usize, Fault> {
        self.loaded = None;
        let backend = &*self.backend;
        let program = backend.load(&unit(&kernel))?;
        let bytes: Vec<u8> = kernel.input().into_iter().flat_map(u32::to_ne_bytes).collect();
        let input = backend.allocate(bytes.len())?;
        // SAFETY: the bytes live until the wait below, and the memory has room for them.
        let step = unsafe { backend.upload(&self.queue, &input, 0, bytes.as_ptr(), bytes.len()) }?;
        backend.wait(&step)?;
        let held = backend.blocks_per_unit(&program, 0)?.max(1);
        self.loaded = Some(Loaded { kernel, program, input, output: None });
        Ok(held)
    }

    fn launch(&mut self, blocks: usize, turns: u32) -> Result<Launched, Fault> {
        let (backend, queue) = (&*self.backend, &self.queue);
        let loaded = self.loaded.as_mut().ok_or_else(|| Fault("no probe was loaded".to_owned()))?;
        let count = u32::try_from(blocks).ok().filter(|_| (1..=MOST_BLOCKS).contains(&blocks));
        let count = count.ok_or_else(|| Fault(format!("a probe has 1 to {MOST_BLOCKS} blocks")))?;
        let output = match &mut loaded.output {
            Some(output) if output.blocks == blocks => output,
            other => other.insert(Output::new(backend, blocks, &loaded.kernel)?),
        };
        let whole = |memory| Pointer { memory, at: 0, bytes: 0 };
        let pointers = [whole(&loaded.input), whole(&output.words), whole(&output.clocks)];
        // SAFETY: the arguments are those of `probe` in c/probe/chains.c. It reads a row of the input for each lane and
        // writes a word for each thread and a count for each block, for which there is room; this is the only queue.
        let step =
            unsafe { backend.launch(queue, &mut loaded.program, 0, count, &pointers, &turns.to_ne_bytes()) }?;
        backend.wait(&step)?;
        let time = backend.time(&step, &step)?;
        let (words, clocks) = output.read(backend, queue, &loaded.kernel)?;
        Ok(Launched { time, words, clocks })
    }
}

impl<B: Backend> Output<B> {
    fn new(backend: &B, blocks: usize, kernel: &Kernel) -> Result<Self, Fault> {
        let words = backend.allocate(4 * blocks * kernel.threads() as usize)?;
        Ok(Self { blocks, words, clocks: backend.allocate(8 * blocks)? })
    }

    fn read(&self, backend: &B, queue: &B::Queue, kernel: &Kernel) -> Result<(Vec<u32>, Vec<u64>), Fault> {
        let words = read(backend, queue, &self.words, 4 * self.blocks * kernel.threads() as usize)?;
        let clocks = read(backend, queue, &self.clocks, 8 * self.blocks)?;
        let (words, _) = words.as_chunks();
        let (clocks, _) = clocks.as_chunks();
        let words = words.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect();
        Ok((words, clocks.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect()))
    }
}

/// The first `bytes` bytes of `memory`.
fn read<B: Backend>(
    backend: &B,
    queue: &B::Queue,
    memory: &B::Memory,
    bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let mut target = vec![0; bytes];
    // SAFETY: the target lives until the wait below, and the memory has so many bytes.
    let step = unsafe { backend.download(queue, memory, 0, target.as_mut_ptr(), bytes) }?;
    backend.wait(&step)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use cipherlane_kernels::probe::Steps;

    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_probe_is_over_when_its_words_are_there() {
        let backend = Arc::new(Fake::new());
        let mut probes =
            Probes { queue: backend.queue().unwrap(), backend: Arc::clone(&backend), loaded: None };
        let threads = 64;
        probes.load(Kernel::new(Steps::ALL[0], true, threads)).unwrap();
        assert_eq!(backend.under_way(), [""; 0]);
        // Of other numbers of blocks there is memory anew.
        for blocks in [2, 2, 3] {
            let Launched { words, clocks, .. } = probes.launch(blocks, 1).unwrap();
            // The fake leaves its memory as it was.
            assert_eq!(words, vec![0xa5a5_a5a5; blocks * threads as usize]);
            assert_eq!(clocks, vec![0xa5a5_a5a5_a5a5_a5a5; blocks]);
            assert_eq!(backend.under_way(), [""; 0]);
        }
    }
}
