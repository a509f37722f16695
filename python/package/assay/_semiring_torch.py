# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of products over semirings, as torch's autograd asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _core
from ._errors import UserError

torch: Any = import_module("torch")  # installed or not, its types are not ours to check


class _Matmul(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, algebra: str, backend: str) -> Any:
        c = _core.semiring_matmul(a.detach(), b.detach(), algebra, None, backend)
        ctx.save_for_backward(a, b, c)
        ctx.how = algebra, backend
        return c

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():  # create_graph=True
            raise UserError("matmul: gradients of gradients are not computed: create_graph=True")
        a, b, c = (saved.detach() for saved in ctx.saved_tensors)
        algebra, backend = ctx.how
        return *_core.semiring_matmul_gradients(a, b, c, gradients[0], algebra, backend), None, None


def matmul(a: Any, b: Any, algebra: str, backend: str) -> Any:
    return _Matmul.apply(torch.as_tensor(a), torch.as_tensor(b), algebra, backend)
