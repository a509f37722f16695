# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong type, refused by name. What a function takes is what its annotations say."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import os
import pathlib
import types
import typing
from collections.abc import Callable
from operator import index
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def named(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose TypeError names the argument, what is expected, and what was given.

    "cp: rank: a whole number, not of type str: 'two'". Arguments are looked at only once a call has failed, so that one
    that goes well costs nothing.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if str(error).startswith(f"{function.__name__}: "):
                raise
            wrong = _wrong(function, args, kwargs)
            if wrong is None:
                raise
        raise TypeError(f"{function.__name__}: {wrong}")

    return call


def _wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """The first argument that is not what it is annotated as; None where Python says what is wrong, or nothing is."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    hints = typing.get_type_hints(function)
    for name, value in given.items():
        if name in hints and not _fits(value, hints[name]):
            return f"{name}: {_described(hints[name])}, not of type {type(value).__name__}: {value!r}"
    # What does not fit into the engines' own numbers.
    for name, value in given.items():
        if type(value) is int and not 0 <= value < 2**31:
            return f"{name}: out of range: {value}"
    return None


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is collections.abc.Sequence:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            return False
        return all(_fits(each, parts[0]) for each in value)
    if hint is int:
        return not isinstance(value, bool) and _succeeds(index, value)
    if hint is float:
        return not isinstance(value, (bool, str, bytes)) and _succeeds(float, value)
    of_class = kind or hint
    return of_class is Any or not isinstance(of_class, type) or isinstance(value, of_class)


def _succeeds(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", str: "a str", bool: "True or False",
                          types.NoneType: "None", os.PathLike: "a path", pathlib.Path: "a path", tuple: "a tuple"}


def _described(hint: Any) -> str:
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        words = [_described(part) for part in parts]
        return f"{', '.join(words[:-1])} or {words[-1]}"
    if kind is collections.abc.Sequence:
        return f"a sequence, each of it {_described(parts[0])}"
    return _WORDS.get(kind or hint) or f"of type {getattr(kind or hint, '__name__', hint)}"
