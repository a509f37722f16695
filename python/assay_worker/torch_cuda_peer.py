# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch on a GPU: eager, compiled, and log through a product of exponentials, also in a CUDA graph."""

import os
import tempfile

import torch

from assay_worker.device import Device, OnDevice
from assay_worker.mp2 import energy_by_rows
from assay_worker.peer import PeerWorkload
from assay_worker.torch_peer import Torch, TorchCompile


class TorchDevice(Device):
    def __init__(self):
        self.swept = None

    def wait(self, result):
        torch.cuda.synchronize()

    def record(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, first, second):
        return 1e-3 * first.elapsed_time(second)

    def sweep(self):
        if self.swept is None:
            size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
            self.swept = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.swept.fill_(1)

    def peak_bytes(self):
        return float(torch.cuda.max_memory_allocated())


class TorchWorkload(OnDevice, PeerWorkload):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.device = TorchDevice()


class OnCuda:
    """What differs from the CPU: where arrays are, and how many terms fit at a time."""

    block_bytes = 1 << 30

    def __init__(self, cores):
        # What is compiled is kept for this attempt alone.
        os.environ["TRITON_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "triton")
        super().__init__(cores)

    def take(self, array):
        return torch.from_numpy(array).cuda()

    def in_halves(self, point, product):
        """How factors in f16 or bf16 are taken, and the product of such: real has one, the others widen."""
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[point["inputs"]]
        take = lambda array: self.take(array).to(dtype)  # noqa: E731
        if point.get("algebra", "real") == "real":
            return take, lambda a, b: torch.mm(a, b, out_dtype=torch.float32)
        return take, lambda a, b: product(a.float(), b.float())

    def to_numpy(self, result):
        return result.cpu().numpy()

    def workload(self, function, inputs, output):
        return TorchWorkload(self, function, inputs, output)

    def versions(self):
        return {**super().versions(), "torch_cuda": torch.version.cuda}


class TorchCuda(OnCuda, Torch):
    def contraction(self, expression):
        return lambda *operands: torch.einsum(expression, *operands)

    def mp2(self, point):
        return energy_by_rows(point, torch, self.take)


class TorchCompileCuda(OnCuda, TorchCompile):
    pass


class TorchExp(OnCuda, TorchCompile):
    """log(e^(a - max) e^(b - max)) + both maxima, compiled: one real product, and no certificate."""

    def matmul(self, point):
        if point.get("algebra") != "log":
            return None

        def product(a, b):
            x, y = a.amax(1, keepdim=True), b.amax(0, keepdim=True)
            return x + y + torch.log(torch.exp(a - x) @ torch.exp(b - y))

        return self._compiled(product)

    def edges(self, point):
        return None


class TorchExpGraph(TorchExp):
    """The same, recorded once for each pair of factors and replayed: what a call costs the processor is one launch."""

    def matmul(self, point):
        product = super().matmul(point)
        if product is None:
            return None
        recorded = {}  # keeps the factors too, so that no others come to their addresses

        def replay(a, b):
            at = a.data_ptr(), b.data_ptr()
            if at not in recorded:
                product(a, b)  # compiled before it is recorded
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    c = product(a, b)
                recorded[at] = graph, c, a, b
            graph, c = recorded[at][:2]
            graph.replay()
            return c

        return replay
