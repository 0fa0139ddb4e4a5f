"""Datasets of Ray, on all machines of a cluster: each block is sealed where it lies.

    import ray, cipherlane.ray

    readings = ray.data.read_parquet("s3://meters/readings")
    sealed = cipherlane.ray.seal(readings, "aes-256-gcm", fetch_key, column="reading")
    sealed.write_parquet("s3://meters/sealed")

    sealed = ray.data.read_parquet("s3://meters/sealed")
    opened = cipherlane.ray.open(sealed, "aes-256-gcm", fetch_key, column="reading")

``fetch_key`` is called on each machine, once for each of its engines: it fetches the key, so that none travels with the tasks. A
key itself, or a function that has one in it, is sent to all machines by Ray.

Datasets are lazy, and Ray runs a task again whose results are lost. Each run draws new random nonces: nonces, ciphertexts and
tags belong together only where one run has written all of them, as above.

``options`` are those of ``ray.data.Dataset.map_batches``, but for ``batch_format``, ``zero_copy_batch`` and
``fn_constructor_args``. ``num_cpus`` is also how many threads an engine has (1, if it is not given, and no less); with
``num_gpus=1`` engines are on GPUs, each on the one that Ray gives it, and with more each is on all that it is given; then as many
threads copy as keep up with a GPU, whatever ``num_cpus`` says. Engines leave it to the system where their threads run, since Ray
runs several on one machine that know nothing of each other.

``measure`` has every machine of the cluster measure itself, by the program ``cipherlane``.
"""

from __future__ import annotations

import itertools
import logging
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from . import Engine, arrow, sizes

__all__ = ["decrypt", "encrypt", "hash", "measure", "open", "seal"]

Key = bytes | Callable[[], bytes]
LOG = logging.getLogger(__name__)
# Rows that go to a GPU at a time, unless the caller says how many.
GPU_BATCH = 1 << 20


def seal(
    dataset: ray.data.Dataset,
    algorithm: str,
    key: Key,
    *,
    column: str,
    nonce: str = "nonce",
    tag: str = "tag",
    aad: str | bytes | None = None,
    random_nonces: bool = True,
    **options: Any,
) -> ray.data.Dataset:
    """Encrypts and authenticates the messages in ``column``, which then has the ciphertexts.

    Each gets a random nonce, in the new column ``nonce``: of 12 bytes, as GCM has it, for at most 2^32 messages under one key
    (NIST SP 800-38D section 8.3), those that are sealed again included. With ``random_nonces=False`` that column is there
    already: no nonce of it serves twice, which is not looked at, and a task that runs again finds the same in it. Tags go to the
    new column ``tag``, of 16 bytes. ``aad`` names a column of additional data, or is the same ``bytes`` for all. A null row stays
    null and uses up its nonce: do not fill it later under the same one.
    """
    _check(algorithm, "seal")
    new = [nonce, tag] if random_nonces else [tag]
    needed = [column] if random_nonces else [column, nonce]
    names = _Names(needed + _aad_needed(aad, column, nonce, tag), new)
    return _map(dataset, _Seal, algorithm, key, (names, column, nonce, tag, aad, random_nonces), options)


def open(
    dataset: ray.data.Dataset,
    algorithm: str,
    key: Key,
    *,
    column: str,
    nonce: str = "nonce",
    tag: str = "tag",
    aad: str | bytes | None = None,
    tag_bytes: int = 16,
    **options: Any,
) -> ray.data.Dataset:
    """Undoes ``seal``: ``column`` has the plaintexts, as binaries, null where a tag is wrong; ``nonce`` and ``tag`` are dropped.

    Rows without a nonce, whose additional data is null, or whose tag is not of ``tag_bytes``, are null as well. No block stops
    the others: where all tags of one have another length, of which ``cipherlane.arrow.open`` makes a ValueError, the log of the
    worker has a warning.
    """
    _check(algorithm, "open")
    names = _Names([column, nonce, tag] + _aad_needed(aad, column, nonce, tag))
    return _map(dataset, _Open, algorithm, key, (names, column, nonce, tag, aad, tag_bytes), options)


def encrypt(
    dataset: ray.data.Dataset,
    algorithm: str,
    key: Key,
    *,
    column: str,
    nonce: str | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """Encrypts the messages in ``column``; ``nonce`` names the column of IVs, counter blocks or tweaks, unless it is ECB.

    A null row uses up its nonce: do not fill it later under the same one.
    """
    return _cipher(dataset, algorithm, key, arrow.encrypt, column, nonce, options)


def decrypt(
    dataset: ray.data.Dataset,
    algorithm: str,
    key: Key,
    *,
    column: str,
    nonce: str | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """Undoes ``encrypt``."""
    return _cipher(dataset, algorithm, key, arrow.decrypt, column, nonce, options)


def hash(
    dataset: ray.data.Dataset,
    algorithm: str,
    *,
    column: str,
    digest: str = "digest",
    digest_bytes: int | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """Puts the digest of each message in ``column`` to the new column ``digest``.

    Those of SHAKE are ``digest_bytes`` long, by default 32 of SHAKE128 and 64 of SHAKE256; other functions have one length.
    """
    _check(algorithm, "hash")
    names = _Names([column], [digest])
    return _map(dataset, _Hash, algorithm, b"", (names, column, digest, digest_bytes), options)


def measure(
    arguments: Sequence[str], folder: str | os.PathLike[str], *, program: Sequence[str] = ("cipherlane",)
) -> list[pathlib.Path]:
    """Runs the laboratory on all machines at once: ``measure(["bench", "--quick"], "records")``.

    ``program`` is the command line that starts ``cipherlane``, which each machine has, there. It has all CPUs and GPUs of a machine
    that Ray may give, once other tasks have given them back. Its records are put to ``folder``, in a new file of its node's name,
    with a number behind where there are some of it already, for ``cipherlane report`` and ``compare``; the paths of these files
    are returned. RuntimeError says what a machine on which it failed has said, once all are done; the records of the others are
    there.
    """
    if isinstance(arguments, str) or isinstance(program, str):
        raise TypeError("arguments and program are lists of words: [\"bench\", \"--quick\"]")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    run, tasks = ray.remote(max_retries=0)(_measure), {}
    for node in ray.nodes():
        if node["Alive"]:
            there = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
            all_of_it = {f"num_{kind.lower()}s": node["Resources"].get(kind, 0) for kind in ("CPU", "GPU")}
            task = run.options(scheduling_strategy=there, **all_of_it)
            tasks[f"{node['NodeName']}-{node['NodeID'][:8]}"] = task.remote([*program, *arguments])
    failed, paths = [], []
    for name, task in tasks.items():
        try:
            trouble, records = ray.get(task)
        except ray.exceptions.RayError as error:
            trouble, records = str(error), b""
        if records:
            paths.append(_write_new(folder, name, records))
        if trouble:
            failed.append(f"{name}: {trouble}")
    if failed:
        raise RuntimeError("\n".join(failed))
    return paths


def _write_new(folder, name, records):
    """Puts records where none are yet: the path of their file."""
    for number in itertools.count(1):
        path = folder / (f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl")
        try:
            with path.open("xb") as file:
                file.write(records)
            return path
        except FileExistsError:
            continue


def _measure(command):
    """On one machine: what went wrong, if anything did, and the records."""
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder, "records.jsonl")
        command = [*command, "--json", str(records)]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
            )
        except OSError as error:
            return f"{error}; name the program that is there (program=...)", b""
        said = (done.stdout + done.stderr)[-4000:]
        found = records.read_bytes() if records.exists() else b""
        is_well = done.returncode == 0 and found
        return None if is_well else f"exit code {done.returncode}, {len(found)} bytes of records\n{said}", found


def _check(algorithm, operation, nonce=...):
    """What can be told of names is not left to some machine."""
    found = sizes(algorithm)
    can = ("hash",) if not found.key else ("seal", "open") if found.tag else ("encrypt", "decrypt")
    if operation not in can:
        raise ValueError(f"{algorithm} cannot {operation}; it can {' and '.join(can)}")
    if nonce is not ... and bool(nonce) != bool(found.nonce):
        remedy = "name the column of its nonces (nonce=...)" if found.nonce else "it has no nonces"
        raise ValueError(f"{algorithm}: {remedy}")


def _aad_needed(aad, column, nonce, tag):
    """The column of additional data, if it is one more."""
    if not isinstance(aad, str) or aad == nonce:
        return []
    if aad in (column, tag):
        raise ValueError(f"aad: column {aad!r} is not the same where it is opened; name another")
    return [aad]


class _Names:
    """Columns that are to be there, and such as are to be new."""

    def __init__(self, needed, new=()):
        self.needed, self.new = needed, new
        names = [*needed, *new]
        if len(set(names)) < len(names):
            raise ValueError(f"columns of one name: {', '.join(names)}; give each its own")

    def check(self, table):
        for name in self.needed:
            if name not in table.column_names:
                raise ValueError(f"no column {name!r}; these are: {', '.join(table.column_names)}")
        for name in self.new:
            if name in table.column_names:
                raise ValueError(f"column {name!r} is there already; name another for what is new")


class _Secret:
    """A key that Ray sends along, or what fetches it, but shows nowhere: it lists the arguments of its tasks."""

    def __init__(self, key):
        self._key = key

    def __call__(self):
        return self._key() if callable(self._key) else self._key

    def __repr__(self):
        return "a key"


def _cipher(dataset, algorithm, key, operation, column, nonce, options):
    _check(algorithm, operation.__name__, nonce)
    names = _Names([column, nonce] if nonce else [column])
    return _map(dataset, _Cipher, algorithm, key, (names, operation, column, nonce), options)


def _bytes(key):
    """A key that is given, and not fetched."""
    try:
        return bytes(memoryview(key))
    except TypeError as error:
        kind = type(key).__name__
        raise TypeError(f"key: {kind}, where bytes belong; give bytes, or a function that fetches them") from error


def _map(dataset, step, algorithm, key, arguments, options):
    key_bytes = sizes(algorithm).key
    if not callable(key):
        key = _bytes(key)
        if len(key) != key_bytes:
            raise ValueError(f"{algorithm} has keys of {key_bytes} bytes, and this one has {len(key)}")
    if options.get("num_cpus") is None:
        options["num_cpus"] = 1
    gpus = options.get("num_gpus")
    options.setdefault("batch_size", GPU_BATCH if gpus else None)
    if "concurrency" not in options:
        options.setdefault("compute", ray.data.ActorPoolStrategy(min_size=1))
    return dataset.map_batches(
        step,
        batch_format="pyarrow",
        zero_copy_batch=True,
        fn_constructor_args=(algorithm, _Secret(key), _where(options["num_cpus"], gpus), *arguments),
        **options,
    )


def _where(cpus, gpus):
    """The engine of a task that has so many of each: Ray shows it no other GPUs."""
    if not gpus:
        return {"threads": max(1, int(cpus))}
    return {"device": "cuda:all" if gpus > 1 else "cuda:0"}


class _Step:
    """An engine on one of the machines."""

    def __init__(self, algorithm, key, where, names):
        # Others on this machine would pin theirs to the same CPUs.
        os.environ.setdefault("CIPHERLANE_NO_PINNING", "1")
        self.engine, self.algorithm, self.key, self.names = Engine(**where), algorithm, key(), names

    def __call__(self, table):
        self.names.check(table)
        return self.run(table)


class _Seal(_Step):
    def __init__(self, algorithm, key, where, names, column, nonce, tag, aad, random_nonces):
        super().__init__(algorithm, key, where, names)
        self.column, self.nonce, self.tag, self.aad, self.random_nonces = column, nonce, tag, aad, random_nonces

    def run(self, table):
        if self.random_nonces:
            width = sizes(self.algorithm).nonce
            drawn = pa.py_buffer(os.urandom(width * len(table)))
            nonces = pa.Array.from_buffers(pa.binary(width), len(table), [None, drawn])
            table = table.append_column(self.nonce, nonces)
        aad = _aad(table, self.aad)
        texts, tags = arrow.seal(
            self.engine, self.algorithm, self.key, table[self.column], nonces=table[self.nonce], aad=aad
        )
        return _put(table, self.column, texts).append_column(self.tag, tags)


class _Open(_Step):
    def __init__(self, algorithm, key, where, names, column, nonce, tag, aad, tag_bytes):
        super().__init__(algorithm, key, where, names)
        self.column, self.nonce, self.tag, self.aad, self.tag_bytes = column, nonce, tag, aad, tag_bytes

    def run(self, table):
        # Whoever writes one row of a dataset stops none of its blocks.
        texts = arrow._open(
            lambda reason: LOG.warning("%d rows are null: %s", len(table), reason),
            self.engine,
            self.algorithm,
            self.key,
            table[self.column],
            nonces=table[self.nonce],
            tags=table[self.tag],
            aad=_aad(table, self.aad),
            tag_bytes=self.tag_bytes,
        )
        return _put(table, self.column, texts).drop_columns([self.nonce, self.tag])


class _Cipher(_Step):
    def __init__(self, algorithm, key, where, names, operation, column, nonce):
        super().__init__(algorithm, key, where, names)
        self.operation, self.column, self.nonce = operation, column, nonce

    def run(self, table):
        nonces = table[self.nonce] if self.nonce else None
        texts = self.operation(self.engine, self.algorithm, self.key, table[self.column], nonces=nonces)
        return _put(table, self.column, texts)


class _Hash(_Step):
    def __init__(self, algorithm, key, where, names, column, digest, digest_bytes):
        super().__init__(algorithm, key, where, names)
        self.column, self.digest, self.digest_bytes = column, digest, digest_bytes

    def run(self, table):
        digests = arrow.hash(self.engine, self.algorithm, table[self.column], digest_bytes=self.digest_bytes)
        return table.append_column(self.digest, digests)


def _aad(table, aad):
    return table[aad] if isinstance(aad, str) else aad


def _put(table, name, column):
    return table.set_column(table.schema.get_field_index(name), name, column)
