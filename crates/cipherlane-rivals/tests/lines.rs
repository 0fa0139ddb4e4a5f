//! Texts that begin with a cache line, which the exam's seldom do, and which some ways load and store past the caches.

use cipherlane_core::{
    Algorithm, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Shape, Source, Wish,
};
use cipherlane_reference::Reference;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of messages: lines, parts of lines, parts of blocks.
const LENGTHS: [usize; 9] = [0, 1, 16, 63, 64, 128, 1000, 4097, 70_000];
/// What lies around the texts, and stays.
const AROUND: u8 = 0xa5;

/// Room for `bytes` bytes that begin `lead` bytes behind the start of a line.
struct Room {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Room {
    fn new(bytes: usize, lead: usize) -> Self {
        let all = vec![AROUND; bytes + lead + 3 * LINE];
        let start = LINE + all[LINE..].as_ptr().align_offset(LINE) + lead;
        Self { bytes: all, start, end: start + bytes }
    }

    fn text(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    fn is_whole(&self) -> bool {
        [&self.bytes[..self.start], &self.bytes[self.end..]].concat().iter().all(|&byte| byte == AROUND)
    }
}

/// A kernel, or the best one.
struct Case<'a> {
    device: &'a dyn Device,
    kernel: Option<&'a str>,
    algorithm: Algorithm,
    lead: usize,
}

impl Case<'_> {
    /// Runs one message, and returns its text, the tag that was made, and whether the given one was right.
    fn run(&self, operation: Operation, text: &[u8], tag: &[u8]) -> (Vec<u8>, [u8; 16], bool) {
        let (mut from, mut to) = (Room::new(text.len(), self.lead), Room::new(text.len(), self.lead));
        from.text().copy_from_slice(text);
        let shape = Shape::uniform(self.algorithm, operation, 1, text.len() as u64, true);
        let wish = Wish { kernel: self.kernel.map(str::to_owned), ..Wish::default() };
        let plan = self.device.plan(&shape, &wish).expect("a kernel that is listed");
        let mut session = self.device.open(&plan).expect("its own plan");
        let key: Vec<u8> = (1..=32).collect();
        let key = Column::Shared(&key[..self.algorithm.key_bytes()]);
        let offsets = [0, text.len() as u64];
        let (nonce, aad) = (Column::Shared(&[7; 12]), Column::Shared(b"additional"));
        let messages = Messages { source: Source::Apart(from.text()), offsets: &offsets };
        let (mut made, mut accepted) = ([0; 16], [false]);
        if operation == Operation::Seal {
            let batch = Batch::seal(self.algorithm, key, nonce, aad, messages);
            session.run(&batch, &mut Output::sealed(to.text(), &mut made)).expect("a batch that fits");
        } else {
            let batch = Batch::open(self.algorithm, key, nonce, aad, messages, tag);
            session.run(&batch, &mut Output::opened(to.text(), &mut accepted)).expect("a batch that fits");
        }
        assert!(to.is_whole(), "{:?} writes around {} bytes", self.kernel, text.len());
        (to.text().to_vec(), made, accepted[0])
    }
}

/// Holds a kernel against the reference.
fn check(case: &Case<'_>, bytes: usize) {
    let (algorithm, lead) = (case.algorithm, case.lead);
    let known = Case { device: &Reference::new(), kernel: None, algorithm, lead };
    let plain: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    let (coded, mut tag, _) = known.run(Operation::Seal, &plain, &[]);
    let place = format!("{:?} of {}: {bytes} B, {lead} off", case.kernel, case.device.info().id);
    let (sealed, made, _) = case.run(Operation::Seal, &plain, &[]);
    assert!(sealed == coded && made == tag, "{place}");
    let (opened, _, right) = case.run(Operation::Open, &coded, &tag);
    assert!(opened == plain && right, "{place}");
    tag[0] ^= 1;
    let (opened, _, right) = case.run(Operation::Open, &coded, &tag);
    assert!(opened.iter().all(|&byte| byte == 0) && !right, "{place}");
}

#[test]
fn texts_on_lines_and_off_them_come_out_the_same() {
    for algorithm in [Cipher::Aes128, Cipher::Aes256].map(|cipher| Algorithm::new(cipher, Mode::Gcm)) {
        let shape = Shape::uniform(algorithm, Operation::Seal, 1, 16, true);
        for device in cipherlane_rivals::available() {
            for kernel in device.kernels(&shape) {
                let case = |lead| Case { device: &*device, kernel: Some(&kernel.name), algorithm, lead };
                for bytes in LENGTHS {
                    check(&case(0), bytes);
                    check(&case(1), bytes);
                }
            }
        }
    }
}
