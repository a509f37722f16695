# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""cp, tucker, tt, mp2_energy against what is known of their answers."""

import assay
import numpy
import pytest
from arrays import needs

HILBERT = 1 / (1 + sum(numpy.ogrid[:8, :8, :8]))


def relative_distance(a, b):
    return numpy.linalg.norm(a - b) / numpy.linalg.norm(a)


@pytest.mark.parametrize("decompose", [lambda x: assay.cp(x, 3), lambda x: assay.tucker(x, (3, 3, 3)),
                                       lambda x: assay.tt(x, (3, 3))])
def test_the_error_is_that_of_what_is_reconstructed(decompose):
    found = decompose(HILBERT)
    assert relative_distance(HILBERT, found.reconstruct()) == pytest.approx(found.relative_error, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("how, stop", [({}, "change"), ({"sweeps": 1}, "sweeps")])
def test_why_a_decomposition_ended(how, stop):
    assert assay.cp(HILBERT, 2, **how).stop == stop


def test_a_change_that_is_none_is_refused():
    with pytest.raises(assay.UserError, match="cp: the change that ends it is a number, not nan"):
        assay.cp(HILBERT, 1, change=float("nan"))


@pytest.mark.parametrize("call", [lambda: assay.tt(numpy.ones((2, 2, 2)), (2**70, 2)),
                                  lambda: assay.tucker(numpy.ones((2, 2, 2)), (2, 2**70, 2))])
def test_ranks_out_of_range_are_refused(call):
    with pytest.raises(assay.UserError, match="ranks: out of range: .*1180591620717411303424"):
        call()


def test_results_are_compared_by_what_they_are():
    found = assay.cp(HILBERT, 1)
    assert found == found and found != assay.cp(HILBERT, 1) and len({found}) == 1


def test_known_errors_of_the_hilbert_tensor():
    assert assay.tucker(HILBERT, (2, 2, 2), method="hosvd").relative_error == pytest.approx(3.1201645797e-2, rel=1e-9)
    assert assay.tucker(HILBERT, (3, 3, 3)).relative_error == pytest.approx(2.6442134513e-3, rel=1e-9)
    assert assay.tt(HILBERT, (3, 3)).relative_error == pytest.approx(2.2514916941e-3, rel=1e-9)


def test_tolerances_find_ranks():
    assert assay.tt(HILBERT, tolerance=1e-3).relative_error <= 1e-3
    found = assay.tucker(HILBERT, tolerance=1e-3)
    assert found.relative_error <= 1e-3 and found.core.shape < HILBERT.shape


def test_ranks_are_the_most_beside_a_tolerance():
    for loose, most in ((1e-1, 4), (1e-6, 3)):
        by_tolerance = assay.tucker(HILBERT, tolerance=loose).core.shape
        both = assay.tucker(HILBERT, (most,) * 3, tolerance=loose)
        assert both.core.shape == tuple(min(rank, most) for rank in by_tolerance)
        assert both.relative_error == pytest.approx(relative_distance(HILBERT, both.reconstruct()), rel=1e-6)
        cores = [core.shape for core in assay.tt(HILBERT, (most, most), tolerance=loose).cores]
        alone = [core.shape for core in assay.tt(HILBERT, tolerance=loose).cores]
        assert [shape[2] for shape in cores[:-1]] == [min(shape[2], most) for shape in alone[:-1]]
    # Without one they are what they are, of whatever there is nothing in, too.
    assert assay.tt(numpy.zeros((3, 3, 3)), (2, 2)).cores[1].shape == (2, 3, 2)


def test_strided_input_is_the_same():
    assert assay.cp(HILBERT.T[:, ::2], 2).fit == assay.cp(numpy.ascontiguousarray(HILBERT.T[:, ::2]), 2).fit


def splitmix(count):
    """0.2 (u − ½), u the splitmix64 output for each state (docs/methods/einsum.md)."""
    z = numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    u = ((z ^ (z >> numpy.uint64(31))) >> numpy.uint64(11)) * 2.0**-53
    return 0.2 * (u - 0.5)


@pytest.mark.parametrize("shape,total,opposite", [((2, 3, 5), -0.001798037601278, -0.001482181533951),
                                                  ((5, 19, 72), -6.817539626584236, -4.727242493975780)])
def test_mp2_energies(shape, total, opposite):
    nocc, nvir, naux = shape
    b = splitmix(nocc * nvir * naux).reshape(shape)
    occupied, virtual = -0.5 - numpy.arange(nocc) / 8, 0.125 + numpy.arange(nvir) / 16
    energy = assay.mp2_energy(b, occupied, virtual)
    assert energy.total == pytest.approx(total, rel=1e-11, abs=1e-15)
    assert energy.opposite_spin == pytest.approx(opposite, rel=1e-11, abs=1e-15)
    assert energy.opposite_spin + energy.same_spin == pytest.approx(energy.total, rel=1e-14)


def test_errors_are_the_engines():
    for call, message in ((lambda: assay.cp(HILBERT, 0), "rank"), (lambda: assay.tucker(HILBERT), "rank"),
                          (lambda: assay.cp(HILBERT, 1, init="zeros"), "init is svd or random, not 'zeros'"),
                          (lambda: assay.tucker(HILBERT, (2, 2, 2), method="x"), "hosvd, sthosvd or hooi, not 'x'"),
                          (lambda: assay.mp2_energy(numpy.ones((1, 1, 1)), [0.5], [-0.5]), "highest occupied energy 0.5 is not below")):
        with pytest.raises(assay.UserError, match=message):
            call()


@needs("torch")
def test_factors_are_of_the_inputs_framework():
    import torch

    found = assay.tucker(torch.tensor(HILBERT), (2, 2, 2))
    assert all(isinstance(part, torch.Tensor) for part in (found.core, *found.factors, found.reconstruct()))
    assert found.relative_error == assay.tucker(HILBERT, (2, 2, 2)).relative_error
