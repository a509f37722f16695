# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays in a device's memory as they are met where there is none: what is refused, by whom, and that nobody looks at an
address. test_device.py has what needs a GPU."""

import importlib.util
import os
import subprocess
import sys

import assay
import numpy
import pytest
from assay import semiring
from made_up import ROCM, MadeUp

built = pytest.mark.skipif(importlib.util.find_spec("assay._cuda") is None, reason="the package was built without nvcc")

HOST = """
import sys
import assay, numpy
a = numpy.ones((4, 4))
assay.einsum("ij,jk->ik", a, a, out=numpy.empty((4, 4)), backend="reference")  # needs no BLAS
assay.plan("ij,jk->ik", a, (4, 4), backend="reference")(a, a)
assay.semiring.matmul(a, a)
assay.semiring.ell_aggregate(a, numpy.zeros((4, 4), "i4"), a, a)
assert not {"assay._device", "assay._cuda"} & set(sys.modules)
with open("/proc/self/maps") as maps:
    assert not [line for line in maps if "libcuda" in line or "_cuda." in line]
"""

CALLS = {
    "einsum": lambda x: assay.einsum("ij,kj->ik", x, x),
    "einsum into out": lambda x: assay.einsum("ij,kj->ik", x, MadeUp(3, 3), out=MadeUp(3, 3, address=0x9000)),
    "tensordot": lambda x: assay.tensordot(x, x, 2),
    "plan": lambda x: assay.plan("ij,jk->ik", x, (3, 4)),
    "einsum_path": lambda x: assay.einsum_path("ij,jk->ik", x, (3, 4)),
    "matmul": lambda x: semiring.matmul(x, x, "max_plus"),
    "ell_aggregate": lambda x: semiring.ell_aggregate(x, MadeUp(3, 3, dtype="i32"), x, x),
}


def test_calls_on_the_processor_load_nothing_of_cuda():
    subprocess.run([sys.executable, "-c", HOST], check=True)


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="a device would look at the addresses, which are made up")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_address_is_looked_at(call):
    with pytest.raises(assay.UserError) as caught:
        call(MadeUp(3, 3))
    # Nobody knows whose the result would be, or there is no device.
    assert isinstance(caught.value, assay.EnvironmentError) or "none of them owns an operand" in str(caught.value)
    assert "\n" not in str(caught.value) and (caught.value.__context__ is None or caught.value.__suppress_context__)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_package_without_device_code_says_so(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "assay._cuda", None)
    with pytest.raises(assay.EnvironmentError, match=r"pip install \.. builds it where nvcc 12.4 or newer is found"):
        call(MadeUp(3, 3))


@built
@pytest.mark.parametrize("call,message", [
    (lambda x: assay.einsum("ij,ij->", x, numpy.ones((3, 3))), "einsum: operand 1: is in the processor's memory, but einsum: operand 0 is on device 0"),
    (lambda x: assay.einsum("ij,ij->", numpy.ones((3, 3)), x), "einsum: operand 1: is on device 0, but einsum: operand 0 is in the processor's memory"),
    (lambda x: assay.einsum("ij,ij->", x, [[1.0, 2.0, 3.0]] * 3), "einsum: operand 1: is in the processor's memory"),
    (lambda x: assay.einsum("ij,ij->", x, MadeUp(3, 3, device=1)), "einsum: operand 1: is on device 1, but einsum: operand 0 is on device 0"),
    (lambda x: assay.einsum("ij->ij", numpy.ones((3, 3)), out=x), "einsum: operand 0: is in the processor's memory, and another array on a device"),
    (lambda x: assay.plan("ij,ij->", x, numpy.ones((3, 3))), "plan: operand 1: is in the processor's memory"),
    (lambda x: semiring.matmul(x, numpy.ones((3, 3))), "matmul: b: is in the processor's memory, but matmul: a is on device 0"),
    (lambda x: semiring.ell_aggregate(x, numpy.zeros((3, 3), "i4"), x, x), "ell_aggregate: indices: is in the processor's memory, but ell_aggregate: values is on device 0"),
    (lambda x: semiring.matmul(x, MadeUp(4, 5)), "log matmul: shapes 3x3 and 4x5 do not fit"),
    (lambda x: semiring.matmul(x, MadeUp(3, 3, dtype="f32")), "log matmul: different dtypes, f64 and f32"),
    (lambda x: semiring.matmul(x, x, "boolean"), "boolean matmul takes bool, got f64"),
    (lambda x: semiring.matmul(x, x, "tropical"), "algebra: expected"),
    (lambda x: semiring.ell_aggregate(x, MadeUp(3, 3, dtype="i64"), x, x), "idx must be i32, got i64"),
    (lambda x: semiring.ell_aggregate(*[MadeUp(3, 3, dtype=t) for t in ("f16", "i32", "f16", "f16")]), "on a device it is computed in f32 or f64, not f16"),
    (lambda x: semiring.ell_aggregate(x, MadeUp(3, 3, dtype="i32"), x), "ell_aggregate: w: on a device"),
    (lambda x: assay.einsum("i->", MadeUp(3, dtype="c128", address=0x7008)), "operand 0: its elements are not aligned for their dtype, c128"),
    (lambda x: assay.einsum("i->", MadeUp(3, dtype="f32", address=0x7002)), "operand 0: its elements are not aligned for their dtype, f32"),
    (lambda x: assay.einsum("i->", MadeUp(3, dtype="f80")), "operand 0: no dtype of a tensor"),
    (lambda x: assay.einsum("i->", MadeUp(3, address=None)), "operand 0: has no elements to look at"),
    (lambda x: assay.einsum("ij->", x, backend="blas"), "einsum: backend: arrays on a device are computed with by 'cuda', not by 'blas'"),
    (lambda x: assay.plan("ij->", x, backend="reference"), "plan: backend: arrays on a device"),
    (lambda x: semiring.matmul(x, x, backend="naive"), "matmul: backend: arrays on a device"),
])
def test_what_is_refused_before_any_device_is_asked(call, message):
    with pytest.raises(assay.UserError) as caught:
        call(MadeUp(3, 3))
    assert message in str(caught.value) and not isinstance(caught.value, assay.EnvironmentError)


def test_a_backend_is_a_str():
    with pytest.raises((TypeError, assay.EnvironmentError), match="backend is a str|nvcc"):
        assay.einsum("ij->", MadeUp(3, 3), backend=5)


@pytest.mark.parametrize("call", [lambda x: assay.cp(x, 1), lambda x: assay.tucker(x, (1, 1)), lambda x: assay.tt(x, (1,)),
                                  lambda x: assay.mp2_energy(x, [-1.0], [1.0])])
def test_what_computes_on_the_processor_alone(call):
    with pytest.raises(assay.UserError, match="is in the memory of a device, and this call computes on the processor") as caught:
        call(MadeUp(3, 3, 3))
    assert caught.type is assay.UserError


def test_devices_of_others():
    with pytest.raises(assay.UserError, match="this call computes on the processor: DLPack's device 10"):
        assay.einsum("i->", MadeUp(3, kind=ROCM))


def test_a_plan_for_the_processor_takes_no_arrays_on_a_device():
    planned = assay.plan("ij,jk->ik", (3, 3), (3, 3))
    with pytest.raises(assay.UserError, match="operand 0: is in the memory of a device, and this call computes on the processor"):
        planned(MadeUp(3, 3), MadeUp(3, 3))


def test_arrays_on_the_processor_have_no_backend_of_devices():
    for call in (lambda: assay.einsum("i->", numpy.ones(3), backend="cuda"), lambda: assay.plan("i->", (3,), backend="cuda")):
        with pytest.raises(assay.EnvironmentError, match="backend 'cuda' is for arrays in the memory of a device"):
            call()
