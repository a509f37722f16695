# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""How the Python worker measures work on a device, without one: a device whose clock is a number."""

import os
import sys
import tempfile
import time
import unittest

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
from assay_worker import measure  # noqa: E402
from assay_worker.device import Device, OnDevice, device_failure  # noqa: E402
from assay_worker.peer import Peer, PeerWorkload  # noqa: E402

CALL_S, SWEEP_S = 1e-3, 4e-3


class FakeDevice(Device):
    """Work takes device time when it is asked for; nobody sees it done before wait()."""

    def __init__(self, has_events=True):
        self.now, self.seen, self.sweeps, self.waited = 0.0, 0.0, 0, 0
        self.has_events = has_events

    def wait(self, result):
        self.waited += 1
        time.sleep(self.now - self.seen)
        self.seen = self.now

    def record(self):
        return self.now if self.has_events else None

    def seconds(self, first, second):
        return second - first

    def sweep(self):
        self.sweeps += 1
        self.now += SWEEP_S

    def peak_bytes(self):
        return 12.0


class FakeWorkload(OnDevice, PeerWorkload):
    def __init__(self, device, function):
        super().__init__(Peer(1), function, lambda input_set: (), "c")
        self.device = device


def attempt(device, flush, function=None):
    def compute():
        device.now += CALL_S
        return np.zeros(1)

    settings = {
        "warm_up_calls": 1, "batches": 5, "steady_s": 0.0, "batch_min_s": 1e-5, "batch_min_ticks": 1,
    }  # fmt: skip
    if flush:
        settings["flush_l2"] = True
    with tempfile.TemporaryDirectory() as folder:
        phases = measure.Phases(os.path.join(folder, "phase"))
        workload = FakeWorkload(device, function or compute)
        make = lambda: workload  # noqa: E731
        report = measure.measure_attempt(make, settings, False, os.path.join(folder, "out"), phases)
        return report, [phase["name"] for phase in phases.times]


class DeviceTest(unittest.TestCase):
    def test_calls_of_a_batch_are_timed_together_by_the_devices_clock(self):
        device = FakeDevice()
        report, phases = attempt(device, flush=False)
        self.assertEqual(report["status"], "ok", report["message"])
        self.assertEqual(len(report["samples"]["device_time"]), 5)
        for seconds in report["samples"]["device_time"]:
            self.assertAlmostEqual(seconds, CALL_S)
        self.assertIn("steady", phases)
        self.assertEqual(report["metrics"]["peak_device_memory"], 12.0)
        self.assertEqual(device.sweeps, 0)
        self.assertGreaterEqual(device.waited, 8, "cold, warm-up, five batches, the judged call")

    def test_sweeps_are_no_part_of_a_call(self):
        device = FakeDevice()
        report, phases = attempt(device, flush=True)
        for seconds in report["samples"]["device_time"]:
            self.assertAlmostEqual(seconds, CALL_S)
        self.assertGreater(device.sweeps, 5)
        self.assertNotIn("steady", phases)

    def test_without_events_there_is_the_hosts_clock_alone_and_no_sweeping(self):
        report, _ = attempt(FakeDevice(has_events=False), flush=False)
        self.assertEqual(report["status"], "ok")
        self.assertNotIn("device_time", report["samples"])
        report, _ = attempt(FakeDevice(has_events=False), flush=True)
        self.assertEqual((report["status"], report["code"]), ("skipped", "provider_not_applicable"))

    def test_a_full_and_a_lost_device_have_their_codes(self):
        class OutOfMemoryError(RuntimeError):
            pass

        class AcceleratorError(RuntimeError):
            pass

        def raises(error):
            def function():
                raise error

            report, _ = attempt(FakeDevice(), False, function)
            return report["status"], report["code"]

        self.assertEqual(raises(OutOfMemoryError("CUDA")), ("out_of_memory", "device_memory"))
        full = RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
        self.assertEqual(raises(full), ("out_of_memory", "device_memory"))
        self.assertEqual(raises(AcceleratorError("CUDA error")), ("failed", "device_lost"))
        self.assertEqual(device_failure(ValueError("no")), ("failed", "error"))


unittest.main()
