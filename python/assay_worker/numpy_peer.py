# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy: matmul where there is one; else broadcast and reduce, a block of rows at a time."""

import numpy as np

from assay_worker.edges import ZERO_OF_REDUCE, blocks_of_vertices, with_absent_vertex
from assay_worker.peer import Peer
from assay_worker.semiring import blocks_of_rows

BLOCK_BYTES = 1 << 22  # of the terms that are in memory at a time: about one L2 cache


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


class Numpy(Peer):
    def matmul(self, point):
        algebra = point.get("algebra", "real")
        if algebra in ("real", "boolean"):  # on bool, matmul is or of and
            return np.matmul
        reduce = BLOCKWISE[algebra]

        def product(a, b):
            c = np.empty((a.shape[0], b.shape[1]), dtype=a.dtype)
            for rows in blocks_of_rows(a, b, BLOCK_BYTES):
                c[rows] = reduce(a[rows, :, None], b)
            return c

        return product

    def take_edges(self, point, v, idx, x, w):
        return with_absent_vertex(point, v, idx, x, w)

    def edges(self, point):
        """x Wᵀ once for each vertex; then gather, weigh and reduce, a block of vertices at a time."""
        n, is_sum = point["n"], point["reduce"] == "sum"

        def aggregate(v, idx, x, w):
            y = x @ w.T
            y[n:] = ZERO_OF_REDUCE[point["reduce"]]
            out = np.empty((n, y.shape[1]), dtype=y.dtype)
            for rows in blocks_of_vertices(idx, y, BLOCK_BYTES):
                if is_sum:
                    out[rows] = np.einsum("ip,ipf->if", v[rows], y[idx[rows]])
                else:
                    out[rows] = (y[idx[rows]] * v[rows, :, None]).max(axis=1)
            return out

        return aggregate
