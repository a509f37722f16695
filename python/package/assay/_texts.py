# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Texts and paths that callers give, as the engines and the program can take them: whole, and in UTF-8."""

from __future__ import annotations

import os
from typing import Any

from ._errors import UserError

_LONGEST_SHOWN = 100


def shown(value: Any) -> str:
    """A value as a message shows it: in one line, and not all of a long one."""
    try:
        line = " ".join(repr(value).split())
    except Exception as why:  # whatever the value's own type raises; a whole number of too many digits
        line = f"<{type(why).__name__} when it is shown>"
    return line if len(line) <= _LONGEST_SHOWN else line[:_LONGEST_SHOWN] + "…"


def text(value: Any, what: str) -> str:
    """A text. `what` names it in errors: TypeError for another type, UserError for NUL and for what is no UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: a str, not of type {type(value).__name__}: {shown(value)}")
    if "\0" in value:
        raise UserError(f"{what}: has a NUL character: {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(f"{what}: is not UTF-8: {value!r}") from None
    return value


def path(value: Any, what: str) -> str:
    """The same of a path, by text or as os.PathLike; an empty one is refused, which would be none."""
    given = value
    if isinstance(value, os.PathLike):
        given = os.fspath(value)
    if not isinstance(given, str):
        raise TypeError(f"{what}: a path is a str or like pathlib.Path, not of type {type(given).__name__}: {shown(value)}")
    if not given:
        raise UserError(f"{what}: nothing was given: ''")
    return text(given, what)


def path_if_given(value: Any, what: str) -> str:
    """A path, or "" for None."""
    return "" if value is None else path(value, what)
