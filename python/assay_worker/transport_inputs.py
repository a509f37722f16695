# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of a point of the transport suite, as src/cases/transport/point.cc has them."""

import numpy as np

from assay_worker import philox

FIELDS_OF_GRID = 12


def factor(point, name, input_set):
    """The factor in [0.9, 1.1) of all nu_hat ("nu") or all er_hat ("er") of a set."""
    raw = philox.raw(philox.input_stream(point["seed"], name, input_set), 1)
    return float(philox.uniform(raw, 0.9, 1.1)[0])


def make_inputs(point, input_set):
    """The (nu_hat, er_hat) of src/cases/transport/point.cc, up to the last bits of pow()."""
    nu, er = factor(point, "nu", input_set), factor(point, "er", input_set)
    if "collisionalities" in point:
        return case_grid(nu, er, point["collisionalities"], point["fields"], (-3, 0))
    count = point.get("cases", 1)
    if count == 1:
        return [(1e-3 * nu, 1e-3 * er if point.get("field", "on") == "on" else 0.0)]
    if point.get("layout", "ladder") == "grid":
        rows = -(-count // FIELDS_OF_GRID)
        return case_grid(nu, er, rows, FIELDS_OF_GRID, (-4, -2))[:count]
    highest = 0.0 if point.get("layout") == "zero" else 2e-3
    return list(zip(nu * np.logspace(-4, -2, count), er * np.linspace(0, highest, count), strict=True))


def case_grid(nu_factor, er_factor, rows, fields, exponents):
    nu, er = nu_factor * np.logspace(*exponents, rows), er_factor * np.linspace(0, 2e-3, fields)
    return [(n, e) for n in nu for e in er]
