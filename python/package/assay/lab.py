# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The laboratory: rows as data frames, comparisons, gates, and benchmarks of functions of one's own.

It is the program `assay` that measures, judges and decides (`make build`, `make install`); it is found in PATH, or by
ASSAY_PROGRAM. docs/own.md and docs/methods/decisions.md say what the numbers mean.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _program
from ._arguments import named
from ._bench import Benchmark, bench
from ._frames import Kind, frame_of, frame_of_rows, library
from ._texts import path

__all__ = ["Benchmark", "Comparison", "Gate", "bench", "check_baseline", "compare", "gate", "rows"]


def _sources(given: tuple[str | Path, ...], call: str) -> list[str]:
    return [path(source, f"{call}: source {number}") for number, source in enumerate(given)]


@named
def rows(*sources: str | Path, run: str | None = None, latest: bool = False, frame: str = "pandas") -> Any:
    """Every row of journals, folders of them or stores (results/), one for each attempt, as a data frame.

    `run` selects one by the beginning of its id, `latest` the newest run of each provider at each point. Parameters
    of a point are the columns point.NAME; metrics are in SI units. Types are those of the columns, whatever rows
    hold: texts, numbers (metrics always), whole numbers and flags, of which some may be missing.
    """
    library(frame)
    options = [*([_program.option("run", run)] if run is not None else []), *(["--latest"] if latest else [])]
    return frame_of_rows(_program.run("export", *options, operands=_sources(sources, "rows")).output, frame)


# Columns of Comparison.frame().
_OF_PAIRS = {
    "suite": Kind.TEXT, "case": Kind.TEXT, "point": Kind.TEXT, "provider": Kind.TEXT, "platform": Kind.TEXT,
    "fingerprint": Kind.TEXT, "cores": Kind.WHOLE, "isolation": Kind.TEXT, "problem": Kind.TEXT,
    "metric": Kind.TEXT, "pairing": Kind.TEXT, "ratio": Kind.NUMBER, "low": Kind.NUMBER, "high": Kind.NUMBER,
    "p": Kind.NUMBER, "p_adjusted": Kind.NUMBER, "differs": Kind.FLAG, "verdict": Kind.TEXT, "rounds": Kind.WHOLE,
    "minimum_detectable_effect": Kind.NUMBER, "rounds_needed": Kind.WHOLE, "a": Kind.NUMBER, "b": Kind.NUMBER,
}


def _number(value: Any) -> float | None:
    """JSON has no NaN and no infinities: they are texts."""
    return None if value is None else float(value)


def _median(side: dict[str, Any] | None) -> Any:
    return None if side is None else side["median"]


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: everything of b over a, so that below 1 b is smaller."""

    data: dict[str, Any]  # as `assay compare --json` prints it

    def __repr__(self) -> str:
        verdicts = Counter(pair["verdict"] for pair in self.data["comparisons"])
        return f"<assay.lab.Comparison: {', '.join(f'{count} × {verdict}' for verdict, count in verdicts.items()) or 'no pairs'}>"

    def frame(self, kind: str = "pandas") -> Any:
        """One row for each pair: ratio, interval, verdict, and the smallest effect that would have been seen."""
        pairs = [{**pair, "point": json.dumps(pair["point"]), "a": _median(pair["a"]), "b": _median(pair["b"])}
                 for pair in self.data["comparisons"]]
        return frame_of({title: (of, [_number(pair.get(title)) if of is Kind.NUMBER else pair.get(title) for pair in pairs])
                         for title, of in _OF_PAIRS.items()}, kind)


@named
def compare(a: str | Path, b: str | Path, *sources: str | Path, metric: str | None = None, pool: bool = False) -> Comparison:
    """Two providers, runs, commits or sources, whose rows are in `sources` (results/)."""
    options = [*([_program.option("metric", metric)] if metric is not None else []), *(["--pool"] if pool else [])]
    sides = [path(a, "compare: a"), path(b, "compare: b")]
    done = _program.run("compare", *options, "--json", operands=[*sides, *_sources(sources, "compare")])
    return Comparison(json.loads(done.output))


@dataclass(frozen=True)
class Gate:
    """Whether anything became slower or wrong: status 0 passed, 1 slower, 3 not known, 4 wrong."""

    status: int
    data: dict[str, Any] = field(repr=False)  # as `assay gate --json` prints it

    @property
    def passed(self) -> bool:
        return self.status == 0


@named
def check_baseline(baseline: str | Path) -> None:
    """Raises UserError where `gate` could hold nothing to this baseline: what may be asked before minutes of measuring."""
    _program.run("gate", _program.option("baseline", path(baseline, "check_baseline: baseline")), "--dry-run")


def _share(given: float | str) -> str:
    return given if isinstance(given, str) else repr(float(given))


@named
def gate(
    baseline: str | Path,
    current: str | Path,
    *,
    delta: float | str = 0.05,
    alpha: float | str = 0.05,
    strict: bool = False,
    junit: str | Path | None = None,
) -> Gate:
    """Holds rows of now to those of a baseline: sources, runs or commits. `delta`: how much slower is too slow, as a
    share (0.05) or a text ("5%")."""
    options = [_program.option("baseline", path(baseline, "gate: baseline")),
               _program.option("current", path(current, "gate: current")),
               _program.option("delta", _share(delta)), _program.option("alpha", _share(alpha)), *(["--strict"] if strict else [])]
    if junit is not None:
        options.append(_program.option("junit", path(junit, "gate: junit")))
    done = _program.run("gate", *options, "--json")
    return Gate(done.status, json.loads(done.output))
