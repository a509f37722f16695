# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""CuPy: NumPy's expressions on a GPU, over blocks of rows."""

import cupy

from assay_worker.device import Device, OnDevice
from assay_worker.edges import ZERO_OF_REDUCE, blocks_of_vertices, with_absent_vertex
from assay_worker.mp2 import energy_by_rows
from assay_worker.peer import Peer, PeerWorkload
from assay_worker.semiring import blocks_of_rows

BLOCK_BYTES = 1 << 30  # of the terms that are in memory at a time


def log_sum(terms):
    largest = terms.max(1)
    # Where all terms are -inf, so is their sum.
    shift = cupy.where(cupy.isinf(largest), 0, largest)
    return cupy.log(cupy.exp(terms - shift[:, None]).sum(1)) + shift


REDUCTIONS = {
    "log": lambda a, b: log_sum(a + b),
    "max_plus": lambda a, b: (a + b).max(1),
    "min_plus": lambda a, b: (a + b).min(1),
    "euclidean": lambda a, b: cupy.sqrt(cupy.square(a - b).sum(1)),
}


class CupyDevice(Device):
    def __init__(self):
        self.swept = None

    def wait(self, result):
        cupy.cuda.get_current_stream().synchronize()

    def record(self):
        event = cupy.cuda.Event()
        event.record()
        return event

    def seconds(self, first, second):
        return 1e-3 * cupy.cuda.get_elapsed_time(first, second)

    def sweep(self):
        if self.swept is None:
            size = 2 * cupy.cuda.Device().attributes["L2CacheSize"]
            self.swept = cupy.empty(size, dtype=cupy.uint8)
        self.swept.fill(1)

    def peak_bytes(self):
        return float(cupy.get_default_memory_pool().total_bytes())


class CupyWorkload(OnDevice, PeerWorkload):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.device = CupyDevice()


class Cupy(Peer):
    def take(self, array):
        return cupy.asarray(array)

    def to_numpy(self, result):
        return cupy.asnumpy(result)

    def workload(self, function, inputs, output):
        return CupyWorkload(self, function, inputs, output)

    def versions(self):
        runtime = cupy.cuda.runtime.runtimeGetVersion()
        return {
            **super().versions(),
            "cupy": cupy.__version__,
            "cupy_cuda": f"{runtime // 1000}.{runtime % 1000 // 10}",
        }

    def matmul(self, point):
        algebra = point.get("algebra", "real")
        if algebra == "real":
            return cupy.matmul
        if algebra == "boolean":  # 0 and 1 in f32 count the pairs, exactly, as k < 2^24
            return lambda a, b: a.astype(cupy.float32) @ b.astype(cupy.float32) > 0.5
        reduce = REDUCTIONS[algebra]

        def product(a, b):
            c = cupy.empty((a.shape[0], b.shape[1]), a.dtype)
            for rows in blocks_of_rows(a, b, BLOCK_BYTES):
                c[rows] = reduce(a[rows, :, None], b)
            return c

        return product

    def contraction(self, expression):
        return lambda *operands: cupy.einsum(expression, *operands, optimize=True)

    def mp2(self, point):
        return energy_by_rows(point, cupy, self.take)

    def take_edges(self, point, v, idx, x, w):
        return tuple(map(self.take, with_absent_vertex(point, v, idx, x, w)))

    def edges(self, point):
        n, reduce = point["n"], point["reduce"]

        def aggregate(v, idx, x, w):
            y = x @ w.T
            y[n:] = ZERO_OF_REDUCE[reduce]
            out = cupy.empty((n, y.shape[1]), y.dtype)
            for rows in blocks_of_vertices(idx, y, BLOCK_BYTES):
                terms = y[idx[rows]] * v[rows, :, None]
                out[rows] = terms.sum(1) if reduce == "sum" else terms.max(1)
            return out

        return aggregate
