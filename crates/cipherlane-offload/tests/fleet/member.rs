//! The reference as one of a fleet: parts of GCM messages as SP 800-38D has them, with 96-bit nonces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cipherlane_core::{
    Batch, Device, DeviceError, Info, Kernel, Operation, Output, Plan, Session, Shape, Source, Spans,
    Unsupported, Wish,
};
use cipherlane_offload::{Member, Part, Parts, ResidentParts, Sum};
use cipherlane_reference::Reference;
use cipherlane_reference::cipher::{BlockCipher, keyed};
use cipherlane_reference::mode::gcm::{hash_key, multiply};

/// The second field counts the parts that were run.
pub(crate) struct Alike(pub(crate) Reference, pub(crate) Arc<AtomicUsize>);

impl Device for Alike {
    fn info(&self) -> &Info {
        self.0.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.0.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.0.plan(shape, wish)
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.0.open(plan)
    }
}

impl Member for Alike {
    fn takes_parts(&self, plan: &Plan) -> Result<bool, DeviceError> {
        Ok(plan.algorithm.is_aead())
    }

    fn parts(&self, plan: &Plan) -> Result<Box<dyn Parts>, DeviceError> {
        Ok(Box::new(InParts(self.0.open(plan)?, Arc::clone(&self.1))))
    }

    fn resident_parts(&self, _: &Plan) -> Result<Option<Box<dyn ResidentParts>>, DeviceError> {
        Ok(None)
    }
}

/// One that fails before any text comes out, or panics.
pub(crate) struct Faulty {
    pub(crate) reference: Reference,
    pub(crate) panics: bool,
}

impl Device for Faulty {
    fn info(&self) -> &Info {
        self.reference.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.reference.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.reference.plan(shape, wish)
    }

    fn open(&self, _: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        Ok(Box::new(InFault(self.panics)))
    }
}

impl Member for Faulty {
    fn takes_parts(&self, _: &Plan) -> Result<bool, DeviceError> {
        Ok(false)
    }

    fn parts(&self, _: &Plan) -> Result<Box<dyn Parts>, DeviceError> {
        Ok(Box::new(InFault(self.panics)))
    }

    fn resident_parts(&self, _: &Plan) -> Result<Option<Box<dyn ResidentParts>>, DeviceError> {
        Ok(None)
    }
}

struct InFault(bool);

impl Session for InFault {
    fn run(&mut self, _: &Batch<'_>, _: &mut Output<'_>) -> Result<Spans, DeviceError> {
        assert!(!self.0, "a device is broken");
        Err(DeviceError::Failed { device: "reference".to_owned(), reason: "no room".to_owned() })
    }
}

impl Parts for InFault {
    fn run_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        _: Part,
    ) -> Result<(Spans, Sum), DeviceError> {
        Ok((self.run(batch, output)?, Sum::default()))
    }

    fn end_parts(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        _: u64,
        _: &Sum,
    ) -> Result<Spans, DeviceError> {
        self.run(batch, output)
    }

    fn has_text_out(&self) -> bool {
        false
    }
}

struct InParts(Box<dyn Session>, Arc<AtomicUsize>);

impl Session for InParts {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        self.0.run(batch, output)
    }
}

/// A message's key and the counter block of its tag.
struct Keyed {
    cipher: Box<dyn BlockCipher>,
    hash_key: u128,
    first: u128,
}

impl Keyed {
    fn new(batch: &Batch<'_>) -> Self {
        let cipher = keyed(batch.algorithm.cipher().unwrap(), batch.keys.row(0));
        let mut first = [0; 16];
        first[..12].copy_from_slice(batch.nonces.row(0));
        first[15] = 1;
        Self { hash_key: hash_key(&*cipher), cipher, first: u128::from_be_bytes(first) }
    }

    fn stream(&self, block: u64) -> [u8; 16] {
        self.cipher.encrypt((self.first + u128::from(block)).to_be_bytes())
    }

    /// H^n.
    fn power(&self, n: u64) -> u128 {
        (0..u64::BITS).rev().fold(1 << 127, |power, bit| {
            let square = multiply(power, power);
            if n >> bit & 1 == 1 { multiply(square, self.hash_key) } else { square }
        })
    }

    /// GHASH carried on from `sum`.
    fn hash(&self, sum: u128, data: &[u8]) -> u128 {
        data.chunks(16).fold(sum, |sum, part| multiply(sum ^ element(part), self.hash_key))
    }
}

fn element(part: &[u8]) -> u128 {
    let mut block = [0; 16];
    block[..part.len()].copy_from_slice(part);
    u128::from_be_bytes(block)
}

impl Parts for InParts {
    fn run_part(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        part: Part,
    ) -> Result<(Spans, Sum), DeviceError> {
        batch.check(output)?;
        let keyed = Keyed::new(batch);
        let Source::Apart(input) = batch.messages.source else {
            let input = output.bytes.to_vec();
            let apart = cipherlane_core::Messages { source: Source::Apart(&input), ..batch.messages };
            return self.run_part(&Batch { messages: apart, ..*batch }, output, part);
        };
        self.1.fetch_add(1, Ordering::Relaxed);
        assert!(
            input.len() as u64 + part.start <= part.message_bytes && part.start.is_multiple_of(128 << 10)
        );
        for (index, (from, to)) in input.chunks(16).zip(output.bytes.chunks_mut(16)).enumerate() {
            let stream = keyed.stream(1 + part.start / 16 + index as u64);
            (0..from.len()).for_each(|byte| to[byte] = from[byte] ^ stream[byte]);
        }
        let ciphertext = if batch.operation == Operation::Open { input } else { &*output.bytes };
        let after = (part.message_bytes - part.start - input.len() as u64).div_ceil(16);
        let sum = multiply(keyed.hash(0, ciphertext), keyed.power(after));
        Ok((Spans::default(), Sum(sum.to_be_bytes())))
    }

    fn end_parts(
        &mut self,
        batch: &Batch<'_>,
        output: &mut Output<'_>,
        message_bytes: u64,
        sum: &Sum,
    ) -> Result<Spans, DeviceError> {
        batch.check(output)?;
        let (keyed, aad) = (Keyed::new(batch), batch.aad.row(0));
        let hashed = multiply(keyed.hash(0, aad), keyed.power(message_bytes.div_ceil(16)));
        let lengths = ((aad.len() as u128 * 8) << 64) | (u128::from(message_bytes) * 8);
        let hashed = keyed.hash(hashed ^ u128::from_be_bytes(sum.0), &lengths.to_be_bytes());
        let tag = (hashed ^ u128::from_be_bytes(keyed.stream(0))).to_be_bytes();
        let length = batch.tag_lengths.get(0);
        if batch.operation == Operation::Open {
            output.accepted[0] = batch.tags[..length] == tag[..length];
        } else {
            output.tags[..length].copy_from_slice(&tag[..length]);
        }
        Ok(Spans::default())
    }
}
