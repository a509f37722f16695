# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Products over semirings while jax traces: calls back to the processor, and their gradients."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy

from . import _core

jax: Any = import_module("jax")  # installed or not, its types are not ours to check


def _called(function: Any, shapes: Any, *arrays: Any) -> Any:
    return jax.pure_callback(lambda *given: function(*map(numpy.asarray, given)), shapes, *arrays,
                             vmap_method="sequential")


def _product(a: Any, b: Any, algebra: str, backend: str) -> Any:
    leading = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = numpy.float32 if a.dtype.itemsize == 2 else a.dtype
    product = jax.ShapeDtypeStruct((*leading, a.shape[-2], b.shape[-1]), dtype)
    return _called(lambda x, y: _core.semiring_matmul(x, y, algebra, None, backend), product, a, b)


matmul: Any = jax.custom_vjp(_product, nondiff_argnums=(2, 3))


def _forward(a: Any, b: Any, algebra: str, backend: str) -> Any:
    c = matmul(a, b, algebra, backend)
    return c, (a, b, c)


def _backward(algebra: str, backend: str, saved: Any, dc: Any) -> Any:
    shapes = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in saved[:2])
    return _called(lambda a, b, c, d: _core.semiring_matmul_gradients(a, b, c, d, algebra, backend), shapes, *saved, dc)


matmul.defvjp(_forward, _backward)
