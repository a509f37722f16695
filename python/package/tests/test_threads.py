# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Eight threads at once, and a hundred thousand calls one after the other."""

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor

import assay
import numpy
import pytest
from arrays import needs


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_eight_threads_at_once_are_right():
    random = numpy.random.default_rng(0)
    # Small ones, which keep the GIL, and large ones, which give it back; the same and different ones.
    shapes = [(8, 8, 8), (30, 40, 50), (200, 200, 200), (65, 3, 17)]
    operands = [(random.random((m, k)), random.random((k, n))) for m, n, k in shapes]
    answers = [(a @ b, a @ b @ b.T[:, :3]) for a, b in operands]
    start = threading.Barrier(8)

    def work(thread):
        start.wait()
        for call in range(100):
            which = (thread + call) % len(operands)
            a, b = operands[which]
            pair, chain = answers[which]
            if not numpy.allclose(assay.einsum("ij,jk->ik", a, b), pair, rtol=1e-12):
                return False
            if not numpy.allclose(assay.einsum("ij,jk,lk->il", a, b, b[:3]), chain, rtol=1e-12):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_large_work_lets_other_threads_run():
    """One thread computes; the other must get its turn while it does, not only between calls."""
    a = numpy.random.rand(1500, 1500)
    seen_inside = 0
    inside = threading.Event()

    def work():
        for _ in range(3):
            inside.set()
            assay.einsum("ij,jk->ik", a, a)
            inside.clear()

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        seen_inside += inside.is_set()
    thread.join()
    # Under the GIL the loop above would see the flag at most once for each call.
    assert seen_inside > 100


def made_of(framework):
    a = numpy.random.rand(8, 8)
    return a if framework == "numpy" else importlib.import_module("torch").from_numpy(a)


@pytest.mark.parametrize("framework", ["numpy", pytest.param("torch", marks=needs("torch"))])
def test_memory_is_steady_over_a_hundred_thousand_calls(framework):
    a, b, out = (made_of(framework) for _ in range(3))
    wrong = numpy.random.rand(9, 8)

    def calls(count):
        for _ in range(count // 2):
            assay.einsum("ij,jk->ik", a, b)
            assay.einsum("ij,jk->ik", a, b, out=out)
        for _ in range(count // 100):
            try:
                assay.einsum("ij,jk->ik", a, wrong)
            except assay.UserError:
                pass
            assay.plan("ij,jk->ik", a, b)(a, b)

    calls(5000)
    before = resident_bytes()
    calls(100_000)
    # 64 bytes for each call would be 6.4 MB.
    assert resident_bytes() - before < 2_000_000
