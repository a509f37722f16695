# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What happens inside an attempt; src/lab/measure/attempt.cc step by step."""

import gc
import math
import time

from assay_worker import safetensors
from assay_worker.device import device_failure
from assay_worker.workload import ProviderFailure

ROTATING_SETS = 2
JUDGED_SET = 2


def clock_step_ns(now=time.perf_counter_ns):
    """The smallest step the clock was seen to make."""
    step = 10**9
    for _ in range(200):
        start = now()
        while (current := now()) == start:
            pass
        step = min(step, current - start)
    return step


def peak_rss():
    """The kernel's peak of resident memory since the last reset, in bytes; None if unreadable."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return 1024.0 * int(line.split()[1])
    except OSError:
        pass
    return None


def reset_peak_rss():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


class Phases:
    """Names the phases as they begin, for the runner to see, and keeps their times."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)
        self.times = []

    def begin(self, name):
        self.end()
        self.file.seek(0)
        self.file.write(f"{name:<16}".encode())
        self.times.append({"name": name, "start_ns": time.perf_counter_ns(), "end_ns": 0})

    def end(self):
        if self.times and not self.times[-1]["end_ns"]:
            self.times[-1]["end_ns"] = time.perf_counter_ns()

    def current(self):
        return self.times[-1]["name"] if self.times else "start"


class Caller:
    """Calls that rotate through the input slots."""

    def __init__(self, workload):
        self.workload, self.slot, self.device_s = workload, 0, None

    def time(self, count):
        """Seconds for `count` calls, taken together."""
        call, slot = self.workload.call, self.slot
        start = time.perf_counter_ns()
        self.workload.begin_batch()
        for _ in range(count):
            call(slot)
            slot ^= 1
        on_device = self.workload.end_batch()
        elapsed = (time.perf_counter_ns() - start) * 1e-9
        self.slot = slot
        if on_device is None:
            return elapsed
        self.device_s, sweeps_s = on_device
        # Two clocks are read: what is left is never less than the device says.
        return max(elapsed - sweeps_s, self.device_s) if sweeps_s > 0 else elapsed


def calibrate(caller, target_s, one_call_s):
    """How many calls make a batch of at least `target_s`, given what one was seen to take."""
    if one_call_s >= target_s:
        return 1
    calls = 1
    while True:
        elapsed = caller.time(calls)
        if elapsed >= target_s:
            return calls
        growth = 1.02 * target_s / elapsed if elapsed > 0 else 10.0
        calls = max(calls + 1, math.ceil(calls * min(growth, 10.0)))


def _measure(make, settings, deterministic, output_path, phases, report):
    metrics = report["metrics"]
    workload = make()
    workload.prepare_for(settings)
    for slot in range(ROTATING_SETS):
        workload.load(slot, slot)
    metrics["peak_rss_start"] = peak_rss()

    gc.collect()
    gc.disable()  # a collection inside a batch would be charged to the provider
    reset_peak_rss()
    phases.begin("cold")
    caller = Caller(workload)
    metrics["cold_time"] = caller.time(1)
    metrics["peak_rss_cold"] = peak_rss()
    metrics.update({f"cold_stage_{name}": seconds for name, seconds in workload.stages()})

    if not deterministic:
        reset_peak_rss()
        phases.begin("warm_up")
        warm_up_calls = settings["warm_up_calls"]
        one_call_s = caller.time(warm_up_calls) / warm_up_calls if warm_up_calls else 0.0

        phases.begin("calibrate")
        shortest = max(
            settings["batch_min_s"], 1e-9 * clock_step_ns() * settings["batch_min_ticks"]
        )
        target = max(shortest, settings["steady_s"] / settings["batches"])
        report["batch_calls"] = calls = calibrate(caller, target, one_call_s)

        # What is reported is all of the phase `steady`: with sweeps between the calls it is not.
        phases.begin("runs" if settings.get("flush_l2") else "steady")
        for _ in range(settings["batches"]):
            report["steady_s"].append(caller.time(calls) / calls)
            if caller.device_s is not None:
                report["samples"].setdefault("device_time", []).append(caller.device_s / calls)
            for name, seconds in workload.stages():
                report["samples"].setdefault(f"stage_{name}", []).append(seconds)
        metrics["peak_rss_steady"] = peak_rss()

    # The judged call: inputs never seen before, in slots that were timed, into poisoned outputs.
    phases.begin("output")
    slot = caller.slot
    workload.load(slot, JUDGED_SET)
    workload.poison_outputs()
    caller.time(1)
    safetensors.write(output_path, workload.outputs())
    if workload.judged_again:
        workload.poison_outputs()
        workload.call(slot)
        workload.end_batch()
        safetensors.write(output_path + ".again", workload.outputs())

    phases.begin("report")
    metrics.update(workload.metrics())
    report["versions"] = workload.versions()


def measure_attempt(make, settings, deterministic, output_path, phases):
    """Measures one workload; what the provider does wrong comes back in the report."""
    report = {
        "protocol": 1, "status": "ok", "phase": "", "code": "", "message": "", "metrics": {},
        "steady_s": [], "batch_calls": 0, "samples": {}, "versions": {},
    }  # fmt: skip

    def failed(status, code, error):
        report.update(status=status, phase=phases.current(), code=code, message=str(error)[:2000])

    phases.begin("prepare")
    try:
        _measure(make, settings, deterministic, output_path, phases, report)
    except ProviderFailure as error:
        failed(error.status, error.code, error)
    except ImportError as error:
        failed("env_missing", "module_missing", error)
    except MemoryError as error:
        failed("out_of_memory", "allocation_failed", error or "an allocation was refused")
    except Exception as error:
        failed(*device_failure(error), f"{type(error).__name__}: {error}")
    finally:
        gc.enable()
    phases.end()
    report["phases"] = phases.times
    report["metrics"] = {k: v for k, v in report["metrics"].items() if v is not None}
    return report
