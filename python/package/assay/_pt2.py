# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Archives of torch.export."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from . import _core
from ._arguments import named
from ._errors import EnvironmentError, UserError
from ._texts import path as path_text
from ._texts import shown
from ._trees import Tree, tree_from


@dataclass(frozen=True)
class Input:
    """A tensor that a program takes."""

    name: str  # as torch.export has it: of a dict `d` with the key `q`, "d_q"
    dtype: str
    shape: tuple[int | str, ...]  # a text is an expression of sizes that a call decides


class Exported:
    """A program that torch.export wrote, compiled; `load_pt2` makes it. Call it as the module that was exported.

    It takes arrays of NumPy, torch and jax and gives the kind that it got, nested as the module had it. Arrays are
    taken where they are if their elements lie in order without gaps, others are copied; arrays that the module writes
    in place are written. Buffers that the module changes live on with this object.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path_text(path, "load_pt2: path")
        self._program = _core.load_pt2(self._path)
        self._arguments = self._program.arguments()
        signature = json.loads(self._program.signature() or "null")
        self._by_place: dict[str, Tree] | None = None  # None: leaves, one after the other
        self._by_name: dict[str, Tree] = {}
        self._gives: Tree | None = None
        if signature is not None:
            try:
                self._read_trees(signature)
            except EnvironmentError:
                raise  # what reads it is not there
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as why:
                said = f"no {why}" if isinstance(why, KeyError) else str(why)
                raise UserError(f"{self._path}: module_call_graph[0].signature, by which arguments and results are nested, "
                                f"cannot be read: {said}") from None

    def _read_trees(self, signature: dict[str, Any]) -> None:
        version, spec = json.loads(signature["in_spec"])
        by_place, by_name = spec["children_spec"]
        trees = [tree_from(version, child) for child in by_place["children_spec"]]
        names = signature.get("forward_arg_names") or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"forward_arg_names is {json.dumps(names)}")
        names = names[: len(trees)] if len(names) >= len(trees) else [f"argument {i}" for i in range(len(trees))]
        self._by_place = dict(zip(names, trees, strict=True))
        self._by_name = {name: tree_from(version, child) for name, child in
                         zip(json.loads(by_name["context"]), by_name["children_spec"], strict=True)}
        version, spec = json.loads(signature["out_spec"])
        self._gives = tree_from(version, spec)
        taken = sum(tree.count for tree in (*self._by_place.values(), *self._by_name.values()))
        for what, said, found in (("arguments", taken, len(self._arguments)),
                                  ("results", self._gives.count, self._program.result_count())):
            if said != found:
                raise ValueError(f"it has {said} {what}, the program {found}")

    @property
    def inputs(self) -> list[Input]:
        """The tensors that it takes, in order."""
        found = []
        for kind, name, _ in self._arguments:
            if kind == "tensor":
                dtype, shape = self._program.described(name)
                found.append(Input(name, dtype, tuple(int(text) if text.isdigit() else text for text in shape)))
        return found

    def explain(self) -> str:
        """What is computed, a line for each kernel, as `assay compile --explain` has it."""
        return self._program.explained()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self._leaves(args, kwargs)
        for leaf, (kind, name, value) in zip(leaves, self._arguments, strict=False):
            if kind == "constant":
                self._check_constant(leaf, name, value)
        results = self._program.call(tuple(leaves))
        if self._gives is None:
            return results[0] if len(results) == 1 else tuple(results)
        return self._gives.built(results)

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if self._by_place is None:
            if kwargs:
                raise UserError(f"{self._path}: arguments have no names here: {', '.join(kwargs)}")
            return list(args)
        if len(args) > len(self._by_place):
            raise UserError(f"{self._path}: takes {len(self._by_place)} arguments by place, got {len(args)}")
        trees = {**self._by_place, **self._by_name}
        given = dict(zip(self._by_place, args, strict=False))
        for name, value in kwargs.items():
            if name not in trees or name in given:
                why = "is given twice" if name in given else f"is no argument; they are {', '.join(trees)}"
                raise UserError(f"{self._path}: '{name}' {why}")
            given[name] = value
        missing = [name for name in trees if name not in given]
        if missing:
            raise UserError(f"{self._path}: arguments are missing: {', '.join(missing)}")
        return [leaf for name, tree in trees.items() for leaf in tree.leaves(given[name], f"{self._path}: {name}")]

    def _check_constant(self, leaf: Any, name: str, value: str) -> None:
        (kind, constant), = json.loads(value).items()
        expected = None if kind == "as_none" else constant
        if leaf is not expected and (type(leaf) is not type(expected) or leaf != expected):
            raise UserError(f"{self._path}: input '{name}' was {expected!r} when the program was exported, "
                            f"and is part of it: got {shown(leaf)}")

    def __reduce__(self) -> Any:
        raise TypeError("an assay.Exported cannot be pickled or copied: it has the state of its process. "
                        f"assay.load_pt2({self._path!r}) makes a new one")

    def __repr__(self) -> str:
        taken = (f"{each.name}: {each.dtype} [{', '.join(map(str, each.shape))}]" for each in self.inputs)
        return f"<assay.Exported {self._path!r} of {', '.join(taken)}>"


@named
def load_pt2(path: str | os.PathLike[str]) -> Exported:
    """An archive that `torch.export.save` wrote, through the compiler: something to call.

    Nothing of torch is needed to run it. Sizes that were exported as dynamic are what each call's arrays say. Operators
    that are not covered are named, all at once; `assay compile --operators` lists those that are. docs/compiler.md has
    what of torch's programs cannot be.

    >>> import os, tempfile
    >>> import torch
    >>> path = os.path.join(tempfile.mkdtemp(), "double.pt2")
    >>> class Double(torch.nn.Module):
    ...     def forward(self, x):
    ...         return {"twice": 2 * x, "rows": x.shape[0]}
    >>> sizes = {"x": {0: torch.export.Dim.DYNAMIC}}
    >>> torch.export.save(torch.export.export(Double(), (torch.ones(3, 2),), dynamic_shapes=sizes), path)
    >>> import numpy
    >>> load_pt2(path)(numpy.eye(2, dtype="float32"))
    {'twice': array([[2., 0.],
           [0., 2.]], dtype=float32), 'rows': 2}
    """
    return Exported(path)
