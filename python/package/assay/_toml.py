# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Values of Python as TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ._errors import UserError
from ._texts import shown, text

_DEEPEST = 64  # and what is within itself is found before
_LEAST_INTEGER, _GREATEST_INTEGER = -(2**63), 2**63 - 1


def toml_text(value: str) -> str:
    """JSON's texts are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: Any, what: str) -> str:
    """A key of the table that `what` names, in quotes where it needs them."""
    if not isinstance(key, str):
        raise UserError(f"{what}: keys are texts, not of type {type(key).__name__}: {shown(key)}")
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_text(text(key, what))


def toml_value(value: Any, what: str, *, wide: bool = False) -> str:
    """A value with all that is in it; arrays and numbers of NumPy are lists and numbers. Raises UserError that names
    the place of what TOML cannot hold: `what` is that of the value itself. With `wide`, whole numbers that are too large
    for TOML's are reals.

    >>> toml_value({"n": [1, 2.5], "exact": True}, "point")
    '{ n = [1, 2.5], exact = true }'
    >>> toml_value({"n": [1, None]}, "point")
    Traceback (most recent call last):
        ...
    assay.UserError: point.n[1]: TOML has no value like this, of type NoneType: None
    """
    return _value(value, what, wide, ())


def _value(value: Any, what: str, wide: bool, outer: tuple[int, ...]) -> str:
    """`outer` are those that the value is within."""
    if hasattr(value, "tolist"):  # NumPy's
        value = value.tolist()
    if isinstance(value, (Mapping, list, tuple)):
        if id(value) in outer:
            raise UserError(f"{what}: is within itself")
        if len(outer) == _DEEPEST:
            raise UserError(f"{what}: nested more than {_DEEPEST} times")
        outer = (*outer, id(value))
    if isinstance(value, Mapping):
        items = [f"{toml_key(key, what)} = {_value(item, f'{what}.{key}', wide, outer)}" for key, item in value.items()]
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item, f"{what}[{i}]", wide, outer) for i, item in enumerate(value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _whole(value, what, wide)
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else "nan" if math.isnan(value) else f"{value:+}"
    if isinstance(value, (str, PurePath)):
        return toml_text(text(str(value), what))
    raise UserError(f"{what}: TOML has no value like this, of type {type(value).__name__}: {shown(value)}")


def _whole(value: int, what: str, wide: bool) -> str:
    if _LEAST_INTEGER <= value <= _GREATEST_INTEGER:
        return str(int(value))
    try:
        if wide:
            return repr(float(value))
    except OverflowError:
        pass
    raise UserError(f"{what}: whole numbers of TOML are from -2^63 to 2^63 - 1, not {shown(value)}")
