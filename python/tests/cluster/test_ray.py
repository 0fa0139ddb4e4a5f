"""Datasets on a cluster of two machines, which Ray makes of this one."""

import functools
import logging
import pathlib
import sys
import tempfile
import unittest

import cipherlane
import cipherlane.ray
import pyarrow as pa
import ray
from ray.cluster_utils import Cluster

KEY = bytes(range(32))
ROWS = 5000

# The machines have not this module: what it sends there goes whole.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


# One task for a step, where it is not the point how many there are: each takes seconds to start.
ONE = {"concurrency": 1}


def fetch_key(password=None):
    return KEY


class Asked:
    """In place of a dataset: what is asked of Ray."""

    def map_batches(self, step, *, fn_constructor_args, **options):
        return {"where": fn_constructor_args[2], **options}


class Datasets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        machine = {"num_cpus": 2, "object_store_memory": 100 << 20}
        cls.cluster = Cluster(initialize_head=True, head_node_args=machine | {"include_dashboard": False})
        cls.cluster.add_node(**machine)
        ray.init(address=cls.cluster.address, logging_level=logging.ERROR, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        rows = [{"id": i, "reading": None if i % 100 == 9 else b"reading %d" % i, "head": bytes(i % 7)} for i in range(ROWS)]
        # Ray takes seconds to make it; no test changes it.
        cls.readings = ray.data.from_arrow([pa.Table.from_pylist(rows[at : at + 500]) for at in range(0, ROWS, 500)])

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        cls.cluster.shutdown()

    def rows(self, dataset):
        return sorted(dataset.take_all(), key=lambda row: row["id"])

    def test_there_and_back(self):
        before = self.rows(self.readings)
        sealed = cipherlane.ray.seal(
            self.readings, "aes-256-gcm", fetch_key, column="reading", aad="head"
        ).materialize()
        rows = self.rows(sealed)
        self.assertEqual(len({row["nonce"] for row in rows}), ROWS)
        engine = cipherlane.Engine()
        for row, was in zip(rows[::37], before[::37]):
            if was["reading"] is not None:
                (one,) = engine.seal(
                    "aes-256-gcm", KEY, [was["reading"]], nonces=[row["nonce"]], aad=was["head"]
                )
                self.assertEqual(row["reading"] + row["tag"], one)
        opened = cipherlane.ray.open(sealed, "aes-256-gcm", KEY, column="reading", aad="head")
        self.assertEqual(self.rows(opened), before)
        # Under other data no tag is right.
        opened = cipherlane.ray.open(sealed, "aes-256-gcm", KEY, column="reading", aad=b"other")
        self.assertTrue(all(row["reading"] is None for row in self.rows(opened)))

    def test_who_writes_tags_shortens_none(self):
        def cut(table):
            tags = [tag and tag[:12] for tag in table["tag"].to_pylist()]
            return table.drop_columns(["tag"]).append_column("tag", pa.array(tags, pa.binary(12)))

        sealed = cipherlane.ray.seal(self.readings, "aes-256-gcm", KEY, column="reading", **ONE)
        short = sealed.map_batches(cut, batch_format="pyarrow").materialize()
        # Nor stops a job with them.
        opened = cipherlane.ray.open(short, "aes-256-gcm", KEY, column="reading", **ONE)
        self.assertEqual([row["reading"] for row in self.rows(opened)], [None] * ROWS)
        names = cipherlane.ray._Names(["reading", "nonce", "tag"])
        step = cipherlane.ray._Open("aes-256-gcm", lambda: KEY, {"threads": 1}, names, "reading", "nonce", "tag", None, 16)
        remedy = "tags of 12 bytes, where 16 are asked for; pass tag_bytes=12 if that is meant"
        with self.assertLogs("cipherlane.ray", "WARNING") as told:
            step(short.take_batch(100, batch_format="pyarrow"))
        self.assertRegex(told.output[0], f"100 rows are null: {remedy}")
        opened = cipherlane.ray.open(short, "aes-256-gcm", KEY, column="reading", tag_bytes=12, **ONE)
        self.assertEqual(self.rows(opened), self.rows(self.readings))

    def test_both_machines_work(self):
        with tempfile.TemporaryDirectory() as folder:

            def fetch():
                pathlib.Path(folder, ray.get_runtime_context().get_node_id()).touch()
                return KEY

            sealed = cipherlane.ray.seal(self.readings, "aes-256-gcm", fetch, column="reading", concurrency=3)
            self.assertEqual(sealed.count(), ROWS)
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 2)

    def test_keys_are_shown_nowhere(self):
        sealed = cipherlane.ray.seal(self.readings, "aes-256-gcm", KEY, column="reading", **ONE)
        operator = sealed._logical_plan.dag
        self.assertIn("a key", repr(vars(operator)))
        self.assertNotIn(repr(KEY), repr(vars(operator)))
        # What fetches it may have a password in it.
        fetch = functools.partial(fetch_key, password="open sesame")
        sealed = cipherlane.ray.seal(self.readings, "aes-256-gcm", fetch, column="reading", **ONE)
        operator = sealed._logical_plan.dag
        self.assertIn("a key", repr(vars(operator)))
        self.assertNotIn("open sesame", repr(vars(operator)))
        self.assertEqual(sealed.count(), ROWS)

    def test_a_gpu_has_batches_of_some_size(self):
        cipherlane.ray.seal(self.readings, "aes-256-gcm", KEY, column="reading", num_gpus=1)

    def test_an_engine_has_what_its_task_has(self):
        asked = lambda **options: cipherlane.ray.hash(Asked(), "sha-256", column="reading", **options)
        for options, where, cpus in [
            ({}, {"threads": 1}, 1),
            ({"num_cpus": None}, {"threads": 1}, 1),
            ({"num_cpus": 0}, {"threads": 1}, 0),
            ({"num_cpus": 0.5}, {"threads": 1}, 0.5),
            ({"num_cpus": 3}, {"threads": 3}, 3),
            ({"num_gpus": 0}, {"threads": 1}, 1),
            ({"num_gpus": 0.5}, {"device": "cuda:0"}, 1),
            ({"num_gpus": 1, "num_cpus": 0}, {"device": "cuda:0"}, 0),
            ({"num_gpus": 2}, {"device": "cuda:all"}, 1),
        ]:
            with self.subTest(options):
                found = asked(**options)
                self.assertEqual((found["where"], found["num_cpus"]), (where, cpus))

    def test_ciphers_and_digests(self):
        before = self.rows(self.readings)
        other = cipherlane.ray.seal(
            self.readings, "sm4-gcm", KEY[:16], column="reading", nonce="iv", tag="mac", **ONE
        ).materialize()
        again = cipherlane.ray.seal(
            self.readings.zip(other.select_columns(["iv"])),
            "sm4-gcm",
            KEY[:16],
            column="reading",
            nonce="iv",
            tag="mac",
            random_nonces=False,
            **ONE,
        )
        self.assertEqual(len(self.rows(again)), ROWS)
        hashed = self.rows(cipherlane.ray.hash(self.readings, "sha3-256", column="reading", **ONE))
        expected = cipherlane.Engine().hash("sha3-256", [row["reading"] or b"" for row in before])
        for row, digest in zip(hashed, expected):
            self.assertEqual(row["digest"], None if row["reading"] is None else digest)
        ivs = other.map_batches(
            lambda table: table.append_column("counter", pa.array([bytes(16)] * len(table), pa.binary(16))),
            batch_format="pyarrow",
        )
        there = cipherlane.ray.encrypt(ivs, "aes-256-ctr", KEY, column="reading", nonce="counter", **ONE)
        back = cipherlane.ray.decrypt(there, "aes-256-ctr", KEY, column="reading", nonce="counter", **ONE)
        self.assertEqual(self.rows(back.drop_columns(["counter"])), self.rows(other))

    def test_all_machines_measure_themselves(self):
        program = "import sys; assert sys.argv[1] == 'bench'; open(sys.argv[-1], 'w').write('a record')"
        with tempfile.TemporaryDirectory() as folder:
            paths = cipherlane.ray.measure(["bench"], folder, program=[sys.executable, "-c", program])
            self.assertEqual([path.read_text() for path in paths], ["a record"] * 2)
            self.assertEqual(sorted(paths), sorted(pathlib.Path(folder).iterdir()))
            # Those of before stay.
            other = program.replace("a record", "another")
            again = cipherlane.ray.measure(["bench"], folder, program=[sys.executable, "-c", other])
            self.assertEqual([path.read_text() for path in paths + again], ["a record"] * 2 + ["another"] * 2)
            self.assertEqual(sorted(paths + again), sorted(pathlib.Path(folder).iterdir()))
            with self.assertRaisesRegex(RuntimeError, "0 bytes of records"):
                cipherlane.ray.measure(["bench"], folder, program=[sys.executable, "-c", "pass"])
            self.assertRaises(TypeError, lambda: cipherlane.ray.measure("bench", folder))
            with self.assertRaisesRegex(RuntimeError, "name the program that is there"):
                cipherlane.ray.measure(["bench"], folder, program=["/no/such/program"])
            with self.assertRaisesRegex(RuntimeError, "(?s)exit code 1.*AssertionError.*exit code 1"):
                cipherlane.ray.measure(["lab"], folder, program=[sys.executable, "-c", program])

    def test_faults_are_told_at_once(self):
        seal = lambda algorithm="aes-256-gcm", key=KEY, **others: cipherlane.ray.seal(
            self.readings, algorithm, key, **{"column": "reading"} | others
        )
        for words, call in {
            "known: ": lambda: seal("rot-13"),
            "aes-256-ctr cannot seal": lambda: seal("aes-256-ctr"),
            "keys of 32 bytes, and this one has 16": lambda: seal(key=bytes(16)),
            "columns of one name": lambda: seal(nonce="tag"),
            "not the same where it is opened": lambda: seal(aad="reading"),
            "has no nonces": lambda: cipherlane.ray.encrypt(
                self.readings, "aes-256-ecb", KEY, column="reading", nonce="id"
            ),
            "name the column of its nonces": lambda: cipherlane.ray.encrypt(
                self.readings, "aes-256-ctr", KEY, column="reading"
            ),
            "aes-256-gcm cannot hash; it can seal and open": lambda: cipherlane.ray.hash(
                self.readings, "aes-256-gcm", column="reading"
            ),
            "columns of one name: reading": lambda: seal(tag="reading"),
        }.items():
            with self.subTest(words):
                self.assertRaisesRegex(ValueError, words, call)
        for wrong in [32, "k" * 32]:
            kind = type(wrong).__name__
            self.assertRaisesRegex(TypeError, f"key: {kind}, .*; give bytes, or a f", lambda: seal(key=wrong))

    def test_columns_are_neither_missed_nor_overwritten(self):
        for words, names in {"no column 'text'": {"column": "text"}, "no column 'more'": {"aad": "more"}, "'id' is there already": {"tag": "id"}}.items():
            with self.subTest(words):
                sealed = cipherlane.ray.seal(
                    self.readings, "aes-256-gcm", KEY, **{"column": "reading"} | ONE | names
                )
                self.assertRaisesRegex(Exception, words, sealed.materialize)


if __name__ == "__main__":
    unittest.main()
