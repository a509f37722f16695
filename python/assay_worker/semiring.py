# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of semiring_matmul and dense_matmul."""

import math

import numpy as np

from assay_worker import philox
from assay_worker.peer import start_peer, unknown

DTYPES = {"f32": np.float32, "f64": np.float64, "bool": np.bool_}
HOLE_SHARE = 0.05
SPREAD_HALF_WIDTH = 50.0
DUPLICATE_DISTANCE = 1e-3
TRUE_SHARE = 1.0 / 16
# What ⊕ over no terms at all is.
ZERO_OF_ALGEBRA = {
    "real": 0, "log": -math.inf, "max_plus": -math.inf, "min_plus": math.inf, "euclidean": 0,
    "boolean": False,
}  # fmt: skip


def shape_of(point):
    """(m, k, n) of a point; m and k are n where they are not given."""
    n = point["n"]
    return point.get("m", n), point.get("k", n), n


def rounded(array, dtype):
    """Numbers of f32 as f16 or bf16 has them, still in f32."""
    if dtype == "f16":
        return array.astype(np.float16).astype(np.float32)
    bits = array.view(np.uint32)
    nearest = bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)
    return np.where(np.isfinite(array), nearest & np.uint32(0xFFFF0000), bits).view(np.float32)


def make_inputs(point, input_set):
    """The inputs of src/cases/semiring/matmul_inputs.cc, bit for bit."""
    factors = unrounded_inputs(point, input_set)
    if "inputs" in point:
        return tuple(rounded(x, point["inputs"]) for x in factors)
    return factors


def unrounded_inputs(point, input_set):
    algebra, dtype = point.get("algebra", "real"), DTYPES[point["dtype"]]
    m, k, n = shape_of(point)

    def stream(name):
        return philox.input_stream(point["seed"], name, input_set)

    def raw(name, rows, columns):
        return philox.raw(stream(name), rows * columns).reshape(rows, columns)

    if algebra == "boolean":
        return tuple(
            philox.unit_interval(raw(name, *shape)) < TRUE_SHARE
            for name, shape in (("a", (m, k)), ("b", (k, n)))
        )
    spread = point.get("regime", "unit") == "spread"
    width = SPREAD_HALF_WIDTH if spread and algebra == "log" else math.sqrt(3.0)
    a = philox.uniform_array(stream("a"), (m, k), dtype, -width, width)
    b = philox.uniform_array(stream("b"), (k, n), dtype, -width, width)
    if spread and algebra == "euclidean":
        moved = philox.uniform(raw("b", k, n), -DUPLICATE_DISTANCE, DUPLICATE_DISTANCE)
        b = (a[np.arange(n) % m].T.astype(np.float64) + moved).astype(dtype)
    elif spread:
        hole = dtype(np.inf if algebra == "min_plus" else -np.inf)
        a[philox.unit_interval(raw("a_hole", m, k)) < HOLE_SHARE] = hole
        b[philox.unit_interval(raw("b_hole", k, n)) < HOLE_SHARE] = hole
    return a, b


def blocks_of_rows(a, b, block_bytes):
    """Slices of the rows of a whose terms with all of b take about `block_bytes`, one row at least."""
    rows = max(1, block_bytes // max(1, b.nbytes))
    return (slice(i, i + rows) for i in range(0, a.shape[0], rows))


def make(case, provider, point, cores, platform="cpu"):
    peer = start_peer(case, provider, cores, platform)
    m, k, n = shape_of(point)
    if k == 0:  # nothing to compute, and most frameworks refuse to take the maximum of nothing
        zero = ZERO_OF_ALGEBRA[point.get("algebra", "real")]
        product = lambda a, b: np.full((m, n), zero, dtype=DTYPES[point["dtype"]])  # noqa: E731
    else:
        product = peer.matmul(point)
    if product is None:
        raise unknown(case, provider)
    take = peer.take
    if platform == "cuda" and "inputs" in point:
        take, product = peer.in_halves(point, product)
    inputs = lambda input_set: tuple(map(take, make_inputs(point, input_set)))  # noqa: E731
    return peer.workload(product, inputs, "c")
