# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Every exception, and that it says what the command line says."""

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
                          (lambda: assay.einsum("i->", numpy.ones(3), memory=-1), "memory is a number of bytes"),
                          (lambda: assay.plan("i->", ("three",)), "a shape is a tuple of integers"),
                          (lambda: assay.plan("i->", (3,), objective=1), "objective is a str")):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(assay.UserError, match="threads: from 1 to 1024, not 0"):
        assay.set_threads(0)
