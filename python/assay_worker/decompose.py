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


def _uniform(point, stream, input_set, shape):
    width = math.sqrt(3.0)
    raw = philox.raw(philox.input_stream(point["seed"], stream, input_set), math.prod(shape))
    return philox.uniform(raw.reshape(shape), -width, width).astype(DTYPES[point["dtype"]])


def _factors(point, prefix, input_set):
    shape = (point["n"], point["rank"])
    return [_uniform(point, f"{prefix}{m}", input_set, shape) for m in range(point["order"])]


def cp_tensor(point, input_set):
    modes = "abcde"[: point["order"]]
    text = ",".join(m + "r" for m in modes) + "->" + modes
    return np.einsum(text, *_factors(point, "u", input_set), optimize=True)


def start_factors(point, input_set):
    distance = DTYPES[point["dtype"]](START_DISTANCE)
    pairs = zip(_factors(point, "u", input_set), _factors(point, "s", input_set))
    return [u + distance * s for u, s in pairs]


def tucker_tensor(point, input_set):
    modes, ranks = "abcde"[: point["order"]], "rstuv"[: point["order"]]
    core = _uniform(point, "core", input_set, (point["rank"],) * point["order"])
    text = ranks + "," + ",".join(m + r for m, r in zip(modes, ranks)) + "->" + modes
    return np.einsum(text, core, *_factors(point, "u", input_set), optimize=True)


class TensorlyWorkload(Workload):
    def __init__(self, point, backend, cores, make, with_start):
        tl.set_backend("pytorch" if backend == "torch" else "numpy")
        if backend == "torch":
            import torch

            torch.set_num_threads(cores)
        self.point, self.make, self.with_start = point, make, with_start
        self.slots, self.result = [None, None], None

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

        x, start = self.slots[slot]
        weights = tl.ones(self.point["rank"], **tl.context(x))
        init = CPTensor((weights, [tl.copy(f) for f in start]))
        self.result = parafac(x, self.point["rank"], n_iter_max=self.point["sweeps"], init=init, tol=0)

    def outputs(self):
        return {"x0": np.ascontiguousarray(tl.to_numpy(tl.cp_to_tensor(self.result))[0])}


class Tucker(TensorlyWorkload):
    def call(self, slot):
        from tensorly.decomposition import tucker

        x, _ = self.slots[slot]
        rank = [self.point["rank"]] * self.point["order"]
        self.result = tucker(x, rank=rank, n_iter_max=self.point["sweeps"], tol=0)

    def outputs(self):
        return {"x0": np.ascontiguousarray(tl.to_numpy(tl.tucker_to_tensor(self.result))[0])}


def make(case, provider, point, cores):
    if provider not in ("tensorly", "tensorly-torch"):
        raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
    backend = "torch" if provider == "tensorly-torch" else "numpy"
    if case == "decompose_cp":
        return Cp(point, backend, cores, cp_tensor, True)
    return Tucker(point, backend, cores, tucker_tensor, False)
