# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What goes in and comes out, of whose making, and that nothing is copied on the way."""

import array
import ctypes

import assay
import numpy
import pytest
from arrays import needs
from assay import _core


def seen(given):
    """Address, dtype, shape and strides in bytes, as the engines see an array."""
    return _core.borrowed(given)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16", "int32", "int64", "bool",
                                   "uint8", "int8", "uint16", "int16", "uint32", "uint64"])
def test_numpys_elements_are_seen_where_they_are(dtype):
    base = numpy.zeros((6, 7, 8), dtype)
    views = [base, base.T, base[::2], base[:, ::-1, 3:], base[1, 2], base[0, 0, 0:1], base[2:2],
             numpy.broadcast_to(base[:, :1], (6, 9, 8)), numpy.asfortranarray(base)]
    for view in views:
        address, _, shape, strides = seen(view)
        assert (address, tuple(shape), tuple(strides)) == (view.ctypes.data, view.shape, view.strides)


def test_other_buffers():
    numbers = array.array("d", [1, 2, 3])
    assert seen(numbers)[0] == numbers.buffer_info()[0]
    assert assay.einsum("i->", numbers) == 6
    locked = numpy.arange(3.0)
    locked.flags.writeable = False
    assert seen(locked)[0] == locked.ctypes.data and assay.einsum("i->", locked) == 3
    with pytest.raises(assay.UserError, match="einsum: out"):
        assay.einsum("i->i", numpy.ones(3), out=locked)


def test_what_cannot_be_a_view_is_refused_by_name():
    record = numpy.zeros(4, [("x", "f8"), ("y", "f4")])
    misaligned = numpy.zeros(33, "uint8")[1:].view("float64")
    for given, message in ((record["x"], "axis 0 has a stride that is no multiple of an element's 8 bytes: 12"),
                           (misaligned, "its elements are not aligned for their dtype, f64"),
                           (numpy.zeros(3, ">f8"), "format '>d'"), (numpy.array(["a"]), "format '1w'"),
                           ([[1.0], [1.0, 2.0]], "no array can be made of it"),
                           (object(), "is no array, by buffer or DLPack, but a object"),
                           (numpy.zeros(3, "int64"), "operand 0 has dtype i64"),
                           (numpy.zeros(3, "float16"), "operand 0 has dtype f16")):
        with pytest.raises(assay.UserError) as caught:
            assay.einsum("i->i", given)
        assert "einsum: operand 0" in str(caught.value) and message in str(caught.value)


def test_results_are_written_where_they_are_returned():
    a = numpy.random.rand(4, 4)
    out = numpy.empty((4, 4))
    address = out.ctypes.data
    assert assay.einsum("ij,jk->ik", a, a, out=out) is out and out.ctypes.data == address
    result = assay.einsum("ij,jk->ik", a, a)
    assert result.base is None and result.flags.owndata and result.flags.writeable


@needs("torch")
def test_tensors_of_torch_are_seen_where_they_are():
    import torch

    base = torch.zeros(6, 7, 8, dtype=torch.float64)
    for view in (base, base.T if base.ndim == 2 else base.permute(2, 0, 1), base[::2], base[:, 1:, 3:], base[1, 2],
                 base[:, :1].expand(6, 9, 8), base.to(torch.bfloat16), base.to(torch.complex64)):
        address, _, shape, strides = seen(view)
        assert (address, tuple(shape)) == (view.data_ptr(), tuple(view.shape))
        assert tuple(strides) == tuple(stride * view.element_size() for stride in view.stride())


@needs("torch")
def test_tensors_that_only_stand_in_for_elements_are_refused():
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    calls = (lambda x: assay.einsum("ij->", x), lambda x: assay.plan("ij->", x), lambda x: assay.einsum("ij->ij", numpy.ones((2, 3)), out=x),
             lambda x: assay.cp(x, 1), lambda x: assay.tucker(x, (1, 1)), lambda x: assay.tt(x, (1,)), lambda x: assay.tensordot(x, x.T, 1),
             lambda x: assay.semiring.matmul(x, x.T), lambda x: assay.semiring.ell_aggregate(x, numpy.zeros((2, 3), "i4"), x))
    with FakeTensorMode() as mode:
        fake = torch.ones(2, 3, dtype=torch.float64)
    for call in calls:
        with pytest.raises(assay.UserError, match=r"has no elements to look at|DLPack gives no view"):
            call(fake)
        with pytest.raises(assay.UserError, match=r"has no elements to look at|DLPack gives no view"), mode:
            call(fake)
        with pytest.raises(assay.UserError, match=r"has no elements to look at|DLPack gives no view"):
            torch.func.functionalize(call)(torch.ones(2, 3, dtype=torch.float64))


def test_arrays_of_ctypes_have_no_strides():
    rows = ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
    numpy.testing.assert_array_equal(assay.einsum("ij->ji", rows), [[1, 4], [2, 5], [3, 6]])
    out = (ctypes.c_double * 2)()
    assay.einsum("ij->i", rows, out=out)
    assert list(out) == [6, 15]


@needs("jax")
def test_arrays_of_jax_are_never_written():
    import jax.numpy

    for dtype in ("float32", "bfloat16"):
        kept = jax.numpy.zeros(4, dtype)
        other = jax.numpy.asarray(kept)
        for call in (lambda: assay.einsum("i->i", jax.numpy.ones(4, dtype), out=kept),
                     lambda: assay.semiring.matmul(numpy.ones((1, 4), "float32"), numpy.ones((4, 1), "float32"), out=kept)):
            with pytest.raises(assay.UserError, match="out: an array of jax is never written to"):
                call()
        assert not bool(kept.any()) and not bool(other.any())


def test_why_dlpack_gives_no_view_is_said():
    class Busy:
        why = BufferError("the array is being resized")

        def __dlpack__(self, **_):
            raise self.why

        def __dlpack_device__(self):
            return 1, 0

    with pytest.raises(assay.UserError, match="operand 0: DLPack gives no view of its elements: the array is being resized"):
        assay.einsum("ij->", Busy())
    Busy.why = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        assay.einsum("ij->", Busy())


@needs("torch")
def test_torch_gives_torch():
    import torch

    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bfloat16):
        a, b = torch.randn(5, 6).to(dtype), torch.randn(6, 4).to(dtype)
        got = assay.einsum("ij,jk->ik", a, b)
        assert isinstance(got, torch.Tensor) and got.dtype == dtype
        tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(got, torch.einsum("ij,jk->ik", a, b), rtol=tolerance, atol=tolerance)
    out = torch.empty(5, 4, dtype=torch.float32)
    a, b = torch.randn(5, 6), torch.randn(6, 4)
    address = out.data_ptr()
    assert assay.einsum("ij,jk->ik", a, b, out=out) is out and out.data_ptr() == address
    torch.testing.assert_close(out, a @ b)
    assert isinstance(assay.einsum("ij,jk->ik", a.numpy(), b), torch.Tensor)
    with torch.device("meta"):  # where tensors are made by default
        torch.testing.assert_close(assay.einsum("ij,jk->ik", a, b), a @ b)


@needs("torch")
def test_a_tensor_that_wants_a_gradient_is_refused():
    import torch

    with pytest.raises(assay.UserError, match=r"einsum: operand 1: wants a gradient.*detach"):
        assay.einsum("i,i->", torch.ones(3), torch.ones(3, requires_grad=True))


@needs("torch")
def test_where_nobody_wants_a_gradient_parameters_are_tensors():
    import torch

    weight = torch.nn.Parameter(torch.randn(3, 4))
    expected = (weight @ weight.T).detach()
    for quiet in (torch.no_grad, torch.inference_mode):
        with quiet():
            assert seen(weight)[0] == weight.data_ptr()
            torch.testing.assert_close(assay.einsum("ij,kj->ik", weight, weight), expected)
            torch.testing.assert_close(assay.semiring.matmul(weight, weight.T, "real"), expected)
            got = assay.tucker(weight, (3, 4))
            torch.testing.assert_close(got.reconstruct(), weight.detach(), rtol=1e-5, atol=1e-6)


@needs("torch")
def test_torch_knows_what_is_written():
    import torch

    a, out = torch.rand(3, 3), torch.empty(3, 3)
    planned = assay.plan("ij,jk->ik", a, a)
    for write in (lambda: assay.einsum("ij,jk->ik", a, a, out=out), lambda: planned(a, a, out=out),
                  lambda: assay.semiring.matmul(a, a, out=out)):
        loss = (torch.ones(3, 3, requires_grad=True) * out).sum()
        before = out._version
        write()
        assert out._version > before and a._version == 0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    with torch.inference_mode():
        unversioned = torch.empty(3, 3)
        assay.einsum("ij,jk->ik", a, a, out=unversioned)
    assert torch.equal(unversioned, assay.einsum("ij,jk->ik", a, a))


@needs("torch")
def test_tangents_are_refused():
    import torch

    x, direction = torch.rand(3, 3), torch.ones(3, 3)
    forward = torch.autograd.forward_ad
    for call, name in ((lambda t: assay.einsum("ij->i", t), "einsum: operand 0"),
                       (lambda t: assay.semiring.matmul(x, t), "matmul: b"),
                       (lambda t: assay.semiring.ell_aggregate(t, torch.zeros(3, 3, dtype=torch.int32), x), "values"),
                       (lambda t: assay.einsum("ij->ij", direction, out=t), "einsum: out"), (lambda t: assay.tt(t, (2,)), "tt: x")):
        with pytest.raises(assay.UserError, match=f"{name}: carries a tangent.*detach"):
            torch.func.jvp(call, (x,), (direction,))
        with forward.dual_level():
            with pytest.raises(assay.UserError, match=f"{name}: carries a tangent"):
                call(forward.make_dual(x, direction))
            call(x)
            call(forward.make_dual(x, direction).detach())
    with pytest.raises(assay.UserError, match="operand 0: has no elements to look at: torch.func transforms it"):
        torch.vmap(lambda t: assay.einsum("i->", t))(x)


@needs("ml_dtypes")
def test_numpys_bfloat16():
    import ml_dtypes

    a = numpy.arange(12).reshape(3, 4).astype(ml_dtypes.bfloat16)
    for view in (a, a.T, a[::2, ::-1], a[0], a[1, 2:3]):
        address, dtype, shape, strides = seen(view)
        assert (address, dtype, tuple(shape), tuple(strides)) == (view.ctypes.data, "bf16", view.shape, view.strides)
    out = numpy.empty((3, 3), ml_dtypes.bfloat16)
    for got in (assay.einsum("ij,kj->ik", a, a), assay.einsum("ij,kj->ik", a, a, out=out)):
        assert got.dtype == a.dtype and (got == (a.astype("f") @ a.astype("f").T).astype(a.dtype)).all()
    assert assay.semiring.matmul(a, a.T, "real").dtype == numpy.float32
    a.flags.writeable = False
    with pytest.raises(assay.UserError, match="einsum: out: .*read-only"):
        assay.einsum("ij->ij", out, out=a[:, :3])


@needs("torch")
def test_elements_elsewhere_are_refused():
    import torch

    for given, message in ((torch.ones(3, device="meta"), "meta"), (torch.ones(3).to_sparse(), "no view of its elements"),
                           (torch.ones(3, dtype=torch.complex64).conj(), "is_conj"), (torch._neg_view(torch.ones(3)), "is_neg")):
        with pytest.raises(assay.UserError) as caught:
            assay.einsum("i->", given)
        assert str(caught.value).startswith("einsum: operand 0: ") and message in str(caught.value)


@needs("jax")
def test_jax_gives_jax_without_a_copy():
    import jax

    a = jax.numpy.arange(12.0).reshape(3, 4)
    address, _, shape, strides = seen(a)
    assert address == a.unsafe_buffer_pointer() and (tuple(shape), tuple(strides)) == ((3, 4), (16, 4))
    got = assay.einsum("ij,kj->ik", a, a)
    assert isinstance(got, jax.Array) and bool(jax.numpy.allclose(got, a @ a.T))
    value, where = _core.new_array_of(a, "f32", [64, 64])
    assert value.unsafe_buffer_pointer() == where


@needs("jax")
def test_jaxs_bfloat16():
    import jax

    a = jax.numpy.arange(12, dtype="bfloat16").reshape(3, 4)
    assert seen(a)[:3] == (a.unsafe_buffer_pointer(), "bf16", [3, 4])
    got = assay.einsum("ij,kj->ik", a, a)
    assert got.dtype == a.dtype and bool((got == a @ a.T).all())


@needs("jax")
def test_what_jax_has_no_elements_of_is_refused():
    import jax

    gone = jax.numpy.ones(3)
    gone.delete()
    for call in (lambda: assay.einsum("i->", gone), lambda: jax.jit(lambda x: assay.einsum("i->", x))(jax.numpy.ones(3)),
                 lambda: jax.vmap(lambda x: assay.einsum("i->", x))(jax.numpy.ones((2, 3)))):
        with pytest.raises(assay.UserError, match="einsum: operand 0: has no elements to look at: jax traces it"):
            call()
