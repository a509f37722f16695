# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Functions as providers of a case, which are measured in fresh processes and judged (docs/own.md)."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from . import _program
from ._arguments import is_sequence, named
from ._errors import UserError
from ._files import writing
from ._frames import library
from ._texts import path, shown, text
from ._toml import toml_key, toml_text, toml_value

Function = Callable[[dict[str, Any], dict[str, Any]], Any]


def _reference(function: Any, what: str) -> str:
    """FILE.py:FUNCTION, by which a fresh process finds it again. Raises UserError that says why none could."""

    def refuse(why: str) -> NoReturn:
        name = getattr(function, "__qualname__", None) or shown(function)
        raise UserError(f"bench: {what} {why}, and a fresh process looks for a function in a file, outside of any other, "
                        f"by its name: {name}")

    original = inspect.unwrap(function) if callable(function) else None
    if not inspect.isfunction(original):
        refuse(f"is no function but of type {type(function).__name__}")
    if inspect.iscoroutinefunction(original) or inspect.isgeneratorfunction(original) or inspect.isasyncgenfunction(original):
        raise UserError(f"bench: {what} is async or a generator, which called does nothing yet, and nothing would be "
                        f"measured: {function.__name__}")
    if function.__name__ == "<lambda>":
        refuse("is a lambda, which has no name")
    if function.__qualname__ != function.__name__:
        inside = "a function" if "<locals>" in function.__qualname__ else "a class"
        refuse(f"is inside {inside}")
    file = inspect.getsourcefile(original)
    if file is None or not Path(file).exists():
        refuse("is in no file, but was typed into a notebook or a prompt")
    return f"{text(str(Path(file).resolve()), f'bench: the file of {what}')}:{function.__name__}"


def _lines(table: Mapping[str, Any], what: str) -> list[str]:
    return [f"{toml_key(key, what)} = {toml_value(value, f'{what}.{key}')}" for key, value in table.items()]


def _shape(given: Any, what: str) -> list[Any]:
    if not is_sequence(given):
        raise TypeError(f"bench: {what}: a list of extents, not of type {type(given).__name__}: {shown(given)}")
    return list(given)


def _option(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{flag}"] if value else []
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"run: {flag}: a str, a number, True or False, not of type {type(value).__name__}: {shown(value)}")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise UserError(f"run: {flag}: out of range: {shown(value)}")
    return [_program.option(flag, str(value))]


def _json(points: Any) -> str:
    """Points as `assay run --points` takes them: a word, or JSON, where arrays and numbers of NumPy are lists and numbers."""
    if isinstance(points, str):
        return points
    try:
        return json.dumps(points, allow_nan=False, default=lambda value: value.tolist())
    except (TypeError, ValueError, AttributeError, RecursionError) as why:
        raise UserError(f"run: points: no JSON can be made of it, {why}: {shown(points)}") from None


class Benchmark:
    """A case made of functions; `bench` makes it. Called, it is the function that was decorated."""

    def __init__(self, function: Function, case: dict[str, Any]) -> None:
        self.name = getattr(function, "__name__", "")
        self.__doc__ = function.__doc__
        self._function = function
        self._case = case
        self._providers: dict[str, dict[str, Any]] = {}
        self._functions: dict[str, Function] = {}  # by their references
        self.provider(self.name)(function)

    def __call__(self, inputs: dict[str, Any], point: dict[str, Any]) -> Any:
        return self._function(inputs, point)

    @named
    def provider(self, name: str, **keys: Any) -> Callable[[Function], Function]:
        """Decorates another function that computes the same, under a name of its own; keys are those of a case
        file's [providers.NAME]: modules, setup, synchronise, description, unequal_work."""

        def added(function: Function) -> Function:
            if name in self._providers:
                raise UserError(f"bench: there is a provider of this name already: {shown(name)}")
            self._providers[name] = {"python": self._found_again(function, f"provider {name}"), **keys}
            return function

        return added

    def _found_again(self, function: Function, what: str) -> str:
        """Its reference. Of two functions with one name, a fresh process finds the last of their file."""
        reference = _reference(function, what)
        known = self._functions.setdefault(reference, function)
        if known is not function:
            raise UserError(f"bench: {what} has the name of another function of its file, and a fresh process finds only "
                            f"one of them: {function.__name__}")
        return reference

    def case_file(self) -> str:
        """What `assay run` is given, as docs/own.md describes it."""
        case = {**self._case, "providers": self._providers}
        lines = [f"case = {toml_text(self.name)}"]
        lines += [f"{toml_key(key, 'bench')} = {toml_value(value, key)}" for key, value in case.items() if not isinstance(value, Mapping)]
        for key, value in case.items():
            if isinstance(value, Mapping) and key in ("inputs", "outputs", "providers"):
                for name, table in value.items():
                    lines += ["", f"[{key}.{toml_text(name)}]", *_lines(table, f"{key}.{name}")]
            elif isinstance(value, Mapping):
                lines += ["", f"[{toml_key(key, 'bench')}]", *_lines(value, key)]
        return "\n".join(lines) + "\n"

    @named
    def run(
        self,
        *,
        out: str | Path = "results",
        frame: str = "pandas",
        points: Any = None,
        **options: str | int | float | bool,
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

        library(frame)
        folder = path(out, "run: out")
        said = [_program.option("points", _json(points))] if points is not None else []
        for name, value in options.items():
            said += _option(name.replace("_", "-"), value)
        content = self.case_file()
        case = Path(folder) / "cases" / f"{self.name}.toml"
        with writing(f"'{case}'"):
            case.parent.mkdir(parents=True, exist_ok=True)
            case.write_text(content, encoding="utf-8")
        done = _program.run("run", *said, _program.option("out", folder), "--json", operands=[str(case)])
        try:
            journal = json.loads(done.output)["journal"]
        except (ValueError, KeyError):  # what assay says of itself, or of a plan
            raise UserError(f"run: nothing is measured with these options: {', '.join(options)}") from None
        return rows(journal, frame=frame)


@named
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
    assay.UserError: bench: provider doubled is in no file, but was typed into a notebook or a prompt, and a fresh process \
looks for a function in a file, outside of any other, by its name: doubled
    """

    if "providers" in tables:
        raise UserError("bench: providers are functions that NAME.provider(…) decorates, and no table")

    def made(function: Function) -> Benchmark:
        for name, table in inputs.items():
            if not isinstance(table, Mapping):
                raise TypeError(f"bench: inputs.{name}: a dict, not of type {type(table).__name__}: {shown(table)}")
        case: dict[str, Any] = {**tables, "parameters": parameters, "inputs": inputs}
        case["outputs"] = {name: of if isinstance(of, Mapping) else {"shape": _shape(of, f"outputs.{name}")}
                           for name, of in outputs.items()}
        benchmark = Benchmark(function, case)
        if isinstance(oracle, str):
            case["oracle"] = oracle
        else:
            judged = {"reduction": reduction, "rtol": rtol, "atol": atol}
            case["oracle"] = {"python": benchmark._found_again(oracle, "oracle"),
                              **{key: value for key, value in judged.items() if value is not None}}
        return benchmark

    return made
