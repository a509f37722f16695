# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""One Python provider of the transport suite against the assembled system, and against identities."""

import math
import os
import sys
import unittest

ROOT, PROVIDER = sys.argv[1:3]
sys.argv[1:4] = []
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
from assay_worker import transport, transport_inputs  # noqa: E402
from assay_worker.measure import Phases, measure_attempt  # noqa: E402
from assay_worker.transport_problem import SURFACES, Problem  # noqa: E402
from assay_worker.workload import ProviderFailure  # noqa: E402

GRID = {"n_theta": 5, "n_zeta": 7, "n_xi": 6, "seed": 3}
SCAN = {**GRID, "surface": "sample_dkes", "layout": "ladder", "batch": 3, "cases": 7}
WORKFLOW = {**GRID, "surface": "w7x_eim_sample", "collisionalities": 5, "fields": 2}


def assembled(point, nu, er):
    """The coefficients from all blocks as one matrix, f_0(0, 0) = 0 in place of its first row."""
    p = Problem(point)
    n, modes = len(p.g), p.n_xi + 1
    a = np.zeros((modes * n, modes * n))
    for k in range(modes):
        here = slice(k * n, (k + 1) * n)
        a[here, here] = er / p.psi_prime * p.e + 0.5 * nu * k * (k + 1) * np.eye(n)
        if k > 0:
            a[here, (k - 1) * n : k * n] = p.lower(k)
        if k + 1 < modes:
            a[here, (k + 1) * n : (k + 2) * n] = p.upper(k)
    a[0] = 0.0
    a[0, 0] = 1.0
    b = np.zeros((modes * n, 2))
    b[:n, 0], b[2 * n : 3 * n, 0], b[n : 2 * n, 1] = p.sources
    b[0] = 0.0
    f = np.linalg.solve(a, b)
    first, second = ([f[k * n : (k + 1) * n, s] for k in range(3)] for s in (0, 1))
    return p.coefficients(first, second)


def judged(case, point, cores=1):
    workload = transport.make(case, PROVIDER, point, cores)
    workload.load(0, 2)
    workload.poison_outputs()
    workload.call(0)
    return workload, workload.outputs()


class Coefficients(unittest.TestCase):
    def check(self, case, point):
        """Two eliminations in another order: rounding times a condition number of 1e4 or so."""
        d = judged(case, point)[1]["d"]
        cases = transport_inputs.make_inputs(point, 2)
        self.assertEqual((d.shape, d.dtype), ((len(cases), 4), np.float64))
        expected = np.array([assembled(point, nu, er) for nu, er in cases])
        np.testing.assert_allclose(d, expected, rtol=1e-9)

    def test_a_solve(self):
        for surface in SURFACES:
            for field in ("on", "zero"):
                self.check("transport_solve", {**GRID, "surface": surface, "field": field})

    def test_scans_whatever_the_batch(self):
        """1, one that leaves a rest, all, and more than there are."""
        for batch in (1, 3, 7, 64):
            self.check("transport_scan", {**SCAN, "batch": batch})
        self.check("transport_scan", {**SCAN, "layout": "grid", "cases": 13})

    def test_axisymmetry(self):
        """D31 psi' B0 = -(2/3) kappa (1 - D33/D33_Sp) with kappa = B_zeta/iota holds at any n_xi."""
        point = {**GRID, "surface": "tokamak", "field": "zero", "n_theta": 25, "n_zeta": 3}
        nu, _ = transport_inputs.make_inputs(point, 2)[0]
        _, iota, psi_prime, _, b_zeta, b0, _ = SURFACES["tokamak"]
        (_, d31, d13, d33), = judged("transport_solve", point)[1]["d"]
        theta = 2 * np.pi * np.arange(25) / 25
        b = 1 - 0.1 * np.cos(theta)
        mean_b2 = 1 / np.mean(b**-2)  # the Jacobian is 1/B² up to a constant
        spitzer = 2 / (3 * nu) * mean_b2 / b0**2
        expected = -2 / 3 * b_zeta / iota * (1 - d33 / spitzer) / (psi_prime * b0)
        self.assertAlmostEqual(d31 / expected, 1, delta=1e-11)
        self.assertAlmostEqual(d13 / -d31, 1, delta=1e-10)

    def test_inputs_are_those_of_the_suite(self):
        """The ladder and the grid as the specification has them; every set is another one."""
        ladder = np.array(transport_inputs.make_inputs(SCAN, 0))
        self.assertAlmostEqual(ladder[-1, 0] / ladder[0, 0], 100)
        self.assertEqual(ladder[0, 1], 0)
        grid = transport_inputs.make_inputs({**SCAN, "layout": "grid", "cases": 24}, 0)
        self.assertEqual((len(grid), grid[0][0], grid[11][0]), (24, grid[1][0], grid[0][0]))
        self.assertNotEqual(transport_inputs.make_inputs(SCAN, 0), transport_inputs.make_inputs(SCAN, 1))

    def test_another_case_is_refused(self):
        with self.assertRaises(ProviderFailure):
            transport.make("transport_strong_scaling", PROVIDER, SCAN, 1)


@unittest.skipUnless(PROVIDER == "numpy", "has no other provider")
class Workflow(unittest.TestCase):
    def test_a_file_to_a_file(self):
        workload, out = judged("transport_workflow", WORKFLOW)
        cases = transport_inputs.make_inputs(WORKFLOW, 2)
        expected = np.array([assembled(WORKFLOW, nu, er) for nu, er in cases])
        np.testing.assert_allclose(out["d"], expected, rtol=1e-9)
        self.assertEqual(out["i"].shape, (6, 12))
        names = [name for name, _ in workload.stages()]
        self.assertEqual(names, ["surface", "prepare", "scan", "database", "integrals", "output"])
        self.assertTrue(all(seconds > 0 for _, seconds in workload.stages()))
        # The first row: field 0, the first thermal collisionality, D11 first.
        from assay_worker.transport_workflow import energy_integrals

        nu = np.array([nu for nu, _ in cases[::2]])
        thermal = 1e-2 * transport_inputs.factor(WORKFLOW, "nu", 2)
        first = energy_integrals(nu, expected[::2].T.copy(), thermal)
        np.testing.assert_allclose(out["i"][0], first.ravel(), rtol=1e-8)

    def test_energy_integrals(self):
        """A constant: (2/√π) Γ(n + 3/2). ν̂⁻¹: (2/√π) Γ(7/2)/ν̂_th, but for the end of the table, where
        K^{3/2} = 1e-9 is. The linear piece of a change of sign: Γ'(3/2) = Γ(3/2) ψ(3/2)."""
        from assay_worker.transport_workflow import energy_integrals

        nu = np.array([1e-8, 1e-3, 1e4])
        tables = np.array([[1, 1, 1], 1 / nu])
        out = energy_integrals(nu, tables, 1e-2)
        for n in (0, 1, 2):
            exact = 2 / math.sqrt(math.pi) * math.gamma(n + 1.5)
            self.assertAlmostEqual(out[0, n] / exact, 1, delta=1e-12)
        exact = 2 / math.sqrt(math.pi) * math.gamma(3.5) / 1e-2
        self.assertAlmostEqual(out[1, 0] / exact, 1, delta=1e-8)
        signed = energy_integrals(np.array([1e-8, 1e8]), np.array([[-1.0, 1.0]]), 1e-2)[0, 0]
        psi = 0.03648997397857652
        self.assertAlmostEqual(signed, (math.log(1e-2) - 2 * psi) / math.log(1e8), delta=1e-7)

    def test_stages_reach_the_report(self):
        settings = {"warm_up_calls": 1, "batches": 5, "steady_s": 0.0, "batch_min_s": 0.0,
                    "batch_min_ticks": 1}  # fmt: skip
        folder = os.environ["TMPDIR"]
        report = measure_attempt(
            lambda: transport.make("transport_workflow", PROVIDER, WORKFLOW, 1), settings, False,
            os.path.join(folder, "out"), Phases(os.path.join(folder, "phase")),
        )  # fmt: skip
        self.assertEqual(report["status"], "ok", report["message"])
        self.assertGreater(report["metrics"]["cold_stage_scan"], 0)
        self.assertEqual(len(report["samples"]["stage_scan"]), 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
