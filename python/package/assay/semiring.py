# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products over semirings, C_ij = ⊕_k (A_ik ⊗ B_kj), and message passing over graphs.

| algebra     | ⊗      | ⊕         | gradients |
|-------------|--------|-----------|-----------|
| "real"      | a·b    | sum       | yes       |
| "log"       | a+b    | log Σ exp | yes       |
| "max_plus"  | a+b    | max       | yes: to the first that is largest |
| "min_plus"  | a+b    | min       | of `ell_aggregate`: to the first that is smallest |
| "euclidean" | (a−b)² | √sum      | yes: 0 where the distance is 0 |
| "boolean"   | and    | or        | no        |
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from . import _core
from ._errors import OnDevice, UserError
from ._texts import text

__all__ = ["ell_aggregate", "matmul"]


def _differentiating(*operands: Any) -> Any:
    """What knows the gradients of a call with these operands; None where nobody asks for any."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.is_grad_enabled():
        if any(isinstance(operand, torch.Tensor) and operand.requires_grad for operand in operands):
            return import_module("._semiring_torch", __package__)
    jax = sys.modules.get("jax")
    if jax is not None and any(isinstance(operand, jax.core.Tracer) for operand in operands):
        return import_module("._semiring_jax", __package__)
    return None


def matmul(a: Any, b: Any, algebra: str = "log", *, out: Any = None, backend: str = "simd") -> Any:
    """The product of a (…, m, k) and b (…, k, n); leading axes are equal or broadcast as NumPy does it.

    float32 and float64, bool for "boolean"; float16 and bfloat16, added up in float32, for "real", "log" and
    "euclidean". Tensors of torch that want a gradient get one, in float32 and float64; so do arrays of jax, under
    `jax.grad` and `jax.jit`. `backend` is "simd", "reference", plain loops, or "naive", all
    terms before their sums, in m·k·n elements of memory. Arrays in the memory of an
    NVIDIA GPU (torch, jax, cupy) are multiplied there, without gradients; `out` of f16 and bf16 is float32 then.

    >>> import numpy
    >>> hours = numpy.array([[0.0, 3.0, numpy.inf], [3.0, 0.0, 2.0], [numpy.inf, 2.0, 0.0]])
    >>> matmul(hours, hours, "min_plus")[0]
    array([0., 3., 5.])
    """
    framework = _differentiating(a, b)
    try:
        if framework is not None:
            text(algebra, "matmul: algebra")
            text(backend, "matmul: backend")
            if out is not None:
                raise UserError("matmul: out cannot be given where a gradient is wanted, or where jax traces")
            return framework.matmul(a, b, algebra, backend)
        return _core.semiring_matmul(a, b, algebra, out, backend)
    except OnDevice:
        pass
    return import_module("._device", __package__).matmul(a, b, algebra, out, backend)


def ell_aggregate(
    values: Any,
    indices: Any,
    x: Any,
    w: Any = None,
    *,
    algebra: str = "real",
    reduce: str = "sum",
    backend: str = "simd",
) -> Any:
    """Message passing over padded neighbour lists: vertex i has the slots p with sources indices[i, p].

    Row i of the result is ⊕_p values[i, p] ⊗ x[indices[i, p]] over `algebra`; with `w` (outputs × features) it is the
    sum or, as `reduce` says, the largest of values[i, p] · w x[indices[i, p]]. Indices are int32; −1 is an empty slot,
    whose value is neither looked at nor given a gradient. Gradients of values, x and w are had as those of `matmul` are.
    On a GPU there is what needs `w`, in float32 and float64, and no gradient; the call waits until indices are looked at.

    >>> import numpy
    >>> x = numpy.array([[1.0], [10.0], [100.0]])
    >>> neighbours = numpy.array([[1, 2], [0, -1]], dtype=numpy.int32)
    >>> ell_aggregate(numpy.ones((2, 2)), neighbours, x)
    array([[110.],
           [  1.]])
    """
    text(algebra, "ell_aggregate: algebra")
    text(reduce, "ell_aggregate: reduce")
    if w is None and reduce != "sum":
        raise UserError(f"ell_aggregate: reduce belongs to w, the algebra says what is done without: '{reduce}'")
    if w is not None and algebra != "real":
        raise UserError(f"ell_aggregate: with w the algebra is real, not '{algebra}'")
    framework = _differentiating(values, indices, x, w)
    try:
        if framework is not None:
            text(backend, "ell_aggregate: backend")
            return framework.ell_aggregate(values, indices, x, w, algebra if w is None else reduce, backend)
        if w is None:
            return _core.ell_matmul(values, indices, x, algebra, backend)
        return _core.ell_edge_aggregate(values, indices, x, w, reduce, backend)
    except OnDevice:
        pass
    return import_module("._device", __package__).ell_aggregate(values, indices, x, w, reduce, backend)
