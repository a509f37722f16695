# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Providers of decompose_cp and decompose_tucker: tensorly over NumPy or torch, and torch by itself on a GPU."""

import math

import numpy as np

from assay_worker import philox
from assay_worker.einsum import DTYPES
from assay_worker.workload import ProviderFailure, Workload

START_DISTANCE = 0.1
NOISE = 0.01  # of the elements' size


def _uniform(point, stream, input_set, shape):
    width = math.sqrt(3.0)
    raw = philox.raw(philox.input_stream(point["seed"], stream, input_set), math.prod(shape))
    return philox.uniform(raw.reshape(shape), -width, width).astype(DTYPES[point["dtype"]])


def _factors(point, prefix, input_set):
    shape = (point["n"], point["rank"])
    return [_uniform(point, f"{prefix}{m}", input_set, shape) for m in range(point["order"])]


def _wide(point):
    return {**point, "dtype": "f64"}


def _noisy(point, input_set, exact, size):
    noise = _uniform(_wide(point), "noise", input_set, (point["n"],) * point["order"])
    return (exact + NOISE * size * noise).astype(DTYPES[point["dtype"]])


def cp_tensor(point, input_set):
    modes = "abcde"[: point["order"]]
    text = ",".join(m + "r" for m in modes) + "->" + modes
    factors = [u.astype(np.float64) for u in _factors(point, "u", input_set)]
    return _noisy(point, input_set, np.einsum(text, *factors, optimize=True), math.sqrt(point["rank"]))


def start_factors(point, input_set):
    distance = DTYPES[point["dtype"]](START_DISTANCE)
    pairs = zip(_factors(point, "u", input_set), _factors(point, "s", input_set))
    return [u + distance * s for u, s in pairs]


def tucker_tensor(point, input_set):
    modes, ranks = "abcde"[: point["order"]], "rstuv"[: point["order"]]
    core = _uniform(point, "core", input_set, (point["rank"],) * point["order"])
    text = ranks + "," + ",".join(m + r for m, r in zip(modes, ranks)) + "->" + modes
    parts = [a.astype(np.float64) for a in (core, *_factors(point, "u", input_set))]
    size = float(point["rank"]) ** (0.5 * point["order"])
    return _noisy(point, input_set, np.einsum(text, *parts, optimize=True), size)


class Decomposition(Workload):
    """A tensor, a start, and what came out: factors, and weights or a core."""

    def __init__(self, point, make, with_start):
        self.point, self.make, self.with_start = point, make, with_start
        self.slots, self.result, self.last = [None, None], None, 0

    def load(self, slot, input_set):
        start = start_factors(self.point, input_set) if self.with_start else []
        self.slots[slot] = (self.take(self.make(self.point, input_set)), [self.take(f) for f in start])

    def call(self, slot):
        self.last, self.result = slot, self.decompose(*self.slots[slot])

    def poison_outputs(self):
        self.result = None

    def decompose(self, x, start):
        """Weights or core, and a list of factors."""
        raise NotImplementedError

    def take(self, array):
        """The framework's own array of these values. Untimed."""
        raise NotImplementedError


def make(case, provider, point, cores, platform="cpu"):
    with_start = case == "decompose_cp"
    inputs = (cp_tensor if with_start else tucker_tensor), with_start
    if provider in ("tensorly", "tensorly-torch"):
        from assay_worker import decompose_tensorly

        kind = decompose_tensorly.Cp if with_start else decompose_tensorly.Tucker
        return kind(point, "torch" if provider == "tensorly-torch" else "numpy", cores, *inputs)
    if provider == "torch" and platform == "cuda":
        from assay_worker import decompose_torch

        kind = decompose_torch.Cp if with_start else decompose_torch.Tucker
        return kind(point, *inputs)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
