# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""transport_workflow in NumPy: a surface file to a file of coefficients and energy integrals.

Stage by stage what src/cases/transport/workflow.cc does; energy integrals are those of
src/transport/scan/energy.h, all pieces of a table and all tables at once.
"""

import os
import tempfile
import time
from importlib.metadata import version

import numpy as np

from assay_worker import safetensors
from assay_worker.transport_inputs import factor, make_inputs
from assay_worker.transport_problem import SURFACES, Problem
from assay_worker.transport_solvers import Numpy
from assay_worker.workload import Workload

ORDERS = (0, 1, 2)
END = 8.0  # e^-64
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)


def surface_file(name):
    nfp, iota, psi_prime, b_theta, b_zeta, _, modes = SURFACES[name]
    scalars = {"Number of periods": nfp, "psi_p": psi_prime, "iota": iota, "B_theta": b_theta,
               "B_zeta": b_zeta}  # fmt: skip
    lines = [f"{label}: {value!r}" for label, value in scalars.items()]
    return "\n".join(lines + [f"{m} {n} {value!r}" for m, n, value in modes]) + "\n"


def read_surface(path):
    """The tuple of SURFACES from such a file; B0 is the (0, 0) mode."""
    scalars, modes = {}, []
    with open(path) as file:
        for line in file:
            label, colon, value = line.partition(":")
            if colon:
                scalars[label] = float(value)
            else:
                m, n, value = line.split()
                modes.append((int(m), int(n), float(value)))
    b0 = next(value for m, n, value in modes if m == n == 0)
    return (int(scalars["Number of periods"]), scalars["iota"], scalars["psi_p"],
            scalars["B_theta"], scalars["B_zeta"], b0, modes)  # fmt: skip


def energy_integrals(nu, tables, thermal):
    """I_n of each table (rows of `tables`, over ascending nu) for n in ORDERS: (tables, orders)."""
    x = np.minimum(END, (thermal / nu) ** 0.25)[::-1]  # ascending
    ends = [0.0, *x, END]
    edges = [0.0]
    for piece in range(len(ends) - 1):  # panels that ten points integrate to rounding
        while edges[-1] < ends[piece + 1]:
            at = edges[-1]
            edges.append(min(ends[piece + 1], at + (min(0.5, 0.5 * at) if at else 0.5)))
    edges = np.array(edges)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    at = (middle[:, None] + half[:, None] * NODES).ravel()
    weight = (half[:, None] * WEIGHTS).ravel()
    log_nu = np.clip(np.log(thermal / at**4), np.log(nu[0]), np.log(nu[-1]))
    i = np.clip(np.searchsorted(np.log(nu), log_nu, side="right") - 1, 0, len(nu) - 2)
    t = (log_nu - np.log(nu[i])) / np.log(nu[i + 1] / nu[i])
    low, high = tables[:, i], tables[:, i + 1]
    is_power = low * high > 0
    ratio = np.where(is_power, high / np.where(is_power, low, 1.0), 1.0)
    d = np.where(is_power, low * ratio**t, low + t * (high - low))
    parts = [2 * at ** (2 * n + 2) * np.exp(-(at**2)) * weight for n in ORDERS]
    return 2 / np.sqrt(np.pi) * d @ np.array(parts).T


class Workflow(Workload):
    def __init__(self, point):
        self.point, self.slots = point, [None, None]
        self.folder = tempfile.TemporaryDirectory()
        self.times, self.started = [], 0
        with open(self.path("surface.txt"), "w") as file:
            file.write(surface_file(point["surface"]))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def load(self, slot, input_set):
        thermal = factor(self.point, "nu", input_set) * np.array([1e-2, 1e-1, 1.0])
        self.slots[slot] = make_inputs(self.point, input_set), thermal

    def stage(self, name):
        now = time.perf_counter()
        if self.times:
            self.times[-1] = self.times[-1][0], now - self.started
        if name:
            self.times.append((name, 0.0))
        self.started = now

    def call(self, slot):
        cases, thermal = self.slots[slot]
        fields = self.point["fields"]
        self.times = []
        self.stage("surface")
        surface = read_surface(self.path("surface.txt"))
        self.stage("prepare")
        solver = Numpy(Problem(self.point, surface))
        self.stage("scan")
        d = solver.solve(cases)
        self.stage("database")
        nu = np.array([nu for nu, _ in cases[::fields]])
        table = d.reshape(len(nu), fields, 4).transpose(1, 2, 0).copy()  # field, coefficient, ν̂
        self.stage("integrals")
        integrals = [[energy_integrals(nu, table[f], t) for t in thermal] for f in range(fields)]
        self.stage("output")
        epsi = np.array([er for _, er in cases[:fields]]) / surface[2]
        values = np.array(integrals).reshape(fields * len(thermal), -1)
        tensors = {"d": d, "i": values, "nu_hat": nu[:, None], "epsi_hat": epsi[:, None]}
        safetensors.write(self.path("out"), tensors)
        self.stage(None)
        self.tensors = tensors

    def stages(self):
        return self.times

    def poison_outputs(self):
        self.tensors = None

    def outputs(self):
        return self.tensors

    def metrics(self):
        return {"lanes": 1}

    def versions(self):
        return {"numpy": np.__version__, "scipy": version("scipy")}
