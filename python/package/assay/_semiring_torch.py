# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of products over semirings and of message passing, as torch's autograd asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _core
from ._errors import UserError
from ._texts import shown

torch: Any = import_module("torch")  # installed or not, its types are not ours to check


def _saved(ctx: Any, call: str) -> list[Any]:
    if torch.is_grad_enabled():  # create_graph=True
        raise UserError(f"{call}: gradients of gradients are not computed: create_graph=True")
    return [tensor.detach() for tensor in ctx.saved_tensors]


class _Matmul(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, algebra: str, backend: str) -> Any:
        c = _core.semiring_matmul(a.detach(), b.detach(), algebra, None, backend)
        ctx.save_for_backward(a, b, c)
        ctx.how = algebra, backend
        return c

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        a, b, c = _saved(ctx, "matmul")
        algebra, backend = ctx.how
        return *_core.semiring_matmul_gradients(a, b, c, gradients[0], algebra, backend), None, None


class _Aggregate(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, values: Any, indices: Any, x: Any, algebra: str, backend: str) -> Any:
        out = _core.ell_matmul(values.detach(), indices, x.detach(), algebra, backend)
        ctx.save_for_backward(values, indices, x, out)
        ctx.algebra = algebra
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, indices, x, out = _saved(ctx, "ell_aggregate")
        of_values, of_x = _core.ell_matmul_gradients(values, indices, x, out, gradients[0], ctx.algebra)
        return of_values, None, of_x, None, None


class _EdgeAggregate(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, values: Any, indices: Any, x: Any, w: Any, reduce: str, backend: str) -> Any:
        ctx.save_for_backward(values, indices, x, w)
        ctx.how = reduce, backend
        return _core.ell_edge_aggregate(values.detach(), indices, x.detach(), w.detach(), reduce, backend)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, indices, x, w = _saved(ctx, "ell_aggregate")
        of_values, of_x, of_w = _core.ell_edge_gradients(values, indices, x, w, gradients[0], *ctx.how)
        return of_values, None, of_x, of_w, None, None


def _tensor(given: Any, what: str) -> Any:
    if isinstance(given, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(given):
        raise UserError(f"{what}: has no elements to look at: torch.func transforms it (vmap, grad, jvp); torch.autograd has its gradient")
    try:
        return torch.as_tensor(given)
    except Exception:  # whatever torch raises of what is no tensor
        raise UserError(f"{what}: torch makes no tensor of it: {shown(given)}") from None


def matmul(a: Any, b: Any, algebra: str, backend: str) -> Any:
    return _Matmul.apply(_tensor(a, "matmul: a"), _tensor(b, "matmul: b"), algebra, backend)


def ell_aggregate(values: Any, indices: Any, x: Any, w: Any, how: str, backend: str) -> Any:
    values, indices, x = (_tensor(given, f"ell_aggregate: {name}")
                          for given, name in ((values, "values"), (indices, "indices"), (x, "x")))
    if w is None:
        return _Aggregate.apply(values, indices, x, how, backend)
    return _EdgeAggregate.apply(values, indices, x, _tensor(w, "ell_aggregate: w"), how, backend)
