"""Columns of Arrow's: what Parquet files, databases and Ray's datasets hold, a message in each row.

    >>> import cipherlane, pyarrow as pa, secrets
    >>> from cipherlane import arrow
    >>> engine, key = cipherlane.Engine(), secrets.token_bytes(16)
    >>> messages = pa.array([b"reading 0", None, b"reading 2"])
    >>> nonces = pa.array([i.to_bytes(12, "big") for i in range(3)], pa.binary(12))
    >>> ciphertexts, tags = arrow.seal(engine, "aes-128-gcm", key, messages, nonces=nonces)
    >>> arrow.open(engine, "aes-128-gcm", key, ciphertexts, nonces=nonces, tags=tags).to_pylist()
    [b'reading 0', None, b'reading 2']

Results are new columns, ``large_binary`` or of rows of one length; strings count as bytes. Columns of one chunk of binaries or
strings without nulls are read where they lie, others are copied first. Keys and additional data are ``bytes`` for all rows, or a
column with a value for each; nonces are a column. An array of two dimensions will do for either.

Arrays of NumPy's types ``S`` and ``V`` are rows of their full width, zeros included, and such of ``object`` are lists. What pandas
holds as objects, as strings or as Arrow does, is taken as well; other types are no bytes, and are refused.

That no nonce serves twice under a key is the caller's to see to. A row that is null stays null, and uses up its nonce all the
same: a message that comes there later needs another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from . import Engine, sizes

if TYPE_CHECKING:
    from typing_extensions import Buffer
else:
    try:
        from collections.abc import Buffer
    except ImportError:
        # Python 3.11 has no name for it, and hints are to be resolved there, too.
        Buffer = Any

__all__ = ["decrypt", "encrypt", "hash", "open", "seal"]

Column = pa.Array | pa.ChunkedArray | Sequence[bytes | None]
# What makes one, in the words of errors.
COLUMN = "a column of Arrow's, or a list with the bytes of each row"
# What else makes one of keys, nonces and additional data.
TABLE = "bytes in two dimensions, a row each"
# How long tags of GCM may be.
TAGS = (4, 8, 12, 13, 14, 15, 16)


def seal(
    engine: Engine,
    algorithm: str,
    key: Buffer | Column,
    messages: Column,
    *,
    nonces: Buffer | Column,
    aad: Buffer | Column | None = None,
    tag_bytes: int = 16,
) -> tuple[pa.LargeBinaryArray, pa.FixedSizeBinaryArray]:
    """Encrypts and authenticates each message: the columns of ciphertexts and of tags, which are of ``tag_bytes``.

    Where a message is null, both are, with nothing of the key under them. Its nonce is used up: do not fill the row later
    under the same one. Its key and additional data may be null, too; those of other rows may not.
    """
    texts = _Texts(messages, "messages", algorithm)
    tags = _Rows(texts.count, tag_bytes)
    sealed = texts.run(engine, algorithm, "seal", keys=key, nonces=nonces, aad=aad, tags=tags.view)
    return texts.column(sealed, texts.valid), tags.column(texts.valid)


def open(
    engine: Engine,
    algorithm: str,
    key: Buffer | Column,
    ciphertexts: Column,
    *,
    nonces: Buffer | Column,
    tags: Column,
    aad: Buffer | Column | None = None,
    tag_bytes: int = 16,
) -> pa.LargeBinaryArray:
    """Undoes ``seal``: the column of plaintexts, null where a tag is wrong.

    What cannot be right is null as well, and keeps no other row from being opened: rows without a nonce, a key or a tag, whose
    additional data is null, or with a tag of another length than ``tag_bytes``. Short tags are forged by guessing, so that their
    length is not left to who sent them. Where several rows have tags, all of them as long, and of a length that GCM has but
    ``tag_bytes`` is not, that is a ValueError: such were sealed with other ``tag_bytes``.
    """
    columns = {"nonces": nonces, "tags": tags, "aad": aad}
    return _open(_refuse, engine, algorithm, key, ciphertexts, tag_bytes=tag_bytes, **columns)


def _refuse(reason):
    raise ValueError(reason)


def _open(at_other_tags, engine, algorithm, key, ciphertexts, *, nonces, tags, aad, tag_bytes):
    """The same, where ``at_other_tags`` is called with what it says of all tags, if they are of another length."""
    array = _binary(ciphertexts, "ciphertexts")
    checked, has_tag = _tags(tags, len(array), tag_bytes, at_other_tags)
    columns = {"keys": key, "nonces": nonces, "aad": aad}
    there = {name: _there(column, len(array), name, algorithm) for name, column in columns.items()}
    texts = _Texts(_where(array, has_tag, *(is_there for _, is_there in there.values())), "ciphertexts", algorithm)
    accepted = _Rows(texts.count, 1)
    opened = texts.run(
        engine,
        algorithm,
        "open",
        tags=checked,
        tag_bytes=tag_bytes,
        accepted=accepted.flat,
        **{name: column for name, (column, _) in there.items()},
    )
    right = pa.Array.from_buffers(pa.uint8(), texts.count, [None, accepted.buffer]).cast(pa.bool_())
    return texts.column(opened, right if texts.valid is None else pc.and_(right, texts.valid))


def encrypt(
    engine: Engine,
    algorithm: str,
    key: Buffer | Column,
    messages: Column,
    *,
    nonces: Buffer | Column | None = None,
) -> pa.LargeBinaryArray:
    """Encrypts each message, with an IV, initial counter block or tweak of its own in ``nonces``, which are left out in ECB.

    A null row uses up its nonce: do not fill it later under the same one.
    """
    return _cipher(engine, algorithm, "encrypt", key, messages, nonces)


def decrypt(
    engine: Engine,
    algorithm: str,
    key: Buffer | Column,
    messages: Column,
    *,
    nonces: Buffer | Column | None = None,
) -> pa.LargeBinaryArray:
    """Undoes ``encrypt``."""
    return _cipher(engine, algorithm, "decrypt", key, messages, nonces)


def hash(
    engine: Engine, algorithm: str, messages: Column, *, digest_bytes: int | None = None
) -> pa.FixedSizeBinaryArray:
    """The column of each message's digest, null where that is.

    Those of SHAKE are ``digest_bytes`` long, by default 32 of SHAKE128 and 64 of SHAKE256; other functions have one length.
    """
    texts = _Texts(messages, "messages", algorithm)
    digests = _Rows(texts.count, sizes(algorithm).tag if digest_bytes is None else digest_bytes)
    texts.run(engine, algorithm, "hash", tags=digests.view)
    return digests.column(texts.valid)


def _cipher(engine, algorithm, operation, key, messages, nonces):
    texts = _Texts(messages, "messages", algorithm)
    return texts.column(texts.run(engine, algorithm, operation, keys=key, nonces=nonces), texts.valid)


class _Texts:
    """A column of messages as one buffer and its offsets."""

    def __init__(self, column, what, algorithm):
        array = _binary(column, what)
        self.count = len(array)
        self.valid = array.is_valid() if array.null_count else None
        # What may lie there is hidden, and so would be what came of it. XTS alone takes no less than a block.
        self.under_nulls = bytes(16 if algorithm.lower().endswith("-xts") else 0)
        if array.null_count:
            array = array.fill_null(self.under_nulls)
        self.starts, self.source = _parts(array)

    def run(self, engine, algorithm, operation, *, tags=None, tag_bytes=None, accepted=None, **columns):
        """Runs them into a buffer of their results, of which hash functions have none."""
        hashes = operation == "hash"
        text = None if hashes else pa.allocate_buffer(len(self.source))
        rows = {name: _rows(self._full(column, name, algorithm), self.count, name) for name, column in columns.items()}
        # Also where there are none: names are looked at.
        engine.run(
            algorithm,
            operation,
            offsets=_numbers(self.starts),
            source=self.source,
            text=None if hashes else memoryview(text),
            tags=tags,
            tag_bytes=tag_bytes,
            accepted=accepted,
            **rows,
        )

        return text

    def _full(self, column, what, algorithm):
        """Keys, nonces or additional data with a value for each message. Where that is null, keys and data may be, too."""
        if column is None or _is_buffer(column):
            return column
        array = _array_of(column, self.count, what)
        if not array.null_count:
            return array
        missing = array.is_null()
        if what != "nonces" and self.valid is not None:
            missing = pc.and_(missing, self.valid)
        if count := pc.sum(missing).as_py():
            raise ValueError(f"{what}: {count} rows are null; fill them or leave these messages out")
        return _filled(array, array.is_valid(), what, algorithm)

    def column(self, text, valid):
        """The results as a column, given which rows are not null."""
        kind, parts = pa.large_binary(), [self.starts, text]
        if self.valid is not None and self.under_nulls:
            # A block that the key has made of zeros: Arrow would send it along.
            made = pa.Array.from_buffers(kind, self.count, [None, *parts])
            parts = pc.if_else(self.valid, made, pa.scalar(b"", kind)).buffers()[1:]
        return pa.Array.from_buffers(kind, self.count, [_bitmap(valid), *parts])


class _Rows:
    """New rows of equal length: tags, digests, verdicts."""

    def __init__(self, count, width):
        if width < 0:
            raise ValueError(f"rows of {width} bytes; give how long they shall be")
        self.count, self.width = count, width
        self.buffer = pa.allocate_buffer(count * width)
        self.flat = memoryview(self.buffer).cast("B")
        self.view = _table(self.flat, count, width)

    def column(self, valid):
        """They as a column, given which rows are not null. The others are zeros: Arrow sends along what lies under nulls."""
        kind, rows = pa.binary(self.width), self.buffer
        if valid is not None:
            made = pa.Array.from_buffers(kind, self.count, [None, rows])
            rows = pc.if_else(valid, made, pa.scalar(bytes(self.width), kind)).buffers()[1]
        return pa.Array.from_buffers(kind, self.count, [_bitmap(valid), rows])


def _no_str(column, what, remedy):
    """A str would make a column of its characters."""
    if isinstance(column, str):
        raise TypeError(f"{what}: a str, which is neither bytes nor a column; give {remedy}")


def _array(column, what):
    """An array of whatever makes one."""
    _no_str(column, what, COLUMN)
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        column = _made(column, what)
    if isinstance(column, pa.ChunkedArray):
        if not pa.types.is_fixed_size_binary(column.type):
            # Before they are one: offsets of 32 bits end at 2 GiB.
            column = _cast(column, what)
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    # A null may be one of its words: it shows when they are in their places.
    return _cast(column, what) if pa.types.is_dictionary(column.type) else column


def _made(column, what):
    """A column of Arrow's from what is none yet."""
    dtype = getattr(column, "dtype", None)
    kind = getattr(dtype, "kind", None)
    try:
        if hasattr(dtype, "pyarrow_dtype") or (kind == "O" and dtype != object):
            # Of pandas, which knows what they are.
            return pa.array(column)
        if kind in (None, "O"):
            return pa.array(column, pa.large_binary())
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(f"{what}: neither a column of Arrow's nor bytes of rows: {error}") from error
    if kind in ("S", "V") and _is_plain(column):
        return _whole(column)
    remedy = f"{COLUMN}, or {TABLE}" if what in ("keys", "nonces", "aad") else COLUMN
    raise TypeError(f"{what}: an array of {dtype}, which is no column of bytes; give {remedy}")


def _whole(array):
    """Rows of NumPy's, each of which Arrow would end at its first zero."""
    rows = pa.py_buffer(array.tobytes())
    return pa.Array.from_buffers(pa.binary(array.dtype.itemsize), len(array), [None, rows])


def _is_plain(array):
    """Whether an array has one dimension of bytes, without a mask and without Python's objects in them."""
    is_masked = hasattr(array, "mask")
    return hasattr(array, "tobytes") and array.ndim == 1 and not array.dtype.hasobject and not is_masked


def _binary(column, what):
    """The same, of binaries with offsets of 64 bits."""
    return _cast(_array(column, what), what)


def _cast(column, what):
    try:
        if pa.types.is_dictionary(column.type):
            return _decoded(column)
        return column.cast(pa.large_binary())
    except pa.ArrowException as error:
        remedy = "cast it to binary or string"
        raise TypeError(f"{what}: a column of {column.type}, which are no bytes; {remedy}") from error


def _decoded(column):
    """A column of a dictionary's words, by offsets of 64 bits from the first."""
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_decoded(chunk) for chunk in column.chunks], pa.large_binary())
    return column.dictionary.cast(pa.large_binary()).take(column.indices)


def _parts(array):
    """Where the rows of a column of large binaries begin, from 0 on, in a buffer; and their bytes."""
    if not len(array):
        return pa.py_buffer(bytes(8)), b""
    starts = pa.Array.from_buffers(pa.int64(), len(array) + 1, [None, array.buffers()[1]], offset=array.offset)
    first, last = starts[0].as_py(), starts[-1].as_py()
    # The same buffer, if it can be; else another, from 0 on.
    if first or array.offset:
        starts = pc.subtract(starts, first)
    data = memoryview(array.buffers()[2])[first:last] if last > first else b""
    return starts.buffers()[1].slice(0, 8 * (len(array) + 1)), data


def _numbers(starts):
    """Such a buffer as ``Engine.run`` takes offsets."""
    return memoryview(starts).cast("B").cast("Q")


def _rows(column, count, what):
    """Keys, nonces or additional data, without nulls, as ``Engine.run`` takes them."""
    if column is None:
        return None
    if _is_buffer(column):
        if what == "nonces":
            _no_shared(column, count)
        return column
    if pa.types.is_fixed_size_binary(column.type):
        return _by_width(column)
    starts, data = _parts(_binary(column, what))
    return data, _numbers(starts)


def _no_shared(nonces, count):
    """Those of all rows, one after the other, would be one nonce that each of them has."""
    view = memoryview(nonces)
    if count > 1 and view.ndim == 1 and view.nbytes:
        raise ValueError(f"nonces: one row of bytes for {count} messages; give {COLUMN}, or {TABLE}")


def _is_buffer(column):
    """Whether ``Engine.run`` takes it as it is: bytes for all rows, or a row for each in a second dimension."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return False
    try:
        view = memoryview(column)
    except (TypeError, ValueError):
        # NumPy has types that it shows to nobody.
        return False
    return view.ndim == 2 or (view.ndim == 1 and view.format in ("B", "b", "c"))


def _tags(column, count, width, at_other_tags):
    """Tags of ``width`` bytes, and which of them are there."""
    array = _of_count(_array(column, "tags"), count, "tags")
    if pa.types.is_fixed_size_binary(array.type) and array.type.byte_width == width and not array.null_count:
        return _by_width(array), None
    array = _cast(array, "tags")
    lengths = pc.binary_length(array)
    fits = pc.fill_null(pc.equal(lengths, width), False)
    found = _length_of_all(lengths)
    if found in TAGS and found != width:
        remedy = f"pass tag_bytes={found} if that is meant"
        at_other_tags(f"tags of {found} bytes, where {width} are asked for; {remedy}")
    # Something has to lie in the others, which are not opened.
    array = pc.if_else(fits, array, pa.scalar(bytes(width), pa.large_binary()))
    return _by_width(array.cast(pa.binary(width))), fits


def _length_of_all(lengths):
    """The one length of several rows; ``None`` where they have others, or where one row alone has any: it tells nothing of all."""
    found = pc.min_max(lengths).as_py()
    is_one_of_several = found["min"] == found["max"] and len(lengths) - lengths.null_count > 1
    return found["min"] if is_one_of_several else None


def _there(column, count, what, algorithm):
    """Keys, nonces or additional data, and which of them are there; ``None`` where all are."""
    if column is None or _is_buffer(column):
        return column, None
    array = _array_of(column, count, what)
    is_there = array.is_valid()
    if what == "nonces":
        array = array if pa.types.is_fixed_size_binary(array.type) else _cast(array, what)
        is_there = pc.fill_null(pc.greater(pc.binary_length(array), 0), False)
    if pc.all(is_there, min_count=0).as_py():
        return array, None
    return _filled(array, is_there, what, algorithm), is_there


def _filled(array, is_there, what, algorithm):
    """The same, with something in place of what is not there: any will do for messages that are not run."""
    # Keys of XTS are two, which differ.
    some = {"keys": bytes(range(sizes(algorithm).key)), "nonces": bytes(1), "aad": b""}[what]
    return pc.if_else(is_there, _cast(array, what), pa.scalar(some, pa.large_binary()))


def _where(array, *masks):
    """A column of messages, null where a mask says that there is none to be opened."""
    for mask in masks:
        if mask is not None and not pc.all(mask, min_count=0).as_py():
            array = pc.if_else(mask, array, pa.scalar(None, array.type))
    return array


def _by_width(array):
    """The rows of a column of a fixed width."""
    width, first, count = array.type.byte_width, array.offset, len(array)
    data = memoryview(array.buffers()[1]).cast("B")[first * width : (first + count) * width]
    return _table(data, count, width)


def _array_of(column, count, what):
    """An array of keys, nonces or additional data, a row for each message."""
    if what != "nonces":
        _no_str(column, what, f"bytes for all rows, {COLUMN}")
    return _of_count(_array(column, what), count, what)


def _of_count(array, count, what):
    """The same, if it has as many rows."""
    if len(array) != count:
        raise ValueError(f"{what}: {count} messages need {count} rows, and there are {len(array)}")
    return array


def _table(data, count, width):
    """``data`` in rows, if there are any."""
    return data.cast("B", (count, width)) if count and width else data


def _bitmap(valid):
    """Which rows are not null, or ``None`` where none is."""
    return None if valid is None else valid.buffers()[1]
