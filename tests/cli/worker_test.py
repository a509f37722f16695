# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The Python worker measures as the native one does: phases, batches, poison, failures."""

import json
import os
import shutil
import subprocess
import sys

from assay_cli import ALONE, ASSAY, ROOT, CliTest, main

sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
from assay_worker import measure, worker  # noqa: E402
from assay_worker.workload import ProviderFailure, Workload  # noqa: E402


class Recorded(Workload):
    def __init__(self):
        self.events, self.slots = [], []

    def load(self, slot, input_set):
        self.events.append(("load", slot, input_set))

    def call(self, slot):
        self.slots.append(slot)
        self.events.append(("call", slot))

    def poison_outputs(self):
        self.events.append(("poison",))

    def outputs(self):
        return {"y": np.arange(3.0)}


SETTINGS = {"warm_up_calls": 2, "batches": 5, "steady_s": 0.01, "batch_min_s": 1e-4, "batch_min_ticks": 10}


# A worker whose output is right and whose report says something else of it.
LIAR = """#!/usr/bin/env python3
import json, os, subprocess, sys
worker = {worker!r}
if not sys.argv[1].endswith("spec.json"):
    os.execv(worker, [worker, *sys.argv[1:]])
status = subprocess.call([worker, *sys.argv[1:]])
folder = json.load(open(sys.argv[1]))["directory"]
for name in os.listdir(folder):
    if name.startswith("report-"):
        path = os.path.join(folder, name)
        report = json.load(open(path))
        report["metrics"]["{metric}"] *= 0.1
        json.dump(report, open(path, "w"))
sys.exit(status)
"""


class Report(CliTest):
    def test_metrics_that_are_answers_must_follow_from_the_output(self):
        os.symlink(os.path.join(ROOT, "python"), self.path("python"))
        shutil.copy(ASSAY, self.path("assay"))
        real = os.path.join(os.path.dirname(ASSAY), "assay-worker")
        product = ["chip_gemm", "--points", '{"m":128,"k":128,"n":128,"variant":"load_ref"}']
        reduce = ["chip_allreduce", "--points", '{"ranks":4,"bytes":1024}']
        for metric, run, providers in (
            ("simulated_time", product, "simulated,closed_form,roofline,systolic"),
            ("gemm_busy", product, "simulated"),
            ("padded_utilisation", ["chip_gemm", "--points", '{"m":100,"k":130,"n":70}'], "simulated"),
            ("simulated_time", reduce, "simulated,bound"),
            ("busbw", reduce, "simulated,bound"),
        ):
            with open(self.path("assay-worker"), "w") as file:
                file.write(LIAR.format(worker=real, metric=metric))
            os.chmod(self.path("assay-worker"), 0o755)
            journal = self.path(metric + run[0] + ".jsonl")
            subprocess.run(
                [self.path("assay"), "run", *run, "--providers", providers, "--out", journal],
                capture_output=True, check=False, env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder},
            )  # fmt: skip
            with open(journal) as file:
                rows = [json.loads(line) for line in file]
            self.assertEqual({row["provider"] for row in rows}, set(providers.split(",")))
            for row in rows:
                self.assertEqual(row["status"], "wrong_result", (metric, row["provider"]))
                self.assertIn(metric, row["failure"]["message"])


class Worker(CliTest):
    def measured(self, make, deterministic=False):
        phases = measure.Phases(self.path("phase"))
        return measure.measure_attempt(make, SETTINGS, deterministic, self.path("out"), phases)

    def test_phases_and_rotation(self):
        workload = Recorded()
        report = self.measured(lambda: workload)
        self.assertEqual(report["status"], "ok", report["message"])
        self.assertEqual(
            [phase["name"] for phase in report["phases"]],
            ["prepare", "cold", "warm_up", "calibrate", "steady", "output", "report"],
        )
        self.assertEqual(len(report["steady_s"]), 5)
        self.assertTrue(all(a != b for a, b in zip(workload.slots, workload.slots[1:])))
        tail = [event[0] for event in workload.events[-3:]]
        self.assertEqual(tail, ["load", "poison", "call"])
        self.assertEqual(workload.events[-3][2], measure.JUDGED_SET)
        self.assertEqual(workload.events[-3][1], workload.events[-1][1])

    def test_deterministic(self):
        workload = Recorded()
        report = self.measured(lambda: workload, deterministic=True)
        self.assertEqual(len(workload.slots), 2)
        self.assertEqual(report["steady_s"], [])

    def test_failures(self):
        def raising(error):
            def make():
                raise error

            return self.measured(make)

        self.assertEqual(raising(MemoryError())["status"], "out_of_memory")
        self.assertEqual(raising(ModuleNotFoundError("no torch"))["code"], "module_missing")
        self.assertEqual(raising(ValueError("bad"))["message"], "ValueError: bad")
        report = raising(ProviderFailure("skipped", "no_device", "no GPU"))
        self.assertEqual((report["status"], report["code"], report["phase"]), ("skipped", "no_device", "prepare"))

    def test_unknown_case(self):
        spec = {
            "protocol": 1, "case": "no_such_case", "provider": "numpy", "platform": "cpu", "cores": 1,
            "cpus": [], "points": [{}], "deterministic": False, "settings": SETTINGS, "directory": self.folder,
        }  # fmt: skip
        self.assertEqual(worker.main(["worker", self.write("spec.json", json.dumps(spec))]), 0)
        with open(self.path("report-0.json")) as file:
            self.assertEqual(json.load(file)["code"], "unknown_provider")


if __name__ == "__main__":
    main()
