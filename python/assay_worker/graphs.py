# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of graph_fusion and graph_blocks (docs/methods/graphs.md).

A framework is a module with a class: it takes the weights once, the other inputs once for each slot, and
its call leaves the outputs by name. Caches are written where they lie, or handed over and taken back.
"""

import importlib

import numpy as np

from assay_worker.graph_inputs import block_inputs, fusion_inputs
from assay_worker.peer import unknown
from assay_worker.workload import Workload

FRAMEWORKS = {
    "torch": ("assay_worker.graph_torch", "TorchGraph"),
    "torch-compile": ("assay_worker.graph_torch", "TorchCompiledGraph"),
    "jax": ("assay_worker.graph_jax", "JaxGraph"),
    "onnxruntime": ("assay_worker.graph_onnx", "OnnxGraph"),
}


class GraphFramework:
    """One graph in one framework."""

    def __init__(self, case, point, cores):
        """Fixes the threads."""

    def set_weights(self, weights):
        """Weights of a model, as ndarrays by name. Whatever is made of them is not timed."""

    def take(self, arrays):
        """The other inputs in the framework's own form, by name. Untimed."""

    def call(self, inputs):
        """Computes everything from what take() returned; caches in it may be replaced."""

    def outputs(self, results):
        """What call() returned, as ndarrays whose dtypes have the right names."""
        return {name: np.asarray(value) for name, value in results.items()}

    def versions(self):
        return {"numpy": np.__version__}


class GraphWorkload(Workload):
    def __init__(self, framework, drawn):
        self.framework, self.drawn = framework, drawn
        self.slots, self.results = [None, None], None
        framework.set_weights(drawn.arrays(0, weights=True))

    def load(self, slot, input_set):
        self.slots[slot] = None  # before the next is made: the memory of one is enough
        self.slots[slot] = self.framework.take(self.drawn.arrays(input_set, weights=False))

    def call(self, slot):
        self.results = self.framework.call(self.slots[slot])

    def poison_outputs(self):
        self.results = None

    def outputs(self):
        return self.framework.outputs(self.results)

    def versions(self):
        return self.framework.versions()


def make(case, provider, point, cores, platform="cpu"):
    if provider not in FRAMEWORKS or platform != "cpu":
        raise unknown(case, provider)
    module, name = FRAMEWORKS[provider]
    framework = getattr(importlib.import_module(module), name)(case, point, cores)
    drawn = fusion_inputs(point) if case == "graph_fusion" else block_inputs(point)
    return GraphWorkload(framework, drawn)
