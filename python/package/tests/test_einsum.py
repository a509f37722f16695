# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.einsum in the place of numpy.einsum and opt_einsum.contract."""

import assay
import numpy
import opt_einsum
import pytest
from opt_einsum.testing import rand_equation
from random_expressions import contraction, expected


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_random_contractions_are_numpys(seed):
    random = numpy.random.default_rng(seed)
    for _ in range(1000):
        expression, operands = contraction(random)
        answer, tolerance = expected(expression, operands)
        got = assay.einsum(expression, *operands)
        said = f"{expression} of {[operand.shape for operand in operands]}"
        assert isinstance(got, numpy.ndarray) == isinstance(answer, numpy.ndarray), said
        assert got.shape == answer.shape and got.dtype == numpy.result_type(*operands), said
        assert (abs(got - answer) <= tolerance).all(), said


def test_a_wrong_answer_would_be_seen():
    expression, operands = "ij,jk->ik", [numpy.ones((3, 4), "float32"), numpy.ones((4, 2), "float32")]
    answer, tolerance = expected(expression, operands)
    assert not (abs(answer * (1 + 1e-3) - answer) <= tolerance).all()


def test_out_is_written_and_returned():
    a, b = numpy.random.rand(3, 4), numpy.random.rand(4, 5)
    out = numpy.empty((5, 3))
    assert assay.einsum("ij,jk->ik", a, b, out=out.T) is not None
    numpy.testing.assert_allclose(out.T, a @ b, rtol=1e-14)
    strided = numpy.zeros((6, 10))
    assert assay.einsum("ij,jk->ik", a, b, out=strided[::2, ::2]).base is strided
    numpy.testing.assert_allclose(strided[::2, ::2], a @ b, rtol=1e-14)
    assert not strided[1::2].any() and not strided[:, 1::2].any()


def test_numpys_interleaved_form():
    a, b = numpy.random.rand(2, 3, 4), numpy.random.rand(2, 4, 5)
    for arguments in ((a, [0, 1, 2], b, [0, 2, 3], [0, 1, 3]), (a, [..., 1, 2], b, [..., 2, 3], [..., 1, 3]),
                      (a, [7, 1, 2], b, [7, 2, 3])):
        numpy.testing.assert_allclose(assay.einsum(*arguments), numpy.einsum(*arguments), rtol=1e-14)


def test_a_result_without_axes_is_a_number_of_numpy():
    a = numpy.random.rand(4).astype("float32")
    for got in (assay.einsum("i,i->", a, a), assay.plan("i,i->", a, a)(a, a)):
        assert type(got) is numpy.float32 is type(numpy.einsum("i,i->", a, a))
    out = numpy.empty((), "float32")
    assert assay.einsum("i,i->", a, a, out=out) is out


@pytest.mark.parametrize("expression, shapes", [("ii->", [(1, 3)]), ("ii->i", [(3, 1)]), ("j,iij->", [(2,), (1, 3, 2)]),
                                                ("iji->j", [(4, 2, 1)])])
def test_a_diagonal_has_equal_extents(expression, shapes):
    operands = [numpy.ones(shape) for shape in shapes]
    with pytest.raises(ValueError):
        numpy.einsum(expression, *operands)
    with pytest.raises(assay.UserError, match="einsum: label 'i' has extent .* on axis 0 of operand"):
        assay.einsum(expression, *operands)


def test_labels_in_lists_are_looked_at():
    a = numpy.ones((2, 2))
    for arguments, message in (((a, [0, 1], a), "followed by a list of its labels, not by one of type ndarray"),
                               ((a, [0, 0.5]), "labels in lists are whole numbers and Ellipsis, not 0.5"),
                               ((a, [0, "x"]), "not 'x'"), ((a,), "an expression and its operands are needed")):
        with pytest.raises(assay.UserError, match=message):
            assay.einsum(*arguments)


def test_lists_numbers_and_what_numpy_calls_with():
    assert assay.einsum("i,i->", [1.0, 2.0], [3.0, 4.0]) == 11
    assert assay.einsum(",i->i", 2.0, [1.0, 2.0]).tolist() == [2, 4]
    for number in (2, 2.0, 2j):
        got, ones = assay.einsum(",ij->ij", number, numpy.ones((2, 3))), numpy.ones((2, 3))
        assert got.dtype == numpy.einsum(",ij->ij", number, ones).dtype and (got == 2 * ones if number != 2j else got == 2j).all()
    assert assay.einsum("i,i->", [1, 2], [3, 4]) == 11
    assert assay.plan(",i->i", 2, numpy.ones(3))(2, numpy.ones(3)).tolist() == [2, 2, 2]
    a = numpy.random.rand(3, 3)
    for optimize in (True, False, "greedy", "optimal"):
        numpy.testing.assert_array_equal(assay.einsum("ii->i", a, optimize=optimize), numpy.diagonal(a))
    with pytest.raises(assay.UserError, match="optimize"):
        assay.einsum("ij,jk,kl->il", a, a, a, optimize=["einsum_path", (0, 1), (0, 1)])


def test_dtype_and_backend():
    a = numpy.random.rand(5, 5).astype("float32")
    assert assay.einsum("ij,jk", a, a, dtype="float64").dtype == numpy.float64
    assert assay.einsum("ij,jk", a, a, dtype=numpy.complex64).dtype == numpy.complex64
    for dtype, message in (("int32", "complex128, bfloat16, not 'int32'"), ("f8x", "no dtype of NumPy, torch or jax: 'f8x'")):
        with pytest.raises(assay.UserError, match=message):
            assay.einsum("ij,jk", a, a, dtype=dtype)
    plain = assay.einsum("ij,jk", a, a, backend="reference")
    numpy.testing.assert_allclose(plain, assay.einsum("ij,jk", a, a, backend="blas"), rtol=1e-5)


def test_memory_bounds_what_lives_at_a_time():
    shapes = [(20, 30, 30), (30, 30, 20), (20, 20, 20)]
    operands = [numpy.random.rand(*shape) for shape in shapes]
    free = assay.plan("abc,cde,aex->bdx", *operands)
    least = sum(operand.nbytes for operand in operands) + 30 * 30 * 20 * 8
    bound = int(least + (free.peak_bytes - least) / 2)
    tight = assay.plan("abc,cde,aex->bdx", *operands, memory=bound)
    assert tight.peak_bytes <= bound < free.peak_bytes
    got = assay.einsum("abc,cde,aex->bdx", *operands, memory=bound)
    numpy.testing.assert_allclose(got, numpy.einsum("abc,cde,aex->bdx", *operands, optimize=True), rtol=1e-12)
    with pytest.raises(assay.UserError, match="memory"):
        assay.einsum("abc,cde,aex->bdx", *operands, memory="1kB")


def test_opt_einsum_takes_assay_as_a_backend():
    random = numpy.random.default_rng(1)
    operands = [random.random(shape) for shape in ((4, 5), (5, 6), (6, 7), (7, 4))]
    expression = "ij,jk,kl,li->jl"
    got = opt_einsum.contract(expression, *operands, backend="assay")
    numpy.testing.assert_allclose(got, opt_einsum.contract(expression, *operands), rtol=1e-13)
    prepared = opt_einsum.contract_expression("ij,jk,kl->il", (4, 5), (5, 6), (6, 7))
    numpy.testing.assert_allclose(prepared(*operands[:3], backend="assay"), prepared(*operands[:3]), rtol=1e-13)


def test_tensordot_and_transpose():
    a, b = numpy.random.rand(2, 3, 4), numpy.random.rand(4, 3, 5)
    for axes in (1, 0, ([1, 2], [1, 0]), (1, 1), ([-1], [0])):
        numpy.testing.assert_allclose(assay.tensordot(a, b, axes), numpy.tensordot(a, b, axes), rtol=1e-14)
    numpy.testing.assert_array_equal(assay.transpose(a, (2, 0, 1)), a.transpose(2, 0, 1))


def test_paths_are_as_good_as_they_say():
    random = numpy.random.default_rng(2)
    for _ in range(50):
        n = int(random.integers(2, 9))
        expression, shapes = rand_equation(n, 3, n_out=2, seed=int(random.integers(1 << 30)))
        planned = assay.plan(expression, *map(tuple, shapes), objective="flop")
        ours = opt_einsum.contract_path(expression, *shapes, shapes=True, optimize=planned.path)[1].opt_cost
        best = opt_einsum.contract_path(expression, *shapes, shapes=True, optimize="optimal")[1].opt_cost
        assert float(ours) <= float(best) * (1 + 1e-12), (expression, shapes)


def test_numpy_takes_our_path():
    operands = [numpy.random.rand(*shape) for shape in ((10, 20), (20, 3), (3, 15))]
    path, text = assay.einsum_path("ij,jk,kl->il", *operands)
    numpy.testing.assert_allclose(numpy.einsum("ij,jk,kl->il", *operands, optimize=path),
                                  assay.einsum("ij,jk,kl->il", *operands), rtol=1e-13)
    assert "ij,jk,kl->il" in text


def test_a_plan_is_called_as_often_as_wanted():
    operands = [numpy.random.rand(*shape) for shape in ((10, 20), (20, 3), (3, 15))]
    planned = assay.plan("ij,jk,kl->il", *operands)
    assert planned.shape == (10, 15) and planned.to_dict()["expression"] == "ij,jk,kl->il"
    for _ in range(3):
        numpy.testing.assert_allclose(planned(*operands), numpy.linalg.multi_dot(operands), rtol=1e-13)
    with pytest.raises(assay.UserError, match="operand 0 has shape 10x20 in the plan"):
        planned(*reversed(operands))
