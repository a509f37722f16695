# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Every exception, and that it says what the command line says."""

import copy
import pickle
import sys

import assay
import numpy
import pytest
from assay import _core
from examples import SOURCE


def test_what_each_is():
    assert issubclass(assay.UserError, ValueError)
    assert issubclass(assay.EnvironmentError, assay.UserError) and issubclass(assay.DiskError, assay.UserError)
    assert issubclass(assay.InternalError, RuntimeError) and not issubclass(assay.InternalError, ValueError)
    for error in (assay.UserError, assay.EnvironmentError, assay.DiskError, assay.InternalError):
        assert error.__doc__ and error.__module__ == "assay"


def test_the_page_has_every_one():
    page = (SOURCE / "docs/python.md").read_text()
    errors = [name for name, value in vars(assay).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(errors) == 4 and not [name for name in errors if f"| `assay.{name}` |" not in page]


@pytest.mark.parametrize("expression,shapes,message", [
    ("ij,jk->ik", [(2, 3), (4, 5)], "einsum: label 'j'"),
    ("ij,jk->iq", [(2, 3), (3, 5)], "'q'"),
    ("ij;jk", [(2, 3), (3, 5)], "';'"),
    ("ij->ii", [(2, 3)], "'i'"),
    ("ij", [(2, 3), (3, 5)], "2"),
    ("ijk", [(2, 3)], "operand 0"),
])
def test_user_errors_name_the_value(expression, shapes, message):
    with pytest.raises(assay.UserError) as caught:
        assay.einsum(expression, *map(numpy.ones, shapes))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_environment_error():
    with pytest.raises(assay.EnvironmentError, match="cuda"):
        assay.einsum("i->", numpy.ones(3), backend="cuda")
    with pytest.raises(assay.UserError, match="reference, blas or cuda, not 'fast'"):
        assay.einsum("i->", numpy.ones(3), backend="fast")


def test_a_package_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)  # as if it were not installed
    with pytest.raises(assay.EnvironmentError, match="this needs polars"):
        assay.lab.rows("results", frame="polars")


def test_nothing_is_cut_at_a_nul():
    for call in (lambda: assay.einsum("i->\0and more", numpy.ones(3)), lambda: assay.plan("i->\0and more", (3,)),
                 lambda: assay.transport.surface("example\0"), lambda: assay.einsum("i->", numpy.ones(3), backend="blas\0")):
        with pytest.raises(assay.UserError, match=r"\\x00"):
            call()


def test_internal_error():
    with pytest.raises(assay.InternalError, match="two and two are five"):
        _core.check(False, "two and two are five")
    _core.check(True, "two and two are four")


def test_memory_error():
    with pytest.raises(MemoryError):
        assay.einsum("i,j->ij", numpy.broadcast_to(1.0, 1 << 28), numpy.broadcast_to(1.0, 1 << 28))


def test_wrong_types_are_type_errors():
    with pytest.raises(TypeError):
        assay.einsum("i->", numpy.ones(3), unknown=1)
    with pytest.raises(TypeError):
        assay.set_threads("many")
    for call, message in ((lambda: assay.einsum("i->", numpy.ones(3), backend=5), "backend is a str"),
                          (lambda: assay.einsum("i->", numpy.ones(3), memory=1.5), "memory is a number of bytes or a str, not of"),
                          (lambda: assay.plan(5, (3,)), "plan: expression is a str, not of type int"),
                          (lambda: assay.plan("i->", ("three",)), "a shape is a tuple of whole numbers of 64 bits, not \\(.three.,\\)"),
                          (lambda: assay.plan("i->", (3,), objective=1), "objective is a str")):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(assay.UserError, match="threads: from 1 to 1024, not 0"):
        assay.set_threads(0)


@pytest.mark.parametrize("call,message", [
    (lambda x: assay.set_threads("many"), "set_threads: threads: a whole number, not of type str: 'many'"),
    (lambda x: assay.cp(x, "2"), "cp: rank: a whole number, not of type str: '2'"),
    (lambda x: assay.cp(x, 2, sweeps=2.5), "cp: sweeps: a whole number, not of type float: 2.5"),
    (lambda x: assay.cp(x, 2, nonnegative=1), "cp: nonnegative: True or False, not of type int: 1"),
    (lambda x: assay.cp(x, 2, seed=-1), "cp: seed: out of range: -1"),
    (lambda x: assay.cp(x, 2, sweeps=2**40), "cp: sweeps: out of range: 1099511627776"),
    (lambda x: assay.tucker(x, 2), "tucker: ranks: a sequence, each of it a whole number, not of type int: 2"),
    (lambda x: assay.tucker(x, ("a", "b")), "tucker: ranks[0]: a whole number, not of type str: 'a'"),
    (lambda x: assay.tucker(x, (2, 2.0)), "tucker: ranks[1]: a whole number, not of type float: 2.0"),
    (lambda x: assay.tt(x, b"x"), "tt: ranks: a sequence, each of it a whole number, not of type bytes: b'x'"),
    (lambda x: assay.tt(x, (3,)), "tensor train: rank 0 is from 1 to 2, which shape 2x2 allows, not 3"),
    (lambda x: assay.chip.simulate(2, 3, -5), "simulate: n is from 1 to 2147483648, not -5"),
    (lambda x: assay.chip.topology(""), "topology: path: nothing was given: ''"),
    (lambda x: assay.lab.rows(latest="newest"), "rows: latest: True or False, not of type str: 'newest'"),
    (lambda x: assay.tt(x, tolerance="0.1"), "tt: tolerance: a number or None, not of type str: '0.1'"),
    (lambda x: assay.mp2_energy(x[None], [None], [1.0]), "mp2_energy: occupied[0]: a number, not of type NoneType: None"),
    (lambda x: assay.semiring.matmul(x, x, 3), "algebra is a str, not of type int"),
    (lambda x: assay.semiring.matmul(x, x, backend=None), "backend is a str, not of type NoneType"),
    (lambda x: assay.semiring.matmul(x, None), "matmul: b: is no array, by buffer or DLPack, but a NoneType"),
    (lambda x: assay.cp(None, 2), "cp: x: is no array, by buffer or DLPack, but a NoneType"),
    (lambda x: assay.load_pt2(5), "load_pt2: path: a str or a path, not of type int: 5"),
    (lambda x: assay.chip.simulate(2, 3, 4, multicast="all"), "simulate: multicast: a whole number, not of type str: 'all'"),
], ids=lambda value: value.split()[0] if isinstance(value, str) else "")
def test_wrong_types_are_named(call, message):
    with pytest.raises((TypeError, assay.UserError)) as caught:
        call(numpy.ones((2, 2)))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_python_says_what_python_knows():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'rank'"):
        assay.cp(numpy.ones((2, 2)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'ranks'"):
        assay.cp(numpy.ones((2, 2)), ranks=3)


def test_a_nul_is_named_with_its_argument():
    a = numpy.ones((2, 2))
    for call, name in ((lambda text: assay.einsum(text, a), "expression"), (lambda text: assay.plan(text, a), "expression"),
                       (lambda text: assay.semiring.matmul(a, a, text), "algebra"),
                       (lambda text: assay.einsum("ij->", a, memory=text), "memory")):
        with pytest.raises(assay.UserError, match=rf"{name}: has a NUL character: 'ij->\\x00j'"):
            call("ij->\0j")


def test_a_negative_number_of_bytes():
    for memory in (-1, 2**64):
        with pytest.raises(assay.UserError, match=f"memory: a number of bytes is at least 0 and has 64 bits, got {memory}"):
            assay.einsum("i->", numpy.ones(3), memory=memory)


@pytest.mark.parametrize("kept,message", [
    (lambda: assay.transport.surface("example"), "surfaces are not pickled"),
    (lambda: assay.transport.prepare("example", (9, 9, 8)), "not pickled"),
    (lambda: assay.chip.topology(), "a topology is not pickled"),
])
def test_what_engines_keep_is_not_pickled(kept, message):
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match=message):
            leave(kept())


def test_what_cannot_be_pickled_says_what_to_do():
    planned = assay.plan("ij,jk->ik", (2, 3), (3, 4))
    assert copy.copy(planned) is planned and copy.deepcopy([planned])[0] is planned
    with pytest.raises(TypeError, match="an assay.Plan cannot be pickled.*assay.plan.* makes it again, of 'ij,jk->ik'"):
        pickle.dumps(planned)
