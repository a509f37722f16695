# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A tokamak of which everything is known, as the files that VMEC and booz_xform write; and where genuine ones are."""

import os
import pathlib
import struct

import numpy

IOTA, I, G = 0.7, 0.3, 5.0  # transform, covariant components [T m]
EDGE_FLUX, MINOR_RADIUS, MAJOR_RADIUS = 0.4, 0.5, 2.5
POINTS, MODES = 5, 24  # of the radial mesh, of series
MODULUS = {0: 2.0, 1: -0.2, 2: 0.05}  # |B| by its modes cos(mθ), the same on every surface


def write_netcdf(path, variables):
    """Arrays of doubles as a NetCDF file of the classic format, each with dimensions of its own."""

    def text(word):
        return struct.pack(">i", len(word)) + word.encode() + b"\0" * (-len(word) % 4)

    arrays = {name: numpy.asarray(values, ">f8") for name, values in variables.items()}
    extents = [extent for array in arrays.values() for extent in array.shape]

    def header(begin):
        out = b"CDF\x01" + struct.pack(">iii", 0, 10, len(extents))
        out += b"".join(text(f"n{i}") + struct.pack(">i", extent) for i, extent in enumerate(extents))
        out += struct.pack(">iiii", 0, 0, 11, len(arrays))
        dimension = 0
        for name, array in arrays.items():
            numbers = range(dimension, dimension + array.ndim)
            out += text(name) + struct.pack(f">{1 + array.ndim}i", array.ndim, *numbers)
            out += struct.pack(">iiiii", 0, 0, 6, array.nbytes, begin)
            dimension, begin = dimension + array.ndim, begin + array.nbytes
        return out

    path.write_bytes(header(len(header(0))) + b"".join(array.tobytes() for array in arrays.values()))
    return path


def growing(edge):
    return edge * numpy.arange(POINTS) / (POINTS - 1)


def wout(path):
    """In VMEC's angles u = −θ, v = ζ, which are left-handed; ψ is the flux within, over 2π."""
    u = 2 * numpy.pi * numpy.arange(256) / 256
    b = sum(amplitude * numpy.cos(m * u) for m, amplitude in MODULUS.items())
    jacobian = (G + IOTA * I) / b**2
    fields = {"bmnc": b, "gmnc": -jacobian * EDGE_FLUX, "bsubumnc": -I + 0 * u, "bsubvmnc": G + 0 * u,
              "bsupumnc": -IOTA / jacobian, "bsupvmnc": 1 / jacobian}
    waves = numpy.array([numpy.cos(m * u) * (2 if m else 1) / len(u) for m in range(MODES)])
    return write_netcdf(path, {
        "nfp": 1, "ns": POINTS, "signgs": -1, "lasym__logical__": 0, "Aminor_p": MINOR_RADIUS, "Rmajor_p": MAJOR_RADIUS,
        "xm_nyq": numpy.arange(MODES), "xn_nyq": numpy.zeros(MODES), "phi": growing(2 * numpy.pi * EDGE_FLUX),
        "iotaf": numpy.full(POINTS, -IOTA), **{name: numpy.tile(waves @ field, (POINTS, 1)) for name, field in fields.items()}})


def boozmn(path):
    """In Boozer's angles, as left-handed as VMEC's."""
    return write_netcdf(path, {
        "nfp_b": 1, "ns_b": POINTS, "ixm_b": list(MODULUS), "ixn_b": [0] * len(MODULUS), "jlist": range(2, POINTS + 1),
        "bmnc_b": numpy.tile(list(MODULUS.values()), (POINTS - 1, 1)), "iota_b": numpy.full(POINTS, -IOTA),
        "buco_b": numpy.full(POINTS, -I), "bvco_b": numpy.full(POINTS, G), "phi_b": growing(2 * numpy.pi * EDGE_FLUX)})


def genuine(name):
    """A file of other people's programs, which are no part of the repository; None where it is not there."""
    beside = pathlib.Path(__file__).parents[4] / "shared/data"
    path = pathlib.Path(os.environ.get("ASSAY_SHARED_DATA", beside)) / "transport/real" / name
    return path if path.exists() else None
