# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The drift-kinetic equation on flux surfaces: monoenergetic coefficients of stellarators and tokamaks.

Cases are ν̂ = ν/v [1/m] and Ê_ψ = E_ψ/v, or Ê_r = E_r/v [T]; coefficients are in DKES's normalisation: D11 [1/(m T²)],
D31 and D13 [1/T], D33 [m]. docs/methods/transport.md derives it, docs/transport.md tells of files and signs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core
from ._arguments import named, numbers
from ._errors import UserError
from ._modules import axes_or_new, needed
from ._texts import path_if_given, shown
from ._texts import text as plain_text
from ._transport_files import Database, Profiles, database, profiles
from ._transport_grid import Grid, grid_of
from ._transport_surface import Surface, surface, surface_names

__all__ = ["Database", "Derivatives", "Grid", "Prepared", "Profiles", "Scan", "Solution", "Surface", "database", "derivatives",
           "prepare", "profiles", "scan", "solve", "surface", "surface_names"]

Array = NDArray[numpy.float64]
_UNITS = {"d11": "1/(m T²)", "d31": "1/T", "d13": "1/T", "d33": "m", "d33_spitzer": "m", "residual": "1", "onsager": "1"}
_NUMBERS = tuple(_UNITS)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A surface on a grid, with all that does not depend on the case. `prepare` makes it.

    Fields are arrays ζ × θ over one field period: |B| [T], the Jacobian [m/T], the radial drift.
    """

    surface: Surface
    grid: Grid
    b: Array = field(repr=False)
    jacobian: Array = field(repr=False)
    drift: Array = field(repr=False)
    b0: float
    mean_b2: float
    notes: list[str]
    warnings: list[str]
    _prepared: _core.Prepared = field(repr=False)

    def angles(self) -> tuple[Array, Array]:
        """θ and ζ of the grid [rad]."""
        return (2 * numpy.pi * numpy.arange(self.grid.n_theta) / self.grid.n_theta,
                2 * numpy.pi * numpy.arange(self.grid.n_zeta) / (self.grid.n_zeta * self.surface.nfp))

    def plot(self, axes: Any = None) -> Any:
        """|B| over both angles, on matplotlib's axes, which are returned."""
        axes = axes_or_new(axes)
        theta, zeta = self.angles()
        theta, zeta = numpy.append(theta, 2 * numpy.pi), numpy.append(zeta, 2 * numpy.pi / self.surface.nfp)
        shown = axes.contourf(zeta, theta, numpy.pad(self.b, (0, 1), mode="wrap").T, levels=24)
        axes.figure.colorbar(shown, ax=axes, label="|B| [T]")
        axes.set(xlabel="ζ [rad]", ylabel="θ [rad]", title=self.surface.name)
        return axes


@named
def prepare(of: Surface | str, grid: Any, *, adjoint_consistent: bool = False) -> Prepared:
    """A surface on a grid, once for as many cases as wanted: a `Grid`, or its three numbers.

    >>> prepare("example", (17, 25, 16)).b.shape
    (25, 17)
    """
    on = surface(of) if isinstance(of, str) else of
    size = grid_of(grid)
    made = _core.prepare(on._surface, size.n_theta, size.n_zeta, size.n_xi, adjoint_consistent)
    fields = made.fields()
    return Prepared(on, size, _prepared=made, **{name: fields[name] for name in (
        "b", "jacobian", "drift", "b0", "mean_b2", "notes", "warnings")})


@dataclass(frozen=True)
class Solution:
    """The coefficients of one case, and how far they can be trusted."""

    nu_hat: float
    epsi_hat: float
    d11: float
    d31: float
    d13: float
    d33: float
    d33_spitzer: float  # D33 where nothing is trapped
    residual: float
    onsager: float  # |D31 + D13| over the larger of the two
    method: str  # the one that was used
    warnings: list[str]  # reasons not to trust the numbers, with figures
    notes: list[str]  # what was done otherwise than asked for


@dataclass(frozen=True, eq=False)
class Scan:
    """The coefficients of every pair of ν̂ and Ê_ψ, as arrays ν̂ × Ê_ψ."""

    nu_hat: Array
    epsi_hat: Array
    d11: Array
    d31: Array
    d13: Array
    d33: Array
    d33_spitzer: Array
    residual: Array
    onsager: Array
    method: list[str]  # of each case, ν̂ slowest; so are the next two
    warnings: list[list[str]]
    notes: list[list[str]]

    def to_xarray(self) -> Any:
        """An xarray.Dataset with the dimensions nu_hat and epsi_hat, and units."""
        values = {name: (("nu_hat", "epsi_hat"), getattr(self, name), {"units": unit}) for name, unit in _UNITS.items()}
        return needed("xarray").Dataset(values, {"nu_hat": self.nu_hat, "epsi_hat": self.epsi_hat})

    def plot(self, coefficient: str = "d11", axes: Any = None) -> Any:
        """One coefficient's modulus over ν̂, a line for each field, on matplotlib's axes, which are returned."""
        if plain_text(coefficient, "plot: coefficient") not in _NUMBERS:
            raise UserError(f"plot: one of {', '.join(_NUMBERS)}, not '{coefficient}'")
        axes = axes_or_new(axes)
        for column, epsi in enumerate(self.epsi_hat):
            axes.loglog(self.nu_hat, numpy.abs(getattr(self, coefficient)[:, column]), "o-", label=f"Ê_ψ = {epsi:g}")
        name = coefficient.upper() if coefficient in ("d11", "d31", "d13", "d33") else coefficient
        axes.set(xlabel="ν̂ [1/m]", ylabel=f"|{name}| [{_UNITS[coefficient]}]")
        axes.legend()
        return axes


def _fields_of(on: Prepared, epsi_hat: Any, er_hat: Any) -> Array:
    epsi = numbers(epsi_hat, "scan: epsi_hat")
    if er_hat is None:
        return epsi
    if numpy.any(epsi != 0):
        raise UserError(f"scan: the field is epsi_hat or er_hat, not both: {shown(epsi_hat)}")
    return numpy.array([_core.epsi_of_er(er, on.surface.psi_prime) for er in numbers(er_hat, "scan: er_hat").tolist()])


@named
def scan(
    on: Prepared,
    nu_hat: Any,
    epsi_hat: Any = 0.0,
    *,
    er_hat: Any = None,
    method: str = "auto",
    journal: str | Path | None = None,
) -> Scan:
    """Solves every pair of ν̂ and a field, Ê_ψ or Ê_r, one case on each thread.

    Each is a number or a list of numbers. `method` is auto, dense, structured, parity or mixed. `journal` names a file that keeps every case from the moment
    it is done: a scan that finds its own file there goes on where that one ended.

    >>> found = scan(prepare("example", (9, 9, 8)), [1e-2, 1e-1], [0.0, 1e-3])
    >>> found.d11.shape, bool((found.d33 > 0).all())
    ((2, 2), True)
    """
    nu = numbers(nu_hat, "scan: nu_hat")
    fields = _fields_of(on, epsi_hat, er_hat)
    table = _core.transport_scan(on._prepared, nu.tolist(), fields.tolist(), method,
                                 path_if_given(journal, "scan: journal"))
    found = {name: table.pop(name).reshape(len(nu), len(fields)) for name in _NUMBERS}
    return Scan(nu, fields, **found, **table)


@named
def solve(on: Prepared, nu_hat: float, epsi_hat: float = 0.0, *, er_hat: float | None = None, method: str = "auto") -> Solution:
    """Solves one case; of lists of them, `scan` does.

    >>> solution = solve(prepare("example", (17, 25, 16)), 1e-1)
    >>> solution.method, solution.onsager < 1e-3
    ('parity', True)
    """
    of = scan(on, nu_hat, epsi_hat, er_hat=er_hat, method=method)
    found = {name: float(getattr(of, name)[0, 0]) for name in _NUMBERS}
    return Solution(float(nu_hat), float(of.epsi_hat[0]), **found, method=of.method[0], warnings=of.warnings[0],
                    notes=of.notes[0])


@dataclass(frozen=True)
class Derivatives:
    """∂D/∂ν̂ and ∂D/∂Ê_ψ of d11, d31, d13 and d33, by name."""

    by_nu_hat: dict[str, float]
    by_epsi_hat: dict[str, float]


@named
def derivatives(on: Prepared, nu_hat: float, epsi_hat: float = 0.0) -> Derivatives:
    """Of all four coefficients, from two forward and two adjoint solves, on a grid with odd numbers of points.

    >>> derivatives(prepare("example", (9, 9, 8)), 1e-1).by_nu_hat["d33"] < 0
    True
    """
    return Derivatives(**_core.transport_derivatives(on._prepared, nu_hat, epsi_hat))
