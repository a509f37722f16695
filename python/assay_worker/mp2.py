# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of mp2_energy: a loop over pairs of occupied orbitals."""

import numpy as np

from assay_worker import philox
from assay_worker.peer import start_peer, unknown
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


def energy_by_rows(point, library, take):
    """i with all j ≥ i at once: one batched product and three passes over T; for peers on a device."""
    nocc = point["nocc"]
    virtuals = 0.125 + np.arange(point["nvir"]) / 16
    sums = take(virtuals[:, None] + virtuals[None, :])
    occupied = -0.5 - np.arange(nocc) / 8
    pairs = [take(np.ascontiguousarray(occupied[i] + occupied[i:])[:, None, None]) for i in range(nocc)]
    weights = [take(np.array([1.0] + [2.0] * (nocc - i - 1))) for i in range(nocc)]

    def energy(b):
        opposite = same = 0.0
        for i in range(nocc):
            t = library.matmul(b[i], b[i:].swapaxes(1, 2))
            weighted = t / (pairs[i] - sums)
            direct = (t * weighted).sum((1, 2))
            exchanged = (weighted * t.swapaxes(1, 2)).sum((1, 2))
            opposite = opposite + (weights[i] * direct).sum()
            same = same + (weights[i] * (direct - exchanged)).sum()
        return library.stack([opposite + same, opposite, same])

    return energy


def make_on_device(case, provider, point, cores, platform):
    peer = start_peer(case, provider, cores, platform)
    function = peer.mp2(point)
    if function is None:
        raise unknown(case, provider)
    return peer.workload(function, lambda input_set: (peer.take(make_inputs(point, input_set)),), "energy")


def make(case, provider, point, cores, platform="cpu"):
    if platform != "cpu":
        return make_on_device(case, provider, point, cores, platform)
    if provider == "numpy":
        return Pairs(point)
    if provider == "torch":
        return TorchPairs(point, cores)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
