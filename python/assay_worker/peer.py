# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""How the functions of a framework become a workload: where all Python providers meet.

A framework is one class: what it does with an array, and one function for each thing it can compute.
Everything else (inputs, slots, poison, outputs) is the same for all and stands here, so that no two
providers differ in what is timed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from assay_worker.workload import ProviderFailure, Workload

# Provider → its framework. Imported when asked for: none needs another one's environment.
PEERS = {
    "numpy": ("assay_worker.numpy_peer", "Numpy"),
    "torch": ("assay_worker.torch_peer", "Torch"),
    "torch-compile": ("assay_worker.torch_peer", "TorchCompile"),
    "jax": ("assay_worker.jax_peer", "Jax"),
    "pyg": ("assay_worker.pyg_peer", "PyG"),
    "pyg-edge-index": ("assay_worker.pyg_peer", "PyGEdgeIndex"),
    "keops": ("assay_worker.keops_peer", "Keops"),
}
# The same on platform cuda.
CUDA_PEERS = {
    "torch": ("assay_worker.torch_cuda_peer", "TorchCuda"),
    "torch-compile": ("assay_worker.torch_cuda_peer", "TorchCompileCuda"),
    "torch-exp": ("assay_worker.torch_cuda_peer", "TorchExp"),
    "torch-exp-graph": ("assay_worker.torch_cuda_peer", "TorchExpGraph"),
    "triton": ("assay_worker.triton_peer", "Triton"),
    "jax": ("assay_worker.jax_cuda_peer", "JaxCuda"),
    "cupy": ("assay_worker.cupy_peer", "Cupy"),
    "pyg": ("assay_worker.pyg_cuda_peer", "PyGCuda"),
    "pyg-edge-index": ("assay_worker.pyg_cuda_peer", "PyGEdgeIndexCuda"),
}


class Peer:
    """A framework. Made once in a process, with its threads fixed before anything is computed.

    Functions return when their work is done, and their results can be read by numpy.asarray.
    """

    def __init__(self, cores: int):
        self.cores = cores

    def take(self, array: np.ndarray) -> Any:
        """The framework's own array of these values. Untimed."""
        return array

    def matmul(self, point: dict) -> Callable[[Any, Any], Any] | None:
        """C = A ⊗ B of a point of semiring_matmul (k > 0); None: not to be said in this framework."""
        return None

    def edges(self, point: dict) -> Callable[..., Any] | None:
        """The function of a point of ell_edge_aggregate, over what take_edges() returned."""
        return None

    def contraction(self, expression: str) -> Callable[..., Any] | None:
        """The contraction of operands on a device, by the notation of einsum."""
        return None

    def mp2(self, point: dict) -> Callable[[Any], Any] | None:
        """B → energies of a point of mp2_energy on a device."""
        return None

    def take_edges(self, point: dict, v, idx, x, w) -> tuple:
        """The inputs of ell_edge_aggregate in the form this framework keeps graphs in. Untimed."""
        return tuple(map(self.take, (v, idx, x, w)))

    def to_numpy(self, result: Any) -> np.ndarray:
        return np.asarray(result)

    def versions(self) -> dict[str, str]:
        return {"numpy": np.__version__}

    def workload(self, function: Callable, inputs: Callable[[int], tuple], output: str) -> Workload:
        return PeerWorkload(self, function, inputs, output)


class PeerWorkload(Workload):
    """One function of a framework at one point."""

    def __init__(self, peer: Peer, function: Callable, inputs: Callable[[int], tuple], output: str):
        self.peer, self.function, self.inputs, self.output = peer, function, inputs, output
        self.slots: list[tuple | None] = [None, None]
        self.result = None

    def load(self, slot, input_set):
        self.slots[slot] = self.inputs(input_set)

    def call(self, slot):
        self.result = self.function(*self.slots[slot])

    def poison_outputs(self):
        self.result = None

    def outputs(self):
        return {self.output: self.peer.to_numpy(self.result)}

    def versions(self):
        return self.peer.versions()


def unknown(case: str, provider: str) -> ProviderFailure:
    message = f"no Python provider {provider!r} of {case}"
    return ProviderFailure("failed", "unknown_provider", message)


def start_peer(case: str, provider: str, cores: int, platform: str = "cpu") -> Peer:
    """The framework of a provider; ImportError where it is not installed."""
    peers = CUDA_PEERS if platform == "cuda" else PEERS
    if provider not in peers:
        raise unknown(case, provider)
    module, name = peers[provider]
    return getattr(importlib.import_module(module), name)(cores)
