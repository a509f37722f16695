# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a GPU, held to f64 on the processor. test_device_refusals.py has what needs no GPU."""

import gc
import importlib
import importlib.util
import os
import threading

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else jax takes the most of the device from the others

import assay
import numpy
import pytest
from assay import semiring


def has_gpu(module):
    """Whether this framework is installed and sees a GPU."""
    if not os.path.exists("/dev/nvidiactl") or importlib.util.find_spec(module) is None:
        return False
    framework = importlib.import_module(module)
    if module == "torch":
        return framework.cuda.is_available()
    if module == "jax":
        return any(device.platform == "gpu" for device in framework.devices())
    try:
        return framework.cuda.runtime.getDeviceCount() > 0
    except Exception:  # cupy without a driver
        return False


def on(module):
    return pytest.mark.skipif(not has_gpu(module), reason=f"no GPU that {module} sees")


TORCH, JAX, CUPY = has_gpu("torch"), has_gpu("jax"), has_gpu("cupy")
if TORCH:
    import torch

    DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bfloat16]
    torch.manual_seed(1)
else:
    DTYPES = []

CONTRACTIONS = [("ij,jk->ik", [(33, 20), (20, 17)]), ("bij,bjk->bik", [(5, 16, 24), (5, 24, 8)]), ("ij->ji", [(33, 64)]),
                ("ij,ij->ij", [(32, 64), (32, 64)]), ("ij->i", [(40, 31)]), ("i,i->", [(1000,), (1000,)]),
                ("ii->i", [(12, 12)]), ("abij,bajk->abik", [(3, 4, 8, 16), (4, 3, 16, 8)]),
                ("ij,jk,kl->il", [(10, 20), (20, 5), (5, 30)]), ("...j,jk->...k", [(2, 3, 8), (8, 4)]), ("i,->i", [(5,), ()]),
                ("ij,jk->ik", [(0, 5), (5, 4)]), ("ij,jk->ik", [(3, 0), (0, 4)])]


def random(shape, dtype):
    return (torch.rand(shape) < 0.2 if dtype == torch.bool else torch.randn(shape, dtype=torch.float64).to(dtype)).cuda()


def views(shape, dtype):
    """Tensors of a shape as torch's own operators leave them: whole, turned, with gaps, beside every boundary, repeated."""
    n = len(shape)
    yield random(shape, dtype)
    if n == 0:
        return
    yield random(shape[::-1], dtype).permute(*range(n - 1, -1, -1))
    yield random([2 * e + 1 for e in shape], dtype)[tuple(slice(1, None, 2) for _ in shape)]
    yield random([e + 1 for e in shape], dtype)[tuple(slice(1, None) for _ in shape)]
    yield random((1, *shape[1:]), dtype).expand(shape)


def wide(tensor):
    return tensor.cpu().to(torch.complex128 if tensor.is_complex() else torch.float64)


def check(got, expression, *operands):
    """Against torch in f64: sums of up to a thousand terms, each of which may round once, bf16 once more at the end."""
    expected = torch.einsum(expression, *map(wide, operands))
    size = torch.einsum(expression, *(wide(x).abs() for x in operands))
    roundings = {torch.bfloat16: 2.0**-8, torch.float32: 2.0**-14, torch.complex64: 2.0**-14}.get(got.dtype, 2.0**-43)
    assert got.shape == expected.shape
    assert bool(((wide(got) - expected).abs() <= roundings * size).all())


@on("torch")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("expression,shapes", CONTRACTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_views_are_contracted_where_they_lie(expression, shapes, dtype):
    for operands in zip(*(list(views(shape, dtype)) * (1 if shape else 5) for shape in shapes), strict=False):
        got = assay.einsum(expression, *operands)
        assert isinstance(got, torch.Tensor) and got.device == operands[0].device and got.dtype == dtype
        check(got, expression, *operands)
        for out in views(got.shape, dtype):
            if out.numel() > 1 and 0 in out.stride():
                continue
            address, version = out.data_ptr(), out._version
            assert assay.einsum(expression, *operands, out=out) is out
            assert out.data_ptr() == address and out._version > version
            check(out, expression, *operands)


@on("torch")
def test_what_lies_between_the_elements_of_out_stays():
    a, b = torch.randn(9, 8).cuda(), torch.randn(8, 6).cuda()
    around = torch.full((20, 13), 7.0).cuda()
    assay.einsum("ij,jk->ik", a, b, out=around[1:19:2, 1::2])
    check(around[1:19:2, 1::2], "ij,jk->ik", a, b)
    around[1:19:2, 1::2] = 7
    assert bool((around == 7).all())


@on("torch")
def test_nothing_is_copied():
    a = torch.ones(1 << 28, device="cuda").view(1 << 14, 1 << 14)  # 1 GiB
    assay.einsum("ij->i", a[:16])
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    for view in (a, a.T, a[1:, 1:], a[::2]):
        check(assay.einsum("ij->i", view)[:4], "i->i", torch.full((4,), float(view.shape[1])))
        check(assay.einsum("ij,j->i", view, view[0])[:4], "i->i", torch.full((4,), float(view.shape[1])))
    torch.cuda.synchronize()
    assert free - torch.cuda.mem_get_info()[0] < 256 << 20


@on("torch")
def test_results_are_of_torchs_allocator():
    a = torch.randn(512, 512).cuda()
    assay.einsum("ij,jk->ik", a, a)
    gc.collect()
    before = torch.cuda.memory_allocated()
    got = assay.einsum("ij,jk->ik", a, a)
    assert torch.cuda.memory_allocated() == before + got.numel() * 4
    del got
    assert torch.cuda.memory_allocated() == before


@on("torch")
def test_plans_and_numbers():
    a, b = torch.randn(30, 20).cuda(), torch.randn(20, 10).cuda()
    planned = assay.plan("ij,jk->ik", a, b)
    assert planned.shape == (30, 10) and "ij,jk->ik" in planned.explain() and planned.to_dict()["backend"] == "cuda"
    check(planned(a, b), "ij,jk->ik", a, b)
    out = torch.empty(30, 10, device="cuda")
    assert planned(a, b, out=out) is out
    check(out, "ij,jk->ik", a, b)
    for wrong, message in (((a.T, b), "operand 0 is f32 30x20 in the plan"), ((a, b.double()), "operand 1 is f32"), ((a,), "2 operands"),
                           ((a, torch.randn(10, 20).cuda().T), "operand 1 has other strides than in the plan"),
                           ((a.cpu(), b), "operand 0: is in the processor's memory, but the plan is on device 0")):
        with pytest.raises(assay.UserError, match=message):
            planned(*wrong)
    shaped = assay.plan("ij,jk->ik", a.double(), (20, 10))
    check(shaped(a.double(), b.double()), "ij,jk->ik", a, b)
    got = assay.einsum("ij,->ij", a, 2)
    assert got.dtype == torch.float64 and torch.equal(got, 2 * a.double())
    assert assay.einsum("i,->i", a[0], 1j).dtype == torch.complex128
    assert assay.einsum("ij,jk->ik", a, b, dtype="float64").dtype == torch.float64
    check(assay.tensordot(a, b, 1), "ij,jk->ik", a, b)
    with pytest.raises(assay.UserError, match="operands and result alone take"):
        assay.einsum("ij,jk->ik", a, b, memory=100)


@on("torch")
def test_what_is_refused():
    a = torch.randn(4, 4).cuda()
    vast = torch.ones(1, 1, 1).cuda().expand(1 << 15, 1 << 15, 1 << 15)
    for call, message in (
            (lambda: assay.einsum("abc,abc->abc", vast, vast), "operands and result alone take"),
            (lambda: assay.einsum("ij,jk->ik", a, a.cpu()), "operand 1: is in the processor's memory"),
            (lambda: assay.einsum("ij->ij", a, out=a), "out shares memory with operand 0"),
            (lambda: assay.einsum("ij->ij", a[:, :2], out=a[:, 2:]), "out shares memory with operand 0"),
            (lambda: assay.einsum("ij->ij", a, out=torch.empty(4, 1).cuda().expand(4, 4)), "elements of out overlap"),
            (lambda: assay.einsum("ij->ij", a, out=torch.empty(4, 4)), "out: is in the processor's memory"),
            (lambda: assay.einsum("ij->ij", a, out=torch.empty(4, 5).cuda()), "the result is f32 4x4, but out is f32 4x5"),
            (lambda: assay.einsum("ij->ij", a.half()), "operand 0 has dtype f16"),
            (lambda: assay.einsum("ij->ij", a.int()), "operand 0 has dtype i32"),
            (lambda: assay.einsum("ij,jk->ik", a, a[:3]), "label 'j'"),
            (lambda: assay.einsum("ij->ij", a.requires_grad_()), "operand 0: wants a gradient"),
            (lambda: semiring.matmul(a.detach().requires_grad_(), a.detach()), "matmul: a: wants a gradient"),
            (lambda: semiring.matmul(a.detach(), a.detach(), out=torch.empty(4, 4).cuda().expand(4, 4)[:, :3]), "the output has shape 4x3"),
            (lambda: semiring.matmul(a.detach().half(), a.detach().half(), "real", out=torch.empty(4, 4).cuda().half()), "on a device it is f32")):
        with pytest.raises(assay.UserError, match=message):
            call()


@on("torch")
def test_work_goes_to_torchs_current_stream():
    side = torch.cuda.Stream()
    a = torch.zeros(256, 256, device="cuda")
    b = torch.randn(256, 256).cuda()
    for stream in (torch.cuda.current_stream(), side):  # kernels that are loaded, and what the stream needs
        with torch.cuda.stream(stream):
            assay.einsum("ij,jk,kl->il", a, b, b)
            semiring.matmul(a, b, "max_plus")
    torch.cuda.synchronize()
    for stream in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(500_000_000)
            a.copy_(b)
            got = assay.einsum("ij,jk,kl->il", a, b, b)
            product = semiring.matmul(a, b, "max_plus")
            assert not stream.query()  # nobody has waited
            stream.synchronize()
            check(got, "ij,jk,kl->il", b, b, b)
            assert torch.equal(product.cpu(), semiring.matmul(b.cpu(), b.cpu(), "max_plus"))
            a.zero_()


@on("torch")
def test_streams_and_threads_have_intermediates_of_their_own():
    operands = [[torch.randn(300, 200).cuda(), torch.randn(200, 250).cuda(), torch.randn(250, 100).cuda()] for _ in range(20)]
    torch.cuda.synchronize()
    results, failed = {}, []

    def work(number):
        try:
            with torch.cuda.stream(torch.cuda.Stream() if number % 2 else torch.cuda.current_stream()):
                for _ in range(20):
                    got = assay.einsum("ij,jk,kl->il", *operands[number])
                results[number] = got
        except Exception as why:
            failed.append(why)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert not failed
    for number, got in results.items():
        check(got, "ij,jk,kl->il", *operands[number])


@on("torch")
def test_graphs_are_refused():
    a = torch.randn(8, 8).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        b = a + 1
        with pytest.raises(assay.UserError, match="a graph of device 0 is captured on this stream"):
            assay.einsum("ij->ij", a, out=b)


@on("torch")
@pytest.mark.parametrize("algebra", ["real", "log", "max_plus", "min_plus", "euclidean", "boolean"])
def test_products_over_semirings(algebra):
    dtypes = [torch.bool] if algebra == "boolean" else [torch.float32, torch.float64]
    if algebra in ("real", "log", "euclidean"):
        dtypes += [torch.float16, torch.bfloat16]
    cases = [((33, 20), (20, 17)), ((5, 16, 24), (5, 24, 8)), ((5, 16, 24), (24, 8)), ((2, 3, 160, 140), (3, 140, 150)), ((3, 0), (0, 4)),
             ((0, 3), (3, 4)), ((2, 1, 16, 24), (1, 3, 24, 8))]
    for dtype in dtypes:
        for a_shape, b_shape in cases:
            for a, b in zip(views(a_shape, dtype), views(b_shape, dtype), strict=True):
                got = semiring.matmul(a, b, algebra)
                with_gaps = torch.empty((*got.shape[:-1], 2 * got.shape[-1]), dtype=got.dtype, device="cuda")[..., ::2]
                assert semiring.matmul(a, b, algebra, out=with_gaps) is with_gaps
                assert got.is_cuda and got.dtype == (torch.float32 if dtype.itemsize == 2 else dtype)
                if algebra == "boolean":
                    expected = semiring.matmul(a.cpu(), b.cpu(), algebra)
                    assert torch.equal(got.cpu(), expected) and torch.equal(with_gaps.cpu(), expected)
                    continue
                expected = semiring.matmul(wide(a), wide(b), algebra)
                # A sum of squares that cancels to nearly nothing has an error of its terms' size.
                size = semiring.matmul(wide(a).abs(), wide(b).abs(), "real") + expected.abs().nan_to_num(posinf=0) + 1
                epsilon = 2.0**-53 if dtype == torch.float64 else 2.0**-24
                for result in (got, with_gaps):
                    close = (wide(result) - expected).abs() <= (64 * epsilon**0.5 if algebra == "euclidean" else 512 * epsilon) * size
                    assert bool((close | (wide(result) == expected)).all())


@on("torch")
@pytest.mark.parametrize("reduce", ["sum", "max"])
@pytest.mark.parametrize("features,outputs", [(64, 64), (33, 17)])
def test_aggregation_over_a_graph(reduce, features, outputs):
    vertices, slots = 300, 17
    indices = torch.randint(-1, vertices, (vertices, slots), dtype=torch.int32)
    indices[0] = -1
    for dtype in (torch.float32, torch.float64):
        given = [torch.rand(vertices, slots).to(dtype), torch.randn(vertices, features).to(dtype), torch.randn(outputs, features).to(dtype)]
        expected = semiring.ell_aggregate(given[0].double(), indices, given[1].double(), given[2].double(), reduce=reduce)
        there = [x.cuda() for x in given]
        shifted = [torch.zeros(x.numel() + 1, dtype=dtype).cuda()[1:].view(x.shape).copy_(x) for x in given]
        turned = [x.T.contiguous().T for x in there]
        for v, x, w in (there, shifted, turned):
            for idx in (indices.cuda(), indices.cuda().T.contiguous().T):
                got = semiring.ell_aggregate(v, idx, x, w, reduce=reduce)
                assert got.is_cuda and got.dtype == dtype
                epsilon = 2.0**-24 if dtype == torch.float32 else 2.0**-53
                close = (got.cpu().double() - expected).abs() <= 64 * epsilon * features * slots
                assert bool((close | (got.cpu().double() == expected)).all())
        for wrong in (-2, vertices, 2**31 - 1):
            bad = indices.clone()
            bad[7, 3] = wrong
            bad[9, 0] = wrong
            with pytest.raises(assay.UserError, match=rf"idx in row 7, slot 3 is neither -1 nor a row of x \({vertices}\): {wrong}"):
                semiring.ell_aggregate(there[0], bad.cuda(), there[1], there[2], reduce=reduce)


@on("torch")
def test_devices():
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    a, b = torch.randn(30, 20, device="cuda:1"), torch.randn(20, 10, device="cuda:1")
    assert torch.cuda.current_device() == 0
    got = assay.einsum("ij,jk->ik", a, b)
    assert got.device == a.device and torch.cuda.current_device() == 0
    check(got, "ij,jk->ik", a, b)
    big = torch.rand(200, 200, device="cuda:1")
    for algebra in ("real", "log", "max_plus"):
        torch.testing.assert_close(semiring.matmul(big, big, algebra).cpu(), semiring.matmul(big.cpu(), big.cpu(), algebra))
    with pytest.raises(assay.UserError, match="operand 1: is on device 0, but einsum: operand 0 is on device 1"):
        assay.einsum("ij,jk->ik", a, b.to("cuda:0"))


@on("jax")
def test_jax():
    import jax

    for dtype in ("float32", "bfloat16", "complex64"):
        a = jax.device_put(numpy.random.rand(9, 8).astype("float32")).astype(dtype)
        got = assay.einsum("ij,kj->ik", a, a)
        assert isinstance(got, jax.Array) and got.devices() == a.devices() and got.dtype == a.dtype
        expected = numpy.asarray(a).astype("complex128") @ numpy.asarray(a).astype("complex128").T
        assert numpy.allclose(numpy.asarray(got).astype("complex128"), expected, rtol=2e-2 if dtype == "bfloat16" else 1e-5)
        assert bool((got + got == 2 * got).all())
    a = jax.device_put(numpy.random.rand(9, 8).astype("float32"))
    planned = assay.plan("ij,kj->ik", a, a)
    assert bool(jax.numpy.allclose(planned(a, a), a @ a.T, rtol=1e-2))
    product = semiring.matmul(a, a.T, "max_plus")
    assert product.devices() == a.devices()
    assert (numpy.asarray(product) == semiring.matmul(numpy.asarray(a), numpy.asarray(a).T, "max_plus")).all()
    got = assay.einsum("ij,->ij", a, 2.0)
    assert bool((got == 2 * a).all())
    with pytest.raises(assay.UserError, match="einsum: out"):
        assay.einsum("ij->ij", a, out=a)
    for _ in range(50):  # memory is given back
        assay.einsum("i,j->ij", jax.numpy.ones(1 << 13), jax.numpy.ones(1 << 15)).block_until_ready()


@on("cupy")
def test_cupy():
    import cupy

    for dtype in ("float32", "float64", "complex64", "complex128"):
        base = (cupy.random.rand(24, 33) + 0.5).astype(dtype)
        for a in (base, base.T, base[::-1], base[1:, 1::2], base[::-2, ::-1], cupy.broadcast_to(base[:1], (24, 33))):
            got = assay.einsum("ij,kj->ik", a, a)
            assert isinstance(got, cupy.ndarray) and got.dtype == a.dtype
            assert numpy.allclose(got.get(), a.get() @ a.get().T, rtol=1e-5 if dtype in ("float32", "complex64") else 1e-13)
            out = cupy.empty((2 * len(a), len(a)), dtype)[::-2]
            address = out.data.ptr
            assert assay.einsum("ij,kj->ik", a, a, out=out) is out and out.data.ptr == address
            assert numpy.allclose(out.get(), got.get())
    misaligned = cupy.zeros(65)[1:].view("complex128")
    with pytest.raises(assay.UserError, match="its elements are not aligned for their dtype, c128"):
        assay.einsum("i->", misaligned)
    a = cupy.random.rand(20, 20)
    assert numpy.allclose(semiring.matmul(a, a[::-1], "log").get(), semiring.matmul(a.get(), a.get()[::-1], "log"))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        b = a + 1
        got = assay.einsum("ij,jk->ik", b, b) - 1
    stream.synchronize()
    assert numpy.allclose(got.get(), (a.get() + 1) @ (a.get() + 1) - 1)


@on("torch")
@on("cupy")
def test_arrays_of_several_owners():
    import cupy

    a, b = torch.randn(30, 20).cuda(), cupy.random.rand(20, 10).astype("float32")
    assert isinstance(assay.einsum("ij,jk->ik", a, b), torch.Tensor) and isinstance(assay.einsum("jk,ij->ik", b, a), cupy.ndarray)
    check(assay.einsum("ij,jk->ik", a, b), "ij,jk->ik", a, torch.as_tensor(b.get()))
