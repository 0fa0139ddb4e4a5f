"""Texts in the memory of an NVIDIA GPU, whose driver is called here by its own functions.

    python3 -m unittest discover -s python/tests/gpu -p test_device_memory.py

Where there is no GPU, the crate's test has a driver that makes one of the CPU, by CIPHERLANE_LIBCUDA; it has neither tensor cores
nor shuffles, which kernels but the plainest ask for.
"""

import array
import ctypes
import hashlib
import os
import unittest

import cipherlane

KERNEL = {"gcm": "aes-gcm/banked1/x1", "ctr": "aes-ctr/banked1/x1", "hash": None}


class Driver:
    """The first GPU's primary context, and a stream."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("CIPHERLANE_LIBCUDA") or "libcuda.so.1")
        self.stream, context, gpu = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(gpu), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), gpu)
        self.call("cuCtxPushCurrent_v2", context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: {code}")


DRIVER = Driver()


class Tensor:
    """Bytes on the GPU, `skip` of them before those that are shown."""

    def __init__(self, content, skip=0, **shown):
        self.memory, self.bytes = ctypes.c_uint64(), len(content)
        DRIVER.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(skip + max(len(content), 1)))
        self.address = self.memory.value + skip
        self.copy("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(self.address), bytes(content))
        self.__cuda_array_interface__ = {
            "shape": (self.bytes,),
            "typestr": "|u1",
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        } | shown

    def copy(self, name, target, source):
        DRIVER.call(name, target, source, ctypes.c_size_t(self.bytes), DRIVER.stream)
        DRIVER.call("cuStreamSynchronize", DRIVER.stream)

    def __bytes__(self):
        back = ctypes.create_string_buffer(self.bytes)
        self.copy("cuMemcpyDtoHAsync_v2", back, ctypes.c_uint64(self.address))
        return back.raw

    def __del__(self):
        DRIVER.call("cuMemFree_v2", self.memory)


def engine(kind):
    return cipherlane.Engine("cuda:0", kernel=KERNEL[kind])


class Tensors(unittest.TestCase):
    text = bytes(i * 7 % 251 for i in range(1000))
    offsets = array.array("Q", [0, 16, 16, 400, 990])
    key = bytes(range(16))
    nonces = memoryview(bytes(range(48))).cast("B", (4, 12))

    def sealed(self):
        """What the CPU makes of it: all ciphertexts in their places, and the tags."""
        text, tags = bytearray(self.text), bytearray(64)
        cipherlane.Engine().run("aes-128-gcm", "seal", text=text, tags=tags, **self.batch())
        return bytes(text), bytes(tags)

    def batch(self):
        return {"offsets": self.offsets, "keys": self.key, "nonces": self.nonces, "aad": b"layer 0"}

    def test_seals_and_opens_in_place(self):
        gpu, tensor, tags, accepted = engine("gcm"), Tensor(self.text), bytearray(64), bytearray(4)
        spans = gpu.run("aes-128-gcm", "seal", text=tensor, tags=tags, **self.batch())
        self.assertGreater(spans.execute, 0)
        self.assertEqual((bytes(tensor), bytes(tags)), self.sealed())
        tags[16 * 2] ^= 1
        gpu.run("aes-128-gcm", "open", text=tensor, tags=tags, accepted=accepted, **self.batch())
        self.assertEqual(list(accepted), [1, 1, 0, 1])
        self.assertEqual(bytes(tensor), self.text[:16] + bytes(384) + self.text[400:])

    def test_from_one_memory_to_another(self):
        source, text, tags = Tensor(self.text), Tensor(b"\xee" * 1000), bytearray(64)
        engine("gcm").run("aes-128-gcm", "seal", source=source, text=text, tags=tags, **self.batch())
        ciphertexts, expected = self.sealed()
        self.assertEqual((bytes(source), bytes(tags)), (self.text, expected))
        self.assertEqual(bytes(text), ciphertexts[:990] + b"\xee" * 10)

    def test_part_of_a_tensor_of_floats(self):
        tensor = Tensor(self.text[:960], skip=32, shape=(3, 1, 80), typestr="<f4", strides=(320, 999, 4))
        batch = {"offsets": array.array("Q", [5, 960]), "keys": self.key, "nonces": bytes(16)}
        gpu = engine("ctr")
        gpu.run("aes-128-ctr", "encrypt", text=tensor, **batch)
        text = bytearray(self.text[:960])
        cipherlane.Engine().run("aes-128-ctr", "encrypt", text=text, **batch)
        self.assertEqual(bytes(tensor), bytes(text))
        gpu.run("aes-128-ctr", "decrypt", text=tensor, **batch)
        self.assertEqual(bytes(tensor), self.text[:960])

    def test_digests(self):
        expected = b"".join(hashlib.sha256(self.text[a:b]).digest() for a, b in zip(self.offsets, self.offsets[1:]))
        for name in ["source", "text"]:
            tensor, digests = Tensor(self.text), bytearray(128)
            engine("hash").run("sha-256", "hash", offsets=self.offsets, tags=digests, **{name: tensor})
            self.assertEqual((bytes(digests), bytes(tensor)), (expected, self.text))

    def test_faults_are_named_and_nothing_is_written(self):
        class Leaf:
            @property
            def __cuda_array_interface__(self):
                raise RuntimeError("it requires grad; use detach()")

        tensor, apart = Tensor(self.text), Tensor(bytes(1000))
        shown = lambda **change: Tensor(self.text, **change)
        batch = {"offsets": array.array("Q", [0, 960]), "keys": self.key, "nonces": bytes(16), "text": tensor}
        gpu = engine("ctr")
        for words, change in {
            "on a GPU and the other does not": {"source": self.text},
            "read-only": {"text": shown(data=(tensor.address, True))},
            "not contiguous": {"text": shown(shape=(500,), strides=(2,))},
            "a mask": {"text": shown(mask=tensor)},
            "no `typestr`": {"text": shown(typestr=None)},
            "no type of items": {"text": shown(typestr="|O")},
            "multiple of 16": {"text": Tensor(self.text, skip=8)},
            # Where the CPU is the GPU, so much of its memory may have the offsets in it.
            "not memory of one GPU|overlaps an array of offsets": {"text": shown(shape=(1 << 30,))},
            "it has no bytes": {"source": shown(shape=(0,), data=(0, False))},
            "use detach": {"text": Leaf()},
            "NULL": {"text": None, "source": tensor},
            "overlap": {"source": tensor},
            "within the 1000 bytes": {"offsets": array.array("Q", [0, 1001]), "source": apart},
        }.items():
            with self.subTest(words):
                call = batch | change
                self.assertRaisesRegex(ValueError, words, lambda: gpu.run("aes-128-ctr", "encrypt", **call))
        cpu = cipherlane.Engine()
        self.assertRaisesRegex(
            ValueError, "run them by an engine on cuda:0", lambda: cpu.run("aes-128-ctr", "encrypt", **batch)
        )
        self.assertEqual((bytes(tensor), bytes(apart)), (self.text, bytes(1000)))


if __name__ == "__main__":
    unittest.main()
