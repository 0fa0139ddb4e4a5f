"""Columns of Arrow's: as lists have it, sliced, in chunks, of every kind of bytes, with rows that are null."""

import doctest
import hashlib
import typing
import unittest

import cipherlane
import numpy as np
import pandas as pd
import pyarrow as pa
from cipherlane import arrow

ENGINE = cipherlane.Engine(threads=2)
KEY = bytes(range(16))
MESSAGES = [b"reading %d" % i * (i % 50) for i in range(300)]
NONCES = [i.to_bytes(12, "big") for i in range(300)]


def starts(column):
    """Where the rows of a column of large binaries begin and end."""
    return memoryview(column.buffers()[1]).cast("B").cast("q").tolist()


class Columns(unittest.TestCase):
    def seal(self, messages, nonces=NONCES, **others):
        return arrow.seal(ENGINE, "aes-128-gcm", KEY, messages, nonces=nonces, **others)

    def open(self, texts, nonces, tags, **others):
        return arrow.open(ENGINE, "aes-128-gcm", KEY, texts, nonces=nonces, tags=tags, **others)

    def expected(self, messages=MESSAGES, nonces=NONCES, aad=None):
        sealed = ENGINE.seal("aes-128-gcm", KEY, messages, nonces=nonces, aad=aad)
        return [one[:-16] for one in sealed], [one[-16:] for one in sealed]

    def test_as_lists_have_it(self):
        texts, tags = self.seal(MESSAGES, aad=b"head")
        self.assertEqual((texts.type, tags.type), (pa.large_binary(), pa.binary(16)))
        self.assertEqual((texts.to_pylist(), tags.to_pylist()), self.expected(aad=b"head"))
        opened = self.open(texts, NONCES, tags, aad=b"head")
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
        opened = self.open(texts, NONCES[:11], tags)
        self.assertEqual(opened.to_pylist(), messages.to_pylist())
        # A tag that is null is wrong, whatever lies there.
        texts, tags = self.seal([b"one", b"two"], NONCES[:2])
        for column in [pa.array([None, tags[1].as_py()]), pa.array([None, tags[1].as_py()], pa.binary(16))]:
            opened = self.open(texts, NONCES[:2], column)
            self.assertEqual(opened.to_pylist(), [None, b"two"])
        opened = self.open(texts, NONCES[:2], pa.nulls(2))
        self.assertEqual(opened.to_pylist(), [None, None])
        digests = arrow.hash(ENGINE, "sha-256", messages)
        self.assertEqual([digest is None for digest in digests.to_pylist()], messages.is_null().to_pylist())

    def test_nothing_of_the_key_lies_under_nulls(self):
        # A tag there, or a block of a key stream, would serve whoever fills the row later.
        messages, counters = pa.array([b"one", None, b"three", None]), [bytes([i]) * 16 for i in range(4)]
        lengths = [0, 3, 3, 8, 8]
        texts, tags = self.seal(messages, NONCES[:4])
        self.assertEqual(starts(texts), lengths)
        hidden = tags.buffers()[1].to_pybytes()
        self.assertEqual((hidden[16:32], hidden[48:64]), (bytes(16), bytes(16)))
        self.assertEqual(hidden[32:48], tags[2].as_py())
        # Rows of one length have what they like under their nulls.
        wide = pa.array([bytes(3), None, b"abc", None], pa.binary(3))
        texts, _ = self.seal(wide, NONCES[:4])
        self.assertEqual(starts(texts), [0, 3, 3, 6, 6])
        for operation in [arrow.encrypt, arrow.decrypt]:
            texts = operation(ENGINE, "AES-128-CTR", KEY, messages, nonces=counters)
            self.assertEqual(starts(texts), lengths)
            self.assertEqual(texts.is_null().to_pylist(), [False, True, False, True])
        digests = arrow.hash(ENGINE, "sha-256", messages)
        self.assertEqual(digests.buffers()[1].to_pybytes()[32:64], bytes(32))
        blocks = pa.array([bytes(16), None, bytes(20), None])
        for operation in [arrow.encrypt, arrow.decrypt]:
            texts = operation(ENGINE, "aes-128-xts", bytes(range(32)), blocks, nonces=counters)
            texts.validate(full=True)
            self.assertEqual(texts.is_null().to_pylist(), [False, True, False, True])
            self.assertEqual(starts(texts), [0, 16, 16, 36, 36])
            self.assertEqual(texts.buffers()[2].size, 36)

    def test_what_a_tag_refuses_is_null(self):
        texts, tags = self.seal(MESSAGES)
        wrong = tags.to_pylist()
        wrong[7] = bytes(16)
        opened = self.open(texts, NONCES, wrong).to_pylist()
        self.assertIsNone(opened[7])
        self.assertEqual(opened[:7] + opened[8:], MESSAGES[:7] + MESSAGES[8:])

    def test_a_key_and_additional_data_for_each(self):
        keys = [bytes([i % 251]) * 16 for i in range(300)]
        aad = [bytes(i % 20) for i in range(300)]
        texts, tags = arrow.seal(
            ENGINE, "aes-128-gcm", pa.array(keys), MESSAGES, nonces=NONCES, aad=aad, tag_bytes=12
        )
        for i in range(0, 300, 37):
            (one,) = ENGINE.seal("aes-128-gcm", keys[i], [MESSAGES[i]], nonces=[NONCES[i]], aad=aad[i])
            self.assertEqual(texts[i].as_py() + tags[i].as_py(), one[:-4])

    def test_arrays_of_rows_are_rows(self):
        keys = [bytes([i % 251]) * 16 for i in range(300)]
        seal = lambda keys, nonces, aad: arrow.seal(
            ENGINE, "aes-128-gcm", keys, MESSAGES, nonces=nonces, aad=aad
        )
        expected = seal(keys, NONCES, keys)
        bytes_of = lambda rows: np.frombuffer(b"".join(rows), np.uint8).reshape(300, -1)
        words, objects = np.array(keys), np.array(keys, object)
        for name, columns in {
            "two dimensions": (bytes_of(keys), bytes_of(NONCES), bytes_of(keys)),
            "objects": (objects, np.array(NONCES, object), objects),
        }.items():
            with self.subTest(name):
                self.assertEqual(seal(*columns), expected)
        # One dimension of rows, and not the bytes of all of them for each.
        self.assertEqual(seal(KEY, NONCES, words), seal(KEY, NONCES, keys))

    def test_rows_of_numpy_keep_their_zeros(self):
        rows = [b"a\0bc", b"\0abc", b"abc\0", bytes(4), b"\0\0a\0", b"abcd"]
        count = len(rows)
        # A salt and a counter: all that is after the salt differs.
        nonces = [b"salt" + i.to_bytes(8, "big") for i in range(count)]
        expected = self.seal(rows, nonces, aad=rows)
        self.assertEqual(expected[0].to_pylist()[0], self.expected(rows[:1], nonces[:1], rows[0])[0][0])
        for kind in "SV":
            of = lambda rows: np.array(rows, f"{kind}{len(rows[0])}")
            twice = lambda rows: of([row for row in rows for _ in range(2)])[::2]
            for name, array in {"whole": of, "in steps": twice}.items():
                with self.subTest(f"{kind}, {name}"):
                    self.assertEqual(self.seal(array(rows), array(nonces), aad=array(rows)), expected)
                    tags = array(expected[1].to_pylist())
                    opened = self.open(expected[0], array(nonces), tags, aad=array(rows))
                    self.assertEqual(opened.to_pylist(), rows)
        # Short ones are as NumPy has them.
        digests = arrow.hash(ENGINE, "sha-256", np.array([b"a", b"abcd"]))
        self.assertEqual(digests.to_pylist(), ENGINE.hash("sha-256", [b"a\0\0\0", b"abcd"]))

    def test_arrays_of_other_types_are_refused(self):
        masked = np.ma.array(np.array([b"one", b"two"]), mask=[False, True])
        for array in [
            np.array(["one", "two"]),
            np.array([1, 2]),
            np.array([1, 2], np.uint8),
            np.array([1.5, 2.5]),
            np.array([True, False]),
            np.array(["2026-01-01", "2026-01-02"], "M8[s]"),
            np.array([[b"one", b"two"]]),
            np.array([(1, b"one"), (2, b"two")], "i4,O"),
            masked,
            pd.Series([1, 2]),
            pd.Series([1.5, 2.5]),
            pd.Series([1, 2], dtype="Int64"),
            pd.Series([1, 2], dtype="category"),
            pd.Series([1, 2], dtype=pd.ArrowDtype(pa.int64())),
            pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"])),
            pd.Series(pd.period_range("2026", periods=2)),
            pd.Series(pd.interval_range(0, 2)),
        ]:
            with self.subTest(array.dtype):
                remedy = "bytes; give a column of Arrow's, or a list|which are no bytes; cast it"
                self.assertRaisesRegex(TypeError, remedy, lambda: arrow.hash(ENGINE, "sha-256", array))
        for array in [np.array([1, 2], np.uint64), np.array(["2026", "2027"], "M8[Y]")]:
            remedy = "aad: an array of .*; give .*, or bytes in two dimensions, a row each"
            self.assertRaisesRegex(TypeError, remedy, lambda: self.seal([b"", b""], NONCES[:2], aad=array))

    def test_series_of_pandas(self):
        strings, rows = ["a\0", None, "\0b"], [b"a\0", None, b"\0b"]
        expected = arrow.hash(ENGINE, "sha-256", rows)
        for series in [
            pd.Series(rows),
            pd.Series(strings),
            pd.Series(strings, dtype="string"),
            pd.Series(strings, dtype="category"),
            pd.Series(strings, dtype=pd.ArrowDtype(pa.string())),
            pd.Series(rows, dtype=pd.ArrowDtype(pa.binary())),
            pd.Series([row and row.ljust(2) for row in rows], dtype=pd.ArrowDtype(pa.binary(2))),
        ]:
            with self.subTest(series.dtype):
                self.assertEqual(arrow.hash(ENGINE, "sha-256", series), expected)

    def test_one_nonce_is_not_for_all(self):
        rows, keys = [b"one", b"two", b"six"], [KEY] * 3
        tags = self.seal(rows, NONCES[:3])[1]
        for nonces in [bytes(12), bytes(36), np.zeros(36, np.uint8), bytearray(12)]:
            words = "nonces: one row of bytes for 3 messages; give a column"
            for call in [
                lambda: arrow.seal(ENGINE, "aes-128-gcm", keys, rows, nonces=nonces),
                lambda: arrow.seal(ENGINE, "aes-128-gcm", KEY, rows, nonces=nonces),
                lambda: arrow.open(ENGINE, "aes-128-gcm", keys, rows, nonces=nonces, tags=tags),
                lambda: arrow.encrypt(ENGINE, "aes-128-cbc", keys, [KEY] * 3, nonces=nonces),
            ]:
                self.assertRaisesRegex(ValueError, words, call)
        self.assertEqual(self.seal(rows[:1], NONCES[0]), self.seal(rows[:1], NONCES[:1]))

    def test_lists_are_no_arrays_of_numpy(self):
        # Of these, each item that is asked for comes without the zeros at its end.
        for messages in [np.array([b"a\0", b"bc"]), np.array([1, 2]), np.array(["a", "b"])]:
            with self.subTest(messages.dtype):
                call = lambda: ENGINE.hash("sha-256", messages)
                self.assertRaisesRegex(TypeError, "give a list of bytes", call)
                call = lambda: ENGINE.seal("aes-128-gcm", KEY, [b"a", b"b"], nonces=messages)
                self.assertRaisesRegex(TypeError, "give a list of bytes", call)
        rows = [b"a\0", b"bc"]
        self.assertEqual(ENGINE.hash("sha-256", np.array(rows, object)), ENGINE.hash("sha-256", rows))

    def test_complex_numbers_and_fields_are_no_addresses(self):
        fields = np.zeros(2, [("P", "u4"), ("Z", "S3"), ("&", "u1")])
        for text in [np.zeros(2, np.complex128), np.zeros(2, np.complex64), fields]:
            batch = {"offsets": np.array([0, 16], np.uint64), "keys": KEY, "nonces": KEY, "text": text}
            ENGINE.run("aes-128-ctr", "encrypt", **batch)
            self.assertEqual(text.tobytes()[:16], ENGINE.encrypt("aes-128-ctr", KEY, [bytes(16)], nonces=[KEY])[0])

    def test_what_lies_under_nulls_is_no_message(self):
        hidden = pa.array([bytes(32), b"odd", bytes(16)])
        column = pa.Array.from_buffers(pa.binary(), 3, [pa.py_buffer(b"\x05"), *hidden.buffers()[1:]])
        self.assertEqual(column.null_count, 1)
        ivs = [bytes(16)] * 3
        for algorithm, key in [("aes-128-cbc", KEY), ("AES-128-XTS", KEY * 2)]:
            texts = arrow.encrypt(ENGINE, algorithm, bytes(range(len(key))), column, nonces=ivs)
            back = arrow.decrypt(ENGINE, algorithm, bytes(range(len(key))), texts, nonces=ivs)
            self.assertEqual(back.to_pylist(), [bytes(32), None, bytes(16)])

    def test_ciphers_and_digests(self):
        messages, ivs = [bytes([i]) * 16 * i for i in range(40)], [bytes([i]) * 16 for i in range(40)]
        texts = arrow.encrypt(ENGINE, "camellia-128-cbc", KEY, messages, nonces=ivs)
        self.assertEqual(texts.to_pylist(), ENGINE.encrypt("camellia-128-cbc", KEY, messages, nonces=ivs))
        self.assertEqual(arrow.decrypt(ENGINE, "camellia-128-cbc", KEY, texts, nonces=ivs).to_pylist(), messages)
        texts = arrow.encrypt(ENGINE, "aes-128-ecb", KEY, messages)
        self.assertEqual(texts.to_pylist(), ENGINE.encrypt("aes-128-ecb", KEY, messages))
        digests = arrow.hash(ENGINE, "shake128", MESSAGES, digest_bytes=40)
        self.assertEqual(digests.to_pylist(), [hashlib.shake_128(message).digest(40) for message in MESSAGES])

    def test_nothing_comes_of_nothing(self):
        texts, tags = self.seal(pa.array([], pa.binary()), [])
        self.assertEqual((len(texts), len(tags), tags.type), (0, 0, pa.binary(16)))
        self.assertEqual(len(self.open(texts, [], tags)), 0)
        self.assertEqual(len(arrow.hash(ENGINE, "sha-256", [])), 0)
        self.assertEqual(self.seal([b""], NONCES[:1])[0].to_pylist(), [b""])

    def test_faults_are_named(self):
        for words, call in {
            "300 messages need 300 rows": lambda: self.seal(MESSAGES, NONCES[1:]),
            "1 rows are null": lambda: self.seal(MESSAGES, NONCES[1:] + [None]),
            "300 messages need 300 rows, and there are 1": lambda: self.open(MESSAGES, NONCES, [bytes(16)]),
            "key.* of 16 bytes": lambda: arrow.seal(ENGINE, "aes-128-gcm", bytes(15), MESSAGES, nonces=NONCES),
            "known: ": lambda: arrow.seal(ENGINE, "rot-13", KEY, MESSAGES, nonces=NONCES),
        }.items():
            with self.subTest(words):
                self.assertRaisesRegex(ValueError, words, call)
        self.assertRaisesRegex(TypeError, "messages: neither", lambda: self.seal([1, 2, 3], NONCES[:3]))
        self.assertRaisesRegex(TypeError, "of int64, which are no", lambda: self.seal(pa.array([1, 2]), NONCES[:2]))
        self.assertRaisesRegex(
            TypeError, "tags: a column of int64", lambda: self.open(MESSAGES[:2], NONCES[:2], pa.array([1, None]))
        )
        for wrong in [0, -1]:
            self.assertRaises(ValueError, lambda: self.seal(MESSAGES, NONCES, tag_bytes=wrong))
        self.assertRaisesRegex(ValueError, "hash", lambda: arrow.hash(ENGINE, "aes-128-gcm", []))

    def test_a_str_is_no_column_of_its_characters(self):
        rows, nonces = [b"one", b"two", b"six"], NONCES[:3]
        tags = self.seal(rows, nonces)[1]
        ciphers = [arrow.encrypt, arrow.decrypt]
        for words, calls in {
            "messages: a str, .*; give a column": [
                lambda: self.seal("abc", nonces),
                lambda: arrow.hash(ENGINE, "sha-256", "abc"),
                *(lambda each=each: each(ENGINE, "aes-128-ctr", KEY, "abc", nonces=[KEY] * 3) for each in ciphers),
            ],
            "ciphertexts: a str, .*; give a column": [lambda: self.open("abc", nonces, tags)],
            "tags: a str, .*; give a column": [lambda: self.open(rows, nonces, "abc")],
            "nonces: a str, .*; give a column": [
                lambda: self.seal(rows, "abc"),
                lambda: self.open(rows, "abc", tags),
                *(lambda each=each: each(ENGINE, "aes-128-ctr", KEY, rows, nonces="abc") for each in ciphers),
            ],
            "aad: a str, .*; give bytes for all rows, a column": [
                lambda: self.seal(rows, nonces, aad="abc"),
                lambda: self.open(rows, nonces, tags, aad="abc"),
            ],
            "keys: a str, .*; give bytes for all rows, a column": [
                lambda: arrow.seal(ENGINE, "aes-128-gcm", "key", rows, nonces=nonces),
                lambda: arrow.open(ENGINE, "aes-128-gcm", "key", rows, nonces=nonces, tags=tags),
                *(lambda each=each: each(ENGINE, "aes-128-ctr", "key", rows, nonces=[KEY] * 3) for each in ciphers),
            ],
        }.items():
            for call in calls:
                with self.subTest(words):
                    self.assertRaisesRegex(TypeError, words, call)
        # Strings in a column count as bytes.
        self.assertEqual(self.seal(["one", "two", "six"], nonces), self.seal(rows, nonces))

    def test_tags_of_every_kind(self):
        texts, tags = self.seal(MESSAGES)
        plain = pa.array(tags.to_pylist())
        for column in [plain, plain.cast(pa.binary_view()), plain.dictionary_encode(), pa.chunked_array([tags[:9], tags[9:]])]:
            with self.subTest(column.type):
                self.assertEqual(self.open(texts, NONCES, column).to_pylist(), MESSAGES)

    def test_a_null_among_the_words_of_a_dictionary(self):
        texts, tags = self.seal(MESSAGES[:2], NONCES[:2])
        words = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([tags[0].as_py(), None]))
        self.assertEqual(self.open(texts, NONCES[:2], words).to_pylist(), [MESSAGES[0], None])
        aad = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([b"row 0", None]))
        self.assertRaisesRegex(ValueError, "null", lambda: self.seal(MESSAGES[:2], NONCES[:2], aad=aad))

    def test_who_sends_tags_shortens_none(self):
        texts, tags = self.seal(MESSAGES, tag_bytes=4)
        plain = pa.array(tags.to_pylist())
        for column in [tags, plain, pa.array([None] + plain.to_pylist()[1:])]:
            with self.subTest(column.type):
                with self.assertRaisesRegex(ValueError, "4 bytes, where 16 are asked for; pass tag_bytes=4 if"):
                    self.open(texts, NONCES, column)
                with self.assertRaisesRegex(ValueError, "4 bytes, where 8 are asked for"):
                    self.open(texts, NONCES, column, tag_bytes=8)
                opened = self.open(texts, NONCES, column, tag_bytes=4).to_pylist()
                self.assertEqual(opened[1:], MESSAGES[1:])
                self.assertEqual(opened[0], None if column.null_count else MESSAGES[0])

    def test_no_row_alone_tells_how_long_tags_are(self):
        texts, tags = self.seal(MESSAGES[:3], NONCES[:3])
        opened = lambda count, tags: self.open(texts[:count], NONCES[:count], tags).to_pylist()
        # Whoever writes one row would keep its whole block from being opened.
        self.assertEqual(opened(1, [tags[0].as_py()[:12]]), [None])
        self.assertEqual(opened(1, tags[:1].cast(pa.binary()).slice(0, 1)), MESSAGES[:1])
        self.assertEqual(opened(3, [None, bytes(12), None]), [None] * 3)
        # Nor are these of some other key's length.
        self.assertEqual(opened(3, [bytes(12), bytes(12), bytes(8)]), [None] * 3)
        for wrong in [0, 5, 17, 32]:
            for column in [[bytes(wrong)] * 3, pa.array([bytes(wrong)] * 3, pa.binary(wrong))]:
                with self.subTest(wrong):
                    self.assertEqual(opened(3, column), [None] * 3)
        with self.assertRaisesRegex(ValueError, "12 bytes, where 16 are asked for; pass tag_bytes=12 if"):
            opened(3, [None, bytes(12), bytes(12)])

    def test_a_row_that_cannot_be_right_keeps_no_other_from_being_opened(self):
        texts, tags = self.seal(MESSAGES)
        tags, nonces = tags.to_pylist(), list(NONCES)
        nonces[3], nonces[5], tags[7], tags[9], tags[11] = None, b"", tags[7][:4], b"", None
        expected = [None if i in (3, 5, 7, 9, 11) else message for i, message in enumerate(MESSAGES)]
        for column in [pa.array, lambda rows: pa.array(rows, pa.large_binary()), list]:
            opened = self.open(texts, column(nonces), column(tags))
            self.assertEqual(opened.to_pylist(), expected)
            # Nothing of theirs lies under the nulls.
            self.assertEqual(opened.buffers()[2].size, sum(len(message or b"") for message in expected))
        nonces = pa.array([None] + NONCES[1:], pa.binary(12))
        self.assertEqual(self.open(texts, nonces, self.seal(MESSAGES)[1]).to_pylist(), [None] + MESSAGES[1:])
        # Where it is sealed, each has a nonce.
        self.assertRaisesRegex(ValueError, "1 rows are null", lambda: self.seal(MESSAGES, nonces))

    def test_a_row_without_a_key_or_data_keeps_no_other_from_being_opened(self):
        for algorithm, width in [("aes-128-gcm", 16), ("aes-256-gcm", 32)]:
            keys = [bytes([i]) * width for i in range(5)]
            messages, aad, nonces = [b"message %d" % i for i in range(5)], [b"%d" % i for i in range(5)], NONCES[:5]
            texts, tags = arrow.seal(ENGINE, algorithm, keys, messages, nonces=nonces, aad=aad)
            keys[1], aad[3] = None, None
            opened = arrow.open(ENGINE, algorithm, keys, texts, nonces=nonces, tags=tags, aad=aad)
            self.assertEqual(opened.to_pylist(), [b"message 0", None, b"message 2", None, b"message 4"])
            # Nothing of theirs lies under the nulls.
            self.assertEqual(opened.buffers()[2].size, 27)
            # Where it is sealed, those alone may be null whose message is.
            words = "keys: 1 rows are null"
            seal = lambda messages: arrow.seal(ENGINE, algorithm, keys, messages, nonces=nonces, aad=aad)
            self.assertRaisesRegex(ValueError, words, lambda: seal(messages))
            self.assertRaisesRegex(ValueError, "aad: 1 rows are null", lambda: seal([b"", None, b"", b"", b""]))
            sealed, others = seal([b"", None, b"message 2", None, b""])
            self.assertEqual([text is None for text in sealed.to_pylist()], [False, True, False, True, False])
            self.assertEqual((sealed[2], others[2]), (texts[2], tags[2]))
        # Of XTS a key has two halves, which differ: also one that stands where none is.
        keys, ivs = [bytes(range(32)), None], [bytes(16)] * 2
        texts = arrow.encrypt(ENGINE, "aes-128-xts", keys, [bytes(16), None], nonces=ivs)
        self.assertEqual([text is None for text in texts.to_pylist()], [False, True])

    def test_nonces_and_what_follows_are_given_by_name(self):
        # GCM takes nonces of any length: of two columns in a row, one would do for the other.
        calls = {
            arrow.seal: ("aes-128-gcm", KEY, MESSAGES, NONCES),
            arrow.open: ("aes-128-gcm", KEY, MESSAGES, NONCES, NONCES),
            arrow.encrypt: ("aes-128-ctr", KEY, NONCES, NONCES),
            arrow.decrypt: ("aes-128-ctr", KEY, NONCES, NONCES),
        }
        for operation, arguments in calls.items():
            with self.subTest(operation.__name__):
                self.assertRaisesRegex(TypeError, "positional", lambda: operation(ENGINE, *arguments))

    def test_hints_are_resolved(self):
        for operation in [arrow.seal, arrow.open, arrow.encrypt, arrow.decrypt, arrow.hash]:
            with self.subTest(operation.__name__):
                self.assertIs(typing.get_type_hints(operation)["engine"], cipherlane.Engine)

    def test_the_example(self):
        self.assertEqual(doctest.testmod(arrow).failed, 0)


if __name__ == "__main__":
    unittest.main()
