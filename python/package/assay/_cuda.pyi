# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# The extension module for arrays in the memory of an NVIDIA GPU; there where the package was built with nvcc. Called by
# _device.py alone, which says what `stream` and `empty` are.
from collections.abc import Callable, Sequence
from typing import Any

_Empty = Callable[[Sequence[int], str, int], Any] | None

def einsum(
    expression: str,
    operands: tuple[Any, ...],
    out: Any,
    dtype: str | None,
    memory: int | str | None,
    stream: int | None,
    empty: _Empty,
) -> Any: ...
def plan(
    expression: str,
    operands: tuple[Any, ...],
    dtype: str | None,
    memory: int | str | None,
    objective: str | None,
    stream: int | None,
) -> Plan: ...

class Plan:
    def run(self, operands: tuple[Any, ...], out: Any, stream: int | None, empty: _Empty) -> Any: ...
    def explain_text(self) -> str: ...
    def explain_json(self) -> str: ...
    def linear_path(self) -> list[list[int]]: ...
    def shape(self) -> list[int]: ...
    def dtype(self) -> str: ...
    def numbers(self) -> list[float]: ...

def semiring_matmul(a: Any, b: Any, algebra: str, out: Any, stream: int | None, empty: _Empty) -> Any: ...
def ell_edge_aggregate(
    values: Any, indices: Any, x: Any, w: Any, reduce: str, stream: int | None, empty: _Empty
) -> Any: ...
