# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong type, refused by name before anything is done. What a function takes is what its annotations say."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import numbers as numeric
import os
import pathlib
import types
import typing
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ._errors import UserError
from ._texts import shown, text

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


def named(function: Callable[P, R]) -> Callable[P, R]:
    """A function that looks at its arguments first, and whose TypeError names the one that is wrong, what is expected,
    and what was given. Texts are whole and in UTF-8 (_texts.text).

    "cp: rank: a whole number, not of type str: 'two'". What is annotated as Any, and what `*` and `**` collect, is not
    looked at.
    """

    @functools.cache
    def known() -> tuple[inspect.Signature, dict[str, Any]]:
        signature, hints = inspect.signature(function), typing.get_type_hints(function)
        collected = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return signature, {name: hints[name] for name, each in signature.parameters.items()
                           if name in hints and each.kind not in collected}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, hints = known()
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python says what is wrong
        for name, value in given.items():
            wrong = _wrong(value, hints[name], name) if name in hints else None
            if wrong is not None:
                raise TypeError(f"{function.__name__}: {wrong}")
            if name in hints and isinstance(value, str):
                text(value, f"{function.__name__}: {name}")
        try:
            return function(*args, **kwargs)
        except TypeError:
            for name, value in given.items():  # what does not fit into the engines' own numbers
                within = value if is_sequence(value) else [value]
                if any(type(each) is int and not 0 <= each < 2**31 for each in within):
                    raise UserError(f"{function.__name__}: {name}: out of range: {shown(value)}") from None
            raise

    return call


def is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and _succeeds(index, value)


def is_number(value: Any) -> bool:
    """A real one: of Python, or of whoever's type becomes a float; no text, no flag, no list of one."""
    if isinstance(value, (bool, str, bytes, bytearray)) or getattr(value, "ndim", 0) != 0:
        return False
    kind = getattr(getattr(value, "dtype", None), "kind", "f")  # numpy.float64(1j) would only warn
    is_complex = isinstance(value, numeric.Complex) and not isinstance(value, numeric.Real)
    return not is_complex and kind in "iuf" and _succeeds(float, value)


def numbers(values: Any, what: str) -> NDArray[numpy.float64]:
    """A number or a list of them as an array of one axis. Raises TypeError that names what is none, UserError where
    there are none or where they lie otherwise."""
    import numpy

    array = None
    try:
        given = numpy.asarray(values)
        if given.dtype.kind in "iuf" or given.dtype.kind == "O" and all(map(is_number, given.flat)):
            array = numpy.atleast_1d(given.astype(numpy.float64))
    except Exception:  # whatever the maker of an array raises where it has none to give
        pass
    if array is None:
        raise TypeError(f"{what}: a number or a list of numbers, not of type {type(values).__name__}: {shown(values)}")
    if array.ndim != 1 or len(array) == 0:
        raise UserError(f"{what}: a number or a list of numbers, not of shape {array.shape}: {shown(values)}")
    return array


def _wrong(value: Any, hint: Any, name: str) -> str | None:
    """What is wrong with a value; None where nothing is. Of a sequence the first in it that is wrong is named."""
    if _fits(value, hint):
        return None
    if typing.get_origin(hint) is collections.abc.Sequence and is_sequence(value):
        within = (_wrong(each, typing.get_args(hint)[0], f"{name}[{i}]") for i, each in enumerate(value))
        return next(wrong for wrong in within if wrong is not None)
    return f"{name}: {_described(hint)}, not of type {type(value).__name__}: {shown(value)}"


def is_sequence(value: Any) -> bool:
    return (not isinstance(value, (str, bytes, bytearray, collections.abc.Mapping, collections.abc.Set))
            and _succeeds(iter, value) and _succeeds(len, value))


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is collections.abc.Sequence:
        return is_sequence(value) and all(_fits(each, parts[0]) for each in value)
    if hint is int:
        return is_whole(value)
    if hint is float:
        return is_number(value)
    of_class = os.PathLike if hint is pathlib.Path else kind or hint
    return of_class is Any or not isinstance(of_class, type) or isinstance(value, of_class)


def _succeeds(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except Exception:  # whatever the value's own type raises
        return False
    return True


_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", str: "a str", bool: "True or False",
                          types.NoneType: "None", os.PathLike: "a path", pathlib.Path: "a path", tuple: "a tuple",
                          collections.abc.Callable: "a function", collections.abc.Mapping: "a dict"}


def _described(hint: Any) -> str:
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        words = [_described(part) for part in parts]
        return f"{', '.join(words[:-1])} or {words[-1]}"
    if kind is collections.abc.Sequence:
        return f"a sequence, each of it {_described(parts[0])}"
    return _WORDS.get(kind or hint) or f"of type {getattr(kind or hint, '__name__', hint)}"
