# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Databases over equilibria, and what plasmas do in them: assay.transport."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core
from ._arguments import named, numbers
from ._errors import UserError
from ._files import writing
from ._modules import axes_or_new, needed
from ._texts import path as path_text
from ._texts import path_if_given
from ._texts import text as plain_text
from ._toml import toml_key, toml_value
from ._transport_grid import grid_of

Array = NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class _Filed:
    """Arrays with names, units and descriptions, as `assay transport` writes them into files."""

    data: dict[str, Array] = field(repr=False)  # every array, by its name in files
    units: dict[str, str] = field(repr=False)
    descriptions: dict[str, str] = field(repr=False)
    dimensions: dict[str, tuple[str, ...]] = field(repr=False)
    attributes: dict[str, str | float] = field(repr=False)
    warnings: list[str]  # reasons not to trust numbers, with figures
    _data: _core.DataFile = field(repr=False)

    def to_xarray(self) -> Any:
        """An xarray.Dataset of everything, with units and descriptions."""
        variables = {name: (self.dimensions[name], values, {"units": self.units[name], "description": self.descriptions[name]})
                     for name, values in self.data.items()}
        return needed("xarray").Dataset(variables, attrs=self.attributes)

    def save(self, path: str | Path) -> None:
        """Writes all of it into a file, NetCDF (.nc), HDF5 (.h5) or NumPy's (.npz); it appears whole or not at all."""
        self._data.write(path_text(path, "save: path"))

    def _named(self, name: str, dimensions: tuple[str, ...]) -> Array:
        """An array to plot. Raises UserError that lists those that can be."""
        if self.dimensions.get(name) != dimensions:
            known = ", ".join(each for each, of in self.dimensions.items() if of == dimensions)
            raise UserError(f"plot: one of {known}, not '{name}'")
        return self.data[name]


def _filed(made: _core.DataFile) -> dict[str, Any]:
    contents = made.contents()
    variables = contents["variables"]
    texts = contents["texts"]
    warnings = [line for line in texts.pop("warnings", "").split("\n") if line]
    return {"data": {name: of[1] for name, of in variables.items()},
            "units": {name: of[2] for name, of in variables.items()},
            "descriptions": {name: of[3] for name, of in variables.items()},
            "dimensions": {name: tuple(of[0]) for name, of in variables.items()},
            "attributes": {**texts, **contents["numbers"]}, "warnings": warnings, "_data": made}


@dataclass(frozen=True, eq=False)
class Database(_Filed):
    """Coefficients over an equilibrium, as arrays ρ × ν/v × Ẽ_r; `database` makes it.

    They are those of the coordinate s = ψ/ψ_a, as NTX writes and NEOPAX reads them: docs/transport.md.
    """

    rho: Array
    nu_v: Array  # [1/m]
    er_tilde: Array
    d11: Array
    d31: Array
    d13: Array
    d33: Array
    d33_spitzer: Array

    def _nearest(self, rho: float) -> int:
        if not min(self.rho) <= rho <= max(self.rho):
            raise UserError(f"plot: rho: surfaces are from {min(self.rho):g} to {max(self.rho):g}, got {rho:g}")
        return int(numpy.argmin(abs(self.rho - rho)))

    def plot(self, coefficient: str = "D11", rho: float | None = None, axes: Any = None) -> Any:
        """One coefficient's modulus over ν/v on one surface (the middle one), a line for each field, on matplotlib's
        axes, which are returned."""
        values = self._named(plain_text(coefficient, "plot: coefficient"), ("rho", "nu_v", "Er_tilde"))
        at = len(self.rho) // 2 if rho is None else self._nearest(numbers(rho, "plot: rho")[0])
        axes = axes_or_new(axes)
        order = numpy.argsort(self.nu_v)
        for column, er in enumerate(self.er_tilde):
            axes.loglog(self.nu_v[order], numpy.abs(values[at, order, column]), "o-", label=f"Ẽ_r = {er:g}")
        axes.set(xlabel="ν/v [1/m]", ylabel=f"|{coefficient}| [{self.units[coefficient]}]", title=f"ρ = {self.rho[at]:g}")
        axes.legend()
        return axes


@named
def database(
    wout: str | Path,
    *,
    boozer: str | Path | None = None,
    rho: Any,
    nu_v: Any,
    er_tilde: Any = 0.0,
    grid: Any = (25, 25, 60),
    accuracy: float | None = None,
    min_bmn: float = 0.0,
    method: str = "auto",
    journal: str | Path | None = None,
) -> Database:
    """Solves every pair of ν/v and Ẽ_r on every surface ρ = √ψ_n of an equilibrium.

    `wout` is VMEC's file; with `boozer`, the file that booz_xform made of it, the surfaces are that one's. `accuracy`
    (0.01: 1 %) chooses a grid for each case, in place of `grid`. `journal` names files (`journal`.0, …) that keep every
    case from the moment it is done.
    """
    radii, collisions, fields = (numbers(axis, f"database: {name}").tolist()
                                 for name, axis in (("rho", rho), ("nu_v", nu_v), ("er_tilde", er_tilde)))
    size = list(astuple(grid_of(grid)))
    made = _core.transport_database(path_text(wout, "database: wout"), path_if_given(boozer, "database: boozer"), radii,
                                    collisions, fields, size, accuracy, min_bmn, method,
                                    path_if_given(journal, "database: journal"))
    filed = _filed(made)
    data = filed["data"]
    return Database(**filed, rho=data["rho"], nu_v=data["nu_v"], er_tilde=data["Er_tilde"], d11=data["D11"],
                    d31=data["D31"], d13=data["D13"], d33=data["D33"], d33_spitzer=data["D33_spitzer"])


@dataclass(frozen=True, eq=False)
class Profiles(_Filed):
    """What a plasma does, over its radii; `profiles` makes it. Fluxes are r outward, flows and currents along b.

    Fluxes and flows are arrays radius × species with momentum conserved; in `data`, those of the Lorentz operator too
    (…_plain). NaN stands where no field was found.
    """

    species: list[str]
    rho: Array
    er: Array  # [V/m] at which the fluxes are
    er_determined: NDArray[numpy.bool_]  # not in a symmetric field
    bootstrap: Array  # ⟨j·B⟩ [A T/m²]
    particle_flux: Array  # [1/(m² s)]
    heat_flux: Array  # [W/m²]
    parallel_flow: Array  # [m/s]
    roots: Array  # radius × root: every ambipolar field [V/m], NaN where there are fewer

    def plot(self, quantity: str = "Er", axes: Any = None) -> Any:
        """A quantity of the radius, or of radius and species, over ρ on matplotlib's axes, which are returned."""
        axes = axes_or_new(axes)
        if self.dimensions.get(plain_text(quantity, "plot: quantity")) == ("radius", "species"):
            for name, values in zip(self.species, self.data[quantity].T, strict=True):
                axes.plot(self.rho, values, "o-", label=name)
            axes.legend()
        else:
            axes.plot(self.rho, self._named(quantity, ("radius",)), "o-")
        axes.set(xlabel="ρ", ylabel=f"{quantity} [{self.units[quantity]}]")
        return axes


@named
def profiles(
    plasma: str | Path | Mapping[str, Any], *, database: Database | str | Path | None = None, method: str = "auto"
) -> Profiles:
    """Fluxes, bootstrap current and the ambipolar field of a plasma.

    `plasma` is a file of `assay transport profiles`, or its keys as a dict: {"species": [{"name": "e", "density": 1e19,
    "temperature": 1000.0}, {"name": "H", "temperature": 900.0}], "field": {"er": "ambipolar"}}; all of them are in
    docs/transport-profiles.md. Coefficients are those of `database`, or of a file that holds one; without it, those of
    surfaces that the plasma spells out, which are solved.

    >>> axisymmetric = {"rho": 0.5, "type": "modes", "nfp": 1, "iota": 0.5, "psi_prime": 0.5, "b_theta": 0.0, "b_zeta": 5.0,
    ...                 "b": [[0, 0, 1.0], [1, 0, -0.1]]}
    >>> electrons = {"name": "e", "density": {"polynomial": [1e19, -8e18]}, "temperature": 500.0}
    >>> found = profiles({"plasma": {"minor_radius": 1.0}, "species": [electrons, {"name": "H", "temperature": 500.0}],
    ...                   "field": {"er": 0.0}, "surface": [axisymmetric], "grid": {"n_theta": 11, "n_zeta": 3, "n_xi": 20},
    ...                   "table": {"nu_hat": [1e-3, 1e-2, 1e-1, 1.0, 10.0], "er_hat": [0.0, 1e-3]}})
    >>> found.species, found.heat_flux.shape, bool((found.particle_flux > 0).all())
    (['e', 'H'], (1, 2), True)
    """
    text = None  # of the file `name`
    if isinstance(plasma, Mapping):
        name = "plasma"
        text = "".join(f"{toml_key(key, name)} = {toml_value(value, f'{name}: {key}', wide=True)}\n" for key, value in plasma.items())
    else:
        name = path_text(plasma, "profiles: plasma")
    if isinstance(database, Database):
        with writing("a temporary folder"), tempfile.TemporaryDirectory() as folder:
            held = str(Path(folder) / "database.h5")
            database.save(held)
            made = _core.transport_profiles(text, name, held, method)
    else:
        path = path_if_given(database, "profiles: database")
        if path.endswith(".npz"):
            raise UserError(f"profiles: database: an .npz is for NumPy to read, not for assay: save it as .nc or .h5: '{path}'")
        made = _core.transport_profiles(text, name, path, method)
    filed = _filed(made)
    data = filed["data"]
    return Profiles(**filed, species=str(filed["attributes"]["species"]).split(" "), rho=data["rho"], er=data["Er"],
                    er_determined=data["Er_determined"] != 0, bootstrap=data["jB"], particle_flux=data["particle_flux"],
                    heat_flux=data["heat_flux"], parallel_flow=data["parallel_flow"], roots=data["root_Er"])
