//! The readable implementations as a device.

use std::time::Instant;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Device, DeviceError, Hash, Info, Kernel, Mode, Output, Plan, Session,
    Shape, Source, Spans, Unsupported, Wish,
};

use crate::cipher::{Block, BlockCipher, keyed};
use crate::hash::hash;
use crate::mode::{cbc, ctr, ecb, gcm, xts};
use crate::rows::item;

/// The device that runs every algorithm by the letter of its standard, message by message on one thread.
#[derive(Clone, Debug)]
pub struct Reference {
    info: Info,
}

/// The device's identifier, and the name of its one tier.
const NAME: &str = "reference";

impl Reference {
    /// The reference device.
    #[must_use]
    pub fn new() -> Self {
        Self {
            info: Info {
                id: NAME.to_owned(),
                name: "readable scalar code".to_owned(),
                tiers: vec![NAME.to_owned()],
                threads: 1,
                details: Vec::new(),
            },
        }
    }
}

impl Default for Reference {
    fn default() -> Self {
        Self::new()
    }
}

fn kernel(shape: &Shape) -> Kernel {
    Kernel {
        name: format!("{}/{NAME}/x1", shape.algorithm.family()),
        tier: NAME.to_owned(),
        lanes: 1,
        constant_time: false,
    }
}

fn not_offered(what: String, known: String) -> Unsupported {
    Unsupported::Kernel { device: NAME.to_owned(), what, known: vec![known] }
}

impl Device for Reference {
    fn info(&self) -> &Info {
        &self.info
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        if shape.algorithm.operations().contains(&shape.operation) { vec![kernel(shape)] } else { Vec::new() }
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        let Some(kernel) = self.kernels(shape).pop() else {
            let known: Vec<_> =
                shape.algorithm.operations().iter().map(|operation| operation.name()).collect();
            let what = format!("{} {}", shape.algorithm, shape.operation);
            return Err(not_offered(what, known.join(" and ")));
        };
        wish.check_no_geometry(NAME)?;
        if let Some(tier) = &wish.tier
            && *tier != kernel.tier
        {
            return Err(not_offered(format!("tier {tier}"), kernel.tier));
        }
        if let Some(name) = &wish.kernel
            && *name != kernel.name
        {
            return Err(not_offered(format!("kernel {name}"), kernel.name));
        }
        if let Some(threads) = wish.threads
            && threads != 1
        {
            return Err(Unsupported::Range { what: "threads", wanted: "1".to_owned(), found: threads });
        }
        if wish.chunk == Some(0) {
            return Err(Unsupported::Range { what: "chunk", wanted: "at least 1".to_owned(), found: 0 });
        }
        Ok(Plan {
            device: NAME.to_owned(),
            algorithm: shape.algorithm,
            operation: shape.operation,
            kernel: kernel.name,
            tier: kernel.tier,
            lanes: kernel.lanes,
            threads: 1,
            chunk: wish.chunk.unwrap_or(usize::MAX),
            geometry: None,
            constant_time: kernel.constant_time,
        })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        let shape = Shape::uniform(plan.algorithm, plan.operation, 1, 0, true);
        let wish = Wish {
            tier: Some(plan.tier.clone()),
            kernel: Some(plan.kernel.clone()),
            threads: Some(plan.threads),
            chunk: Some(plan.chunk),
            ..Wish::default()
        };
        let own = self.plan(&shape, &wish)?;
        if own != *plan {
            return Err(not_offered(format!("the plan of {}", plan.device), own.kernel).into());
        }
        Ok(Box::new(ReferenceSession { plan: own }))
    }
}

#[derive(Debug)]
struct ReferenceSession {
    plan: Plan,
}

impl Session for ReferenceSession {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        batch.check_operation(self.plan.algorithm, self.plan.operation)?;
        batch.check(output)?;
        for message in 0..batch.len() {
            match batch.algorithm {
                Algorithm::Cipher(cipher, mode) => run_cipher(cipher, mode, batch, message, output),
                Algorithm::Hash(function) => run_hash(function, batch, message, output),
            }
        }
        let wall = start.elapsed();
        Ok(Spans { execute: wall, wall, ..Spans::default() })
    }
}

/// Hashes message `index` of a checked batch, whose input lies apart.
fn run_hash(function: Hash, batch: &Batch<'_>, index: usize, output: &mut Output<'_>) {
    let Source::Apart(input) = batch.messages.source else { return };
    let bytes = batch.tag_lengths.stride();
    let digest = &mut output.tags[index * bytes..(index + 1) * bytes];
    hash(function, &input[item(batch.messages.offsets, index)], digest);
}

/// Runs message `index` of a checked batch.
fn run_cipher(cipher: Cipher, mode: Mode, batch: &Batch<'_>, index: usize, output: &mut Output<'_>) {
    let range = item(batch.messages.offsets, index);
    let text = &mut output.bytes[range.clone()];
    if let Source::Apart(input) = batch.messages.source {
        text.copy_from_slice(&input[range]);
    }
    let (key, nonce) = (batch.keys.row(index), batch.nonces.row(index));
    let keyed = |key| keyed(cipher, key);
    let forward = batch.operation.is_forward();
    match mode {
        Mode::Ecb if forward => ecb::encrypt(&*keyed(key), text),
        Mode::Ecb => ecb::decrypt(&*keyed(key), text),
        Mode::Cbc if forward => cbc::encrypt(&*keyed(key), block(nonce), text),
        Mode::Cbc => cbc::decrypt(&*keyed(key), block(nonce), text),
        Mode::Ctr => ctr::apply(&*keyed(key), block(nonce), text),
        Mode::Gcm => run_gcm(&*keyed(key), batch, index, text, output.tags, output.accepted),
        Mode::Xts => {
            let (data, tweak) = key.split_at(cipher.key_bytes());
            let run = if forward { xts::encrypt } else { xts::decrypt };
            run(&*keyed(data), &*keyed(tweak), block(nonce), text);
        }
    }
}

fn run_gcm(
    cipher: &dyn BlockCipher,
    batch: &Batch<'_>,
    index: usize,
    text: &mut [u8],
    tags: &mut [u8],
    accepted: &mut [bool],
) {
    let (nonce, aad) = (batch.nonces.row(index), batch.aad.row(index));
    let (stride, bytes) = (batch.tag_lengths.stride(), batch.tag_lengths.get(index));
    let row = index * stride..(index + 1) * stride;
    if batch.operation.is_forward() {
        let full = gcm::seal(cipher, nonce, aad, text);
        let (tag, rest) = tags[row].split_at_mut(bytes);
        tag.copy_from_slice(&full[..bytes]);
        rest.fill(0);
    } else {
        accepted[index] = gcm::open(cipher, nonce, aad, text, &batch.tags[row][..bytes]);
    }
}

/// The IV, counter block or tweak of a checked batch, which is a block.
fn block(nonce: &[u8]) -> Block {
    let mut block = [0; BLOCK];
    block.copy_from_slice(nonce);
    block
}
