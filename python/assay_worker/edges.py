# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of ell_edge_aggregate."""

import functools
import math

import numpy as np

from assay_worker import philox
from assay_worker.peer import start_peer, unknown
from assay_worker.semiring import DTYPES

# What ⊕ over no neighbours at all is.
ZERO_OF_REDUCE = {"sum": 0.0, "max": -math.inf}


def make_inputs(point, input_set):
    """The inputs of src/cases/semiring/edge_inputs.cc, bit for bit: v, idx, x, w."""
    n, k, d, dtype = point["n"], point["k"], point["d"], DTYPES[point["dtype"]]

    def stream(name):
        return philox.input_stream(point["seed"], name, input_set)

    width = math.sqrt(3.0)
    v = philox.uniform_array(stream("v"), (n, k), dtype, 0.0, 1.0)
    x = philox.uniform_array(stream("x"), (n, d), dtype, -width, width)
    w = philox.uniform_array(stream("w"), (d, d), dtype, -width, width)
    below_n = lambda values: philox.uniform_below(values, n)  # noqa: E731
    idx = philox.array_of(stream("idx"), (n, k), np.int32, below_n)
    if point["degrees"] == "power_law":
        u = philox.unit_interval(philox.raw(stream("degree"), n))
        degree = np.minimum(k, np.floor(2.0 / np.sqrt(1.0 - u)))
        idx[np.arange(k) >= degree[:, None]] = -1
    return v, idx, x, w


def with_absent_vertex(point, v, idx, x, w):
    """Absent slots as neighbours: all of them point to one more vertex, n, and weigh 1.

    A provider sets row n of W x to the zero of its ⊕ and then needs no mask: not for the weights,
    and not against NaN among the features of whichever vertex a masked slot would have read.
    """
    if point["degrees"] == "full":
        return v, idx, x, w
    absent = idx < 0
    x = np.concatenate([x, np.zeros((1, x.shape[1]), dtype=x.dtype)])
    return (
        np.where(absent, v.dtype.type(1), v),
        np.where(absent, idx.dtype.type(len(idx)), idx),
        x,
        w,
    )


def blocks_of_vertices(idx, y, block_bytes):
    """Slices of the vertices whose gathered neighbours take about `block_bytes`, one at least."""
    rows = max(1, block_bytes // (idx.shape[1] * y[:1].nbytes))
    return (slice(i, i + rows) for i in range(0, idx.shape[0], rows))


def unrolled(point):
    """Whether a compiler is given one expression for each slot; beyond, it would compile for long."""
    return point["k"] <= 32


def slot_by_slot(v, idx, gather, combine):
    """⊕ over the slots as one long expression, which a compiler can fuse: no array of all edges."""
    terms = (gather(idx[:, p]) * v[:, p, None] for p in range(idx.shape[1]))
    return functools.reduce(combine, terms)


def make(case, provider, point, cores, platform="cpu"):
    peer = start_peer(case, provider, cores, platform)
    aggregate = peer.edges(point)
    if aggregate is None:
        raise unknown(case, provider)
    inputs = lambda input_set: peer.take_edges(point, *make_inputs(point, input_set))  # noqa: E731
    return peer.workload(aggregate, inputs, "out")
