# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A password of a store's URL is in no message, row, journal, page, dump or list of processes."""

import os
import subprocess
import sys
import tempfile
import time
import unittest

from postgres_server import Missing, Server

ASSAY, ROOT = sys.argv[1:3]
sys.argv[1:3] = []
SECRET = "pa55-\u00fc/w0rd"
TYPED = "pa55-%C3%BC%2Fw0rd"
RUN = (
    "run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers", "reference,naive", "--rounds", "3",
    "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%",
)  # fmt: skip


class Passwords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.server = Server("fsync = off")
        except Missing as missing:
            raise unittest.SkipTest(str(missing))
        cls.addClassCleanup(cls.server.end)
        cls.server.sql(f"CREATE ROLE lab LOGIN PASSWORD '{SECRET}'")
        cls.server.sql("CREATE DATABASE lab OWNER lab")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def clean(self, text, where):
        for secret in (SECRET, "w0rd", "pa55"):  # and so TYPED
            self.assertNotIn(secret, text, where)

    def assay(self, *words, status=0, **environment):
        """Runs the program and looks at every process's arguments meanwhile; returns what it said."""
        child = subprocess.Popen([ASSAY, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**os.environ, "ASSAY_PEERS": "/nonexistent", "ASSAY_LOCK_DIR": self.folder, **environment})  # fmt: skip
        while child.poll() is None:
            for process in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{process}/cmdline", "rb") as file:
                        words_now = file.read().decode(errors="replace")
                    with open(f"/proc/{process}/stat", "rb") as file:
                        ticks = sum(map(int, file.read().rsplit(b")", 1)[1].split()[11:13]))
                except OSError:
                    continue  # it has ended
                # What comes before the first thing that it does takes a little of a processor, on a busy machine seconds.
                if ticks > 0.1 * os.sysconf("SC_CLK_TCK"):
                    self.clean(words_now, "the list of processes")
            time.sleep(0.01)
        said = child.stdout.read()
        child.stdout.close()
        if status is None:  # a verdict, whichever
            self.assertIn(child.returncode, (0, 1, 3), said)
        else:
            self.assertEqual(child.returncode, status, said)
        self.clean(said, words)
        return said

    def read(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read()

    def look_through(self, folder):
        for at, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(at, name), "rb") as file:
                    self.clean(file.read().decode(errors="replace"), name)

    def test_nowhere(self):
        url = self.server.url("lab", "lab", TYPED)
        other = self.server.url("lab", "lab") + "&password=" + TYPED
        self.assay(*RUN, "--out", "j.jsonl", "--store", url)
        self.assay(*RUN, "--out", "k.jsonl", f"--store={other}")
        self.assertIn("0 rows added, 6 known", self.assay("store", "ingest", url, "j.jsonl"))
        self.assertIn("fine", self.assay("store", "verify", other))
        self.assay("store", "latest", url)
        self.assay("store", "merge", url, other)
        self.assay("store", "rebuild", url)
        self.assay("store", "export", url, "--out", "back")
        backs = [self.read(f"back/{name}") for name in os.listdir(f"{self.folder}/back")]
        self.assertIn(self.read("j.jsonl"), backs)
        self.assay("report", url, "--out", "report.md")
        self.assay("site", url, "--out", "page.html")
        self.assay("history", "semiring_matmul", url)
        self.assay("gate", "--baseline", url, "--current", "k.jsonl", status=None)
        self.assay("store", "prune", url, "--keep", "1")
        self.look_through(self.folder)
        dump = subprocess.run(["pg_dump", self.server.url("lab")], check=True, capture_output=True, text=True).stdout
        self.assertIn("semiring_matmul", dump)
        self.clean(dump, "the dump")

    def test_nor_in_complaints(self):
        url = self.server.url("lab", "lab", TYPED)
        self.assay("store", "verify", url, "nonsense", status=2)
        self.assay("store", "ingest", url, "/nonexistent.jsonl", status=2)
        self.assay("store", "latest", url.replace("/lab?", "/other?"), status=2)
        self.assay("store", "latest", url.replace("55", "56"), status=2)
        self.assay("store", "latest", f"postgresql://lab:pa55/w0rd@/{self.folder}", status=2)
        self.assay("report", f"postgresql://lab:{TYPED}@127.0.0.1:1/lab", status=2)
        self.assay("report", f"postgresq://lab:{TYPED}@h/lab", status=2)

    def test_nor_where_they_were_mistyped(self):
        slips = (
            "postgres:/lab:pa55@h/lab", "postgresql//lab:pa55@h/lab", "POSTGRESQL://lab:pa55@h/lab", "pg://lab:pa55@h/lab",
            "postgresql:lab:pa55@h", "lab:pa55@h/lab", "postgresql%3A%2F%2Flab%3Apa55%40h%2Flab", "postgresql://lab%3Apa55@h/lab",
            "postgresql://lab%3Apa55%40h/lab", "postgresql://lab:x@y@pa55@h/lab", "postgresql://lab:x#/pa55@h/lab",
            "postgresql://h/lab?pasword=pa55", "postgres:/h/lab?password=pa55", "host=h password=pa55", "password='w0rd pa55' host=h",
            "source:pg://lab:pa55@h",
        )  # fmt: skip
        for slip in slips:
            self.assay("report", slip, status=2)
            self.assay("store", "verify", slip, status=2)
            self.assay(*RUN, f"--store={slip}", status=2)
            self.assay("run", "--resume", slip, status=2)
            self.assay("run", "--config", slip, status=2)
        bare = "lab:pa55@h/lab"
        for words in (
            ("store", "merge", "own.db", slips[0]),
            ("gate", "--baseline", slips[0], "--current", slips[1]),
            ("compare", slips[0], slips[1]),
            ("history", "semiring_matmul", slips[2]),
            ("site", slips[3], "--out", "page.html"),
            ("serve", slips[3]),
            ("figures", "--case", "semiring_matmul", slips[0]),
            ("doctor", slips[0]),
            ("export", slips[1]),
            # What the command line is told back.
            ("frobnicate", slips[0]),
            (slips[0], "report"),
            ("report", "--from", slips[0]),
            ("report", f"--{slips[0]}"),
            ("list", slips[0]),
            ("list", bare),
            ("run", bare),
            ("store", "repair", bare),
            ("import", bare),
            ("gate", "--run", "semiring_matmul", "--baseline", bare),
            (*RUN, "--points", f"@{bare}"),
            (*RUN, "--commit", bare),
            (*RUN, "--providers", bare),
            ("run", slips[0]),
            (*RUN, "--rounds", slips[0]),
            (*RUN, "--executor", slips[0]),
            ("einsum", slips[0]),
            ("transport", "scan", slips[0]),
        ):
            self.assay(*words, status=2)
        self.assay("time", slips[0], status=1)  # no such program
        self.look_through(self.folder)

    def test_nor_in_what_is_kept_of_a_run(self):
        url = self.server.url("lab", "lab", TYPED)
        pairs = f"host=h user=lab password='{SECRET}'"
        self.assay(*RUN, "--out", "j.jsonl", "--label", url, ASSAY_OF_MINE=url, ASSAY_AS_PSQL=pairs, OMP_OF_MINE="kept")
        self.assertIn('"OMP_OF_MINE":"kept"', self.read("j.jsonl").decode())  # as is what of the environment matters
        self.assertIn("postgresql://lab@", self.read("j.jsonl").decode())
        # A command is what its rows are about: one with a password in it is refused.
        self.assertIn("has a password", self.assay("time", "true", f"psql {url} -c 'SELECT 1'", status=2))
        self.assertIn("has a password", self.assay("compare", "--run", "true", f"psql {url} -c 'SELECT 1'", status=2))
        self.look_through(self.folder)

    def test_what_only_looks_like_one_is_left_alone(self):
        self.assay(*RUN, "--out", "12:30@n1.jsonl", "--label", "user=a password=b")
        self.assertIn('"user=a password=b"', self.read("12:30@n1.jsonl").decode())
        self.assertIn("semiring_matmul", self.assay("report", "12:30@n1.jsonl"))
        self.assay("time", "true x:y@z", "true", "--runs", "10", "--out", "time/", "--max-steal", "100%", "--max-foreign", "100%")


if __name__ == "__main__":
    unittest.main()
