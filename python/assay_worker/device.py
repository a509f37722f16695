# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Work on a device: calls that are waited for together, timed by the device's own events.

src/kernels/cuda/device.h has the same for native providers.
"""

from assay_worker.workload import ProviderFailure


class Device:
    """What a framework says of its device. Events are in the order of its work."""

    def wait(self, result):
        """Returns when all work is done; `result` is the last call's."""
        raise NotImplementedError

    def record(self):
        """An event behind all work so far; None: this framework has no events."""
        return None

    def seconds(self, first, second):
        """Between two events, both over."""
        raise NotImplementedError

    def sweep(self):
        """Overwrites the device's cache, behind all work so far."""
        raise NotImplementedError

    def peak_bytes(self):
        """Of memory that the framework had in use at a time; None: it does not say."""
        return None


class Clock:
    """Measures the calls of a batch: together, or with the cache swept before each, one by one."""

    def __init__(self, device, sweeps):
        self.device, self.sweeps, self.events = device, sweeps, []

    def record(self):
        self.events.append(self.device.record())

    def begin(self):
        self.events = []
        if not self.sweeps:
            self.record()

    def before_call(self):
        if self.sweeps:
            self.record()
            self.device.sweep()
            self.record()

    def after_call(self):
        if self.sweeps:
            self.record()

    def end(self, result):
        """Seconds of the calls and of the sweeps; None where there are no events."""
        if not self.sweeps:
            self.record()
        self.device.wait(result)
        events, seconds = self.events, self.device.seconds
        if not events or events[0] is None:
            return None
        if not self.sweeps:
            return seconds(events[0], events[1]), 0.0
        thirds = range(0, len(events) - 2, 3)
        calls = sum(seconds(events[i + 1], events[i + 2]) for i in thirds)
        return calls, sum(seconds(events[i], events[i + 1]) for i in thirds)


class OnDevice:
    """Beside PeerWorkload: its function asks for work and returns before that is done."""

    device: Device
    clock: Clock

    def prepare_for(self, settings):
        sweeps = bool(settings.get("flush_l2"))
        if sweeps and self.device.record() is None:
            message = "this framework has no events, so that sweeps cannot be told from calls"
            raise ProviderFailure("skipped", "provider_not_applicable", message)
        self.clock = Clock(self.device, sweeps)

    def begin_batch(self):
        self.clock.begin()

    def call(self, slot):
        self.clock.before_call()
        super().call(slot)
        self.clock.after_call()

    def end_batch(self):
        return self.clock.end(self.result)

    def metrics(self):
        return {"peak_device_memory": self.device.peak_bytes()}


def device_failure(error):
    """Status and code of an exception, by what the frameworks call theirs."""
    name, text = type(error).__name__, str(error)
    # JAX has one class for all, and says the status of XLA first.
    if name == "OutOfMemoryError" or text.startswith("RESOURCE_EXHAUSTED:"):
        return "out_of_memory", "device_memory"
    # A library of torch's that finds the device gone says so in a plain RuntimeError.
    lost = name in ("AcceleratorError", "CUDARuntimeError", "CUDADriverError") or text.startswith("CUDA error:")
    if lost:
        return "failed", "device_lost"
    return "failed", "error"
