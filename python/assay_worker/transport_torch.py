# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The dense block elimination in PyTorch on a GPU: all cases of a batch at once, f64."""

import numpy as np
import torch


class Torch:
    """Batched LU, solve and product for each k; answers leave the device when all batches are asked for."""

    def __init__(self, problem, batch):
        self.problem, self.batch = problem, batch

        def put(array):
            return torch.from_numpy(np.ascontiguousarray(array)).cuda()

        self.v, self.g, self.e = put(problem.v), torch.diag(put(problem.g)), put(problem.e)
        self.identity = torch.eye(len(problem.g), dtype=torch.float64, device="cuda")
        self.sources = [put(s) for s in problem.sources]

    def lower(self, k):
        return k / (2 * k - 1) * (self.v + (k - 1) * self.g)

    def upper(self, k):
        return (k + 1) / (2 * k + 3) * (self.v - (k + 2) * self.g)

    def solve(self, cases):
        out = []
        for start in range(0, len(cases), self.batch):
            out.append(self._batch(np.array(cases[start : start + self.batch])))
        return np.concatenate(out)

    def _batch(self, cases):
        p, solve = self.problem, torch.linalg.lu_solve
        nu = torch.from_numpy(cases[:, 0]).cuda()[:, None, None]
        electric = torch.from_numpy(cases[:, 1] / p.psi_prime).cuda()[:, None, None] * self.e

        def block(k):
            return electric + 0.5 * nu * k * (k + 1) * self.identity

        delta, kept = block(p.n_xi), {}
        for k in range(p.n_xi, 0, -1):
            lu = torch.linalg.lu_factor(delta)
            if k <= 2:
                kept[k] = lu
            x = solve(*lu, self.lower(k).expand_as(delta))
            delta = block(k - 1) - self.upper(k - 1) @ x
        delta[:, 0, :] = self.identity[0]
        kept[0] = torch.linalg.lu_factor(delta)
        s0, s2, s3 = self.sources
        zero = torch.zeros_like(s0)

        def both(first, second):  # as two columns of every case
            return torch.stack([first, second], 1).expand(len(cases), -1, -1)

        sigma2 = both(s2, zero)
        sigma1 = both(zero, s3) - self.upper(1) @ solve(*kept[2], sigma2)
        sigma0 = both(s0, zero) - self.upper(0) @ solve(*kept[1], sigma1)
        sigma0[:, 0, :] = 0.0
        f0 = solve(*kept[0], sigma0)
        f1 = solve(*kept[1], sigma1 - self.lower(1) @ f0)
        f2 = solve(*kept[2], sigma2 - self.lower(2) @ f1)
        f = [x.cpu().numpy() for x in (f0, f1, f2)]
        return np.array(
            [p.coefficients([x[i, :, 0] for x in f], [x[i, :, 1] for x in f]) for i in range(len(cases))]
        )

    def versions(self):
        return {"torch": torch.__version__, "torch_cuda": torch.version.cuda}
