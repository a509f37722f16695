# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that only some calls need."""

from importlib import import_module
from typing import Any

from ._errors import EnvironmentError


def needed(name: str) -> Any:
    """The module, or EnvironmentError that names it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise EnvironmentError(f"this needs {name}, which is not installed here: {missing.name}") from None
