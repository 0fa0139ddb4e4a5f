"""Through Python: known answers, lists and buffers there and back, and what is said of each fault."""

import array
import ctypes
import doctest
import hashlib
import inspect
import os
import pickle
import signal
import threading
import time
import traceback
import types
import unittest
import warnings

import cipherlane


def rows(data, width):
    """`data` in rows of `width` bytes."""
    return memoryview(data).cast("B", (len(data) // width, width))


def offsets(lengths):
    """Where messages of these lengths begin and end."""
    starts = array.array("Q", [0])
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


class Lists(unittest.TestCase):
    engine = cipherlane.Engine(threads=2)

    def test_known_answers(self):
        (sealed,) = self.engine.seal("aes-128-gcm", bytes(16), [bytes(16)], nonces=[bytes(12)])
        # Test case 2 of the GCM specification.
        self.assertEqual(sealed.hex(), "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
        # FIPS 197, appendix B.
        key, text = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), bytes.fromhex("3243f6a8885a308d313198a2e0370734")
        (block,) = self.engine.encrypt("aes-128-ecb", key, [text])
        self.assertEqual(block.hex(), "3925841d02dc09fbdc118597196a0b32")
        messages = [bytes(length) for length in range(300)]
        for name, other in [("sha-256", hashlib.sha256), ("sha3-512", hashlib.sha3_512)]:
            self.assertEqual(self.engine.hash(name, messages), [other(message).digest() for message in messages])
        (long,) = self.engine.hash("shake128", [b"abc"], 500)
        self.assertEqual(long, hashlib.shake_128(b"abc").digest(500))

    def test_there_and_back(self):
        key = bytes(range(32))
        messages = [bytes([i % 256]) * i for i in range(500)]
        nonces = [i.to_bytes(12, "big") for i in range(500)]
        sealed = self.engine.seal("aes-256-gcm", key, messages, nonces=nonces, aad=b"head")
        self.assertEqual([len(one) for one in sealed], [i + 16 for i in range(500)])
        self.assertEqual(self.engine.open("aes-256-gcm", key, sealed, nonces=nonces, aad=b"head"), messages)
        sealed[7] = sealed[7][:-1] + bytes([sealed[7][-1] ^ 1])
        opened = self.engine.open("aes-256-gcm", key, sealed, nonces=nonces, aad=b"head")
        self.assertIsNone(opened[7])
        self.assertEqual(opened[:7] + opened[8:], messages[:7] + messages[8:])
        self.assertEqual(self.engine.open("aes-256-gcm", key, sealed, nonces=nonces), [None] * 500)
        sealed[9] = bytes(15)
        opened = self.engine.open("aes-256-gcm", key, sealed, nonces=nonces, aad=b"head")
        self.assertEqual([i for i in range(500) if opened[i] is None], [7, 9])
        # Nor does one without a nonce keep the others from being opened.
        nonces[11] = b""
        opened = self.engine.open("aes-256-gcm", key, sealed, nonces=nonces, aad=b"head")
        self.assertEqual([i for i in range(500) if opened[i] is None], [7, 9, 11])
        self.assertEqual(self.engine.open("aes-256-gcm", key, sealed[:1], nonces=[b""]), [None])
        self.assertRaisesRegex(ValueError, "nonce", lambda: self.engine.seal("aes-256-gcm", key, [b""], nonces=[b""]))

    def test_every_cipher_undoes_itself(self):
        text = bytes(range(256))
        for algorithm in cipherlane.algorithms():
            sizes = cipherlane.sizes(algorithm)
            if sizes.key == 0:
                continue
            key, nonce = bytes(range(sizes.key)), bytes(range(sizes.nonce))
            with self.subTest(algorithm):
                if sizes.tag:
                    sealed = self.engine.seal(algorithm, key, [text], nonces=[nonce])
                    self.assertEqual(self.engine.open(algorithm, key, sealed, nonces=[nonce]), [text])
                else:
                    other = self.engine.encrypt(algorithm, key, [text], nonces=[nonce])
                    self.assertNotEqual(other, [text])
                    self.assertEqual(self.engine.decrypt(algorithm, key, other, nonces=[nonce]), [text])
                    # ECB alone has none.
                    if not sizes.nonce:
                        self.assertEqual(self.engine.decrypt(algorithm, key, other), [text])

    def test_nothing_comes_of_nothing(self):
        self.assertEqual(self.engine.seal("aes-128-gcm", bytes(16), [], nonces=[]), [])
        self.assertEqual(self.engine.hash("sha-256", []), [])
        self.engine.release()
        self.assertEqual(self.engine.hash("sha-256", [b""]), [hashlib.sha256().digest()])

    def test_faults_are_named(self):
        key = bytes(16)
        seal = lambda algorithm, key, count, messages: self.engine.seal(
            algorithm, key, messages, nonces=[bytes(12)] * count
        )
        for words, call in {
            "known: ": lambda: seal("rot-13", key, 1, [b""]),
            "key.* of 16 bytes": lambda: seal("aes-128-gcm", bytes(15), 1, [b""]),
            "same nonce": lambda: seal("aes-128-gcm", key, 2, [b"", b""]),
            "2 messages need": lambda: seal("aes-128-gcm", key, 1, [b"", b""]),
            "nonces of 16 bytes": lambda: self.engine.encrypt("aes-128-ctr", key, [b""]),
            "known: cpu": lambda: cipherlane.Engine("abacus"),
            "no hash function; these are: sha-224": lambda: self.engine.hash("aes-128-gcm", [b""]),
            "neon": lambda: cipherlane.Engine(tier="neon").hash("sha-256", [b""]),
        }.items():
            with self.subTest(words):
                self.assertRaisesRegex(ValueError, words, call)

    def test_an_array_is_no_list(self):
        # One of NumPy's gives items of bytes without the zeros at their end.
        class Array(list):
            dtype = types.SimpleNamespace(kind="S")

        class Objects(list):
            dtype = types.SimpleNamespace(kind="O")

        engine, key, rows = self.engine, bytes(16), [bytes(16), bytes([1]) * 16]
        sealed = engine.seal("aes-128-gcm", key, rows, nonces=rows)
        for call in [
            lambda kind: engine.seal("aes-128-gcm", key, kind(rows), nonces=rows),
            lambda kind: engine.seal("aes-128-gcm", key, rows, nonces=kind(rows)),
            lambda kind: engine.open("aes-128-gcm", key, kind(sealed), nonces=rows),
            lambda kind: engine.open("aes-128-gcm", key, sealed, nonces=kind(rows)),
            lambda kind: engine.encrypt("aes-128-cbc", key, kind(rows), nonces=rows),
            lambda kind: engine.encrypt("aes-128-cbc", key, rows, nonces=kind(rows)),
            lambda kind: engine.decrypt("aes-128-cbc", key, kind(rows), nonces=rows),
            lambda kind: engine.decrypt("aes-128-cbc", key, rows, nonces=kind(rows)),
            lambda kind: engine.hash("sha-256", kind(rows)),
        ]:
            self.assertRaisesRegex(TypeError, "zeros at their end.*give a list of bytes", lambda: call(Array))
            self.assertEqual(call(Objects), call(list))

    def test_a_message_is_no_list_of_messages(self):
        engine, key, one = self.engine, bytes(16), [bytes(16)]
        for message in [b"", bytes(16), bytearray(), bytearray(16), memoryview(b""), memoryview(bytes(16))]:
            for call in [
                lambda: engine.hash("sha-256", message),
                lambda: engine.seal("aes-128-gcm", key, message, nonces=one),
                lambda: engine.seal("aes-128-gcm", key, [], nonces=message),
                lambda: engine.open("aes-128-gcm", key, message, nonces=one),
                lambda: engine.encrypt("aes-128-ecb", key, message),
                lambda: engine.decrypt("aes-128-cbc", key, one, nonces=message),
            ]:
                with self.subTest(message):
                    words = f"{type(message).__name__}, where a list belongs; give a list of messages: \\[message\\]"
                    self.assertRaisesRegex(TypeError, words, call)
        self.assertEqual(engine.hash("sha-256", (b"", bytearray())), [hashlib.sha256().digest()] * 2)

    def test_a_key_is_whatever_shows_bytes(self):
        engine, key, texts, nonces = self.engine, bytes(range(16)), [bytes(32)], [bytes(16)]
        sealed = engine.seal("aes-128-gcm", key, texts, nonces=nonces)
        other = engine.encrypt("aes-128-cbc", key, texts, nonces=nonces)
        for shown in [bytearray(key), memoryview(key), array.array("B", key), (ctypes.c_uint8 * 16)(*key)]:
            with self.subTest(type(shown)):
                self.assertEqual(engine.seal("aes-128-gcm", shown, texts, nonces=nonces), sealed)
                self.assertEqual(engine.open("aes-128-gcm", shown, sealed, nonces=nonces), texts)
                self.assertEqual(engine.encrypt("aes-128-cbc", shown, texts, nonces=nonces), other)
                self.assertEqual(engine.decrypt("aes-128-cbc", shown, other, nonces=nonces), texts)
                self.assertEqual(bytes(shown), key)
        for wrong in ["k" * 16, 16, [0] * 16, None]:
            seal = lambda: engine.seal("aes-128-gcm", wrong, texts, nonces=nonces)
            self.assertRaisesRegex(TypeError, "key: .*; give bytes", seal)
        for empty in [b"", bytearray(), memoryview(b"")]:
            seal = lambda: engine.seal("aes-128-gcm", empty, texts, nonces=nonces)
            self.assertRaisesRegex(ValueError, "key.* of 16 bytes", seal)

    def test_nonces_are_given_by_name(self):
        # GCM takes nonces of any length: of two lists in a row, one would do for the other.
        engine, key, one, other = self.engine, bytes(16), [bytes(16)], [bytes(range(16))]
        for algorithm, operation in {
            "aes-128-gcm": engine.seal,
            "aes-256-gcm": engine.open,
            "aes-128-ctr": engine.encrypt,
            "aes-128-cbc": engine.decrypt,
        }.items():
            with self.subTest(operation.__name__):
                self.assertRaises(TypeError, lambda: operation(algorithm, key, one, other))
                parameters = inspect.signature(operation).parameters
                self.assertEqual(parameters["nonces"].kind, inspect.Parameter.KEYWORD_ONLY)
        self.assertRaises(TypeError, lambda: engine.seal("aes-128-gcm", key, one))


class Buffers(unittest.TestCase):
    engine = cipherlane.Engine()

    def test_a_key_for_each_message_in_place(self):
        count = 1000
        keys, nonces = bytes(range(256)) * (count // 8), bytes(range(240)) * (count // 20)
        text, tags = bytearray(b"%127d." % 5 * count), bytearray(count * 16)
        before = bytes(text)
        batch = {
            "offsets": offsets([128] * count),
            "keys": rows(keys, 32),
            "nonces": rows(nonces, 12),
            "aad": b"for all",
            "text": text,
        }
        spans = self.engine.run("aes-256-gcm", "seal", tags=rows(tags, 16), **batch)
        self.assertGreater(spans.wall, 0)
        self.assertEqual(repr(pickle.loads(pickle.dumps(spans))), repr(spans))
        (first,) = self.engine.seal(
            "aes-256-gcm", keys[:32], [before[:128]], nonces=[nonces[:12]], aad=b"for all"
        )
        self.assertEqual(first, bytes(text[:128] + tags[:16]))
        tags[16 * 9] ^= 1
        accepted = bytearray(b"x" * count)
        self.engine.run("aes-256-gcm", "open", tags=bytes(tags), accepted=accepted, **batch)
        self.assertEqual(accepted, bytes(i != 9 for i in range(count)))
        self.assertEqual(text, before[: 128 * 9] + bytes(128) + before[128 * 10 :])

    def test_ragged_rows_from_one_buffer_to_another(self):
        lengths = [0, 5, 16, 100, 31]
        ends, source = offsets(lengths), bytes(range(152))
        nonces = (bytes(range(150)), offsets([12, 1, 60, 16, 61]))
        text, tags = bytearray(152), bytearray(5 * 12)
        key = bytes(16)
        batch = {"offsets": ends, "keys": key, "nonces": nonces, "source": source, "text": text, "tags": tags}
        self.engine.run("camellia-128-gcm", "seal", tag_bytes=12, **batch)
        for i in range(5):
            nonce = nonces[0][nonces[1][i] : nonces[1][i + 1]]
            (sealed,) = self.engine.seal("camellia-128-gcm", key, [source[ends[i] : ends[i + 1]]], nonces=[nonce])
            self.assertEqual(text[ends[i] : ends[i + 1]] + tags[12 * i : 12 * i + 12], sealed[: lengths[i] + 12])

    def test_numbers_are_bytes(self):
        values = array.array("d", [1.5, -2.25, 3e300, 0.0])
        batch = {"offsets": offsets([32]), "keys": bytes(16), "nonces": bytes(16), "text": values}
        self.engine.run("sm4-ctr", "encrypt", **batch)
        self.assertNotEqual(values[0], 1.5)
        self.engine.run("sm4-ctr", "decrypt", **batch)
        self.assertEqual(values, array.array("d", [1.5, -2.25, 3e300, 0.0]))

    def test_digests(self):
        text, digests = bytes(1000), bytearray(64)
        for words, wrong, name in [
            ("32 bytes, where 20 are asked for; pass tag_bytes=32 if", 20, "sha-256"),
            ("32 bytes, where 28 are asked for; give a row of 28 bytes for each", 28, "sha-224"),
        ]:
            batch = {"offsets": offsets([400, 600]), "source": text, "tags": rows(digests, 32)}
            with self.assertRaisesRegex(ValueError, words):
                self.engine.run(name, "hash", tag_bytes=wrong, **batch)
        self.engine.run("sha-256", "hash", offsets=offsets([400, 600]), source=text, tags=rows(digests, 32))
        self.assertEqual(digests, hashlib.sha256(text[:400]).digest() + hashlib.sha256(text[:600]).digest())
        # It writes none: where they lie may be read-only.
        again = bytearray(64)
        self.engine.run("sha-256", "hash", offsets=offsets([400, 600]), text=text, tags=rows(again, 32))
        self.assertEqual(again, digests)
        # Of functions with digests of any length, the rows tell it.
        batch = {"offsets": offsets([400, 600]), "source": text, "tags": rows(digests, 32)}
        self.engine.run("shake256", "hash", **batch)
        self.assertEqual(digests[:32], hashlib.shake_256(text[:400]).digest(32))
        with self.assertRaisesRegex(ValueError, "32 bytes, where 64 are asked for"):
            self.engine.run("shake256", "hash", tag_bytes=64, **batch)

    def test_faults_are_named_and_nothing_is_written(self):
        text, key, nonce = bytearray(16), bytes(16), bytes(16)
        good = {"offsets": offsets([16]), "keys": key, "nonces": nonce, "text": text}
        for words, change in {
            "read-only": {"text": bytes(16)},
            "not contiguous": {"text": memoryview(bytearray(32))[::2]},
            "without a sign": {"offsets": array.array("q", [0, 16])},
            "one more than messages": {"offsets": array.array("Q")},
            "overlaps the keys": {"keys": text},
            "in place": {"source": text},
            "the output needs 16": {"text": bytearray(15), "source": bytes(16)},
            "need 2 offsets": {"nonces": (nonce, array.array("Q", [0]))},
            "rows, and there are 2": {"nonces": rows(bytes(32), 16)},
            "Python's objects": {"keys": (ctypes.py_object * 2)(b"one", b"two")},
            "items of 8 bytes": {"nonces": array.array("Q", [1, 2])},
            "neither one dimension": {"nonces": memoryview(bytes(16)).cast("B", (1, 2, 8))},
            "no dimensions; reshape it": {"text": ctypes.c_uint64(0)},
        }.items():
            with self.subTest(words):
                call = good | change
                self.assertRaisesRegex(ValueError, words, lambda: self.engine.run("aes-128-ctr", "encrypt", **call))
        self.assertEqual(text, bytes(16))
        for what, wrong in {
            "offsets": [0, 16],
            "keys": "no bytes",
            "nonces": ("no bytes", offsets([16])),
            "aad": ["no bytes"],
            "source": 5,
            "text": "no bytes",
            "tags": {},
            "accepted": [0],
        }.items():
            with self.subTest(what):
                words = f"^{what}: .* not '.*'; give bytes, an array, or tensor.numpy\\(\\) for a CPU tensor$"
                call = good | {what: wrong}
                self.assertRaisesRegex(TypeError, words, lambda: self.engine.run("aes-128-gcm", "open", **call))
        self.assertRaisesRegex(ValueError, "known: ", lambda: self.engine.run("\0", "encrypt", **good))

    def test_addresses_are_no_bytes(self):
        class Pair(ctypes.Structure):
            _fields_ = [("length", ctypes.c_size_t), ("first", ctypes.POINTER(ctypes.c_uint8))]

        class Named(ctypes.Structure):
            _fields_ = [("P", ctypes.c_uint64), ("Z", ctypes.c_uint64)]

        key, text = bytes(16), bytearray(16)
        run = lambda **change: self.engine.run(
            "aes-128-ctr", "encrypt", **{"offsets": offsets([16]), "keys": key, "nonces": key, "text": text} | change
        )
        function = ctypes.CFUNCTYPE(None)
        for kind in [ctypes.c_char_p, ctypes.c_wchar_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint8), function, Pair]:
            for what in ["keys", "nonces", "source", "text"]:
                with self.subTest(kind=kind, what=what):
                    self.assertRaisesRegex(ValueError, f"{what}: .* or pointers", lambda: run(**{what: (kind * 2)()}))
        self.assertEqual(text, bytes(16))
        # Numbers of such names are bytes like others.
        numbers = (Named * 1)()
        run(text=numbers)
        run()
        self.assertEqual(bytes(numbers), text)

    def test_numbers_in_one_dimension_are_no_row_for_all(self):
        text, tags, ids = bytearray(b"one two "), bytearray(32), array.array("Q", [7, 8])
        batch = {"offsets": offsets([4, 4]), "keys": bytes(16), "nonces": rows(bytes(range(24)), 12), "text": text}
        seal = lambda **change: self.engine.run("aes-128-gcm", "seal", tags=tags, **batch | change)
        for what in ["keys", "nonces", "aad"]:
            with self.subTest(what):
                words = f"{what}: one dimension of items of 8 bytes; give bytes, .* two dimensions"
                self.assertRaisesRegex(ValueError, words, lambda: seal(**{what: ids}))
        self.assertEqual(text, b"one two ")
        # In two, each has its own.
        seal(aad=memoryview(ids).cast("B").cast("Q", (2, 1)))
        (one,) = self.engine.seal("aes-128-gcm", bytes(16), [b"two "], nonces=[bytes(range(12, 24))], aad=bytes(ids)[8:])
        self.assertEqual(text[4:] + tags[16:], one)

    def test_one_nonce_serves_one_message_of_a_key(self):
        text, tags, keys = bytearray(b"one two "), bytearray(32), bytes(16) + bytes([1]) * 16
        batch = {"offsets": offsets([4, 4]), "text": text, "tags": tags}
        seal = lambda keys, nonces: self.engine.run("aes-128-gcm", "seal", keys=keys, nonces=nonces, **batch)
        for words, wrong in [
            ("2 messages share a key and a nonce", (rows(bytes(32), 16), bytes(12))),
            ("give each message its own nonce", (bytes(16), bytes(12))),
            # Of all messages, without a dimension of their own.
            ("2 messages need 2 nonces", (rows(keys, 16), bytes(range(24)))),
            ("2 messages need 2 nonces", (bytes(16), bytes(range(24)))),
        ]:
            self.assertRaisesRegex(ValueError, words, lambda: seal(*wrong))
        self.assertEqual((text, tags), (b"one two ", bytes(32)))
        seal(rows(keys, 16), bytes(12))
        self.assertNotEqual(text, b"one two ")

    def test_a_stale_buffer_shortens_no_tag(self):
        text = bytearray(4)
        batch = {"offsets": offsets([1] * 4), "keys": bytes(16), "nonces": rows(bytes(range(48)), 12), "text": text}
        seal = lambda tags: self.engine.run("aes-128-gcm", "seal", tags=tags, **batch)
        self.assertRaisesRegex(ValueError, "4 rows, and there are 3", lambda: seal(rows(bytearray(48), 16)))
        self.assertRaisesRegex(ValueError, "no 4 tags of one length", lambda: seal(bytearray(50)))
        words = "tags of 4 bytes, where 16 are asked for; pass tag_bytes=4 if that is meant"
        self.assertRaisesRegex(ValueError, words, lambda: seal(bytearray(16)))
        # What no tag is as long as, it would only be refused for next.
        for wrong in [0, 5, 11, 17, 32]:
            words = f"tags of {wrong} bytes, where 16 are asked for; give a row of 16 bytes for each message$"
            self.assertRaisesRegex(ValueError, words, lambda: seal(bytearray(4 * wrong)))
        self.assertEqual(text, bytes(4))
        tags = bytearray(64)
        seal(tags)
        wide = array.array("Q", [0] * 4)
        open_with = lambda accepted: self.engine.run("aes-128-gcm", "Open", tags=tags, accepted=accepted, **batch)
        self.assertRaisesRegex(ValueError, "a verdict is a byte", lambda: open_with(wide))
        self.assertRaisesRegex(ValueError, "4 messages need 4 bytes, and there are 5", lambda: open_with(bytearray(5)))
        accepted = (ctypes.c_uint8 * 4)()
        open_with(accepted)
        self.assertEqual((list(accepted), text), ([1] * 4, bytes(4)))

    def test_who_sends_tags_shortens_none(self):
        text = bytearray(b"pay 10pay 20")
        batch = {"offsets": offsets([6, 6]), "keys": bytes(16), "nonces": rows(bytes(range(24)), 12), "text": text}
        run, short, accepted = self.engine.run, bytearray(8), bytearray(2)
        run("aes-128-gcm", "seal", tags=rows(short, 4), **batch)
        sealed = bytes(text)
        remedy = "tags of 4 bytes, where 16 are asked for; pass tag_bytes=4 if that is meant"
        for tags in [rows(short, 4), short]:
            with self.assertRaisesRegex(ValueError, remedy):
                run("aes-128-gcm", "open", tags=tags, accepted=accepted, **batch)
        with self.assertRaisesRegex(ValueError, "tags of 4 bytes, where 12 are asked for"):
            run("aes-128-gcm", "open", tags=short, tag_bytes=12, accepted=accepted, **batch)
        self.assertEqual((bytes(text), accepted), (sealed, bytes(2)))
        run("aes-128-gcm", "open", tags=short, tag_bytes=4, accepted=accepted, **batch)
        self.assertEqual((bytes(text), accepted), (b"pay 10pay 20", bytes([1, 1])))
        with self.assertRaisesRegex(ValueError, remedy):
            run("aes-128-gcm", "open", tags=short, accepted=accepted, **batch)
        self.assertEqual(accepted, bytes(2), "verdicts of before are gone")
        with self.assertRaisesRegex(ValueError, "tags: there are none; give a row for each message"):
            run("aes-128-gcm", "open", accepted=accepted, **batch)
        for wrong in [{"offsets": array.array("q", [0])}, {"keys": bytes(3)}, {"text": bytes(12)}, {"nonces": 5}]:
            with self.subTest(wrong):
                accepted[:] = bytes([1, 1])
                call = batch | {"tags": short, "tag_bytes": 4} | wrong
                self.assertRaises((TypeError, ValueError), lambda: run("aes-128-gcm", "open", accepted=accepted, **call))
                self.assertEqual(accepted, bytes(2), "verdicts of before are gone")
        # Not those that share memory with what would be lost.
        sealed = bytes(text)
        call = batch | {"tags": short, "tag_bytes": 4, "accepted": memoryview(text)[3:5]}
        for shared, words in [(text, "overlaps the text"), (memoryview(text)[::-1], "not contiguous")]:
            with self.assertRaisesRegex(ValueError, words):
                run("aes-128-gcm", "open", **call | {"text": shared})
            self.assertEqual(text, sealed)
        # A number does not tell where it ends.
        both = bytearray([1, 1])
        call = batch | {"tags": short, "tag_bytes": 4, "accepted": both}
        number = ctypes.c_uint16.from_buffer(both)
        for shared in [{"text": number}, {"aad": (number, offsets([1, 1]))}]:
            with self.assertRaisesRegex(ValueError, "no dimensions"):
                run("aes-128-gcm", "open", **call | shared)
            self.assertEqual(both, bytes([1, 1]))
        # What is made is as long as its rows, and as what is asked for, if that is said.
        with self.assertRaisesRegex(ValueError, "tags of 4 bytes, where 16 are asked for"):
            run("aes-128-gcm", "seal", tags=rows(short, 4), tag_bytes=16, **batch)
        with self.assertRaisesRegex(ValueError, "tags of 4, 8 or 12 to 16 bytes"):
            run("aes-128-gcm", "seal", tags=bytearray(10), tag_bytes=5, **batch)
        with self.assertRaisesRegex(ValueError, "no tags"):
            run("aes-128-ctr", "encrypt", tag_bytes=16, **batch | {"nonces": rows(bytes(range(32)), 16)})

    def test_nothing_comes_of_nothing(self):
        none = offsets([])
        self.engine.run("sha-256", "hash", offsets=none, source=b"", tags=bytearray())
        self.engine.run("aes-128-gcm", "seal", offsets=none, keys=bytes(16), text=bytearray(), tags=bytearray())

    def test_offsets_may_lie_anywhere(self):
        ends, text = memoryview(bytearray(17))[1:].cast("Q"), bytearray(16)
        ends[1] = 16
        self.engine.run("aes-128-ecb", "encrypt", offsets=ends, keys=bytes(16), text=text)
        self.assertEqual(text.hex(), "66e94bd4ef8a2c3b884cfa59ca342b2e")

    def test_offsets_that_another_thread_writes_find_no_memory(self):
        messages, width = 20_000, 16
        ends = array.array("Q", range(0, (messages + 1) * width, width))
        text = bytearray(messages * width)
        is_over = threading.Event()

        def write():
            while not is_over.is_set():
                right, ends[messages // 2] = ends[messages // 2], 1 << 40
                ends[messages // 2] = right

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(200):
                try:
                    self.engine.run("aes-128-ecb", "encrypt", offsets=ends, keys=bytes(16), text=text)
                except ValueError:
                    pass  # seen while they were wrong
        finally:
            is_over.set()
            writer.join()

    def test_threads_share_an_engine(self):
        done = []

        def work(seed):
            text = bytearray([seed]) * 100_000
            batch = {"offsets": offsets([len(text)]), "keys": bytes(16), "nonces": bytes(16), "text": text}
            for _ in range(20):
                self.engine.run("aes-128-ctr", "encrypt", **batch)
            done.append(text == bytearray([seed]) * 100_000)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(done, [True] * 8)


class Forks(unittest.TestCase):
    def child(self, work):
        """Has a child process do `work`: its exit code, and what it said on the way."""
        read, write = os.pipe()
        with warnings.catch_warnings():
            # Python 3.12 and newer warn of it where there are threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            # Ends it if it hangs.
            signal.alarm(60)
            os.dup2(write, 2)
            code = 1
            try:
                work()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        with open(read) as pipe:
            said = pipe.read()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said

    def test_a_child_uses_and_drops_what_it_inherits(self):
        messages = [bytes([i]) * 100_000 for i in range(40)]
        engines = [cipherlane.Engine(threads=3)]
        expected = engines[0].hash("sha-256", messages)

        def work():
            for _ in range(3):
                self.assertEqual(engines[0].hash("sha-256", messages), expected)
            engines.clear()
            self.assertEqual(cipherlane.Engine(threads=3).hash("sha-256", messages), expected)

        # Threads poll after a run for a while, then they sleep: either way a child has none of them.
        for pause in [0, 0.05]:
            self.assertEqual(engines[0].hash("sha-256", messages), expected)
            time.sleep(pause)
            self.assertEqual(self.child(work), (0, ""))
        self.assertEqual(engines[0].hash("sha-256", messages), expected)


class Names(unittest.TestCase):
    def test_devices_are_here_or_said_to_be_absent(self):
        here, absent = cipherlane.devices()
        self.assertEqual(here[0], "cpu")
        for kind in ["cuda", "opencl"]:
            self.assertTrue(absent.get(kind) or any(name.startswith(kind) for name in here))

    def test_sizes(self):
        sizes = cipherlane.sizes("aes-256-xts")
        self.assertEqual(repr(sizes), "Sizes(key=64, nonce=16, tag=0)")
        self.assertEqual(repr(pickle.loads(pickle.dumps(sizes))), repr(sizes))
        self.assertIn("sha3-256", cipherlane.algorithms())

    def test_the_example_of_the_package(self):
        self.assertEqual(doctest.testmod(cipherlane).failed, 0)


if __name__ == "__main__":
    unittest.main()
