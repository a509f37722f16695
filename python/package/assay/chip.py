# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The accelerator simulator: matrix products on a tiled chip, collectives on networks of chips.

Every hardware number is in one file, the topology; the one that is built in explains every key.
docs/methods/chip.md tells what is modelled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core
from ._arguments import named
from ._errors import UserError
from ._texts import path_if_given, shown
from ._texts import text as plain_text

__all__ = ["CollectiveResult", "GemmResult", "Topology", "collective", "default_topology_text", "simulate", "topology"]


_LARGEST = 2**31  # axis of a matrix


@dataclass(frozen=True)
class Topology:
    """A chip and its network; `topology` makes it."""

    data: dict[str, Any]  # what `assay chip topology check --json` prints
    text: str = field(repr=False)
    _topology: _core.Topology = field(repr=False)

    def __str__(self) -> str:
        return self.text


def default_topology_text() -> str:
    """The file of the chip that is built in, with a comment beside every key: a start for one's own."""
    return _core.default_topology_text()


@named
def topology(path: str | Path | None = None, *, text: str | None = None) -> Topology:
    """The chip of a file, or of a file's text; without either the one that is built in.

    >>> topology().data["name"]
    'default'
    >>> topology(text=default_topology_text().replace("core_GHz = 1.0", "core_GHz = -1"))
    Traceback (most recent call last):
        ...
    assay.UserError: topology:10: clock.core_GHz: must be positive, got -1
    """
    if path is not None and text is not None:
        raise UserError(f"topology: a path or a text, not both: {shown(path)}")
    if text is not None:
        made = _core.parse_topology(plain_text(text, "topology: text"))
    else:
        made = _core.topology(path_if_given(path, "topology: path"))
    return Topology(json.loads(made.json()), made.text(), made)


@dataclass(frozen=True)
class GemmResult:
    """A matrix product on a chip, simulated. Times in nanoseconds."""

    time_ns: float
    time_with_load_ns: float  # with what is loaded before the first step
    closed_form_ns: float  # what theory says
    bound_ns: float  # no schedule is faster on this chip
    mac_utilisation: float
    stages: dict[str, dict[str, float]] = field(repr=False)  # dma_in, fetch, gemm, dma_out: busy_ns, blocked_ns, starved_ns, bytes, …
    data: dict[str, Any] = field(repr=False)  # all of it, as `assay chip run --json` prints it
    explanation: str = field(repr=False)  # theory beside simulation, stage by stage


@named
def simulate(
    m: int, k: int, n: int, *, on: Topology | None = None, variant: str = "load_ref", order: str = "mnk", multicast: int = 1
) -> GemmResult:
    """C (m × n) = A (m × k) times B (k × n).

    >>> result = simulate(256, 256, 256)
    >>> result.time_ns, result.closed_form_ns, round(result.mac_utilisation, 3)
    (4136.0, 4136.0, 0.99)
    """
    for name, size in (("m", m), ("k", k), ("n", n)):
        if not 1 <= size <= _LARGEST:
            raise UserError(f"simulate: {name} is from 1 to {_LARGEST}, not {shown(size)}")
    where = on or topology()
    text, explanation = _core.chip_simulate(where._topology, f"{m}x{k}x{n}", variant, order, multicast)
    data = json.loads(text)
    named = {name: data[name] for name in GemmResult.__dataclass_fields__ if name not in ("data", "explanation")}
    return GemmResult(**named, data=data, explanation=explanation)


@dataclass(frozen=True)
class CollectiveResult:
    """A collective operation on a network, simulated. Bandwidths in bytes per second."""

    time_ns: float
    alpha_beta_ns: float  # what the algorithm costs on this network
    bound_ns: float  # no algorithm is faster on it
    algbw: float
    busbw: float
    link_use: float  # of the busiest link
    data: dict[str, Any] = field(repr=False)  # all of it, as `assay chip collective --json` prints it
    explanation: str = field(repr=False)


@named
def collective(
    kind: str,
    size: int | str,
    *,
    network: str = "ring",
    ranks: int = 0,
    algorithm: str = "ring",
    splits: int = 1,
    on: Topology | None = None,
) -> CollectiveResult:
    """`kind` is all_reduce, reduce_scatter, all_gather or all_to_all; `size` bytes, or a text like "1MiB".

    Networks are "ring", "switch" and "fully_connected", which need `ranks`, "mesh:4x4", "torus:4x4",
    "fat_tree:4x4x2". The simulation carries data, and checks the sums.

    >>> result = collective("all_reduce", "1MiB", network="ring", ranks=4)
    >>> result.time_ns, round(result.busbw / 1e9, 1)
    (34527.28, 45.6)
    """
    if not isinstance(size, str) and not 1 <= size < 2**63:
        raise UserError(f"collective: size is from 1 to 2^63 - 1 bytes, not {shown(size)}")
    where = on or topology()
    text, explanation = _core.chip_collective(where._topology, kind, algorithm, str(size), network, ranks, splits)
    data = json.loads(text)
    named = {name: data[name] for name in CollectiveResult.__dataclass_fields__ if name not in ("data", "explanation")}
    return CollectiveResult(**named, data=data, explanation=explanation)
