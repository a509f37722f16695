# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The sizes of a discretisation: assay.transport.Grid."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import index
from typing import Any

from . import _core
from ._errors import UserError
from ._texts import shown

_FAR = 2**31 - 1  # what an engine can be asked about


@dataclass(frozen=True)
class Grid:
    """Points along both angles, and the highest Legendre index.

    Odd numbers of points are best: of an even number the highest mode has no derivative, and with a field no equation,
    of which solutions then warn. `derivatives`, which cannot, need odd numbers.

    >>> Grid(2, 25, 16)
    Traceback (most recent call last):
        ...
    assay.UserError: n_theta must be at least 3, got 2
    """

    n_theta: int
    n_zeta: int
    n_xi: int

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            try:
                size = index(given)
            except TypeError:
                raise TypeError(f"grid: {field.name} is a whole number, not of type {type(given).__name__}: {shown(given)}") from None
            if abs(size) > _FAR:
                raise UserError(f"{field.name} must be at most {_FAR}, got {shown(size)}")
            object.__setattr__(self, field.name, size)
        _core.check_grid(self.n_theta, self.n_zeta, self.n_xi)


def grid_of(given: Any) -> Grid:
    """A grid, or three numbers that make one."""
    if isinstance(given, Grid):
        return given
    try:
        sizes = tuple(given)
    except TypeError:
        sizes = ()
    if len(sizes) != 3:
        raise UserError(f"grid: n_theta, n_zeta and n_xi, not {shown(given)}")
    return Grid(*sizes)
