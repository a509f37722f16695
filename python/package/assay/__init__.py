# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Assay: engines for tensor programs, and a laboratory that measures them.

Arrays of NumPy, torch and jax go in and come out without copies, those of contractions and semirings also in the memory
of a GPU; large work is done without the GIL.

einsum, plan, einsum_path    contractions; cp, tucker, tt, mp2_energy: what is made of them
semiring                     products over log, max-plus and other algebras with gradients, message passing
load_pt2                     exported programs of torch, compiled; torch.compile(model, backend="assay")
transport, chip              flux surfaces of stellarators; matrix products and collectives on simulated chips
lab, bench                   rows as data frames, comparisons, gates; functions of one's own, measured

docs/python.md has a page on all of it.
"""

import os as _os
import typing as _typing
from importlib import import_module as _import_module

from . import _core
from ._decompose import CpResult, Mp2Energy, TrainResult, TuckerResult, cp, mp2_energy, tt, tucker
from ._einsum import Plan, einsum, einsum_path, get_threads, plan, set_threads, tensordot, transpose
from ._errors import DiskError, EnvironmentError, InternalError, UserError

if _typing.TYPE_CHECKING:
    __version__: str
    from . import chip, lab, semiring, transport
    from ._bench import Benchmark, bench
    from ._pt2 import Exported, load_pt2

__all__ = [
    "Benchmark", "CpResult", "DiskError", "EnvironmentError", "Exported", "InternalError", "Mp2Energy", "Plan",
    "TrainResult", "TuckerResult", "UserError", "bench", "chip", "cp", "einsum", "einsum_path", "get_threads", "lab",
    "load_pt2", "mp2_energy", "plan", "semiring", "set_threads", "tensordot", "transport", "transpose", "tt", "tucker",
]

_core.set_threads(len(_os.sched_getaffinity(0)))

# What takes a while to import is imported when somebody asks for it.
_MODULES = ("chip", "lab", "semiring", "transport")
_NAMES = {"Benchmark": "_bench", "bench": "_bench", "Exported": "_pt2", "load_pt2": "_pt2"}


if not _typing.TYPE_CHECKING:  # which would take every name for one of ours

    def __getattr__(name: str) -> _typing.Any:
        if name in _MODULES:
            return _import_module(f".{name}", __name__)
        if name in _NAMES:
            return getattr(_import_module(f".{_NAMES[name]}", __name__), name)
        if name == "__version__":
            return _import_module("importlib.metadata").version(__name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
