"""Tensors of the libraries that people have them from, on an NVIDIA GPU: PyTorch, CuPy, JAX. Each is needed here.

    python3 -m unittest discover -s python/tests/gpu -p test_libraries.py

CI has no GPU: records/h200/tensors.txt has what it said on one.
"""

import concurrent.futures
import unittest

import cipherlane
import cupy
import jax
import numpy as np
import torch

KEY, ROWS = bytes(range(32)), 64
NONCES = np.arange(ROWS * 3, dtype=np.uint32).reshape(ROWS, 3)


def offsets(nbytes):
    return np.arange(ROWS + 1, dtype=np.uint64) * (nbytes // ROWS)


class Libraries(unittest.TestCase):
    gpu = cipherlane.Engine("cuda:0")

    def seal_and_open(self, tensor, nbytes, to_bytes):
        """In place, as the CPU does it."""
        batch = {"offsets": offsets(nbytes), "keys": KEY, "nonces": NONCES}
        before = to_bytes(tensor)
        text, expected = bytearray(before), np.empty((ROWS, 16), np.uint8)
        cipherlane.Engine().run("aes-256-gcm", "seal", text=text, tags=expected, **batch)
        tags, accepted = np.empty((ROWS, 16), np.uint8), np.empty(ROWS, np.uint8)
        self.gpu.run("aes-256-gcm", "seal", text=tensor, tags=tags, **batch)
        self.assertTrue((tags == expected).all())
        self.assertEqual(to_bytes(tensor), bytes(text))
        self.gpu.run("aes-256-gcm", "open", text=tensor, tags=tags, accepted=accepted, **batch)
        self.assertTrue(accepted.all())
        self.assertEqual(to_bytes(tensor), before)

    def test_pytorch(self):
        for kind in [torch.float32, torch.bfloat16, torch.float16, torch.int8]:
            with self.subTest(kind):
                tensor = (torch.randn(ROWS, 5000, device="cuda") * 50).to(kind)
                as_bytes = lambda tensor: tensor.view(torch.uint8).cpu().numpy().tobytes()
                self.seal_and_open(tensor.view(torch.uint8), tensor.nbytes, as_bytes)
        leaf = torch.zeros(16, device="cuda", requires_grad=True)
        batch = {"offsets": np.array([0, 64], np.uint64), "keys": bytes(16), "nonces": bytes(16)}
        with self.assertRaisesRegex(ValueError, "detach"):
            self.gpu.run("aes-128-ctr", "encrypt", text=leaf, **batch)

    def test_what_another_stream_makes_is_waited_for(self):
        batch = {"offsets": offsets(ROWS << 20), "keys": KEY, "nonces": NONCES}
        stream, tags = torch.cuda.Stream(), np.empty((2, ROWS, 16), np.uint8)
        for i in range(2):
            tensor = torch.zeros(ROWS << 18, device="cuda")
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                for _ in range(500):
                    tensor += 1
            self.gpu.run("aes-256-gcm", "seal", text=tensor, tags=tags[i], **batch)
        self.assertTrue((tags[0] == tags[1]).all())
        expected = np.empty((ROWS, 16), np.uint8)
        text = np.full(ROWS << 18, 500, np.float32)
        cipherlane.Engine().run("aes-256-gcm", "seal", text=text, tags=expected, **batch)
        self.assertTrue((tags[0] == expected).all())
        self.assertEqual(tensor.cpu().numpy().tobytes(), text.tobytes())

    def test_a_graph_that_another_thread_captures_is_in_nobodys_way(self):
        # While one is captured, the driver refuses others even to wait, unless they say that they are no part of it.
        pinned = [torch.zeros(ROWS << 20, dtype=torch.uint8).pin_memory() for _ in range(3)]
        tags, batch = np.empty((3, ROWS, 16), np.uint8), {"offsets": offsets(ROWS << 20), "keys": KEY, "nonces": NONCES}
        seal = lambda i: self.gpu.run("aes-256-gcm", "seal", text=pinned[i].numpy(), tags=tags[i], **batch)
        seal(0)
        graph, number = torch.cuda.CUDAGraph(), torch.zeros(1, device="cuda")
        with torch.cuda.graph(graph):
            number += 1
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                # The second one needs memory: what the engine has is given back.
                other.submit(seal, 1).result()
                other.submit(self.gpu.release).result()
                other.submit(seal, 2).result()
            number += 1
        for _ in range(5):
            graph.replay()
        self.assertEqual(number.item(), 10)
        for i in (1, 2):
            self.assertTrue((tags[i] == tags[0]).all())
            self.assertTrue(torch.equal(pinned[i], pinned[0]))

    def test_tensors_are_refused_while_a_graph_is_captured(self):
        # They would have to be waited for, which the driver refuses then, and it gives up the capture.
        tensor = torch.arange(ROWS << 10, device="cuda").view(torch.uint8)
        batch = {"offsets": offsets(tensor.nbytes), "keys": KEY, "nonces": NONCES, "tags": np.empty((ROWS, 16), np.uint8)}
        before = tensor.cpu()
        for mode in ["global", "thread_local", "relaxed"]:
            with self.subTest(mode):
                graph, number = torch.cuda.CUDAGraph(), torch.zeros(1, device="cuda")
                with self.assertRaises(RuntimeError):
                    with torch.cuda.graph(graph, capture_error_mode=mode):
                        number += 1
                        with self.assertRaisesRegex(cipherlane.DeviceError, "captured into a CUDA graph"):
                            self.gpu.run("aes-256-gcm", "seal", text=tensor, **batch)
                        number += 1
                self.assertTrue(torch.equal(tensor.cpu(), before))
        self.gpu.run("aes-256-gcm", "seal", text=tensor, **batch)
        self.assertFalse(torch.equal(tensor.cpu(), before))

    def test_cupy(self):
        tensor = cupy.arange(ROWS * 777, dtype=cupy.float64).reshape(ROWS, 777)
        self.seal_and_open(tensor, tensor.nbytes, lambda tensor: cupy.asnumpy(tensor).tobytes())

    def test_jax_is_read(self):
        # Its arrays are not for others to write.
        tensor = jax.numpy.arange(ROWS * 512, dtype=jax.numpy.float32)
        text = torch.empty(ROWS * 512, device="cuda")
        batch = {"offsets": offsets(text.nbytes), "keys": KEY, "nonces": NONCES}
        tags = np.empty((ROWS, 16), np.uint8)
        self.gpu.run("aes-256-gcm", "seal", source=tensor, text=text, tags=tags, **batch)
        accepted = np.empty(ROWS, np.uint8)
        self.gpu.run("aes-256-gcm", "open", text=text, tags=tags, accepted=accepted, **batch)
        self.assertTrue(accepted.all())
        self.assertEqual(text.cpu().numpy().tobytes(), np.asarray(tensor).tobytes())


if __name__ == "__main__":
    unittest.main()
