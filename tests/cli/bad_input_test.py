# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input gets one clear line on stderr, exit status 2, and loses nothing that was there."""

import json
import os
import resource
import sqlite3
import subprocess

from assay_cli import ASSAY, CliTest, full_disk, main


class BadInput(CliTest):
    def refused(self, *arguments, says, status=2, **options):
        result = self.assay(*arguments, **options)
        lines = [line for line in result.stderr.splitlines() if line]
        self.assertEqual(result.returncode, status, f"{arguments}: {result.stderr}")
        self.assertEqual(len(lines), 1, f"{arguments}: {result.stderr}")
        self.assertTrue(lines[0].startswith("assay: "), lines[0])
        self.assertIn(says, lines[0])
        self.assertEqual(result.stdout, "")

    def test_what_cannot_be_understood(self):
        self.refused(says="subcommand")
        self.refused("jog", says="jog")
        self.refused("run", says="name at least one case")
        self.refused("run", "semiring_matmull", says="'semiring_matmull'")
        self.refused("run", "semiring_matmul", "--fast", says="--fast")
        self.refused("run", "semiring_matmul", "--rounds", "many", says="many")
        self.refused("list", "nothing", says="'nothing'")

    # A name may come from anyone: the message is one line that moves no cursor, whichever of our
    # programs prints it.
    def test_messages_are_printable(self):
        name = "bell\x07\x1b[2J\nend"
        for arguments in (("report", name), ("transport", "inspect", name), ("serve", name, "--port", "0")):
            result = self.assay(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("end", result.stderr)
            for forbidden in ("\x07", "\x1b"):
                self.assertNotIn(forbidden, result.stderr, arguments)

    def test_values_out_of_range(self):
        run = ("run", "semiring_matmul")
        self.refused(*run, "--rounds", "0", says="--rounds must be at least 1, got 0")
        self.refused(*run, "--batches", "2", says="--batches must be at least 5, got 2")
        self.refused(*run, "--limit", "0s", says="--limit")
        self.refused(*run, "--limit", "soon", says="'soon'")
        self.refused(*run, "--memory", "lots", says="'lots'")
        self.refused(*run, "--max-steal", "200%", says="'200%'")
        self.refused(*run, "--platforms", "abacus", says="'abacus'")
        self.refused(*run, "--providers", "numby", says="'numby'")
        self.refused(*run, "--cores", "4096", says="4096", status=5)
        self.refused(*run, "--rounds", "2147483647", "--dry-run", says="--rounds must be at most 100000")
        for seed in ("-1", "18446744073709551616", "99999999999999999999999", "1.5", "x"):
            self.refused(*run, "--seed", seed, "--dry-run", says=f"--seed must be an integer from 0 to 2^64 - 1, got '{seed}'")
        self.run_ok(*run, "--seed", "18446744073709551615", "--dry-run")

    def test_points(self):
        def point(text, says):
            self.refused("run", "semiring_matmul", "--points", text, says=says)

        point("{", "not valid JSON")
        point('{"n":1,"n":2}', "repeated key \"n\"")
        point('{"size":1}', "'size'")
        point('{"n":-1}', "got -1")
        point('{"n":1.5}', "got 1.5")
        point('{"n":"8"}', 'got "8"')
        point('{"dtype":"f31"}', '"f31"')
        point('{"algebra":"boolean","dtype":"f64"}', "boolean")
        point("[[]]", "expected an object")
        point("[" * 100000, "nested")
        self.assertEqual(os.listdir(self.folder), [], "nothing was written for a bad request")

    def test_unwritable_places(self):
        self.refused(*self.SMALL, "--out", "/proc/nowhere/j.jsonl", says="/proc/nowhere")
        self.write("file", "precious")
        self.refused(*self.SMALL, "--out", self.path("file/j.jsonl"), says="file")
        self.refused(*self.SMALL, "--out", self.path("file"), says="exists already")
        self.refused(*self.SMALL, "--store", "sqlite:/proc/nowhere/a.db", says="/proc/nowhere")
        self.refused(*self.SMALL, "--store", "mysql:here", says="mysql:here")
        self.assertEqual(self.read("file"), b"precious")

    def test_resume(self):
        self.refused("run", "--resume", "20200101T000000.000000Z-nothing", says="no run of that name")
        self.write("empty.jsonl", "")
        self.refused("run", "--resume", self.path("empty.jsonl"), says="no rows")

    def test_corrupt_journal(self):
        self.run_ok(*self.SMALL, "--out", "j.jsonl")
        whole = self.read("j.jsonl")
        lines = whole.splitlines(keepends=True)
        self.write("j.jsonl", lines[0] + lines[1].replace(b'"round"', b'"rouund"') + b"".join(lines[2:]))
        damaged = self.read("j.jsonl")
        self.refused("report", "j.jsonl", says="j.jsonl:2")
        self.refused("run", "--resume", "j.jsonl", says="j.jsonl:2")
        self.refused("store", "ingest", "sqlite:a.db", "j.jsonl", says="j.jsonl:2")
        self.assertEqual(self.read("j.jsonl"), damaged)

    def test_torn_journal_is_a_warning(self):
        self.run_ok(*self.SMALL, "--out", "j.jsonl")
        whole = self.read("j.jsonl")
        self.write("j.jsonl", whole[:-50])
        result = self.run_ok("report", "j.jsonl")
        self.assertIn("warning", result.stderr)
        self.run_ok("run", "--resume", "j.jsonl")
        self.assertEqual(len(self.read("j.jsonl").splitlines()), len(whole.splitlines()))

    def test_errors_for_programs(self):
        """The kind of an error, as an object; and a limit on the size of files is an error, not a signal."""
        asked = {"environment": {"ASSAY_ERRORS": "json"}}

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        for arguments, options, status, kind, message in (
            (("export", "none.jsonl"), {}, 2, "input", "none.jsonl"),
            (("export", "x" * 5000), {}, 2, "input", "xxx"),
            (("run", *self.SMALL[1:], "--out", "j.jsonl"), {"preexec_fn": limit}, 5, "disk", "File too large"),
            (("new", "case", "softmax"), {"preexec_fn": limit}, 2, "disk", "File too large"),
        ):
            result = self.assay(*arguments, **asked, **options)
            said = json.loads(result.stderr.splitlines()[-1])
            self.assertEqual((result.returncode, said["kind"]), (status, kind), result.stderr)
            self.assertIn(message, said["message"])
            plain = self.assay(*arguments, **options)
            self.assertEqual((plain.returncode, plain.stderr.splitlines()[-1][:7]), (status, "assay: "))

    def test_full_disk(self):
        self.run_ok(*self.SMALL, "--out", "j.jsonl")
        before = self.read("j.jsonl")
        kept = b"".join(before.splitlines(keepends=True)[:2])
        self.write("j.jsonl", kept)

        result = self.assay("run", "--resume", "j.jsonl", **full_disk(len(kept) + 100))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertIn("assay run --resume j.jsonl", result.stderr)
        self.assertEqual(self.read("j.jsonl"), kept)
        self.run_ok("run", "--resume", "j.jsonl")
        self.assertEqual(len(self.read("j.jsonl").splitlines()), len(before.splitlines()))
        self.refused("report", "j.jsonl", "--out", "/dev/full", says="No space left")

    def test_stores(self):
        self.refused("store", "verify", "sqlite:none.db", says="none.db")
        self.assertFalse(os.path.exists(self.path("none.db")))
        text = self.write("text.db", "not a database, but long enough to look at " * 40)
        self.refused("store", "verify", text, says="text.db")
        with sqlite3.connect(self.path("other.db")) as other:
            other.execute("create table t (x)")
        before = self.read("other.db")
        self.refused("store", "ingest", "sqlite:other.db", text, says="other.db")
        self.assertEqual(self.read("other.db"), before)

        self.run_ok(*self.SMALL, "--out", "j.jsonl", "--store", "sqlite:a.db")
        with sqlite3.connect(self.path("a.db")) as store:
            store.execute("pragma user_version = 999")
        store.close()
        before = self.read("a.db")
        self.refused("store", "latest", "sqlite:a.db", says="a.db")
        self.refused("store", "ingest", "sqlite:a.db", "j.jsonl", says="a.db")
        self.assertEqual(self.read("a.db"), before)

    def test_chip(self):
        self.refused("chip", "run", "--gemm", "5x5", says="'5x5'")
        self.refused("chip", "run", "--gemm", "8x8x8", "--variant", "fast", says="fast")
        self.refused("chip", "run", "--gemm", "8x8x8", "--topology", "none.toml", says="none.toml")
        self.refused("chip", "collective", "--network", "moebius", "--bytes", "1MiB", says="moebius")
        self.refused("chip", "collective", "--network", "ring", "--bytes", "1MiB", says="rank")
        self.write("bad.toml", "[clock]\ncore_GHz = -1.0\n")
        self.refused("chip", "topology", "check", "bad.toml", says="bad.toml")

    def test_reports_of_nothing(self):
        self.refused("report", "nowhere", says="nowhere")
        self.refused("report", says="results")

    def test_closed_output(self):
        for command in (("list",), ("list", "--json"), ("--help",), ("einsum", "--help"), ("compile", "--operators")):
            with open("/dev/full", "w") as full:
                result = subprocess.run([ASSAY, *command], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, 2, command)
            self.assertIn("standard output", result.stderr, command)


if __name__ == "__main__":
    main()
