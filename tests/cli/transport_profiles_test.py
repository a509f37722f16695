# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay transport profiles`: answers against a small calculation of its own, files, plots, bad input."""

import json
import math
import os
import subprocess

import numpy as np
from assay_cli import ROOT, CliTest, main
from scipy.integrate import quad
from scipy.io import netcdf_file

E, U, ME, EPS0 = 1.602176634e-19, 1.66053906660e-27, 9.1093837015e-31, 8.8541878128e-12

# Coefficients that the program interpolates without an error: powers of nu.
RHO, A, B0, MEAN_B2 = 0.5, 0.6, 2.2, 1.04 * 2.2**2
D11 = lambda nu: 2e-3 * nu**-0.4  # noqa: E731
TRAPPED = lambda nu: 0.12 * nu**-0.1  # noqa: E731
D31 = lambda nu: -0.9 * TRAPPED(nu)  # noqa: E731
SPITZER = lambda nu: 2 / (3 * nu) * MEAN_B2 / B0**2  # noqa: E731
NUS = [10**e for e in np.arange(-7, 3.1, 0.5)]

PLASMA = """
[plasma]
coulomb_logarithm = 16.5
laguerre_terms = 2
[[species]]
name = "e"
density = { polynomial = [5e19, 0, -3e19] }
temperature = { polynomial = [1800, 0, -1200] }
[[species]]
name = "D"
temperature = { polynomial = [1800, 0, -1200] }
[field]
er = -3000
range = [-2e4, 2e4]
e_parallel = 0.02
"""

TOKAMAK = PLASMA.replace("laguerre_terms = 2", "minor_radius = 0.6") + """
[[surface]]
rho = 0.5
type = "modes"
nfp = 1
iota = 0.43
psi_prime = 0.3
b_theta = 0.05
b_zeta = 3
b = [[0, 0, 1], [1, 0, -0.1]]
[grid]
n_theta = 15
n_zeta = 3
n_xi = 40
[table]
nu_hat = [1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 10, 100]
"""


class Plain:
    """Two species of one temperature, two Laguerre terms, friction by the closed formulas of Hirshman
    and Sigmar (1981), every integral by scipy."""

    def __init__(self):
        n, dn = 5e19 - 3e19 * RHO**2, -6e19 * RHO / A
        self.t, self.dt = (1800 - 1200 * RHO**2) * E, -2400 * RHO / A * E
        self.er, self.e_parallel, self.log_lambda = -3000, 0.02, 16.5
        self.n, self.dn = n, dn
        self.m, self.q = [ME, 2.01355321274 * U], [-E, E]
        self.vt = [math.sqrt(2 * self.t / m) for m in self.m]
        # D11/nu of the two highest nu, as the program takes its limit.
        y = [D11(nu) / nu for nu in NUS[-2:]]
        ratio = (y[1] * NUS[-1] ** 2 - y[0] * NUS[-2] ** 2) / (NUS[-1] ** 2 - NUS[-2] ** 2)
        self.limit = min(max(ratio, 0), y[1])

    def pair(self, a, b):
        force = self.q[a] * self.q[b] / (EPS0 * self.m[a])
        return self.n * force**2 * self.log_lambda / (4 * math.pi * self.vt[a] ** 3)

    def nu_d(self, a, v):
        total = 0
        for b in range(2):
            x = v / self.vt[b]
            g = (math.erf(x) - 2 * x / math.sqrt(math.pi) * math.exp(-x * x)) / (2 * x * x)
            if x < 1e-3:
                g = 2 * x / (3 * math.sqrt(math.pi))
            erf_g = 4 * x / (3 * math.sqrt(math.pi)) if x < 1e-3 else math.erf(x) - g
            total += self.pair(a, b) * erf_g
        return total * (self.vt[a] / v) ** 3

    def integral(self, a, f):
        """(2/sqrt(pi)) of sqrt(K) exp(-K) f(K, v, nu_hat) dK, in x = sqrt(K)."""

        def integrand(x):
            v = x * self.vt[a]
            return 2 * x * x * math.exp(-x * x) * f(x * x, v, self.nu_d(a, v) / v)

        return 2 / math.sqrt(math.pi) * quad(integrand, 1e-6, 8, epsabs=0, epsrel=1e-10, limit=400)[0]

    def forces(self, a):
        warm = self.dt / self.t
        a3 = -self.q[a] / self.t * self.e_parallel * B0**2 / MEAN_B2
        return self.dn / self.n - self.q[a] * self.er / self.t - 1.5 * warm, warm, a3

    def l_matrix(self, a):
        m, q = self.m[a], self.q[a]
        h = [lambda k: 1, lambda k: k, lambda k: 1]
        d = {
            (0, 0): lambda v, nu: m * m * v**3 / (2 * q * q) * D11(nu),
            (0, 2): lambda v, nu: m * v * v / (2 * q) * D31(nu),
            (2, 0): lambda v, nu: -m * v * v / (2 * q) * D31(nu),
            (2, 2): lambda v, nu: v / 2 * SPITZER(nu) * (1 - TRAPPED(nu)),
        }
        kind = [0, 0, 2]
        return [
            [self.integral(a, lambda k, v, nu: d[kind[i], kind[j]](v, nu) * h[i](k) * h[j](k)) for j in range(3)]
            for i in range(3)
        ]

    def friction(self):
        """F[a][j][b][k], units of n m/tau_ab, 1/tau = 4 pair/(3 sqrt(pi))."""
        f = np.zeros((2, 2, 2, 2))
        for a in range(2):
            for b in range(2):
                unit = 4 / (3 * math.sqrt(math.pi)) * self.pair(a, b) * self.n * self.m[a]
                x2, mass = (self.vt[b] / self.vt[a]) ** 2, self.m[a] / self.m[b]
                own = -(1 + mass) * (1 + x2) ** -1.5
                mixed = -1.5 * (1 + mass) * (1 + x2) ** -2.5
                heat = -(13 / 4 + 4 * x2 + 7.5 * x2 * x2) * (1 + x2) ** -2.5
                f[a, :, a, :] += unit * np.array([[own, mixed], [mixed, heat]])
                # The field part: momentum for row 0, symmetry for the rest (one temperature).
                f[a, 0, b, 0] -= unit * own
                f[a, 1, b, 0] -= unit * mixed
                f[b, 0, a, 1] -= unit * mixed
                f[a, 1, b, 1] += unit * 27 / 4 * x2 * (1 + x2) ** -2.5
        return f

    def corrected(self):
        """Particle fluxes, heat fluxes, flows u B/B0 and <j.B> with momentum conserved."""
        laguerre = [lambda k: 1, lambda k: 2.5 - k]
        f = self.friction()
        matrix, right = np.zeros((4, 4)), np.zeros(4)
        for a in range(2):
            m, q, (a1, a2, _) = self.m[a], self.q[a], self.forces(a)
            for j in range(2):
                for k in range(2):
                    matrix[2 * a + j, 2 * a + k] += self.integral(
                        a,
                        lambda y, v, nu: self.n * m * (2 / 3) * y * laguerre[j](y) * laguerre[k](y)
                        * nu * v * TRAPPED(nu) / (1 - TRAPPED(nu)),
                    )  # fmt: skip
                    for b in range(2):
                        matrix[2 * a + j, 2 * b + k] -= f[a, j, b, k]
                right[2 * a + j] = self.integral(
                    a,
                    lambda y, v, nu: self.n * m * m / q / 3 * v**3 * laguerre[j](y) * (a1 + y * a2)
                    * D31(nu) / (B0 * SPITZER(nu) * (1 - TRAPPED(nu))),
                )  # fmt: skip
            right[2 * a] += self.n * q * self.e_parallel * B0 / MEAN_B2
        u = np.linalg.solve(matrix, right)
        fluxes = []
        for a in range(2):
            m, q, (a1, a2, _) = self.m[a], self.q[a], self.forces(a)
            flux = []
            for h in (lambda y: 1, lambda y: y):

                def radial(y, v, nu, h=h, a=a, m=m, q=q, a1=a1, a2=a2):
                    d33 = SPITZER(nu) * (1 - TRAPPED(nu))
                    flow = 2 * v / self.vt[a] ** 2 * (u[2 * a] + u[2 * a + 1] * (2.5 - y))
                    drive = m * v / q * (a1 + y * a2)
                    source = drive * (D11(nu) + D31(nu) ** 2 / d33)
                    source -= 2 / 3 * MEAN_B2 / B0 * D31(nu) / d33 * flow
                    # Friction on the return flow: pitch-angle scattering's is in D11 and goes.
                    source -= self.limit * nu * drive
                    return -self.n / 2 * m * v * v / q * h(y) * source

                flux.append(self.integral(a, radial))
            push = [0, 0]
            for j in range(2):
                for b in range(2):
                    b1, b2, _ = self.forces(b)
                    unit = self.t / self.q[b]
                    push[j] += f[a, j, b, 0] * unit * (b1 + 2.5 * b2) - f[a, j, b, 1] * unit * b2
            flux[0] += 1.5 * self.limit / q * push[0]
            flux[1] += 1.5 * self.limit / q * (2.5 * push[0] - push[1])
            fluxes.append((flux[0], flux[1] * self.t, u[2 * a] * MEAN_B2 / B0))
        return fluxes, sum(self.q[a] * self.n * u[2 * a] * MEAN_B2 for a in range(2))


class Profiles(CliTest):
    def database(self, **changes):
        name = self.path("d.nc")
        with netcdf_file(name, "w") as file:
            fields = [0.0, 1e-3]
            shape = (1, len(NUS), len(fields))
            for dimension, length in zip(("r", "n", "e"), shape, strict=True):
                file.createDimension(dimension, length)
            drds = A / (2 * RHO)
            case = lambda f: np.array([[[f(nu)] * len(fields) for nu in NUS]])  # noqa: E731
            variables = {
                "rho": ("r", [RHO]),
                "nu_v": ("n", NUS),
                "Er": ("re", [fields]),
                "drds": ("r", [drds]),
                "B00": ("r", [B0]),
                "D11": ("rne", case(D11) / drds**2),
                "D31": ("rne", case(D31) / drds),
                "D13": ("rne", -case(D31) / drds),
                "D33": ("rne", case(lambda nu: SPITZER(nu) * (1 - TRAPPED(nu)))),
                "D33_spitzer": ("rne", case(SPITZER)),
            }
            variables.update(changes)
            for key, value in variables.items():
                if value is not None:
                    file.createVariable(key, "d", tuple(value[0]))[:] = value[1]
        return name

    def answers(self, *arguments):
        return json.loads(self.run_ok("transport", "profiles", *arguments, "--json").stdout)

    def test_a_plain_calculation_says_the_same(self):
        answer = self.answers(self.write("p.toml", PLASMA), "--database", self.database())
        (radius,) = answer["radii"]
        plain = Plain()
        for a, species in enumerate(radius["species"]):
            exact = np.array(plain.l_matrix(a))
            np.testing.assert_allclose(species["L"], exact, rtol=1e-6)
            forces = np.array(plain.forces(a))
            fluxes = -plain.n * exact @ forces
            got = species["plain"]
            self.assertAlmostEqual(got["particle_flux"] / fluxes[0], 1, 5)
            self.assertAlmostEqual(got["heat_flux"] / (fluxes[1] * plain.t), 1, 5)
            self.assertAlmostEqual(got["parallel_flow"] / (fluxes[2] / plain.n), 1, 5)
        exact, current = plain.corrected()
        for species, (particles, heat, flow) in zip(radius["species"], exact, strict=True):
            got = species["momentum_corrected"]
            self.assertAlmostEqual(got["particle_flux"] / particles, 1, 5)
            self.assertAlmostEqual(got["heat_flux"] / heat, 1, 5)
            self.assertAlmostEqual(got["parallel_flow"] / flow, 1, 5)
        self.assertAlmostEqual(radius["bootstrap_jB"] / current, 1, 5)
        self.assertNotAlmostEqual(radius["bootstrap_jB_plain"] / current, 1, 2)
        self.assertLess(radius["onsager_error"], 1e-12)

    def test_a_tokamak_spelled_out(self):
        source = self.write("t.toml", TOKAMAK)
        for suffix in ("h5", "nc", "npz"):
            self.run_ok("transport", "profiles", source, "--output", self.path("a." + suffix))
        text = self.run_ok("transport", "profiles", source, "--output", self.path("a.h5"), "--plot").stdout
        self.assertIn("wrote " + self.path("a.png"), text)
        self.assertIn("not determined (symmetric field)", text)
        self.assertIn("one field only", text)
        with open(self.path("a.png"), "rb") as image:
            self.assertEqual(image.read(8), b"\x89PNG\r\n\x1a\n")
        arrays = np.load(self.path("a.npz"))
        self.assertEqual(arrays["particle_flux"].shape, (1, 2))
        self.assertEqual(arrays["L"].shape, (1, 2, 3, 3))
        header = subprocess.run(
            ["ncdump", "-h", self.path("a.nc")], capture_output=True, text=True, check=True
        ).stdout
        for word in ("jB:units", ":program", ":created", ":input_files_sha256", ":signs"):
            self.assertIn(word, header)
        (radius,) = self.answers(source)["radii"]
        self.assertFalse(radius["er_determined"])
        electrons, ions = (s["momentum_corrected"]["particle_flux"] for s in radius["species"])
        without = [s["plain"]["particle_flux"] for s in radius["species"]]
        self.assertLess(abs(electrons - ions), 1e-6 * max(map(abs, without)))
        self.assertGreater(abs(without[0] - without[1]), 0.5 * max(map(abs, without)))

    def test_the_roots_and_the_field_that_is_chosen(self):
        ambipolar = PLASMA.replace("er = -3000", 'er = "ambipolar"').replace("e_parallel = 0.02", "")
        (radius,) = self.answers(self.write("p.toml", ambipolar), "--database", self.database())["radii"]
        (root,) = radius["roots"]
        self.assertEqual((root["kind"], root["stable"]), ("ion", True))
        self.assertEqual(root["er"], radius["er"])
        fluxes = [s["momentum_corrected"]["particle_flux"] for s in radius["species"]]
        self.assertLess(abs(fluxes[0] - fluxes[1]), 1e-6 * abs(fluxes[0]))

    def test_the_genuine_database(self):
        data = os.path.join(
            os.environ.get("ASSAY_SHARED_DATA", os.path.join(ROOT, "..", "shared", "data")),
            "transport", "real", "Dij_NTX_HSX.h5",
        )  # fmt: skip
        if not os.path.exists(data):
            self.skipTest(f"no {data}")
        plasma = PLASMA.replace("e_parallel = 0.02", "").replace("[1800, 0, -1200]", "[180, 0, -120]")
        (radius,) = self.answers(
            self.write("p.toml", plasma.replace("[plasma]", "[plasma]\nrho = [0.5]")), "--database", data
        )["radii"]
        # Nearly quasi-symmetric where collisions keep particles from drifting away: what is left of the radial current without the ions' momentum loss.
        self.assertLess(abs(radius["radial_current"]), 0.3 * abs(radius["radial_current_plain"]))
        self.assertNotEqual(radius["bootstrap_jB"], 0)

    def test_bad_input_is_one_line(self):
        database = self.database()
        cases = {
            "nothing to take coefficients from": (PLASMA, (), "neither was given"),
            "both": (TOKAMAK, ("--database", database), "not from both"),
            "threads": (PLASMA, ("--database", database, "--threads", "2"), "--threads"),
            "batch": (TOKAMAK, ("--batch", "2"), "--batch"),
            "plot": (TOKAMAK, ("--plot",), "--plot needs --output"),
            "no file": (PLASMA, ("--database", "missing.h5"), "missing.h5"),
            "no radius": (PLASMA.replace("[plasma]", "[plasma]\nrho = 0.3"), ("--database", database), "0.3"),
            "cold": (PLASMA.replace("[1800, 0, -1200]", "[-5]"), ("--database", database), "temperature"),
            "Laguerre": (PLASMA.replace("terms = 2", "terms = 13"), ("--database", database), "1 to 12"),
            "key": (PLASMA + "colour = 2\n", ("--database", database), "colour"),
            "range": (PLASMA.replace("[-2e4, 2e4]", "[2, 1]"), ("--database", database), "ascend"),
            "mode": (TOKAMAK.replace("[1, 0, -0.1]", "[1, -0.1]"), (), "[m, n, B_mn]"),
            "twice": (TOKAMAK.replace("[1, 0, -0.1]", "[0, 0, 1]"), (), "twice"),
            "negative": (TOKAMAK.replace("[[0, 0, 1], ", "[[0, 0, -1], "), (), "positive"),
            "no radius of the edge": (TOKAMAK.replace("minor_radius = 0.6", ""), (), "minor_radius"),
            "two nu": (TOKAMAK.replace("nu_hat = [1e-5, ", "nu_hat = [1, 2] #"), (), "three"),
            "order": (TOKAMAK.replace("nu_hat = [1e-5, 1e-4", "nu_hat = [1e-4, 1e-5"), (), "ascend"),
        }
        for name, (text, arguments, expected) in cases.items():
            with self.subTest(name):
                result = self.assay("transport", "profiles", self.write("p.toml", text), *arguments)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(expected, result.stderr)
        for changes, expected in (
            ({"D11": None}, "D11"),
            ({"B00": ("n", NUS)}, "B00"),
            ({"D33": ("rne", np.full((1, len(NUS), 2), np.nan))}, "not finite"),
            ({"D33": ("rne", np.full((1, len(NUS), 2), -1.0))}, "not positive"),
        ):
            result = self.assay(
                "transport", "profiles", self.write("p.toml", PLASMA), "--database", self.database(**changes)
            )
            self.assertEqual(result.returncode, 2)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(expected, result.stderr)


if __name__ == "__main__":
    main()
