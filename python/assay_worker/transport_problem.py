# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Surfaces and the dense operators of docs/methods/transport.md on a grid."""

import numpy as np

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

    def __init__(self, point, surface=None):
        nfp, iota, self.psi_prime, b_theta, b_zeta, b0, modes = surface or SURFACES[point["surface"]]
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
