# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Contractions."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from importlib import import_module
from operator import index
from typing import Any

from . import _core
from ._arguments import is_sequence, is_whole, named
from ._errors import OnDevice, UserError
from ._texts import shown

# Our names of dtypes by those of NumPy, torch and jax.
_DTYPES = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128", "bfloat16": "bf16"}


def _dtype_name(dtype: Any) -> str:
    try:
        return _known_dtype_name(dtype)
    except TypeError:  # what has no hash
        raise UserError(f"dtype: no dtype of NumPy, torch or jax: {shown(dtype)}") from None


@functools.lru_cache(maxsize=64, typed=True)
def _known_dtype_name(dtype: Any) -> str:
    import numpy

    try:
        name = str(dtype).removeprefix("torch.")
        if name not in _DTYPES:
            name = numpy.dtype(dtype).name
    except (TypeError, ValueError):
        raise UserError(f"dtype: no dtype of NumPy, torch or jax: {shown(dtype)}") from None
    if name not in _DTYPES:
        raise UserError(f"dtype: contractions are computed in {', '.join(_DTYPES)}, not '{name}'")
    return _DTYPES[name]


def _interleaved(arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The text and the operands of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""

    def label(given: Any) -> str:
        try:
            return "..." if given is Ellipsis else f"{{{index(given)}}}"
        except TypeError:
            raise UserError(f"einsum: labels in lists are whole numbers and Ellipsis, not {shown(given)}") from None

    def term(labels: Sequence[Any]) -> str:
        if not isinstance(labels, (list, tuple, range)):
            raise UserError("einsum: without an expression, every operand is followed by a list of its labels, "
                            f"not by one of type {type(labels).__name__}")
        return "".join(map(label, labels))

    pairs = len(arguments) // 2
    if pairs == 0:
        raise UserError("einsum: an expression and its operands are needed")
    text = ",".join(term(arguments[2 * i + 1]) for i in range(pairs))
    if len(arguments) % 2:
        text += "->" + term(arguments[-1])
    return text, arguments[: 2 * pairs : 2]


def _device() -> Any:
    """What computes on a GPU, first loaded when an array lies there."""
    return import_module("._device", __package__)


def _check_optimize(optimize: Any) -> None:
    if not isinstance(optimize, (bool, str)):
        raise UserError(f"einsum: optimize says whether to search for an order, which always is searched for, "
                        f"and cannot be one: {shown(optimize)}")


def einsum(
    expression: Any,
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    memory: int | str | None = None,
    backend: str | None = None,
    optimize: bool | str = True,
) -> Any:
    """A contraction of any number of arrays, in the notation of `numpy.einsum`.

    Operands are arrays of NumPy, torch or jax (or lists and numbers, of which arrays of float64 are made) in float32,
    float64, complex64, complex128 or bfloat16, with any strides; nothing is copied on the way in or out. The
    result is an array of torch or jax where an operand is one, else of NumPy; its dtype is the one that holds
    those of the operands, or `dtype`. `out` is written to and returned. Where the arrays lie in the memory of an NVIDIA
    GPU, all of them, so does the result (torch, jax, cupy); tensors of torch are worked on in their current stream.

    The order of the contractions is always searched for, and kept for the next call. `memory`
    bounds the bytes of everything that lives at a time, as a number or as text ("1GiB"). `backend` is "blas",
    the default, or "reference": plain loops; on a GPU "cuda". `optimize` is there for callers of `numpy.einsum`.

    >>> import numpy
    >>> a, b = numpy.arange(6.0).reshape(2, 3), numpy.ones((3, 2))
    >>> einsum("ij,jk->ik", a, b)
    array([[ 3.,  3.],
           [12., 12.]])
    >>> einsum(a, [0, 1], a, [0, 1], [0])
    array([ 5., 50.])
    """
    if type(expression) is not str and not isinstance(expression, str):
        expression, operands = _interleaved((expression, *operands))
    if optimize is not True:
        _check_optimize(optimize)
    if dtype is not None:
        dtype = _dtype_name(dtype)
    try:
        return _core.einsum(expression, operands, out, dtype, memory, backend)
    except OnDevice:
        pass
    return _device().einsum(expression, operands, out, dtype, memory, backend)


class Plan:
    """A contraction that is decided: its steps, in order, and what computes them. `plan()` makes it."""

    def __init__(self, plan: _core.Plan) -> None:
        self._plan = plan
        self.mac, self.flop, self.predicted_s, self.peak_bytes = plan.numbers()
        self.shape = tuple(plan.shape())
        self.path = [tuple(pair) for pair in plan.linear_path()]

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """The contraction of operands with the dtypes, shapes and strides that the plan was made for, on its device."""
        return self._plan.run(operands, out)

    def explain(self) -> str:
        """What is computed, in which order and why so, a line for each step."""
        return self._plan.explain_text()

    def to_dict(self) -> dict[str, Any]:
        """The same for programs, as `assay einsum --explain --json` prints it."""
        explained: dict[str, Any] = json.loads(self._plan.explain_json())
        return explained

    def __copy__(self) -> Plan:
        return self  # nothing changes it

    def __deepcopy__(self, _: Any) -> Plan:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("an assay.Plan cannot be pickled, it belongs to the engines of its process: assay.plan() makes it "
                        f"again, of {self.to_dict()['expression']!r}")

    def __repr__(self) -> str:
        return f"<assay.Plan of {self.to_dict()['expression']!r}: {self.flop:.4g} FLOP>"


def plan(
    expression: str,
    *operands: Any,
    dtype: Any = None,
    memory: int | str | None = None,
    backend: str | None = None,
    objective: str | None = None,
) -> Plan:
    """The plan that `einsum` would follow, to be looked at, and called as often as wanted.

    Operands are arrays, or shapes as tuples, which stand for contiguous float64 arrays where the others lie. `objective` is what the
    order should be best at: "time" (as predicted, the default), "flop", "mac" or "write".

    >>> chain = plan("ij,jk,kl->il", (100, 200), (200, 5), (5, 50), objective="flop")
    >>> chain.path, chain.flop
    ([(0, 1), (0, 1)], 250000.0)
    >>> print(chain.explain().split()[0])
    ij,jk,kl->il
    """
    if dtype is not None:
        dtype = _dtype_name(dtype)
    try:
        return Plan(_core.plan(expression, operands, dtype, memory, backend, objective))
    except OnDevice:
        pass
    return Plan(_device().plan(expression, operands, dtype, memory, backend, objective))


def einsum_path(
    expression: Any, *operands: Any, optimize: bool | str = True, **options: Any
) -> tuple[list[Any], str]:
    """The order of the contractions as `numpy.einsum_path` gives it, and the plan in words.

    >>> einsum_path("ij,jk,kl->il", (100, 200), (200, 5), (5, 50))[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if type(expression) is not str:
        expression, operands = _interleaved((expression, *operands))
    _check_optimize(optimize)
    planned = plan(expression, *operands, **options)
    return ["einsum_path", *planned.path], planned.explain()


def _array(given: Any, what: str) -> Any:
    """What has axes; of numbers and lists arrays are made, as everywhere."""
    if isinstance(getattr(given, "ndim", None), int):
        return given
    if isinstance(given, (list, tuple, int, float, complex)):
        import numpy

        try:
            made = numpy.asarray(given)
        except Exception as why:  # whatever NumPy raises of lists that are no array
            raise UserError(f"{what}: no array can be made of it: {why}") from None
        return made.astype(numpy.float64) if made.dtype.kind in "iu" else made
    raise TypeError(f"{what}: an array, not of type {type(given).__name__}: {shown(given)}")


def _axes(given: Any, rank: int, what: str) -> list[int]:
    """Numbers of axes, from the end where they are below 0, each once."""
    if not is_sequence(given) or not all(map(is_whole, given)):
        raise TypeError(f"{what}: whole numbers, not of type {type(given).__name__}: {shown(given)}")
    axes = [index(axis) for axis in given]
    if any(not -rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) != len(axes):
        raise UserError(f"{what}: each is one of {rank} axes, and another one: {shown(given)}")
    return [axis % rank for axis in axes]


def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Any:
    """The product that `numpy.tensordot` computes, which opt_einsum asks its backends for.

    >>> import numpy
    >>> tensordot(numpy.ones((2, 3)), numpy.ones((3, 4)), 1).shape
    (2, 4)
    """
    a, b = _array(a, "tensordot: a"), _array(b, "tensordot: b")
    of: Any = axes
    if is_whole(of):
        count = index(of)
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise UserError(f"tensordot: axes: from 0 to {min(a.ndim, b.ndim)} of them are summed, not {shown(count)}")
        of = (range(a.ndim - count, a.ndim), range(count))
    if not is_sequence(of):
        raise TypeError(f"tensordot: axes: a whole number or a pair of lists, not of type {type(of).__name__}: {shown(of)}")
    if len(of) != 2:
        raise UserError(f"tensordot: axes: those of a and those of b, not {shown(of)}")
    of_a, of_b = (_axes([one] if is_whole(one) else one, array.ndim, f"tensordot: axes of {name}")
                  for one, array, name in zip(of, (a, b), "ab", strict=True))
    if len(of_a) != len(of_b):
        raise UserError(f"tensordot: as many axes of one as of the other are summed, not {len(of_a)} and {len(of_b)}")
    labels_a, labels_b = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for axis_a, axis_b in zip(of_a, of_b, strict=True):
        if a.shape[axis_a] != b.shape[axis_b]:
            raise UserError(f"tensordot: axis {axis_a} has extent {a.shape[axis_a]}, but axis {axis_b} "
                            f"{b.shape[axis_b]}")
        labels_b[axis_b] = labels_a[axis_a]
    left = [label for label in labels_a if label not in labels_b] + [label for label in labels_b if label >= a.ndim]
    return einsum(a, labels_a, b, labels_b, left)


def transpose(a: Any, axes: Sequence[int]) -> Any:
    """The same elements with their axes in another order: a view."""
    a = _array(a, "transpose: a")
    axes = _axes(axes, a.ndim, "transpose: axes")
    if len(axes) != a.ndim:
        raise UserError(f"transpose: axes: each of {a.ndim} axes once, not {shown(axes)}")
    return a.permute(*axes) if hasattr(a, "permute") else a.transpose(axes)


@named
def set_threads(threads: int) -> None:
    """How many threads a call may use; at first one for each core that this process may run on.

    Calls that run at the same time, in threads of Python, share them.
    """
    _core.set_threads(threads)


def get_threads() -> int:
    """How many threads a call may use."""
    return _core.get_threads()
