# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""KeOps: symbolic (i, k) matrices of vectors, reduced over k by a kernel compiled for the formula.

KeOps reduces over one index of two and keeps vectors in registers. A_ik depends on both indices,
which a KeOps variable cannot, so the rows of A become batches of one i each and the columns of B the
entries of a vector: (m, 1, k, 1) and (1, 1, k, n).
"""

import os
import tempfile

import numpy as np

from assay_worker.peer import Peer


class Keops(Peer):
    def __init__(self, cores):
        super().__init__(cores)  # KeOps takes its threads from OMP_NUM_THREADS
        # An empty cache in the attempt's folder: a cold call is cold.
        folder = os.path.join(tempfile.gettempdir(), "keops")
        os.makedirs(folder, exist_ok=True)
        os.environ["KEOPS_CACHE_FOLDER"] = folder
        import pykeops
        from pykeops.numpy import LazyTensor

        pykeops.set_verbose(False)
        self.lazy, self.version = LazyTensor, pykeops.__version__

    def versions(self):
        return {**super().versions(), "pykeops": self.version}

    def matmul(self, point):
        algebra, lazy = point.get("algebra", "real"), self.lazy
        if algebra == "boolean":
            return None

        def log(a, b):
            """Its own logsumexp wants scalars: the largest term, then the sum of exponentials."""
            largest = (a + b).max(axis=2)
            shift = np.where(np.isfinite(largest), largest, 0)
            total = (a + b - lazy(shift[:, :, None, :])).exp().sum(axis=2)
            with np.errstate(divide="ignore"):
                return np.log(total) + shift

        reduce = {
            "real": lambda a, b: (a * b).sum(axis=2),
            "log": log,
            "max_plus": lambda a, b: (a + b).max(axis=2),
            "min_plus": lambda a, b: (a + b).min(axis=2),
            "euclidean": lambda a, b: np.sqrt((a - b).square().sum(axis=2)),
        }[algebra]

        def product(a, b):
            rows, columns = len(a), b.shape[1]
            return reduce(lazy(a[:, None, :, None]), lazy(b[None, None])).reshape(rows, columns)

        return product
