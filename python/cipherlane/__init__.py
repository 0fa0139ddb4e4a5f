"""Bulk cryptography on every lane of a machine.

    >>> import cipherlane, secrets
    >>> engine = cipherlane.Engine()
    >>> key, nonces = secrets.token_bytes(16), [i.to_bytes(12, "big") for i in range(2)]
    >>> sealed = engine.seal("aes-128-gcm", key, [b"reading 0", b"reading 1"], nonces=nonces, aad=b"meter 12")
    >>> engine.open("aes-128-gcm", key, sealed, nonces=nonces, aad=b"meter 12")
    [b'reading 0', b'reading 1']

``Engine.run`` does the same with a key for each message, where texts lie in NumPy's arrays and their like.
"""

from ._native import DeviceError, Engine, Sizes, Spans, __version__, algorithms, devices, sizes

__all__ = ["DeviceError", "Engine", "Sizes", "Spans", "__version__", "algorithms", "devices", "sizes"]
