# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Data frames of pandas and polars. The type of a column follows from what the column is, never from the rows that
happen to be in it: where all are empty or some are missing it is the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from ._errors import UserError
from ._modules import needed
from ._texts import text


class Kind(Enum):
    """Of a column: its type in pandas and in polars."""

    TEXT = "string", "String"
    WHOLE = "Int64", "Int64"
    FLAG = "boolean", "Boolean"
    NUMBER = "float64", "Float64"  # what is missing is NaN in pandas


# Columns of `assay export` beside the point's and metrics, which are numbers.
_OF_ROWS = {
    **dict.fromkeys(("run_id", "attempt_id", "suite", "case", "point", "provider", "platform", "fingerprint", "status",
                     "failure_phase", "failure_code", "failure_message", "time_start", "commit", "isolation",
                     "fidelity_status"), Kind.TEXT),
    **dict.fromkeys(("cores", "round", "try", "order"), Kind.WHOLE),
}
_LEAST, _GREATEST = -(2**63), 2**63 - 1


def library(name: str) -> Any:
    """pandas or polars. Raises UserError for another, EnvironmentError where it is not installed."""
    if text(name, "frame") not in ("pandas", "polars"):
        raise UserError(f"frame: pandas or polars, not '{name}'")
    return needed(name)


def frame_of_rows(table: str, kind: str) -> Any:
    """What `assay export` printed."""
    of = library(kind)
    lines = csv.reader(io.StringIO(table, newline=""))
    titles = next(lines)
    at = titles.index("point")
    of_point = {f"point.{key}": each for key, each in _kinds(json.loads(point) for point in {line[at] for line in lines})}
    kinds = {title: _OF_ROWS.get(title) or (of_point.get(title, Kind.TEXT) if title.startswith("point.") else Kind.NUMBER)
             for title in titles}
    if kind == "polars":
        types = {title: getattr(of, each.value[1]) for title, each in kinds.items()}
        return of.read_csv(io.StringIO(table), schema=types, null_values="")
    # A text may be "null" or "nan".
    missing = {title: ["", "nan"] if each is Kind.NUMBER else [""] for title, each in kinds.items()}
    return of.read_csv(io.StringIO(table), dtype={title: each.value[0] for title, each in kinds.items()},
                       keep_default_na=False, na_values=missing)


def frame_of(columns: Mapping[str, tuple[Kind, list[Any]]], kind: str) -> Any:
    """Columns by their titles; None is missing."""
    of = library(kind)
    if kind == "polars":
        return of.DataFrame([of.Series(title, values, getattr(of, each.value[1])) for title, (each, values) in columns.items()])
    return of.DataFrame({title: of.Series(values, dtype=each.value[0]) for title, (each, values) in columns.items()})


def _kinds(points: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Kind]]:
    """Of every parameter of these points: what holds all values that it has."""
    values: dict[str, list[Any]] = {}
    for point in points:
        for key, value in point.items():
            values.setdefault(key, []).append(value)
    for key, of_key in values.items():
        types = {type(value) for value in of_key if value is not None}
        if types == {bool}:
            yield key, Kind.FLAG
        elif types == {int}:
            fits = all(value is None or _LEAST <= value <= _GREATEST for value in of_key)
            yield key, Kind.WHOLE if fits else Kind.TEXT
        elif types and types <= {int, float}:
            yield key, Kind.NUMBER
        else:
            yield key, Kind.TEXT
