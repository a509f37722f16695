# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile(model, backend="assay")."""

from __future__ import annotations

import contextlib
import json
import operator
from importlib import import_module
from typing import Any

from . import _core
from ._errors import EnvironmentError, UserError
from ._fx_program import FxProgram
from ._fx_views import Views

torch: Any = import_module("torch")


def backend(module: Any, inputs: list[Any], **options: Any) -> Any:
    """What torch calls with each graph that it found; torch knows it as "assay" (an entry point of this package).

    AOTAutograd writes out ATen's calls of the graph and, where a gradient is wanted, those of the way back; both are
    compiled, so that training is what it is without. Sizes that torch takes for dynamic are symbols of the program.
    What is not covered is an error that names all operators at once, and nothing is left to torch in its stead.

    >>> import torch
    >>> @torch.compile(backend="assay", fullgraph=True)
    ... def norm(x):
    ...     return (x * x).sum(-1).sqrt()
    >>> norm(torch.tensor([[3.0, 4.0]]))
    tensor([5.])
    """
    asked = [name for name, given in options.items() if name != "options"] + list(options.get("options") or ())
    if asked:
        raise UserError(f"torch.compile: backend 'assay' has no options: {', '.join(asked)}")
    for node, given in zip(module.graph.find_nodes(op="placeholder"), inputs, strict=False):
        if isinstance(given, torch.Tensor) and given.device.type != "cpu":
            raise EnvironmentError(f"torch.compile: backend 'assay' computes on the processor, but input '{node.name}' "
                                   f"is on device '{given.device}'")
    wants_gradients = torch.is_grad_enabled() and any(
        isinstance(given, torch.Tensor) and given.requires_grad for given in inputs)
    autograd = import_module("torch._dynamo.backends.common").aot_autograd
    made = autograd(fw_compiler=_compiled_way_there, bw_compiler=_compiled, inference_compiler=_compiled,
                    partition_fn=_parted, decompositions=_decompositions())
    # The fused attention of torch has a way back that is nobody else's.
    attention = import_module("torch.nn.attention")
    plain = attention.sdpa_kernel(attention.SDPBackend.MATH) if wants_gradients else contextlib.nullcontext()
    with plain:
        return made(module, inputs)


def _decompositions() -> dict[Any, Any]:
    """What torch takes apart: what is not covered."""
    covered = set(_core.covered_operators())
    return {op: how for op, how in import_module("torch._decomp").core_aten_decompositions().items()
            if str(op) not in covered}


def _parted(joint: Any, inputs: Any, **options: Any) -> Any:
    """The way there and the way back, of both in one."""
    _say_statistics(joint)
    return import_module("torch._functorch.partitioners").default_partition(joint, inputs, **options)


def _say_statistics(module: Any) -> None:
    """Graphs say that the statistics of a batch of f16 or bf16 have its dtype. torch computes and keeps them in f32, and so
    do we; running ones have the dtype that they had."""
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten._native_batch_norm_legit_functional.default):
        result, *statistics = node.meta["val"]
        of_batch = torch.promote_types(result.dtype, torch.float32)
        dtypes = [of_batch, of_batch, *(running.meta["val"].dtype for running in node.args[3:5])]
        node.meta["val"] = (result, *(each.to(dtype) for each, dtype in zip(statistics, dtypes, strict=True)))
        for part in node.users:
            if part.target is operator.getitem:
                part.meta["val"] = node.meta["val"][part.args[1]]


def _compiled_way_there(module: Any, inputs: list[Any]) -> Any:
    return _compiled(module, inputs, seen=torch._guards.TracingContext.get().fw_metadata.num_forward)


def _compiled(module: Any, inputs: list[Any], seen: int | None = None) -> Any:
    _say_statistics(module)
    views = Views(module, seen)
    made = FxProgram(module, views.computed, views.orders, set(_core.covered_operators()))
    program = _core.compile_program(json.dumps(made.json), "torch.compile") if made.does_something else None
    constants = made.constants

    def run(given: list[Any]) -> list[Any]:
        arguments = (*given, *constants)
        given.clear()  # who called has no use for them any more
        with torch.no_grad():  # AOTAutograd has a way back, or none is wanted
            return views(arguments, program.call(arguments) if program is not None else views.computed)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
