# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""How arguments and results are nested, as archives of torch.export write it down.

Tuples, lists, dicts and leaves need nothing; trees with anything else (named tuples, caches of other packages, whatever
somebody registered with torch) are torch's to take apart."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ._errors import UserError
from ._modules import needed

_MAKERS: dict[str, Any] = {"builtins.tuple": tuple, "builtins.list": list, "builtins.dict": dict, "collections.OrderedDict": OrderedDict}


class Tree(Protocol):
    """A shape of nested values."""

    @property
    def count(self) -> int:
        """Of its leaves."""

    def leaves(self, value: Any, name: str) -> list[Any]:
        """The leaves of a value of this shape, in order. Raises UserError that says where it is not."""

    def built(self, leaves: list[Any]) -> Any:
        """The value of this shape with these leaves."""


@dataclass(frozen=True)
class _Plain:
    kind: str | None  # a name of _MAKERS; None: a leaf
    keys: tuple[str, ...]  # of a dict
    children: tuple[_Plain, ...]

    @property
    def count(self) -> int:
        return 1 if self.kind is None else sum(child.count for child in self.children)

    def leaves(self, value: Any, name: str) -> list[Any]:
        if self.kind is None:
            return [value]
        maker = _MAKERS[self.kind]
        if not isinstance(value, maker):
            raise UserError(f"{name}: expected a {maker.__name__}, got a {type(value).__name__}")
        if issubclass(maker, dict):
            for key in value:
                if key not in self.keys:
                    raise UserError(f"{name}: there is no {key!r} in the program that was exported")
            for key in self.keys:
                if key not in value:
                    raise UserError(f"{name}: {key!r} is missing")
        elif len(value) != len(self.children):
            raise UserError(f"{name}: expected {len(self.children)} in it, got {len(value)}")
        keys = self.keys if issubclass(maker, dict) else range(len(self.children))
        return [leaf for key, child in zip(keys, self.children, strict=True)
                for leaf in child.leaves(value[key], f"{name}[{key!r}]")]

    def built(self, leaves: list[Any]) -> Any:
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.kind is None:
            return next(leaves)
        values = [child._build(leaves) for child in self.children]
        maker = _MAKERS[self.kind]
        return maker(zip(self.keys, values, strict=True)) if issubclass(maker, dict) else maker(values)


@dataclass(frozen=True)
class _Torchs:
    spec: Any  # torch.utils._pytree.TreeSpec
    pytree: Any

    @property
    def count(self) -> int:
        return int(self.spec.num_leaves)

    def leaves(self, value: Any, name: str) -> list[Any]:
        leaves, spec = self.pytree.tree_flatten(value)
        if spec != self.spec:
            raise UserError(f"{name}: nested otherwise than in the program that was exported: {spec}, not {self.spec}")
        return list(leaves)

    def built(self, leaves: list[Any]) -> Any:
        return self.pytree.tree_unflatten(leaves, self.spec)


def _plain(spec: dict[str, Any]) -> _Plain | None:
    """None where something in it is not ours to make."""
    kind = spec["type"]
    if kind is not None and kind not in _MAKERS:
        return None
    children = [_plain(child) for child in spec["children_spec"]]
    made = tuple(child for child in children if child is not None)
    if len(made) != len(children):
        return None
    is_dict = kind is not None and issubclass(_MAKERS[kind], dict)
    return _Plain(kind, _keys(spec, len(made)) if is_dict else (), made)


def _keys(spec: dict[str, Any], count: int) -> tuple[str, ...]:
    keys = json.loads(spec["context"])
    if not isinstance(keys, list) or len(keys) != count or any(isinstance(key, (list, dict)) for key in keys):
        raise ValueError(f"keys {spec['context']} of {count} values")
    return tuple(keys)


def tree_from(version: int, spec: dict[str, Any]) -> Tree:
    """Of what torch.utils._pytree.treespec_dumps writes: the version of its format, and the tree. Raises whatever
    reading raises where that is something else, UserError where nobody here knows what is nested."""
    plain = _plain(spec) if version == 1 else None
    if plain is not None:
        return plain
    pytree = needed("torch.utils._pytree")
    try:
        return _Torchs(pytree.treespec_loads(json.dumps([version, spec])), pytree)
    except (NotImplementedError, KeyError, ValueError) as why:
        raise UserError(f"the program takes or gives what is not known here: {why}") from None
