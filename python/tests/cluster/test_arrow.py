"""Columns of Arrow's: as lists have it, sliced, in chunks, of every kind of bytes, with rows that are null."""

import doctest
import hashlib
import unittest

import cipherlane
import numpy as np
import pyarrow as pa
from cipherlane import arrow

ENGINE = cipherlane.Engine(threads=2)
KEY = bytes(range(16))
MESSAGES = [b"reading %d" % i * (i % 50) for i in range(300)]
NONCES = [i.to_bytes(12, "big") for i in range(300)]


class Columns(unittest.TestCase):
    def seal(self, messages, nonces=NONCES, **others):
        return arrow.seal(ENGINE, "aes-128-gcm", KEY, messages, nonces, **others)

    def expected(self, messages=MESSAGES, nonces=NONCES, aad=None):
        sealed = ENGINE.seal("aes-128-gcm", KEY, nonces, messages, aad)
        return [one[:-16] for one in sealed], [one[-16:] for one in sealed]

    def test_as_lists_have_it(self):
        texts, tags = self.seal(MESSAGES, aad=b"head")
        self.assertEqual((texts.type, tags.type), (pa.large_binary(), pa.binary(16)))
        self.assertEqual((texts.to_pylist(), tags.to_pylist()), self.expected(aad=b"head"))
        opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES, tags, b"head")
        self.assertEqual(opened.to_pylist(), MESSAGES)

    def test_every_kind_of_column(self):
        whole = pa.array(MESSAGES)
        text = pa.array([f"reading {i}" * (i % 50) for i in range(300)])
        for name, column in {
            "binary": whole,
            "large binary": whole.cast(pa.large_binary()),
            "views": whole.cast(pa.binary_view()),
            "strings": text,
            "large strings": text.cast(pa.large_string()),
            "slice": pa.array([b"no"] * 3 + MESSAGES + [b"more"])[3:303],
            "chunks": pa.chunked_array([whole[:100], whole[100:100], whole[100:]]),
            "one chunk": pa.chunked_array([whole]),
            "words": pa.array(MESSAGES).dictionary_encode(),
            "words in chunks": pa.chunked_array([whole[:9].dictionary_encode(), whole[9:].dictionary_encode()]),
            "words that are views": pa.DictionaryArray.from_arrays(range(300), whole.cast(pa.binary_view())),
        }.items():
            with self.subTest(name):
                texts, tags = self.seal(column, pa.array([bytes(12)] + NONCES, pa.binary(12))[1:])
                texts.validate(full=True)
                self.assertEqual((texts.to_pylist(), tags.to_pylist()), self.expected())
        wide = pa.array([bytes([i]) * 16 for i in range(9)], pa.binary(16))[2:8]
        texts, _ = self.seal(wide, NONCES[:6])
        self.assertEqual(texts.to_pylist(), self.expected(wide.to_pylist(), NONCES[:6])[0])

    def test_null_rows_stay_null(self):
        messages = pa.array([b"", None, b"two", None, b"four"] * 3)[2:13]
        texts, tags = self.seal(messages, NONCES[:11])
        for column in [texts, tags]:
            column.validate(full=True)
            self.assertEqual(column.is_null().to_pylist(), messages.is_null().to_pylist())
        opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES[:11], tags)
        self.assertEqual(opened.to_pylist(), messages.to_pylist())
        # A tag that is null is wrong, whatever lies there.
        texts, tags = self.seal([b"one", b"two"], NONCES[:2])
        for column in [pa.array([None, tags[1].as_py()]), pa.array([None, tags[1].as_py()], pa.binary(16))]:
            opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES[:2], column)
            self.assertEqual(opened.to_pylist(), [None, b"two"])
        opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES[:2], pa.nulls(2))
        self.assertEqual(opened.to_pylist(), [None, None])
        digests = arrow.hash(ENGINE, "sha-256", messages)
        self.assertEqual([digest is None for digest in digests.to_pylist()], messages.is_null().to_pylist())

    def test_what_a_tag_refuses_is_null(self):
        texts, tags = self.seal(MESSAGES)
        wrong = tags.to_pylist()
        wrong[7] = bytes(16)
        opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES, wrong).to_pylist()
        self.assertIsNone(opened[7])
        self.assertEqual(opened[:7] + opened[8:], MESSAGES[:7] + MESSAGES[8:])

    def test_a_key_and_additional_data_for_each(self):
        keys = [bytes([i % 251]) * 16 for i in range(300)]
        aad = [bytes(i % 20) for i in range(300)]
        texts, tags = arrow.seal(ENGINE, "aes-128-gcm", pa.array(keys), MESSAGES, NONCES, aad, tag_bytes=12)
        for i in range(0, 300, 37):
            (one,) = ENGINE.seal("aes-128-gcm", keys[i], [NONCES[i]], [MESSAGES[i]], aad[i])
            self.assertEqual(texts[i].as_py() + tags[i].as_py(), one[:-4])

    def test_arrays_of_rows_are_rows(self):
        keys = [bytes([i % 251]) * 16 for i in range(300)]
        expected = arrow.seal(ENGINE, "aes-128-gcm", keys, MESSAGES, NONCES, keys)
        bytes_of = lambda rows: np.frombuffer(b"".join(rows), np.uint8).reshape(300, -1)
        words, objects = np.array(keys[1:] + [keys[1]]), np.array(keys, object)
        for name, columns in {
            "two dimensions": (bytes_of(keys), bytes_of(NONCES), bytes_of(keys)),
            "objects": (objects, np.array(NONCES, object), objects),
        }.items():
            with self.subTest(name):
                found = arrow.seal(ENGINE, "aes-128-gcm", columns[0], MESSAGES, *columns[1:])
                self.assertEqual(found, expected)
        # One dimension of rows, and not the bytes of all of them for each.
        found = arrow.seal(ENGINE, "aes-128-gcm", KEY, MESSAGES, NONCES, words)
        self.assertEqual(found, arrow.seal(ENGINE, "aes-128-gcm", KEY, MESSAGES, NONCES, words.tolist()))

    def test_what_lies_under_nulls_is_no_message(self):
        hidden = pa.array([bytes(32), b"odd", bytes(16)])
        column = pa.Array.from_buffers(pa.binary(), 3, [pa.py_buffer(b"\x05"), *hidden.buffers()[1:]])
        self.assertEqual(column.null_count, 1)
        ivs = [bytes(16)] * 3
        for algorithm, key in [("aes-128-cbc", KEY), ("aes-128-xts", KEY * 2)]:
            texts = arrow.encrypt(ENGINE, algorithm, bytes(range(len(key))), column, ivs)
            back = arrow.decrypt(ENGINE, algorithm, bytes(range(len(key))), texts, ivs)
            self.assertEqual(back.to_pylist(), [bytes(32), None, bytes(16)])

    def test_ciphers_and_digests(self):
        messages, ivs = [bytes([i]) * 16 * i for i in range(40)], [bytes([i]) * 16 for i in range(40)]
        texts = arrow.encrypt(ENGINE, "camellia-128-cbc", KEY, messages, ivs)
        self.assertEqual(texts.to_pylist(), ENGINE.encrypt("camellia-128-cbc", KEY, ivs, messages))
        self.assertEqual(arrow.decrypt(ENGINE, "camellia-128-cbc", KEY, texts, ivs).to_pylist(), messages)
        texts = arrow.encrypt(ENGINE, "aes-128-ecb", KEY, messages)
        self.assertEqual(texts.to_pylist(), ENGINE.encrypt("aes-128-ecb", KEY, None, messages))
        digests = arrow.hash(ENGINE, "shake128", MESSAGES, digest_bytes=40)
        self.assertEqual(digests.to_pylist(), [hashlib.shake_128(message).digest(40) for message in MESSAGES])

    def test_nothing_comes_of_nothing(self):
        texts, tags = self.seal(pa.array([], pa.binary()), [])
        self.assertEqual((len(texts), len(tags), tags.type), (0, 0, pa.binary(16)))
        self.assertEqual(len(arrow.open(ENGINE, "aes-128-gcm", KEY, texts, [], tags)), 0)
        self.assertEqual(len(arrow.hash(ENGINE, "sha-256", [])), 0)
        self.assertEqual(self.seal([b""], NONCES[:1])[0].to_pylist(), [b""])

    def test_faults_are_named(self):
        for words, call in {
            "300 messages need 300 rows": lambda: self.seal(MESSAGES, NONCES[1:]),
            "1 rows are null": lambda: self.seal(MESSAGES, NONCES[1:] + [None]),
            "rows of 15 to 16 bytes": lambda: arrow.open(
                ENGINE, "aes-128-gcm", KEY, MESSAGES, NONCES, [bytes(15)] + [bytes(16)] * 299
            ),
            "key.* of 16 bytes": lambda: arrow.seal(ENGINE, "aes-128-gcm", bytes(15), MESSAGES, NONCES),
            "known: ": lambda: arrow.seal(ENGINE, "rot-13", KEY, MESSAGES, NONCES),
        }.items():
            with self.subTest(words):
                self.assertRaisesRegex(ValueError, words, call)
        self.assertRaisesRegex(TypeError, "messages: neither", lambda: self.seal([1, 2, 3], NONCES[:3]))
        self.assertRaisesRegex(TypeError, "of int64, which are no", lambda: self.seal(pa.array([1, 2]), NONCES[:2]))
        self.assertRaisesRegex(TypeError, "tags: a column of int64", lambda: arrow.open(
            ENGINE, "aes-128-gcm", KEY, MESSAGES[:2], NONCES[:2], pa.array([1, None])
        ))
        for wrong in [0, -1]:
            self.assertRaises(ValueError, lambda: self.seal(MESSAGES, NONCES, tag_bytes=wrong))
        self.assertRaisesRegex(ValueError, "hash", lambda: arrow.hash(ENGINE, "aes-128-gcm", []))

    def test_tags_of_every_kind(self):
        texts, tags = self.seal(MESSAGES)
        plain = pa.array(tags.to_pylist())
        for column in [plain, plain.cast(pa.binary_view()), plain.dictionary_encode(), pa.chunked_array([tags[:9], tags[9:]])]:
            with self.subTest(column.type):
                opened = arrow.open(ENGINE, "aes-128-gcm", KEY, texts, NONCES, column)
                self.assertEqual(opened.to_pylist(), MESSAGES)

    def test_the_example(self):
        self.assertEqual(doctest.testmod(arrow).failed, 0)


if __name__ == "__main__":
    unittest.main()
