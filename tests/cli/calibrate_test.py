# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A/A calibration: measured, kept under the fingerprint, told by rows, reports and doctor."""

import json
import os

from assay_cli import CliTest, main

FEW = ("calibrate", "--comparisons", "4", "--rounds", "6", "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%")


class Calibrate(CliTest):
    def setUp(self):
        super().setUp()
        self.here = {"ASSAY_MACHINE_DIR": self.path("machines")}

    def small_run(self, out):
        self.run_ok(*self.SMALL, "--out", out, environment=self.here)
        with open(self.path(out)) as file:
            return [json.loads(line) for line in file]

    def test_kept_and_told(self):
        before = self.small_run("before.jsonl")
        self.assertNotIn("calibration", before[0]["provenance"])
        self.assertIn("Uncalibrated", self.run_ok("report", "before.jsonl").stdout)
        self.assertIn("uncalibrated", self.run_ok("doctor", environment=self.here).stdout)

        found = json.loads(self.run_ok(*FEW, "--json", "--out", "aa.jsonl", environment=self.here).stdout)
        self.assertEqual(found["comparisons"], 4)
        self.assertEqual(found["false_alarms"]["trials"], 8)
        rate = found["false_alarms"]
        self.assertLessEqual(rate["low"], rate["rate"])
        self.assertLessEqual(rate["rate"], rate["high"])
        self.assertGreater(found["floor"], 0)
        self.assertLessEqual(found["floor"], found["largest"])
        self.assertEqual(len(found["noise"]), 2)
        self.assertTrue(os.path.exists(found["file"]))

        doctor = json.loads(self.run_ok("doctor", "--json", "aa.jsonl", environment=self.here).stdout)
        self.assertEqual(doctor["calibration"]["floor"], found["floor"])
        self.assertEqual(len(doctor["noise_budget"]), 4)  # two kernels at two points
        self.assertGreater(doctor["noise_budget"][0]["within_process"], 0)
        words = self.run_ok("doctor", "aa.jsonl", environment=self.here).stdout
        self.assertIn("A/A calibration", words)
        self.assertIn("between processes", words)

        after = self.small_run("after.jsonl")
        self.assertEqual(after[0]["provenance"]["calibration"]["floor"], found["floor"])
        report = self.run_ok("report", "after.jsonl").stdout
        self.assertNotIn("ncalibrated", report)
        self.assertIn("A/A floor", report)
        mixed = self.run_ok("report", "before.jsonl", "after.jsonl").stdout
        self.assertIn("Uncalibrated: 4 of 8 attempts", mixed)

    def test_a_kernel_of_the_users_choice(self):
        found = json.loads(
            self.run_ok("calibrate", "--case", "harness_spin", "--point", '{"mean_us":100}', "--providers",
                        "spin", "--comparisons", "2", "--rounds", "6", "--steady", "1ms", "--max-steal",
                        "100%", "--max-foreign", "100%", "--json", environment=self.here).stdout)  # fmt: skip
        self.assertEqual(found["kernels"], ["harness_spin spin"])
        self.assertEqual(found["comparisons"], 2)

    def test_what_is_refused(self):
        for arguments, says in (
            (("--rounds", "5"), "at least 6"),
            (("--comparisons", "0"), "got 0"),
            (("--case", "harness_spin"), "--providers"),
            (("--providers", "naive@b"), "'naive@b'"),
            (("--point", "[]"), "--point"),
            (("--tolerance", "much"), "'much'"),
        ):
            result = self.assay("calibrate", *arguments, environment=self.here)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(says, result.stderr)
        self.assertFalse(os.path.exists(self.path("machines")))

    def test_a_damaged_calibration_is_named(self):
        found = json.loads(self.run_ok(*FEW, "--json", environment=self.here).stdout)
        with open(found["file"]) as file:
            content = json.load(file)
        content["floor"] = "low"
        with open(found["file"], "w") as file:
            json.dump(content, file)
        result = self.assay("doctor", environment=self.here)
        self.assertEqual(result.returncode, 2)
        self.assertIn("calibration.json", result.stderr)


if __name__ == "__main__":
    main()
