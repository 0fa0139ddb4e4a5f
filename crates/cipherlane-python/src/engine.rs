//! The engine as a class.

#![allow(unsafe_code)] // buffers are lent to the door of C
#![allow(clippy::needless_pass_by_value)] // Python gives owned values

use std::ptr;

use cipherlane::{Algorithm, BLOCK, Hash, Operation, Sealed, Wish, limits};
use cipherlane_lent::{Batch, Buffer, Bytes, Output, Sizes};
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyAnyMethods, PyBytes, PyType};
use pyo3::{Bound, PyAny, PyResult, Python, pyclass, pymethods};

use crate::buffers::{Lent, LentColumn, refused};
use crate::errors;
use crate::key::Key;
use crate::messages::Messages;
use crate::offsets::Spare;
use crate::texts::Texts;

/// Runs batches of messages on one device: `Engine()` on the CPU, `Engine("cuda:0")` on the first NVIDIA GPU.
///
/// May be shared between threads. Raises ValueError where parts do not fit together, with a remedy, and DeviceError where
/// the device fails.
///
/// Its threads are pinned to CPUs. Processes know nothing of each other: several on one machine pin theirs to the same first
/// CPUs, unless `CIPHERLANE_NO_PINNING=1` is in the environment before they make engines, which leaves it to the system where
/// threads run. After a fork a child makes its own engine; GPUs need a process that is spawned, or was forked before its parent
/// looked at GPUs.
///
/// All else is for measuring and tuning: what is left out, the engine chooses. `tier` is a tier of the CPU ("portable",
/// "sse", "avx2", "avx512"); `kernel` a kernel by its full name, as `cipherlane plan` shows it; `threads` how many of the
/// CPU; `chunk` the bytes that a thread takes at a time, or that go to a GPU at a time. On a GPU, `blocks` is how many a
/// launch has, `threads_per_block` how many threads each of them has, and `streams` how many queues there are. What the
/// device has not is a ValueError of the first batch.
#[pyclass(frozen, module = "cipherlane")]
pub(crate) struct Engine {
    inner: cipherlane_lent::Engine,
    spare: Spare,
}

/// Seconds that a run took: load (moving the batch to where it is computed), execute, store (moving the results back)
/// and wall, from call to return. May be pickled.
#[pyclass(frozen, get_all, module = "cipherlane")]
pub(crate) struct Spans {
    load: f64,
    execute: f64,
    store: f64,
    wall: f64,
}

#[pymethods]
impl Spans {
    #[new]
    const fn new(load: f64, execute: f64, store: f64, wall: f64) -> Self {
        Self { load, execute, store, wall }
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, (f64, f64, f64, f64)) {
        let &Self { load, execute, store, wall } = this.get();
        (this.get_type(), (load, execute, store, wall))
    }

    fn __repr__(&self) -> String {
        let Self { load, execute, store, wall } = self;
        format!("Spans(load={load}, execute={execute}, store={store}, wall={wall})")
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (device = "cpu", *, tier = None, kernel = None, threads = None, chunk = None, blocks = None, threads_per_block = None, streams = None))]
    #[allow(clippy::too_many_arguments)] // each by its name
    fn new(
        py: Python<'_>,
        device: &str,
        tier: Option<String>,
        kernel: Option<String>,
        threads: Option<usize>,
        chunk: Option<usize>,
        blocks: Option<usize>,
        threads_per_block: Option<usize>,
        streams: Option<usize>,
    ) -> PyResult<Self> {
        let wish = Wish { tier, kernel, threads, chunk, blocks, threads_per_block, streams };
        let opened = py.detach(|| cipherlane_lent::Engine::open(device, wish));
        let inner = opened.map_err(|failure| errors::of(&failure))?;
        Ok(Self { inner, spare: Spare::default() })
    }

    /// Encrypts and authenticates each message under one key, with a nonce of its own: its ciphertext, with the tag of 16
    /// bytes behind. `aad` is authenticated with each of them.
    ///
    /// Raises ValueError where a nonce comes twice. Nonces of earlier calls are not known: that none of them comes again
    /// under the same key is the caller's to see to.
    // What may have any length is given by its name, lest one be taken for another.
    #[pyo3(signature = (algorithm, key, messages, *, nonces, aad = None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        key: Key,
        messages: Messages,
        nonces: Messages,
        aad: Option<PyBackedBytes>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let algorithm = named(algorithm)?;
        let aad = aad.as_deref().unwrap_or_default();
        let sealed = py.detach(|| self.inner.inner().seal(algorithm, &key, &nonces, aad, &messages));
        sealed.map_err(errors::of_engine)?.iter().map(|(text, tag)| joined(py, text, tag)).collect()
    }

    /// Gives back what is kept for batches to come: expanded keys, memory for offsets, and that of a GPU.
    fn release(&self, py: Python<'_>) {
        self.spare.release();
        py.detach(|| self.inner.inner().release());
    }

    /// Undoes `seal`: each plaintext, or None where a tag is wrong, or a tag or nonce is missing.
    #[pyo3(signature = (algorithm, key, sealed, *, nonces, aad = None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        key: Key,
        sealed: Messages,
        nonces: Messages,
        aad: Option<PyBackedBytes>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let algorithm = named(algorithm)?;
        let aad = aad.as_deref().unwrap_or_default();
        let parts = split(&sealed, &nonces);
        // What has not both can have no tag that is right: whatever is put in its place, what comes of it is left out.
        let (texts, tags): (Vec<&[u8]>, Vec<[u8; BLOCK]>) =
            parts.iter().map(|parts| parts.map_or((&[][..], [0; BLOCK]), |(text, tag)| (text, *tag))).unzip();
        let nonces: Vec<&[u8]> = nonces.iter().map(|nonce| some_nonce(nonce)).collect();
        let opened =
            py.detach(|| self.inner.inner().open(algorithm, &key, &nonces, aad, &Sealed::new(&texts, &tags)));
        let opened = opened.map_err(errors::of_engine)?;
        let texts = opened.iter().zip(&parts).map(|(text, parts)| text.filter(|_| parts.is_some()));
        Ok(texts.map(|text| text.map(|text| PyBytes::new(py, text))).collect())
    }

    /// Encrypts each message under one key, with an IV, initial counter block or tweak of its own in `nonces`, which are
    /// left out in ECB. Raises ValueError where one comes twice in CTR.
    #[pyo3(signature = (algorithm, key, messages, *, nonces = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        key: Key,
        messages: Messages,
        nonces: Option<Messages>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.cipher(py, Operation::Encrypt, algorithm, &key, &messages, nonces.as_ref())
    }

    /// Undoes `encrypt`.
    #[pyo3(signature = (algorithm, key, messages, *, nonces = None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        key: Key,
        messages: Messages,
        nonces: Option<Messages>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.cipher(py, Operation::Decrypt, algorithm, &key, &messages, nonces.as_ref())
    }

    /// The digest of each message. Those of SHAKE are `digest_bytes` long, by default 32 of SHAKE128 and 64 of SHAKE256; other
    /// functions have one length.
    #[pyo3(signature = (algorithm, messages, digest_bytes = None))]
    fn hash<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        messages: Messages,
        digest_bytes: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let hash = named(algorithm)?.hash().ok_or_else(|| {
            let known: Vec<_> = Hash::ALL.iter().map(|hash| hash.name()).collect();
            errors::value(format!("{algorithm} is no hash function; these are: {}", known.join(", ")))
        })?;
        let length = digest_bytes.unwrap_or(hash.usual_digest_bytes());
        let digests = py.detach(|| self.inner.inner().hash_to(hash, &messages, length));
        Ok(digests.map_err(errors::of_engine)?.iter().map(|digest| PyBytes::new(py, digest)).collect())
    }

    /// Runs a batch where it lies, in objects with the buffer protocol, and copies nothing but offsets. Message i has the bytes
    /// from `offsets[i]` to `offsets[i + 1]` of `source` and of `text` alike; without `source` it is read from `text`, too, and
    /// overwritten (a hash function writes none, so that its `text` may be read-only). Keys, nonces and aad are bytes (one row
    /// for all messages), have two dimensions (a row each), or are a tuple of rows and their offsets. Nobody may touch any of it
    /// meanwhile.
    ///
    /// `tags` has a row for each message: "seal" writes tags there and "hash" digests, both as long as the rows are, and
    /// "open" reads tags of `tag_bytes`, which are 16 unless it says so: short ones are forged by guessing, so that their
    /// length is not left to who sent them. Where "seal" or "hash" is given `tag_bytes` as well, the rows have to be as long;
    /// in one dimension, which has no rows, "seal" makes tags of 16 bytes unless it says so. `accepted` is a byte for each
    /// message, 1 where "open" found its tag right; all are 0 where a call is refused, unless they may share memory with
    /// something else that it was given. That no nonce serves twice under a key is the caller's to see to, but that one for all
    /// messages is refused in GCM and CTR, unless it has 12 bytes (GCM) or 16 (CTR) and no key comes twice.
    ///
    /// `source` and `text` may be tensors on the NVIDIA GPU that the engine is on (whatever has `__cuda_array_interface__`),
    /// which are run there; all else stays in buffers of the host. What this process has begun on that GPU is waited for, which
    /// the driver refuses while a stream there is captured into a CUDA graph: DeviceError, and that capture is lost.
    #[pyo3(signature = (algorithm, operation, *, offsets, keys = None, nonces = None, aad = None, source = None, text = None, tags = None, tag_bytes = None, accepted = None))]
    #[allow(clippy::too_many_arguments)] // each by its name
    fn run(
        &self,
        py: Python<'_>,
        algorithm: &str,
        operation: &str,
        offsets: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
        nonces: Option<&Bound<'_, PyAny>>,
        aad: Option<&Bound<'_, PyAny>>,
        source: Option<&Bound<'_, PyAny>>,
        text: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
        tag_bytes: Option<usize>,
        accepted: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Spans> {
        let accepted = accepted.map(|accepted| Lent::verdicts(accepted, "accepted")).transpose()?;
        let given = Given { offsets, keys, nonces, aad, source, text, tags, tag_bytes };
        let ran = self.run_given(py, algorithm, operation, &given, accepted.as_ref());
        if ran.is_err() {
            accepted.iter().for_each(|accepted| accepted.clear_apart_from(&given.objects()));
        }
        ran
    }
}

/// What a run is given beside its verdicts, under the names of [`Engine::run`].
struct Given<'a, 'py> {
    offsets: &'a Bound<'py, PyAny>,
    keys: Option<&'a Bound<'py, PyAny>>,
    nonces: Option<&'a Bound<'py, PyAny>>,
    aad: Option<&'a Bound<'py, PyAny>>,
    source: Option<&'a Bound<'py, PyAny>>,
    text: Option<&'a Bound<'py, PyAny>>,
    tags: Option<&'a Bound<'py, PyAny>>,
    tag_bytes: Option<usize>,
}

impl<'a, 'py> Given<'a, 'py> {
    /// Those that are there.
    fn objects(&self) -> Vec<&'a Bound<'py, PyAny>> {
        let &Self { offsets, keys, nonces, aad, source, text, tags, tag_bytes: _ } = self;
        [Some(offsets), keys, nonces, aad, source, text, tags].into_iter().flatten().collect()
    }
}

impl Engine {
    /// [`Engine::run`], but for the verdicts where it is refused.
    fn run_given(
        &self,
        py: Python<'_>,
        algorithm: &str,
        operation: &str,
        given: &Given<'_, '_>,
        accepted: Option<&Lent>,
    ) -> PyResult<Spans> {
        let &Given { offsets, keys, nonces, aad, source, text, tags, tag_bytes } = given;
        let offsets = self.spare.copy(offsets, "offsets")?;
        let messages = offsets
            .len()
            .checked_sub(1)
            .ok_or_else(|| refused("offsets", "there is one more than messages"))?;
        accepted.map_or(Ok(()), |accepted| accepted.check_is_for(messages, "accepted"))?;
        let (algorithm, operation) =
            (named(algorithm)?, operation.parse::<Operation>().map_err(errors::of_name)?);
        let keys = LentColumn::of(keys, messages, "keys")?;
        let nonces = LentColumn::of(nonces, messages, "nonces")?;
        let aad = LentColumn::of(aad, messages, "aad")?;
        let (opens, seals) = (operation == Operation::Open, operation == Operation::Seal);
        let hashes = operation == Operation::Hash;
        let texts = Texts::of(source, text, !hashes)?;
        let lend = if opens { Lent::read } else { Lent::write };
        let tags = tags.map(|tags| lend(tags, "tags")).transpose()?;
        if tags.is_none() && messages > 0 && (opens || seals || hashes) {
            return Err(refused("tags", "there are none; give a row for each message"));
        }

        let (nothing, nowhere) =
            (Bytes { data: ptr::null(), length: 0 }, Buffer { data: ptr::null_mut(), length: 0 });
        // A buffer that is too small for whole tags shortens none.
        let is_whole = opens || (seals && tags.as_ref().is_some_and(Lent::is_flat));
        let asked = if is_whole { Some(tag_bytes.unwrap_or(BLOCK)) } else { tag_bytes };
        let tag_bytes = match &tags {
            None => tag_bytes.unwrap_or(0),
            // No row tells how long it is.
            Some(_) if messages == 0 => asked.unwrap_or(Sizes::of(algorithm).tag),
            Some(tags) => as_asked(algorithm, tags.tag_width(messages, "tags")?, asked)?,
        };
        let (algorithm, operation) = (c_name(&algorithm.to_string())?, c_name(operation.name())?);
        let batch = Batch {
            algorithm: algorithm.as_ptr(),
            operation: operation.as_ptr(),
            messages,
            offsets: offsets.as_ptr(),
            source: texts.source(),
            on_gpu: texts.on_gpu,
            keys: keys.column(),
            nonces: nonces.column(),
            aad: aad.column(),
            tag_bytes,
            tag_lengths: ptr::null(),
            tags: tags.as_ref().filter(|_| opens).map_or(nothing, Lent::bytes),
        };
        let output = Output {
            text: texts.text(),
            tags: tags.as_ref().filter(|_| !opens).map_or(nowhere, Lent::buffer),
            accepted: accepted.map_or(nowhere, Lent::buffer),
        };
        let lent = Ready { batch, output };
        // SAFETY: Python keeps buffers where they are while they are lent, which is until the end of this function, as the
        // caller keeps what tensors show; that nobody writes them meanwhile is the caller's to see to, as of `readinto` and
        // its like: whoever does has wrong bytes, since offsets, by which memory is found, are copies.
        let spans = py.detach(|| unsafe { lent.run(&self.inner) }).map_err(|failure| errors::of(&failure))?;
        let cipherlane_lent::Spans { load, execute, store, wall } = spans.into();
        Ok(Spans { load, execute, store, wall })
    }

    /// `encrypt` and `decrypt`.
    fn cipher<'py>(
        &self,
        py: Python<'py>,
        operation: Operation,
        algorithm: &str,
        key: &[u8],
        messages: &Messages,
        nonces: Option<&Messages>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let algorithm = named(algorithm)?;
        let nonces = some(nonces, messages);
        let engine = self.inner.inner();
        let texts = py.detach(|| match operation {
            Operation::Decrypt => engine.decrypt(algorithm, key, &nonces, messages),
            _ => engine.encrypt(algorithm, key, &nonces, messages),
        });
        Ok(texts.map_err(errors::of_engine)?.iter().map(|text| PyBytes::new(py, text)).collect())
    }
}

/// A batch and its output as pointers, which another thread's lock does not move.
struct Ready {
    batch: Batch,
    output: Output,
}

// SAFETY: they point to buffers that Python keeps where they are, and to names; the thread that made it is the one that uses
// it.
unsafe impl Sync for Ready {}

impl Ready {
    /// # Safety
    /// As that of [`cipherlane_lent::Engine::run`].
    unsafe fn run(
        &self,
        engine: &cipherlane_lent::Engine,
    ) -> Result<cipherlane::Spans, cipherlane_lent::Failure> {
        // SAFETY: promised by the caller.
        unsafe { engine.run(&self.batch, &self.output) }
    }
}

fn named(algorithm: &str) -> PyResult<Algorithm> {
    algorithm.parse().map_err(errors::of_name)
}

fn c_name(name: &str) -> PyResult<std::ffi::CString> {
    std::ffi::CString::new(name).map_err(|_| errors::value(format!("{name:?} is no name")))
}

/// Bytes of each tag as its row has them, if they are as many as are asked for.
fn as_asked(algorithm: Algorithm, found: usize, asked: Option<usize>) -> PyResult<usize> {
    let Some(asked) = asked.filter(|&asked| asked != found) else { return Ok(found) };
    let remedy = if has_tags_of(algorithm, found) {
        format!("pass tag_bytes={found} if that is meant")
    } else {
        format!("give a row of {asked} bytes for each message")
    };
    Err(errors::value(format!("tags of {found} bytes, where {asked} are asked for; {remedy}")))
}

/// Whether there are tags, or digests, of so many bytes.
fn has_tags_of(algorithm: Algorithm, bytes: usize) -> bool {
    match algorithm.hash() {
        Some(hash) => limits::digest_bytes(hash).contains(&bytes),
        None => limits::GCM_TAG_BYTES.contains(&bytes),
    }
}

/// The text and the tag of each message that has a tag and a nonce.
fn split<'a>(sealed: &'a Messages, nonces: &Messages) -> Vec<Option<(&'a [u8], &'a [u8; BLOCK])>> {
    let has_nonce = |index| nonces.get(index).is_none_or(|nonce: &PyBackedBytes| !nonce.is_empty());
    let parts = sealed.iter().map(|message| message.split_last_chunk());
    parts.enumerate().map(|(index, parts)| parts.filter(|_| has_nonce(index))).collect()
}

/// `nonce`, or some other for a message that has none.
fn some_nonce(nonce: &[u8]) -> &[u8] {
    if nonce.is_empty() { &[0; 12] } else { nonce }
}

/// The nonces that were given, or an empty one for each message.
fn some<'a>(nonces: Option<&'a Messages>, messages: &Messages) -> Vec<&'a [u8]> {
    nonces
        .map_or_else(|| vec![&[][..]; messages.len()], |nonces| nonces.iter().map(|nonce| &**nonce).collect())
}

/// A text with its tag behind.
fn joined<'py>(py: Python<'py>, text: &[u8], tag: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, text.len() + tag.len(), |bytes| {
        let (front, back) = bytes.split_at_mut(text.len());
        front.copy_from_slice(text);
        back.copy_from_slice(tag);
        Ok(())
    })
}
