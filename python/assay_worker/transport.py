# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of transport_solve: the dense block elimination of docs/methods/transport.md."""

import numpy as np

from assay_worker import philox
from assay_worker.workload import ProviderFailure, Workload

# name: nfp, iota, psi', B_theta, B_zeta, B0 (None: the grid's mean), modes (m, n, B_mn)
SURFACES = {
    "example": (5, 0.85, 1.0, 0.05, 1.0, None,
                [(0, 0, 1.0), (1, 0, 0.06), (1, 1, 0.025), (2, -1, 0.01)]),
    "sample_dkes": (2, 0.4, 1.25, 0.15, 1.4, 2.4,
                    [(0, 0, 2.4), (1, 0, 0.12), (0, 1, 0.08), (1, -1, -0.03)]),
    "w7x_eim_sample": (5, 0.4512 / -0.5237, -0.5237, 0.0, -14.0876, 2.4311,
                       [(0, 0, 2.4311), (0, 1, 0.11149), (1, 1, -0.094228), (1, 0, -0.040776),
                        (1, -1, 0.0054553), (2, 0, -0.0037086)]),
    "tokamak": (1, 0.43, 0.3, 0.05, 3.0, 1.0, [(0, 0, 1.0), (1, 0, -0.1)]),
}  # fmt: skip


def make_inputs(point, input_set):
    """(nu_hat, er_hat) of src/cases/transport/point.cc."""

    def factor(name):
        raw = philox.raw(philox.input_stream(point["seed"], name, input_set), 1)
        return float(philox.uniform(raw, 0.9, 1.1)[0])

    return 1e-3 * factor("nu"), 1e-3 * factor("er") if point["field"] == "on" else 0.0


def derivative(n, period):
    j = np.arange(n)
    angle = np.pi * (j[:, None] - j[None, :]) / n
    sign = (-1.0) ** (j[:, None] - j[None, :])
    with np.errstate(divide="ignore"):
        d = sign * (1 / np.sin(angle) if n % 2 else 1 / np.tan(angle))
    np.fill_diagonal(d, 0.0)
    return np.pi / period * d


class Problem:
    """What does not depend on the case: dense V and E, sources and functionals."""

    def __init__(self, point):
        nfp, iota, self.psi_prime, b_theta, b_zeta, b0, modes = SURFACES[point["surface"]]
        n_theta, n_zeta, self.n_xi = point["n_theta"], point["n_zeta"], point["n_xi"]
        theta = np.tile(2 * np.pi * np.arange(n_theta) / n_theta, n_zeta)
        zeta = np.repeat(2 * np.pi * np.arange(n_zeta) / (nfp * n_zeta), n_theta)
        b, dt, dz = np.zeros_like(theta), np.zeros_like(theta), np.zeros_like(theta)
        for m, n, value in modes:
            phase = m * theta + n * nfp * zeta
            b += value * np.cos(phase)
            dt -= m * value * np.sin(phase)
            dz -= n * nfp * value * np.sin(phase)
        jacobian = abs(b_zeta + iota * b_theta) / b**2
        mean_b2 = (jacobian * b**2).sum() / jacobian.sum()
        self.b0 = b.mean() if b0 is None else b0
        w = (b_theta * dz - b_zeta * dt) / (jacobian * b**3)
        self.g = (iota * dt + dz) / jacobian / (2 * b**2)
        t_theta = np.kron(np.eye(n_zeta), derivative(n_theta, 2 * np.pi))
        t_zeta = np.kron(derivative(n_zeta, 2 * np.pi / nfp), np.eye(n_theta))
        self.v = (iota * t_theta + t_zeta) / (jacobian * b)[:, None]
        self.e = (b_theta * t_zeta - b_zeta * t_theta) / (jacobian * mean_b2)[:, None]
        self.sources = (-2 / 3 * w, -1 / 3 * w, b)  # s1 in k = 0 and 2, s3 in k = 1
        weight = jacobian / jacobian.sum()
        self.functionals = (-4 / 3 * weight * w, -2 / 15 * weight * w, 2 / 3 * weight * b)

    def lower(self, k):
        return k / (2 * k - 1) * (self.v + (k - 1) * np.diag(self.g))

    def upper(self, k):
        return (k + 1) / (2 * k + 3) * (self.v - (k + 2) * np.diag(self.g))

    def coefficients(self, f1, f3):
        c0, c2, c1 = self.functionals
        psi, b0 = self.psi_prime, self.b0

        def radial(f):
            return c0 @ f[0] + c2 @ f[2]

        return [
            radial(f1) / psi**2,
            c1 @ f1[1] / (psi * b0),
            radial(f3) / (psi * b0),
            c1 @ f3[1] / b0**2,
        ]


class Base(Workload):
    def __init__(self, point):
        self.point, self.slots, self.d = point, [None, None], None
        self.problem = Problem(point)

    def load(self, slot, input_set):
        self.slots[slot] = make_inputs(self.point, input_set)

    def poison_outputs(self):
        self.d = None

    def outputs(self):
        return {"d": np.asarray(self.d, dtype=np.float64).reshape(1, 4)}


class Numpy(Base):
    def __init__(self, point):
        super().__init__(point)
        from scipy.linalg import lu_factor, lu_solve

        self.factor, self.solve = lu_factor, lu_solve

    def call(self, slot):
        nu, er = self.slots[slot]
        p = self.problem
        electric = er / p.psi_prime * p.e
        identity = np.eye(len(p.g))
        delta = electric + 0.5 * nu * p.n_xi * (p.n_xi + 1) * identity
        kept = {}
        for k in range(p.n_xi, 0, -1):
            lu = self.factor(delta, overwrite_a=True, check_finite=False)
            if k <= 2:
                kept[k] = lu
            x = self.solve(lu, p.lower(k), check_finite=False)
            delta = electric + 0.5 * nu * (k - 1) * k * identity - p.upper(k - 1) @ x
        delta[0] = 0.0
        delta[0, 0] = 1.0
        kept[0] = self.factor(delta, check_finite=False)

        def solve(k, b):
            return self.solve(kept[k], b, check_finite=False)

        def substitute(sigma):  # s_0, s_1, s_2 → f_0, f_1, f_2
            for k in (1, 0):
                sigma[k] = sigma[k] - p.upper(k) @ solve(k + 1, sigma[k + 1])
            sigma[0][0] = 0.0
            f = [solve(0, sigma[0])]
            for k in (1, 2):
                f.append(solve(k, sigma[k] - p.lower(k) @ f[-1]))
            return f

        s0, s2, s3 = p.sources
        zero = np.zeros_like(s0)
        self.d = p.coefficients(substitute([s0, zero, s2]), substitute([zero, s3, zero]))

    def versions(self):
        import scipy

        return {"numpy": np.__version__, "scipy": scipy.__version__}


class Jax(Base):
    """The same elimination as one compiled function: a scan over k, LU and solve from XLA."""

    def __init__(self, point):
        super().__init__(point)
        import jax
        import jax.scipy.linalg

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.compiled = jax.jit(self._solve)

    def _solve(self, nu, er):
        jnp, linalg = self.jax.numpy, self.jax.scipy.linalg
        p = self.problem
        v, g = jnp.asarray(p.v), jnp.diag(jnp.asarray(p.g))
        electric = er / p.psi_prime * jnp.asarray(p.e)
        identity = jnp.eye(len(p.g))

        def lower(k):
            return k / (2 * k - 1) * (v + (k - 1) * g)

        def upper(k):
            return (k + 1) / (2 * k + 3) * (v - (k + 2) * g)

        def block(k):
            return electric + 0.5 * nu * k * (k + 1) * identity

        def step(delta, k):
            x = linalg.lu_solve(linalg.lu_factor(delta), lower(k))
            return block(k - 1) - upper(k - 1) @ x, None

        top = float(p.n_xi)
        delta2, _ = self.jax.lax.scan(step, block(top), jnp.arange(top, 2.0, -1.0))
        lu2 = linalg.lu_factor(delta2)
        lu1 = linalg.lu_factor(block(1.0) - upper(1.0) @ linalg.lu_solve(lu2, lower(2.0)))
        delta0 = block(0.0) - upper(0.0) @ linalg.lu_solve(lu1, lower(1.0))
        lu0 = linalg.lu_factor(delta0.at[0].set(identity[0]))
        s0, s2, s3 = (jnp.asarray(s) for s in p.sources)
        zero = jnp.zeros_like(s0)
        # Both sources as two columns.
        sigma2 = jnp.stack([s2, zero], 1)
        sigma1 = jnp.stack([zero, s3], 1) - upper(1.0) @ linalg.lu_solve(lu2, sigma2)
        sigma0 = jnp.stack([s0, zero], 1) - upper(0.0) @ linalg.lu_solve(lu1, sigma1)
        f0 = linalg.lu_solve(lu0, sigma0.at[0].set(0.0))
        f1 = linalg.lu_solve(lu1, sigma1 - lower(1.0) @ f0)
        f2 = linalg.lu_solve(lu2, sigma2 - lower(2.0) @ f1)
        first, second = ([f[:, i] for f in (f0, f1, f2)] for i in (0, 1))
        return jnp.stack(p.coefficients(first, second))

    def call(self, slot):
        self.d = self.compiled(*self.slots[slot]).block_until_ready()

    def versions(self):
        return {"jax": self.jax.__version__}


def make(case, provider, point, cores):
    providers = {"numpy": Numpy, "jax": Jax}
    if case != "transport_solve" or provider not in providers:
        message = f"no Python provider {provider!r} of {case}"
        raise ProviderFailure("failed", "unknown_provider", message)
    return providers[provider](point)
