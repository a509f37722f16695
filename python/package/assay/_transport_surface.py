# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Flux surfaces, from wherever: assay.transport.surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core
from ._arguments import named, numbers
from ._errors import UserError
from ._texts import path as path_text
from ._texts import path_if_given, text as plain_text

Array = NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class Surface:
    """The magnetic field on a flux surface. `surface` makes it."""

    name: str
    nfp: int  # field periods
    iota: float
    psi_prime: float  # dψ/dr [T·m]
    modes: Array  # m, n, cosine, sine [T] of each mode of |B|; the phase is mθ + n·nfp·ζ
    angles: str  # "boozer" or "vmec"
    psi_n: float  # normalised toroidal flux; this and the next two are 0 where the source does not say
    minor_radius: float  # a [m]
    psi_edge: float  # toroidal flux over 2π at the edge, its modulus [Wb]
    notes: list[str]  # what was assumed of the source
    warnings: list[str]  # what of it is not known well
    _surface: _core.Surface = field(repr=False)


def surface_names() -> list[str]:
    """Surfaces that are built in.

    >>> surface_names()
    ['example', 'sample_dkes', 'w7x_eim_sample', 'tokamak']
    """
    return _core.surface_names()


@named
def surface(
    name: str | None = None,
    *,
    dkes: str | Path | None = None,
    text: str | Path | None = None,
    wout: str | Path | None = None,
    boozer: str | Path | None = None,
    psi_n: float | None = None,
    minor_radius: float | None = None,
    min_bmn: float = 0.0,
    modes: Iterable[Iterable[float]] | None = None,
    nfp: int = 1,
    iota: float = 0,
    psi_prime: float | None = None,
    b_theta: float = 0,
    b_zeta: float = 0,
    b0: float | None = None,
) -> Surface:
    """A surface by the name of one that is built in, of a file, or spelled by its modes.

    Files are DKES' namelist (`dkes`), MONKES' text (`text`), VMEC's `wout`, and what booz_xform makes of that (`boozer`,
    where `wout` may be given beside it for flux and radius). Of the last two, `psi_n` is the normalised toroidal flux of
    the surface, `minor_radius` and `psi_prime` stand in place of the file's, and modes below the share `min_bmn` of B_00
    are left out. `psi_prime` is dψ/dr [T·m], 1 where modes are spelled and it is not given.

    >>> axisymmetric = surface(modes=[(0, 0, 1.0), (1, 0, -0.1)], iota=0.5, b_zeta=5.0)
    >>> axisymmetric.modes.shape, surface("w7x_eim_sample").nfp
    ((2, 4), 5)
    """
    ways = {"name": name if modes is None else None, "dkes": dkes, "text": text, "boozer": boozer, "modes": modes,
            "wout": wout if boozer is None else None}
    given = [way for way, value in ways.items() if value is not None]
    if len(given) != 1:
        raise UserError(f"surface: one of {', '.join(ways)}, not {len(given)} of them")
    _check_options(given[0], psi_n,
                   equilibrium={"psi_n": psi_n, "minor_radius": minor_radius, "min_bmn": min_bmn or None},
                   spelled={"nfp": nfp if nfp != 1 else None, "iota": iota or None, "b_theta": b_theta or None,
                            "b_zeta": b_zeta or None, "b0": b0},
                   both={"psi_prime": psi_prime})
    if modes is not None:
        terms = [numbers(mode, f"surface: modes[{i}]").tolist() for i, mode in enumerate(modes)]
        slope = 1.0 if psi_prime is None else psi_prime
        named = "modes" if name is None else plain_text(name, "surface: name")
        made = _core.surface_spelled(named, nfp, iota, slope, b_theta, b_zeta, terms, b0)
    elif psi_n is not None:
        kind, path = ("booz", boozer) if boozer is not None else ("vmec", wout)
        beside = path_if_given(wout if boozer is not None else None, "surface: wout")
        made = _core.surface_equilibrium(kind, path_text(path, f"surface: {given[0]}"), psi_n, beside, psi_prime,
                                         minor_radius, min_bmn)
    elif dkes is not None:
        made = _core.surface_dkes(path_text(dkes, "surface: dkes"))
    elif text is not None:
        made = _core.surface_text(path_text(text, "surface: text"))
    else:
        made = _core.surface_builtin(plain_text(name, "surface: name"))
    return Surface(made.name, made.nfp, made.iota, made.psi_prime, numpy.array(made.modes()).reshape(-1, 4),
                   "vmec" if made.in_vmec_angles() else "boozer", made.psi_n, made.minor_radius, made.psi_edge, made.notes,
                   made.warnings, made)


def _check_options(
    way: str, psi_n: float | None, *, equilibrium: Mapping[str, Any], spelled: Mapping[str, Any], both: Mapping[str, Any]
) -> None:
    """Nothing that is given is ignored: options that belong to other ways are refused."""
    is_equilibrium, is_spelled = way in ("boozer", "wout"), way == "modes"
    if is_equilibrium and psi_n is None:
        raise UserError(f"surface: {way} needs psi_n, the flux of the surface among those of the file")
    for belongs, whose, options in ((is_equilibrium, "wout and boozer", equilibrium), (is_spelled, "modes", spelled),
                                    (is_equilibrium or is_spelled, "modes, wout and boozer", both)):
        for option, value in options.items():
            if value is not None and not belongs:
                raise UserError(f"surface: {option} belongs to {whose}, not to {way}: {value}")
