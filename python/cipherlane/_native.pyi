from collections.abc import Sequence
from typing import Any, Protocol, final

from typing_extensions import Buffer

__version__: str

class DeviceError(RuntimeError):
    """A device failed, or gave an output that is known to be wrong."""

@final
class Sizes:
    """Lengths of an algorithm's parts, in bytes. May be pickled."""

    def __new__(cls, key: int, nonce: int, tag: int) -> Sizes: ...
    def __reduce__(self) -> tuple[type[Sizes], tuple[int, int, int]]: ...
    @property
    def key(self) -> int:
        """Of a message's key; 0 of a hash function. XTS has two cipher keys in one."""

    @property
    def nonce(self) -> int:
        """Of a nonce, IV, initial counter block or tweak; 12 of GCM, which takes any from 1 byte."""

    @property
    def tag(self) -> int:
        """Of the whole tag of GCM, or a hash function's usual digest; 0 of others."""

@final
class Spans:
    """Seconds that a run took. May be pickled."""

    def __new__(cls, load: float, execute: float, store: float, wall: float) -> Spans: ...
    def __reduce__(self) -> tuple[type[Spans], tuple[float, float, float, float]]: ...
    @property
    def load(self) -> float:
        """Moving the batch to where it is computed."""

    @property
    def execute(self) -> float:
        """Computing, key set-up included."""

    @property
    def store(self) -> float:
        """Moving the results back."""

    @property
    def wall(self) -> float:
        """From call to return."""

class _Tensor(Protocol):
    """Memory of a GPU: a tensor of PyTorch, CuPy, JAX or Numba."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@final
class Engine:
    """Runs batches of messages on one device: `Engine()` on the CPU, `Engine("cuda:0")` on the first NVIDIA GPU.

    May be shared between threads. Raises ValueError where parts do not fit together, with a remedy, and DeviceError where
    the device fails.

    Its threads are pinned to CPUs. Processes know nothing of each other: several on one machine pin theirs to the same first
    CPUs, unless `CIPHERLANE_NO_PINNING=1` is in the environment before they make engines, which leaves it to the system where
    threads run. After a fork a child makes its own engine; GPUs need a process that is spawned, or was forked before its
    parent looked at GPUs.
    """

    def __new__(
        cls,
        device: str = "cpu",
        *,
        tier: str | None = None,
        kernel: str | None = None,
        threads: int | None = None,
        chunk: int | None = None,
        blocks: int | None = None,
        threads_per_block: int | None = None,
        streams: int | None = None,
    ) -> Engine:
        """All but `device` is for measuring and tuning: what is left out, the engine chooses.

        tier: of the CPU, "portable", "sse", "avx2" or "avx512".
        kernel: by its full name, as `cipherlane plan` shows it.
        threads: of the CPU.
        chunk: bytes that a thread takes at a time, or that go to a GPU at a time.
        blocks: of a launch on a GPU.
        threads_per_block: of each of them.
        streams: queues of a GPU.

        What the device has not is a ValueError of the first batch.
        """

    def release(self) -> None:
        """Gives back what is kept for batches to come: expanded keys, memory for offsets, and that of a GPU."""

    def seal(
        self,
        algorithm: str,
        key: Buffer,
        messages: Sequence[bytes],
        *,
        nonces: Sequence[bytes],
        aad: bytes | None = None,
    ) -> list[bytes]:
        """Encrypts and authenticates each message under one key, with a nonce of its own: its ciphertext, with the tag of 16
        bytes behind. `aad` is authenticated with each of them.

        Raises ValueError where a nonce comes twice. Nonces of earlier calls are not known: that none of them comes again
        under the same key is the caller's to see to.
        """

    def open(
        self,
        algorithm: str,
        key: Buffer,
        sealed: Sequence[bytes],
        *,
        nonces: Sequence[bytes],
        aad: bytes | None = None,
    ) -> list[bytes | None]:
        """Undoes `seal`: each plaintext, or None where a tag is wrong, or a tag or nonce is missing."""

    def encrypt(
        self,
        algorithm: str,
        key: Buffer,
        messages: Sequence[bytes],
        *,
        nonces: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """Encrypts each message under one key, with an IV, initial counter block or tweak of its own in `nonces`, which are
        left out in ECB. Raises ValueError where one comes twice in CTR.
        """

    def decrypt(
        self,
        algorithm: str,
        key: Buffer,
        messages: Sequence[bytes],
        *,
        nonces: Sequence[bytes] | None = None,
    ) -> list[bytes]:
        """Undoes `encrypt`."""

    def hash(
        self, algorithm: str, messages: Sequence[bytes], digest_bytes: int | None = None
    ) -> list[bytes]:
        """The digest of each message.

        Those of SHAKE are `digest_bytes` long, by default 32 of SHAKE128 and 64 of SHAKE256; other functions have one length.
        """

    def run(
        self,
        algorithm: str,
        operation: str,
        *,
        offsets: Buffer,
        keys: Buffer | tuple[Buffer, Buffer] | None = None,
        nonces: Buffer | tuple[Buffer, Buffer] | None = None,
        aad: Buffer | tuple[Buffer, Buffer] | None = None,
        source: Buffer | _Tensor | None = None,
        text: Buffer | _Tensor | None = None,
        tags: Buffer | None = None,
        tag_bytes: int | None = None,
        accepted: Buffer | None = None,
    ) -> Spans:
        """Runs a batch where it lies and copies nothing but offsets: "seal", "open", "encrypt", "decrypt" or "hash".

        offsets: message i has the bytes from `offsets[i]` to `offsets[i + 1]` of `source` and of `text` alike: numbers of 64
            bits without a sign, one more than there are messages.
        keys, nonces, aad: bytes (one row for all messages), two dimensions (a row each), or a tuple of rows and their offsets.
            That no nonce serves twice under a key is the caller's to see to, but that one for all messages is refused in GCM
            and CTR, unless it has 12 bytes (GCM) or 16 (CTR) and no key comes twice.
        source: the texts to read. Without it they are read from `text`, and overwritten.
        text: where results go. A hash function writes none, so that its `text` may be read-only.
        tags: a row for each message, which these three need: what "seal" makes, "open" checks, and the digests of "hash".
        tag_bytes: how long these rows are: 16 for "open", which takes no others, unless this says so; as `tags` has them for
            "seal" and "hash", but that "seal" makes 16 where `tags` has one dimension.
        accepted: a byte for each message, 1 where "open" found its tag right; else 0, and the message is zeros. All are 0
            where a call is refused, unless they may share memory with something else that it was given.

        `source` and `text` may be tensors on the NVIDIA GPU that the engine is on; all else stays in buffers of the host.
        What this process has begun on that GPU is waited for, which the driver refuses while a stream there is captured into
        a CUDA graph: DeviceError, and that capture is lost. Nobody may touch any of it meanwhile.
        """

def sizes(algorithm: str) -> Sizes:
    """The lengths of `algorithm`'s key, nonce and tag or digest."""

def algorithms() -> list[str]:
    """The names of all algorithms."""

def devices() -> tuple[list[str], dict[str, str]]:
    """The devices of this machine, and why there are none of a kind: (`["cpu"]`, `{"cuda": "..."}`)."""
