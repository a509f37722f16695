# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Functions as providers of a case, which are measured in fresh processes and judged (docs/own.md)."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _program
from ._errors import UserError

Function = Callable[[dict[str, Any], dict[str, Any]], Any]


def toml_value(value: Any) -> str:
    """A value as TOML; JSON's texts, numbers and lists are such."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _reference(function: Callable[..., Any], what: str) -> str:
    """FILE.py:FUNCTION, by which a fresh process finds it again."""
    file = inspect.getsourcefile(inspect.unwrap(function))
    if file is None or not Path(file).exists() or function.__qualname__ != function.__name__:
        raise UserError(f"bench: {what} must be a function of a file, outside of any other, since fresh processes "
                        f"look for it there: {function.__qualname__}")
    return f"{Path(file).resolve()}:{function.__name__}"


class Benchmark:
    """A case made of functions; `bench` makes it. Called, it is the function that was decorated."""

    def __init__(self, function: Function, case: dict[str, Any]) -> None:
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self._function = function
        self._case = case
        self._providers: dict[str, dict[str, Any]] = {}
        self.provider(self.name)(function)

    def __call__(self, inputs: dict[str, Any], point: dict[str, Any]) -> Any:
        return self._function(inputs, point)

    def provider(self, name: str, **keys: Any) -> Callable[[Function], Function]:
        """Decorates another function that computes the same, under a name of its own; keys are those of a case
        file's [providers.NAME]: modules, setup, synchronise, description, unequal_work."""

        def added(function: Function) -> Function:
            self._providers[name] = {"python": _reference(function, f"provider {name}"), **keys}
            return function

        return added

    def case_file(self) -> str:
        """What `assay run` is given, as docs/own.md describes it."""
        case = {**self._case, "providers": self._providers}
        lines = [f"case = {toml_value(self.name)}"]
        lines += [f"{key} = {toml_value(value)}" for key, value in case.items() if not isinstance(value, Mapping)]
        for key, value in case.items():
            if isinstance(value, Mapping) and key in ("inputs", "outputs", "providers"):
                for name, table in value.items():
                    lines += ["", f"[{key}.{toml_value(name)}]", *(f"{k} = {toml_value(v)}" for k, v in table.items())]
            elif isinstance(value, Mapping):
                lines += ["", f"[{key}]", *(f"{k} = {toml_value(v)}" for k, v in value.items())]
        return "\n".join(lines) + "\n"

    def run(
        self,
        *,
        out: str | Path = "results",
        frame: str = "pandas",
        points: Any = None,
        **options: str | int | bool,
    ) -> Any:
        """Measures every provider at every point, each attempt in a fresh process, and returns the rows of this run.

        The journal is written into the folder `out`, the case file to out/cases. `options` are those of `assay run`:
        quick=True, rounds=20, steady="50ms", providers="softmax,torch", max_foreign="10%".
        """
        main = getattr(sys.modules.get("__main__"), "__spec__", None)
        if main is not None and main.name.startswith("assay_worker"):
            raise UserError(f"bench: {self.name}.run() is called when its file is imported: put it below "
                            "if __name__ == '__main__'")
        from .lab import rows

        cases = Path(out) / "cases"
        cases.mkdir(parents=True, exist_ok=True)
        case = cases / f"{self.name}.toml"
        case.write_text(self.case_file())
        said = ["--points", json.dumps(points)] if points is not None else []
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            said += [] if value is False else [flag] if value is True else [flag, str(value)]
        done = _program.run("run", str(case), *said, "--out", str(out), "--json")
        return rows(json.loads(done.output)["journal"], frame=frame)


def bench(
    *,
    inputs: Mapping[str, Mapping[str, Any]],
    outputs: Mapping[str, Any],
    oracle: Function | str,
    parameters: Mapping[str, Any],
    reduction: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    **tables: Any,
) -> Callable[[Function], Benchmark]:
    """Makes a case of a function f(inputs, point) -> array or dict of arrays.

    `parameters`: lists of values, whose grid is measured, and `quick`. `inputs`: the keys of a case file's
    [inputs.NAME] for each. `outputs`: a shape for each. `oracle`: a function of a file that computes the right answer
    in float64, or "none". The tolerance follows from dtype and the length of the `reduction`, or is `rtol`, `atol`.
    Further tables and keys (`work`, `limit`, `description`, `baseline`) are as in docs/own.md.

    >>> import numpy
    >>> @bench(parameters={"n": [256], "dtype": ["f32"]}, oracle="none", outputs={"y": ["n"]},
    ...        inputs={"x": {"shape": ["n"], "dtype": "dtype", "low": -1, "high": 1}})
    ... def doubled(inputs, point):
    ...     return inputs["x"] * 2
    Traceback (most recent call last):
        ...
    assay.UserError: bench: provider doubled must be a function of a file, outside of any other, since fresh processes \
look for it there: doubled
    """

    def made(function: Function) -> Benchmark:
        case: dict[str, Any] = {**tables, "parameters": parameters, "inputs": inputs}
        case["outputs"] = {name: of if isinstance(of, Mapping) else {"shape": list(of)} for name, of in outputs.items()}
        if isinstance(oracle, str):
            case["oracle"] = oracle
        else:
            judged = {"reduction": reduction, "rtol": rtol, "atol": atol}
            case["oracle"] = {"python": _reference(oracle, "oracle"),
                              **{key: value for key, value in judged.items() if value is not None}}
        return Benchmark(function, case)

    return made
