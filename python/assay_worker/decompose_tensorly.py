# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""tensorly as a provider of decompose_cp and decompose_tucker, over NumPy or torch."""

import numpy as np
import tensorly as tl

from assay_worker.decompose import Decomposition


class TensorlyWorkload(Decomposition):
    def __init__(self, point, backend, cores, make, with_start):
        tl.set_backend("pytorch" if backend == "torch" else "numpy")
        if backend == "torch":
            import torch

            torch.set_num_threads(cores)
        super().__init__(point, make, with_start)

    def take(self, array):
        return tl.tensor(array)

    def factors(self, rebuilt):
        """The factors and the true relative error, which tensorly computes with tol only."""
        x = tl.to_numpy(self.slots[self.last][0]).astype(np.float64)
        error = np.linalg.norm(x - tl.to_numpy(rebuilt)) / np.linalg.norm(x)
        parts = {f"u{m}": np.ascontiguousarray(tl.to_numpy(f)) for m, f in enumerate(self.result[1])}
        return {**parts, "error": np.array([error])}

    def versions(self):
        return {"tensorly": tl.__version__}


class Cp(TensorlyWorkload):
    def decompose(self, x, start):
        from tensorly.cp_tensor import CPTensor
        from tensorly.decomposition import parafac

        weights = tl.ones(self.point["rank"], **tl.context(x))
        init = CPTensor((weights, [tl.copy(f) for f in start]))
        return parafac(x, self.point["rank"], n_iter_max=self.point["sweeps"], init=init, tol=0)

    def outputs(self):
        return {**self.factors(tl.cp_to_tensor(self.result)), "weights": tl.to_numpy(self.result[0])}


class Tucker(TensorlyWorkload):
    def decompose(self, x, start):
        from tensorly.decomposition import tucker

        rank = [self.point["rank"]] * self.point["order"]
        return tucker(x, rank=rank, n_iter_max=self.point["sweeps"], tol=0)

    def outputs(self):
        core = np.ascontiguousarray(tl.to_numpy(self.result[0]))
        return {**self.factors(tl.tucker_to_tensor(self.result)), "core": core}
