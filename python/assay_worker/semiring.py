# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of semiring_matmul and dense_matmul."""

import math

import numpy as np

from assay_worker import philox
from assay_worker.workload import ProviderFailure, Workload

DTYPES = {"f32": np.float32, "f64": np.float64, "bool": np.bool_}
HOLE_SHARE = 0.05
SPREAD_HALF_WIDTH = 50.0
DUPLICATE_DISTANCE = 1e-3
TRUE_SHARE = 1.0 / 16
BLOCK_BYTES = 1 << 22  # of the terms that are in memory at a time: about one L2 cache


def make_inputs(point, input_set):
    """The inputs of src/cases/semiring/matmul_inputs.cc, bit for bit."""
    algebra, dtype = point.get("algebra", "real"), DTYPES[point["dtype"]]
    n = point["n"]
    m, k = point.get("m", n), point.get("k", n)

    def raw(name, rows, columns):
        stream = philox.input_stream(point["seed"], name, input_set)
        return philox.raw(stream, rows * columns).reshape(rows, columns)

    if algebra == "boolean":
        return tuple(
            philox.unit_interval(raw(name, *shape)) < TRUE_SHARE
            for name, shape in (("a", (m, k)), ("b", (k, n)))
        )
    spread = point.get("regime", "unit") == "spread"
    width = SPREAD_HALF_WIDTH if spread and algebra == "log" else math.sqrt(3.0)
    a = philox.uniform(raw("a", m, k), -width, width).astype(dtype)
    raw_b = raw("b", k, n)
    b = philox.uniform(raw_b, -width, width).astype(dtype)
    if spread and algebra == "euclidean":
        moved = philox.uniform(raw_b, -DUPLICATE_DISTANCE, DUPLICATE_DISTANCE)
        b = (a[np.arange(n) % m].T.astype(np.float64) + moved).astype(dtype)
    elif spread:
        hole = dtype(np.inf if algebra == "min_plus" else -np.inf)
        a[philox.unit_interval(raw("a_hole", m, k)) < HOLE_SHARE] = hole
        b[philox.unit_interval(raw("b_hole", k, n)) < HOLE_SHARE] = hole
    return a, b


def _logsumexp(terms):
    largest = terms.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(terms - shift).sum(axis=1)) + shift[:, 0]


# ⊕ over axis 1 of the terms a ⊗ b of some rows of a: (rows, k, 1) and (k, n).
BLOCKWISE = {
    "log": lambda a, b: _logsumexp(a + b),
    "max_plus": lambda a, b: (a + b).max(axis=1),
    "min_plus": lambda a, b: (a + b).min(axis=1),
    "euclidean": lambda a, b: np.sqrt(np.square(a - b).sum(axis=1)),
}


class NumpyMatmul(Workload):
    """matmul where there is one; else broadcast and reduce, a block of rows at a time."""

    def __init__(self, point):
        self.point, self.slots, self.c = point, [None, None], None
        self.algebra = point.get("algebra", "real")

    def load(self, slot, input_set):
        self.slots[slot] = make_inputs(self.point, input_set)

    def call(self, slot):
        a, b = self.slots[slot]
        if self.algebra in ("real", "boolean"):  # on bool, matmul is or of and
            self.c = np.matmul(a, b)
            return
        reduce = BLOCKWISE[self.algebra]
        rows = max(1, BLOCK_BYTES // max(1, b.nbytes))
        self.c = np.empty((a.shape[0], b.shape[1]), dtype=a.dtype)
        for i in range(0, a.shape[0], rows):
            self.c[i : i + rows] = reduce(a[i : i + rows, :, None], b)

    def poison_outputs(self):
        self.c = None

    def outputs(self):
        return {"c": self.c}

    def versions(self):
        return {"numpy": np.__version__}


def make(case, provider, point, cores):
    if provider == "numpy":
        return NumpyMatmul(point)
    raise ProviderFailure("failed", "unknown_provider", f"no Python provider {provider!r} of {case}")
