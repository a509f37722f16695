# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Stopping by precision and budget, one provider under two names, and the spinning case."""

import json
import os

import jsonschema

from assay_cli import ROOT, CliTest, main

LOOKS = {10, 14, 20, 28, 40, 56, 80}
SMALL = (
    "run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--steady", "1ms",
    "--max-steal", "100%", "--max-foreign", "100%", "--out", "j.jsonl",
)  # fmt: skip


class Precision(CliTest):
    def rows(self):
        with open(self.path("j.jsonl")) as file:
            return [json.loads(line) for line in file]

    def test_a_loose_target_is_met_at_a_look(self):
        result = self.run_ok(*SMALL, "--providers", "naive,naive@b", "--precision", "100%", "--json")
        rows = self.rows()
        with open(os.path.join(ROOT, "docs/row.schema.json")) as file:
            schema = json.load(file)
        validator = jsonschema.validators.validator_for(schema)(schema)
        for row in rows:
            validator.validate(row)
        self.assertEqual({row["provider"] for row in rows}, {"naive", "naive@b"})
        rounds = max(row["round"] for row in rows) + 1
        self.assertIn(rounds, LOOKS)
        last = max(rows, key=lambda row: row["order"])["provenance"]["stopping"]
        self.assertEqual(last["decision"], "met")
        self.assertEqual(last["rounds"], rounds)
        self.assertLessEqual(last["worst"], 1)
        printed = json.loads(result.stdout)
        self.assertEqual(printed["stopping"][0]["stopping"], last)
        self.assertIn("reached at 1 of 1 points", result.stderr)
        # Two names of one provider have each other for a baseline.
        ratios = {entry["provider"]: entry["ratio"] for entry in printed["results"]}
        self.assertEqual(ratios["naive"], 1)
        self.assertIsNotNone(ratios["naive@b"])

    def test_an_impossible_target_ends_with_the_budget_and_can_be_continued(self):
        self.run_ok(*SMALL, "--providers", "naive,naive@b", "--precision", "0.000001%", "--budget", "1s")
        first = self.rows()
        self.assertTrue(first)
        last = max(first, key=lambda row: row["order"])["provenance"].get("stopping", {})
        self.assertIn(last.get("decision"), {"budget", "exhausted"})
        result = self.run_ok("run", "--resume", "j.jsonl", "--budget", "1h")
        rows = self.rows()
        self.assertEqual(len(rows), 160)  # all 80 rounds of both names
        self.assertEqual(len({row["attempt_id"] for row in rows}), 160)
        self.assertIn("after 80 rounds, the last look has passed", result.stderr)

    def test_nothing_to_compare_with(self):
        result = self.run_ok(*SMALL, "--providers", "naive", "--precision", "1%")
        self.assertEqual(len(self.rows()), 10)
        self.assertIn("nothing to compare with", result.stderr)

    def test_what_is_refused(self):
        for arguments, says in (
            (("--precision", "1%", "--rounds", "5"), "--rounds excludes --precision"),
            (("--precision", "0%"), "'0%'"),
            (("--precision", "fine"), "'fine'"),
            (("--budget", "0s"), "'0s'"),
            (("--budget", "soon"), "'soon'"),
            (("--providers", "naive@"), "'naive@'"),
            (("--providers", "nobody@b"), "'nobody@b'"),
        ):
            result = self.assay(*SMALL, *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(says, result.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_spinning_case(self):
        spin = ("run", "harness_spin", "--points", '{"mean_us":200,"slower_bp":50000}', "--rounds", "6",
                "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%", "--json")  # fmt: skip
        printed = json.loads(self.run_ok(*spin).stdout)
        ratio = {entry["provider"]: entry["ratio"] for entry in printed["results"]}["spin-slower"]
        self.assertGreater(ratio, 2)  # six times as long, whatever else the machine does
        refused = self.assay(*spin, "--in-process")
        self.assertEqual(refused.returncode, 3, refused.stderr)  # nothing was measured
        inside = json.loads(refused.stdout)
        self.assertEqual({entry["status"] for entry in inside["results"]}, {"env_missing"})
        self.assertNotIn("harness_spin", self.run_ok("run", "all", "--quick", "--dry-run").stdout)


if __name__ == "__main__":
    main()
