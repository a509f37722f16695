# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of mp2_energy: a loop over pairs of occupied orbitals."""

import numpy as np

from assay_worker import philox
from assay_worker.workload import ProviderFailure, Workload


def make_inputs(point, input_set):
    shape = (point["nocc"], point["nvir"], point["naux"])
    raw = philox.raw(philox.input_stream(point["seed"], "b", input_set), int(np.prod(shape)))
    return philox.uniform(raw.reshape(shape), -0.1, 0.1)


class Pairs(Workload):
    """i ≤ j, weight 2 off the diagonal, one matrix product and one pass for each pair."""

    def __init__(self, point):
        self.point, self.slots, self.energy = point, [None, None], None
        self.occupied = -0.5 - np.arange(point["nocc"]) / 8
        virtuals = 0.125 + np.arange(point["nvir"]) / 16
        self.sums = virtuals[:, None] + virtuals[None, :]

    def load(self, slot, input_set):
        self.slots[slot] = make_inputs(self.point, input_set)

    def call(self, slot):
        b, opposite, same = self.slots[slot], 0.0, 0.0
        for i in range(self.point["nocc"]):
            for j in range(i, self.point["nocc"]):
                t = b[i] @ b[j].T
                weighted = t / (self.occupied[i] + self.occupied[j] - self.sums)
                weight = 1.0 if i == j else 2.0
                direct = float((t * weighted).sum())
                opposite += weight * direct
                same += weight * (direct - float((weighted * t.T).sum()))
        self.energy = np.array([opposite + same, opposite, same])

    def poison_outputs(self):
        self.energy = None

    def outputs(self):
        return {"energy": self.energy}

    def versions(self):
        return {"numpy": np.__version__}


class TorchPairs(Pairs):
    def __init__(self, point, cores):
        super().__init__(point)
        import torch

        torch.set_num_threads(cores)
        self.torch = torch
        self.sums = torch.from_numpy(self.sums)

    def load(self, slot, input_set):
        self.slots[slot] = self.torch.from_numpy(make_inputs(self.point, input_set))

    def versions(self):
        return {"torch": self.torch.__version__}


def make(case, provider, point, cores):
    if provider == "numpy":
        return Pairs(point)
    if provider == "torch":
        return TorchPairs(point, cores)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
