//! A program with its compiled form and the blocks that its stages are launched in.

use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Program, Stage, When};

use crate::backend::{Backend, Entry, Fault, Unit};
use crate::key::{Expansion, KeyNumber};

/// A program, loaded on a device.
#[derive(Debug)]
pub(crate) struct Loaded<B: Backend> {
    pub(crate) program: Program,
    pub(crate) handle: B::Program,
    /// The key of which a schedule was set for it, if that has not been wiped.
    pub(crate) schedule_of: Option<KeyNumber>,
    /// Whether all stages are launched in one block, whose threads then go on from item to item as where there are many.
    pub(crate) in_one_block: bool,
    /// Most blocks of each stage.
    blocks: Vec<u32>,
}

/// A program of a session, with its number there, and the key that it runs under if messages share one.
#[derive(Debug)]
pub(crate) struct Chosen<'a, B: Backend> {
    pub(crate) index: usize,
    pub(crate) loaded: &'a mut Loaded<B>,
    pub(crate) key: KeyNumber,
}

impl<B: Backend> Chosen<'_, B> {
    /// What it makes of the key, if messages share one.
    pub(crate) fn expansion(&self) -> Option<Expansion> {
        let expansion = Expansion { program: self.index, key: self.key };
        self.loaded.program.shared_key.then_some(expansion)
    }
}

impl<B: Backend> Loaded<B> {
    /// Compiles and loads `program`. The stages that walk the texts are launched in up to `blocks` blocks, the others
    /// in as many as the device holds at once.
    pub(crate) fn new(backend: &B, program: Program, blocks: u32) -> Result<Self, Fault> {
        let handle = backend.load(&unit(&program))?;
        let most = |index: usize| {
            if matches!(program.stages[index].when, When::Tiles | When::TilesAfter) {
                return Ok(blocks);
            }
            let held = backend.blocks_per_unit(&handle, index)?.max(1) * backend.limits().units;
            Ok(u32::try_from(held).unwrap_or(u32::MAX))
        };
        let blocks = (0..program.stages.len()).map(most).collect::<Result<_, Fault>>()?;
        Ok(Self { program, handle, schedule_of: None, in_one_block: false, blocks })
    }

    /// Blocks for `items` items of stage `index`: as many as have something to do, up to the most.
    pub(crate) fn blocks(&self, index: usize, items: u64) -> u32 {
        if self.in_one_block {
            return 1;
        }
        let stage = &self.program.stages[index];
        let needed = (items * u64::from(stage.threads_per_item)).div_ceil(u64::from(stage.threads));
        u32::try_from(needed).unwrap_or(u32::MAX).min(self.blocks[index]).max(1)
    }
}

/// What a backend compiles for `program`.
pub fn unit(program: &Program) -> Unit {
    let entry = |stage: &Stage| Entry {
        name: program.entry(stage),
        threads: stage.threads,
        shared_bytes: stage.shared_bytes,
    };
    let keys = if program.shared_key { "" } else { ", a key each" };
    Unit {
        name: format!("{} ({} {}{keys})", program.kernel, program.algorithm, program.operation),
        text: flatten::text(program),
        entries: program.stages.iter().map(entry).collect(),
    }
}
