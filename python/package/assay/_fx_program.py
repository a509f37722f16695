# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of torch.fx whose calls are ATen's, as programs in the schema of torch.export's archives (version 8): what the
compiler reads. Every node must know what it gives (`meta["val"]`), as AOTAutograd's do."""

from __future__ import annotations

import inspect
import math
import operator
from importlib import import_module
from typing import Any

from ._errors import UserError

torch: Any = import_module("torch")
sympy: Any = import_module("sympy")

Field = dict[str, Any]
_DTYPES = {torch.int32: 4, torch.int64: 5, torch.float16: 6, torch.float32: 7, torch.float64: 8, torch.bool: 12,
           torch.bfloat16: 13}  # of torch._export.serde.schema.ScalarType
_GREATEST_SIZE = 2**31 - 1
_GREATEST_NUMBER = 2**53  # that is no size


def _dtype(dtype: Any) -> int:
    if dtype not in _DTYPES:
        raise UserError(f"torch.compile: dtype {str(dtype).removeprefix('torch.')} is not covered: graphs know "
                        f"{', '.join(str(known).removeprefix('torch.') for known in _DTYPES)}")
    return _DTYPES[dtype]


class FxProgram:
    """`json` is the program, which gives the nodes and values that are `results`, each with its axes in the order that
    `orders` has for it, if any; `constants` are tensors of the graph itself, which it takes after all others. One that
    computes none of them and writes nothing need not be run."""

    def __init__(self, module: Any, results: list[Any], orders: list[list[int] | None], covered: set[str]) -> None:
        self.constants: list[Any] = []
        self._symbols: dict[str, Field] = {}
        self._of_sizes = {symbol for node in module.graph.nodes for symbol in _symbols_of_sizes(node.meta.get("val"))}
        self._metas: dict[str, Field] = {}
        self._sizes: dict[str, Field] = {}
        self._names: dict[Any, str] = {}  # of results, where they are not their node's
        self._inputs: list[Field] = []
        self._nodes: list[Field] = []
        calls = [node for node in module.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
        outputs: list[Field] = []
        if all(_name(node.target) in covered for node in calls):
            outputs = self._read(module, results, orders)
        else:  # their names are enough to refuse it
            self._nodes = [{"target": _target(node.target), "inputs": [], "outputs": []} for node in calls]
        self.does_something = any(isinstance(result, torch.fx.Node) for result in results) or any(
            _has_effect(node.target) for node in calls)
        graph = {"nodes": self._nodes, "tensor_values": self._metas, "sym_int_values": self._sizes}
        self.json: Field = {
            "schema_version": {"major": 8}, "range_constraints": self._symbols,
            "graph_module": {"graph": graph, "signature": {"input_specs": self._inputs, "output_specs": outputs}}}

    def _read(self, module: Any, results: list[Any], orders: list[list[int] | None]) -> list[Field]:
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._take(node, node.meta["val"])
            elif node.op == "call_function" and node.target is operator.getitem:
                self._names[node] = f"{node.args[0].name}.{node.args[1]}"
            elif node.op == "call_function":
                self._call(node)
        for node in module.graph.find_nodes(op="get_attr"):
            self.constants.append(operator.attrgetter(node.target)(module))
            self._take(node, self.constants[-1])
        given = [self._argument(result) if order is None else self._permuted(result, order)
                 for result, order in zip(results, orders, strict=True)]
        return [{"user_output": {"arg": argument}} for argument in given]

    def _permuted(self, result: Any, order: list[int]) -> Field:
        permuted = {"as_tensor": {"name": f"{result.name} as it lies"}}  # no name of torch's has a blank
        self._nodes.append({
            "name": result.name, "target": "torch.ops.aten.permute.default", "outputs": [permuted],
            "inputs": [{"name": "self", "arg": self._argument(result)}, {"name": "dims", "arg": self._argument(order)}]})
        return permuted

    def _take(self, node: Any, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, float)):
            argument = self._constant(value)
        elif isinstance(value, torch.SymInt) and not value.node.expr.free_symbols <= self._of_sizes:
            self._sizes[node.name] = self._number(value)
            argument = self._result(node.name, value)
        else:
            self._say(node.name, value)
            argument = self._result(node.name, value)
        self._inputs.append({"user_input": {"arg": argument}})

    def _call(self, node: Any) -> None:
        value = node.meta.get("val")
        if isinstance(value, (tuple, list)):
            names = [f"{node.name}.{i}" for i in range(len(value))]
        else:
            names, value = [node.name], (value,)
        for name, each in zip(names, value, strict=True):
            self._say(name, each)
        named = [*zip(self._parameters(node.target), node.args, strict=False), *node.kwargs.items()]
        self._nodes.append({
            "name": node.name, "target": _target(node.target),
            "inputs": [{"name": name, "arg": self._argument(argument)} for name, argument in named],
            "outputs": [self._result(name, each) for name, each in zip(names, value, strict=True)]})

    @staticmethod
    def _parameters(target: Any) -> list[str]:
        if hasattr(target, "_schema"):
            return [argument.name for argument in target._schema.arguments]
        return list(inspect.signature(target).parameters)  # of Python's operators

    def _say(self, name: str, value: Any) -> None:
        """Writes down what a result is."""
        if isinstance(value, torch.Tensor):
            self._metas[name] = {
                "dtype": _dtype(value.dtype), "sizes": [self._size(extent) for extent in value.shape],
                "strides": [self._size(stride) for stride in value.stride()], "storage_offset": {"as_int": 0}}
        elif isinstance(value, torch.SymInt) and value.node.expr.free_symbols <= self._of_sizes:
            self._sizes[name] = self._size(value)

    def _size(self, size: Any) -> Field:
        if not isinstance(size, torch.SymInt) or not size.node.expr.free_symbols:
            return {"as_int": int(size)}
        expression = size.node.expr
        for symbol in expression.free_symbols:
            expression = expression.subs(symbol, self._symbol(symbol, size.node.shape_env))
        return {"as_expr": {"expr_str": sympy.srepr(expression)}}

    def _number(self, value: Any) -> Field:
        """A whole number that no shape has: a symbol of its own, which may be negative."""
        name, bounds = f"number_{len(self._symbols)}", value.node.shape_env.bound_sympy(value.node.expr)
        self._symbols[name] = {"min_val": int(max(bounds.lower, -_GREATEST_NUMBER)),
                               "max_val": int(min(bounds.upper, _GREATEST_NUMBER))}
        return {"as_expr": {"expr_str": name}}

    def _symbol(self, symbol: Any, environment: Any) -> Any:
        """What stands for a symbol: itself, or where torch knows a number that divides it, that number times another."""
        factor, growing = 1, True
        while growing:  # who divides a half divides twice as much of the whole
            growing = False
            for known in environment.divisible:
                quotient, rest = known.args[0].subs(symbol, factor * symbol).as_coeff_Mul()
                if rest == symbol and known.args[1].is_Integer and quotient.is_Integer and quotient % known.args[1] != 0:
                    factor *= int(known.args[1]) // math.gcd(int(quotient), int(known.args[1]))
                    growing = True
        name = symbol.name if factor == 1 else f"{symbol.name}_over_{factor}"
        bounds = environment.bound_sympy(symbol)
        low, high = bounds.lower, bounds.upper
        if high < 0:  # a place that is counted from the end
            name, factor, low, high = f"{name}_from_end", -factor, -high, -low
        self._symbols[name] = {"min_val": -(-int(max(low, 0)) // abs(factor)),
                               "max_val": int(min(high, _GREATEST_SIZE)) // abs(factor)}
        return symbol if factor == 1 else factor * sympy.Symbol(name, positive=True, integer=True)

    def _result(self, name: str, value: Any) -> Field:
        for kind, symbol in (("int", torch.SymInt), ("bool", torch.SymBool), ("float", torch.SymFloat)):
            if isinstance(value, symbol):
                return {f"as_sym_{kind}": {"as_name": name}}
        return {"as_none": True} if value is None else {"as_tensor": {"name": name}}

    def _argument(self, argument: Any) -> Field:
        if isinstance(argument, torch.fx.Node) and argument.op == "get_attr":
            return {"as_tensor": {"name": argument.name}}
        if isinstance(argument, torch.fx.Node):
            return self._result(self._names.get(argument, argument.name), argument.meta["val"])
        if isinstance(argument, (list, tuple)):
            return self._list(list(argument))
        return self._constant(argument)

    def _list(self, items: list[Any]) -> Field:
        """Lists are of one kind; expressions stand among whole numbers, None among tensors."""
        fields = [self._argument(item) for item in items]
        kinds = {next(iter(field)) for field in fields}
        if kinds <= {"as_int", "as_sym_int"}:
            return {"as_sym_ints": [field.get("as_sym_int", field) for field in fields]}
        if kinds == {"as_tensor"}:
            return {"as_tensors": [field["as_tensor"] for field in fields]}
        if kinds <= {"as_tensor", "as_none"}:
            return {"as_optional_tensors": fields}
        if kinds <= {"as_float", "as_sym_float"} and len(kinds) == 2:
            return {"as_sym_floats": [field.get("as_sym_float", field) for field in fields]}
        if len(kinds) == 1 and kinds <= {"as_float", "as_bool"}:
            kind, = kinds
            return {f"{kind}s": [field[kind] for field in fields]}
        raise UserError(f"torch.compile: a list of these is not covered: {items}")

    @staticmethod
    def _constant(value: Any) -> Field:
        if value is None:
            return {"as_none": True}
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": value}
        if isinstance(value, float):
            named = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return {"as_float": value if math.isfinite(value) else named}
        if isinstance(value, str):
            return {"as_string": value}
        if isinstance(value, torch.dtype):
            return {"as_scalar_type": _dtype(value)}
        for kind, of in (("device", torch.device), ("layout", torch.layout), ("memory_format", torch.memory_format)):
            if isinstance(value, of):
                return {f"as_{kind}": str(value)}
        raise UserError(f"torch.compile: an argument of type {type(value).__name__} is not covered: {value}")


def _has_effect(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload) and (target._schema.is_mutable or "_assert_async" in str(target))


def _symbols_of_sizes(value: Any) -> set[Any]:
    """Those that shapes and strides of a node's tensors have."""
    if isinstance(value, (tuple, list)):
        return {symbol for each in value for symbol in _symbols_of_sizes(each)}
    if not isinstance(value, torch.Tensor):
        return set()
    sizes = (size for size in (*value.shape, *value.stride()) if isinstance(size, torch.SymInt))
    return {symbol for size in sizes for symbol in size.node.expr.free_symbols}


def _name(target: Any) -> str:
    """As the compiler names it."""
    return _target(target).removeprefix("torch.ops.")


def _target(target: Any) -> str:
    """As archives name what is called."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{target.name()}"
    return f"{target.__module__}.{target.__name__}"
