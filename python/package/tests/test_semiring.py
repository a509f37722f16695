# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.semiring against the definitions, and its gradients against finite differences."""

import assay
import numpy
import pytest
from arrays import needs
from assay import semiring

RANDOM = numpy.random.default_rng(5)
PLAIN = {
    "real": lambda t: (t[0] * t[1]).sum(-2),
    "log": lambda t: numpy.logaddexp.reduce(t[0] + t[1], axis=-2),
    "max_plus": lambda t: (t[0] + t[1]).max(-2),
    "min_plus": lambda t: (t[0] + t[1]).min(-2),
    "euclidean": lambda t: numpy.sqrt(numpy.square(t[0] - t[1]).sum(-2)),
    "boolean": lambda t: (t[0] & t[1]).any(-2),
}
WITH_GRADIENTS = ("real", "log", "max_plus", "euclidean")


def plain(algebra, a, b):
    """All terms at once, in float64."""
    wide = (lambda x: x) if algebra == "boolean" else (lambda x: x.astype(numpy.float64))
    return PLAIN[algebra]((wide(a)[..., :, :, None], wide(b)[..., None, :, :]))


@pytest.mark.parametrize("algebra", PLAIN)
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((1, 1), (1, 1)), ((2, 3, 70), (2, 70, 33)), ((2, 1, 5, 4), (3, 4, 6))])
def test_products_are_what_they_are_defined_as(algebra, shapes):
    for dtype in ("bool",) if algebra == "boolean" else ("float32", "float64"):
        a, b = ((RANDOM.random(shape) - 0.5).astype(dtype) if dtype != "bool" else RANDOM.random(shape) < 0.2
                for shape in shapes)
        got = semiring.matmul(a, b, algebra)
        # Sums of at most 70 terms below 1: each is rounded once, and so are exp and log.
        numpy.testing.assert_allclose(got, plain(algebra, a, b), atol=200 * numpy.finfo("f8" if dtype == "bool" else dtype).eps)
        assert got.dtype == a.dtype
        strided = numpy.swapaxes(numpy.ascontiguousarray(numpy.swapaxes(a, -1, -2)), -1, -2)
        numpy.testing.assert_array_equal(semiring.matmul(strided, b, algebra, backend="reference"),
                                         semiring.matmul(a, b, algebra, backend="reference"))


def test_out_and_half_precision():
    a, b = RANDOM.random((4, 5)), RANDOM.random((5, 3))
    out = numpy.empty((3, 4)).T
    assert semiring.matmul(a, b, "log", out=out) is out
    numpy.testing.assert_allclose(out, plain("log", a, b), rtol=1e-14)
    half = semiring.matmul(a.astype("float16"), b.astype("float16"), "real")
    assert half.dtype == numpy.float32


def test_errors_are_the_engines():
    a, b = numpy.ones((2, 3)), numpy.ones((4, 5))
    square = numpy.ones((300, 300))
    for call, message in ((lambda: semiring.matmul(a, b), "log"), (lambda: semiring.matmul(a, a.T, "tropical"), "tropical"),
                          (lambda: semiring.matmul(a, a.T, backend="gpu"), "reference, naive, simd"),
                          (lambda: semiring.matmul(a, a.T.astype("float32")), "f32"),
                          (lambda: semiring.matmul(square, a[:1, :1].repeat(300, 0), out=square[:, :1]), "shares memory with a"),
                          (lambda: semiring.ell_aggregate(a, numpy.full((2, 3), 9, "int32"), b), "9"),
                          (lambda: semiring.ell_aggregate(a, numpy.zeros((2, 3), "int64"), b), "i64"),
                          (lambda: semiring.ell_aggregate(a, numpy.zeros((2, 3), "int32"), b, reduce="max"), "reduce belongs to w"),
                          (lambda: semiring.ell_aggregate(a, numpy.zeros((2, 3), "int32"), b, b, algebra="log"), "real, not 'log'")):
        with pytest.raises(assay.UserError, match=message):
            call()


def test_aggregation_over_a_graph():
    values, x = RANDOM.random((6, 3)), RANDOM.random((9, 4))
    indices = RANDOM.integers(-1, 9, (6, 3)).astype("int32")
    w = RANDOM.random((5, 4))
    there = (indices >= 0)[..., None]
    messages = values[..., None] * x[indices]
    numpy.testing.assert_allclose(semiring.ell_aggregate(values, indices, x), (messages * there).sum(1), rtol=1e-14)
    added = numpy.where(there, values[..., None] + x[indices], -numpy.inf).max(1)
    numpy.testing.assert_allclose(semiring.ell_aggregate(values, indices, x, algebra="max_plus"), added, rtol=1e-15)
    outputs = messages @ w.T
    numpy.testing.assert_allclose(semiring.ell_aggregate(values, indices, x, w), (outputs * there).sum(1), rtol=1e-13)
    numpy.testing.assert_allclose(semiring.ell_aggregate(values, indices, x, w, reduce="max"),
                                  numpy.where(there, outputs, -numpy.inf).max(1), rtol=1e-13)


@needs("torch")
@pytest.mark.parametrize("algebra", WITH_GRADIENTS)
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2))])
def test_gradients_in_torch_are_those_of_finite_differences(algebra, shapes):
    import torch

    a, b = (torch.tensor(RANDOM.standard_normal(shape), requires_grad=True) for shape in shapes)
    assert torch.autograd.gradcheck(lambda x, y: semiring.matmul(x, y, algebra), (a, b))
    # Only one of them, one that is a view, and one that is used twice.
    assert torch.autograd.gradcheck(lambda x: semiring.matmul(x, b.detach(), algebra), (a,))
    square = torch.tensor(RANDOM.standard_normal((4, 4)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: semiring.matmul(x, x.T * 2, algebra), (square,))


@needs("torch")
def test_torch_knows_what_cannot_be_differentiated():
    import torch

    a = torch.rand(3, 3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(assay.UserError, match="min_plus"):
        semiring.matmul(a, a, "min_plus").sum().backward()
    with pytest.raises(assay.UserError, match="gradients of gradients"):
        torch.autograd.grad(semiring.matmul(a, a).sum(), a, create_graph=True)
    with pytest.raises(assay.UserError, match="out cannot be given"):
        semiring.matmul(a, a, out=torch.empty(3, 3, dtype=torch.float64))
    with torch.no_grad():
        assert not semiring.matmul(a.detach(), a.detach()).requires_grad


def graph_of(dtype="float64"):
    """(values, indices, x, w): absent slots, whose values are NaN; a row without any; a source that is named twice."""
    indices = RANDOM.integers(-1, 6, (7, 4)).astype("int32")
    indices[0] = -1
    indices[1] = [2, 2, -1, 0]
    values = RANDOM.standard_normal((7, 4)).astype(dtype)
    values[indices < 0] = numpy.nan
    return values, indices, RANDOM.standard_normal((6, 3)).astype(dtype), RANDOM.standard_normal((5, 3)).astype(dtype)


AGGREGATIONS = [{"algebra": algebra} for algebra in (*WITH_GRADIENTS, "min_plus")] + [{"reduce": how} for how in ("sum", "max")]


def aggregate_of(how, indices, frameworks_where):
    """The aggregation as a function of what can be differentiated, 0 where a row has no slots and is infinite."""
    def call(values, x, *w):
        out = semiring.ell_aggregate(values, indices, x, *w, **how)
        return frameworks_where(abs(out) < 1e300, out, 0 * out[1, 0])
    return call


@needs("torch")
@pytest.mark.parametrize("how", AGGREGATIONS, ids=lambda how: "-".join(how.values()))
def test_gradients_of_aggregation_in_torch_are_those_of_finite_differences(how):
    import torch

    values, indices, x, w = map(torch.tensor, graph_of())
    there = indices >= 0
    call = aggregate_of(how, indices, torch.where)
    given = [torch.where(there, values, 0), x, *([w] if "reduce" in how else [])]
    given = [each.requires_grad_() for each in given]
    assert torch.autograd.gradcheck(call, tuple(given))
    # One that is not asked for, and one that is a view; empty slots get nothing, whatever stands there.
    assert torch.autograd.gradcheck(lambda y: call(given[0].detach(), y.T, *given[2:]), (x.T.detach().requires_grad_(),))
    values.requires_grad_()
    call(values, *given[1:]).sum().backward()
    assert torch.equal(values.grad[~there], torch.zeros(int((~there).sum()), dtype=values.dtype))
    assert not torch.isnan(values.grad).any()


@needs("torch")
def test_aggregation_has_no_other_gradients():
    import torch

    values, indices, x, w = map(torch.tensor, graph_of("float32"))
    x.requires_grad_()
    out = semiring.ell_aggregate(values, indices, x, w)
    assert out.requires_grad and out.dtype == torch.float32
    with pytest.raises(assay.UserError, match="gradients of gradients"):
        torch.autograd.grad(out.sum(), x, create_graph=True)
    flags = semiring.ell_aggregate(values > 0, indices, x.detach() > 0, algebra="boolean")
    assert flags.dtype == torch.bool and not flags.requires_grad


@needs("jax")
@pytest.mark.parametrize("how", AGGREGATIONS, ids=lambda how: "-".join(how.values()))
def test_gradients_of_aggregation_in_jax_are_those_of_finite_differences(how):
    import jax
    from jax.test_util import check_grads

    with jax.enable_x64(True):
        values, indices, x, w = map(jax.numpy.asarray, graph_of())
        there = indices >= 0
        call = aggregate_of(how, indices, jax.numpy.where)
        given = (jax.numpy.where(there, values, 0), x, *([w] if "reduce" in how else []))
        for function in (call, jax.jit(call)):
            check_grads(function, given, order=1, modes=["rev"], eps=1e-6)
        found = jax.jit(jax.grad(lambda v: call(v, *given[1:]).sum()))(values)
        assert bool((found[~there] == 0).all()) and not bool(jax.numpy.isnan(found).any())
        # Indices traced too, and a batch of values.
        traced = jax.jit(lambda i: semiring.ell_aggregate(given[0], i, *given[1:], **how))(indices)
        numpy.testing.assert_array_equal(traced, semiring.ell_aggregate(given[0], indices, *given[1:], **how))
        batch = jax.numpy.stack([given[0], 2 * given[0]])
        one_by_one = jax.numpy.stack([call(each, *given[1:]) for each in batch])
        numpy.testing.assert_array_equal(jax.vmap(lambda v: call(v, *given[1:]))(batch), one_by_one)


@needs("jax")
def test_what_jax_traces_is_refused_while_it_does():
    import jax

    ones = jax.numpy.ones
    square, slots, indices = ones((3, 3)), ones((4, 2)), jax.numpy.zeros((4, 2), "int32")
    small = square.astype("bfloat16")
    for call, message in ((lambda x: semiring.matmul(x, x[:2]), "log matmul: shapes 3x3 and 2x3 do not fit"),
                          (lambda x: semiring.matmul(x, ones((2, 3, 3))[None], "tropical"), "algebra.*'tropical'"),
                          (lambda x: semiring.matmul(x, x, backend="gpu"), "backend.*'gpu'"),
                          (lambda x: semiring.matmul(x, x.astype("bfloat16")), "different dtypes, f32 and bf16"),
                          (lambda x: semiring.matmul(x.astype("int32"), x.astype("int32")), "log matmul takes .*, got i32"),
                          (lambda x: semiring.ell_aggregate(slots, indices, x[0]), "ell_matmul"),
                          (lambda x: semiring.ell_aggregate(slots, indices, x, ones((2, 2))), "w of shape 2x2 does not fit x of shape 3x3"),
                          (lambda x: semiring.ell_aggregate(slots, indices.astype(float), x), "idx must be i32, got f32"),
                          (jax.grad(lambda x: semiring.matmul(x, x, "min_plus").sum()), "gradients are those of .*, got min_plus"),
                          (jax.grad(lambda x: semiring.matmul(small * x.astype("bfloat16"), small, "real").sum()),
                           "gradients of real take f32 or f64, got bf16")):
        for function in (call, jax.jit(call)):
            with pytest.raises(assay.UserError, match=message):
                function(square)
    # Rows are looked for where there are elements: what jax then raises ends with our words.
    with pytest.raises(Exception, match="neither -1 nor a row of x \\(3\\): 9"):
        jax.jit(lambda i: semiring.ell_aggregate(slots, i, square))(indices + 9).block_until_ready()


@needs("jax")
def test_bfloat16_of_jax():
    import jax

    a, b = (jax.numpy.asarray(RANDOM.standard_normal(shape), "bfloat16") for shape in ((3, 4), (4, 5)))
    for algebra in ("real", "log", "euclidean"):
        product = lambda x, y, how=algebra: semiring.matmul(x, y, how)  # noqa: E731
        whole = product(a.astype("float32"), b.astype("float32"))
        for got in (product(a, b), jax.jit(product)(a, b)):
            assert got.dtype == jax.numpy.float32 and bool(jax.numpy.allclose(got, whole, rtol=1e-6))
    values, indices = jax.numpy.ones((2, 2), "bfloat16"), jax.numpy.zeros((2, 2), "int32")
    for got in (semiring.ell_aggregate(values, indices, a), jax.jit(semiring.ell_aggregate)(values, indices, a)):
        assert bool((got == 2 * a[0].astype("float32")).all())


@needs("jax")
@pytest.mark.parametrize("algebra", WITH_GRADIENTS)
def test_gradients_in_jax_are_those_of_finite_differences(algebra):
    import jax
    from jax.test_util import check_grads

    with jax.enable_x64(True):
        a, b = (jax.numpy.asarray(RANDOM.standard_normal(shape)) for shape in ((3, 4), (4, 5)))
        product = lambda x, y: semiring.matmul(x, y, algebra)  # noqa: E731
        numpy.testing.assert_allclose(jax.jit(product)(a, b), plain(algebra, numpy.asarray(a), numpy.asarray(b)), rtol=1e-12)
        assert isinstance(product(a, b), jax.Array)
        check_grads(product, (a, b), order=1, modes=["rev"], eps=1e-6)
        check_grads(jax.jit(product), (a, b), order=1, modes=["rev"], eps=1e-6)
        batch = jax.numpy.stack([a, 2 * a])
        numpy.testing.assert_allclose(jax.vmap(lambda x: product(x, b))(batch), product(batch, b), rtol=1e-12)
