# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The dense block elimination in NumPy and in JAX: D11, D31, D13, D33 of a list of cases."""

from importlib.metadata import version

import numpy as np


class Numpy:
    """One case after another: LU, solve and product for each k."""

    def __init__(self, problem):
        from scipy.linalg import lu_factor, lu_solve

        self.problem, self.lu_factor, self.lu_solve = problem, lu_factor, lu_solve

    def solve(self, cases):
        return np.array([self.coefficients(nu, er) for nu, er in cases])

    def coefficients(self, nu, er):
        p = self.problem
        electric = er / p.psi_prime * p.e
        identity = np.eye(len(p.g))
        delta = electric + 0.5 * nu * p.n_xi * (p.n_xi + 1) * identity
        kept = {}
        for k in range(p.n_xi, 0, -1):
            lu = self.lu_factor(delta, overwrite_a=True, check_finite=False)
            if k <= 2:
                kept[k] = lu
            x = self.lu_solve(lu, p.lower(k), check_finite=False)
            delta = electric + 0.5 * nu * (k - 1) * k * identity - p.upper(k - 1) @ x
        delta[0] = 0.0
        delta[0, 0] = 1.0
        kept[0] = self.lu_factor(delta, check_finite=False)

        def solve(k, b):
            return self.lu_solve(kept[k], b, check_finite=False)

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
        return p.coefficients(substitute([s0, zero, s2]), substitute([zero, s3, zero]))

    def versions(self):
        return {"numpy": np.__version__, "scipy": version("scipy")}


class Jax:
    """The same elimination as one compiled function: a scan over k, LU and solve from XLA.

    Cases go through it `batch` at a time under vmap; a last, smaller batch is filled up with its last
    case, so that nothing is compiled for it.
    """

    def __init__(self, problem, batch, cores, platform="cpu"):
        from assay_worker.jax_peer import import_jax

        self.jax = import_jax(cores, platform)
        import jax.scipy.linalg  # noqa: F401

        self.problem, self.batch = problem, batch
        self.compiled = self.jax.jit(self.jax.vmap(self._solve))

    def solve(self, cases):
        nu, er = np.array(cases).T
        out = []
        for start in range(0, len(cases), self.batch):
            chosen = np.minimum(np.arange(start, start + self.batch), len(cases) - 1)
            out.append(self.compiled(nu[chosen], er[chosen]))
        return np.concatenate([np.asarray(d) for d in out])[: len(cases)]

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

    def versions(self):
        return {"jax": self.jax.__version__, "jaxlib": version("jaxlib")}
