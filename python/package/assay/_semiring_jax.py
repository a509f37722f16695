# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Products over semirings and message passing while jax traces: calls back to the processor, and their gradients.

What shapes and dtypes say is refused while jax traces, as everywhere. What only elements say (an index that is no row)
is met when the compiled function runs: jax raises its own error then, whose text ends with ours."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy

from . import _core
from ._errors import UserError
from ._texts import shown

jax: Any = import_module("jax")  # installed or not, its types are not ours to check


def _called(function: Any, shapes: Any, *arrays: Any) -> Any:
    return jax.pure_callback(lambda *given: function(*map(numpy.asarray, given)), shapes, *arrays,
                             vmap_method="sequential")


def _like(*arrays: Any) -> tuple[Any, ...]:
    return tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)


def _shape(shape_of: Any, arrays: tuple[Any, ...], *how: str) -> Any:
    """Of a result; arrays have one element each here that stands for all."""
    return shape_of(*(numpy.broadcast_to(numpy.zeros((), array.dtype), array.shape) for array in arrays), *how)


def _refuse_what_has_none(gradients: Any, arrays: tuple[Any, ...], *how: str) -> None:
    """By asking for gradients of matrices without elements that have these dtypes."""
    gradients(*(numpy.zeros((0, 0), array.dtype) for array in arrays), *how)


def _wide(dtype: Any) -> Any:
    """f16 and bf16 are added up in f32."""
    return numpy.float32 if dtype.itemsize == 2 else dtype


def _product(a: Any, b: Any, algebra: str, backend: str) -> Any:
    product = jax.ShapeDtypeStruct(_shape(_core.semiring_matmul_shape, (a, b), algebra, backend), _wide(a.dtype))
    return _called(lambda x, y: _core.semiring_matmul(x, y, algebra, None, backend), product, a, b)


_matmul: Any = jax.custom_vjp(_product, nondiff_argnums=(2, 3))


def _forward(a: Any, b: Any, algebra: str, backend: str) -> Any:
    c = _matmul(a, b, algebra, backend)
    _refuse_what_has_none(_core.semiring_matmul_gradients, (a, b, c, c), algebra, backend)
    return c, (a, b, c)


def _backward(algebra: str, backend: str, saved: Any, dc: Any) -> Any:
    return _called(lambda a, b, c, d: _core.semiring_matmul_gradients(a, b, c, d, algebra, backend), _like(*saved[:2]),
                   *saved, dc)


_matmul.defvjp(_forward, _backward)


def _slots(values: Any, indices: Any, x: Any, algebra: str, backend: str) -> Any:
    result = jax.ShapeDtypeStruct(_shape(_core.ell_shape, (values, indices, x), algebra, backend), _wide(x.dtype))
    return _called(lambda v, i, y: _core.ell_matmul(v, i, y, algebra, backend), result, values, indices, x)


_aggregate: Any = jax.custom_vjp(_slots, nondiff_argnums=(3, 4))


def _aggregate_forward(values: Any, indices: Any, x: Any, algebra: str, backend: str) -> Any:
    out = _aggregate(values, indices, x, algebra, backend)
    _refuse_what_has_none(_core.ell_matmul_gradients, (values, indices, x, out, out), algebra)
    return out, (values, indices, x, out)


def _aggregate_backward(algebra: str, backend: str, saved: Any, change: Any) -> Any:
    values, indices, x, out = saved
    of_values, of_x = _called(lambda v, i, y, o, d: _core.ell_matmul_gradients(v, i, y, o, d, algebra), _like(values, x),
                              values, indices, x, out, change)
    return of_values, None, of_x  # indices are no numbers to differentiate by


_aggregate.defvjp(_aggregate_forward, _aggregate_backward)


def _edges(values: Any, indices: Any, x: Any, w: Any, reduce: str, backend: str) -> Any:
    shape = _shape(_core.ell_edge_shape, (values, indices, x, w), reduce, backend)
    result = jax.ShapeDtypeStruct(shape, _wide(x.dtype))
    return _called(lambda v, i, y, m: _core.ell_edge_aggregate(v, i, y, m, reduce, backend), result, values, indices, x, w)


_edge_aggregate: Any = jax.custom_vjp(_edges, nondiff_argnums=(4, 5))


def _edge_forward(values: Any, indices: Any, x: Any, w: Any, reduce: str, backend: str) -> Any:
    out = _edge_aggregate(values, indices, x, w, reduce, backend)
    _refuse_what_has_none(_core.ell_edge_gradients, (values, indices, x, w, out), reduce, backend)
    return out, (values, indices, x, w)


def _edge_backward(reduce: str, backend: str, saved: Any, change: Any) -> Any:
    values, indices, x, w = saved
    of_values, of_x, of_w = _called(lambda v, i, y, m, d: _core.ell_edge_gradients(v, i, y, m, d, reduce, backend),
                                    _like(values, x, w), values, indices, x, w, change)
    return of_values, None, of_x, of_w


_edge_aggregate.defvjp(_edge_forward, _edge_backward)


def _array(given: Any, what: str) -> Any:
    try:
        # Of lists NumPy makes arrays: within themselves, they are the end of jax.
        return jax.numpy.asarray(given if isinstance(given, jax.Array) else numpy.asarray(given))
    except Exception:  # whatever jax raises of what is no array
        raise UserError(f"{what}: jax makes no array of it: {shown(given)}") from None


def matmul(a: Any, b: Any, algebra: str, backend: str) -> Any:
    return _matmul(_array(a, "matmul: a"), _array(b, "matmul: b"), algebra, backend)


def ell_aggregate(values: Any, indices: Any, x: Any, w: Any, how: str, backend: str) -> Any:
    values, indices, x = (_array(given, f"ell_aggregate: {name}")
                          for given, name in ((values, "values"), (indices, "indices"), (x, "x")))
    if w is None:
        return _aggregate(values, indices, x, how, backend)
    return _edge_aggregate(values, indices, x, _array(w, "ell_aggregate: w"), how, backend)
