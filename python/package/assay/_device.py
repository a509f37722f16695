# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Calls whose arrays lie in the memory of an NVIDIA GPU: on which stream they are made, and whose their results are.

Where all arrays of a call are torch's, its work is enqueued on torch's current stream, as torch's own would be, and the
result is memory of torch's allocator. Otherwise several owners' streams meet: the call waits for all that was enqueued on
the device before, and is done when it returns, so that no owner need know of another's streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._einsum import _DTYPES
from ._errors import EnvironmentError, UserError

if TYPE_CHECKING:
    from . import _cuda

_NAMES = {"bool": "bool", **{ours: theirs for theirs, ours in _DTYPES.items()}}


def _engine() -> Any:
    """The extension module, which is there where the package was built with nvcc."""
    try:
        return import_module("._cuda", __package__)
    except ImportError as why:
        raise EnvironmentError("arrays on a device: this installation has nothing that computes there; `pip install .` builds "
                               f"it where nvcc 12.4 or newer is found (in the PATH, or by CUDACXX): {why}") from None


def _modules() -> tuple[Any, Any, Any]:
    """torch, cupy and jax, those of them that somebody has imported."""
    return sys.modules.get("torch"), sys.modules.get("cupy"), sys.modules.get("jax")


def _torchs(shape: Sequence[int], dtype: str, device: int) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, _NAMES[dtype]), device=torch.device("cuda", device))


def _cupys(shape: Sequence[int], dtype: str, device: int) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(device):
        return cupy.empty(shape, _NAMES[dtype])


def _nobodys(shape: Sequence[int], dtype: str, device: int) -> Any:
    raise UserError("arrays on a device: results are made for torch, jax and cupy, and none of them owns an operand: "
                    "give an out")


def _place(operands: Sequence[Any], out: Any = None) -> tuple[int | None, Callable[[Sequence[int], str, int], Any] | None]:
    """The stream that work goes to, None for one of the engine's, and what makes the result, None for jax, which takes
    over memory of ours."""
    torch, cupy, jax = _modules()
    arrays = [*operands] if out is None else [*operands, out]
    if torch is not None and all(isinstance(array, torch.Tensor) for array in arrays):
        devices = [array.device for array in arrays if array.is_cuda]
        return torch.cuda.current_stream(devices[0]).cuda_stream if devices else None, _torchs
    if jax is not None:  # what jax has not enqueued yet, nobody can wait for on the device
        for array in arrays:
            if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer) and not array.is_deleted():
                array.block_until_ready()
    for array in operands:
        if torch is not None and isinstance(array, torch.Tensor):
            return None, _torchs
        if cupy is not None and isinstance(array, cupy.ndarray):
            return None, _cupys
        if jax is not None and isinstance(array, jax.Array):
            return None, None
    return None, _nobodys


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float, complex)) and not isinstance(given, bool)


def _number(given: Any, like: Any) -> Any:
    """A number of Python as an array without axes beside another one."""
    torch, cupy, jax = _modules()
    dtype = "complex128" if isinstance(given, complex) else "float64"
    try:
        value = complex(given) if isinstance(given, complex) else float(given)
    except OverflowError:  # who borrows it says so
        return given
    if torch is not None and isinstance(like, torch.Tensor):
        return torch.full((), value, dtype=getattr(torch, dtype), device=like.device)
    if cupy is not None and isinstance(like, cupy.ndarray):
        with like.device:
            return cupy.full((), value, dtype)
    if jax is not None and isinstance(like, jax.Array):
        import numpy

        return jax.device_put(numpy.asarray(value, dtype), like.device)
    return given


def _with_numbers(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    if not any(map(_is_number, operands)):
        return operands
    like = next((each for each in operands if not isinstance(each, (int, float, complex, list, tuple))), None)
    return tuple(_number(each, like) if _is_number(each) else each for each in operands)


def _with_room(call: Callable[[], Any]) -> Any:
    """A call, made again where there was no memory once torch and cupy have given back what they keep and do not use."""
    try:
        return call()
    except MemoryError:
        pass
    torch, cupy, _ = _modules()
    if torch is not None:
        torch.cuda.empty_cache()
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()
    return call()


def _check_backend(call: str, backend: Any, allowed: str, usual: str | None) -> None:
    if backend not in (allowed, usual):
        if not isinstance(backend, str):
            raise TypeError(f"backend is a str, not of type {type(backend).__name__}")
        raise UserError(f"{call}: backend: arrays on a device are computed with by '{allowed}', not by '{backend}'")


def einsum(expression: str, operands: tuple[Any, ...], out: Any, dtype: str | None, memory: int | str | None,
           backend: str | None) -> Any:
    engine = _engine()
    _check_backend("einsum", backend, "cuda", None)
    given = _with_numbers(operands)
    stream, empty = _place(given, out)
    return _with_room(lambda: engine.einsum(expression, given, out, dtype, memory, stream, empty))


class _Plan:
    """What assay.Plan calls, for arrays on the device that it was made for."""

    def __init__(self, plan: _cuda.Plan) -> None:
        self._plan = plan

    def run(self, operands: tuple[Any, ...], out: Any) -> Any:
        given = _with_numbers(operands)
        stream, empty = _place(given, out)
        return _with_room(lambda: self._plan.run(given, out, stream, empty))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plan, name)


def plan(expression: str, operands: tuple[Any, ...], dtype: str | None, memory: int | str | None, backend: str | None,
         objective: str | None) -> _Plan:
    engine = _engine()
    _check_backend("plan", backend, "cuda", None)
    given = _with_numbers(operands)
    stream, _ = _place([each for each in given if not isinstance(each, tuple)])
    return _Plan(engine.plan(expression, given, dtype, memory, objective, stream))


def matmul(a: Any, b: Any, algebra: str, out: Any, backend: str) -> Any:
    engine = _engine()
    _check_backend("matmul", backend, "cuda", "simd")
    stream, empty = _place((a, b), out)
    return _with_room(lambda: engine.semiring_matmul(a, b, algebra, out, stream, empty))


def ell_aggregate(values: Any, indices: Any, x: Any, w: Any, reduce: str, backend: str) -> Any:
    engine = _engine()
    _check_backend("ell_aggregate", backend, "cuda", "simd")
    if w is None:
        raise UserError("ell_aggregate: w: on a device slots are only aggregated through one, for which there are kernels")
    stream, empty = _place((values, indices, x, w))
    return _with_room(lambda: engine.ell_edge_aggregate(values, indices, x, w, reduce, stream, empty))
