# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that only some calls need."""

from importlib import import_module
from typing import Any

from ._errors import EnvironmentError
from ._texts import shown


def needed(name: str) -> Any:
    """The module, or EnvironmentError that names it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise EnvironmentError(f"this needs {name}, which is not installed here: {missing.name}") from None


def axes_or_new(axes: Any) -> Any:
    """Where a plot is drawn: axes of matplotlib that were given, or those of a new figure for None."""
    if axes is None:
        return needed("matplotlib.pyplot").figure().add_subplot()
    if not hasattr(axes, "get_xlim"):
        raise TypeError(f"plot: axes: axes of matplotlib or None, not of type {type(axes).__name__}: {shown(axes)}")
    return axes
