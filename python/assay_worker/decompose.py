# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""tensorly as a provider of decompose_cp and decompose_tucker, over NumPy or torch."""

import math

import numpy as np
import tensorly as tl

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


class TensorlyWorkload(Workload):
    def __init__(self, point, backend, cores, make, with_start):
        tl.set_backend("pytorch" if backend == "torch" else "numpy")
        if backend == "torch":
            import torch

            torch.set_num_threads(cores)
        self.point, self.make, self.with_start = point, make, with_start
        self.slots, self.result, self.last = [None, None], None, 0

    def factors(self, rebuilt):
        """The factors and the true relative error, which tensorly computes with tol only."""
        x = tl.to_numpy(self.slots[self.last][0]).astype(np.float64)
        error = np.linalg.norm(x - tl.to_numpy(rebuilt)) / np.linalg.norm(x)
        parts = {f"u{m}": np.ascontiguousarray(tl.to_numpy(f)) for m, f in enumerate(self.result[1])}
        return {**parts, "error": np.array([error])}

    def load(self, slot, input_set):
        start = start_factors(self.point, input_set) if self.with_start else []
        x = tl.tensor(self.make(self.point, input_set))
        self.slots[slot] = (x, [tl.tensor(f) for f in start])

    def poison_outputs(self):
        self.result = None

    def versions(self):
        return {"tensorly": tl.__version__}


class Cp(TensorlyWorkload):
    def call(self, slot):
        from tensorly.cp_tensor import CPTensor
        from tensorly.decomposition import parafac

        self.last, (x, start) = slot, self.slots[slot]
        weights = tl.ones(self.point["rank"], **tl.context(x))
        init = CPTensor((weights, [tl.copy(f) for f in start]))
        self.result = parafac(x, self.point["rank"], n_iter_max=self.point["sweeps"], init=init, tol=0)

    def outputs(self):
        return {**self.factors(tl.cp_to_tensor(self.result)), "weights": tl.to_numpy(self.result[0])}


class Tucker(TensorlyWorkload):
    def call(self, slot):
        from tensorly.decomposition import tucker

        self.last, (x, _) = slot, self.slots[slot]
        rank = [self.point["rank"]] * self.point["order"]
        self.result = tucker(x, rank=rank, n_iter_max=self.point["sweeps"], tol=0)

    def outputs(self):
        core = np.ascontiguousarray(tl.to_numpy(self.result[0]))
        return {**self.factors(tl.tucker_to_tensor(self.result)), "core": core}


def make(case, provider, point, cores):
    if provider not in ("tensorly", "tensorly-torch"):
        raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
    backend = "torch" if provider == "tensorly-torch" else "numpy"
    if case == "decompose_cp":
        return Cp(point, backend, cores, cp_tensor, True)
    return Tucker(point, backend, cores, tucker_tensor, False)
