# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Decompositions of tensors, and the DF-MP2 energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from ._arguments import named
from ._einsum import einsum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = Sequence[float] | NDArray[Any]
else:
    Numbers = Sequence[float]  # what @named looks at; arrays are sequences to it


def _reconstructed(core: Any, core_labels: list[int], factors: list[Any], labels: list[list[int]], of: list[int]) -> Any:
    """One contraction of a core with its factors, in numbered labels."""
    arguments: list[Any] = [core, core_labels]
    for factor, names in zip(factors, labels, strict=True):
        arguments += [factor, names]
    return einsum(*arguments, of)


@dataclass(frozen=True, eq=False)
class CpResult:
    """X ≈ Σ_r weights[r] · factors[0][:, r] ∘ factors[1][:, r] ∘ …"""

    weights: Any  # falling
    factors: list[Any]  # extent × rank each, columns of norm 1
    fit: float  # 1 − ‖X − X̂‖/‖X‖
    relative_error: float
    stop: str  # why it ended: "change", "target_fit", "sweeps"
    sweeps: int
    trace: list[float]  # the fit after each sweep
    congruence: float  # cosine between two components, furthest from 0
    degenerate: bool  # components cancel more and more: the best approximation may not exist

    def reconstruct(self) -> Any:
        """X̂, as one array."""
        modes = list(range(1, len(self.factors) + 1))
        return _reconstructed(self.weights, [0], self.factors, [[mode, 0] for mode in modes], modes)


@named
def cp(
    x: Any,
    rank: int,
    *,
    sweeps: int = 200,
    change: float = 1e-9,
    init: str = "svd",
    restarts: int = 0,
    nonnegative: bool = False,
    seed: int = 0,
) -> CpResult:
    """The canonical polyadic decomposition by alternating least squares (docs/methods/einsum.md).

    >>> import numpy
    >>> a, b, c = numpy.eye(3)[0], numpy.arange(1.0, 5.0), numpy.ones(2)
    >>> found = cp(einsum("i,j,k->ijk", a, b, c), rank=1)
    >>> round(found.fit, 9), [factor.shape for factor in found.factors]
    (1.0, [(3, 1), (4, 1), (2, 1)])
    """
    return CpResult(**_core.cp(x, rank, sweeps, change, init, restarts, nonnegative, seed))


@dataclass(frozen=True, eq=False)
class TuckerResult:
    """X ≈ core ×₁ factors[0] ×₂ factors[1] …, with orthonormal factors."""

    core: Any
    factors: list[Any]  # extent × rank each
    relative_error: float
    sweeps: int

    def reconstruct(self) -> Any:
        """X̂, as one array."""
        n = len(self.factors)
        return _reconstructed(self.core, list(range(n)), self.factors, [[n + i, i] for i in range(n)],
                              list(range(n, 2 * n)))


@named
def tucker(
    x: Any,
    ranks: Sequence[int] = (),
    *,
    tolerance: float | None = None,
    method: str = "hooi",
    seed: int = 0,
) -> TuckerResult:
    """The Tucker decomposition: `ranks`, one for each mode, or a relative `tolerance` that finds them.

    With both, ranks are the most that there may be: `tolerance` finds lower ones where they do. `method` is "hosvd", "sthosvd" or "hooi".

    >>> import numpy
    >>> hilbert = 1 / (1 + sum(numpy.ogrid[:8, :8, :8]))
    >>> f"{tucker(hilbert, (2, 2, 2)).relative_error:.10e}"
    '3.1196238715e-02'
    """
    return TuckerResult(**_core.tucker(x, list(ranks), tolerance, method, seed))


@dataclass(frozen=True, eq=False)
class TrainResult:
    """X ≈ cores[0] · cores[1] · …, a tensor train."""

    cores: list[Any]  # rank × extent × rank each; the outermost ranks are 1
    relative_error: float

    def reconstruct(self) -> Any:
        """X̂, as one array."""
        d = len(self.cores)
        labels = [[i, d + 1 + i, i + 1] for i in range(d)]
        arguments = [part for core, names in zip(self.cores, labels, strict=True) for part in (core, names)]
        return einsum(*arguments, list(range(d + 1, 2 * d + 1)))


@named
def tt(x: Any, ranks: Sequence[int] = (), *, tolerance: float | None = None) -> TrainResult:
    """The tensor train of x: `ranks`, one less than modes, or a relative `tolerance` of the whole.

    With both, ranks are the most that there may be: `tolerance` finds lower ones where they do.

    >>> import numpy
    >>> hilbert = 1 / (1 + sum(numpy.ogrid[:8, :8, :8]))
    >>> f"{tt(hilbert, (2, 2)).relative_error:.10e}"
    '2.7986648192e-02'
    """
    return TrainResult(**_core.tt(x, list(ranks), tolerance))


@dataclass(frozen=True)
class Mp2Energy:
    """Of second-order Møller–Plesset theory, in hartree."""

    total: float
    opposite_spin: float
    same_spin: float


@named
def mp2_energy(
    b: Any,
    occupied: Numbers,
    virtual: Numbers,
    *,
    frozen_occupied: int = 0,
    frozen_virtual: int = 0,
) -> Mp2Energy:
    """The density-fitted MP2 energy of B_iaP (nocc × nvir × naux) and the orbital energies.

    >>> import numpy
    >>> b = numpy.full((1, 1, 1), 0.1)
    >>> print(f"{mp2_energy(b, [-0.5], [0.5]).total:.6f}")
    -0.000050
    """
    below, above = ([float(value) for value in values] for values in (occupied, virtual))
    return Mp2Energy(**_core.mp2_energy(b, below, above, frozen_occupied, frozen_virtual))
