# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The machine's ceilings: kept under its fingerprint, and what they do to rows."""

import json
import os

from assay_cli import CliTest, main

POINT = '{"algebra":"max_plus","n":64}'


class Ceilings(CliTest):
    def setUp(self):
        super().setUp()
        self.machines = self.path("machines")
        self.here = {"ASSAY_MACHINE_DIR": self.machines}

    def doctor(self, *flags):
        return json.loads(self.run_ok("doctor", "--json", *flags, environment=self.here).stdout)

    def pretend(self, rate):
        """Ceilings of this machine as `doctor --peaks` would keep them, all of one rate."""
        fingerprint = self.doctor()["machine"]["fingerprint"]
        folder = os.path.join(self.machines, fingerprint)
        os.makedirs(folder, exist_ok=True)
        group = {"cores": 1, "clock_hz": 1e9, "rates": {"add_max_f32": rate}}
        with open(os.path.join(folder, "ceilings.json"), "w") as file:
            json.dump({"machine": fingerprint, "measured": "2026-01-01T00:00:00Z",
                       "instruction_set": "none", "groups": [group]}, file)  # fmt: skip

    def row(self, name):
        args = ["run", "semiring_matmul", "--points", POINT, "--providers", "assay-simd", "--rounds",
                "1", "--steady", "10ms", "--batches", "5", "--cores", "1", "--max-steal", "100%", "--max-foreign", "100%",
                "--out", name]  # fmt: skip
        self.assay(*args, environment=self.here)
        with open(self.path(name)) as file:
            return json.loads(file.readline())

    def test_rows_without_ceilings_tell_no_fraction(self):
        row = self.row("a.jsonl")
        self.assertEqual(row["status"], "ok")
        self.assertNotIn("fraction_of_limit", row["metrics"])

    def test_rows_tell_their_fraction_and_the_ceiling(self):
        self.pretend(1e15)
        row = self.row("b.jsonl")
        self.assertEqual(row["status"], "ok")
        limit = row["provenance"]["limit"]
        self.assertEqual(limit["ceiling"], "add_max_f32")
        self.assertAlmostEqual(limit["seconds"] / (64**3 / 1e15), 1)
        self.assertAlmostEqual(
            row["metrics"]["fraction_of_limit"] * row["metrics"]["steady_time"] / limit["seconds"], 1
        )

    def test_a_rate_above_the_ceiling_is_wrong(self):
        self.pretend(1e3)
        row = self.row("c.jsonl")
        self.assertEqual(row["status"], "wrong_result")
        self.assertEqual(row["failure"]["code"], "impossible_rate")
        self.assertIn("add_max_f32", row["failure"]["message"])

    def test_peaks_are_measured_and_kept(self):
        report = self.doctor("--peaks")
        names = report["ceilings"]["groups"][0]["rates"]
        for name in ["fma_f32", "fma_f64", "add_max_f32", "sub_fma_f64", "exp_f32", "triad"]:
            self.assertGreater(names[name], 0)
        self.assertGreater(report["ceilings"]["groups"][0]["clock_hz"], 1e8)
        again = self.doctor()
        self.assertEqual(again["ceilings"], report["ceilings"])


if __name__ == "__main__":
    main()
