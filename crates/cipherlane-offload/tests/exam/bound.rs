//! Batches that run where their texts lie in the memory of a device do what the reference does, and touch nothing else.

use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Batch, Column, Device, DeviceError, DeviceMemory, DeviceTexts, Messages, Mode, Operation,
    Output, Plan, Ragged, Resident, Shape, Source, Wish,
};
use cipherlane_reference::Reference;

/// Messages, begun anywhere; whole blocks, or one at the least, where the mode asks for it.
const LENGTHS: [u64; 8] = [16, 33, 0, 4096 + 5, 1, 300, 64, 15];
/// Bytes around the messages, which nobody is to write.
const BEFORE: u64 = 37;
const BEHIND: u64 = 19;
/// The messages whose tags are damaged.
const WRONG: [usize; 2] = [3, 5];

/// Some messages with their columns.
struct Case {
    algorithm: Algorithm,
    shared_key: bool,
    offsets: Vec<u64>,
    text: Vec<u8>,
    rows: Vec<u8>,
    aad_offsets: Vec<u64>,
}

/// What comes out, guard bytes included.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Results {
    text: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

fn prefix(first: u64, lengths: impl Iterator<Item = u64>) -> Vec<u64> {
    let sums = lengths.scan(first, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    std::iter::once(first).chain(sums).collect()
}

fn bytes(count: u64, seed: u64) -> Vec<u8> {
    (0..count).map(|i| ((i ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

impl Case {
    fn new(algorithm: Algorithm, shared_key: bool) -> Self {
        let length = |length: u64| match algorithm.mode() {
            Some(Mode::Ecb | Mode::Cbc) => length.next_multiple_of(16),
            Some(Mode::Xts) => length.max(16),
            _ => length,
        };
        let offsets = prefix(BEFORE, LENGTHS.into_iter().map(length));
        let count = LENGTHS.len() as u64;
        Self {
            text: bytes(offsets[LENGTHS.len()] + BEHIND, 1),
            offsets,
            rows: bytes(64 * count, 2),
            aad_offsets: prefix(0, (0..count).map(|index| index * index)),
            algorithm,
            shared_key,
        }
    }

    fn shape(&self, operation: Operation) -> Shape {
        Shape::uniform(self.algorithm, operation, LENGTHS.len(), 600, self.shared_key)
    }

    /// How the kernel whose name contains `kernel` does it.
    fn plan(&self, device: &dyn Device, operation: Operation, kernel: &str) -> Plan {
        let shape = self.shape(operation);
        let found = device.kernels(&shape).into_iter().find(|known| known.name.contains(kernel));
        device.plan(&shape, &Wish { kernel: Some(found.unwrap().name), ..Wish::default() }).unwrap()
    }

    /// Calls `run` with the batch whose texts are at `source`, and an output without bytes: its tags or verdicts come back.
    fn with_batch(
        &self,
        operation: Operation,
        source: Source<'_>,
        tags: &[u8],
        run: impl FnOnce(&Batch<'_>, &mut Output<'_>),
    ) -> (Vec<u8>, Vec<bool>) {
        let (count, messages) = (LENGTHS.len(), Messages { source, offsets: &self.offsets });
        let row = |bytes: usize| Column::Each { bytes: &self.rows[..bytes * count], width: bytes };
        let keys = self.algorithm.key_bytes();
        let keys = if self.shared_key { Column::Shared(&self.rows[..keys]) } else { row(keys) };
        let nonces = row(self.algorithm.nonce_bytes().unwrap_or(12));
        let aad = Ragged { bytes: &self.rows, offsets: &self.aad_offsets };
        let batch = match (self.algorithm.hash(), operation) {
            (Some(hash), _) => Batch::hash(hash, messages, hash.usual_digest_bytes()),
            (_, Operation::Seal) => Batch::seal(self.algorithm, keys, nonces, Column::Ragged(aad), messages),
            (_, Operation::Open) => {
                Batch::open(self.algorithm, keys, nonces, Column::Ragged(aad), messages, tags)
            }
            _ => Batch::cipher(self.algorithm, operation, keys, nonces, messages),
        };
        let makes = matches!(operation, Operation::Seal | Operation::Hash);
        let mut made = vec![0xee; if makes { count * batch.tag_lengths.stride() } else { 0 }];
        let mut accepted = vec![false; if operation == Operation::Open { count } else { 0 }];
        run(&batch, &mut Output { bytes: &mut [], tags: &mut made, accepted: &mut accepted });
        (made, accepted)
    }

    /// What the reference makes of `text`, written over `guards`.
    fn expected(&self, operation: Operation, text: &[u8], tags: &[u8], guards: &[u8]) -> Results {
        let mut out = guards.to_vec();
        let device = Reference::new();
        let mut session =
            device.open(&device.plan(&self.shape(operation), &Wish::default()).unwrap()).unwrap();
        let (tags, accepted) = self.with_batch(operation, Source::Apart(text), tags, |batch, output| {
            let Output { tags, accepted, .. } = output;
            session.run(batch, &mut Output { bytes: &mut out, tags, accepted }).unwrap();
        });
        Results { text: out, tags, accepted }
    }

    /// Runs `text` on the device, in memory of its own, and compares with the reference.
    fn compare(
        &self,
        resident: &mut dyn Resident,
        device: &dyn Device,
        operation: Operation,
        text: &[u8],
        tags: &[u8],
    ) {
        let hashes = operation == Operation::Hash;
        for in_place in if hashes { &[true][..] } else { &[true, false] } {
            let (input, guards) = (lend(device, text), bytes(text.len() as u64, 3));
            let output = if *in_place { Arc::clone(&input) } else { lend(device, &guards) };
            let texts = match in_place {
                _ if hashes => DeviceTexts::Read(Arc::clone(&input)),
                true => DeviceTexts::InPlace(Arc::clone(&input)),
                false => DeviceTexts::Apart { input: Arc::clone(&input), output: Arc::clone(&output) },
            };
            let (tags_made, accepted) =
                self.with_batch(operation, Source::OnDevice, tags, |batch, output| {
                    let spans = resident.bind(batch, output, &texts).unwrap();
                    assert!(!spans.load.is_zero());
                    refuse_what_has_not_run(resident, batch, output);
                    let spans = resident.execute().unwrap();
                    assert!(spans.load.is_zero() && !spans.execute.is_zero());
                    resident.store(batch, output).unwrap();
                });
            let found = Results { text: take(&output), tags: tags_made, accepted };
            let base = if *in_place { text } else { &guards };
            let what = format!("{} {operation}, in place: {in_place}", self.algorithm);
            let wanted = self.expected(operation, text, tags, base);
            assert!(found.accepted == wanted.accepted, "{what}: {:?}", found.accepted);
            assert!(found.tags == wanted.tags, "{what}: tags");
            let at = found.text.iter().zip(&wanted.text).position(|(a, b)| a != b);
            assert!(found.text == wanted.text, "{what}: text or what is around it, from byte {at:?}");
            assert!(*in_place || take(&input) == text, "{what}: input was written");
        }
    }

    /// The device does it as the reference does, and leaves the memory alone when it is done.
    fn run(&self, device: &dyn Device, kernel: &str, operation: Operation, text: &[u8], tags: &[u8]) {
        let plan = self.plan(device, operation, kernel);
        let mut resident = device.resident(&plan).unwrap().unwrap();
        self.compare(&mut *resident, device, operation, text, tags);
        self.refuse(&mut *resident, device, &plan, tags);
        let memory = lend(device, text);
        let texts = if operation == Operation::Hash {
            DeviceTexts::Read(Arc::clone(&memory))
        } else {
            DeviceTexts::InPlace(Arc::clone(&memory))
        };
        let holders = || Arc::strong_count(&memory);
        let before = holders();
        self.with_batch(operation, Source::OnDevice, tags, |batch, output| {
            resident.bind(batch, output, &texts).unwrap();
            assert!(holders() > before);
            resident.unload();
            assert_eq!(holders(), before, "memory that was let go of is kept");
            assert!(resident.execute().unwrap_err().to_string().contains("nothing was loaded"));
            resident.bind(batch, output, &texts).unwrap();
        });
        drop((resident, texts));
        assert!(take(&memory) == text, "a place on the device left its mark on what was lent to it");
    }

    /// What does not fit is named, and nothing runs.
    fn refuse(&self, resident: &mut dyn Resident, device: &dyn Device, plan: &Plan, tags: &[u8]) {
        let operation = plan.operation;
        let error = |resident: &mut dyn Resident, source, texts: &DeviceTexts| {
            let mut said = String::new();
            self.with_batch(operation, source, tags, |batch, output| {
                said = resident.bind(batch, output, texts).unwrap_err().to_string();
            });
            said
        };
        let lend = |bytes: u64| lend(device, &vec![0; bytes as usize]);
        let (end, hashes) = (self.offsets[LENGTHS.len()], operation == Operation::Hash);
        let around = |memory| if hashes { DeviceTexts::Read(memory) } else { DeviceTexts::InPlace(memory) };
        let short = around(lend(end - 1));
        assert!(error(resident, Source::OnDevice, &short).contains(&format!("within the {} bytes", end - 1)));
        let fitting = around(lend(end));
        assert!(error(resident, Source::Apart(&self.text), &fitting).contains("memory of the host"));
        let foreign = around(Arc::new(Nowhere(vec![0; end as usize])));
        assert!(error(resident, Source::OnDevice, &foreign).contains("lie in memory of nowhere:0"));
        let input = lend(end);
        let apart = |output| DeviceTexts::Apart { input: Arc::clone(&input), output };
        if hashes {
            assert!(error(resident, Source::OnDevice, &apart(lend(end))).contains("only reads"));
        } else {
            assert!(error(resident, Source::OnDevice, &apart(lend(end - 1))).contains("bytes of text"));
            assert!(error(resident, Source::OnDevice, &apart(Arc::clone(&input))).contains("overlap"));
        }
        let mut session = device.open(plan).unwrap();
        self.with_batch(operation, Source::OnDevice, tags, |batch, output| {
            let error = session.run(batch, output).unwrap_err().to_string();
            assert!(error.contains("open a `resident` of that device and `bind` it"), "{error}");
            let error = resident.load(batch, output).unwrap_err().to_string();
            assert!(error.contains("lie in the memory of a device"), "{error}");
        });
    }
}

/// Nothing that lies on the device before a run vouches for a message.
fn refuse_what_has_not_run(resident: &mut dyn Resident, batch: &Batch<'_>, output: &mut Output<'_>) {
    output.accepted.fill(true);
    let error = resident.store(batch, output).unwrap_err().to_string();
    assert!(error.contains("call `execute` first"), "{error}");
    assert!(output.accepted.iter().all(|accepted| !accepted));
}

/// Memory of `device` with `text` in it.
pub(crate) fn lend(device: &dyn Device, text: &[u8]) -> Arc<dyn DeviceMemory> {
    let memory = device.memory(text.len()).unwrap().unwrap();
    assert!(take(&memory).iter().all(|&byte| byte == 0), "memory that is given is zeroed");
    memory.write(0, text).unwrap();
    memory
}

/// All that lies in `memory`.
pub(crate) fn take(memory: &Arc<dyn DeviceMemory>) -> Vec<u8> {
    let mut text = vec![0xee; memory.bytes()];
    memory.read(0, &mut text).unwrap();
    text
}

/// Memory of no device.
#[derive(Debug)]
struct Nowhere(Vec<u8>);

impl DeviceMemory for Nowhere {
    fn device(&self) -> &'static str {
        "nowhere:0"
    }

    fn bytes(&self) -> usize {
        self.0.len()
    }

    fn handle(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    fn write(&self, _: usize, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn read(&self, _: usize, _: &mut [u8]) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// Checks every operation of `algorithm` on `device`, by the kernels whose name contains `kernel`; of what was sealed, some
/// tags are wrong.
pub(crate) fn check(device: &dyn Device, algorithm: &str, shared_key: bool, kernel: &str) {
    let algorithm: Algorithm = algorithm.parse().unwrap();
    let case = Case::new(algorithm, shared_key);
    case.run(device, kernel, algorithm.forward(), &case.text, &[]);
    if let Some(backward) = algorithm.backward() {
        let Results { text, mut tags, .. } = case.expected(algorithm.forward(), &case.text, &[], &case.text);
        if algorithm.is_aead() {
            WRONG.iter().for_each(|message| tags[16 * message + 15] ^= 0x80);
        }
        case.run(device, kernel, backward, &text, &tags);
    }
}

/// Memory says what does not fit within it.
pub(crate) fn check_memory(device: &dyn Device) {
    let memory = lend(device, &bytes(100, 4));
    assert_eq!((memory.device(), memory.bytes()), (device.info().id.as_str(), 100));
    memory.write(90, &[7; 10]).unwrap();
    let mut found = [0; 12];
    memory.read(88, &mut found).unwrap();
    assert_eq!(found[2..], [7; 10]);
    assert_eq!(found[..2], bytes(100, 4)[88..90]);
    for at in [91, usize::MAX] {
        let error = memory.write(at, &[0; 10]).unwrap_err();
        assert!(matches!(error, DeviceError::Memory { .. }), "{error}");
        assert!(error.to_string().contains("not within the memory's 100"), "{error}");
    }
    assert!(memory.read(101, &mut []).is_err() && memory.read(100, &mut []).is_ok());
    assert!(device.memory(usize::MAX).unwrap_err().to_string().contains("ask for"));
    assert!(device.host_memory(usize::MAX).is_err());
    let mut host = device.host_memory(1000).unwrap();
    assert!(host.len() == 1000 && host.iter().all(|&byte| byte == 0));
    host[999] = 1;
}
