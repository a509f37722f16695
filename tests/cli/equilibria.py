# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A flux surface as the files of an equilibrium: variables by name, written as NetCDF-3.

The surface `sample_dkes` in right-handed Boozer angles (theta, zeta): B, iota, I, G. VMEC's angles are
left-handed: u = -theta, v = zeta."""

import numpy as np
from scipy.io import netcdf_file

NFP, IOTA, I, G, PSI_PRIME = 2, 0.4, 0.15, 1.4, 1.25
B_MN = {(0, 0): 2.4, (1, 0): 0.12, (0, 1): 0.08, (1, -1): -0.03}
SURFACES, PSI_N, RADIUS = 5, 0.25, 0.4
PSI_EDGE = PSI_PRIME * RADIUS / (2 * np.sqrt(PSI_N))


def cosine_series(values, m, n):
    """Amplitudes of cos(mu - n nfp v) of values[u, v]."""
    points = values.shape[0]
    angle = 2 * np.pi * np.arange(points) / points
    u, v = np.meshgrid(angle, angle, indexing="ij")
    waves = np.cos(m[:, None, None] * u - n[:, None, None] * v)
    norm = np.where((m == 0) & (n == 0), 1.0, 2.0) / points**2
    return norm * np.tensordot(waves, values, 2)


def wout(flux=1):
    """The variables of a VMEC file; `flux` is the sign of the toroidal flux."""
    modes = [(m, n) for m in range(9) for n in range(0 if m == 0 else -8, 9)]
    m, n = np.array(modes).T
    angle = 2 * np.pi * np.arange(32) / 32
    u, v = np.meshgrid(angle, angle, indexing="ij")  # v is nfp times the toroidal angle
    b = sum(value * np.cos(-i * u + j * v) for (i, j), value in B_MN.items())
    jacobian = (G + IOTA * I) / b**2  # of right-handed angles
    fields = {
        "bmnc": b,
        "gmnc": -jacobian * PSI_EDGE,
        "bsubumnc": -flux * I + 0 * b,
        "bsubvmnc": flux * G + 0 * b,
        "bsupumnc": -flux * IOTA / jacobian,
        "bsupvmnc": flux / jacobian,
    }
    variables = {
        "nfp": NFP,
        "ns": SURFACES,
        "lasym__logical__": 0,
        "Aminor_p": RADIUS,
        "Rmajor_p": 1.7,
        "xm_nyq": m.astype(float),
        "xn_nyq": n * float(NFP),
        "phi": flux * 2 * np.pi * PSI_EDGE * np.linspace(0, 1, SURFACES),
        "iotaf": np.full(SURFACES, -IOTA),
    }
    for name, values in fields.items():
        variables[name] = np.tile(cosine_series(values, m, n), (SURFACES, 1))
    return variables


def boozmn(flux=1):
    """The variables of the file that booz_xform makes of it."""
    m, n = np.array(list(B_MN)).T
    return {
        "nfp_b": NFP,
        "ns_b": SURFACES,
        "jlist": np.arange(2, SURFACES + 1),
        "ixm_b": m,
        "ixn_b": n * NFP,
        "bmnc_b": np.tile(np.array(list(B_MN.values())), (SURFACES - 1, 1)),
        "iota_b": np.full(SURFACES, -IOTA),
        "buco_b": np.full(SURFACES, -flux * I),
        "bvco_b": np.full(SURFACES, flux * G),
        "phi_b": flux * 2 * np.pi * PSI_EDGE * np.linspace(0, 1, SURFACES),
    }


def write(path, variables):
    with netcdf_file(path, "w") as file:
        for name, value in variables.items():
            value = np.asarray(value)
            labels = []
            for axis, size in enumerate(value.shape):
                labels.append(f"{name}_{axis}")
                file.createDimension(labels[-1], size)
            kind = "i" if value.dtype.kind == "i" else "d"
            file.createVariable(name, kind, labels)[...] = value
