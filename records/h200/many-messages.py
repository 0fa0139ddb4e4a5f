"""How many messages a second a host opens its threads for, through the package for Python: many-messages.csv.

    python3 many-messages.py THREADS,THREADS.. MESSAGES,MESSAGES..

AES-128-GCM seal in place under one key, of messages of 128 bytes, or of 112 to 144, each length as often as any other. Of each
the fastest of five runs or more, from call to return.
"""

import sys
import time

import cipherlane
import numpy as np


def fastest(threads, offsets, text):
    """Seconds of the fastest run."""
    messages = len(offsets) - 1
    nonces = np.arange(messages * 3, dtype=np.uint32).reshape(messages, 3)
    tags = np.zeros((messages, 16), np.uint8)
    engine, seconds = cipherlane.Engine(threads=threads), []
    end = time.perf_counter() + 1
    while len(seconds) < 5 or (time.perf_counter() < end and len(seconds) < 60):
        start = time.perf_counter()
        engine.run("aes-128-gcm", "seal", offsets=offsets, keys=bytes(16), nonces=nonces, text=text, tags=tags)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main(threads, messages):
    print("messages,lengths,threads,ns_per_message,GB_per_second")
    for count in messages:
        for name, spread in [("128", 1), ("112-144", 33)]:
            lengths = 128 - spread // 2 + np.arange(count, dtype=np.uint64) * 7919 % spread
            offsets = np.zeros(count + 1, np.uint64)
            np.cumsum(lengths, out=offsets[1:])
            text = np.zeros(int(offsets[-1]), np.uint8)
            for number in threads:
                seconds = fastest(number, offsets, text)
                row = [count, name, number, f"{seconds / count * 1e9:.3f}", f"{len(text) / seconds / 1e9:.2f}"]
                print(*row, sep=",", flush=True)


if __name__ == "__main__":
    main(*([int(number) for number in argument.split(",")] for argument in sys.argv[1:]))
