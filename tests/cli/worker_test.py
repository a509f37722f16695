# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The Python worker measures as the native one does: phases, batches, poison, failures."""

import json
import os
import sys

from assay_cli import ROOT, CliTest, main

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
