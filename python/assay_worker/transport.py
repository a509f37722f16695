# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of the transport suite."""

from assay_worker.transport_inputs import make_inputs
from assay_worker.transport_problem import Problem
from assay_worker.transport_solvers import Jax, Numpy
from assay_worker.transport_workflow import Workflow
from assay_worker.workload import ProviderFailure, Workload


class Coefficients(Workload):
    """The cases of a point on a surface that was prepared beforehand."""

    def __init__(self, point, solver, lanes):
        self.point, self.solver, self.lanes = point, solver, lanes
        self.slots, self.d = [None, None], None

    def load(self, slot, input_set):
        self.slots[slot] = make_inputs(self.point, input_set)

    def call(self, slot):
        self.d = self.solver.solve(self.slots[slot])

    def poison_outputs(self):
        self.d = None

    def outputs(self):
        return {"d": self.d}

    def metrics(self):
        return {"lanes": self.lanes}

    def versions(self):
        return self.solver.versions()


def make(case, provider, point, cores, platform="cpu"):
    if platform == "cuda" and provider == "torch":
        from assay_worker.transport_torch import Torch

        problem, batch = Problem(point), min(point.get("batch", 1), point.get("cases", 1))
        return Coefficients(point, Torch(problem, batch), 1)
    if case == "transport_workflow" and provider == "numpy":
        return Workflow(point)
    if case in ("transport_solve", "transport_scan") and provider in ("numpy", "jax"):
        problem = Problem(point)
        batch = min(point.get("batch", 1), point.get("cases", 1))
        if provider == "numpy":
            return Coefficients(point, Numpy(problem), 1)
        return Coefficients(point, Jax(problem, batch, cores, platform), cores)
    message = f"no Python provider {provider!r} of {case}"
    raise ProviderFailure("failed", "unknown_provider", message)
