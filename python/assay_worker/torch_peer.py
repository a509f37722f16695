# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch, eager and compiled."""

import os
import tempfile

import torch

from assay_worker.edges import (
    ZERO_OF_REDUCE,
    blocks_of_vertices,
    slot_by_slot,
    unrolled,
    with_absent_vertex,
)
from assay_worker.peer import Peer
from assay_worker.semiring import blocks_of_rows

# ⊕ over axis 1 of the terms a ⊗ b: (rows, k, 1) and (k, n). All of these propagate NaN.
REDUCTIONS = {
    "log": lambda a, b: torch.logsumexp(a + b, 1),
    "max_plus": lambda a, b: (a + b).amax(1),
    "min_plus": lambda a, b: (a + b).amin(1),
    "euclidean": lambda a, b: (a - b).square().sum(1).sqrt(),
}
REDUCE_SLOTS = {"sum": lambda terms: terms.sum(1), "max": lambda terms: terms.amax(1)}
COMBINE = {"sum": torch.add, "max": torch.maximum}


def boolean_matmul(a, b):
    """There is no matmul of bool: one of 0 and 1 counts the pairs, exactly, as k < 2^24."""
    return a.float() @ b.float() > 0.5


def edge_terms_source(point, x, w):
    """W x for each vertex, and the zero of ⊕ for the absent one."""
    y = x @ w.T
    y[point["n"] :] = ZERO_OF_REDUCE[point["reduce"]]
    return y


class Torch(Peer):
    """Eager: the library's fused operation where it has one, else materialised in blocks."""

    # Of the terms that are in memory at a time. Measured at 512³, one core of 2 MiB L2: log takes
    # 150 ms in blocks of 1 MiB, 450 ms in blocks of 4 MiB and 650 ms all at once.
    block_bytes = 1 << 20

    def __init__(self, cores):
        super().__init__(cores)
        torch.set_num_threads(cores)
        torch.set_grad_enabled(False)

    def take(self, array):
        return torch.from_numpy(array)

    def versions(self):
        return {**super().versions(), "torch": torch.__version__}

    def matmul(self, point):
        algebra = point.get("algebra", "real")
        if algebra == "real":
            return torch.matmul
        if algebra == "boolean":
            return boolean_matmul
        if algebra == "euclidean":
            return self._distances(point)
        return self._reduced(REDUCTIONS[algebra])

    def _distances(self, point):
        """cdist by a matmul, as it does by default; near-duplicates need the differences themselves."""
        if point.get("regime", "unit") == "unit":
            return lambda a, b: torch.cdist(a, b.T)
        return lambda a, b: torch.cdist(a, b.T, compute_mode="donot_use_mm_for_euclid_dist")

    def _reduced(self, reduce):
        def product(a, b):
            c = a.new_empty(a.shape[0], b.shape[1])
            for rows in blocks_of_rows(a, b, self.block_bytes):
                c[rows] = reduce(a[rows, :, None], b)
            return c

        return product

    def take_edges(self, point, v, idx, x, w):
        v, idx, x, w = with_absent_vertex(point, v, idx, x, w)
        return self.take(v), self.take(idx).long(), self.take(x), self.take(w)

    def edges(self, point):
        """For sum embedding_bag, which gathers, weighs and adds in one; for max, in blocks."""
        if point["reduce"] == "sum":
            return lambda v, idx, x, w: torch.nn.functional.embedding_bag(
                idx, edge_terms_source(point, x, w), per_sample_weights=v, mode="sum"
            )

        def aggregate(v, idx, x, w):
            y = edge_terms_source(point, x, w)
            out = y.new_empty(point["n"], y.shape[1])
            for rows in blocks_of_vertices(idx, y, self.block_bytes):
                terms = y[idx[rows]]
                terms *= v[rows, :, None]
                out[rows] = terms.amax(1)
            return out

        return aggregate


class TorchCompile(Torch):
    """torch.compile of the whole expression: Inductor fuses terms and ⊕, so nothing needs blocks.

    An attempt compiles one kernel, from an empty cache in a folder of its own: a cold call is cold,
    and shapes are static, so nothing is compiled again later. Headers are therefore not precompiled
    for later kernels, and compiled in this process.
    """

    def __init__(self, cores):
        # Read when Inductor is imported.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "inductor")
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        super().__init__(cores)
        import torch._inductor.config as config

        config.cpp_cache_precompile_headers = False
        config.cpp.vec_isa_ok = True  # else each instruction set costs a trial compilation
        torch.compiler.reset()  # in a process with several workloads: each is compiled on its own

    def _compiled(self, function):
        return torch.compile(function, dynamic=False, fullgraph=True)

    def matmul(self, point):
        return self._compiled(super().matmul(point))

    def _distances(self, point):
        if point.get("regime", "unit") == "unit":
            return super()._distances(point)
        return self._reduced(REDUCTIONS["euclidean"])

    def _reduced(self, reduce):
        return lambda a, b: reduce(a[:, :, None], b)

    def edges(self, point):
        """Slot by slot, which Inductor fuses into one sweep without a gathered array.

        Measured at n = 16384, k = 16, d = 64 on one core: 5 ms, against 38 to 46 ms for a gather of
        all slots followed by a reduction.
        """
        reduce = point["reduce"]

        def aggregate(v, idx, x, w):
            y = edge_terms_source(point, x, w)
            if unrolled(point):
                return slot_by_slot(v, idx, y.__getitem__, COMBINE[reduce])
            return REDUCE_SLOTS[reduce](y[idx] * v[:, :, None])

        return self._compiled(aggregate)
