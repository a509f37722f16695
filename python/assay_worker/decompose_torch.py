# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""torch on a GPU as a provider of decompose_cp and decompose_tucker: the sweeps as people write them."""

import numpy as np
import torch

from assay_worker.decompose import Decomposition
from assay_worker.device import OnDevice
from assay_worker.torch_cuda_peer import TorchDevice

MODES = "abcde"


class OnTorch(OnDevice, Decomposition):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.device = TorchDevice()

    def take(self, array):
        return torch.from_numpy(array).cuda()

    def outputs(self):
        """Factors, weights or core, and the true relative error, which is not part of a call."""
        x = self.slots[self.last][0].double()
        core, factors = self.result
        error = torch.linalg.norm(x - self.rebuilt(core.double(), [f.double() for f in factors]))
        parts = {f"u{m}": f.contiguous().cpu().numpy() for m, f in enumerate(factors)}
        relative = float(error / torch.linalg.norm(x))
        return {**parts, self.core_name: core.contiguous().cpu().numpy(), "error": np.array([relative])}

    def versions(self):
        return {"torch": torch.__version__, "torch_cuda": torch.version.cuda}


class Cp(OnTorch):
    core_name = "weights"

    def rebuilt(self, weights, factors):
        modes = MODES[: len(factors)]
        return torch.einsum("r," + ",".join(m + "r" for m in modes) + "->" + modes, weights, *factors)

    def decompose(self, x, start):
        order = self.point["order"]
        modes, factors = MODES[:order], list(start)
        grams = [f.T @ f for f in factors]
        for _ in range(self.point["sweeps"]):
            for mode in range(order):
                others = [m for m in range(order) if m != mode]
                text = ",".join([modes, *(modes[m] + "r" for m in others)]) + "->" + modes[mode] + "r"
                products = torch.einsum(text, x, *(factors[m] for m in others))
                gamma = torch.stack([grams[m] for m in others]).prod(0)
                factors[mode] = torch.linalg.solve(gamma, products.T).T
                grams[mode] = factors[mode].T @ factors[mode]
        return torch.ones(self.point["rank"], dtype=x.dtype, device=x.device), factors


class Tucker(OnTorch):
    core_name = "core"

    def rebuilt(self, core, factors):
        for mode, u in enumerate(factors):
            core = torch.movedim(torch.tensordot(u, core, ([1], [mode])), 0, mode)
        return core

    def leading(self, x, mode):
        unfolded = torch.movedim(x, mode, 0).reshape(x.shape[mode], -1)
        return torch.linalg.eigh(unfolded @ unfolded.T)[1][:, -self.point["rank"] :].flip(1)

    def projected(self, x, mode, u):
        return torch.movedim(torch.tensordot(u, x, ([0], [mode])), 0, mode)

    def decompose(self, x, start):
        order, core, factors = self.point["order"], x, []
        for mode in range(order):
            factors.append(self.leading(core, mode))
            core = self.projected(core, mode, factors[mode])
        for _ in range(self.point["sweeps"]):
            for mode in range(order):
                rest = x
                for other in range(order):
                    if other != mode:
                        rest = self.projected(rest, other, factors[other])
                factors[mode] = self.leading(rest, mode)
            core = self.projected(rest, order - 1, factors[order - 1])
        return core, factors
