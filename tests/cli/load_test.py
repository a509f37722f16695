# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Other programs on the attempt's cores: recorded, told, excluded, and marked where that never ends."""

import json
import os
import subprocess
import sys

from assay_cli import CliTest, main

RUN = ("run", "harness_spin", "--quick", "--rounds", "5", "--steady", "0.3s", "--cores", "1", "--max-steal", "100%",
       "--out", "j.jsonl")  # fmt: skip


class Load(CliTest):
    def rows(self):
        return [json.loads(line) for line in self.read("j.jsonl").splitlines()]

    def beside_busy_loops(self, *arguments):
        loops = []
        for cpu in os.sched_getaffinity(0):
            loop = f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
            loops.append(subprocess.Popen([sys.executable, "-c", loop]))
        try:
            return self.run_ok(*arguments)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()

    def test_a_busy_loop_on_the_same_core_is_seen(self):
        result = self.beside_busy_loops(*RUN, "--providers", "spin")
        rows = self.rows()
        excluded = [row for row in rows if row["status"] == "excluded"]
        kept = [row for row in rows if row["status"] == "ok"]
        for row in rows:
            self.assertGreater(row["provenance"]["noise"]["foreign_fraction"], 0.1)
        for row in excluded:
            self.assertIn("other programs took", row["failure"]["message"])
        for row in kept:
            self.assertIn("other programs took", row["provenance"]["contaminated"])
        self.assertEqual(len(kept), 5)
        # Three attempts were tried three times each; then the run knows that it does not end.
        self.assertEqual([row["try"] for row in kept], [2, 2, 2, 0, 0])
        self.assertEqual(len(excluded), 6)
        self.assertEqual(result.stderr.count("warning: other programs took"), 2, result.stderr)
        self.assertEqual(result.stderr.count("of the time of cores"), 1, "told at once, and only once")
        self.assertIn("in 11 attempts", result.stderr)
        self.assertIn("exclusion does not end here", result.stderr)
        self.assertIn("5 attempts kept though disturbed at every try", result.stdout)
        self.assertIn("Other programs took more than 2 %", self.run_ok("report", "j.jsonl").stdout)

    def test_it_can_be_allowed(self):
        result = self.beside_busy_loops(*RUN, "--providers", "spin", "--max-foreign", "100%")
        rows = self.rows()
        self.assertEqual([row["status"] for row in rows], ["ok"] * 5)
        for row in rows:
            self.assertNotIn("contaminated", row["provenance"])
            self.assertGreater(row["provenance"]["noise"]["foreign_fraction"], 0.1)
        self.assertNotIn("warning: other programs", result.stderr)


if __name__ == "__main__":
    main()
