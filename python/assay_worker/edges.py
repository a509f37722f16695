# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of ell_edge_aggregate."""

import math

import numpy as np

from assay_worker import philox
from assay_worker.semiring import DTYPES
from assay_worker.workload import ProviderFailure, Workload

BLOCK_BYTES = 1 << 22  # of gathered features at a time: about one L2 cache


def make_inputs(point, input_set):
    """The inputs of src/cases/semiring/edge_inputs.cc, bit for bit: v, idx, x, w."""
    n, k, d, dtype = point["n"], point["k"], point["d"], DTYPES[point["dtype"]]

    def raw(name, *shape):
        stream = philox.input_stream(point["seed"], name, input_set)
        return philox.raw(stream, math.prod(shape)).reshape(shape)

    width = math.sqrt(3.0)
    v = philox.uniform(raw("v", n, k), 0.0, 1.0).astype(dtype)
    x = philox.uniform(raw("x", n, d), -width, width).astype(dtype)
    w = philox.uniform(raw("w", d, d), -width, width).astype(dtype)
    idx = philox.uniform_below(raw("idx", n, k), n).astype(np.int32)
    if point["degrees"] == "power_law":
        u = philox.unit_interval(raw("degree", n))
        degree = np.minimum(k, np.floor(2.0 / np.sqrt(1.0 - u)))
        idx[np.arange(k) >= degree[:, None]] = -1
    return v, idx, x, w


class NumpyEdges(Workload):
    """x Wᵀ once for each vertex; then gather, weigh and reduce, a block of vertices at a time."""

    def __init__(self, point):
        self.point, self.slots, self.out = point, [None, None], None

    def load(self, slot, input_set):
        self.slots[slot] = make_inputs(self.point, input_set)

    def call(self, slot):
        v, idx, x, w = self.slots[slot]
        y = x @ w.T
        n, k = idx.shape
        padded = self.point["degrees"] == "power_law"
        rows = max(1, BLOCK_BYTES // (k * y.shape[1] * y.itemsize))
        self.out = np.empty_like(y)
        for i in range(0, n, rows):
            block, weights = idx[i : i + rows], v[i : i + rows]
            if self.point["reduce"] == "sum":
                if padded:
                    weights = np.where(block >= 0, weights, 0)
                self.out[i : i + rows] = np.einsum("ip,ipf->if", weights, y[block])
            else:
                terms = y[block] * weights[:, :, None]
                if padded:
                    terms[block < 0] = -np.inf
                self.out[i : i + rows] = terms.max(axis=1)

    def poison_outputs(self):
        self.out = None

    def outputs(self):
        return {"out": self.out}

    def versions(self):
        return {"numpy": np.__version__}


def make(case, provider, point, cores):
    if provider == "numpy":
        return NumpyEdges(point)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
