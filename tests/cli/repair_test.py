# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged journals: what is whole comes out, what is beside them is still shown."""

import json
import os

from assay_cli import CliTest, main
from journal_lines import line_of
from journals import journal, line, rounds


class Repair(CliTest):
    def setUp(self):
        super().setUp()
        self.rows = rounds("20260101T000000.000000Z-aaaaaaa", "fast") + rounds(
            "20260101T000000.000000Z-aaaaaaa", "steady"
        )
        self.lines = [line(row).encode() for row in self.rows]
        self.other = rounds("20260102T000000.000000Z-bbbbbbb", "fast") + rounds(
            "20260102T000000.000000Z-bbbbbbb", "steady"
        )

    def damaged(self):
        """The third line flipped, the fifth garbage, the sixth's attempt again with another time, a torn tail."""
        flipped = bytearray(self.lines[2])
        flipped[40] ^= 1
        again = line({**self.rows[5], "order": 99}).encode()
        return b"".join(
            [*self.lines[:2], bytes(flipped), self.lines[3], b"\xff\x00garbage\n", *self.lines[5:7], again,
             self.lines[6], *self.lines[7:], self.lines[0][:50]]
        )  # fmt: skip

    def test_what_is_whole_comes_out_and_the_rest_is_said(self):
        damaged = self.damaged()
        self.write("j.jsonl", damaged)
        result = self.run_ok("store", "repair", "j.jsonl")
        said = result.stdout.splitlines()
        self.assertEqual([text.split(":")[0] for text in said[:-1]],
                         ["line 3", "line 5", "line 8", "line 9", f"line {len(self.lines) + 3}"])  # fmt: skip
        self.assertIn("not as it was written", said[0])
        self.assertIn("not as it was written", said[1])
        self.assertIn("the attempt of line 6 a second time, with other content", said[2])
        self.assertIn("line 7 again", said[3])
        self.assertIn("incomplete", said[4])
        self.assertIn("22 of 27 lines kept: j.repaired.jsonl", said[5])
        self.assertEqual(self.read("j.jsonl"), damaged, "the input stays as it is")
        kept = self.lines[:2] + self.lines[3:4] + self.lines[5:]
        self.assertEqual(self.read("j.repaired.jsonl"), b"".join(kept))
        self.run_ok("report", "j.repaired.jsonl")
        # Nothing is overwritten unless that is asked for.
        self.assertEqual(self.assay("store", "repair", "j.jsonl").returncode, 2)
        self.assertEqual(self.assay("store", "repair", "j.jsonl", "--out", "j.jsonl").returncode, 2)
        self.assertEqual(self.read("j.jsonl"), damaged)
        self.run_ok("store", "repair", "j.jsonl", "--in-place")
        self.assertEqual(self.read("j.jsonl"), b"".join(kept))
        self.assertIn("nothing to repair", self.run_ok("store", "repair", "j.jsonl").stdout)

    def test_only_the_newline_is_missing(self):
        self.write("j.jsonl", b"".join(self.lines)[:-1])
        self.run_ok("store", "repair", "j.jsonl", "--out", "k.jsonl")
        self.assertEqual(self.read("k.jsonl"), b"".join(self.lines))
        self.write("none.jsonl", b"garbage\n")
        self.assertEqual(self.assay("store", "repair", "none.jsonl").returncode, 2)
        self.assertFalse(os.path.exists(self.path("none.repaired.jsonl")))

    def test_one_damaged_journal_does_not_stop_its_folder(self):
        os.mkdir(self.path("results"))
        self.write("results/a.jsonl", self.damaged())
        self.write("results/b.jsonl", journal(self.other))
        twice = self.lines + [line({**self.rows[5], "order": 99}).encode()]
        self.write("results/c.jsonl", b"".join(twice))
        commands = (
            ("report", "results"), ("site", "results", "--out", "page.html"), ("compare", "fast", "steady", "results"),
            ("bars", self.write("bars.toml", BARS), "results"), ("export", "results"),
        )  # fmt: skip
        for command in commands:
            result = self.assay(*command)
            self.assertIn(result.returncode, (0, 3), f"{command}: {result.stderr}")
            for name in ("a.jsonl", "c.jsonl"):
                self.assertIn(f"assay store repair 'results/{name}'", result.stderr, command)
        self.assertIn("20260102", self.assay("export", "results").stdout)
        self.assertNotIn("20260101", self.assay("export", "results").stdout)
        # Nothing is decided beside what cannot be read.
        for command in (
            ("gate", "--baseline", "results/b.jsonl", "--current", "results"), ("report", "results", "--strict"),
            ("compare", "fast", "steady", "results", "--strict"), ("bars", "bars.toml", "results", "--strict"),
        ):  # fmt: skip
            result = self.assay(*command)
            self.assertEqual(result.returncode, 2, f"{command}: {result.stderr}")
            self.assertIn("assay store repair 'results/a.jsonl'", result.stderr)
        # By its name it is an error, and so is a folder in which nothing can be read.
        for source in ("results/a.jsonl", "results/c.jsonl"):
            self.assertEqual(self.assay("report", source).returncode, 2)
        os.remove(self.path("results/b.jsonl"))
        self.assertEqual(self.assay("report", "results").returncode, 2)

    def test_a_clock_that_was_set_changes_nothing_for_resume(self):
        self.run_ok(*self.SMALL, "--budget", "1h", "--out", "j.jsonl")
        rows = [json.loads(text) for text in self.read("j.jsonl").splitlines()]
        self.assertEqual(len(rows), 4)
        for row in rows:
            of = row["provenance"]
            self.assertAlmostEqual(of["duration_s"], 1e-9 * (of["end_ns"] - of["start_ns"]), places=6)
        rows = rows[:3]
        rows[1]["provenance"]["end_ns"] += 30 * 86400 * 10**9  # the clock was set forward by 30 days
        self.write("j.jsonl", "".join(line_of(row) for row in rows))
        self.run_ok("run", "--resume", "j.jsonl")
        self.assertEqual(len(self.read("j.jsonl").splitlines()), 4)
        # What was really spent counts, and is said.
        rows[1]["provenance"]["duration_s"] = 7200
        self.write("j.jsonl", "".join(line_of(row) for row in rows))
        result = self.run_ok("run", "--resume", "j.jsonl")
        self.assertIn("the budget of 3600 s is spent", result.stderr)
        self.assertEqual(len(self.read("j.jsonl").splitlines()), 3)

    def test_a_journal_with_an_attempt_twice_is_not_continued(self):
        self.run_ok(*self.SMALL, "--out", "j.jsonl")
        rows = [json.loads(text) for text in self.read("j.jsonl").splitlines()]
        rows[3] = {**rows[0], "order": 7}
        self.write("j.jsonl", "".join(line_of(row) for row in rows))
        result = self.assay("run", "--resume", "j.jsonl")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("assay store repair", result.stderr)
        self.run_ok("store", "repair", "j.jsonl", "--in-place")
        self.run_ok("run", "--resume", "j.jsonl")
        self.run_ok("report", "j.jsonl")


BARS = """title = "Ours"
[[table]]
title = "Products"
case = "matmul"
provider = "fast"
[[table.bar]]
what = "quick enough"
at_most = 1.0
"""


if __name__ == "__main__":
    main()
