# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""How results of a graph lie in memory: as torch's own do, of which a program may make views; and those that are views
themselves, of an argument or of another result.

AOTAutograd makes such results anew from what they are views of, and where sizes are dynamic it takes their place there
from the tensor that it got. So that has to be a view as well, and no copy of its elements."""

from __future__ import annotations

import operator
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")


class Views:
    """`computed` are the results that a program computes, row-major with their axes in the order that `orders` has, None
    for their own; called with the arguments and these, it gives all results. Of results beyond `seen`, which the way
    back takes, nobody sees the strides."""

    def __init__(self, module: Any, seen: int | None = None) -> None:
        results = module.graph.output_node().args[0]
        written = {node.args[1]: node.args[0] for node in module.graph.nodes
                   if node.target is torch.ops.aten.copy_.default and node.args[0].op == "placeholder"}
        are_results = {node for node in results if isinstance(node, torch.fx.Node)}
        roots = {node: _root(node) for node in are_results}
        # What ends up in an argument is there, for results that are to be views of it.
        of_arguments = {results[place] for place in _places_of_arguments_views() if place < len(results)}
        written = {roots[node]: written[roots[node]] for node in are_results & of_arguments if roots[node] in written}
        roots = {node: written.get(root, root) for node, root in roots.items()}
        views = {node for node, root in roots.items() if root.op == "placeholder" or root is not node and root in are_results}
        # What is there twice is one tensor, as it is torch's.
        self.computed: list[Any] = [result for i, result in enumerate(results) if not isinstance(result, torch.fx.Node)
                                    or result not in views and result not in results[:i]]
        seen_through = {roots[node] for node in views}
        are_seen = {node for node in results[:seen] if isinstance(node, torch.fx.Node)} | seen_through
        self.orders = [_order(node.meta.get("val")) if node in are_seen else None for node in self.computed]
        self._back = [None if order is None else _inverse(order) for order in self.orders]

        replay, made = torch.fx.Graph(), {}
        for node in module.graph.find_nodes(op="placeholder"):
            made[node] = replay.placeholder(node.name)
        self.takes = len(made)
        for i, node in enumerate(self.computed):
            made[node] = replay.placeholder(f"computed_{i}")

        def of(node: Any) -> Any:
            if node not in made:
                made[node] = made[written[node]] if node in written else replay.node_copy(node, of)
            return made[node]

        replay.output([of(result) if isinstance(result, torch.fx.Node) else result for result in results])
        self._replay = torch.fx.GraphModule(module, replay).forward if len(self.computed) < len(results) else None

    def __call__(self, given: tuple[Any, ...], computed: list[Any]) -> list[Any]:
        # Detached, since views that a graph gives back cannot be written in place where they have a way back.
        arranged = [each if back is None else each.permute(back).detach()
                    for each, back in zip(computed, self._back, strict=True)]
        return arranged if self._replay is None else list(self._replay(*given[:self.takes], *arranged))


def _places_of_arguments_views() -> set[int]:
    """Of the results that AOTAutograd, which asks for this graph, takes for views of arguments."""
    known = getattr(torch._guards.TracingContext.try_get(), "fw_metadata", None)
    if known is None:
        return set()
    return {known.num_mutated_inp_runtime_indices + i for i, result in enumerate(known.output_info)
            if result.output_type.name in ("alias_of_input", "is_input")}


def _root(node: Any) -> Any:
    """What a view is of."""
    while _is_view(node):
        node = node.args[0]
    return node


def _is_view(node: Any) -> bool:
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return _is_view(node.args[0])
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    returns = node.target._schema.returns
    return bool(returns) and all(each.alias_info is not None and not each.alias_info.is_write for each in returns)


def _order(value: Any) -> list[int] | None:
    """Of the axes of a tensor, as they lie in torch's memory; None where they do so in their own order, or it is not known."""
    if not isinstance(value, torch.Tensor):
        return None
    strides = [stride.node.hint if isinstance(stride, torch.SymInt) else stride for stride in value.stride()]
    if not all(strides):  # of elements that are repeated there is no order, nor of strides that only a run knows
        return None
    order = sorted(range(value.dim()), key=lambda axis: -strides[axis])
    return None if order == list(range(value.dim())) else order


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
