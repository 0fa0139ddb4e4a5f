from collections.abc import Sequence
from typing import Any, Protocol, final

from typing_extensions import Buffer

__version__: str

class DeviceError(RuntimeError):
    """A device failed, or gave an output that is known to be wrong."""

@final
class Sizes:
    """Lengths of an algorithm's parts, in bytes."""

    @property
    def key(self) -> int: ...
    @property
    def nonce(self) -> int: ...
    @property
    def tag(self) -> int: ...

@final
class Spans:
    """Seconds that a run took."""

    @property
    def load(self) -> float: ...
    @property
    def execute(self) -> float: ...
    @property
    def store(self) -> float: ...
    @property
    def wall(self) -> float: ...

class _Tensor(Protocol):
    """Memory of a GPU: a tensor of PyTorch, CuPy, JAX or Numba."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@final
class Engine:
    """Runs batches of messages on one device."""

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
    ) -> Engine: ...
    def release(self) -> None: ...
    def seal(
        self,
        algorithm: str,
        key: bytes,
        nonces: Sequence[bytes],
        messages: Sequence[bytes],
        aad: bytes | None = None,
    ) -> list[bytes]: ...
    def open(
        self,
        algorithm: str,
        key: bytes,
        nonces: Sequence[bytes],
        sealed: Sequence[bytes],
        aad: bytes | None = None,
    ) -> list[bytes | None]: ...
    def encrypt(
        self, algorithm: str, key: bytes, nonces: Sequence[bytes] | None, messages: Sequence[bytes]
    ) -> list[bytes]: ...
    def decrypt(
        self, algorithm: str, key: bytes, nonces: Sequence[bytes] | None, messages: Sequence[bytes]
    ) -> list[bytes]: ...
    def hash(
        self, algorithm: str, messages: Sequence[bytes], digest_bytes: int | None = None
    ) -> list[bytes]: ...
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
        accepted: Buffer | None = None,
    ) -> Spans: ...

def sizes(algorithm: str) -> Sizes: ...
def algorithms() -> list[str]: ...
def devices() -> tuple[list[str], dict[str, str]]: ...
