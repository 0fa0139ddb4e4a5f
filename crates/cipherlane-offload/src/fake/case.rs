//! Batches for the device, and what it makes of them.

use cipherlane_core::{
    Algorithm, Batch, Column, DeviceError, Messages, Operation, Output, Plan, Resident, Session, Shape,
    Source,
};

use super::kernel::TAG;
use super::{Fake, planned_for};
use crate::programs::Programs;

/// Bytes of a group: two or three of the short messages.
const CHUNK: usize = 256;
/// Where texts begin in their buffers, and what is behind them.
const MARGIN: usize = 16;

/// What batches are of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) operation: Operation,
    pub(crate) shared_key: bool,
    /// The length of messages that its program is for.
    pub(crate) longest: u64,
}

impl Case {
    pub(crate) fn new(name: &str, operation: Operation, longest: u64, shared_key: bool) -> Self {
        Self { algorithm: name.parse().unwrap(), operation, shared_key, longest }
    }

    /// One for each way in which programs go through a batch.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let all = [
            ("aes-128-ecb", Operation::Encrypt, 100),
            ("aes-128-ctr", Operation::Encrypt, 100),
            ("aes-128-ctr", Operation::Encrypt, 1 << 30),
            ("aes-128-cbc", Operation::Encrypt, 100),
            ("aes-128-cbc", Operation::Decrypt, 100),
            ("aes-128-xts", Operation::Encrypt, 100),
            ("aes-128-gcm", Operation::Seal, 100),
            ("aes-128-gcm", Operation::Seal, 4096),
            ("aes-128-gcm", Operation::Open, 4096),
            ("aes-128-gcm", Operation::Open, 1 << 14),
            ("aes-128-gcm", Operation::Seal, 1 << 30),
            ("sha-256", Operation::Hash, 100),
        ];
        all.into_iter().flat_map(|(name, operation, longest)| {
            [true, false].map(|shared_key| Self::new(name, operation, longest, shared_key))
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::uniform(self.algorithm, self.operation, 1, self.longest, self.shared_key)
    }

    pub(crate) fn planned(&self) -> (Plan, Programs<Fake>) {
        planned_for(&self.shape(), CHUNK)
    }

    /// Whether texts may be in place.
    pub(crate) fn places(&self) -> &'static [bool] {
        if self.operation == Operation::Hash { &[false] } else { &[false, true] }
    }

    /// Has `session` run messages of `lengths` under keys that follow from `key`, and looks at what comes out.
    ///
    /// # Errors
    /// Those of the session.
    pub(crate) fn run(
        &self,
        session: &mut dyn Session,
        lengths: &[usize],
        key: u8,
        in_place: bool,
    ) -> Result<(), DeviceError> {
        self.check(lengths, key, in_place, |batch, output| session.run(batch, output).map(drop))
    }

    /// The same where they stay in `resident`, whose runs follow one another.
    ///
    /// # Errors
    /// Those of the resident.
    pub(crate) fn stay(
        &self,
        resident: &mut dyn Resident,
        lengths: &[usize],
        key: u8,
        in_place: bool,
    ) -> Result<(), DeviceError> {
        self.check(lengths, key, in_place, |batch, output| {
            resident.load(batch, output)?;
            // In place an even number of runs would end where they began.
            for _ in 0..3 {
                resident.execute()?;
            }
            resident.store(batch, output).map(drop)
        })
    }

    fn check(
        &self,
        lengths: &[usize],
        key: u8,
        in_place: bool,
        run: impl FnOnce(&Batch<'_>, &mut Output<'_>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let (count, opens) = (lengths.len(), self.operation == Operation::Open);
        let mut offsets = vec![MARGIN as u64];
        lengths.iter().for_each(|&length| offsets.push(offsets[offsets.len() - 1] + length as u64));
        let end = MARGIN + lengths.iter().sum::<usize>();
        let byte = |at: usize| ((at as u32).wrapping_mul(0x9e37_79b1) >> 23) as u8;
        let input: Vec<u8> = (0..end + MARGIN).map(byte).collect();
        let rows: Vec<u8> = (0..32 * count).map(|at| key.wrapping_add(byte(at) / 4)).collect();
        let before = if in_place { input.clone() } else { vec![0x33; input.len()] };
        let (mut text, mut tags, mut accepted) = (before.clone(), vec![0; 32 * count], vec![true; count]);
        let source = if in_place { Source::InPlace } else { Source::Apart(&input) };
        let batch = self.batch(&rows, Messages { source, offsets: &offsets });
        let (mut output, mut hashes) = (Output::text(&mut text), false);
        match self.operation {
            Operation::Hash => (output.bytes, output.tags, hashes) = (&mut [], &mut tags, true),
            Operation::Seal => output.tags = &mut tags[..16 * count],
            Operation::Open => output.accepted = &mut accepted,
            Operation::Encrypt | Operation::Decrypt => {}
        }
        run(&batch, &mut output)?;
        assert!(output.tags.iter().all(|&byte| byte == TAG), "{self:?}: tags that are not there yet");
        assert!(!output.accepted.contains(&true), "{self:?}: verdicts that are not there yet");
        // Kernels of this device leave what they reject to a fleet, which zeroes the messages that it has cut.
        let is_right = |(out, byte): (&u8, &u8)| *out == !byte || (opens && *out == 0);
        let (middle, around) = (MARGIN..end, [0..MARGIN, end..end + MARGIN]);
        assert!(
            hashes || text[middle.clone()].iter().zip(&input[middle]).all(is_right),
            "{self:?}: texts that are not there yet"
        );
        assert!(
            around.into_iter().all(|place| text[place.clone()] == before[place]),
            "{self:?}: beyond texts"
        );
        Ok(())
    }

    /// Keys, nonces and tags are of `rows`.
    fn batch<'a>(&self, rows: &'a [u8], messages: Messages<'a>) -> Batch<'a> {
        let (algorithm, count) = (self.algorithm, messages.offsets.len() - 1);
        if let Some(hash) = algorithm.hash() {
            return Batch::hash(hash, messages, 32);
        }
        let each = |width: usize| Column::Each { bytes: &rows[..width * count], width };
        let bytes = algorithm.key_bytes();
        let keys = if self.shared_key { Column::Shared(&rows[..bytes]) } else { each(bytes) };
        let (nonces, aad) = (each(algorithm.nonce_bytes().unwrap_or(12)), Column::Shared(b"aad"));
        match self.operation {
            Operation::Seal => Batch::seal(algorithm, keys, nonces, aad, messages),
            Operation::Open => Batch::open(algorithm, keys, nonces, aad, messages, &rows[..16 * count]),
            _ => Batch::cipher(algorithm, self.operation, keys, nonces, messages),
        }
    }
}
