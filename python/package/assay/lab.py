# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The laboratory: rows as data frames, comparisons, gates, and benchmarks of functions of one's own.

It is the program `assay` that measures, judges and decides (`make build`, `make install`); it is found in PATH, or by
ASSAY_PROGRAM. docs/own.md and docs/methods/decisions.md say what the numbers mean.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _program
from ._bench import Benchmark, bench
from ._errors import UserError
from ._modules import needed

__all__ = ["Benchmark", "Comparison", "Gate", "bench", "compare", "gate", "rows"]


def _frame(kind: str) -> Any:
    if kind not in ("pandas", "polars"):
        raise UserError(f"frame: pandas or polars, not '{kind}'")
    return needed(kind)


def rows(*sources: str | Path, run: str | None = None, latest: bool = False, frame: str = "pandas") -> Any:
    """Every row of journals, folders of them or stores (results/), one for each attempt, as a data frame.

    `run` selects one by the beginning of its id, `latest` the newest run of each provider at each point. Parameters
    of a point are the columns point.NAME; metrics are in SI units.
    """
    library = _frame(frame)
    options = [*(["--run", run] if run is not None else []), *(["--latest"] if latest else [])]
    text = _program.run("export", *map(str, sources), *options).output
    if frame == "polars":
        return library.read_csv(io.StringIO(text), infer_schema_length=None)
    return library.read_csv(io.StringIO(text))


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: everything of b over a, so that below 1 b is smaller."""

    data: dict[str, Any]  # as `assay compare --json` prints it

    def __repr__(self) -> str:
        verdicts = Counter(pair["verdict"] for pair in self.data["comparisons"])
        return f"<assay.lab.Comparison: {', '.join(f'{count} × {verdict}' for verdict, count in verdicts.items()) or 'no pairs'}>"

    def frame(self, kind: str = "pandas") -> Any:
        """One row for each pair: ratio, interval, verdict, and the smallest effect that would have been seen."""
        pairs = [{**pair, "point": json.dumps(pair["point"]), "a": pair["a"] and pair["a"]["median"],
                  "b": pair["b"] and pair["b"]["median"]} for pair in self.data["comparisons"]]
        return _frame(kind).DataFrame(pairs)


def compare(a: str, b: str, *sources: str | Path, metric: str | None = None, pool: bool = False) -> Comparison:
    """Two providers, runs, commits or sources, whose rows are in `sources` (results/)."""
    options = [*(["--metric", metric] if metric is not None else []), *(["--pool"] if pool else [])]
    return Comparison(json.loads(_program.run("compare", a, b, *map(str, sources), *options, "--json").output))


@dataclass(frozen=True)
class Gate:
    """Whether anything became slower or wrong: status 0 passed, 1 slower, 3 not known, 4 wrong."""

    status: int
    data: dict[str, Any] = field(repr=False)  # as `assay gate --json` prints it

    @property
    def passed(self) -> bool:
        return self.status == 0


def gate(
    baseline: str | Path,
    current: str | Path,
    *,
    delta: float = 0.05,
    alpha: float = 0.05,
    strict: bool = False,
    junit: str | Path | None = None,
) -> Gate:
    """Holds rows of now to those of a baseline: sources, runs or commits. `delta`: how much slower is too slow."""
    options = ["--delta", repr(delta), "--alpha", repr(alpha), *(["--strict"] if strict else [])]
    if junit is not None:
        options += ["--junit", str(junit)]
    done = _program.run("gate", "--baseline", str(baseline), "--current", str(current), *options, "--json")
    return Gate(done.status, json.loads(done.output))
